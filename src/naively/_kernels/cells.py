"""Cells, the sparse table class × token: count, add and score them; and the same for codes and labels.

A cell holds what one class has of one token (a word, a value, a column): one or more sums of weights, and the number of
rows that have it. It exists while its rows are not 0, so memory follows the cells that are not empty. Sums are the
same, bit for bit, for any number of threads. With weights and values that are integers (or dyadic fractions) they are
also the same for any order and division of the rows. Weights are above 0: leave out rows of weight 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from naively import _core
from naively._kernels.threads import thread_count
from naively._kernels.types import Array, Bools, Codes32, Floats, Wholes


class Cells(NamedTuple):
    """A sparse table class × token, class-major, tokens ascending within a class.

    `sums[f]` are the channels. Token counts have two: occurrences Σ w·x, and documents Σ w over rows with x ≠ 0. Value
    counts have one: Σ w. `rows` counts the rows, of any weight.

    >>> a = Cells.empty(n_classes=2, n_sums=1)
    >>> a.indptr.tolist(), a.sums.shape
    ([0, 0, 0], (1, 0))
    """

    indptr: Wholes
    index: Codes32  # type: ignore[assignment]  # hides tuple.index, which is not used
    sums: Floats
    rows: Wholes

    @classmethod
    def empty(cls, n_classes: int, n_sums: int) -> Cells:
        """Return a table without cells."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros(n_classes + 1, np.int64), none.astype(np.int32), np.zeros((n_sums, 0)), none)


# The cells (two sums), the cells of missing entries (one sum: Σ w), and two columns, or −1: the first with a negative
# or infinite entry, and the first with an entry that is not an integer.
Counted: TypeAlias = tuple[Cells, Cells, tuple[int, int]]
SparseMatrix: TypeAlias = tuple[Array, Array, Array]  # data, indices, indptr
# The base of each token, and the start, class and value of its cells: table[k, c] = base[k] + its value for class c, if
# any. The classes of a token must not repeat. A token whose base is NaN is unknown.
SparseWeights: TypeAlias = tuple[Floats, Wholes, Codes32, Floats]
MAX_COMPARED_CLASSES = 16  # labels are compared with each of this many classes, which is faster than to index by them
MIN_COMPARED_LABELS = 256  # … if there are at least this many labels
_Arrays = tuple[Wholes, Codes32, Floats, Wholes]


def readable(x: Array) -> Array:
    """Return the array if the core can read it in place, else a copy as float64."""
    if x.dtype.kind not in "biuf":
        raise ValueError(f"numbers are needed, not an array of {x.dtype}; convert it first")
    in_place = x.dtype.itemsize <= 8 and x.dtype != np.float16 and x.dtype.isnative and x.flags.aligned
    return x if in_place else x.astype(np.float64)


