"""Tables of (row, class) that begin with the same numbers in every row. With few classes, NumPy goes down the columns
several times as fast as along the short rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_to_rows", "same_rows"]

FEW = 4  # columns; from eight on a row is long enough


def same_rows(row: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """A table of which every row is this one.

    >>> same_rows(np.array([1.0, 2.0]), 2).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    out = np.empty((n_rows, len(row)))
    if len(row) > FEW:
        out[:] = row
    else:
        for c, value in enumerate(row.tolist()):
            out[:, c] = value
    return out


def add_to_rows(out: NDArray[np.float64], row: NDArray[np.float64]) -> None:
    """Add this row to every row of a table.

    >>> table = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> add_to_rows(table, np.array([10.0, 20.0]))
    >>> table.tolist()
    [[10.0, 21.0], [12.0, 23.0]]
    """
    if len(row) > FEW:
        out += row
        return
    for c, value in enumerate(row.tolist()):
        if value:
            out[:, c] += value
