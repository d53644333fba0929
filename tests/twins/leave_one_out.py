"""The readable twin of `naively._kernels.leave_one_out`: remove the row from a dense table, then score it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from naively._kernels.leave_one_out import (
    Entries,
    GaussianSettings,
    Leaving,
    Model,
    MomentArrays,
    TokenCells,
    UncountedRow,
    ValueArrays,
)
from naively._kernels.types import Bools, Floats, Wholes


def leave_tokens_out(
    entries: Entries, leaving: Leaving, cells: TokenCells, model: Model, out: Floats
) -> UncountedRow | None:
    """Increase out (row, class) by the score of each row without the row itself."""
    indptr, index, count, times = entries
    n_classes = out.shape[1]
    alpha = np.broadcast_to(
        cells.alpha if cells.alpha.ndim == 2 else cells.alpha[:, None], (len(cells.alpha), n_classes)
    )
    token = np.repeat(np.arange(len(alpha)), np.diff(cells.start))
    sums, rows = np.zeros(alpha.shape), np.zeros(alpha.shape, np.int64)
    sums[token, cells.owner], rows[token, cells.owner] = cells.sums, cells.rows
    for i, (y, weight, n) in enumerate(zip(*leaving, strict=True)):
        table, in_rows, counts = sums.copy(), rows.copy(), {}
        for e in range(indptr[i], indptr[i + 1]):
            k, x = int(index[e]), float(count[e])
            if k >= len(alpha) or not cells.known[k]:
                continue
            table[k, y] -= weight * x
            in_rows[k, y] -= n * (1 if times is None else times[e])
            if in_rows[k, y] < 0 or table[k, y] < -1e-9 * (1 + weight * x):
                return i, k, int(in_rows[k, y]), float(table[k, y])
            counts[k] = x
        table[in_rows == 0] = 0.0
        evident = cells.known & ~(cells.vanishes & (in_rows.sum(axis=1) == 0))
        members = evident if cells.alpha_vanishes else np.ones_like(evident)
        tokens = [k for k in counts if evident[k]]
        out[i] += _score(table, in_rows, alpha, members, {k: counts[k] for k in tokens}, model)
    return None


def _score(
    table: Floats, rows: Wholes, alpha: Floats, members: Bools, counts: dict[int, float], model: Model
) -> Floats:
    """Return the score of each class for these counts of tokens; table, rows and alpha are (token, class)."""
    is_empty, all_classes = rows.sum(axis=0) == 0, table.sum(axis=1, keepdims=True)
    table = np.where(is_empty, all_classes, table) if model == "multinomial" else all_classes - table
    total = table.sum(axis=0) + alpha[members].sum(axis=0)
    with np.errstate(divide="ignore"):
        log_total = np.log(np.where(total > 0, total, 1.0))
        logs = np.log(table + alpha) - log_total
    if model == "multinomial":
        return _sum(logs, counts)
    if model == "normed complement":
        return np.asarray(_sum(logs, counts) / logs.sum(axis=0))
    score = np.zeros(len(total))
    for k, x in counts.items():
        if alpha[k, 0] + rows[k].sum() == 0:
            continue
        is_only_owner = np.isneginf(logs[k])
        excluded = ~is_only_owner if is_only_owner.sum() == 1 else is_only_owner.any()
        score += np.where(excluded, -np.inf, -x * np.where(is_only_owner, -log_total, logs[k]))
    return score


def _sum(logs: Floats, counts: dict[int, float]) -> Floats:
    return sum((x * logs[k] for k, x in counts.items()), np.zeros(logs.shape[1]))


def leave_values_out(cells: ValueArrays, value: Wholes, leaving: Leaving, out: Floats) -> UncountedRow | None:
    """Increase out (row, column, class) by the log θ of the values of each row without the row itself."""
    columns = list(enumerate(pairwise([*cells.start.tolist(), len(cells.weight)])))
    logs = np.zeros(out.shape)
    for i, (y, weight, n) in enumerate(zip(*leaving, strict=True)):
        for j, (start, end) in columns:
            k = int(value[i, j])
            if k < 0:
                continue
            table, rows = cells.weight.copy(), cells.rows.copy()
            table[k, y] -= weight
            rows[k, y] -= n
            if rows[k, y] < 0 or table[k, y] < -1e-9 * (1 + weight):
                return i, j, int(rows[k, y]), float(table[k, y])
            table[k, y] = max(table[k, y], 0.0) if rows[k, y] else 0.0
            if cells.rows_until_unknown[k] <= n:
                continue
            column, in_class = table[start:end].sum(axis=0), rows[start:end].sum(axis=0)
            has_counts = (column > 0) & ((in_class > 0) | (np.arange(len(column)) != y))
            count = np.where(has_counts, table[k], table[k].sum()) + cells.alpha[k]
            total = np.where(has_counts, column, column.sum()) + cells.total_alpha[j]
            with np.errstate(divide="ignore"):
                logs[i, j] = np.log(count) - np.log(np.where(total > 0, total, 1.0))
    out += logs
    return None


def leave_gaussian_out(
    values: Floats,
    leaving: Leaving,
    classes: MomentArrays,
    pooled: MomentArrays,
    settings: GaussianSettings,
    out: Floats,
) -> list[int]:
    """Increase out (row, column, class) by the Gaussian score of each number without the row; return the others."""
    refused = []
    for i, (y, taken, n) in enumerate(zip(*leaving, strict=True)):
        for j, x in enumerate(values[i].tolist()):
            if np.isnan(x):
                continue
            rest = _without(x, taken, n, *(table[y, j] for table in classes))
            rest_of_all = _without(x, taken, n, *(table[j] for table in pooled))
            if rest is None or rest_of_all is None or not 1e-280 < rest_of_all[3] / rest_of_all[0] < 1e280:
                refused.append(i * values.shape[1] + j)
                continue
            table = [tuple(part[c, j] for part in classes) for c in range(out.shape[2])]
            table[y] = rest
            total = rest_of_all[3] / rest_of_all[0]
            within = sum(squares for *_, squares in table) / sum(weight for weight, *_ in table)
            for c, (weight, rows, mean, squares) in enumerate(table):
                variance = _variance(weight, squares, rows > 0, total, within, settings)
                square = min((x - (mean if rows > 0 else rest_of_all[2])) ** 2 / variance, 1e300)
                out[i, j, c] += -0.5 * (np.log(2 * np.pi) + np.log(variance) + square)
    return refused


def _without(
    x: float, taken: float, n: int, weight: float, rows: int, mean: float, squares: float
) -> tuple[float, int, float, float] | None:
    """Return weight, rows, mean and squares without a number; None if that loses digits or leaves no rows."""
    if np.isinf(x):
        return None
    rest, n_rest, rest_mean, rest_squares = weight, rows, mean, squares
    if taken > 0:
        rest, n_rest = weight - taken, rows - n
        with np.errstate(all="ignore"):
            rest_mean = mean - taken * np.float64(x - mean) / rest
            rest_squares = squares - taken * np.float64(x - mean) ** 2 * (weight / rest)
        if not (rest_squares > 0.01 * squares and mean**2 * weight < 1e4 * squares):
            return None
    return None if n_rest <= 0 or rest < 0 else (rest, n_rest, rest_mean, rest_squares)


def _variance(
    n: float, squares: float, has_rows: bool, total: float, within: float, settings: GaussianSettings
) -> float:
    """Return the variance of a class: equation (2) of core/leave_one_out/gaussian.hpp and its exceptions."""
    pooled = within if within > 0 else total
    if not has_rows:
        variance = total
    elif settings.pooled_rows:
        own = squares if n > settings.ddof else 0.0
        variance = (own + settings.pooled_rows * pooled) / (max(n - settings.ddof, 0.0) + settings.pooled_rows)
    elif n <= settings.ddof or not squares > 0:
        variance = pooled if settings.pool_zero_variance else 0.0
    else:
        variance = squares / (n - settings.ddof)
    if has_rows:
        variance = max(variance, settings.floor * total)
    return variance if variance >= np.finfo(float).tiny else 1.0
