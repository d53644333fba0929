"""The log-loss of calibrated scores, its slopes and its minimum: `core/log_loss.hpp` and `core/pair.hpp`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively import _core

__all__ = ["log_loss", "minimise_pair"]

Floats = NDArray[np.float64]


def log_loss(
    base: Floats, evidence: Floats, label: NDArray[np.int64], row_weight: Floats, offset: Floats, weight: Floats
) -> tuple[float, Floats, Floats, Floats]:
    """The loss, its slopes by offset (class,) and by weight (feature,), and the posterior (row, class).

    `base` is (row, class), `evidence` (feature, row, class).
    """
    of_offset, of_weight, posterior = np.empty(len(offset)), np.empty(len(weight)), np.empty(base.shape)
    loss = _core.log_loss(base, evidence, label, row_weight, offset, weight, of_offset, of_weight, posterior)
    return loss, of_offset, of_weight, posterior


def minimise_pair(
    base: Floats,
    evidence: Floats,
    label: NDArray[np.int64],
    row_weight: Floats,
    centre: Floats,
    strength: Floats,
    start: Floats,
    *,
    top: float,
    close: float,
    steps: int,
) -> tuple[Floats, float]:
    """The offset b₁ − b₀ and the weights, from 0 to `top`, at which the loss of two classes and its pull are least.

    The pull is ½ Σ strength · (x − centre)². For few features: of many, matrix products are sooner done.
    """
    x = start.astype(np.float64)
    value = _core.minimise_pair(base, evidence, label, row_weight, centre, strength, top, close, steps, x)
    return x, value
