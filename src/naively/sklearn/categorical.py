"""`CategoricalNB`: scikit-learn's class for columns of codes 0, 1, 2, …"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_non_negative, validate_data

from naively.data.read import TableLike
from naively.data.table import MatrixTable
from naively.families import Categorical, Family
from naively.model.model import Model
from naively.sklearn.base import DiscreteNB, Floats
from naively.statistics import ValueCounts


class CategoricalNB(DiscreteNB[ValueCounts]):
    """Drop-in for `sklearn.naive_bayes.CategoricalNB`; see `naively.Categorical`.

    A code that is not in the training data adds no evidence (scikit-learn raises an IndexError).

    >>> CategoricalNB().fit([[0, 1], [1, 0]], [0, 1]).n_categories_.tolist()
    [2, 2]
    """

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

    def _counting_family(self) -> Family:
        return Categorical()

    def _checked(self, X: TableLike, reset: bool) -> Any:
        if self._needs_no_check(X, reset) and X.dtype == np.int64:
            return X
        return validate_data(self, X, dtype="int", accept_sparse=False, ensure_all_finite=True, reset=reset)

    def _count(
        self, X: TableLike, codes: NDArray[np.int32], classes: NDArray[Any], sample_weight: ArrayLike | None
    ) -> Model:
        """Count, and refuse negative codes as scikit-learn does, in the same pass."""
        model = super()._count(X, codes, classes, sample_weight)
        if any(int(value) < 0 for values in self._statistic(model).values for value in values):
            check_non_negative(X, "CategoricalNB (input X)")
        return model

    def _read(self, X: TableLike) -> MatrixTable:
        table = super()._read(X)
        check_non_negative(table.matrix, "CategoricalNB (input X)")
        return table

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of categories of each column: one more than the largest code, and at least `min_categories`."""
        sizes = np.array([max((int(v) for v in values), default=-1) + 1 for values in self._statistic().values])
        if self.min_categories is None:
            return sizes
        least = np.array(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), sizes.shape):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags
