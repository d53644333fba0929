"""Exponential likelihood: waiting times and other numbers from 0 on, one rate per class.

    x | c ~ Exponential(λ_c)                                                (1)
    λ_c = (n_c + a) / (s_c + b)                                             (2)
    log p(x | c) = log λ_c − λ_c·x                                          (3)
    Var log p(x | c) ≈ (1 − λ_c x)² / (n_c + a)                             (4)

n_c and s_c are `Sums`: rows of class c, and their total of x. The prior is worth `a` rows that add up to `b`. (2) is
the mean of the Gamma(a, b) posterior, and a = b = 0 is maximum likelihood. By default b is a times the mean of the
column, so the prior does not depend on the unit. A column that is 0 in every row is no evidence. (4) is the delta
method, for intervals in explanations.
Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), §2.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from naively._kernels.types import Array, Floats, Index, Wholes
from naively.data.kinds import Kind
from naively.families.base import N_GRID_POINTS
from naively.families.evidence import Alternative, Grid, RowView, number_alternatives, short_number
from naively.families.poisson import RateFamily, ratio_of
from naively.families.scores import LinearScores
from naively.priors import pseudo_count
from naively.statistics.sums import Sums

MAX_EXPONENT = 1e300  # the sum over 10⁸ columns is finite


@dataclass(frozen=True)
class Exponential(RateFamily):
    """Numbers from 0 on, most of them small; the prior is worth `a` rows that add up to `b`.

    >>> wait, label = np.array([1.0, 3.0, 10.0, 30.0]), np.array([0, 0, 1, 1])
    >>> stats = Sums.count(wait, label, None, n_classes=2)
    >>> Exponential(a=0, b=0).estimate(stats, classes=(0, 1)).ravel().tolist()
    [0.5, 0.05]
    """

    a: float = 1.0
    b: float | None = None

    support = "non-negative"

    def __post_init__(self) -> None:
        pseudo_count("a", self.a)
        if self.b is not None:
            pseudo_count("b", self.b)

    def rate(self, n: Floats, total: Floats, rows: Wholes, pooled_n: Floats, pooled_total: Floats) -> Floats:
        """Return equation (2); 1 where all is zero, infinite where only this class is."""
        mean = np.divide(pooled_total, pooled_n, out=np.zeros_like(pooled_n), where=pooled_n > 0)
        b = self.a * mean if self.b is None else np.full_like(mean, self.b)
        n_events = np.where(rows > 0, n, pooled_n) + self.a
        rate = ratio_of(n_events, np.where(rows > 0, total, pooled_total) + b)
        only_zeros = (total == 0) & (rows > 0) & (b == 0)
        return np.where((mean == 0) & (b == 0), 1.0, np.where(only_zeros, np.inf, rate))

    def scores(self, x: Floats, rate: Floats) -> Floats:
        """Return equation (3); an infinite rate (maximum likelihood of zeros) allows only 0."""
        is_point = np.isinf(rate)
        slope = np.where(is_point, 0.0, rate)
        with np.errstate(over="ignore"):
            exponent = np.minimum(x * slope, MAX_EXPONENT)
        score = np.log(np.where(is_point | (rate == 0), 1.0, rate)) - exponent
        return np.where(is_point & (x > 0), -np.inf, score)

    def term_variance(self, x: Floats, rate: Floats, n: Floats) -> Floats:
        """Return equation (4)."""
        return np.asarray(np.square(1 - rate * x) / (n + self.a))

    def log_ratio_factor(self, rows: Floats, total: Floats) -> Floats:
        """Return the rows."""
        return rows

    def alternatives(self, row: RowView, parameters: Floats, rival: int) -> Iterator[Alternative]:
        """Yield the row with the mean of the rival class in each column."""
        return number_alternatives(
            row,
            lambda j, x: (
                [short_number(1.0 / rate, row.kind(j))] if 0 < (rate := float(parameters[rival, j])) < np.inf else []
            ),
        )

    def grid(self, stats: Sums, parameters: Floats, column: int, kind: Kind = "number") -> Grid:
        """Return numbers up to five times the largest mean."""
        rate = parameters[:, column]
        smallest = rate[np.isfinite(rate) & (rate > 0)].min(initial=np.inf)
        return Grid(np.linspace(0.0, 5.0 / float(smallest) if np.isfinite(smallest) else 1.0, N_GRID_POINTS))

    def quantiles(self, stats: Sums, parameters: Floats, column: int, levels: Floats) -> Floats:
        """Return the quantiles of (1)."""
        return np.asarray(-np.log1p(-levels)[:, None] / parameters[:, column])

    def column_scores(self, parameters: Floats, names: Sequence[str], n_classes: int) -> list[LinearScores]:
        """Return equation (3); an infinite rate allows only 0."""
        is_point = np.isinf(parameters)
        slope = -np.where(is_point, 0.0, parameters)
        intercept = np.log(np.where(is_point | (parameters == 0), 1.0, parameters))
        columns = zip(intercept.T, slope.T, is_point.T, strict=True)
        return [LinearScores(*column, integers_only=False) for column in columns]

    def sample(self, parameters: Floats, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        return list(generator.exponential(1.0 / parameters[label]).T)
