"""`NaiveBayes`: the model as a scikit-learn classifier that takes any frame, mixed columns and gaps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from naively.data.names import Numbered, require_columns
from naively.data.read import read
from naively.data.table import Table
from naively.errors import InputError
from naively.families import Multinomial
from naively.fitting import fit
from naively.model.merge import with_classes
from naively.sklearn.base import Estimator, classes_and_codes

__all__ = ["NaiveBayes"]


class NaiveBayes(Estimator):
    """Naive Bayes over columns of any kind; a missing value is left out of the sum.

    Parameters are those of `naively.fit`: `columns` is one family for all columns or a mapping from names to families,
    `prior` the class prior, `tune` whether `fit` chooses smoothing, families and calibration by leave-one-out (False
    is the textbook; `partial_fit` never tunes), `n_jobs` the number of threads (None: all cores).

    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [8.0], [9.0]]), np.array(["low", "low", "high", "high"])
    >>> NaiveBayes().fit(X, y).predict([[1.5], [np.nan]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self, columns: Any = None, *, prior: Any = "empirical", tune: bool = True, n_jobs: int | None = None
    ) -> None:
        """Keep the parameters as they are; they are read by `fit`."""
        self.columns = columns
        self.prior = prior
        self.tune = tune
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows and their labels, from the start, and tune."""
        return self._count(X, y, sample_weight, self.tune)

    def _count(self, X: Any, y: Any, sample_weight: Any, tune: bool) -> Self:
        labels = self._labels(y)
        table = self._table(X, reset=True)
        columns = self._columns(table)
        model = fit(table, labels, columns=columns, weight=sample_weight, tune=tune, n_jobs=self.n_jobs)
        self.classes_ = classes_and_codes(labels)[0]
        self.model_ = with_classes(model, self.classes_.tolist()).with_prior(self.prior)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; new classes, categories and tokens are welcome at any time."""
        labels = self._labels(y)
        if not hasattr(self, "model_"):
            self._count(X, labels, sample_weight, tune=False)
        else:
            table = self._table(X, reset=False)
            self.model_ = self.model_.update(table, labels, sample_weight)
        return self._know(labels, classes)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back that were counted before; classes stay known."""
        check_is_fitted(self, "model_")
        labels = self._labels(y)
        model = self.model_.forget(self._table(X, reset=False), labels, sample_weight)
        self.model_ = with_classes(model, self.classes_.tolist())
        return self

    def _know(self, labels: NDArray[Any], classes: Any) -> Self:
        """Add the classes of new labels, and those announced."""
        if classes is None and len(self.model_.classes) == len(self.classes_):
            return self
        known = [self.classes_, labels] if classes is None else [self.classes_, labels, np.asarray(classes)]
        self.classes_ = np.unique(np.concatenate(known))
        self.model_ = with_classes(self.model_, self.classes_.tolist())
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Two classes: the log-odds of the second. More: the log posterior of each."""
        check_is_fitted(self, "model_")
        table = self._read(X)
        if len(self.classes_) == 2:
            return self.model_.log_odds(table)
        return self.model_.log_posterior(table)

    def sample(self, n: int = 1, label: Any = None, seed: int | None = None) -> Any:
        """Plausible rows as an Arrow table, with their class in the last column."""
        check_is_fitted(self, "model_")
        return self.model_.sample(n, label, seed)

    def _table(self, X: Any, reset: bool) -> Table:
        """Read any table; remember its columns, or compare them with those remembered."""
        table = read(X)
        if len(getattr(X, "shape", ())) != 2:  # a list of texts, a mapping, …: the schema compares the columns
            self.n_features_in_ = len(table.names)
            if not reset:
                require_columns(self.model_.schema.names, table.names)
        elif reset or "feature_names_in_" in self.__dict__ or table.names != Numbered(self.n_features_in_):
            validate_data(self, X, reset=reset, skip_check_array=True)
        if not table.n_rows:
            raise InputError(
                f"Found array with 0 sample(s) (shape=(0, {len(table.names)})) while a minimum of 1 is required."
            )
        if not len(table.names):
            raise InputError(
                f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
            )
        return table

    def _read(self, X: Any) -> Table:
        return self._table(X, reset=False)

    def _columns(self, table: Table) -> Any:
        """A sparse matrix may hold tf-idf, so its counts need not be whole."""
        if self.columns is None and table.is_sparse:
            return Multinomial(fractional=True)
        return self.columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
