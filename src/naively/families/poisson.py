"""Poisson likelihood: event counts per row, one rate per class.

    x | c ~ Poisson(λ_c)                                                    (1)
    λ_c = (s_c + a) / (n_c + b)                                             (2)
    log p(x | c) = x·log λ_c − λ_c − log x!                                 (3)
    Var log p(x | c) ≈ (x/λ_c − 1)² λ_c / (n_c + b)                         (4)

n_c and s_c are `Sums`: rows of class c, and their total of x. The prior is worth `a` events in `b` rows. (2) is the
mean of the Gamma(a, b) posterior, and a = b = 0 is maximum likelihood. A class without rows (and b = 0) takes the rate
of all classes together. (4) is the delta method, for intervals in explanations.
Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), §2.6.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from naively._kernels.types import Array, Floats, Index, Wholes
from naively.data.kinds import Kind
from naively.data.views import Numbers
from naively.families.base import N_GRID_POINTS, Family, Labels, Leaving, Lengths, terms_by_column
from naively.families.compare import compare_likelihoods
from naively.families.evidence import (
    Alternative,
    Counts,
    Grid,
    LikelihoodRatio,
    Pair,
    RowView,
    Term,
    number_alternatives,
)
from naively.families.learnt import Learnt
from naively.families.leave_one_out.columns import SumsWithout, dense_numbers
from naively.families.scores import LinearScores
from naively.priors import pseudo_count
from naively.statistics.sums import Sums


class RateFamily(Family[Sums, Floats]):
    """What Poisson and Exponential share: one rate per class and column, estimated from sums."""

    statistic = Sums

    @abstractmethod
    def rate(self, n: Floats, total: Floats, rows: Wholes, pooled_n: Floats, pooled_total: Floats) -> Floats:
        """Return equation (2), given weight, total and rows of a class, and weight and total of all classes."""

    @abstractmethod
    def scores(self, x: Floats, rate: Floats) -> Floats:
        """Return equation (3) for each number, without the terms that are the same in all classes."""

    def log_measure(self, x: Floats) -> Floats:
        """Return the terms of equation (3) that are the same in all classes; none by default."""
        return np.zeros_like(x)

    @abstractmethod
    def term_variance(self, x: Floats, rate: Floats, n: Floats) -> Floats:
        """Return equation (4) for the numbers of a row, given the rates and rows of a class."""

    @abstractmethod
    def log_ratio_factor(self, rows: Floats, total: Floats) -> Floats:
        """Return f, where f · log(total / rows) is minus the log-likelihood of the best rate, but for a constant."""

    def estimate(self, stats: Sums, classes: Labels, structure: None = None) -> Floats:
        """Estimate equation (2), (class, column)."""
        n, total = stats.weight, stats.total
        return self.rate(n, total, stats.rows, n.sum(axis=0), total.sum(axis=0))

    def log_likelihood(self, x: Numbers, parameters: Floats, out: Floats, length: Lengths = None) -> None:
        """Add equation (3), summed over the columns."""
        for columns, piece in x.dense():
            is_missing = np.isnan(piece)
            numbers = np.where(is_missing, 0.0, piece)
            out += self.log_measure(numbers).sum(axis=1)[:, None]
            for c, rate in enumerate(parameters[:, columns]):
                out[:, c] += np.where(is_missing, 0.0, self.scores(numbers, rate)).sum(axis=1)

    def score_columns(self, x: Numbers, parameters: Floats, out: Floats) -> None:
        """Add equation (3) of each column."""
        for columns, piece in x.dense():
            is_missing = np.isnan(piece)
            numbers = np.where(is_missing, 0.0, piece)
            out[columns] += self.log_measure(numbers).T[:, :, None]
            for c, rate in enumerate(parameters[:, columns]):
                out[columns, :, c] += np.where(is_missing, 0.0, self.scores(numbers, rate)).T

    def leave_one_out(
        self, x: Numbers, stats: Sums, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (3) without the row, which also leaves the sums of all classes."""
        values = dense_numbers(x)
        sums, numbers = SumsWithout.of(stats, values, leaving), np.nan_to_num(values)
        out += self.log_measure(numbers)[:, :, None]
        for c in range(stats.n_classes):
            rate = self.rate(*sums.of_class(stats, leaving, c), sums.pooled_weight, sums.pooled_total)
            out[:, :, c] += np.where(np.isnan(values), 0.0, self.scores(numbers, rate))

    def terms(self, row: RowView, stats: Sums, parameters: Floats, pair: Pair) -> list[Term]:
        """Return one term per column, with rows and mean of each class, and intervals by (4)."""
        x, variance = np.array(row.numbers), np.zeros(len(row.names))
        counts: list[list[Counts]] = []
        for c in pair:
            n = np.where(stats.weight[c] > 0, stats.weight[c], stats.weight.sum(axis=0))
            with np.errstate(all="ignore"):
                variance += self.term_variance(x, parameters[c], n)
            columns = zip(stats.weight[c].tolist(), stats.total[c].tolist(), strict=True)
            counts.append([{"rows": n, "mean": total / n if n else 0.0} for n, total in columns])
        return terms_by_column(self, row, parameters, pair, counts, variance)

    def learnt(
        self,
        stats: Sums,
        parameters: Floats,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return rows, total and rate of a column in each class."""
        rows, total = stats.weight[:, column], stats.total[:, column]
        return Learnt(parameters={"rows": rows, "total": total, "rate": parameters[:, column]})

    def compare(self, one: Sums, two: Sums, top: int = 20) -> list[LikelihoodRatio]:
        """Test each column: two rates in each class against one."""
        parts = (one, two, one + two)
        rows = np.stack([part.rows for part in parts]).astype(np.float64)
        total = np.stack([part.total for part in parts])
        usable = (rows[:2] > 0).all(axis=0) & (total[2] > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(total > 0, self.log_ratio_factor(rows, total) * np.log(total / rows), 0.0)
        ratio = np.where(usable, 2.0 * (terms[2] - terms[:2].sum(axis=0)), 0.0)
        return compare_likelihoods(ratio, usable.sum(axis=0), rows[2])


def ratio_of(events: Floats, exposure: Floats) -> Floats:
    """Return events / exposure, finite; 0 without exposure."""
    with np.errstate(over="ignore"):  # an exposure of 1e-320
        rate = np.divide(events, exposure, out=np.zeros_like(events), where=exposure > 0)
    return np.minimum(rate, np.finfo(np.float64).max)


@dataclass(frozen=True)
class Poisson(RateFamily):
    """Counts 0, 1, 2, … with a prior worth `a` events in `b` rows.

    >>> visits, label = np.array([0, 2, 1, 9, 7]), np.array([0, 0, 0, 1, 1])
    >>> stats = Sums.count(visits, label, None, n_classes=2)
    >>> Poisson(a=1, b=1).estimate(stats, classes=(0, 1)).ravel().round(3).tolist()  # (3+1)/(3+1), (16+1)/(2+1)
    [1.0, 5.667]
    """

    a: float = 0.5
    b: float = 1.0

    support = "count"

    def __post_init__(self) -> None:
        pseudo_count("a", self.a)
        pseudo_count("b", self.b)

    def rate(self, n: Floats, total: Floats, rows: Wholes, pooled_n: Floats, pooled_total: Floats) -> Floats:
        """Return equation (2); a class without rows takes the rate of all classes."""
        n_events = np.where(rows > 0, total, pooled_total) + self.a
        return ratio_of(n_events, np.where(rows > 0, n, pooled_n) + self.b)

    def scores(self, x: Floats, rate: Floats) -> Floats:
        """Return x·log λ − λ; a rate of zero allows only x = 0."""
        from scipy.special import xlogy

        return np.asarray(xlogy(x, rate) - rate)

    def log_measure(self, x: Floats) -> Floats:
        """Return −log x!."""
        from scipy.special import gammaln

        return np.asarray(-gammaln(x + 1.0))

    def term_variance(self, x: Floats, rate: Floats, n: Floats) -> Floats:
        """Return equation (4)."""
        return np.asarray(np.square(x / rate - 1) * rate / (n + self.b))

    def log_ratio_factor(self, rows: Floats, total: Floats) -> Floats:
        """Return −total."""
        return -total

    def alternatives(self, row: RowView, parameters: Floats, rival: int) -> Iterator[Alternative]:
        """Yield the row with the mean of the rival class in each column."""
        return number_alternatives(row, lambda j, x: [float(round(float(parameters[rival, j])))])

    def grid(self, stats: Sums, parameters: Floats, column: int, kind: Kind = "number") -> Grid:
        """Return counts up to four standard deviations above the largest mean."""
        rate = parameters[:, column]
        largest = float(rate[np.isfinite(rate)].max(initial=1.0))
        end = np.ceil(largest + 4 * np.sqrt(largest)) + 1
        return Grid(np.unique(np.round(np.linspace(0.0, end, min(int(end) + 1, N_GRID_POINTS)))))

    def column_scores(self, parameters: Floats, names: Sequence[str], n_classes: int) -> list[LinearScores]:
        """Return equation (3) without log x!, the same in all classes; a rate of zero allows only 0."""
        slope = np.log(np.where(parameters > 0, parameters, 1.0))
        columns = zip(-parameters.T, slope.T, (parameters == 0).T, strict=True)
        return [LinearScores(*column, integers_only=True) for column in columns]

    def sample(self, parameters: Floats, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        return list(generator.poisson(parameters[label]).T)
