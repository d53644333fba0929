"""Measured: what is kept of a column of numbers whose family is not decided yet, its histogram and its moments.

    measured = (histogram, moments)                                                          (1)

Both are additive, so the pair is. The histogram counts every number; the moments those up to 1e150, beyond which a
square would overflow, and not the infinities. A column has lost none if both have counted the same number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively.statistics.base import Statistic
from naively.statistics.blocks import Numbers
from naively.statistics.class_weights import ClassWeights
from naively.statistics.histogram import CAP, Histogram
from naively.statistics.moments import LARGEST, Moments, TooLargeError

__all__ = ["Measured"]


@dataclass(frozen=True, slots=True, eq=False)
class Measured(Statistic):
    """The histogram and the moments of the same columns.

    >>> age = Measured.count(np.array([31.0, 40, np.inf]), np.array([0, 0, 1]), None, n_classes=2)
    >>> age.histogram.values.tolist(), age.moments.mean.ravel().tolist()
    ([31.0, 40.0, inf], [35.5, 0.0])
    """

    histogram: Histogram
    moments: Moments

    @classmethod
    def count(
        cls,
        x: Numbers | NDArray[Any],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
        n_classes: int,
        n_jobs: int = 1,
        cap: int = CAP,
    ) -> Self:
        """Count rows of numbers, both ways."""
        numbers = Numbers.of(x)
        histogram = Histogram.count(numbers, label, weight, n_classes, n_jobs, cap)
        try:
            moments = Moments.count(numbers, label, weight, n_classes, n_jobs)
        except TooLargeError:
            moments = Moments.count(_squarable(numbers), label, weight, n_classes, n_jobs)
        return cls(histogram, moments)

    @classmethod
    def of_no_columns(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls(Histogram.of_no_columns(seen), Moments.of_no_columns(seen))

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return self.histogram.n_classes

    def __add__(self, other: Self) -> Self:
        return type(self)(self.histogram + other.histogram, self.moments + other.moments)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.histogram - other.histogram, self.moments - other.moments)

    def with_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(self.histogram.with_classes(places, n_classes), self.moments.with_classes(places, n_classes))

    def with_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the columns in another order."""
        return type(self)(self.histogram.with_columns(order), self.moments.with_columns(order))


def _squarable(numbers: Numbers) -> Numbers:
    """The numbers that can be squared; others are missing."""
    strips = []
    for _, strip in numbers.dense():
        with np.errstate(invalid="ignore"):
            strips.append(np.where(np.abs(strip) <= LARGEST, strip, np.nan))
    return Numbers(tuple(strips))
