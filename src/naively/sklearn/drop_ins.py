"""Drop-ins for the five classes of `sklearn.naive_bayes`, each with one family for all columns."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from naively._kernels.cells import Cells
from naively._kernels.types import Array, Codes32, Floats, Wholes
from naively.data.names import Names
from naively.data.read import TableLike
from naively.data.table import MatrixTable
from naively.data.views import is_sparse, without_duplicates
from naively.errors import InputError, warn_user
from naively.families import Bernoulli, Categorical, Complement, Family, Gaussian, Multinomial
from naively.model.model import Model
from naively.priors import EMPIRICAL, UNIFORM, ClassPrior
from naively.sklearn.base import DropIn, S
from naively.statistics import Moments, TokenCounts, ValueCounts

MIN_ALPHA = 1e-10

Constraints = dict[str, list[Any]]  # the values that scikit-learn allows for each parameter
NON_NEGATIVE = Interval(Real, 0, None, closed="left")


class GaussianNB(DropIn[Moments]):
    """Drop-in for `sklearn.naive_bayes.GaussianNB`; see `naively.Gaussian`.

    `epsilon_` is `var_smoothing` times the largest variance of a column over all counted rows.

    >>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).theta_.ravel().tolist()
    [1.5, 8.5]
    """

    _counting_family = Gaussian()
    _strict = True
    _dtype: np.dtype[Any]  # of the first rows and all fitted attributes: float64 or float32
    _parameter_constraints: ClassVar[Constraints] = {"priors": ["array-like", None], "var_smoothing": [NON_NEGATIVE]}

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        """Store the parameters unchanged."""
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _family(self) -> Family:
        share = float(self.var_smoothing)
        return Gaussian(floor=0.0, var_smoothing=share, pool_zero_variance=share == 0)

    def _class_prior(self) -> ClassPrior:
        if self.priors is None:
            return EMPIRICAL
        priors = self._prior_array(self.priors)
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return ClassPrior.of(priors / priors.sum(), self.classes_.tolist())

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self._needs_no_check(X, reset) and X.dtype.kind == "f":
            return X
        checked = validate_data(self, X, reset=reset, ensure_all_finite=False)
        if checked.dtype not in (np.float64, np.float32):
            checked = checked.astype(np.float64)
        if reset:
            self._dtype = checked.dtype
        return checked

    def _count(self, X: TableLike, codes: Codes32, classes: Array, sample_weight: ArrayLike | None) -> Model:
        """Count, and refuse missing and infinite values as scikit-learn does, in the same pass."""
        try:
            model = super()._count(X, codes, classes, sample_weight)
        except InputError as error:
            if "infinity" in str(error):
                raise ValueError(f"Input X contains infinity or a value too large for {X.dtype!r}.") from error
            raise
        if (self._statistic(model).rows != model.class_weights.rows[:, None]).any():
            self._refuse_nan()
        return model

    def _rounded(self, result: Array, table: MatrixTable) -> Array:
        """Return scores in float32 if the training rows and these rows are."""
        is_single = self._dtype == np.float32 and table.matrix.dtype == np.float32 and result.dtype.kind == "f"
        return result.astype(np.float32) if is_single else result

    def _check_entries(self, X: TableLike) -> None:
        if np.isnan(X).any():
            self._refuse_nan()

    def _refuse_nan(self) -> None:
        raise ValueError(
            f"Input X contains NaN.\n{type(self).__name__} does not accept missing values encoded as NaN natively; "
            "naively.NaiveBayes does: they add no evidence."
        )

    @property
    def class_count_(self) -> Array:
        """The weight of the counted rows of each class."""
        return super().class_count_.astype(self._dtype)

    @property
    def epsilon_(self) -> np.floating[Any]:
        """The number that is added to every variance."""
        pooled = self._statistic().pooled()
        variance = pooled.squares / np.maximum(pooled.weight, 1e-300)
        epsilon: np.floating[Any] = self._dtype.type(self.var_smoothing * variance.max(initial=0.0))
        return epsilon

    @property
    def theta_(self) -> Array:
        """The mean of each column, (class, column)."""
        return np.asarray(self.model_.parameters[0].mean, dtype=self._dtype)

    @property
    def var_(self) -> Array:
        """The variance of each column with `epsilon_`, (class, column)."""
        return np.asarray(self.model_.parameters[0].variance, dtype=self._dtype)

    @property
    def class_prior_(self) -> Array:
        """The prior probability of each class."""
        return np.asarray(np.exp(self.model_.log_prior), dtype=self._dtype)


class DiscreteNB(DropIn[S]):
    """The four classes of counts: alpha, its lower bound, and the class prior."""

    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True}
    _parameter_constraints: ClassVar[Constraints] = {
        "alpha": [NON_NEGATIVE, "array-like"],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        """Store the parameters unchanged."""
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def class_log_prior_(self) -> Floats:
        """The logarithm of the prior probability of each class."""
        check_is_fitted(self, "model_")
        return self.model_.log_prior

    def _class_prior(self) -> ClassPrior:
        if self.class_prior is None:
            return EMPIRICAL if self.fit_prior else UNIFORM
        prior = self._prior_array(self.class_prior)
        if not ((prior >= 0).all() and 0 < prior.sum() < np.inf):
            raise ValueError(f"class_prior={self.class_prior!r}: probabilities are zero or more, and not all zero.")
        return ClassPrior.of(prior / prior.sum(), self.classes_.tolist())

    def _smoothing(self) -> float | tuple[float, ...]:
        """Return alpha, checked, and raised to a smallest value unless `force_alpha` is set."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if not isinstance(self.alpha, Real) and alpha.shape[0] != self.n_features_in_:
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
            )
        if np.min(alpha) < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        if np.min(alpha) < MIN_ALPHA and not self.force_alpha:
            warn_user(
                f"alpha too small will result in numeric errors, setting alpha = {MIN_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged."
            )
            alpha = np.maximum(alpha, MIN_ALPHA)
        return float(alpha) if np.ndim(alpha) == 0 else tuple(alpha.tolist())

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self._needs_no_check(X, reset):
            return X
        return validate_data(self, X, accept_sparse="csr", ensure_all_finite=not self._strict, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class CategoricalNB(DiscreteNB[ValueCounts]):
    """Drop-in for `sklearn.naive_bayes.CategoricalNB`; see `naively.Categorical`.

    A code that is not in the training data adds no evidence (scikit-learn raises an IndexError).

    >>> CategoricalNB().fit([[0, 1], [1, 0]], [0, 1]).n_categories_.tolist()
    [2, 2]
    """

    _counting_family = Categorical()
    _input_tags: ClassVar[dict[str, bool]] = {"categorical": True, "positive_only": True}
    _parameter_constraints: ClassVar[Constraints] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [NON_NEGATIVE],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: ArrayLike | None = None,
    ) -> None:
        """Store the parameters unchanged."""
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.min_categories = min_categories

    def _family(self) -> Family:
        return replace(Categorical(self._smoothing()), sizes=tuple(self.n_categories_.tolist()))

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self._needs_no_check(X, reset) and X.dtype == np.int64:
            return X
        return validate_data(self, X, dtype="int", accept_sparse=False, ensure_all_finite=True, reset=reset)

    def _count(self, X: TableLike, codes: Codes32, classes: Array, sample_weight: ArrayLike | None) -> Model:
        """Count, and refuse negative codes as scikit-learn does, in the same pass."""
        model = super()._count(X, codes, classes, sample_weight)
        if sample_weight is not None:  # rows of weight zero are not counted, but their codes are categories
            largest = tuple((code,) for code in X.max(axis=0).tolist())
            statistic, _ = self._statistic(model).aligned(ValueCounts(largest, Cells.empty(len(classes), 1)))
            model = replace(model, statistics=(statistic,))
        if sample_weight is not None or any(int(values[0]) < 0 for values in self._statistic(model).values):
            check_non_negative(X, "CategoricalNB (input X)")
        return model

    def _read(self, X: TableLike) -> MatrixTable:
        table = super()._read(X)
        check_non_negative(table.matrix, "CategoricalNB (input X)")
        return table

    @property
    def n_categories_(self) -> Wholes:
        """The number of categories of each column: one more than the largest code, and at least `min_categories`."""
        sizes = np.array([max((int(v) for v in values), default=-1) + 1 for values in self._statistic().values])
        if self.min_categories is None:
            return sizes
        least = np.array(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), (1,), sizes.shape):
            raise ValueError(
                f"'min_categories' should have shape ({len(sizes)},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.asarray(np.maximum(sizes, least))

    @property
    def category_count_(self) -> list[Floats]:
        """The weighted count of each category, (class, category), for each column."""
        statistic, per_column = self._statistic(), []
        table = statistic.dense()
        for values, start, size in zip(statistic.values, statistic.offsets, self.n_categories_, strict=False):
            counts = np.zeros((len(self.classes_), int(size)))
            counts[:, [int(v) for v in values]] = table[:, start : start + len(values)]
            per_column.append(counts)
        return per_column

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """The logarithm of the probability of each category, (class, category), for each column."""
        parameters = self.model_.parameters[0]
        columns = zip(parameters.values, parameters.log_probability, strict=True)
        return [table[np.argsort(values)].T for values, table in columns]


class _TokenNB(DiscreteNB[TokenCounts]):
    """Classes whose statistic is token counts."""

    @property
    def feature_count_(self) -> Floats:
        """The weighted occurrences of each feature, (class, feature)."""
        return self._statistic().occurrences()

    @property
    def feature_log_prob_(self) -> Floats:
        """The logarithm of the weight of each feature, (class, feature)."""
        return np.ascontiguousarray(self.model_.parameters[0].form.log_weights().T)


class _CountsNB(_TokenNB):
    """Classes of counts that must not be negative."""

    _strict = True
    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True, "positive_only": True}

    def _check_entries(self, X: TableLike) -> None:
        checked = validate_data(self, X, accept_sparse="csr", reset=False)
        check_non_negative(checked, f"{type(self).__name__} (input X)")


