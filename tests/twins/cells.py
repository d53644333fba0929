"""Readable twins of `naively._kernels.cells`: the same signatures and results, in NumPy.

Everything about cells is one act, `_collect`: sort entries by (class, token) and add up those that meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.cells import Cells, SparseWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels.cells import Counted


def _collect(
    class_of: NDArray[Any], token: NDArray[Any], sums: NDArray[Any], rows: NDArray[Any], n_classes: int
) -> Cells:
    """Add up entries of the same class and token in the order given; drop those whose rows come to 0."""
    order = np.lexsort((token, class_of))
    class_of, token, sums, rows = class_of[order], token[order], sums[:, order], rows[order]
    first = np.ones(order.size, dtype=bool)
    first[1:] = (class_of[1:] != class_of[:-1]) | (token[1:] != token[:-1])
    start = np.flatnonzero(first)
    if start.size:
        sums, rows = np.add.reduceat(sums, start, axis=1), np.add.reduceat(rows, start)
    not_empty = rows != 0
    size = np.bincount(class_of[start][not_empty], minlength=n_classes)
    return Cells(
        np.concatenate(([0], np.cumsum(size))).astype(np.int64),
        token[start][not_empty].astype(np.int32),
        np.ascontiguousarray(sums[:, not_empty], dtype=np.float64),
        rows[not_empty].astype(np.int64),
    )


def _class_of(cells: Cells) -> NDArray[Any]:
    return np.repeat(np.arange(cells.indptr.size - 1), np.diff(cells.indptr))


def _count(
    x: NDArray[Any],
    row: NDArray[Any],
    column: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
) -> Counted:
    """Count the entries x[row, column], each given once."""
    x = x.astype(np.float64)
    w = np.ones(label.size) if weight is None else weight
    missing = np.isnan(x)
    present = (x != 0) & ~missing

    def gather(mask: NDArray[Any], *sums: NDArray[Any]) -> Cells:
        terms = np.stack([s[mask] for s in sums])
        return _collect(label[row[mask]].astype(np.int64), column[mask], terms, np.ones(mask.sum(), int), n_classes)

    def smallest(mask: NDArray[Any]) -> int:
        return int(column[mask].min()) if mask.any() else -1

    counted = gather(present, w[row] * x, w[row])
    unknown = gather(missing, w[row])
    flags = (smallest((x < 0) | np.isinf(x)), smallest(present & (np.floor(x) != x)))
    return counted, unknown, flags


def count_csr(
    matrix: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    n_columns: int,
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int = 1,
    above: float | None = None,
) -> Counted:
    """Return the cells of a CSR matrix, of its missing entries, and the first irregular columns."""
    data, indices, indptr = matrix
    row = np.repeat(np.arange(label.size), np.diff(indptr))
    return _count(_binary(data, above), row, indices, label, weight, n_classes)


def _binary(x: NDArray[Any], above: float | None) -> NDArray[Any]:
    """Return 1 above a threshold, 0 up to it, and NaN for numbers that are not finite; or x without a threshold."""
    return x if above is None else np.where(np.isfinite(x), x > above, np.nan)


def count_csc(
    matrix: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int = 1,
) -> Counted:
    """Count a CSC matrix like `count_csr`."""
    data, indices, indptr = matrix
    column = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    return _count(data, indices, column, label, weight, n_classes)


def count_dense(
    x: NDArray[Any], label: NDArray[Any], weight: NDArray[Any] | None, n_classes: int, n_jobs: int = 1
) -> Counted:
    """Count a dense (n, p) array like `count_csr`."""
    row, column = np.indices(x.shape).reshape(2, -1)
    return _count(np.ravel(x), row, column, label, weight, n_classes)


def merge_cells(a: Cells, b: Cells, sign: int) -> Cells:
    """Return the cells of a plus those of b (sign 1), or minus them (sign −1)."""
    return _collect(
        np.concatenate((_class_of(a), _class_of(b))),
        np.concatenate((a.index, b.index)),
        np.concatenate((a.sums, sign * b.sums), axis=1),
        np.concatenate((a.rows, sign * b.rows)),
        a.indptr.size - 1,
    )


def renumber_cells(cells: Cells, class_map: NDArray[Any], index_map: NDArray[Any], n_classes: int) -> Cells:
    """Give classes and tokens new numbers; −1 drops a cell, and cells that become one are added."""
    class_of, token = class_map[_class_of(cells)], index_map[cells.index]
    is_used = (class_of >= 0) & (token >= 0)
    return _collect(class_of[is_used], token[is_used], cells.sums[:, is_used], cells.rows[is_used], n_classes)


def by_token(cells: Cells, n_tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the transpose: where each token's cells start, their classes, and their places in `cells`."""
    order = np.argsort(cells.index, kind="stable")
    size = np.bincount(cells.index, minlength=n_tokens)
    indptr = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
    return indptr, _class_of(cells)[order].astype(np.int32), order.astype(np.int64)


