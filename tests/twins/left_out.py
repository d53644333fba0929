"""The readable twin of `naively._kernels.leave_one_out`: take the row out of a dense table, then score it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.leave_one_out import TokenCells, ValueSlots


def leave_tokens_out(
    rows: tuple[Any, Any, Any, Any],
    leaving: tuple[Any, Any, Any],
    cells: TokenCells,
    complement: bool,
    out: NDArray[np.float64],
    n_jobs: int = 1,
    normed: bool = False,
) -> tuple[int, int, int, float] | None:
    """Increase out (row, class) by each row's score without the row itself."""
    indptr, index, count, times = rows
    start, owner, sums, cell_rows, alpha, known, fades, shrinks = cells
    alpha = np.broadcast_to(alpha if alpha.ndim == 2 else alpha[:, None], (len(alpha), out.shape[1]))
    token = np.repeat(np.arange(len(alpha)), np.diff(start))
    whole, whole_rows = np.zeros((len(alpha), out.shape[1])), np.zeros((len(alpha), out.shape[1]), np.int64)
    whole[token, owner], whole_rows[token, owner] = sums, cell_rows
    for i, (y, weight, n) in enumerate(zip(*leaving, strict=True)):
        table, in_rows = whole.copy(), whole_rows.copy()
        had = {}
        for e in range(indptr[i], indptr[i + 1]):
            k, x = int(index[e]), float(count[e])
            if k >= len(alpha) or not known[k]:
                continue
            table[k, y] -= weight * x
            in_rows[k, y] -= n * (1 if times is None else times[e])
            if in_rows[k, y] < 0 or table[k, y] < -1e-9 * (1 + weight * x):
                return i, k, int(in_rows[k, y]), float(table[k, y])
            had[k] = x
        table[in_rows == 0] = 0.0
        evident = known & ~(fades & (in_rows.sum(axis=1) == 0))
        members = evident if shrinks else np.ones_like(known)
        empty = in_rows.sum(axis=0) == 0
        table = (
            table.sum(axis=1, keepdims=True) - table
            if complement
            else np.where(empty, table.sum(axis=1)[:, None], table)
        )
        total = table.sum(axis=0) + alpha[members].sum(axis=0)
        with np.errstate(divide="ignore"):
            log_total = np.log(np.where(total > 0, total, 1.0))
            logs = np.log(table + alpha) - log_total
        tokens = [k for k in had if evident[k] and (not complement or alpha[k, 0] + in_rows[k].sum() > 0)]
        if not complement:
            out[i] += sum((had[k] * logs[k] for k in tokens), np.zeros(out.shape[1]))
        elif normed:
            out[i] += sum((had[k] * logs[k] for k in tokens), np.zeros(out.shape[1])) / logs.sum(axis=0)
        else:
            for k in tokens:
                only = np.isneginf(logs[k])  # the classes without which no other has the token
                barred = only.any() & ~only if only.sum() < 2 else True
                out[i] += np.where(barred, -np.inf, -had[k] * np.where(only, -log_total, logs[k]))
    return None


def leave_values_out(
    slots: ValueSlots,
    slot: NDArray[Any],
    leaving: tuple[Any, Any, Any],
    out: NDArray[np.float64],
    n_jobs: int = 1,
) -> tuple[int, int, int, float] | None:
    """Increase out (row, column, class) by the log θ of each row's values without the row itself."""
    columns = list(enumerate(pairwise([*slots.start.tolist(), len(slots.weight)])))
    found = np.zeros(out.shape)
    for i, (y, weight, n) in enumerate(zip(*leaving, strict=True)):
        for j, (start, end) in columns:
            k = int(slot[i, j])
            if k < 0:
                continue
            table, rows = slots.weight.copy(), slots.rows.copy()
            table[k, y] -= weight
            rows[k, y] -= n
            if rows[k, y] < 0 or table[k, y] < -1e-9 * (1 + weight):
                return i, j, int(rows[k, y]), float(table[k, y])
            table[k, y] = max(table[k, y], 0.0) if rows[k, y] else 0.0
            if slots.lasting[k] <= n:
                continue
            column, in_class = table[start:end].sum(axis=0), rows[start:end].sum(axis=0)
            alone = (column > 0) & ((in_class > 0) | (np.arange(len(column)) != y))
            count = np.where(alone, table[k], table[k].sum()) + slots.alpha[k]
            whole = np.where(alone, column, column.sum()) + slots.whole_alpha[j]
            with np.errstate(divide="ignore"):
                found[i, j] = np.log(count) - np.log(np.where(whole > 0, whole, 1.0))
    out += found
    return None
