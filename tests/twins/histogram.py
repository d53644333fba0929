"""The histogram kernels in plain Python: readable, slow.

    key(x) = order(x) >> level                                                                  (1)
    level = the smallest at which the distinct keys of a column number at most cap              (2)
    cost = log C(N + I − 1, I − 1) + Σ_i [log (N_i + J − 1)!/(J − 1)! − Σ_j log N_ij!]          (3)

Counting keeps a dictionary of exact values and joins them only at the end, by (2) as written. The bins come from
trying every discretisation (dynamic programming over the number of bins), where the core searches greedily.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.histogram import MINUS_INFINITY, PLUS_INFINITY, HistogramCells, key_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


Counts = dict[tuple[int, int], tuple[float, int]]  # (key, class) → weight, rows


def order(x: float) -> int:
    """Return the place of a number among all float64; the infinities at both ends."""
    if math.isinf(x):
        return PLUS_INFINITY if x > 0 else MINUS_INFINITY
    bits: int = struct.unpack("<q", struct.pack("<d", x + 0.0))[0]
    return bits if bits >= 0 else bits ^ (2**63 - 1)


def raised(counts: Counts, by: int) -> Counts:
    """Return the counts at a higher level, by equation (1)."""
    joined: Counts = defaultdict(lambda: (0.0, 0))
    for (key, c), (weight, rows) in counts.items():
        at = key if key in (MINUS_INFINITY, PLUS_INFINITY) else key >> by
        before = joined[at, c]
        joined[at, c] = before[0] + weight, before[1] + rows
    return joined


def fitted(counts: Counts, level: int, cap: int) -> tuple[int, Counts]:
    """Return the level of equation (2), from a level up."""
    by = 0
    while len({key for key, _ in raised(counts, by)} - {MINUS_INFINITY, PLUS_INFINITY}) > cap:
        by += 1
    return level + by, raised(counts, by)


def packed(columns: Sequence[tuple[int, Counts]]) -> HistogramCells:
    """Return the columns as arrays, sorted by key and class, without cells that have no rows."""
    cells = [sorted((k, *v) for k, v in counts.items() if v[1] != 0) for _, counts in columns]
    flat = [cell for column in cells for cell in column]
    return HistogramCells(
        np.array([level for level, _ in columns], np.int64).reshape(-1),
        np.cumsum([0, *map(len, cells)]).astype(np.int64),
        np.array([place[0] for place, _, _ in flat], np.int64).reshape(-1),
        np.array([place[1] for place, _, _ in flat], np.int32).reshape(-1),
        np.array([weight for _, weight, _ in flat], np.float64).reshape(-1),
        np.array([rows for _, _, rows in flat], np.int64).reshape(-1),
    )


def unpacked(cells: HistogramCells) -> list[tuple[int, Counts]]:
    """Return the columns of the arrays."""
    columns = []
    for j, level in enumerate(cells.levels.tolist()):
        own_cells = slice(cells.offsets[j], cells.offsets[j + 1])
        keys, classes, weight, rows = (array[own_cells].tolist() for array in cells[2:])
        columns.append((level, dict(zip(zip(keys, classes, strict=True), zip(weight, rows, strict=True), strict=True))))
    return columns


def count_histogram(
    pieces: Sequence[NDArray[Any]],
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    cap: int,
    n_jobs: int = 1,
    at_least: NDArray[np.int64] | None = None,
) -> HistogramCells:
    """Count every exact value, then rise to the level that fits, from those asked for on."""
    columns: list[tuple[int, Counts]] = []
    for x in pieces:
        for j in range(x.shape[1]):
            counts: Counts = defaultdict(lambda: (0.0, 0))
            for i, value in enumerate(x[:, j].tolist()):
                if value == value:
                    at = order(float(value)), int(label[i])
                    w = 1.0 if weight is None else float(weight[i])
                    counts[at] = counts[at][0] + w, counts[at][1] + 1
            lowest = 0 if at_least is None else int(at_least[len(columns)])
            columns.append(fitted(raised(counts, lowest), lowest, cap))
    return packed(columns)


def merge_histograms(a: HistogramCells, b: HistogramCells, sign: int, cap: int) -> HistogramCells:
    """Return the signed sum of both counts, at the higher level, and then at one that fits."""
    columns = []
    for (level_a, counts_a), (level_b, counts_b) in zip(unpacked(a), unpacked(b), strict=True):
        level = max(level_a, level_b)
        total = raised(counts_a, level - level_a)
        for at, (weight, rows) in raised(counts_b, level - level_b).items():
            before = total.get(at, (0.0, 0))
            total[at] = before[0] + sign * weight, before[1] + sign * rows
        columns.append(fitted(total, level, cap) if sign > 0 else (level, total))
    return packed(columns)


def discretisation_cost(table: NDArray[np.float64], bounds: Sequence[int]) -> float:
    """Return equation (3) for the lines of a table (key, class) from each bound to the next."""
    n, j, n_bins = float(table.sum()), table.shape[1], len(bounds) - 1
    total = math.lgamma(n + n_bins) - math.lgamma(n_bins) - math.lgamma(n + 1)
    for start, stop in itertools.pairwise(bounds):
        total += bin_cost(table[start:stop].sum(axis=0), j)
    return total


def bin_cost(counts: NDArray[np.float64], j: int) -> float:
    """Return the term of one bin in equation (3)."""
    own = sum(math.lgamma(count + 1) for count in counts.tolist())
    return math.lgamma(float(counts.sum()) + j) - math.lgamma(j) - own


def best_bounds(table: NDArray[np.float64]) -> tuple[float, list[int]]:
    """Return the cheapest of all discretisations by equation (3), and its cost: O(K³)."""
    k, j = table.shape
    cost = {(a, b): bin_cost(table[a:b].sum(axis=0), j) for a in range(k) for b in range(a + 1, k + 1)}
    best: list[dict[int, tuple[float, list[int]]]] = [{0: (0.0, [0])}]
    for _ in range(k):
        stage: dict[int, tuple[float, list[int]]] = {}
        for start, (before, bounds) in best[-1].items():
            for stop in range(start + 1, k + 1):
                total = before + cost[start, stop]
                if stop not in stage or total < stage[stop][0]:
                    stage[stop] = total, [*bounds, stop]
        best.append(stage)
    candidates = [stage[k][1] for stage in best if k in stage]
    return min((discretisation_cost(table, bounds), bounds) for bounds in candidates)


def find_bins(
    pieces: Sequence[NDArray[Any]],
    n_rows: int,
    levels: NDArray[np.int64],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return how many cuts of its column are not above the smallest number with the key of each number."""
    bins = np.full((n_rows, len(levels)), -1, np.int64)
    columns = [x[:, j].astype(np.float64) for x in pieces for j in range(x.shape[1])]
    for j, column in enumerate(columns):
        for i, value in enumerate(column.tolist()):
            if not math.isnan(value):
                key = order(value) if math.isinf(value) else order(value) >> int(levels[j])
                bins[i, j] = offsets[j] + j + n_cuts_up_to(key, int(levels[j]), cuts[offsets[j] : offsets[j + 1]])
    return bins


