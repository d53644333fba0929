"""Sums: weight and total of each column in each class.

    n = Σ w,    s = Σ w x                                                   (1)

Both are sums of three doubles. So whole numbers are exact, the order of the rows costs no digits, and rows 10¹⁸ times
heavier than the rest can be counted and forgotten. What rounding leaves of numbers that are forgotten is far below the
sum of all that was ever added or subtracted (2⁻⁸⁰ of it); such a total is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from naively._kernels.types import Array, Floats, Wholes
from naively.data.views import Numbers
from naively.statistics.arrays import NegativeCountError, refuse_negative
from naively.statistics.base import PLAN, ArrayStatistic, CountPlan, Description
from naively.statistics.moments import Moments
from naively.statistics.triples import add_triples, rounded, scale_triple

ROUNDING = 2.0**-80


@dataclass(frozen=True, slots=True, eq=False)
class Sums(ArrayStatistic):
    """Rows, weight and total per class and column.

    >>> visits = Sums.count(np.array([0, 2, 1, 9, 7]), np.array([0, 0, 0, 1, 1]), None, n_classes=2)
    >>> visits.weight.ravel().tolist(), visits.total.ravel().tolist()
    ([3.0, 2.0], [3.0, 16.0])
    """

    rows: Wholes
    weight: Floats
    parts: Floats  # (6, class, column): the total (three), the lower parts of the weight (two), the turnover

    leading: ClassVar[Mapping[str, tuple[int, ...]]] = {"rows": (), "weight": (), "parts": (6,)}

    @classmethod
    def count(
        cls, x: Numbers | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of numbers; equation (1), from the moments about a shift: s = n·c + s₁."""
        moments = Moments.count(x, label, weight, n_classes)
        n = moments.exact_weight
        total = add_triples(scale_triple(n, moments.state[1]), moments.state[2:5])
        return cls._of(moments.rows, n, total, np.abs(rounded(total)))

    @classmethod
    def _of(cls, rows: Wholes, weight: Floats, total: Floats, turnover: Floats) -> Self:
        return cls(rows, weight[0], np.concatenate([total, weight[1:], turnover[None]]))

    @property
    def exact_weight(self) -> Floats:
        """n as three doubles, (3, class, column)."""
        return np.stack([self.weight, self.parts[3], self.parts[4]])

    @property
    def total(self) -> Floats:
        """Σ w x, per class and column."""
        return np.where(np.abs(self.parts[0]) <= ROUNDING * self.parts[5], 0.0, rounded(self.parts[:3]))

    def __add__(self, other: Self) -> Self:
        weight = add_triples(self.exact_weight, other.exact_weight)
        total = add_triples(self.parts[:3], other.parts[:3])
        return self._of(self.rows + other.rows, weight, total, self.parts[5] + other.parts[5])

    def __sub__(self, other: Self) -> Self:
        rows, weight = self.rows - other.rows, add_triples(self.exact_weight, -other.exact_weight)
        refuse_negative(rows, weight[0], other.weight)
        total = add_triples(self.parts[:3], -other.parts[:3])
        left = np.where(rows > 0, np.minimum(total[0], 0.0), total[0])  # numbers are not negative
        slack = 1e-9 * (np.abs(self.total) + np.abs(other.total)) + ROUNDING * (self.parts[5] + other.parts[5])
        for c, j in np.argwhere(np.abs(left) > slack):
            raise NegativeCountError(int(c), int(j), f"{rows[c, j]} rows that add up to {left[c, j]:g}")
        rest = self._of(rows, weight, total, self.parts[5] + other.parts[5])
        return replace(rest, weight=np.where(rows > 0, rest.weight, 0.0), parts=np.where(rows > 0, rest.parts, 0.0))

    def scaled(self, factor: float) -> Self:
        """Return the sums with all weights multiplied."""
        weight, total = scale_triple(self.exact_weight, factor), scale_triple(self.parts[:3], factor)
        return self._of(self.rows, weight, total, self.parts[5] * factor)

    def without_unused(self) -> Self:
        """Return the same sums, with two parts of the total alone if nothing else is lost."""
        is_plain = (self.parts[2:5] == 0).all() and (
            self.parts[5] <= (1 + 1e-9) * np.abs(rounded(self.parts[:3]))
        ).all()
        return replace(self, parts=self.parts[:2]) if is_plain else self

    def repaired(self) -> Self:
        """Return the sums with the parts that `without_unused` left out, as early versions did."""
        if not (isinstance(self.parts, np.ndarray) and self.parts.ndim == 3 and len(self.parts) == 2):
            return self
        zeros = np.zeros_like(self.parts[0])
        return replace(self, parts=np.stack([*self.parts, zeros, zeros, zeros, np.abs(self.parts[0])]))

    def describe(self, column: int) -> list[Description]:
        """Return weight and total of a column in each class."""
        pairs = zip(self.weight[:, column].tolist(), self.total[:, column].tolist(), strict=True)
        return [{"weight": weight, "total": total} for weight, total in pairs]
