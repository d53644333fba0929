"""Statistics in the making: rows come in batches, and the total is what counting them all at once would have been.

A statistic for every batch, added to the sum so far, takes longer than counting its rows where batches are small. Small
ones are wanted: they are counted while they are still in the cache of the processor, and memory is used again sooner.
So histograms and counts of values are added to in place, and become a frozen statistic in the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells, Gapped
from naively.data.views import Value, Values
from naively.statistics.histogram import Histogram
from naively.statistics.moments import Moments
from naively.statistics.number_summary import Measured, moments_of_cells
from naively.statistics.value_counts import ValueCounts, in_order

__all__ = ["RunningMeasured", "RunningValues"]

ONE_THREAD = 2**19  # codes: counted sooner than a thread is started for them
MOST_CELLS = 2**23  # class × value, 64 MB: beyond, what was counted is folded into a sparse statistic


class RunningMeasured:
    """A `Measured` in the making, of rows without weights.

    A column at level 0 tells its values, so its moments are those of its cells, taken when it leaves that level or in
    the end; rows are added up only from then on.

    >>> age = RunningMeasured(1, 2, 4096)
    >>> for some in ([31.0, 40.0], [np.inf, 40.0]):
    ...     age.add([Gapped(np.array(some))], np.array([0, 1], np.int32))
    >>> age.total().histogram.values.tolist(), age.total().moments.mean.ravel().tolist()
    ([31.0, 40.0, inf], [31.0, 40.0])
    """

    def __init__(self, n_columns: int, n_classes: int, cap: int) -> None:
        """Nothing counted yet."""
        self.n_classes = n_classes
        self.cap = cap
        self._counts = kernels.RunningNumbers(n_columns, n_classes, cap)
        self._exact = Moments(np.zeros((n_classes, n_columns), np.int64), np.zeros((9, n_classes, n_columns)))

    def add(self, columns: Sequence[Gapped], label: NDArray[np.int32]) -> None:
        """Count a batch."""
        left = self._counts.add(columns, label)
        if len(left.keys):
            exact = Histogram(left, self.n_classes, self.cap)
            self._exact = self._exact + moments_of_cells(exact, np.diff(left.offsets) > 0)

    def total(self) -> Measured:
        """What was counted."""
        histogram = Histogram(self._counts.cells(), self.n_classes, self.cap)
        of_cells = moments_of_cells(histogram, histogram.cells.levels == 0)
        return Measured(histogram, self._exact + Moments(*self._counts.moments()) + of_cells)


class RunningValues:
    """`ValueCounts` in the making, of rows without weights: for each column its values as they come, and their counts.

    >>> colour = RunningValues(1, 2)
    >>> for codes in ([0, 1], [1, -1]):
    ...     colour.add([Gapped(np.array(codes))], [("red", "blue")], np.array([0, 1], np.int32))
    >>> colour.total().values, colour.total().table().tolist()
    ((('blue', 'red'),), [[1.0, 1.0], [1.0, 0.0]])
    """

    def __init__(self, n_columns: int, n_classes: int) -> None:
        """Nothing counted yet."""
        self.n_classes = n_classes
        self._columns = [_Listed(n_classes) for _ in range(n_columns)]
        self._folded: ValueCounts | None = None

    def add(self, codes: Sequence[Gapped], listed: Sequence[Values], label: NDArray[np.int32]) -> None:
        """Count a batch: for each column its codes, and the values that they stand for."""
        threads = 1 if len(codes) * len(label) <= ONE_THREAD else None
        counted = kernels.count_gapped_codes(codes, list(map(len, listed)), label, self.n_classes, threads)
        for column, values, rows in zip(self._columns, listed, counted, strict=True):
            column.add(values, rows)
        if self.n_classes * sum(len(column) for column in self._columns) > MOST_CELLS:
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
    """The values of one column as they came, and how often each did in each class.

    Batches mostly list the same values: as long as they do, their counts are only added up.
    """

    def __init__(self, n_classes: int) -> None:
        self.place: dict[Value, int] = {}
        self.rows = np.zeros((n_classes, 0), np.int64)
        self._list: Values = ()
        self._of_list = self.rows

    def __len__(self) -> int:
        return len(self.place) + len(self._list)

    def add(self, values: Values, rows: NDArray[np.int64]) -> None:
        """Add counts (class, value)."""
        if values is self._list or values == self._list:
            self._of_list += rows
            return
        self._place_list()
        self._list, self._of_list = values, rows

    def _place_list(self) -> None:
        """Add the counts of the list to those of all values."""
        place, room = self.place, self.rows.shape[1]
        at = np.array([place.setdefault(value, len(place)) for value in self._list], dtype=np.intp)
        if len(place) > room:
            more = np.zeros((len(self.rows), max(len(place), 2 * room) - room), np.int64)
            self.rows = np.concatenate([self.rows, more], axis=1)
        if len(np.unique(at)) == len(at):
            self.rows[:, at] += self._of_list
        else:  # a list may have a value twice
            for mine, theirs in zip(self.rows, self._of_list, strict=True):
                np.add.at(mine, at, theirs)
        self._list, self._of_list = (), self._of_list[:, :0]

    def in_order(self) -> tuple[Values, NDArray[np.int64]]:
        """The values that were seen, sorted, and their counts."""
        self._place_list()
        seen = np.count_nonzero(self.rows, axis=0) > 0
        values = in_order(tuple(value for value, at in self.place.items() if seen[at]))
        order = np.fromiter(map(self.place.__getitem__, values), dtype=np.intp, count=len(values))
        return values, self.rows[:, order]
