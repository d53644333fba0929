"""Cells: the sparse table class × token, how it is counted, added up and scored; and the same for codes.

A cell is what one class has of one token (a word, a value, a column): one or more sums of weights, and the
whole number of rows that had it. It exists while its rows are not 0, so memory follows what is not zero.
Sums are the same, bit for bit, for any `n_jobs`; with weights and values that are whole numbers (or dyadic
fractions) also for any order and split of the rows. Weights are > 0: leave rows of weight 0 out beforehand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import naively._core as _core
from naively._kernels.threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Cells(NamedTuple):
    """A sparse table class × token, class-major, tokens ascending within a class.

    `sums[f]` are the channels. Token counts have two: occurrences Σ w·x, and documents Σ w over rows with
    x ≠ 0. Value counts have one: Σ w. `rows` counts the rows, whatever their weight.

    >>> a = Cells.empty(n_classes=2, n_sums=1)
    >>> a.indptr.tolist(), a.sums.shape
    ([0, 0, 0], (1, 0))
    """

    indptr: NDArray[np.int64]
    index: NDArray[np.int32]  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    sums: NDArray[np.float64]
    rows: NDArray[np.int64]

    @classmethod
    def empty(cls, n_classes: int, n_sums: int) -> Cells:
        """A table without a cell."""
        return cls(
            np.zeros(n_classes + 1, np.int64),
            np.zeros(0, np.int32),
            np.zeros((n_sums, 0)),
            np.zeros(0, np.int64),
        )


# The cells (two sums), the cells of missing entries (one sum: Σ w), and two columns, or −1: the smallest
# that holds a negative or infinite entry, and the smallest that holds one that is not a whole number.
Counted = tuple[Cells, Cells, tuple[int, int]]


def _numbers(x: NDArray[Any]) -> NDArray[Any]:
    """The array itself if the core can read it in place, else a copy as float64."""
    if x.dtype.kind not in "biuf":
        raise ValueError(f"numbers are needed, found an array of {x.dtype}; convert it first")
    readable = x.dtype.itemsize <= 8 and x.dtype != np.float16 and x.dtype.isnative and x.flags.aligned
    return x if readable else x.astype(np.float64)


def _labels(label: NDArray[Any], n_classes: int) -> NDArray[np.int32]:
    if label.dtype == np.int32:
        return np.ascontiguousarray(label)
    if label.dtype.kind not in "iu":
        raise ValueError(f"labels are class numbers, found an array of {label.dtype}; give int32")
    if label.size and not (label.min() >= 0 and label.max() < n_classes):
        raise ValueError(f"labels lie in [{label.min()}, {label.max()}]; they must lie in [0, {n_classes})")
    return np.ascontiguousarray(label, dtype=np.int32)


def _weights(weight: NDArray[Any] | None) -> NDArray[np.float64] | None:
    return None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)


def _line(x: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(_numbers(x))


def _indptr(indptr: NDArray[Any]) -> NDArray[np.int64]:
    return np.ascontiguousarray(indptr, dtype=np.int64)


def _counted(arrays: tuple[Any, Any, tuple[int, int]]) -> Counted:
    return Cells(*arrays[0]), Cells(*arrays[1]), arrays[2]


def count_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_columns: int,
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int | None = None,
    above: float | None = None,
) -> Counted:
    """Count a CSR matrix: its cells, those of its missing (NaN) entries, and what is odd about its values.

    Zeros, written down or not, are not counted. An index that comes twice in a row is refused. If `above` is given,
    entries above it count as 1, others as 0, and infinite ones as missing.

    >>> x = np.array([2, 1, 3]), np.array([0, 2, 2]), np.array([0, 2, 3])
    >>> cells, missing, odd = count_csr(*x, 3, np.array([1, 1]), None, 2)
    >>> cells.indptr.tolist(), cells.index.tolist(), cells.sums.tolist(), cells.rows.tolist()
    ([0, 0, 2], [0, 2], [[2.0, 4.0], [1.0, 2.0]], [1, 2])
    >>> missing.rows.size, odd
    (0, (-1, -1))
    """
    return _counted(
        _core.count_csr(
            _line(data),
            _line(indices),
            _indptr(indptr),
            n_columns,
            _labels(label, n_classes),
            _weights(weight),
            n_classes,
            thread_count(n_jobs),
            above,
        )
    )


def count_csc(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int | None = None,
) -> Counted:
    """Count a CSC matrix, as `count_csr` does."""
    return _counted(
        _core.count_csc(
            _line(data),
            _line(indices),
            _indptr(indptr),
            _labels(label, n_classes),
            _weights(weight),
            n_classes,
            thread_count(n_jobs),
        )
    )


def count_dense(
    x: NDArray[Any], label: NDArray[Any], weight: NDArray[Any] | None, n_classes: int, n_jobs: int | None = None
) -> Counted:
    """Count a dense (n, p) array of any strides, in place, as `count_csr` does."""
    return _counted(
        _core.count_dense(_numbers(x), _labels(label, n_classes), _weights(weight), n_classes, thread_count(n_jobs))
    )


def merge_cells(a: Cells, b: Cells, sign: int) -> Cells:
    """The cells of a plus those of b (sign 1), or minus them (sign −1).

    Cells whose rows come to 0 vanish. Negative rows are kept: b was not part of a, and it is for the caller,
    who knows the names, to say so.
    """
    return Cells(*_core.merge_cells(a, b, sign))


def renumber_cells(cells: Cells, class_map: NDArray[Any], index_map: NDArray[Any], n_classes: int) -> Cells:
    """Let class c become class_map[c], and token k index_map[k]; −1 drops; what meets adds up."""
    return Cells(
        *_core.renumber_cells(
            cells,
            np.ascontiguousarray(class_map, dtype=np.int32),
            np.ascontiguousarray(index_map, dtype=np.int32),
            n_classes,
        )
    )


def by_token(cells: Cells, n_tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The transpose (indptr, classes, order): token k's cells are `order[indptr[k]:indptr[k + 1]]`.

    Their classes, ascending, are the same stretch of `classes`; a channel by token is `cells.sums[f, order]`.
    """
    return _core.by_token(cells, n_tokens)


