"""F1 and the correlation of true and predicted classes (MCC), with intervals by the delta method.

With p_ab the share of the rows of class a that are predicted as b, r_a and s_b its sums over rows and columns:

    F1 of c      2 p_cc / (r_c + s_c);   macro: the mean over the classes that occur                       (1)
    MCC          (Σ_c p_cc − Σ_c r_c s_c) / √((1 − Σ r_c²)(1 − Σ s_c²))                                    (2)
    variance     (Σ p_ab g_ab² − (Σ p_ab g_ab)²) / n,   g_ab = ∂/∂p_ab                                     (3)

MCC is 0 if all rows, or all predictions, are of one class.

Like Agresti and Coull, the interval is computed from n + z² rows: z² rows of the same classes, half of them predicted
rightly, are added, so that it has a width where all predictions are right. n is the effective number of rows.

Source: Gorodkin, Computational Biology and Chemistry 28 (2004) 367–374, (2) for more than two classes. Takahashi et
al., Applied Intelligence 52 (2022) 4961–4972, (3) for F1. Agresti & Coull, The American Statistician 52 (1998) 119–126.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from naively._kernels.types import Floats
from naively.evaluation.intervals import UNDEFINED, Estimate
from naively.families.evidence import Z

Figure = Callable[[Floats], tuple[float, Floats]]  # shares (true, predicted) → value, gradient


def f1_of(c: int) -> Figure:
    """Return equation (1) for one class."""

    def figure(p: Floats) -> tuple[float, Floats]:
        size = p[c].sum() + p[:, c].sum()
        gradient = np.zeros_like(p)
        if size <= 0:
            return math.nan, gradient
        value = 2 * p[c, c] / size
        gradient[c] -= value / size
        gradient[:, c] -= value / size
        gradient[c, c] += 2 / size
        return float(value), gradient

    return figure


def macro_f1(p: Floats) -> tuple[float, Floats]:
    """Return equation (1), the mean over the classes that occur or are predicted."""
    size = p.sum(axis=0) + p.sum(axis=1)
    occurs = size > 0
    size = np.where(occurs, size, 1.0)
    values = 2 * np.diag(p) / size
    slope = np.where(occurs, values / size, 0.0)
    gradient = np.diag(np.where(occurs, 2 / size, 0.0)) - slope[:, None] - slope[None, :]
    return float(values.sum() / occurs.sum()), gradient / occurs.sum()


def balanced_accuracy(p: Floats) -> tuple[float, Floats]:
    """Return the mean recall of the classes that occur."""
    r = p.sum(axis=1)
    occurs = r > 0
    r = np.where(occurs, r, 1.0)
    recall = np.diag(p) / r
    gradient = (np.eye(len(p)) - recall[:, None]) / r[:, None] * occurs[:, None]
    return float(recall.sum() / occurs.sum()), gradient / occurs.sum()


def mcc(p: Floats) -> tuple[float, Floats]:
    """Return equation (2)."""
    r, s = p.sum(axis=1), p.sum(axis=0)
    top, left, right = np.trace(p) - r @ s, 1 - r @ r, 1 - s @ s
    if left <= 1e-12 or right <= 1e-12:
        return 0.0, np.zeros_like(p)
    root = math.sqrt(left * right)
    value = top / root
    gradient = (np.eye(len(p)) - s[:, None] - r[None, :]) / root
    gradient += value * (r[:, None] / left + s[None, :] / right)
    return float(value), gradient


def estimate(figure: Figure, confusion: Floats, n: float, least: float = 0.0) -> Estimate:
    """Return a figure of a confusion matrix with its interval.

    Parameters
    ----------
    figure
        `mcc`, `macro_f1` or `f1_of(c)`.
    confusion
        The weight of the rows, (true class, predicted class).
    n
        The effective number of rows.
    least
        The smallest possible value.
    """
    p = confusion / confusion.sum()
    value = figure(p)[0]
    if math.isnan(value):
        return UNDEFINED
    q = smoothed(p, n)
    centre, gradient = figure(q)
    variance = float((q * gradient**2).sum() - (q * gradient).sum() ** 2) / (n + Z * Z)
    half = Z * math.sqrt(max(variance, 0.0))
    return Estimate(value, max(least, min(value, centre - half)), min(1.0, max(value, centre + half)))


def smoothed(p: Floats, n: float) -> Floats:
    """Return the shares with z² rows added, half of each class predicted rightly, the others as any other class."""
    k = len(p)
    if k < 2:
        return p
    r = p.sum(axis=1)
    added = np.where(np.eye(k, dtype=np.bool_), 0.5, 0.5 / (k - 1)) * r[:, None]
    return np.asarray((n * p + Z * Z * added) / (n + Z * Z))
