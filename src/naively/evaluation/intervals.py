"""Figures with their 95 % intervals.

    Wilson      (k + z²/2 ± z √(k(n − k)/n + z²/4)) / (n + z²)      a share of k in n rows               (1)
    normal      mean ± z √(variance / n)                            a mean of one number per row         (2)
    AUC         A ± z √(variance of A)                              Hanley & McNeil                      (3)

With weights, n is the number of rows that would tell as much: (Σ w)² / Σ w² (Kish).
Source: E. B. Wilson, JASA 22 (1927) 209–212. Hanley & McNeil, Radiology 143 (1982) 29–36. Kish, Survey Sampling, 1965.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Figure", "area", "effective", "mean", "share"]

Z = 1.959963984540054  # 97.5 % of a normal distribution lie below
Floats = NDArray[np.float64]


class Figure(NamedTuple):
    """A number and its 95 % interval; NaN where there is nothing to tell."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """As plain data, None for NaN."""
        return {name: None if math.isnan(x) else x for name, x in self._asdict().items()}

    def __str__(self) -> str:
        return "–" if math.isnan(self.value) else f"{self.value:.4f}  ({self.low:.4f} – {self.high:.4f})"


NOTHING = Figure(math.nan, math.nan, math.nan)


def effective(weight: Floats) -> float:
    """The number of equal rows that tell as much."""
    squares = float(np.square(weight).sum())
    return float(weight.sum()) ** 2 / squares if squares > 0 else 0.0


def share(hit: NDArray[Any], weight: Floats) -> Figure:
    """The weighted share of the rows that hit, with (1)."""
    n = effective(weight)
    if n == 0:
        return NOTHING
    p = float(np.average(hit, weights=weight))
    centre, half = p * n + Z * Z / 2, Z * math.sqrt(max(n * p * (1 - p), 0.0) + Z * Z / 4)
    return Figure(p, max(0.0, (centre - half) / (n + Z * Z)), min(1.0, (centre + half) / (n + Z * Z)))


def mean(value: Floats, weight: Floats, least: float = -math.inf, most: float = math.inf) -> Figure:
    """The weighted mean, with (2), of numbers that lie between bounds; a point where there is one row."""
    n = effective(weight)
    if n == 0:
        return NOTHING
    centre = float(np.average(value, weights=weight))
    variance = float(np.average(np.square(value - centre), weights=weight)) * n / max(n - 1, 1.0)
    half = Z * math.sqrt(variance / n)
    return Figure(centre, max(least, centre - half), min(most, centre + half))


def area(auc: float, of: float, others: float) -> Figure:
    """An area under the ROC curve from so many rows of the class and of the others, with (3)."""
    if math.isnan(auc) or of <= 0 or others <= 0:
        return NOTHING
    one, two = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    variance = auc * (1 - auc) + (of - 1) * (one - auc * auc) + (others - 1) * (two - auc * auc)
    half = Z * math.sqrt(max(variance, 0.0) / (of * others))
    return Figure(auc, max(0.0, auc - half), min(1.0, auc + half))
