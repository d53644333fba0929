"""Estimates with 95 % intervals.

    Wilson      (k + z²/2 ± z √(k(n − k)/n + z²/4)) / (n + z²)      a share of k in n rows               (1)
    normal      mean ± z √(variance / n)                            a mean of one number per row         (2)
    AUC         A ± z √(variance of A)                              Hanley & McNeil                      (3)

With weights, n is the effective number of rows, (Σ w)² / Σ w² (Kish).
Source: E. B. Wilson, JASA 22 (1927) 209–212. Hanley & McNeil, Radiology 143 (1982) 29–36. Kish, Survey Sampling, 1965.
"""

import math
from typing import NamedTuple

import numpy as np

from naively._kernels.types import Array, Floats
from naively.data.text_table import format_number
from naively.families.evidence import Z


class Estimate(NamedTuple):
    """A number and its 95 % interval; NaN if it is undefined.

    >>> accuracy = Estimate(0.75, 0.5, 0.875)
    >>> print(accuracy, f"{accuracy:.0%}", float(accuracy))
    0.7500  (0.5000 – 0.8750) 75% 0.75
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """Format the number alone; without a specification, the interval too."""
        return format(self.value, spec) if spec else str(self)

    def __str__(self) -> str:
        value, low, high = map(format_number, self)
        return value if math.isnan(self.value) else f"{value}  ({low} – {high})"


UNDEFINED = Estimate(math.nan, math.nan, math.nan)


def around(value: float, half_width: float, least: float = 0.0, most: float = 1.0) -> Estimate:
    """Return a symmetric interval, cut at two bounds."""
    return Estimate(value, max(least, value - half_width), min(most, value + half_width))


def effective_rows(weight: Floats) -> float:
    """Return the number of rows of equal weight that would give as much information."""
    squares = float(np.square(weight).sum())
    return float(weight.sum()) ** 2 / squares if squares > 0 else 0.0


def share(hit: Array, weight: Floats) -> Estimate:
    """Return the weighted share of the rows that hit, with interval (1)."""
    n = effective_rows(weight)
    return UNDEFINED if n == 0 else wilson(float(np.average(hit, weights=weight)), n)


def wilson(p: float, n: float) -> Estimate:
    """Return a share p of n rows with interval (1)."""
    centre, half = p * n + Z * Z / 2, Z * math.sqrt(max(n * p * (1 - p), 0.0) + Z * Z / 4)
    return Estimate(p, max(0.0, (centre - half) / (n + Z * Z)), min(1.0, (centre + half) / (n + Z * Z)))


def mean(values: Floats, weight: Floats, least: float = -math.inf, most: float = math.inf) -> Estimate:
    """Return the weighted mean with interval (2), cut at the bounds of the values; a point if there is one row."""
    n = effective_rows(weight)
    if n == 0:
        return UNDEFINED
    centre = float(np.average(values, weights=weight))
    variance = float(np.average(np.square(values - centre), weights=weight)) * n / max(n - 1, 1.0)
    return around(centre, Z * math.sqrt(variance / n), least, most)


def area(auc: float, n_class: float, n_others: float) -> Estimate:
    """Return an area under the ROC curve with interval (3), from the numbers of rows of the class and of the others."""
    if math.isnan(auc) or n_class <= 0 or n_others <= 0:
        return UNDEFINED
    two_of_class, two_of_others = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    variance = auc * (1 - auc) + (n_class - 1) * (two_of_class - auc * auc) + (n_others - 1) * (two_of_others - auc**2)
    return around(auc, Z * math.sqrt(max(variance, 0.0) / (n_class * n_others)))
