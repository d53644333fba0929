"""`MultinomialNB`, `ComplementNB` and `BernoulliNB`: scikit-learn's classes for counts of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_non_negative, validate_data

from naively.data.names import Names
from naively.data.read import TableLike
from naively.data.table import MatrixTable
from naively.data.views import is_sparse
from naively.families import Bernoulli, Complement, Family, Multinomial
from naively.priors import ClassPrior
from naively.sklearn.base import DiscreteNB, Floats
from naively.statistics import TokenCounts


class _TokenNB(DiscreteNB[TokenCounts]):
    """Classes whose statistic is token counts."""

    @property
    def feature_count_(self) -> Floats:
        """The weighted occurrences of each feature, (class, feature)."""
        return self._statistic().occurrences()

    @property
    def feature_log_prob_(self) -> Floats:
        """The logarithm of the weight of each feature, (class, feature)."""
        parameters = self.model_.parameters[0]
        return np.ascontiguousarray(parameters.form.weights(parameters.n_tokens).T)


class _CountsNB(_TokenNB):
    """Classes of counts that must not be negative."""

    _strict = True

    def _check_entries(self, X: TableLike) -> None:
        checked = validate_data(self, X, accept_sparse="csr", reset=False)
        check_non_negative(checked, f"{type(self).__name__} (input X)")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class MultinomialNB(_CountsNB):
    """Drop-in for `sklearn.naive_bayes.MultinomialNB`; see `naively.Multinomial`.

    >>> MultinomialNB().fit([[2, 1, 0], [0, 1, 1]], [0, 1]).predict([[1, 0, 0]]).tolist()
    [0]
    """

    def _family(self) -> Family:
        return Multinomial(self._smoothing(), unseen="smooth", fractional=True)

    def _counting_family(self) -> Family:
        return Multinomial(fractional=True)


class ComplementNB(_CountsNB):
    """Drop-in for `sklearn.naive_bayes.ComplementNB`; see `naively.Complement`."""

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

    def _counting_family(self) -> Family:
        return Complement(fractional=True)

    def _class_prior(self) -> ClassPrior:
        """Return a uniform prior: as in scikit-learn, `class_log_prior_` is not part of the score."""
        super()._class_prior()
        return ClassPrior(uniform=True)

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

    def _counting_family(self) -> Family:
        return Bernoulli()

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self.binarize is None or self._needs_no_check(X, reset):
            checked = super()._checked(X, reset)
            return checked if self.binarize is None else checked > self.binarize
        checked = validate_data(self, X, accept_sparse="csr", ensure_all_finite=False, reset=reset)
        if is_sparse(checked) and self.binarize < 0:
            raise ValueError("Cannot binarize a sparse matrix with threshold < 0")
        if is_sparse(checked):
            return checked  # counting and scoring binarize it, and refuse missing values
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
        odds = super().feature_log_prob_
        return np.asarray(-np.logaddexp(0.0, -odds))
