"""Histograms of numeric columns: count and merge them, cut them into bins, and score bins.

A key is the bits of a float64 as an integer that keeps the order, shifted right by the level of the column. The level
is the smallest at which a column has at most `cap` distinct keys. −0.0 is 0.0, NaN is missing, and the infinities have
their own keys, `MINUS_INFINITY` and `PLUS_INFINITY`, at every level. The equations are in core/histogram/histogram.hpp
and discretise.cpp. Results are the same, bit for bit, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from naively import _core
from naively._kernels.cells import readable
from naively._kernels.threads import thread_count
from naively._kernels.types import Array, Codes32, Floats, Wholes

MINUS_INFINITY = int(np.iinfo(np.int64).min)
PLUS_INFINITY = int(np.iinfo(np.int64).max)


class HistogramCells(NamedTuple):
    """Sparse cells in order of column, key and class; those of column j are offsets[j] … offsets[j + 1].

    `weight` is Σ w, `rows` the number of rows, above zero.
    """

    levels: Wholes
    offsets: Wholes
    keys: Wholes
    classes: Codes32
    weight: Floats
    rows: Wholes

    @classmethod
    def empty(cls, n_columns: int) -> HistogramCells:
        """Return columns without values."""
        none = np.zeros(0, np.int64)
        levels, offsets = np.zeros(n_columns, np.int64), np.zeros(n_columns + 1, np.int64)
        return cls(levels, offsets, none, np.zeros(0, np.int32), np.zeros(0), none)


def count_histogram(
    pieces: Sequence[Array],
    label: Codes32,
    weight: Floats | None,
    n_classes: int,
    cap: int,
    n_jobs: int | None = None,
    min_level: Wholes | None = None,
) -> HistogramCells:
    """Count the columns of several (row, column) arrays of any type and strides, in one pass.

    `min_level` is the lowest level of each column: that of a histogram to which the result is added, so that it need
    not be searched again.

    >>> x = np.array([[1.5], [np.nan], [-0.0], [0.0], [np.inf]])
    >>> cells = count_histogram([x], np.array([0, 0, 1, 1, 0], np.int32), None, 2, 4096)
    >>> key_values(cells.keys, np.zeros(3, np.int64))[0].tolist(), cells.classes.tolist(), cells.rows.tolist()
    ([0.0, 1.5, inf], [1, 0, 0], [2, 1, 1])
    """
    arrays, n_threads = [readable(x) for x in pieces], thread_count(n_jobs)
    return HistogramCells(*_core.count_histogram(arrays, label, weight, n_classes, cap, min_level, n_threads))


def merge_histograms(a: HistogramCells, b: HistogramCells, sign: int, cap: int) -> HistogramCells:
    """Return a + b (sign 1) at the smallest level that fits, or a − b (sign −1) at the higher of both levels.

    Cells whose rows become 0 vanish. Negative rows stay: b was not part of a, which the caller must report.
    """
    return HistogramCells(*_core.merge_histograms(a, b, sign, cap))


def cut_histogram(cells: HistogramCells, n_classes: int, n_jobs: int | None = None) -> tuple[Wholes, Wholes]:
    """Return the cells at which a new bin begins, except the first of each column, and the offsets of the columns.

    The bins are those of MODL (Boullé 2006) over the finite keys.

    >>> x, label = np.arange(20.0)[:, None], np.repeat([0, 1], 10).astype(np.int32)
    >>> starts, offsets = cut_histogram(count_histogram([x], label, None, 2, 4096), 2)
    >>> starts.tolist(), offsets.tolist()
    ([10], [0, 1])
    """
    return _core.cut_histogram(cells, n_classes, thread_count(n_jobs))


def find_bins(pieces: Sequence[Array], n_rows: int, levels: Wholes, cuts: Floats, offsets: Wholes) -> Wholes:
    """Return the bin of each number among all bins, (row, column), −1 for NaN.

    A number is in the bin of the smallest number of its key, as `bin_cells` has it.

    >>> x, levels = np.array([[1.0, 7.0], [5.0, np.nan]]), np.zeros(2, np.int64)
    >>> find_bins([x], 2, levels, np.array([5.0]), np.array([0, 0, 1])).tolist()
    [[0, 2], [0, -1]]
    """
    return _core.find_bins([readable(x) for x in pieces], n_rows, levels, cuts, offsets)


def bin_cells(cells: HistogramCells, n_classes: int, cuts: Floats, offsets: Wholes) -> tuple[Floats, Wholes]:
    """Return the weight and the rows of each class in each bin, (bin, class).

    A cell belongs to the bin of the smallest number of its key.

    >>> x, label = np.array([[1.0], [2.0], [2.0], [7.0]]), np.array([0, 0, 1, 1], np.int32)
    >>> cells = count_histogram([x], label, None, 2, 4096)
    >>> bin_cells(cells, 2, np.array([2.0]), np.array([0, 1]))[1].tolist()
    [[1, 0], [1, 2]]
    """
    weight, rows = _core.bin_cells(cells, n_classes, cuts, offsets)
    return weight.reshape(-1, n_classes), rows.reshape(-1, n_classes)


def score_bins(
    pieces: Sequence[Array], cuts: Floats, offsets: Wholes, table: Floats, out: Floats, n_jobs: int | None = None
) -> None:
    """Increase out (row, class) by the line of `table` (bin, class) for each value; NaN adds nothing.

    Column j has the cuts offsets[j] … offsets[j + 1], ascending, and one bin more. The bin of a value is the number of
    cuts that are not above it.
    """
    _core.score_bins([readable(x) for x in pieces], cuts, offsets, table, out, thread_count(n_jobs))


def score_bin_columns(
    columns: Sequence[Array], cuts: Floats, offsets: Wholes, table: Floats, out: Floats, n_jobs: int | None = None
) -> None:
    """Do `score_bins` for each column alone, each an array (row, 1): `out` is (column, row, class)."""
    _core.score_bin_columns([readable(x) for x in columns], cuts, offsets, table, out, thread_count(n_jobs))


def key_values(keys: Wholes, levels: Wholes) -> tuple[Floats, Floats]:
    """Return the smallest and the largest float64 with each key at its level: the same number at level 0.

    >>> low, high = key_values(np.array([0x3FF, MINUS_INFINITY]), np.array([52, 52]))
    >>> low.tolist(), high.tolist()
    ([1.0, -inf], [1.9999999999999998, -inf])
    """
    infinite = (keys == MINUS_INFINITY) | (keys == PLUS_INFINITY)
    low = np.where(infinite, 0, keys) << levels
    # At a high level the first and last bucket contain the bits of infinity.
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
