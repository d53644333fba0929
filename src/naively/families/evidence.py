"""A term of the sum, before two classes are compared; and the spread of what it says.

    θ ~ Beta(a, A − a)  under a Dirichlet or Beta posterior,                               (1)
    cumulants of log θ:  κ_n = ψ⁽ⁿ⁻¹⁾(a) − ψ⁽ⁿ⁻¹⁾(A)                                      (2)
    those of log θ₁ − log θ₂:  κ_n(1) + (−1)ⁿ κ_n(2)                                      (3)

The 2.5 % and 97.5 % points come from the first four cumulants by the Cornish–Fisher expansion: no sampling, so the
same numbers every time. Against 10⁶ draws the points are within 0.15 of a standard deviation for a from 0.5 on, and
within 0.03 for the small shares and counts from 3 on that are usual (tests/explanation/test_interval.py).
Source: Cornish & Fisher, Moments and cumulants in the specification of distributions, Revue de l'Institut
International de Statistique 5 (1938) 307–320; Abramowitz & Stegun (1964), 26.2.49.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BlockTerms", "Spread", "Term", "beta_spread", "counts_of", "normal_spread", "shown_value", "two"]

NORMAL = 1.959963984540054  # the 97.5 % point of the standard normal

Spread = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Term:
    """One column or word: its scores in both classes, the counts behind them, and the spread of their difference."""

    column: str
    value: Any
    shown: str
    scores: tuple[float, float] = (0.0, 0.0)
    count: float = 1.0
    behind: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {})
    spread: tuple[float, float] = (float("nan"), float("nan"))
    note: str = ""

    @property
    def log_odds(self) -> float:
        """The difference of the two scores."""
        return self.scores[0] - self.scores[1]

    def times(self, weight: float) -> Term:
        """The same evidence with another weight; none at weight zero, whatever was impossible."""
        if weight == 0.0:
            return replace(self, scores=(0.0, 0.0), spread=(0.0, 0.0), note=self.note or "has no weight")
        scaled = (weight * self.scores[0], weight * self.scores[1])
        return replace(self, scores=scaled, spread=(weight * self.spread[0], weight * self.spread[1]))


class BlockTerms(ABC):
    """The terms of the columns of one block."""

    @abstractmethod
    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""

    def pieces(self, row: int, terms: Sequence[Term]) -> dict[str, tuple[tuple[str, float], ...]]:
        """The texts of a row in pieces with their log-odds; none unless the block is a text."""
        return {}


def beta_spread(
    a1: NDArray[np.float64], all1: NDArray[np.float64], a2: NDArray[np.float64], all2: NDArray[np.float64]
) -> Spread:
    """The 2.5 % and 97.5 % points of log θ₁ − log θ₂ by (1) to (3); NaN where a posterior is improper."""
    from scipy.special import polygamma

    proper = (a1 > 0) & (a2 > 0) & (all1 >= a1) & (all2 >= a2)
    a1, all1, a2, all2 = (np.where(proper, x, 1.0) for x in (a1, all1, a2, all2))
    k1, k2, k3, k4 = (
        (polygamma(n, a1) - polygamma(n, all1)) + (-1) ** (n + 1) * (polygamma(n, a2) - polygamma(n, all2))
        for n in range(4)
    )
    deviation = np.sqrt(np.maximum(k2, 1e-18))
    skew, peak = k3 / deviation**3, k4 / deviation**4
    points = []
    for z in (-NORMAL, NORMAL):
        bent = z + (z**2 - 1) * skew / 6 + (z**3 - 3 * z) * peak / 24 - (2 * z**3 - 5 * z) * skew**2 / 36
        points.append(np.where(proper, k1 + np.where(k2 > 1e-18, bent, 0.0) * deviation, np.nan))
    return points[0], points[1]


def two(x: Sequence[Any] | NDArray[Any]) -> tuple[float, float]:
    """Two numbers."""
    return float(x[0]), float(x[1])


def counts_of(counted: Iterable[Any], every: Iterable[Any]) -> tuple[dict[str, float], dict[str, float]]:
    """So many of so many, in both classes."""
    first, second = ({"count": float(n), "all": float(a)} for n, a in zip(counted, every, strict=True))
    return first, second


def normal_spread(centre: NDArray[np.float64], variance: NDArray[np.float64]) -> Spread:
    """The 2.5 % and 97.5 % points of a normal distribution."""
    half = NORMAL * np.sqrt(variance)
    return centre - half, centre + half


def shown_value(value: Any, kind: str) -> tuple[Any, str]:
    """A number as plain data and for people: a date as a date, yes or no as such, a whole number without a point."""
    if kind == "date":
        date = str(np.datetime64(round(float(value)), "s")).removesuffix("T00:00:00")
        return date, date
    number = float(value)
    if kind == "boolean" and number in (0.0, 1.0):
        return bool(number), str(bool(number))
    plain = int(number) if number.is_integer() and abs(number) < 2**53 else number
    return plain, f"{plain:g}" if isinstance(plain, float) else str(plain)
