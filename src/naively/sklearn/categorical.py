"""`CategoricalNB`: scikit-learn's class for columns of codes 0, 1, 2, …"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_non_negative, validate_data

from naively.data.table import MatrixTable
from naively.families import Categorical, Family
from naively.model.model import Model
from naively.sklearn.drop_in import DiscreteNB
from naively.statistics import ValueCounts

__all__ = ["CategoricalNB"]


class CategoricalNB(DiscreteNB):
    """Drop-in for `sklearn.naive_bayes.CategoricalNB`; see `naively.Categorical`.

    A code that was not seen in training is zero evidence (scikit-learn raises an IndexError).

    >>> CategoricalNB().fit([[0, 1], [1, 0]], [0, 1]).n_categories_.tolist()
    [2, 2]
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        """Keep the parameters as they are."""
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _family(self) -> Family:
        return replace(Categorical(self._smoothing()), sizes=tuple(self.n_categories_.tolist()))

    def _counting_family(self) -> Family:
        return Categorical()

    def _checked(self, X: Any, reset: bool) -> Any:
        if self._is_plain(X, reset) and X.dtype == np.int64:
            return X
        return validate_data(self, X, dtype="int", accept_sparse=False, ensure_all_finite=True, reset=reset)

    def _count(self, X: Any, codes: NDArray[np.int32], classes: NDArray[Any], sample_weight: Any) -> Model:
        """Count, and refuse negative codes as scikit-learn does, without a pass of their own."""
        model = super()._count(X, codes, classes, sample_weight)
        statistic = model.statistics[0]
        assert isinstance(statistic, ValueCounts)
        if any(int(value) < 0 for values in statistic.values for value in values):
            check_non_negative(X, "CategoricalNB (input X)")
        return model

    def _read(self, X: Any) -> MatrixTable:
        table = super()._read(X)
        check_non_negative(table.matrix, "CategoricalNB (input X)")
        return table

    def _values(self) -> ValueCounts:
        statistic = self._statistic
        assert isinstance(statistic, ValueCounts)
        return statistic

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """Number of categories of each column: one more than the largest code, and at least min_categories."""
        seen = np.array([max((int(v) for v in values), default=-1) + 1 for values in self._values().values])
        if self.min_categories is None:
            return seen
        least = np.array(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), seen.shape):
            raise ValueError(
                f"'min_categories' should have shape ({len(seen)},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.asarray(np.maximum(seen, least))

    @property
    def category_count_(self) -> list[NDArray[np.float64]]:
        """For each column the weighted count of each category, (class, category)."""
        statistic, found = self._values(), []
        table = statistic.dense()
        for values, start, size in zip(statistic.values, statistic.offsets, self.n_categories_, strict=False):
            counts = np.zeros((len(self.classes_), int(size)))
            counts[:, [int(v) for v in values]] = table[:, start : start + len(values)]
            found.append(counts)
        return found

    @property
    def feature_log_prob_(self) -> list[NDArray[np.float64]]:
        """For each column log θ, (class, category)."""
        fitted = self.model_.parameters[0]
        return [
            table[np.argsort(values)].T for values, table in zip(fitted.values, fitted.log_probability, strict=True)
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags
