"""Cells: the sparse table class × token, how it is counted, added up and scored; and the same for codes.

A cell is what one class has of one token (a word, a value, a column): one or more sums of weights, and the
whole number of rows that had it. It exists while its rows are not 0, so memory follows what is not zero.
Sums are the same, bit for bit, for any `n_jobs`; with weights and values that are whole numbers (or dyadic
fractions) also for any order and split of the rows. Weights are > 0: leave rows of weight 0 out beforehand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
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


# The cells (two sums), the cells of missing entries (one sum: Σ w), and two columns or −1: the smallest
# that holds a negative or infinite entry, the smallest that holds an entry that is not a whole number.
Counted = tuple[Cells, Cells, tuple[int, int]]


def count_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_columns: int,
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int = 1,
) -> Counted:
    """Cells of a CSR matrix, of its missing entries, and what is odd about its values."""
    from naively.kernels.twins import cells as twin

    return twin.count_csr(data, indices, indptr, n_columns, label, weight, n_classes, n_jobs)


def count_csc(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int = 1,
) -> Counted:
    """The same of a CSC matrix."""
    from naively.kernels.twins import cells as twin

    return twin.count_csc(data, indices, indptr, label, weight, n_classes, n_jobs)


def count_dense(
    x: NDArray[Any], label: NDArray[Any], weight: NDArray[Any] | None, n_classes: int, n_jobs: int = 1
) -> Counted:
    """The same of a dense (n, p) array."""
    from naively.kernels.twins import cells as twin

    return twin.count_dense(x, label, weight, n_classes, n_jobs)


def merge_cells(a: Cells, b: Cells, sign: int) -> Cells:
    """The cells of a plus those of b (sign 1), or minus them (sign −1)."""
    from naively.kernels.twins import cells as twin

    return twin.merge_cells(a, b, sign)


def renumber_cells(cells: Cells, class_map: NDArray[Any], index_map: NDArray[Any], n_classes: int) -> Cells:
    """Give classes and tokens new numbers; −1 drops; what meets in one place adds up."""
    from naively.kernels.twins import cells as twin

    return twin.renumber_cells(cells, class_map, index_map, n_classes)


def by_token(cells: Cells, n_tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The transpose: where each token's cells start, their classes, and their places in `cells`."""
    from naively.kernels.twins import cells as twin

    return twin.by_token(cells, n_tokens)


def column_range(
    x: NDArray[Any], n_jobs: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Smallest and largest value of each column, whether all are whole numbers, whether any is missing."""
    from naively.kernels.twins import cells as twin

    return twin.column_range(x, n_jobs)


def count_codes(
    codes: NDArray[Any],
    sizes: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
    n_classes: int,
    n_jobs: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Weight and rows of each class and code: (C, S) each, S = Σ sizes."""
    from naively.kernels.twins import cells as twin

    return twin.count_codes(codes, sizes, label, weight, n_classes, n_jobs)


def score_codes(
    codes: NDArray[Any], sizes: NDArray[Any], table: NDArray[Any], out: NDArray[Any], n_jobs: int = 1
) -> None:
    """Increase out[i] by Σ_j table[offset_j + codes_ij] over the known codes."""
    from naively.kernels.twins import cells as twin

    return twin.score_codes(codes, sizes, table, out, n_jobs)


def score_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    table: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int = 1,
) -> None:
    """Score a CSR matrix with a dense (K, C) table."""
    from naively.kernels.twins import cells as twin

    return twin.score_csr(data, indices, indptr, table, class_constant, out, n_jobs)


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
    n_jobs: int = 1,
) -> None:
    """Score a CSR matrix with the table base[k] + (what token k has of its own in some classes)."""
    from naively.kernels.twins import cells as twin

    return twin.score_csr_sparse(
        data, indices, indptr, base, token_indptr, token_class, token_value, class_constant, out, n_jobs
    )


def score_dense(
    x: NDArray[Any],
    table: NDArray[Any],
    class_constant: NDArray[Any],
    out: NDArray[Any],
    n_jobs: int = 1,
) -> None:
    """Score a dense (n, K) array."""
    from naively.kernels.twins import cells as twin

    return twin.score_dense(x, table, class_constant, out, n_jobs)
