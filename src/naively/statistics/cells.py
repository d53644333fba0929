"""Cells: a sparse table class × token (or value), with sums of weights and a number of rows in each cell.

A cell exists while its number of rows is above 0, for any weights. So nothing is left of rows that are forgotten.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from naively._kernels.cells import Cells, renumber_cells
from naively._kernels.types import Codes32, Floats, Index, Wholes
from naively.statistics.arrays import NegativeCountError, check_array, require, rounding_slack


def class_of_cells(cells: Cells) -> Index:
    """Return the class of each cell."""
    return np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr))


def cells_of_table(rows: Wholes, *sums: Floats) -> Cells:
    """Return the cells of dense (class, slot) tables that have rows, with one channel for each table of sums."""
    where = np.nonzero(rows)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(rows, axis=1))]).astype(np.int64)
    return Cells(indptr, where[1].astype(np.int32), np.stack([table[where] for table in sums]), rows[where])


def cells_of_entries(
    owner: Index | Codes32, index: Index | Codes32, sums: Floats, rows: Wholes, n_classes: int
) -> Cells:
    """Return cells in order, given the class, the slot, the sums (channel, cell) and the rows of each."""
    order = np.lexsort((index, owner))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_classes))]).astype(np.int64)
    return Cells(indptr, index[order].astype(np.int32), np.ascontiguousarray(sums[:, order]), rows[order])


def table_of_cells(cells: Cells, n_tokens: int, values: NDArray[np.number]) -> Floats:
    """Return a dense (class, token) table with one number per cell, zero elsewhere."""
    out = np.zeros((len(cells.indptr) - 1, n_tokens))
    out[class_of_cells(cells), cells.index] = values
    return out


def place_cells(cells: Cells, places: Codes32, n_classes: int) -> Cells:
    """Return the same cells with class c at places[c]; −1 drops an empty class. Nothing is copied.

    Classes are sorted on both sides, so places ascend and the cells keep their order.
    """
    counts = np.zeros(n_classes, dtype=np.int64)
    keep, sizes = places >= 0, np.diff(cells.indptr)
    if sizes[~keep].any():
        raise ValueError(f"a class with {int(sizes[~keep].max())} cells cannot be dropped; only an empty one can")
    counts[places[keep]] = sizes[keep]
    return cells._replace(indptr=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))


def find_cells(cells: Cells, wanted: Cells) -> Index:
    """Return the position in `cells` of each cell of `wanted`, −1 where there is none."""
    positions = np.empty(len(wanted.index), dtype=np.intp)
    for c, (start, stop) in enumerate(itertools.pairwise(wanted.indptr.tolist())):
        positions[start:stop] = _find_slots(cells, c, wanted.index[start:stop])
    return positions


def values_in_class(cells: Cells, c: int, slots: Index, values: NDArray[np.number]) -> Floats:
    """Return the number of each slot in one class, out of one number per cell; 0 where there is no cell."""
    position = _find_slots(cells, c, slots)
    return np.where(position >= 0, values[position], 0.0) if len(values) else np.zeros(len(slots))


def cells_of_slots(cells: Cells, slots: Index) -> Cells:
    """Return the cells of some slots, which ascend."""
    positions = [_find_slots(cells, c, slots) for c in range(len(cells.indptr) - 1)]
    positions = [of_class[of_class >= 0] for of_class in positions]
    indptr = np.concatenate([[0], np.cumsum(list(map(len, positions)))]).astype(np.int64)
    chosen = np.concatenate(positions)
    return Cells(indptr, cells.index[chosen], cells.sums[:, chosen], cells.rows[chosen])


def _find_slots(cells: Cells, c: int, slots: Index | Codes32) -> Index:
    """Return the position of the cell of each slot in one class, −1 where there is none."""
    start, stop = int(cells.indptr[c]), int(cells.indptr[c + 1])
    if start == stop:
        return np.full(len(slots), -1, dtype=np.intp)
    nearest = start + np.minimum(np.searchsorted(cells.index[start:stop], slots), stop - start - 1)
    return np.where(cells.index[nearest] == slots, nearest, -1)


def sum_by_class(cells: Cells, values: Floats) -> Floats:
    """Return the sum of one number per cell over each class; pairwise, so that long sums stay accurate."""
    ends = cells.indptr.tolist()
    return np.array([values[start:stop].sum() for start, stop in itertools.pairwise(ends)], dtype=np.float64)


def refuse_impossible_cells(
    before: Cells, subtracted: Cells, rest: Cells, describe: Callable[[int], tuple[int | None, str]]
) -> Cells:
    """Refuse cells with fewer than zero rows, a weight below zero by more than rounding, or weight without rows.

    `describe` returns the column of a slot and the name of what it counts. Return the rest, without weights below zero.
    """
    slack = rounding_slack(before.sums, subtracted.sums)
    negative = (rest.rows < 0) | (rest.sums < -slack).any(axis=0)
    if negative.any():
        first = int(np.argmax(negative))
        column, what = describe(int(rest.index[first]))
        left = f"{what}: {rest.rows[first]} rows of weight {rest.sums[-1, first]:g}"
        left += f" with {rest.sums[0, first]:g} occurrences" if len(rest.sums) > 1 else ""
        raise NegativeCountError(int(class_of_cells(rest)[first]), column, left)
    taken = subtracted.sums.sum(axis=1)
    lost = before.sums.sum(axis=1) - taken - rest.sums.sum(axis=1)
    if (np.abs(lost) <= slack).all():
        return not_negative(rest)
    position = find_cells(before, subtracted)
    emptied = np.flatnonzero(before.rows[position] == subtracted.rows)  # every subtracted cell has a position
    weight = before.sums[:, position[emptied]] - subtracted.sums[:, emptied]
    leftover = (np.abs(weight) > slack).any(axis=0)
    if leftover.any():
        first = int(emptied[np.argmax(leftover)])
        column, what = describe(int(subtracted.index[first]))
        left = f"{what}: 0 rows of weight {float(weight[0, np.argmax(leftover)]):g}"
        raise NegativeCountError(int(class_of_cells(subtracted)[first]), column, left)
    return not_negative(rest)


def not_negative(cells: Cells) -> Cells:
    """Return cells with weight zero where rounding has left less."""
    return cells._replace(sums=np.maximum(cells.sums, 0.0)) if (cells.sums < 0).any() else cells


def check_cells(cells: Cells, n_classes: int, n_sums: int, n_slots: int, signed: bool = False) -> None:
    """Require sound cells: in order, each within the slots. Only `signed` cells may have rows below zero."""
    check_arrays(cells, n_classes, n_sums)
    n = len(cells.index)
    sizes = np.diff(cells.indptr)
    require(cells.indptr[0] == 0 and cells.indptr[-1] == n and bool((sizes >= 0).all()), "cells of classes")
    if not n:
        return
    require(int(cells.index.min()) >= 0 and int(cells.index.max()) < n_slots, "slots of cells")
    owner = np.repeat(np.arange(n_classes), sizes)
    ascending = (np.diff(cells.index.astype(np.int64)) > 0) | (np.diff(owner) > 0)
    require(bool(ascending.all()), "order of cells")
    require(bool((cells.rows != 0).all() if signed else (cells.rows > 0).all()), "rows of cells")


def check_arrays(cells: Cells, n_classes: int, n_sums: int) -> None:
    """Require cells whose arrays have the right types and sizes."""
    require(isinstance(cells, Cells) and isinstance(cells.index, np.ndarray) and cells.index.ndim == 1, "cells")
    n = len(cells.index)
    check_array(cells.indptr, np.int64, (n_classes + 1,), "cells")
    check_array(cells.index, np.int32, (n,), "cells")
    check_array(cells.sums, np.float64, (n_sums, n), "cells")
    check_array(cells.rows, np.int64, (n,), "cells")


def without_dropped_class(base: Cells, delta: Cells) -> tuple[Cells, Cells]:
    """Remove the cells of a class that was dropped from the classes but not from the cells, if both parts cancel.

    Early versions of `place_cells` dropped a class whose cells cancel only in the sum of base and delta. The cells of
    the class are then between those of two classes, and their number is missing from `indptr`.
    """
    n = len(base.index) - int(base.indptr[-1])
    if n <= 0 or n != len(delta.index) - int(delta.indptr[-1]):
        return base, delta
    for start, other in zip(base.indptr.tolist(), delta.indptr.tolist(), strict=True):
        in_base, in_delta = slice(start, start + n), slice(other, other + n)
        same = np.array_equal(base.index[in_base], delta.index[in_delta])
        if same and np.array_equal(base.rows[in_base], -delta.rows[in_delta]):
            return _without(base, in_base), _without(delta, in_delta)
    return base, delta


def _without(cells: Cells, span: slice) -> Cells:
    keep = np.ones(len(cells.index), dtype=np.bool_)
    keep[span] = False
    return Cells(cells.indptr, cells.index[keep], cells.sums[:, keep], cells.rows[keep])


def are_integral(*tables: Cells) -> bool:
    """Return whether all sums are whole numbers, which add and subtract without rounding."""
    return all(bool((cells.sums == np.trunc(cells.sums)).all()) for cells in tables)


def total_cells(parts: Sequence[Cells], numbers: Sequence[NDArray[np.int32]] | None = None) -> Cells:
    """Return the sum of cells of the same classes; `numbers` gives for each part the slots of its cells in the sum.

    The parts are concatenated, each class of each part as a class of its own, and equal slots are then added.
    """
    n = len(parts[0].indptr) - 1
    indexes = [cells.index for cells in parts]
    if numbers is not None:
        indexes = [slots[index] for slots, index in zip(numbers, indexes, strict=True)]
    slots, index = np.unique(np.concatenate(indexes), return_inverse=True)
    sizes = np.diff([cells.indptr for cells in parts]).ravel()
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    sums = np.concatenate([cells.sums for cells in parts], axis=1)
    rows = np.concatenate([cells.rows for cells in parts])
    classes = np.tile(np.arange(n, dtype=np.int32), len(parts))
    return renumber_cells(Cells(indptr, index.astype(np.int32), sums, rows), classes, slots, n)


def join_columns(parts: list[tuple[int, Cells]], n_classes: int) -> Cells:
    """Return cells over the slots of several parts, one part after the other; each comes with its number of slots."""
    if len(parts) == 1:
        return parts[0][1]
    starts = np.cumsum([0, *(size for size, _ in parts)])
    owner = np.concatenate([class_of_cells(cells) for _, cells in parts])
    index = np.concatenate([cells.index + start for (_, cells), start in zip(parts, starts, strict=False)])
    sums = np.concatenate([cells.sums for _, cells in parts], axis=1)
    return cells_of_entries(owner, index, sums, np.concatenate([cells.rows for _, cells in parts]), n_classes)


def numbers_in_groups(group: NDArray[np.uint16]) -> Codes32:
    """Return the number of each item among those of its group, in their order.

    >>> numbers_in_groups(np.array([1, 0, 1, 1], np.uint16)).tolist()
    [0, 0, 1, 2]
    """
    order, sizes = np.argsort(group, kind="stable"), np.bincount(group)
    numbers = np.empty(len(group), np.int32)
    numbers[order] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return numbers


def split_cells(cells: Cells, group: NDArray[np.uint16], n_groups: int) -> list[Cells]:
    """Return the cells of each group, in their order; `group` is that of each cell."""
    n_classes = len(cells.indptr) - 1
    order = np.argsort(group, kind="stable")
    index, sums, rows = cells.index[order], cells.sums[:, order], cells.rows[order]
    sizes = np.bincount(class_of_cells(cells) + n_classes * group.astype(np.intp), minlength=n_groups * n_classes)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    split = []
    for first in range(0, n_groups * n_classes, n_classes):
        start, stop = ends[first], ends[first + n_classes]
        indptr, part = ends[first : first + n_classes + 1] - start, slice(start, stop)
        split.append(Cells(indptr, index[part], np.ascontiguousarray(sums[:, part]), rows[part]))
    return split
