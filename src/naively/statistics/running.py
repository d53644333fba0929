"""Statistics in the making: rows come in batches, and the total is what counting them all at once would have been.

A statistic for every batch, added to the sum so far, takes longer than counting its rows where batches are small. Small
ones are wanted: they are counted while they are still in the cache of the processor, and memory is used again sooner.
So histograms and counts of values are added to in place, and become a frozen statistic in the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively import kernels
from naively.kernels import Cells
from naively.statistics.blocks import Coded, Numbers, Value, Values
from naively.statistics.histogram import Histogram
from naively.statistics.measured import Measured, moments_of_cells, moments_of_rows
from naively.statistics.moments import Moments
from naively.statistics.value_counts import ValueCounts, in_order

__all__ = ["RunningMeasured", "RunningValues"]

ONE_THREAD = 2**18  # codes
MOST_CELLS = 2**23  # class × value, 64 MB: beyond, what was counted is folded into a sparse statistic


class RunningMeasured:
    """A `Measured` in the making, of rows without weights.

    A column at level 0 tells its values, so its moments are those of its cells, taken when it leaves that level or in
    the end; rows are added up only from then on.

    >>> age = RunningMeasured(1, 2, 4096)
    >>> for some in ([31.0, 40.0], [np.inf, 40.0]):
    ...     age.add(Numbers.of(np.array(some)), np.array([0, 1], np.int32), 1)
    >>> age.total().histogram.values.tolist(), age.total().moments.mean.ravel().tolist()
    ([31.0, 40.0, inf], [31.0, 40.0])
    """

    def __init__(self, n_columns: int, n_classes: int, cap: int) -> None:
        """Nothing counted yet."""
        self.n_classes = n_classes
        self.cap = cap
        self._histogram = kernels.RunningHistogram(n_columns, n_classes, cap)
        self._moments = Moments(np.zeros((n_classes, n_columns), np.int64), np.zeros((9, n_classes, n_columns)))

    def add(self, numbers: Numbers, label: NDArray[np.int32], n_jobs: int) -> None:
        """Count a batch."""
        n = len(label)
        from_row, left = self._histogram.add(numbers.pieces, label, n_jobs)
        if len(left.keys):
            exact = Histogram(left, self.n_classes, self.cap)
            self._moments = self._moments + moments_of_cells(exact, np.diff(left.offsets) > 0)
        for start in np.unique(from_row[from_row < n]).tolist():
            order = np.flatnonzero(from_row == start)
            rows = numbers.columns(order).rows(start, n)
            counted = moments_of_rows(rows, label[start:], None, self.n_classes, n_jobs)
            place = np.full(len(from_row), -1, dtype=np.intp)
            place[order] = np.arange(len(order))
            self._moments = self._moments + counted.with_columns(place)

    def total(self) -> Measured:
        """What was counted."""
        histogram = Histogram(self._histogram.cells(), self.n_classes, self.cap)
        return Measured(histogram, self._moments + moments_of_cells(histogram, histogram.cells.levels == 0))


class RunningValues:
    """`ValueCounts` in the making, of rows without weights: for each column its values as they come, and their counts.

    >>> colour = RunningValues(1, 2)
    >>> for codes in ([0, 1], [1, -1]):
    ...     colour.add(Coded((np.array([codes]).T,), (("red", "blue"),)), np.array([0, 1], np.int32), 1)
    >>> colour.total().values, colour.total().table().tolist()
    ((('blue', 'red'),), [[1.0, 1.0], [1.0, 0.0]])
    """

    def __init__(self, n_columns: int, n_classes: int) -> None:
        """Nothing counted yet."""
        self.n_classes = n_classes
        self._columns = [_Listed(n_classes) for _ in range(n_columns)]
        self._folded: ValueCounts | None = None

    def add(self, coded: Coded, label: NDArray[np.int32], n_jobs: int) -> None:
        """Count a batch."""
        listed, sizes = coded.values, coded.sizes
        for place, piece in coded.placed():
            # A column of a batch is counted sooner than a thread is started for it.
            threads = 1 if piece.size <= ONE_THREAD else n_jobs
            rows = kernels.count_codes(piece, sizes[place], label, None, self.n_classes, threads)[1]
            start = 0
            for j in range(place.start, place.stop):
                self._columns[j].add(listed[j], rows[:, start : start + len(listed[j])])
                start += len(listed[j])
        if self.n_classes * sum(len(column.place) for column in self._columns) > MOST_CELLS:
            self._folded = self.total()
            self._columns = [_Listed(self.n_classes) for _ in self._columns]

    def total(self) -> ValueCounts:
        """What was counted."""
        parts = [column.in_order() for column in self._columns]
        rows = np.concatenate([np.zeros((self.n_classes, 0), np.int64), *(rows for _, rows in parts)], axis=1)
        where = np.nonzero(rows)
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(rows, axis=1))]).astype(np.int64)
        cells = Cells(indptr, where[1].astype(np.int32), rows[where][None, :].astype(np.float64), rows[where])
        counts = ValueCounts(tuple(values for values, _ in parts), cells)
        return counts if self._folded is None else self._folded + counts


class _Listed:
    """The values of one column as they came, and how often each did in each class."""

    def __init__(self, n_classes: int) -> None:
        self.place: dict[Value, int] = {}
        self.rows = np.zeros((n_classes, 0), np.int64)
        self._last: tuple[Values, NDArray[np.intp], bool] = ((), np.zeros(0, np.intp), True)

    def add(self, values: Values, rows: NDArray[np.int64]) -> None:
        """Add counts (class, value); batches mostly list the same values."""
        if values != self._last[0]:
            place = self.place
            at = np.array([place.setdefault(value, len(place)) for value in values], dtype=np.intp)
            self._last = values, at, len(np.unique(at)) == len(at)
            room = self.rows.shape[1]
            if len(place) > room:
                more = np.zeros((len(self.rows), max(len(place), 2 * room) - room), np.int64)
                self.rows = np.concatenate([self.rows, more], axis=1)
        _, at, once = self._last
        if once:
            self.rows[:, at] += rows
        else:  # a list may have a value twice
            for mine, theirs in zip(self.rows, rows, strict=True):
                np.add.at(mine, at, theirs)

    def in_order(self) -> tuple[Values, NDArray[np.int64]]:
        """The values that were seen, sorted, and their counts."""
        seen = np.count_nonzero(self.rows, axis=0) > 0
        values = in_order(tuple(value for value, at in self.place.items() if seen[at]))
        order = np.fromiter(map(self.place.__getitem__, values), dtype=np.intp, count=len(values))
        return values, self.rows[:, order]
