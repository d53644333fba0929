"""Gaussian likelihood: a mean and a variance per class and column.

    x | c ~ Normal(μ_c, σ²_c)                                               (1)
    μ_c = Σ w x / n_c                                                       (2)
    σ²_c = Σ w (x − μ_c)² / (n_c − ddof)                                    (3)
    log p(x | c) = −½ log(2πσ²_c) − (x − μ_c)² / 2σ²_c                      (4)

Maximum likelihood is ddof = 0. Where (3) is no use: a class without spread in a column (one row, or all rows
equal) takes the variance pooled within the classes, or else of the whole column; no variance is below `floor` times
the variance of the column; a class without rows there takes the mean and variance of the whole column.
A column that is constant everywhere says nothing: it has the same variance, 1, in each class.
Source: documents 004, (5.32)–(5.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import kernels
from naively.errors import InputError
from naively.families.base import Family
from naively.priors import pseudo_count
from naively.statistics import Moments, Numbers

__all__ = ["Gaussian", "GaussianParameters"]


@dataclass(frozen=True, slots=True, eq=False)
class GaussianParameters:
    """Mean and variance, (class, column)."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


@dataclass(frozen=True)
class Gaussian(Family):
    """Real numbers, bell-shaped in each class.

    `floor` is relative to the column's variance, so one wide column cannot spoil another. As scikit-learn does, `added`
    adds that share of the widest column's variance to every variance, and `borrow=False` lends no spread.

    >>> height, label = np.array([1.0, 2.0, 3.0, 10.0, 14.0]), np.array([0, 0, 0, 1, 1])
    >>> fitted = Gaussian().estimate(Moments.count(height, label, None, n_classes=2), classes=(0, 1))
    >>> fitted.mean.ravel().tolist(), fitted.variance.ravel().round(3).tolist()
    ([2.0, 12.0], [0.667, 4.0])
    """

    ddof: float = 0.0
    floor: float = 1e-9
    added: float = 0.0
    borrow: bool = True

    statistic = Moments

    def __post_init__(self) -> None:
        pseudo_count("ddof", self.ddof)
        pseudo_count("floor", self.floor)
        pseudo_count("added", self.added)

    def estimate(self, stats: Moments, classes: Sequence[Any]) -> GaussianParameters:
        """Equations (2) and (3)."""
        mean, squares = stats.describe()
        whole = stats.pooled()
        whole_mean, whole_squares = whole.describe()
        n = stats.weight
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = squares / (n - self.ddof)
            total = np.where(whole.weight > 0, whole_squares / whole.weight, 0.0)
            within = np.where(whole.weight > 0, squares.sum(axis=0) / n.sum(axis=0), 0.0)
        fallback = np.where(within > 0, within, total) if self.borrow else np.zeros_like(total)
        unknown = (n <= self.ddof) | ~(squares > 0)
        variance = np.where(unknown, fallback, variance)
        added = self.added * total.max(initial=0.0)
        variance = np.maximum(variance, self.floor * total) + added
        variance = np.where(stats.rows > 0, variance, total + added)
        constant = ~(variance >= np.finfo(np.float64).tiny)
        return GaussianParameters(
            mean=np.where(stats.rows > 0, mean, whole_mean), variance=np.where(constant, 1.0, variance)
        )

    def log_likelihood(
        self, x: Numbers, parameters: GaussianParameters, out: NDArray[np.float64], n_jobs: int = 1
    ) -> None:
        """Equation (4), summed over the columns of the block."""
        for place, piece in x.dense():
            array = piece if piece.dtype in (np.float64, np.float32) else piece.astype(np.float64)
            mean = np.ascontiguousarray(parameters.mean[:, place])
            variance = np.ascontiguousarray(parameters.variance[:, place])
            infinite = kernels.score_gaussian(array, mean, variance, out, n_jobs)
            if infinite >= 0:
                raise InfiniteValueError(place.start + infinite)

    def sample(
        self, parameters: GaussianParameters, label: NDArray[np.intp], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw from (1)."""
        mean, deviation = parameters.mean[label], np.sqrt(parameters.variance[label])
        return list(generator.normal(mean, deviation).T)


class InfiniteValueError(InputError):
    """A row to be scored holds an infinity; `column` is its position in the block."""

    def __init__(self, column: int) -> None:
        """Say where."""
        super().__init__("infinite value")
        self.column = column