def n_cuts_up_to(key: int, level: int, cuts: NDArray[np.float64]) -> int:
    """Return how many cuts are not above the smallest number of a key."""
    low = key_values(np.array([key]), np.array([level]))[0][0]
    return sum(cut <= low for cut in cuts.tolist())


def bin_cells(
    cells: HistogramCells, n_classes: int, cuts: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the bin of each cell, and sums over the cells of a bin and a class."""
    shape = len(cuts) + len(cells.levels), n_classes
    weight, rows = np.zeros(shape), np.zeros(shape, np.int64)
    column = np.repeat(np.arange(len(cells.levels)), np.diff(cells.offsets)).tolist()
    bins = [
        offsets[j] + j + n_cuts_up_to(key, int(cells.levels[j]), cuts[offsets[j] : offsets[j + 1]])
        for j, key in zip(column, cells.keys.tolist(), strict=True)
    ]
    place = np.array(bins, np.int64), cells.classes
    np.add.at(weight, place, cells.weight)
    np.add.at(rows, place, cells.rows)
    return weight, rows


def score_bins(
    pieces: Sequence[NDArray[Any]],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    table: NDArray[np.float64],
    out: NDArray[np.float64],
    n_jobs: int = 1,
) -> None:
    """Add the line of the bin of each value, column by column."""
    columns = [x[:, j].astype(np.float64) for x in pieces for j in range(x.shape[1])]
    for j, x in enumerate(columns):
        bins = np.searchsorted(cuts[offsets[j] : offsets[j + 1]], x, side="right") + offsets[j] + j
        known = ~np.isnan(x)
        out[known] += table[bins[known]]