class MultinomialNB(_CountsNB):
    """Drop-in for `sklearn.naive_bayes.MultinomialNB`; see `naively.Multinomial`.

    >>> MultinomialNB().fit([[2, 1, 0], [0, 1, 1]], [0, 1]).predict([[1, 0, 0]]).tolist()
    [0]
    """

    _counting_family = Multinomial(fractional=True)

    def _family(self) -> Family:
        return Multinomial(self._smoothing(), unseen="smooth", fractional=True)


class ComplementNB(_CountsNB):
    """Drop-in for `sklearn.naive_bayes.ComplementNB`; see `naively.Complement`."""

    _counting_family = Complement(fractional=True)
    _parameter_constraints: ClassVar[Constraints] = {**DiscreteNB._parameter_constraints, "norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        norm: bool = False,
    ) -> None:
        """Store the parameters unchanged."""
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _family(self) -> Family:
        return Complement(self._smoothing(), norm=self.norm, unseen="smooth", fractional=True)

    def _class_prior(self) -> ClassPrior:
        """Return a uniform prior: as in scikit-learn, `class_log_prior_` is not part of the score."""
        super()._class_prior()
        return UNIFORM

    @property
    def class_log_prior_(self) -> Floats:
        """The logarithm of the prior probability of each class."""
        return super()._class_prior().log_probability(self.model_.classes, self.model_.class_counts)

    def predict_joint_log_proba(self, X: TableLike) -> Floats:
        """Return the evidence for each class, (row, class)."""
        return super().predict_joint_log_proba(X) - self.model_.log_prior

    @property
    def feature_all_(self) -> Floats:
        """The weighted occurrences of each feature over all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))


class BernoulliNB(_TokenNB):
    """Drop-in for `sklearn.naive_bayes.BernoulliNB`; see `naively.Bernoulli`."""

    _counting_family = Bernoulli()
    _parameter_constraints: ClassVar[Constraints] = {
        **DiscreteNB._parameter_constraints,
        "binarize": [None, NON_NEGATIVE],
    }

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        """Store the parameters unchanged."""
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.binarize = binarize

    @property
    def _suits(self) -> bool:  # type: ignore[override]
        """Whether the entries are binarized, so that they are 0 and 1."""
        return self.binarize is not None

    def _family(self) -> Family:
        alpha = self._smoothing()
        return Bernoulli(alpha, alpha)

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self.binarize is None or self._needs_no_check(X, reset):
            checked = super()._checked(X, reset)
            return checked if self.binarize is None else checked > self.binarize
        checked = validate_data(self, X, accept_sparse="csr", ensure_all_finite=False, reset=reset)
        if is_sparse(checked) and self.binarize < 0:
            raise ValueError("Cannot binarize a sparse matrix with threshold < 0")
        if is_sparse(checked):
            return without_duplicates(checked)  # counting and scoring binarize it, and refuse missing values
        if not np.isfinite(checked).all():
            validate_data(self, X, accept_sparse="csr", reset=False)
        return checked > self.binarize

    def _table(self, X: TableLike, names: Names) -> MatrixTable:
        if self.binarize is None or not is_sparse(X):
            return super()._table(X, names)
        return MatrixTable(X, names, checked=True, strict=True, binarize_above=float(self.binarize))

    def _check_entries(self, X: TableLike) -> None:
        if is_sparse(X):  # dense entries are checked before
            validate_data(self, X, accept_sparse="csr", reset=False)

    @property
    def feature_log_prob_(self) -> Floats:
        """The logarithm of the probability of each feature, (class, feature)."""
        columns = np.arange(self.n_features_in_)
        return np.ascontiguousarray(self.model_.parameters[0].form.log_presence(columns, is_present=True).T)
