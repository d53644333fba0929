"""`GaussianNB`: scikit-learn's class for real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from naively.data.read import TableLike
from naively.errors import InputError
from naively.families import Family, Gaussian
from naively.model.model import Model
from naively.priors import ClassPrior
from naively.sklearn.base import DropIn
from naively.statistics import Moments

COUNTING_FAMILY = Gaussian()  # made once, which matters for one row


class GaussianNB(DropIn[Moments]):
    """Drop-in for `sklearn.naive_bayes.GaussianNB`; see `naively.Gaussian`.

    `epsilon_` is `var_smoothing` times the largest variance of a column over all counted rows.

    >>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).theta_.ravel().tolist()
    [1.5, 8.5]
    """

    _strict = True

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        """Store the parameters unchanged."""
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _family(self) -> Family:
        return Gaussian(floor=0.0, var_smoothing=float(self.var_smoothing), pool_zero_variance=False)

    def _counting_family(self) -> Family:
        return COUNTING_FAMILY

    def _class_prior(self) -> ClassPrior:
        if self.priors is None:
            return ClassPrior()
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != len(self.classes_):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return ClassPrior.of(priors / priors.sum(), self.classes_.tolist())

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self._needs_no_check(X, reset) and X.dtype.kind == "f":
            return X
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)

    def _count(
        self, X: TableLike, codes: NDArray[np.int32], classes: NDArray[Any], sample_weight: ArrayLike | None
    ) -> Model:
        """Count, and refuse missing and infinite values as scikit-learn does, in the same pass."""
        try:
            model = super()._count(X, codes, classes, sample_weight)
        except InputError as error:
            if "infinity" in str(error):
                raise ValueError(f"Input X contains infinity or a value too large for {X.dtype!r}.") from error
            raise
        if (self._statistic(model).rows != model.class_weights.rows[:, None]).any():
            _refuse_nan(self)
        self._dtype = X.dtype
        return model

    def _check_entries(self, X: TableLike) -> None:
        if np.isnan(X).any():
            _refuse_nan(self)

    @property
    def epsilon_(self) -> float:
        """The number that is added to every variance."""
        pooled = self._statistic().pooled()
        variance = pooled.squares / np.maximum(pooled.weight, 1e-300)
        return float(self.var_smoothing * variance.max(initial=0.0))

    @property
    def theta_(self) -> NDArray[Any]:
        """The mean of each column, (class, column)."""
        return np.asarray(self.model_.parameters[0].mean, dtype=self._dtype)

    @property
    def var_(self) -> NDArray[Any]:
        """The variance of each column with `epsilon_`, (class, column)."""
        return np.asarray(self.model_.parameters[0].variance, dtype=self._dtype)

    @property
    def class_prior_(self) -> NDArray[Any]:
        """The prior probability of each class."""
        return np.asarray(np.exp(self.model_.log_prior), dtype=self._dtype)


def _refuse_nan(estimator: GaussianNB) -> None:
    raise ValueError(
        f"Input X contains NaN.\n{type(estimator).__name__} does not accept missing values encoded as NaN natively; "
        "naively.NaiveBayes does: they add no evidence."
    )
