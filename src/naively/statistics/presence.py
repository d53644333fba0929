"""Presence: of how many rows of each class a column has a value; what is not there is missing.

Nothing is counted for it: every statistic knows the rows that it saw a value in, and the model knows all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively.data.names import Names
from naively.statistics.base import Statistic
from naively.statistics.cells import class_of_cells
from naively.statistics.class_weights import ClassWeights
from naively.statistics.histogram import Histogram
from naively.statistics.moments import Moments
from naively.statistics.number_summary import NumberSummary
from naively.statistics.sums import Sums
from naively.statistics.token_counts import TokenCounts
from naively.statistics.value_counts import ValueCounts
from naively.statistics.word_counts import WordCounts

__all__ = ["presence_of"]


def presence_of(statistic: Statistic, seen: ClassWeights, names: Names) -> TokenCounts:
    """Yes or no for each column: has a row a value there?"""
    weight, rows = present(statistic, seen, len(names))
    where = np.nonzero(rows)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(rows, axis=1))]).astype(np.int64)
    cells = Cells(indptr, where[1].astype(np.int32), np.stack([weight[where], weight[where]]), rows[where])
    return TokenCounts(names, cells, Cells.empty(seen.n_classes, 1), seen)


def present(statistic: Statistic, seen: ClassWeights, n_columns: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Weight and number of the rows that have a value, (class, column)."""
    shape = (seen.n_classes, n_columns)
    if isinstance(statistic, NumberSummary):
        return present(statistic.histogram, seen, n_columns)
    if isinstance(statistic, Histogram):
        place = statistic.cells.classes * np.int64(n_columns) + statistic.column
        return _added(place, statistic.cells.weight, statistic.cells.rows, shape)
    if isinstance(statistic, (Moments, Sums)):
        return np.asarray(statistic.weight), statistic.rows
    if isinstance(statistic, ValueCounts):
        cells = statistic.cells
        column = np.searchsorted(statistic.offsets, cells.index, side="right") - 1
        return _added(class_of_cells(cells) * n_columns + column, cells.sums[0], cells.rows, shape)
    if isinstance(statistic, TokenCounts):
        gaps = statistic.missing
        weight, rows = _added(class_of_cells(gaps) * n_columns + gaps.index, gaps.sums[0], gaps.rows, shape)
        return seen.weight[:, None] - weight, seen.rows[:, None] - rows
    if isinstance(statistic, WordCounts):
        return statistic.seen.weight[:, None], statistic.seen.rows[:, None]
    return np.zeros(shape), np.zeros(shape, np.int64)


def _added(
    place: NDArray[Any], weight: NDArray[np.float64], rows: NDArray[np.int64], shape: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    n = shape[0] * shape[1]
    whole_rows = np.bincount(place, rows, n).astype(np.int64)  # exact up to 2^53 rows
    return np.bincount(place, weight, n).reshape(shape).astype(np.float64), whole_rows.reshape(shape)
