"""Histograms of numeric columns: counted, merged, cut into bins that tell about the classes, and scored.

A key is the nearest float64's bits as an integer that keeps the order, shifted right by the column's level; the level
is the smallest at which the distinct keys of a column number at most `cap`. −0.0 is 0.0, NaN is missing, and the
infinities have keys of their own, `MINUS_INFINITY` and `PLUS_INFINITY`, at every level. The equations are in
`core/histogram.hpp` and `core/discretise.hpp`. Results are the same, bit for bit, for any `n_jobs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naively import _core
from naively._kernels.cells import _numbers
from naively._kernels.threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MINUS_INFINITY = int(np.iinfo(np.int64).min)
PLUS_INFINITY = int(np.iinfo(np.int64).max)


class HistogramCells(NamedTuple):
    """Sparse cells (column, key, class), in that order; those of column j are offsets[j] … offsets[j + 1].

    `weight` is Σ w, `rows` the whole number of rows, above zero.
    """

    levels: NDArray[np.int64]
    offsets: NDArray[np.int64]
    keys: NDArray[np.int64]
    classes: NDArray[np.int32]
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]

    @classmethod
    def empty(cls, n_columns: int) -> HistogramCells:
        """Columns in which nothing was seen."""
        none = np.zeros(0, np.int64)
        levels, offsets = np.zeros(n_columns, np.int64), np.zeros(n_columns + 1, np.int64)
        return cls(levels, offsets, none, np.zeros(0, np.int32), np.zeros(0), none)


def count_histogram(
    pieces: Sequence[NDArray[Any]],
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    cap: int,
    n_jobs: int | None = None,
    at_least: NDArray[np.int64] | None = None,
) -> HistogramCells:
    """Count the columns of several (row, column) arrays side by side, of any type and strides, in one pass.

    `at_least` are levels that no column may lie below: those of a histogram that the result will be added to, so that
    it need not find them out again.

    >>> x = np.array([[1.5], [np.nan], [-0.0], [0.0], [np.inf]])
    >>> cells = count_histogram([x], np.array([0, 0, 1, 1, 0], np.int32), None, 2, 4096)
    >>> key_values(cells.keys, np.zeros(3, np.int64))[0].tolist(), cells.classes.tolist(), cells.rows.tolist()
    ([0.0, 1.5, inf], [1, 0, 0], [2, 1, 1])
    """
    found = [_numbers(x) for x in pieces]
    return HistogramCells(*_core.count_histogram(found, label, weight, n_classes, cap, at_least, thread_count(n_jobs)))


def merge_histograms(a: HistogramCells, b: HistogramCells, sign: int, cap: int) -> HistogramCells:
    """a + b (sign 1) at the smallest level that fits; a − b (sign −1) at the higher of both levels.

    Cells whose rows come to 0 vanish. Negative rows are kept: b was not part of a, and it is for the caller to say so.
    """
    return HistogramCells(*_core.merge_histograms(a, b, sign, cap))


def cut_histogram(
    cells: HistogramCells, n_classes: int, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells at which a new bin begins, but for each column's first, and the offsets of the columns among them.

    The bins are those of MODL (Boullé 2006) over the finite keys.

    >>> x, label = np.arange(20.0)[:, None], np.repeat([0, 1], 10).astype(np.int32)
    >>> starts, offsets = cut_histogram(count_histogram([x], label, None, 2, 4096), 2)
    >>> starts.tolist(), offsets.tolist()
    ([10], [0, 1])
    """
    return _core.cut_histogram(cells, n_classes, thread_count(n_jobs))


def find_bins(
    values: NDArray[np.float64],
    ends: NDArray[np.int64],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """The bin of each value among all bins, −1 of NaN; column j has the values ends[j] … ends[j + 1].

    >>> find_bins(np.array([1.0, 5.0, np.nan, 7.0]), np.array([0, 1, 4]), np.array([5.0]), np.array([0, 0, 1])).tolist()
    [0, 2, -1, 2]
    """
    return _core.find_bins(values, ends, cuts, offsets, thread_count(n_jobs))


def bin_cells(
    cells: HistogramCells, n_classes: int, cuts: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The weight and the rows of each class in each bin, (bin, class); cells lie where their keys' smallest numbers do.

    >>> x, label = np.array([[1.0], [2.0], [2.0], [7.0]]), np.array([0, 0, 1, 1], np.int32)
    >>> cells = count_histogram([x], label, None, 2, 4096)
    >>> bin_cells(cells, 2, np.array([2.0]), np.array([0, 1]))[1].tolist()
    [[1, 0], [1, 2]]
    """
    weight, rows = _core.bin_cells(cells, n_classes, cuts, offsets)
    return weight.reshape(-1, n_classes), rows.reshape(-1, n_classes)


def score_bins(
    pieces: Sequence[NDArray[Any]],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    table: NDArray[np.float64],
    out: NDArray[np.float64],
    n_jobs: int | None = None,
) -> None:
    """Increase out (row, class) by the line of `table` (bin, class) that each value falls into; NaN adds nothing.

    Column j has the cuts offsets[j] … offsets[j + 1], ascending, and one bin more; a value's bin is the number of
    cuts that are not above it.
    """
    _core.score_bins([_numbers(x) for x in pieces], cuts, offsets, table, out, thread_count(n_jobs))


def key_values(keys: NDArray[np.int64], levels: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest float64 that have each key at its level: the same number at level 0.

    >>> low, high = key_values(np.array([0x3FF, MINUS_INFINITY]), np.array([52, 52]))
    >>> low.tolist(), high.tolist()
    ([1.0, -inf], [1.9999999999999998, -inf])
    """
    infinite = (keys == MINUS_INFINITY) | (keys == PLUS_INFINITY)
    low = np.where(infinite, 0, keys) << levels
    # At a high level the first and last bucket reach beyond the largest float64, into the codes of infinity.
    limit = np.float64(np.finfo(np.float64).max).view(np.int64)
    high = np.clip(low + ((np.int64(1) << levels) - 1), ~limit, limit)
    high = np.where(high == -1, -2, high)  # −1 would be −0.0, which is counted as 0.0
    low = np.clip(low, ~limit, limit)
    ends = []
    for end in (low, high):
        bits = end ^ ((end >> 63) & np.int64(PLUS_INFINITY))
        value = bits.view(np.float64) + 0.0
        ends.append(np.where(infinite, np.where(keys < 0, -np.inf, np.inf), value))
    return ends[0], ends[1]
