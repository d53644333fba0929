"""Sums: weight and total of each column in each class.

    n = Σ w,    s = Σ w x                                                   (1)

s is an unevaluated sum of two doubles, so whole numbers are exact and the order of the rows costs no digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from naively._kernels.types import Array, Floats, Wholes
from naively.data.views import Numbers
from naively.statistics.arrays import NegativeCountError, refuse_negative
from naively.statistics.base import PLAN, ArrayStatistic, CountPlan, Description
from naively.statistics.class_weights import ClassWeights
from naively.statistics.moments import Moments

Pair = tuple[Floats, Floats]  # a number as an unevaluated sum of two doubles


def two_sum(a: Floats, b: Floats) -> Pair:
    """Return sum and error, with a + b = sum + error exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> Pair:
    """Return product and error, with a · b = product + error exactly (Dekker, Veltkamp), for |a|, |b| < 10³⁰⁰."""

    def halves(x: Floats) -> Pair:
        big = 134217729.0 * x  # 2²⁷ + 1
        high = big - (big - x)
        return high, x - high

    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def add_pairs(a: Pair, b: Pair) -> Pair:
    """Return the sum of two pairs, to about 2⁻¹⁰⁴."""
    high, low = two_sum(a[0], b[0])
    tail, rest = two_sum(a[1], b[1])
    high, low = two_sum(high, low + tail)
    return two_sum(high, low + rest)


@dataclass(frozen=True, slots=True, eq=False)
class Sums(ArrayStatistic):
    """Rows, weight and total per class and column.

    >>> visits = Sums.count(np.array([0, 2, 1, 9, 7]), np.array([0, 0, 0, 1, 1]), None, n_classes=2)
    >>> visits.weight.ravel().tolist(), visits.total.ravel().tolist()
    ([3.0, 2.0], [3.0, 16.0])
    """

    rows: Wholes
    weight: Floats
    parts: Floats  # (2, class, column): the total, and what rounding took from it

    leading: ClassVar[Mapping[str, tuple[int, ...]]] = {"rows": (), "weight": (), "parts": (2,)}

    @classmethod
    def count(
        cls, x: Numbers | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of numbers; equation (1), from the moments about a shift: s = n·c + s₁."""
        moments = Moments.count(x, label, weight, n_classes)
        n, shift, s1, s1_low = moments.state[:4]
        total = add_pairs(two_product(n, shift), (s1, s1_low))
        return cls(moments.rows, n, np.stack(total))

    @property
    def total(self) -> Floats:
        """Σ w x, per class and column."""
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

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column)."""
        return self.weight, self.rows

    def describe(self, column: int) -> list[Description]:
        """Return weight and total of a column in each class."""
        pairs = zip(self.weight[:, column].tolist(), self.total[:, column].tolist(), strict=True)
        return [{"weight": weight, "total": total} for weight, total in pairs]
