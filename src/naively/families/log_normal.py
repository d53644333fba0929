"""Log-normal likelihood: positive numbers whose logarithm is Gaussian.

    log x | c ~ Normal(μ_c, σ²_c)                                           (1)
    log p(x | c) = log Normal(log x; μ_c, σ²_c) − log x                     (2)

μ_c and σ²_c are estimated from the `Moments` of log x, as in `gaussian.py`.
Source: Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions, vol. 1, 2nd ed. (1994), chapter 14.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from naively._kernels.types import Array, Floats, Index
from naively.data.kinds import Kind
from naively.families.base import N_GRID_POINTS, Labels, Leaving, Lengths
from naively.families.evidence import Alternative, Grid, RowView, number_alternatives, short_number
from naively.families.gaussian import Gaussian, GaussianParameters, usual_range
from naively.families.leave_one_out.columns import dense_numbers
from naively.statistics import Moments, Numbers

MAX_EXPONENT = 700.0  # exp of more overflows


@dataclass(frozen=True)
class LogNormal(Gaussian):
    """Positive numbers that spread by ratios: incomes, sizes, waiting times.

    >>> x, label = np.exp([0.0, 2.0, 5.0, 7.0]), np.array([0, 0, 1, 1])
    >>> stats = Moments.count(LogNormal().transform(Numbers.of(x)), label, None, n_classes=2)
    >>> LogNormal().estimate(stats, classes=(0, 1)).mean.ravel().round(12).tolist()
    [1.0, 6.0]
    """

    support = "positive"

    def transform(self, x: Numbers) -> Numbers:
        """Return the logarithms, which are counted."""
        return Numbers(tuple(np.log(piece, dtype=np.float64) for _, piece in x.dense()))

    def log_likelihood(self, x: Numbers, parameters: GaussianParameters, out: Floats, length: Lengths = None) -> None:
        """Add equation (2), summed over the columns."""
        logs = self.transform(x)
        super().log_likelihood(logs, parameters, out)
        for piece in logs.pieces:
            out -= np.nansum(piece, axis=1)[:, None]

    def score_columns(self, x: Numbers, parameters: GaussianParameters, out: Floats) -> None:
        """Add equation (2) of each column."""
        logs = self.transform(x)
        super().score_columns(logs, parameters, out)
        for columns, piece in logs.placed():
            out[columns] -= np.nan_to_num(piece.T)[:, :, None]

    def leave_one_out(
        self, x: Numbers, stats: Moments, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add the Gaussian score of log x, less log x."""
        super().leave_one_out(x, stats, classes, structure, leaving, out)
        out -= np.nan_to_num(dense_numbers(self.transform(x)))[:, :, None]

    def alternatives(self, row: RowView, parameters: GaussianParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row with the median of the rival class in each column."""
        return number_alternatives(
            row,
            lambda j, x: [
                short_number(float(np.exp(min(float(parameters.mean[rival, j]), MAX_EXPONENT))), row.kind(j))
            ],
        )

    def grid(self, stats: Moments, parameters: GaussianParameters, column: int, kind: Kind = "number") -> Grid:
        """Return numbers up to 2.5 standard deviations, of the logarithm, from the median of any class."""
        low, high = np.clip(usual_range(parameters, column, 2.5), -MAX_EXPONENT, MAX_EXPONENT)
        return Grid(np.exp(np.linspace(low, high, N_GRID_POINTS)))

    def quantiles(self, stats: Moments, parameters: GaussianParameters, column: int, levels: Floats) -> Floats:
        """Return the quantiles of (1)."""
        return np.exp(np.clip(super().quantiles(stats, parameters, column, levels), -MAX_EXPONENT, MAX_EXPONENT))

    def sample(self, parameters: GaussianParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        return [np.exp(column) for column in super().sample(parameters, label, generator)]
