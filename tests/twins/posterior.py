"""The log-loss of calibrated scores, written for reading."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_loss(
    base: Floats, evidence: Floats, target: Floats, row_weight: Floats, offset: Floats, weight: Floats
) -> tuple[float, Floats, Floats]:
    """Return −Σ r t log p, and its slopes by offset and by weight."""
    scores = base + offset + np.einsum("j,jic->ic", weight, evidence)
    scores = scores - scores.max(axis=1, keepdims=True)
    log_posterior = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    residual = row_weight[:, None] * (np.exp(log_posterior) - target)
    loss = -float((row_weight[:, None] * target * log_posterior).sum())
    return loss, residual.sum(axis=0), np.einsum("jic,ic->j", evidence, residual)


def row_losses(scores: Floats, target: Floats, evidence: Floats, factor: float) -> Floats:
    """Return log Σ_c exp s_ic − Σ_c t_ic s_ic of each row, for each table of evidence."""
    tables = scores + factor * evidence
    return np.asarray(np.logaddexp.reduce(tables, axis=2) - (target * tables).sum(axis=2))