def some_tokens(
    cells: Cells, place: NDArray[np.int32], n_places: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], int]:
    """The cells of some tokens by token: where each token's start, their classes, sums (channel, cell) and rows.

    Token k is number `place[k]`, below `n_places`, or one of the others if that is −1: these are together the last
    token, with one cell of one row for each class that has any. At the end, how many different tokens all cells have.
    """
    return _core.some_tokens(cells, place, n_places)


def column_range(
    x: NDArray[Any], n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Minimum and maximum of each column, whether all its values are whole numbers, whether any is missing.

    A column without a value has minimum +∞ and maximum −∞; an infinite value is not a whole number.
    """
    return _core.column_range(_numbers(x), thread_count(n_jobs))


def count_codes(
    codes: NDArray[Any],
    sizes: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Weight and rows of each class and code: (C, S) each, S = Σ sizes, at slot Σ_{i<j} sizes_i + code.

    Codes outside [0, sizes_j), and NaN, are missing. For tables beyond 2^24 cells use `count_csr`.

    >>> codes = np.array([[0, 2], [1, 2], [0, -1]])
    >>> count_codes(codes, np.array([2, 3]), np.array([0, 0, 1]), None, 2)[1].tolist()
    [[1, 1, 0, 0, 2], [1, 0, 0, 0, 0]]
    """
    return _core.count_codes(
        _numbers(codes), _indptr(sizes), _labels(label, n_classes), _weights(weight), n_classes, thread_count(n_jobs)
    )


def score_codes(
    codes: NDArray[Any], sizes: NDArray[Any], table: NDArray[Any], out: NDArray[Any], n_jobs: int | None = None
) -> None:
    """Increase out (n, C) by Σ_j table[offset_j + codes_ij]; the table (S, C) may hold −∞, not +∞ or NaN."""
    _core.score_codes(_numbers(codes), _indptr(sizes), table, out, thread_count(n_jobs))


def score_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    table: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int | None = None,
    above: float | None = None,
    length: NDArray[Any] | None = None,
) -> bool:
    """Increase out (n, C) by Σ_k x_ik·table[k] + L_i·class_constant, L_i = Σ_k x_ik over known tokens.

    A token is unknown if table[k, 0] is NaN; all else in the table (K, C), and x, must be finite, but that an
    entry x_ik that is NaN is left out. The error is below 1e-13 Σ|terms| for rows of any length.
    Returns whether all x were finite (and their sum in each row). For `above` see `count_csr`. `length` (n,), if given,
    is increased by L_i.
    """
    csr = _line(data), _line(indices), _indptr(indptr)
    return _core.score_csr(*csr, table, class_constant, out, thread_count(n_jobs), above, length)


def score_csr_sparse(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    base: NDArray[Any],
    token_indptr: NDArray[Any],
    token_class: NDArray[Any],
    token_value: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int | None = None,
    above: float | None = None,
    length: NDArray[Any] | None = None,
) -> bool:
    """The same with table[k, c] = base[k] + the values listed for token k, whose classes must not repeat.

    A token is unknown if base[k] is NaN. A row touches only what is listed, and each class once.
    """
    return _core.score_csr_sparse(
        _line(data),
        _line(indices),
        _indptr(indptr),
        base,
        token_indptr,
        token_class,
        token_value,
        class_constant,
        out,
        thread_count(n_jobs),
        above,
        length,
    )


def score_dense(
    x: NDArray[Any],
    table: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int | None = None,
    length: NDArray[Any] | None = None,
) -> bool:
    """The same as `score_csr` for a dense (n, K) array of any strides."""
    return _core.score_dense(_numbers(x), table, class_constant, out, thread_count(n_jobs), length)
