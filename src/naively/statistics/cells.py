"""Cells: a sparse table class × token (or value), with sums of weights and a whole number of rows in each cell.

A cell exists while its rows are > 0, whatever the weights, so what was forgotten is gone without a trace.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells
from naively.statistics.base import NegativeCountError

__all__ = [
    "class_of_cells",
    "class_sums",
    "find_cells",
    "placed",
    "refuse_negative_cells",
    "side_by_side",
    "sum_by_class",
    "table_of_cells",
    "total_cells",
]


def class_of_cells(cells: Cells) -> NDArray[np.intp]:
    """The class of each cell."""
    return np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr))


def placed(cells: Cells, places: NDArray[np.int32], n_classes: int) -> Cells:
    """The same cells with class c at places[c], −1 for an empty class that is dropped; nothing is copied.

    Classes are sorted on both sides, so places rise and the cells stay in their order.
    """
    counts = np.zeros(n_classes, dtype=np.int64)
    kept = places >= 0
    counts[places[kept]] = np.diff(cells.indptr)[kept]
    return cells._replace(indptr=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))


def find_cells(cells: Cells, wanted: Cells) -> NDArray[np.intp]:
    """The place in `cells` of each cell of `wanted`, −1 where there is none."""
    places = np.full(len(wanted.index), -1, dtype=np.intp)
    for c in np.flatnonzero(np.diff(wanted.indptr)):
        start, stop = int(cells.indptr[c]), int(cells.indptr[c + 1])
        asked = slice(int(wanted.indptr[c]), int(wanted.indptr[c + 1]))
        if start == stop:
            continue
        found = start + np.minimum(np.searchsorted(cells.index[start:stop], wanted.index[asked]), stop - start - 1)
        places[asked] = np.where(cells.index[found] == wanted.index[asked], found, -1)
    return places


def class_sums(cells: Cells, channel: int) -> NDArray[np.float64]:
    """Sum of one channel over the cells of each class."""
    return sum_by_class(cells, cells.sums[channel])


def sum_by_class(cells: Cells, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of one number per cell over the cells of each class; pairwise, so that a million terms lose nothing."""
    ends = cells.indptr.tolist()
    return np.array([values[start:stop].sum() for start, stop in itertools.pairwise(ends)], dtype=np.float64)


def table_of_cells(cells: Cells, n_tokens: int, values: NDArray[Any]) -> NDArray[np.float64]:
    """A dense (class, token) table with one number per cell, zero elsewhere."""
    out = np.zeros((len(cells.indptr) - 1, n_tokens))
    out[class_of_cells(cells), cells.index] = values
    return out


def refuse_negative_cells(cells: Cells, taken: Cells, describe: Callable[[int], tuple[int | None, str]]) -> None:
    """Refuse cells with fewer than zero rows, or a weight below zero by more than rounding.

    `describe` tells the column of a cell's index, and what the cell counts.
    """
    slack = 1e-9 * (1.0 + (float(taken.sums.max()) if taken.sums.size else 0.0))
    bad = (cells.rows < 0) | (cells.sums < -slack).any(axis=0)
    if not bad.any():
        return
    first = int(np.argmax(bad))
    column, what = describe(int(cells.index[first]))
    found = f"{what}: {cells.rows[first]} rows of weight {cells.sums[-1, first]:g}"
    raise NegativeCountError(int(class_of_cells(cells)[first]), column, found)


def total_cells(parts: Sequence[Cells], numbers: Sequence[NDArray[np.int32]] | None = None) -> Cells:
    """The sum of cells of the same classes; `numbers` tell for each part what its slots are in the sum.

    All parts are laid one after the other, each class of each part as a class of its own; then they meet.
    """
    n = len(parts[0].indptr) - 1
    found = [cells.index for cells in parts]
    if numbers is not None:
        found = [slots[index] for slots, index in zip(numbers, found, strict=True)]
    slots, index = np.unique(np.concatenate(found), return_inverse=True)
    sizes = np.concatenate([np.diff(cells.indptr) for cells in parts])
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    sums = np.concatenate([cells.sums for cells in parts], axis=1)
    rows = np.concatenate([cells.rows for cells in parts])
    classes = np.tile(np.arange(n, dtype=np.int32), len(parts))
    return kernels.renumber_cells(Cells(indptr, index.astype(np.int32), sums, rows), classes, slots, n)


def side_by_side(parts: list[tuple[int, Cells]], n_classes: int) -> Cells:
    """Cells over the slots of several parts, one after the other; each part says how many slots it has."""
    if len(parts) == 1:
        return parts[0][1]
    starts = np.cumsum([0, *(size for size, _ in parts)])
    owner = np.concatenate([class_of_cells(cells) for _, cells in parts])
    index = np.concatenate([cells.index + start for (_, cells), start in zip(parts, starts, strict=False)])
    order = np.lexsort((index, owner))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_classes))]).astype(np.int64)
    sums = np.concatenate([cells.sums for _, cells in parts], axis=1)[:, order]
    rows = np.concatenate([cells.rows for _, cells in parts])[order]
    return Cells(indptr, index[order].astype(np.int32), np.ascontiguousarray(sums), rows)
