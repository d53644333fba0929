"""Readable twins of `naively._kernels.cells`: the same signatures and results, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tests.twins.cells import by_token

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels.cells import Cells


def seen_tokens(index: NDArray[np.int32], n_tokens: int) -> NDArray[np.bool_]:
    """Return which tokens have a cell."""
    return np.isin(np.arange(n_tokens), index)


def token_log_table(cells: Cells, base: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return the dense (token, class) table."""
    n_classes = len(cells.indptr) - 1
    table = np.tile(base[:, None], (1, n_classes))
    owner = np.repeat(np.arange(n_classes), np.diff(cells.indptr))
    table[cells.index, owner] += np.log1p(cells.sums[0] / alpha)
    return table


def token_logs(
    cells: Cells, n_tokens: int, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the terms of the cells, by token."""
    start, owner, order = by_token(cells, n_tokens)
    return start, owner, np.log1p(cells.sums[0][order] / alpha)
