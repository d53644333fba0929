"""Merging sorted strings in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def merge_strings(
    a: tuple[str, ...], b: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.int32]]:
    """The union, sorted, and the place of each string in it."""
    union = tuple(sorted({*a, *b}))
    place = {value: k for k, value in enumerate(union)}
    return union, np.array([place[v] for v in a], np.int32), np.array([place[v] for v in b], np.int32)
