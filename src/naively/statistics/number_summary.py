"""NumberSummary: what is kept of a column of numbers until its family is decided, its histogram and its moments.

    summary = (histogram, moments)                                                           (1)

Both are additive, so the pair is. The histogram counts every number. The moments leave out infinities and numbers
beyond 1e150, whose square would overflow. A column has no such number if both have counted as many rows.

A histogram at level 0 holds the values themselves, so n, Σ(x−c) and Σ(x−c)² are sums over its cells as well. They are
taken where rows are many and have no weights. (A cell's weight is rounded once; its number of rows is exact.)
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Array, Bools, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.views import Numbers, is_sparse
from naively.statistics.arrays import require
from naively.statistics.base import PLAN, CountPlan, Statistic, ValueTable
from naively.statistics.cells import cells_of_entries
from naively.statistics.class_weights import ClassWeights
from naively.statistics.histogram import Histogram
from naively.statistics.moments import MAX_MAGNITUDE, STATE_SIZE, Moments, TooLargeError
from naively.statistics.value_counts import ValueCounts

MIN_ROWS, MIN_ROWS_PER_CELL = 2**14, 8  # from which on adding up the cells is faster than adding up the rows

_S = TypeVar("_S", bound=Statistic)


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
        cls, x: Numbers | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of numbers, both ways."""
        numbers = Numbers.of(x)
        histogram = Histogram.count(numbers, label, weight, n_classes, plan)
        exact = _exact_columns(histogram, numbers, weight)
        rest = numbers.columns(np.flatnonzero(~exact)) if exact.any() else numbers
        moments = _moments_of_rows(rest, label, weight, n_classes)
        if exact.any():
            of_cells = moments_of_cells(histogram, exact)
            of_cells.rows[:, ~exact], of_cells.state[:, :, ~exact] = moments.rows, moments.state
            moments = of_cells
        return cls(histogram, moments)

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the summary of no columns."""
        return cls(Histogram.empty(classes), Moments.empty(classes))

    def with_max_keys(self, cap: int) -> Self:
        """Return the same counts with at most `cap` keys in a column of the histogram."""
        return type(self)(self.histogram.with_max_keys(cap), self.moments)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.histogram.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.histogram.n_columns

    def multiples_of(self, step: float) -> Bools:
        """Return for each column whether all values are multiples of a step, as far as they are exact."""
        return self.histogram.multiples_of(step)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.histogram + other.histogram, self.moments + other.moments)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.histogram - other.histogram, self.moments - other.moments)

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return self.histogram.has_rows() | self.moments.has_rows()

    def take_columns(self, order: Index) -> Self:
        """Return the same counts with the columns in another order."""
        return type(self)(self.histogram.take_columns(order), self.moments.take_columns(order))

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column)."""
        return self.histogram.rows_present(classes)

    def all_in_moments(self) -> Bools:
        """Return for each column whether the moments have counted all its numbers."""
        rows = np.bincount(self.histogram.column, self.histogram.cells.rows, minlength=self.n_columns)
        return np.asarray(self.moments.rows.sum(axis=0) == rows)

    def part(self, kind: type[_S]) -> _S:
        """Return the histogram, the moments, or the counts of each value (of columns with an exact histogram)."""
        if kind is Histogram:
            return cast("_S", self.histogram)
        if kind is Moments:
            return cast("_S", self.moments)
        return cast("_S", _value_counts(self.histogram)) if kind is ValueCounts else super().part(kind)

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless both parts are sound."""
        require(isinstance(self.histogram, Histogram) and isinstance(self.moments, Moments), "histogram and moments")
        self.histogram.check(n_classes, names)
        self.moments.check(n_classes, names)

    def table(self, column: int) -> ValueTable:
        """Return how often each value of a column was counted."""
        return self.histogram.table(column)


def _exact_columns(histogram: Histogram, numbers: Numbers, weight: Floats | None) -> Bools:
    """Return the columns of a frame whose histogram gives the moments: exact values, each of them in many rows."""
    cells = histogram.cells
    if weight is not None or not len(cells.keys) or any(is_sparse(x) or x.shape[1] > 1 for x in numbers.pieces):
        return np.zeros(histogram.n_columns, dtype=np.bool_)
    n_cells = np.diff(cells.offsets)
    rows = np.diff(np.concatenate([[0], np.cumsum(cells.rows)])[cells.offsets])
    return np.asarray((cells.levels == 0) & (rows >= MIN_ROWS) & (rows >= MIN_ROWS_PER_CELL * n_cells))


def moments_of_cells(histogram: Histogram, exact: Bools) -> Moments:
    """Return the moments of exact columns, from a value for each cell; those of other columns are empty."""
    cells, values = histogram.cells, histogram.values
    rows = np.zeros((histogram.n_classes, len(exact)), np.int64)
    state = np.zeros((STATE_SIZE, histogram.n_classes, len(exact)))
    for j in np.flatnonzero(exact):
        span = slice(cells.offsets[j], cells.offsets[j + 1])
        usable = np.flatnonzero(np.abs(values[span]) <= MAX_MAGNITUDE) + span.start
        usable = usable[_spread(len(usable))]
        of_cells = Moments.count(values[usable], cells.classes[usable], cells.weight[usable], histogram.n_classes)
        rows[:, j] = np.bincount(cells.classes[usable], cells.rows[usable], minlength=histogram.n_classes)
        state[:, :, j] = of_cells.state[:, :, 0]
    return Moments(rows, state)


def _moments_of_rows(numbers: Numbers, label: NDArray[np.integer], weight: Floats | None, n_classes: int) -> Moments:
    """Return the moments of the numbers that can be squared."""
    try:
        return Moments.count(numbers, label, weight, n_classes)
    except TooLargeError:
        return Moments.count(_squarable(numbers), label, weight, n_classes)


def _spread(n: int) -> Index:
    """Return a permutation of n positions whose first few are far apart: the shift is chosen by the first values."""
    step = next((k for k in range(round(0.618 * n), n) if math.gcd(k, n) == 1), 1)
    return np.arange(n) * step % max(n, 1)


def _squarable(numbers: Numbers) -> Numbers:
    """Return the numbers that can be squared; mark others as missing."""
    strips = []
    for _, strip in numbers.dense():
        with np.errstate(invalid="ignore"):
            strips.append(np.where(np.abs(strip) <= MAX_MAGNITUDE, strip, np.nan))
    return Numbers(tuple(strips))


def _value_counts(histogram: Histogram) -> ValueCounts:
    """Return the counts of each value of columns whose histograms are exact (level 0)."""
    cells, new = histogram.cells, histogram.first_of_keys()
    slot = np.cumsum(new) - 1
    numbers = (histogram.values[new] + 0.0).tolist()
    per_column = np.bincount(histogram.column[new], minlength=histogram.n_columns)
    ends = np.concatenate([[0], np.cumsum(per_column)]).tolist()
    named = [int(v) if v == v // 1 else v for v in numbers]
    values = tuple(tuple(named[a:b]) for a, b in itertools.pairwise(ends))
    return ValueCounts(
        values, cells_of_entries(cells.classes, slot, cells.weight[None], cells.rows, histogram.n_classes)
    )
