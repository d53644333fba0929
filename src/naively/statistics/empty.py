"""The statistic of columns in which no row has had a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.views import Numbers
from naively.statistics.base import PLAN, CountPlan, Statistic
from naively.statistics.class_weights import ClassWeights


@dataclass(frozen=True, slots=True)
class EmptyStatistic(Statistic):
    """No counts, for some number of columns."""

    classes: int
    n_columns: int

    @classmethod
    def count(cls, x: Numbers, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN) -> Self:
        """Count nothing: every value is missing."""
        return cls(n_classes, len(x.pieces))

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the statistic of no columns."""
        return cls(classes.n_classes, 0)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.classes

    def __add__(self, other: Self) -> Self:
        return self

    def __sub__(self, other: Self) -> Self:
        return self

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.zeros(self.classes, dtype=np.bool_)

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the statistic of another number of classes."""
        return type(self)(n_classes, self.n_columns)

    def take_columns(self, order: Index) -> Self:
        """Return the statistic of another number of columns."""
        return type(self)(self.classes, len(order))

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return zeros: no row has a value."""
        shape = (self.classes, self.n_columns)
        return np.zeros(shape), np.zeros(shape, np.int64)

    def is_integral(self) -> bool:
        """Return True: there is nothing to round."""
        return True