def select_tokens(
    cells: Cells, place: NDArray[Any], n_places: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], int]:
    """Return the cells of selected tokens by token, and the sum of all others as one more token."""
    to = np.where(place < 0, n_places, place)
    selected = renumber_cells(cells, np.arange(len(cells.indptr) - 1), to, len(cells.indptr) - 1)
    start, owner, order = by_token(selected, n_places + 1)
    rows = np.where(selected.index == n_places, 1, selected.rows)
    return start, owner, selected.sums[:, order], rows[order], len(np.unique(cells.index))


def column_range(
    x: NDArray[Any], n_jobs: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return minimum and maximum of each column, whether all values are integers, and whether any is missing."""
    x = x.astype(np.float64)
    missing = np.isnan(x)
    minimum = np.where(missing, np.inf, x).min(axis=0, initial=np.inf)
    maximum = np.where(missing, -np.inf, x).max(axis=0, initial=-np.inf)
    is_integer = missing | (np.isfinite(x) & (np.floor(x) == x))
    return minimum, maximum, is_integer.all(axis=0), missing.any(axis=0)


def _slots(codes: NDArray[Any], sizes: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which codes are known, and the slot offset_j + code of each (0 for the unknown)."""
    codes = codes.astype(np.float64)
    known = (codes >= 0) & (codes < sizes)
    offset = np.cumsum(sizes) - sizes
    return known, np.where(known, codes, 0).astype(np.int64) + np.where(known, offset, 0)


def count_codes(
    codes: NDArray[Any],
    sizes: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return weight and rows of each class and code: (C, S) each, S = Σ sizes."""
    known, slot = _slots(codes, sizes)
    row = np.nonzero(known)[0]
    place = (label[row].astype(np.int64), slot[known])
    total = np.zeros((n_classes, int(sizes.sum())))
    rows = np.zeros(total.shape, dtype=np.int64)
    np.add.at(total, place, 1.0 if weight is None else weight[row])
    np.add.at(rows, place, 1)
    return total, rows


def score_codes(
    codes: NDArray[Any], sizes: NDArray[Any], table: NDArray[Any], out: NDArray[Any], n_jobs: int = 1
) -> None:
    """Increase out[i] by Σ_j table[offset_j + codes_ij] over the known codes."""
    known, slot = _slots(codes, sizes)
    for j in range(codes.shape[1]):
        out[known[:, j]] += table[slot[known[:, j], j]]


def _score(
    x: NDArray[Any],
    row: NDArray[Any],
    token: NDArray[Any],
    table: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
) -> bool:
    """Increase out[i] by Σ_k x_ik·(table[k] + class_constant) over the known tokens."""
    x = x.astype(np.float64)
    finite = bool(np.isfinite(x).all())
    used = ~np.isnan(x) & ~np.isnan(table[token, 0])
    x, row, token = x[used, None], row[used], token[used]
    np.add.at(out, row, x * table[token] + x * class_constant)
    return finite


def dense_table(
    base: NDArray[Any],
    token_start: NDArray[Any],
    token_class: NDArray[Any],
    token_value: NDArray[Any],
    n_classes: int,
) -> NDArray[Any]:
    """Return base[k] + the value listed for (token k, class c), or 0."""
    table = np.repeat(base[:, None], n_classes, axis=1)
    np.add.at(table, (np.repeat(np.arange(len(base)), np.diff(token_start)), token_class), token_value)
    return table


def score_csr(
    matrix: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    weights: NDArray[Any] | SparseWeights,
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int = 1,
    above: float | None = None,
) -> bool:
    """Score a CSR matrix with a dense (K, C) table, or with its sparse form."""
    data, indices, indptr = matrix
    table = weights if isinstance(weights, np.ndarray) else dense_table(*weights, n_classes=class_constant.size)
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    return _score(_binary(data, above), row, indices, table, class_constant, out)


def score_dense(
    x: NDArray[Any],
    table: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int = 1,
) -> bool:
    """Score a dense (n, K) array."""
    row, token = np.indices(x.shape).reshape(2, -1)
    return _score(np.ravel(x), row, token, table, class_constant, out)
