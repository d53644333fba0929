"""Gaussian likelihood: a mean and a variance per class and column.

    x | c ~ Normal(μ_c, σ²_c)                                               (1)
    μ_c = Σ w x / n_c                                                       (2)
    σ²_c = Σ w (x − μ_c)² / (n_c − ddof)                                    (3)
    log p(x | c) = −½ log(2πσ²_c) − (x − μ_c)² / 2σ²_c                      (4)

Maximum likelihood is ddof = 0. Exceptions to (2) and (3):

- A class without spread in a column (one row, or equal rows) takes the variance pooled within the classes, or else that
  of the column.
- With `pooled_rows` = ν, σ²_c = (Σ w (x − μ_c)² + ν σ²_within) / (n_c − ddof + ν), as if ν more rows had the variance
  pooled within the classes. Few rows of a class cannot have a tiny variance by chance then.
- No variance is below `floor` times the variance of the column.
- A class without rows in a column takes the mean and the variance of the column.
- A column that is constant in all classes is no evidence for any x: it is scored as if x were the constant, with the
  same variance, 1, in each class. (Otherwise the square of x, the same in all classes, would hide the other columns.)

Source: Bishop, Pattern Recognition and Machine Learning (2006), §2.3.4 and §4.2; document 004, (5.32)–(5.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from naively._kernels.leave_one_out import GaussianSettings, MomentArrays, leave_gaussian_out
from naively._kernels.moments import score_gaussian, score_gaussian_columns
from naively._kernels.types import Array, Bools, Floats, Index
from naively.data.kinds import Kind
from naively.data.views import RefusedEntryError, place_columns
from naively.errors import InputError
from naively.families import evidence
from naively.families.base import (
    N_GRID_POINTS,
    Estimate,
    Family,
    Labels,
    Leaving,
    Lengths,
    NotCountedError,
    terms_by_column,
)
from naively.families.compare import compare_likelihoods
from naively.families.evidence import Alternative, Counts, Grid, LikelihoodRatio, Pair, RowView, Term
from naively.families.learnt import Learnt
from naively.families.leave_one_out.columns import MomentsWithout, dense_numbers, sum_of_others
from naively.families.scores import GaussianScores
from naively.priors import pseudo_count
from naively.statistics import Moments, Numbers

LOG_2PI = float(np.log(2 * np.pi))
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianParameters:
    """Mean and variance, (class, column); and which columns are constant."""

    mean: Floats
    variance: Floats
    constant: Bools


@dataclass(frozen=True)
class Gaussian(Family[Moments, GaussianParameters]):
    """Real numbers, bell-shaped in each class.

    Parameters
    ----------
    ddof
        Degrees of freedom that are subtracted from the weight in (3); 0 is maximum likelihood.
    floor
        The smallest variance, as a share of the variance of the column.
    var_smoothing
        This share of the largest variance of any column is added to every variance, as scikit-learn does.
    pool_zero_variance
        Whether a class without spread in a column takes the variance pooled within the classes.
    pooled_rows
        Number of rows of the variance pooled within the classes that are added to each class; 0 is the textbook.

    >>> height, label = np.array([1.0, 2.0, 3.0, 10.0, 14.0]), np.array([0, 0, 0, 1, 1])
    >>> fitted = Gaussian().estimate(Moments.count(height, label, None, n_classes=2), classes=(0, 1))
    >>> fitted.mean.ravel().tolist(), fitted.variance.ravel().round(3).tolist()
    ([2.0, 12.0], [0.667, 4.0])
    """

    ddof: float = 0.0
    floor: float = 1e-9
    var_smoothing: float = 0.0
    pool_zero_variance: bool = True
    pooled_rows: float = 0.0

    statistic = Moments

    def __post_init__(self) -> None:
        for name in ("ddof", "floor", "var_smoothing", "pooled_rows"):
            pseudo_count(name, getattr(self, name))

    def estimate(self, stats: Moments, classes: Labels, structure: None = None) -> GaussianParameters:
        """Estimate equations (2) and (3)."""
        mean, squares = stats.mean_and_squares()
        pooled, n, has_rows = stats.pooled(), stats.weight, stats.rows > 0
        pooled_mean, pooled_squares = pooled.mean_and_squares()
        is_known = pooled.weight > 0
        total = np.divide(pooled_squares, pooled.weight, out=np.zeros_like(pooled_mean), where=is_known)
        within = np.divide(squares.sum(axis=0), n.sum(axis=0), out=np.zeros_like(pooled_mean), where=is_known)
        added = np.asarray(self.var_smoothing * total.max(initial=0.0) if self.var_smoothing else 0.0)
        return GaussianParameters(
            mean=np.where(has_rows, mean, pooled_mean),
            variance=self._variance(n, squares, has_rows, total, within, added),
            constant=~(total[0] + added >= TINY),
        )

    def estimate_without(self, x: Numbers, counted: Estimate, c: int, classes: Labels, structure: None) -> Estimate:
        """Estimate without one counted row of class c; its numbers side by side are counted fastest."""
        return super().estimate_without(Numbers((dense_numbers(x),)), counted, c, classes, structure)

    def columns_of(
        self, parameters: GaussianParameters, positions: Sequence[int], stats: Moments, classes: Labels
    ) -> GaussianParameters:
        """Return the parameters of some columns; `var_smoothing` reads all columns of the block."""
        of_columns = parameters.mean[:, positions], parameters.variance[:, positions]
        return GaussianParameters(*of_columns, parameters.constant[positions])

    def score_columns(self, x: Numbers, parameters: GaussianParameters, out: Floats) -> None:
        """Add equation (4) of each column."""
        for columns, numbers, mean, variance in _scored_pieces(x, parameters):
            infinite = score_gaussian_columns(numbers, mean, variance, out[columns])
            if infinite >= 0:
                raise InfiniteValueError(columns.start + infinite)

    def log_likelihood(self, x: Numbers, parameters: GaussianParameters, out: Floats, length: Lengths = None) -> None:
        """Add equation (4), summed over the columns."""
        for columns, numbers, mean, variance in _scored_pieces(x, parameters):
            infinite, missing = score_gaussian(numbers, mean, variance, out)
            if infinite >= 0:
                raise InfiniteValueError(columns.start + infinite)
            if missing and x.strict:
                raise RefusedEntryError

    def leave_one_out(
        self, x: Numbers, stats: Moments, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (4) without the row, which also leaves the pooled variance, the floor and the smoothing."""
        values = dense_numbers(self.transform(x))
        if self.var_smoothing:  # which depends on all columns of the row
            positions = np.arange(values.size)
        else:
            pooled = stats.pooled()
            settings = GaussianSettings(self.ddof, self.floor, self.pooled_rows, self.pool_zero_variance)
            of_classes = MomentArrays(stats.weight, stats.rows, *stats.mean_and_squares())
            of_all = MomentArrays(pooled.weight[0], pooled.rows[0], *(t[0] for t in pooled.mean_and_squares()))
            positions = leave_gaussian_out(np.ascontiguousarray(values), leaving, of_classes, of_all, settings, out)
        if len(positions):
            i, j = np.divmod(positions, values.shape[1])
            out[i, j] += self._scores_without(values[i, j], i, j, stats, leaving)

    def _scores_without(self, values: Floats, i: Index, j: Index, stats: Moments, leaving: Leaving) -> Floats:
        """Return equation (4) of the numbers in rows i and columns j by exact arithmetic, (number, class)."""
        left = leaving.part(i)
        try:
            own = MomentsWithout.of(stats, left.label, j, values, left)
            pooled = MomentsWithout.of(stats.pooled(), np.zeros(len(i), np.intp), j, values, left)
        except NotCountedError as error:
            raise NotCountedError(int(i[error.row]), error.class_position, error.column, error.remainder) from None
        mean, squares = stats.mean_and_squares()
        weight = np.maximum(sum_of_others(stats.weight)[left.label, j] + own.weight, 1e-300)
        within = np.where(pooled.weight > 0, (sum_of_others(squares)[left.label, j] + own.squares) / weight, 0.0)
        total = np.where(pooled.weight > 0, pooled.squares / np.maximum(pooled.weight, 1e-300), 0.0)
        added = np.zeros(len(i))
        if self.var_smoothing:
            added = self.var_smoothing * np.maximum.reduceat(total, np.flatnonzero(np.diff(i, prepend=-1)))[i]
        is_missing, constant = np.isnan(values), ~(total + added >= TINY)

        def scores(n: Floats, spread: Floats, centre: Floats, has_rows: Bools) -> Floats:
            variance = self._variance(n, spread, has_rows, total, within, added)
            z = (values - np.where(has_rows, centre, pooled.mean)) / np.sqrt(variance)
            np.clip(z, -1e150, 1e150, out=z)  # its square is finite
            score = -0.5 * (LOG_2PI + np.log(variance) + z * z)
            return np.where(is_missing, 0.0, np.where(constant, -0.5 * LOG_2PI, score))

        out = np.empty((len(i), stats.n_classes))
        for c in range(stats.n_classes):
            out[:, c] = scores(stats.weight[c, j], squares[c, j], mean[c, j], stats.rows[c, j] > 0)
        out[np.arange(len(i)), left.label] = scores(own.weight, own.squares, own.mean, own.rows > 0)
        return out

    def _variance(
        self, n: Floats, squares: Floats, has_rows: Bools, total: Floats, within: Floats, added: Floats
    ) -> Floats:
        """Return equation (3), or the variance that replaces it; 1 where there is no spread at all."""
        pooled = np.where(within > 0, within, total)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.pooled_rows:
                n_known = np.maximum(n - self.ddof, 0.0) + self.pooled_rows
                variance = (np.where(n > self.ddof, squares, 0.0) + self.pooled_rows * pooled) / n_known
            else:
                unknown, fallback = (n <= self.ddof) | ~(squares > 0), pooled if self.pool_zero_variance else 0.0
                variance = np.where(unknown, fallback, squares / (n - self.ddof))
        variance = np.maximum(variance, self.floor * total) + added
        variance = np.where(has_rows, variance, total + added)
        return np.where(variance >= TINY, variance, 1.0)

    def terms(self, row: RowView, stats: Moments, parameters: GaussianParameters, pair: Pair) -> list[Term]:
        """Return one term per column, with rows, mean and deviation of each class; intervals by the delta method.

            Var log p = z²/n + (z² − 1)²/2n,   z = (x − μ)/σ                (5)

        Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), §3.2, for the variances of μ and σ².
        """
        (values,) = self.transform(Numbers((np.array([row.numbers]),))).pieces[0]
        counts = [row.cached(c, partial(_counts_of_class, stats, parameters, c)) for c in pair]
        n, mean, variance = row.cached(pair, partial(_moments_of_classes, stats, parameters, list(pair)))
        with np.errstate(all="ignore"):
            squared = np.square(values - mean) / variance
            of_classes = np.where(parameters.constant, 0.0, squared / n + np.square(squared - 1) / (2 * n))
        return terms_by_column(self, row, parameters, pair, counts, of_classes.sum(axis=0))

    def learnt(
        self,
        stats: Moments,
        parameters: GaussianParameters,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return rows, mean and standard deviation of a column in each class; of the logarithm for `LogNormal`."""
        of = " of log" if self.support == "positive" else ""
        mean, variance = parameters.mean[:, column], parameters.variance[:, column]
        numbers = {"rows": stats.weight[:, column], f"mean{of}": mean, f"deviation{of}": np.sqrt(variance)}
        return Learnt(parameters=numbers)

    def alternatives(self, row: RowView, parameters: GaussianParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row with the mean of the rival class in each column."""
        mean = parameters.mean[rival].tolist()
        return evidence.number_alternatives(row, lambda j, x: [evidence.short_number(mean[j], row.kind(j))])

    def grid(self, stats: Moments, parameters: GaussianParameters, column: int, kind: Kind = "number") -> Grid:
        """Return numbers up to 3.2 standard deviations from the mean of any class."""
        return Grid(np.linspace(*usual_range(parameters, column, 3.2), N_GRID_POINTS))

    def quantiles(self, stats: Moments, parameters: GaussianParameters, column: int, levels: Floats) -> Floats:
        """Return the quantiles of (1)."""
        from scipy.special import ndtri

        return np.asarray(parameters.mean[:, column] + ndtri(levels)[:, None] * np.sqrt(parameters.variance[:, column]))

    def compare(self, one: Moments, two: Moments, top: int = 20) -> list[LikelihoodRatio]:
        """Test each column: two normal distributions in each class against one."""
        parts = (one, two, one + two)
        rows = np.stack([part.rows for part in parts]).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.stack([part.squares / part.weight for part in parts])
            usable = (rows[:2] > 1).all(axis=0) & (variance > 0).all(axis=0)
            ratio = rows[2] * np.log(variance[2]) - (rows[:2] * np.log(variance[:2])).sum(axis=0)
        return compare_likelihoods(np.where(usable, ratio, 0.0), 2 * usable.sum(axis=0), rows[2])

    def column_scores(
        self, parameters: GaussianParameters, names: Sequence[str], n_classes: int
    ) -> list[GaussianScores]:
        """Return equation (4) without its constant; a constant column is no evidence."""
        mean = np.where(parameters.constant, 0.0, parameters.mean).T
        deviation, of_logarithm = np.sqrt(parameters.variance).T, self.support == "positive"
        return [GaussianScores(-np.log(s), m, s, of_logarithm) for m, s in zip(mean, deviation, strict=True)]

    def sample(self, parameters: GaussianParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        mean, deviation = parameters.mean[label], np.sqrt(parameters.variance[label])
        return list(generator.normal(mean, deviation).T)


def _scored_pieces(x: Numbers, parameters: GaussianParameters) -> Iterator[tuple[slice, list[Array], Floats, Floats]]:
    """Yield columns with their place, means and variances; numbers of a constant column are as if the constant."""
    constant, mean = parameters.constant, parameters.mean
    has_constants = constant.any()
    if has_constants:
        mean = np.where(constant, 0.0, mean)
    for columns, pieces in x.dense_groups():
        numbers = [piece if piece.dtype.char in "df" else piece.astype(np.float64) for piece in pieces]
        if has_constants:
            numbers = [
                np.where(constant[place] & np.isfinite(piece), 0.0, piece)
                for place, piece in place_columns(numbers, columns.start)
            ]
        of_columns = np.ascontiguousarray(mean[:, columns]), np.ascontiguousarray(parameters.variance[:, columns])
        yield columns, numbers, *of_columns


def _counts_of_class(stats: Moments, parameters: GaussianParameters, c: int) -> list[Counts]:
    """Return rows, mean and deviation of each column in a class."""
    columns = stats.weight[c], parameters.mean[c], np.sqrt(parameters.variance[c])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [{"rows": n, "mean": mean, "deviation": deviation} for n, mean, deviation in rows]


def _moments_of_classes(
    stats: Moments, parameters: GaussianParameters, classes: Sequence[int]
) -> tuple[Floats, Floats, Floats]:
    """Return weight, mean and variance of each column, (class, column); a class without rows has the weight of all."""
    weight = stats.weight[classes]
    weight = np.where(weight > 0, weight, stats.weight.sum(axis=0))
    return weight, parameters.mean[classes], parameters.variance[classes]


def usual_range(parameters: GaussianParameters, column: int, n_deviations: float) -> tuple[float, float]:
    """Return the range of a column up to this many standard deviations from the mean of any class."""
    mean, half_width = parameters.mean[:, column], n_deviations * np.sqrt(parameters.variance[:, column])
    return float((mean - half_width).min()), float((mean + half_width).max())


class InfiniteValueError(InputError):
    """A row to be scored holds an infinity; `column` is its position in the block."""

    def __init__(self, column: int) -> None:
        """Store the position of the column."""
        super().__init__("infinite value")
        self.column = column
