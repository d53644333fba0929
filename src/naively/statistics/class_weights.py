"""Class weights: how many rows of each class were counted, and their weight. The class prior is read off it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively.statistics.base import Statistic, moved, refuse_negative

__all__ = ["ClassWeights"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeights(Statistic):
    """Rows and weight per class.

    >>> whole = ClassWeights.count(None, np.array([0, 1, 1]), np.array([1.0, 1.0, 0.5]), n_classes=2)
    >>> whole.weight.tolist(), whole.rows.tolist()
    ([1.0, 1.5], [1, 2])
    """

    weight: NDArray[np.float64]
    rows: NDArray[np.int64]

    @classmethod
    def count(cls, x: None, label: NDArray[np.integer], weight: NDArray[np.float64] | None, n_classes: int) -> Self:
        """Count class codes; there are no columns to look at."""
        rows = kernels.count_labels(label.astype(np.int32, copy=False), n_classes)
        if weight is None:
            return cls(rows.astype(np.float64), rows)
        return cls(np.bincount(label, weights=weight, minlength=n_classes).astype(np.float64), rows)

    @classmethod
    def empty(cls, seen: Self) -> Self:
        """Of rows in which no column was looked at."""
        return seen

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return 0

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """The sum of one or more."""
        return cls(np.sum([part.weight for part in parts], axis=0), np.sum([part.rows for part in parts], axis=0))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.weight + other.weight, self.rows + other.rows)

    def __sub__(self, other: Self) -> Self:
        rows, weight = self.rows - other.rows, self.weight - other.weight
        refuse_negative(rows, weight, other.weight)
        return type(self)(np.where(rows > 0, weight, 0.0), rows)

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return np.asarray(self.rows > 0)

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(moved(self.weight, places, n_classes, 0), moved(self.rows, places, n_classes, 0))

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """Class weights have no columns."""
        return self
