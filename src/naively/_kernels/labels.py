"""Labels as class numbers, how many there are of each, and yes or no from numbers: passes over a long array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _core

FIRST = 4096  # labels, among which the smallest most often is; if it is not, all are read again


def above(x: NDArray[Any], threshold: float) -> tuple[NDArray[np.bool_], bool]:
    """Which numbers are above a threshold, in the shape of x, and whether all are finite; x is read once.

    >>> above(np.array([[-1.0, 0.0], [2.0, np.nan]]), 0.0)
    (array([[False, False],
           [ True, False]]), False)
    """
    if x.dtype not in (np.float64, np.float32) or not x.flags.c_contiguous:
        return x > threshold, bool(np.isfinite(x).all())
    out = np.empty(x.shape, dtype=np.bool_)
    return out, _core.above(x, threshold, out)


def count_labels(label: NDArray[np.int32], n_classes: int) -> NDArray[np.int64]:
    """How many labels are 0, 1, …, n_classes − 1.

    >>> count_labels(np.array([0, 2, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    rows = np.zeros(n_classes, dtype=np.int64)
    wrong = _core.count_labels(np.ascontiguousarray(label), rows)
    if wrong >= 0:
        raise ValueError(f"label of row {wrong} is {label[wrong]}; labels must lie in [0, {n_classes})")
    return rows


def narrow_labels(label: NDArray[Any]) -> tuple[NDArray[np.int32], int, int] | None:
    """One or more whole numbers less the smallest of them, that, and the largest; None if they lie 2³¹ apart.

    >>> codes, low, high = narrow_labels(np.array([7, 5, 9]))
    >>> codes.tolist(), low, high
    ([2, 0, 4], 5, 9)
    """
    if label.dtype == np.int64 and label.flags.c_contiguous:
        codes = np.empty(len(label), dtype=np.int32)
        low = int(label[:FIRST].min())
        largest = _core.narrow_labels(label, low, codes)
        if largest >= 0:
            return codes, low, low + largest
    low, high = int(label.min()), int(label.max())
    if high - low >= 2**31:
        return None
    wide = label if label.dtype.itemsize == 8 else label.astype(np.int64)
    return (wide - low).astype(np.int32), low, high