def count_labels(label: Codes32, n_classes: int) -> Wholes:
    """Return how many labels are 0, 1, …, n_classes − 1.

    >>> count_labels(np.array([0, 2, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    if np.count_nonzero(label.view(np.uint32) < n_classes) < label.size:
        wrong = int(np.argmax((label < 0) | (label >= n_classes)))
        raise ValueError(f"label of row {wrong} is {label[wrong]}; labels must lie in [0, {n_classes})")
    if n_classes <= MAX_COMPARED_CLASSES and label.size >= MIN_COMPARED_LABELS:
        return np.array([np.count_nonzero(label == c) for c in range(n_classes)], dtype=np.int64)
    return np.bincount(label, minlength=n_classes).astype(np.int64, copy=False)


def _class_numbers(label: Array, n_classes: int) -> Codes32:
    if label.dtype.kind not in "iu":
        raise ValueError(f"labels are class numbers, not {label.dtype}; give int32")
    if label.dtype != np.int32 and label.size and not (label.min() >= 0 and label.max() < n_classes):
        raise ValueError(f"labels lie in [{label.min()}, {label.max()}]; they must lie in [0, {n_classes})")
    return label.astype(np.int32, copy=False)


def _readable_matrix(matrix: SparseMatrix) -> SparseMatrix:
    data, indices, indptr = matrix
    return readable(data), readable(indices), indptr


def _counted(arrays: tuple[_Arrays, _Arrays, tuple[int, int]]) -> Counted:
    return Cells(*arrays[0]), Cells(*arrays[1]), arrays[2]


def count_csr(
    matrix: SparseMatrix,
    n_columns: int,
    label: Array,
    weight: Floats | None,
    n_classes: int,
    n_jobs: int | None = None,
    above: float | None = None,
) -> Counted:
    """Count a CSR matrix: return its cells, those of its missing (NaN) entries, and its irregular columns.

    Zeros, stored or not, are not counted. An index that a row has twice is refused. If `above` is given, entries above
    it count as 1, others as 0, and infinite ones as missing.

    >>> x = np.array([2, 1, 3]), np.array([0, 2, 2]), np.array([0, 2, 3])
    >>> cells, missing, irregular = count_csr(x, 3, np.array([1, 1]), None, 2)
    >>> cells.indptr.tolist(), cells.index.tolist(), cells.sums.tolist(), cells.rows.tolist()
    ([0, 0, 2], [0, 2], [[2.0, 4.0], [1.0, 2.0]], [1, 2])
    >>> missing.rows.size, irregular
    (0, (-1, -1))
    """
    read, codes = _readable_matrix(matrix), _class_numbers(label, n_classes)
    return _counted(_core.count_csr(read, n_columns, codes, weight, n_classes, above, thread_count(n_jobs)))


def count_csc(
    matrix: SparseMatrix, label: Array, weight: Floats | None, n_classes: int, n_jobs: int | None = None
) -> Counted:
    """Count a CSC matrix like `count_csr`."""
    read, codes = _readable_matrix(matrix), _class_numbers(label, n_classes)
    return _counted(_core.count_csc(read, codes, weight, n_classes, thread_count(n_jobs)))


def count_dense(x: Array, label: Array, weight: Floats | None, n_classes: int, n_jobs: int | None = None) -> Counted:
    """Count a dense (n, p) array of any strides, in place, like `count_csr`."""
    codes = _class_numbers(label, n_classes)
    return _counted(_core.count_dense(readable(x), codes, weight, n_classes, thread_count(n_jobs)))


def merge_cells(a: Cells, b: Cells, sign: int) -> Cells:
    """Return the cells of a plus those of b (sign 1), or minus them (sign −1).

    Cells whose rows become 0 vanish. Negative rows stay: b was not part of a, which the caller must report.
    """
    return Cells(*_core.merge_cells(a, b, sign))


def renumber_cells(cells: Cells, class_map: Array, index_map: Array, n_classes: int) -> Cells:
    """Let class c become class_map[c], and token k index_map[k]; −1 drops it. Cells that become one are added up."""
    return Cells(*_core.renumber_cells(cells, class_map, index_map, n_classes))


def by_token(cells: Cells, n_tokens: int) -> tuple[Wholes, Codes32, Wholes]:
    """Return the transpose (indptr, classes, order): the cells of token k are `order[indptr[k]:indptr[k + 1]]`.

    Their classes, ascending, are the same slice of `classes`; a channel by token is `cells.sums[f, order]`.
    """
    return _core.by_token(cells, n_tokens)


def select_tokens(cells: Cells, position: Codes32, n_selected: int) -> tuple[Wholes, Codes32, Floats, Wholes, int]:
    """Return the cells of some tokens by token: the start of each, their classes, sums (channel, cell) and rows.

    Token k gets the number `position[k]`, below `n_selected`. Tokens with −1 together become the last token, with one
    cell of one row for each class that has any. The last result is the number of distinct tokens of all cells.
    """
    return _core.select_tokens(cells, position, n_selected)


def column_range(x: Array, n_jobs: int | None = None) -> tuple[Floats, Floats, Bools, Bools]:
    """Return minimum and maximum of each column, whether all its values are integers, and whether any is missing.

    A column without a value has minimum +∞ and maximum −∞; an infinite value is not an integer.
    """
    return _core.column_range(readable(x), thread_count(n_jobs))


def count_codes(
    codes: Array, sizes: Array, label: Array, weight: Floats | None, n_classes: int, n_jobs: int | None = None
) -> tuple[Floats, Wholes]:
    """Return weight and rows of each class and code: (C, S) each, S = Σ sizes, at slot Σ_{i<j} sizes_i + code.

    Codes outside [0, sizes_j), and NaN, are missing. For tables beyond 2^24 cells use `count_csr`.

    >>> codes = np.array([[0, 2], [1, 2], [0, -1]])
    >>> count_codes(codes, np.array([2, 3]), np.array([0, 0, 1]), None, 2)[1].tolist()
    [[1, 1, 0, 0, 2], [1, 0, 0, 0, 0]]
    """
    classes = _class_numbers(label, n_classes)
    return _core.count_codes(readable(codes), sizes, classes, weight, n_classes, thread_count(n_jobs))


def score_codes(pieces: Sequence[Array], sizes: Array, table: Floats, out: Floats, n_jobs: int | None = None) -> None:
    """Increase out (n, C) by Σ_j table[offset_j + codes_ij]; the table (S, C) may hold −∞, not +∞ or NaN.

    `pieces` are the columns of codes, in arrays (row, column) side by side; their sums are added in this order.
    """
    _core.score_codes(tuple(map(readable, pieces)), sizes, table, out, thread_count(n_jobs))


def score_code_columns(
    columns: Sequence[Array], sizes: Array, table: Floats, out: Floats, n_jobs: int | None = None
) -> None:
    """Do `score_codes` for each column alone, each an array (n, 1): `out` is (column, n, C)."""
    _core.score_code_columns(tuple(map(readable, columns)), sizes, table, out, thread_count(n_jobs))


def score_csr(
    matrix: SparseMatrix,
    weights: Floats | SparseWeights,
    class_constant: Floats,
    out: Floats,
    n_jobs: int | None = None,
    above: float | None = None,
    length: Floats | None = None,
) -> bool:
    """Increase out (n, C) by Σ_k x_ik·table[k] + L_i·class_constant, L_i = Σ_k x_ik over known tokens.

    `weights` is the table (K, C), or its sparse form. A token is unknown if table[k, 0] is NaN. An entry x_ik that is
    NaN is left out. All else in the table and x must be finite. The error is below 1e-13 Σ|terms| for rows of any
    length. For `above` see `count_csr`. `length` (n,), if given, is increased by L_i. Return whether all x, and their
    sum in each row, are finite.
    """
    read, n_threads = _readable_matrix(matrix), thread_count(n_jobs)
    return _core.score_csr(read, weights, class_constant, out, length, above, n_threads)


def score_dense(
    x: Array,
    table: Floats,
    class_constant: Floats,
    out: Floats,
    n_jobs: int | None = None,
    length: Floats | None = None,
) -> bool:
    """Score a dense (n, K) array of any strides like `score_csr`."""
    return _core.score_dense(readable(x), table, class_constant, out, length, thread_count(n_jobs))


def seen_tokens(index: Codes32, n_tokens: int) -> Bools:
    """Return which tokens have a cell, by the tokens of the cells.

    >>> seen_tokens(np.array([2, 0, 2], dtype=np.int32), 4).tolist()
    [True, False, True, False]
    """
    outside = index[(index < 0) | (index >= n_tokens)]
    if len(outside):
        raise ValueError(f"a cell has token {outside[0]}; tokens must be from 0 to {n_tokens} - 1")
    seen = np.zeros(n_tokens, dtype=np.bool_)
    seen[index] = True
    return seen


def token_log_table(cells: Cells, base: Floats, alpha: float, n_jobs: int | None = None) -> Floats:
    """Return the dense (token, class) table base_k + log(1 + N_kc/α), N the first channel of the cells.

    The last term is zero without a cell. See (4) of families/multinomial.py.
    """
    return _core.token_log_table(cells, base, alpha, thread_count(n_jobs))


def token_logs(cells: Cells, n_tokens: int, alpha: float, n_jobs: int | None = None) -> tuple[Wholes, Codes32, Floats]:
    """Return the terms log(1 + N_kc/α) of the cells by token: start of each token, class, and value."""
    return _core.token_logs(cells, n_tokens, alpha, thread_count(n_jobs))
