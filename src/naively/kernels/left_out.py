"""Rows of tokens scored as if they had not been counted. The equations are in `core/left_out.hpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Wholes = NDArray[np.int64]
    Truths = NDArray[np.bool_]
    Labels = NDArray[np.int32]

__all__ = ["leave_tokens_out"]


def leave_tokens_out(
    rows: tuple[Wholes, NDArray[np.int32], Floats, Wholes | None],
    leaving: tuple[Labels, Floats, Wholes],
    cells: tuple[Wholes, Labels, Floats, Wholes],
    alpha: Floats,
    known: Truths,
    fades: Truths,
    shrinks: bool,
    complement: bool,
    out: Floats,
    n_jobs: int = 1,
) -> tuple[int, int, int, float] | None:
    """Increase out (row, class) by each row's multinomial or complement score without the row itself.

    `rows` are indptr, tokens, counts, and how many rows of a cell each entry was (None: one); they leave the classes
    `leaving[0]` with the weights and as the numbers of rows that follow. `cells` are token-major: offsets, classes
    (ascending), sums, rows. `alpha` is above 0 for `known` tokens. Those that `fade` (some row has each of them) are no
    evidence once their last row has left, and if the distribution `shrinks` their alpha leaves the sum of all.

    Returns None, or row, token, and the rows and sum that would be left of the first entry that was never counted;
    `out` is then of no use. The same, bit for bit, for any `n_jobs`.
    """
    (indptr, index, count, times), (label, weight, numbers) = rows, leaving
    row_arrays = (indptr, index, count, times, label, weight, numbers)
    start, owner, sums, cell_rows = cells
    return _core.leave_tokens_out(
        *row_arrays, start, owner, sums, cell_rows, alpha, known, fades, shrinks, complement, out, n_jobs
    )
