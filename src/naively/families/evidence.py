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

from naively.data.kinds import Kind
from naively.data.names import Names
from naively.data.views import Codes, Numbers, Texts

NORMAL = 1.959963984540054  # the 97.5 % point of the standard normal

Spread = tuple[NDArray[np.float64], NDArray[np.float64]]
Pair = tuple[int, int]  # positions of the two classes that are compared


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


@dataclass(frozen=True, eq=False)
class RowView:
    """One row of a block to be explained: its values, and the names and kinds of the columns.

    `weight` is the weight of each column under a tuning, for terms that add up several columns; None is 1.
    """

    x: Numbers | Codes | Texts
    names: Names
    kinds: Kind | tuple[Kind, ...]
    classes: tuple[Any, ...]
    weight: NDArray[np.float64] | None = None

    def kind(self, column: int) -> Kind:
        """Return the kind of a column."""
        return self.kinds if isinstance(self.kinds, str) else self.kinds[column]

    def numbers(self) -> NDArray[np.float64]:
        """Return the numbers of the row; NaN where one is missing."""
        assert isinstance(self.x, Numbers)
        pieces = [piece[0].astype(np.float64) for _, piece in self.x.dense()]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def values(self) -> list[Any]:
        """Return the value of each column: a number, a coded value or a text; None where it is missing."""
        if isinstance(self.x, Numbers):
            return [None if x != x else x for x in self.numbers().tolist()]
        if isinstance(self.x, Texts):
            return [Texts.as_strings(texts)[0] for texts in self.x.columns]
        known, codes = self.x.values, [code for _, piece in self.x.placed() for code in piece[0].tolist()]
        return [known[j][int(k)] if k == k and 0 <= k < len(known[j]) else None for j, k in enumerate(codes)]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another value that a column of a row could have; for a text, one word to leave out of it."""

    column: str
    before: Any
    after: Any
    value: Any
    word: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        """Alternatives with the same key exclude each other."""
        return self.column, self.word


@dataclass(frozen=True, slots=True)
class Change:
    """A value or word: by how many nats its log-probability changed in each class, with its test."""

    name: str
    nats: tuple[float, ...]
    G: float
    p: float
    q: float


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """The likelihood-ratio test of a column between two models.

    G is twice the log-likelihood ratio, with `freedom` degrees of freedom over `n_rows` rows. `changes` are the values
    or words that differ most.
    """

    G: float
    freedom: int
    n_rows: float
    p: float
    changes: tuple[Change, ...] = ()


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
