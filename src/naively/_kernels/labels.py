"""Class labels as numbers from 0 on, and how many rows each class has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_COMPARED_CLASSES = 8  # labels are compared with each of this many classes, which is faster than to index by them


def count_labels(label: NDArray[np.int32], n_classes: int) -> NDArray[np.int64]:
    """Return how many labels are 0, 1, …, n_classes − 1.

    >>> count_labels(np.array([0, 2, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    if 1 < n_classes <= MAX_COMPARED_CLASSES:
        rows = np.array([np.count_nonzero(label == c) for c in range(n_classes)], dtype=np.int64)
    else:
        rows = np.bincount(label[(label >= 0) & (label < n_classes)], minlength=n_classes).astype(np.int64)
    if rows.sum() != len(label):
        wrong = int(np.argmax((label < 0) | (label >= n_classes)))
        raise ValueError(f"label of row {wrong} is {label[wrong]}; labels must lie in [0, {n_classes})")
    return rows


def narrow_labels(label: NDArray[Any]) -> tuple[NDArray[np.int32], int, int] | None:
    """Return integers less the smallest of them, that, and the largest; None if they differ by 2³¹ or more.

    >>> codes, low, high = narrow_labels(np.array([7, 5, 9]))
    >>> codes.tolist(), low, high
    ([2, 0, 4], 5, 9)
    """
    low, high = int(label.min()), int(label.max())
    if high - low >= 2**31:
        return None
    # Modulo 2³², in which the difference is exact though neither term may fit.
    return label.astype(np.int32) - np.uint32(low % 2**32).astype(np.int32), low, high
