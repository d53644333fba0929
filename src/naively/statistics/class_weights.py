"""Class weights: the number of rows of each class, and their weight. The class prior is estimated from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from naively._kernels.cells import count_labels
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names
from naively.statistics.arrays import check_array, place, refuse_negative, require
from naively.statistics.base import PLAN, CountPlan, Statistic


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeights(Statistic):
    """Rows and weight per class.

    >>> counts = ClassWeights.count(None, np.array([0, 1, 1]), np.array([1.0, 1.0, 0.5]), n_classes=2)
    >>> counts.weight.tolist(), counts.rows.tolist()
    ([1.0, 1.5], [1, 2])
    """

    weight: Floats
    rows: Wholes

    @classmethod
    def count(cls, x: None, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN) -> Self:
        """Count class codes; there are no columns."""
        rows = count_labels(label.astype(np.int32, copy=False), n_classes)
        if weight is None:
            return cls(rows.astype(np.float64), rows)
        return cls(np.bincount(label, weights=weight, minlength=n_classes).astype(np.float64), rows)

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the same weights."""
        return cls(classes.weight, classes.rows)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return 0

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """Return the sum of one or more statistics."""
        return cls(np.sum([part.weight for part in parts], axis=0), np.sum([part.rows for part in parts], axis=0))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.weight + other.weight, self.rows + other.rows)

    def __sub__(self, other: Self) -> Self:
        rows, weight = self.rows - other.rows, self.weight - other.weight
        refuse_negative(rows, weight, other.weight)
        return type(self)(np.where(rows > 0, weight, 0.0), rows)

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.asarray(self.rows > 0)

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the same counts in another layout of the classes."""
        return type(self)(place(self.weight, places, n_classes, 0), place(self.rows, places, n_classes, 0))

    def take_columns(self, order: Index) -> Self:
        """Return the same weights; they have no columns."""
        return self

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return tables without columns."""
        return np.zeros((self.n_classes, 0)), np.zeros((self.n_classes, 0), np.int64)

    def is_integral(self) -> bool:
        """Return whether all weights are whole numbers."""
        return bool((self.weight == np.trunc(self.weight)).all())

    def check(self, n_classes: int, names: Names = ()) -> None:
        """Raise ValueError unless rows and weights are sound: finite and not negative."""
        check_array(self.weight, np.float64, (n_classes,), "weights of classes")
        check_array(self.rows, np.int64, (n_classes,), "rows of classes")
        require(bool((self.rows >= 0).all() and (self.weight >= 0).all()), "weights of classes")
