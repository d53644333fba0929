"""Class weights: the number of rows of each class, and their weight. The class prior is estimated from it.

The weight is a sum of three doubles, so that heavy rows can be forgotten and leave the weight of light ones exact.
"""

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
from naively.statistics.triples import add_triples, as_triple, scale_triple, sum_by_group, two_sum


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeights(Statistic):
    """Rows and weight per class.

    >>> counts = ClassWeights.count(None, np.array([0, 1, 1]), np.array([1.0, 1.0, 0.5]), n_classes=2)
    >>> counts.weight.tolist(), counts.rows.tolist()
    ([1.0, 1.5], [1, 2])
    """

    weight: Floats
    rows: Wholes
    low: Floats | None = None  # (2, class): the lower parts of the weight as three doubles, if they are not zero

    @classmethod
    def of_triple(cls, weight: Floats, rows: Wholes) -> Self:
        """Return these rows, with the sum of their weights as three doubles; zero without rows."""
        weight = np.where(rows > 0, weight, 0.0)
        return cls(weight[0], rows, weight[1:] if weight[1:].any() else None)

    @property
    def exact_weight(self) -> Floats:
        """The weight as three doubles, (3, class)."""
        return as_triple(self.weight) if self.low is None else np.concatenate([self.weight[None], self.low])

    @classmethod
    def count(cls, x: None, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN) -> Self:
        """Count class codes; there are no columns."""
        rows = count_labels(label.astype(np.int32, copy=False), n_classes)
        if weight is None:
            return cls(rows.astype(np.float64), rows)
        return cls.of_triple(sum_by_group(weight, label, n_classes), rows)

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the same weights."""
        return cls(classes.weight, classes.rows, classes.low)

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
        weight = np.concatenate([w for part in parts for w in (part.weight, *(() if part.low is None else part.low))])
        classes = np.tile(np.arange(parts[0].n_classes), len(weight) // max(parts[0].n_classes, 1))
        total = sum_by_group(weight, classes, parts[0].n_classes)
        return cls.of_triple(total, np.sum([part.rows for part in parts], axis=0))

    def __add__(self, other: Self) -> Self:
        weight, error = two_sum(self.weight, other.weight)
        if self.low is None and other.low is None and not error.any():  # as a rule
            return type(self)(weight, self.rows + other.rows)
        return self.of_triple(add_triples(self.exact_weight, other.exact_weight), self.rows + other.rows)

    def __sub__(self, other: Self) -> Self:
        rows = self.rows - other.rows
        weight, error = two_sum(self.weight, -other.weight)
        exact = self.low is None and other.low is None and not error.any()
        parts = weight[None] if exact else add_triples(self.exact_weight, -other.exact_weight)
        refuse_negative(rows, parts[0], other.weight)
        parts = np.where(parts[0] > 0, parts, 0.0)
        return type(self)(np.where(rows > 0, parts[0], 0.0), rows) if exact else self.of_triple(parts, rows)

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.asarray(self.rows > 0)

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the same counts in another layout of the classes."""
        low = None if self.low is None else place(self.low, places, n_classes, 1)
        return type(self)(place(self.weight, places, n_classes, 0), place(self.rows, places, n_classes, 0), low)

    def scaled(self, factor: float) -> Self:
        """Return the same rows, each with `factor` times its weight."""
        return self.of_triple(scale_triple(self.exact_weight, factor), self.rows)

    def take_columns(self, order: Index) -> Self:
        """Return the same weights; they have no columns."""
        return self

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return tables without columns."""
        return np.zeros((self.n_classes, 0)), np.zeros((self.n_classes, 0), np.int64)

    def is_integral(self) -> bool:
        """Return whether all weights are whole numbers."""
        return self.low is None and bool((self.weight == np.trunc(self.weight)).all())

    def check(self, n_classes: int, names: Names = ()) -> None:
        """Raise ValueError unless rows and weights are sound: finite and not negative."""
        check_array(self.weight, np.float64, (n_classes,), "weights of classes")
        check_array(self.rows, np.int64, (n_classes,), "rows of classes")
        if self.low is not None:
            check_array(self.low, np.float64, (2, n_classes), "weights of classes")
        require(bool((self.rows >= 0).all() and (self.weight >= 0).all()), "weights of classes")
