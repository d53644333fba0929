"""NumberSummary: what is kept of a column of numbers whose family is not decided yet, its histogram and its moments.

    measured = (histogram, moments)                                                          (1)

Both are additive, so the pair is. The histogram counts every number; the moments those up to 1e150, beyond which a
square would overflow, and not the infinities. A column has lost none if both have counted the same number of rows.

A histogram at level 0 holds the values themselves, so n, Σ(x−c), Σ(x−c)² are sums over its cells as well. They are
taken where rows are many and have no weights (a cell's weight is rounded once; its number of rows is exact).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.views import Numbers, is_sparse
from naively.statistics.base import Statistic
from naively.statistics.class_weights import ClassWeights
from naively.statistics.histogram import CAP, Histogram
from naively.statistics.moments import LARGEST, Moments, TooLargeError

__all__ = ["NumberSummary", "moments_of_cells", "moments_of_rows"]

MANY, OFTEN = 2**14, 8  # rows, and rows to a cell, from which on the cells are added up sooner than the rows


@dataclass(frozen=True, slots=True, eq=False)
class NumberSummary(Statistic):
    """The histogram and the moments of the same columns.

    >>> age = NumberSummary.count(np.array([31.0, 40, np.inf]), np.array([0, 0, 1]), None, n_classes=2)
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
        cap: int = CAP,
        like: Statistic | None = None,
    ) -> Self:
        """Count rows of numbers, both ways; `like` is what they will be added to, if that is all they are for."""
        numbers = Numbers.of(x)
        before = like.histogram if isinstance(like, NumberSummary) else None
        histogram = Histogram.count(numbers, label, weight, n_classes, cap, before)
        told = _told(histogram, numbers, weight)
        rest = numbers.columns(np.flatnonzero(~told)) if told.any() else numbers
        moments = moments_of_rows(rest, label, weight, n_classes)
        return cls(histogram, _with_told(moments, histogram, told) if told.any() else moments)

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls(Histogram.empty(seen), Moments.empty(seen))

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return self.histogram.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.histogram.n_columns

    def __add__(self, other: Self) -> Self:
        return type(self)(self.histogram + other.histogram, self.moments + other.moments)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.histogram - other.histogram, self.moments - other.moments)

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return self.histogram.has_rows() | self.moments.has_rows()

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(
            self.histogram.place_classes(places, n_classes), self.moments.place_classes(places, n_classes)
        )

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the columns in another order."""
        return type(self)(self.histogram.take_columns(order), self.moments.take_columns(order))


def _told(histogram: Histogram, numbers: Numbers, weight: NDArray[np.float64] | None) -> NDArray[np.bool_]:
    """The columns of a frame whose moments the histogram tells: exact values, each of them in many rows."""
    cells = histogram.cells
    if weight is not None or not len(cells.keys) or any(is_sparse(x) or x.shape[1] > 1 for x in numbers.pieces):
        return np.zeros(histogram.n_columns, dtype=np.bool_)
    n_cells = np.diff(cells.offsets)
    rows = np.diff(np.concatenate([[0], np.cumsum(cells.rows)])[cells.offsets])
    return np.asarray((cells.levels == 0) & (rows >= MANY) & (rows >= OFTEN * n_cells))


def _with_told(moments: Moments, histogram: Histogram, told: NDArray[np.bool_]) -> Moments:
    """The moments of all columns, of which those that the histogram tells were not counted by rows."""
    of_cells = moments_of_cells(histogram, told)
    of_cells.rows[:, ~told], of_cells.state[:, :, ~told] = moments.rows, moments.state
    return of_cells


def moments_of_cells(histogram: Histogram, told: NDArray[np.bool_]) -> Moments:
    """The moments of exact columns, of a value for each cell as often as it came; those of other columns are empty."""
    cells, values = histogram.cells, histogram.values
    rows = np.zeros((histogram.n_classes, len(told)), np.int64)
    state = np.zeros((9, histogram.n_classes, len(told)))
    for j in np.flatnonzero(told):
        place = slice(cells.offsets[j], cells.offsets[j + 1])
        kept = np.flatnonzero(np.abs(values[place]) <= LARGEST) + place.start
        kept = kept[_spread(len(kept))]
        of_cells = Moments.count(values[kept], cells.classes[kept], cells.weight[kept], histogram.n_classes)
        rows[:, j] = np.bincount(cells.classes[kept], cells.rows[kept], minlength=histogram.n_classes)
        state[:, :, j] = of_cells.state[:, :, 0]
    return Moments(rows, state)


def moments_of_rows(
    numbers: Numbers, label: NDArray[np.integer], weight: NDArray[np.float64] | None, n_classes: int
) -> Moments:
    """The moments of the numbers that can be squared."""
    try:
        return Moments.count(numbers, label, weight, n_classes)
    except TooLargeError:
        return Moments.count(_squarable(numbers), label, weight, n_classes)


def _spread(n: int) -> NDArray[np.intp]:
    """All places once, the first few of them far apart: a shift is chosen by the first values that are met."""
    step = next((k for k in range(round(0.618 * n), n) if math.gcd(k, n) == 1), 1)
    return np.arange(n) * step % max(n, 1)


def _squarable(numbers: Numbers) -> Numbers:
    """The numbers that can be squared; others are missing."""
    strips = []
    for _, strip in numbers.dense():
        with np.errstate(invalid="ignore"):
            strips.append(np.where(np.abs(strip) <= LARGEST, strip, np.nan))
    return Numbers(tuple(strips))
