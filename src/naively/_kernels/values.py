"""Sorted values of two counts as one list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def merge_strings(
    a: tuple[str, ...], b: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    """Two tuples of strings, each sorted and without repetition, as one such; and where those of each of them are.

    >>> merged, of_a, of_b = merge_strings(("blue", "red"), ("green", "red"))
    >>> merged, of_a.tolist(), of_b.tolist()
    (('blue', 'green', 'red'), [0, 2], [1, 2])
    """
    return _core.merge_strings(a, b)
