"""How many rows each class has."""

from __future__ import annotations

import numpy as np

from naively._kernels.types import Codes32, Wholes

MAX_COMPARED_CLASSES = 16  # labels are compared with each of this many classes, which is faster than to index by them


def count_labels(label: Codes32, n_classes: int) -> Wholes:
    """Return how many labels are 0, 1, …, n_classes − 1.

    >>> count_labels(np.array([0, 2, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    if label.size and (label.min() < 0 or label.max() >= n_classes):
        wrong = int(np.argmax((label < 0) | (label >= n_classes)))
        raise ValueError(f"label of row {wrong} is {label[wrong]}; labels must lie in [0, {n_classes})")
    if n_classes <= MAX_COMPARED_CLASSES:
        return np.array([np.count_nonzero(label == c) for c in range(n_classes)], dtype=np.int64)
    return np.bincount(label, minlength=n_classes).astype(np.int64, copy=False)
