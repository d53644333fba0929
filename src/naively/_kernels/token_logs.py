"""What counts say of tokens under one pseudo-count for all of them, token by token, as scoring reads it.

    base_k + log(1 + N_kc/α)                     (4) of families/multinomial.py, without its constants of the classes

The last term is zero where there is no cell. It is made straight from the cells: nothing else of their size is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import naively._core as _core
from naively._kernels.threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels.cells import Cells

__all__ = ["seen_tokens", "token_log_table", "token_logs"]


def seen_tokens(index: NDArray[np.int32], n_tokens: int) -> NDArray[np.bool_]:
    """Which tokens have a cell, by the tokens of the cells.

    >>> seen_tokens(np.array([2, 0, 2], dtype=np.int32), 4).tolist()
    [True, False, True, False]
    """
    outside = index[(index < 0) | (index >= n_tokens)]
    if len(outside):
        raise ValueError(f"a cell has token {outside[0]}; tokens must be from 0 to {n_tokens} - 1")
    seen = np.zeros(n_tokens, dtype=np.bool_)
    seen[index] = True
    return seen


def token_log_table(
    cells: Cells, base: NDArray[np.float64], alpha: float, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """The dense (token, class) table base_k + log(1 + N_kc/α), N the first channel of the cells."""
    return _core.token_log_table(cells.indptr, cells.index, cells.sums[0], base, alpha, thread_count(n_jobs))


def token_logs(
    cells: Cells, n_tokens: int, alpha: float, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """The terms log(1 + N_kc/α) of the cells (start, class, value): token k's are [start[k], start[k + 1])."""
    return _core.token_logs(cells.indptr, cells.index, cells.sums[0], n_tokens, alpha, thread_count(n_jobs))
