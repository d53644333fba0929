"""Sums: number and total of each column in each class.

    n = Σ w,    s = Σ w x                                                   (1)

s is an unevaluated sum of two doubles, so whole numbers are exact and others lose nothing by the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.views import Numbers
from naively.statistics.base import NegativeCountError, Statistic, moved, refuse_negative, taken
from naively.statistics.class_weights import ClassWeights
from naively.statistics.moments import Moments

__all__ = ["Sums"]

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def two_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pair:
    """a + b = sum + error, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pair:
    """a · b = product + error, exactly (Dekker, Veltkamp), for |a|, |b| below 10³⁰⁰."""

    def halves(x: NDArray[np.float64]) -> Pair:
        big = 134217729.0 * x  # 2²⁷ + 1
        high = big - (big - x)
        return high, x - high

    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def add_pairs(a: Pair, b: Pair) -> Pair:
    """Sum of two pairs, to about 2⁻¹⁰⁴."""
    high, low = two_sum(a[0], b[0])
    tail, rest = two_sum(a[1], b[1])
    high, low = two_sum(high, low + tail)
    return two_sum(high, low + rest)


@dataclass(frozen=True, slots=True, eq=False)
class Sums(Statistic):
    """Rows, weight and total per class and column.

    >>> visits = Sums.count(np.array([0, 2, 1, 9, 7]), np.array([0, 0, 0, 1, 1]), None, n_classes=2)
    >>> visits.weight.ravel().tolist(), visits.total.ravel().tolist()
    ([3.0, 2.0], [3.0, 16.0])
    """

    rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    parts: NDArray[np.float64]  # (2, class, column): the total, and what rounding took from it

    @classmethod
    def count(
        cls, x: Numbers | NDArray[Any], label: NDArray[np.integer], weight: NDArray[np.float64] | None, n_classes: int
    ) -> Self:
        """Count rows of numbers; equation (1), from the moments about a shift: s = n·c + s₁."""
        moments = Moments.count(x, label, weight, n_classes)
        n, shift, s1, s1_low = moments.state[:4]
        total = add_pairs(two_product(n, shift), (s1, s1_low))
        return cls(moments.rows, n, np.stack(total))

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls(
            np.zeros((seen.n_classes, 0), np.int64),
            np.zeros((seen.n_classes, 0)),
            np.zeros((2, seen.n_classes, 0)),
        )

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])

    @property
    def total(self) -> NDArray[np.float64]:
        """Σ w x per class and column."""
        return np.asarray(self.parts[0] + self.parts[1])

    def __add__(self, other: Self) -> Self:
        parts = add_pairs((self.parts[0], self.parts[1]), (other.parts[0], other.parts[1]))
        return type(self)(self.rows + other.rows, self.weight + other.weight, np.stack(parts))

    def __sub__(self, other: Self) -> Self:
        rows, weight = self.rows - other.rows, self.weight - other.weight
        refuse_negative(rows, weight, other.weight)
        parts = add_pairs((self.parts[0], self.parts[1]), (-other.parts[0], -other.parts[1]))
        left = np.where(rows > 0, np.minimum(parts[0], 0.0), parts[0])
        for c, j in np.argwhere(np.abs(left) > 1e-9 * (1.0 + other.total)):
            raise NegativeCountError(int(c), int(j), f"{rows[c, j]} rows that add up to {left[c, j]:g}")
        return type(self)(
            rows, np.where(rows > 0, weight, 0.0), np.stack([np.where(rows > 0, part, 0.0) for part in parts])
        )

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return np.asarray((self.rows > 0).any(axis=1))

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(
            moved(self.rows, places, n_classes, 0),
            moved(self.weight, places, n_classes, 0),
            moved(self.parts, places, n_classes, 1),
        )

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the columns in another order."""
        return type(self)(taken(self.rows, order), taken(self.weight, order), taken(self.parts, order))
