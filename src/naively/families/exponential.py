"""Exponential likelihood: waiting times and other numbers from 0 on, one rate per class.

    x | c ~ Exponential(λ_c)                                                (1)
    λ_c = (n_c + a) / (s_c + b)                                             (2)
    log p(x | c) = log λ_c − λ_c·x                                          (3)

n_c and s_c are `Sums`: rows of class c, and their total of x. The prior is worth `a` rows that add up to `b`; (2) is
the mean of the Gamma(a, b) posterior, and a = b = 0 is maximum likelihood. By default b is a times the mean of
the column, so the prior has no unit of its own. A column that is 0 in every row says nothing.
Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), §2.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively._kernels.types import Array, Floats, Index
from naively.data.kinds import Kind
from naively.families import evidence
from naively.families.base import N_GRID_POINTS, Family, Labels, Leaving, Lengths, terms_by_column
from naively.families.evidence import Alternative, Grid, LikelihoodRatio, Pair, RowView, Term
from naively.families.leave_one_out.numbers import SumsWithout, dense_numbers
from naively.families.poisson import compare_sums, means_of_pair, rate_of, ratio_of, weight_or_total
from naively.priors import pseudo_count
from naively.statistics import Numbers, Sums


@dataclass(frozen=True)
class Exponential(Family[Sums, Floats]):
    """Numbers from 0 on, most of them small; the prior is worth `a` rows that add up to `b`.

    >>> wait, label = np.array([1.0, 3.0, 10.0, 30.0]), np.array([0, 0, 1, 1])
    >>> stats = Sums.count(wait, label, None, n_classes=2)
    >>> Exponential(a=0, b=0).estimate(stats, classes=(0, 1)).ravel().tolist()
    [0.5, 0.05]
    """

    a: float = 1.0
    b: float | None = None

    statistic = Sums
    support = "non-negative"

    def __post_init__(self) -> None:
        pseudo_count("a", self.a)
        if self.b is not None:
            pseudo_count("b", self.b)

    def estimate(self, stats: Sums, classes: Labels, structure: Any = None) -> Floats:
        """Equation (2), (class, column); 1 where all is zero, infinite where only this class is."""
        n, s = stats.weight, stats.total
        seen = n.sum(axis=0)
        mean = np.divide(s.sum(axis=0), seen, out=np.zeros_like(seen), where=seen > 0)
        b = self.a * mean if self.b is None else np.full_like(mean, self.b)
        rate = np.empty_like(s)
        for j in range(s.shape[1]):
            rate[:, j] = rate_of(n[:, j], s[:, j], self.a, float(b[j]), stats.rows[:, j])
        only_zeros = (s == 0) & (stats.rows > 0) & (b == 0)
        return np.where((mean == 0) & (b == 0), 1.0, np.where(only_zeros, np.inf, rate))

    def log_likelihood(self, x: Numbers, parameters: Floats, out: Floats, length: Lengths = None) -> None:
        """Equation (3), summed over the columns; an infinite rate (maximum likelihood of zeros) allows only x = 0."""
        for place, piece in x.dense():
            present = ~np.isnan(piece)
            values = np.where(present, piece, 0.0)
            for c, rate in enumerate(parameters[:, place]):
                point = np.isinf(rate)
                slope = np.where(point, 0.0, rate)
                with np.errstate(over="ignore"):
                    exponent = np.minimum(values * slope, np.finfo(np.float64).max / (1 + len(slope)))
                log_rate = np.log(np.where(point | (rate == 0), 1.0, rate))
                out[:, c] += present @ log_rate - exponent.sum(axis=1)
                impossible = (values[:, point] > 0).any(axis=1)
                out[impossible, c] = -np.inf

    def leave_one_out(
        self, x: Numbers, stats: Sums, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Equation (2) without the row, which the mean of the column that is the prior's loses too; and (3)."""
        values = dense_numbers(x)
        left = SumsWithout.of(stats, values, leaving)
        there, waits = ~np.isnan(values), np.nan_to_num(values)
        seen = left.pooled_weight
        mean = np.divide(left.pooled_total, seen, out=np.zeros_like(seen), where=seen > 0)
        b = self.a * mean if self.b is None else np.full_like(mean, self.b)
        for c in range(stats.n_classes):
            mine = (leaving.label == c)[:, None]
            n, s = np.where(mine, left.weight, stats.weight[c]), np.where(mine, left.total, stats.total[c])
            in_class = np.where(mine, left.rows, stats.rows[c]) > 0
            rate = ratio_of(
                np.where(in_class, n, left.pooled_weight) + self.a, np.where(in_class, s, left.pooled_total) + b
            )
            point = (s == 0) & in_class & (b == 0) & (mean > 0)
            rate = np.where((mean == 0) & (b == 0), 1.0, rate)
            with np.errstate(over="ignore"):
                exponent = np.minimum(waits * rate, np.finfo(np.float64).max / 2)
            score = np.log(np.where(point | (rate == 0), 1.0, rate)) - np.where(point, 0.0, exponent)
            score = np.where(point & (waits > 0), -np.inf, score)
            out[:, :, c] += np.where(there, score, 0.0)

    def terms(self, row: RowView, stats: Sums, parameters: Floats, pair: Pair) -> list[Term]:
        """Return one term per column, with rows and mean of each class; intervals by the delta method.

        Var log p = (1 − λx)² / (n + a)                                 (4)
        """
        x, variance = row.numbers(), np.zeros(len(row.names))
        for c in pair:
            with np.errstate(all="ignore"):
                variance += np.square(1 - parameters[c] * x) / (weight_or_total(stats, c) + self.a)
        return evidence.with_counts(terms_by_column(self, row, parameters, pair), means_of_pair(stats, pair), variance)

    def alternatives(self, row: RowView, parameters: Floats, rival: int) -> Iterator[Alternative]:
        """Yield the mean of the rival class."""
        return evidence.number_alternatives(
            row, lambda j, x: [float(f"{1.0 / rate:.6g}")] if 0 < (rate := float(parameters[rival, j])) < np.inf else []
        )

    def grid(self, stats: Sums, parameters: Floats, column: int, kind: Kind = "number") -> Grid:
        """Return numbers up to five times the largest mean."""
        rate = parameters[:, column]
        smallest = rate[np.isfinite(rate) & (rate > 0)].min(initial=np.inf)
        return Grid(np.linspace(0.0, 5.0 / float(smallest) if np.isfinite(smallest) else 1.0, N_GRID_POINTS))

    def compare(self, one: Sums, two: Sums, top: int = 20) -> list[LikelihoodRatio]:
        """Test each column: two rates in each class against one."""
        return compare_sums(one, two, lambda rows, total: rows)

    def sample(self, parameters: Floats, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        return list(generator.exponential(1.0 / parameters[label]).T)
