"""The readable twin of `naively._kernels.posterior`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_loss(
    base: Floats, evidence: Floats, label: NDArray[Any], row_weight: Floats, offset: Floats, weight: Floats
) -> tuple[float, Floats, Floats, Floats]:
    """The loss, its slopes by offset and by weight, and the posterior."""
    scores = base + offset + np.einsum("j,jic->ic", weight, evidence)
    scores = scores - scores.max(axis=1, keepdims=True)
    posterior = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = np.arange(len(label))
    loss = float(row_weight @ (np.log(np.exp(scores).sum(axis=1)) - scores[rows, label]))
    residual = posterior * row_weight[:, None]
    residual[rows, label] -= row_weight
    return loss, residual.sum(axis=0), np.einsum("jic,ic->j", evidence, residual), posterior
