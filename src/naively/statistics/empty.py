"""Nothing: the statistic of columns in which no value was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively.statistics.base import Statistic
from naively.statistics.class_weights import ClassWeights

__all__ = ["EmptyStatistic"]


@dataclass(frozen=True, slots=True)
class EmptyStatistic(Statistic):
    """No counts, for some number of columns."""

    classes: int
    n_columns: int

    @classmethod
    def count(cls, x: Any, label: Any, weight: Any, n_classes: int) -> Self:
        """There is nothing to count in a column of gaps."""
        return cls(n_classes, len(x.pieces))

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls(seen.n_classes, 0)

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return self.classes

    def __add__(self, other: Self) -> Self:
        return self

    def __sub__(self, other: Self) -> Self:
        return self

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return np.zeros(self.classes, dtype=np.bool_)

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """Another number of classes."""
        return type(self)(n_classes, self.n_columns)

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """Another number of columns."""
        return type(self)(self.classes, len(order))
