"""Readable twins of `naively._kernels.labels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def count_labels(label: NDArray[np.int32], n_classes: int) -> NDArray[np.int64]:
    """How many labels are 0, 1, …, n_classes − 1."""
    return np.bincount(label, minlength=n_classes).astype(np.int64)


def narrow_labels(label: NDArray[Any]) -> tuple[NDArray[np.int32], int, int] | None:
    """Whole numbers less the smallest, that, and the largest; None if their range is too wide."""
    low, high = int(label.min()), int(label.max())
    if high - low >= 2**31:
        return None
    return np.array([int(value) - low for value in label.tolist()], dtype=np.int32), low, high
