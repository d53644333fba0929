"""`NaiveBayes`: the model as a scikit-learn classifier for any table, with mixed columns and missing values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from naively._kernels.types import Floats
from naively.data.labelled import Label, LabelsLike
from naively.data.names import Numbered, require_columns
from naively.data.read import TableLike, read
from naively.data.table import Table
from naively.errors import InputError
from naively.families import Multinomial
from naively.fitting import fit, target_name
from naively.model.merge import with_classes
from naively.priors import PriorLike
from naively.sklearn.base import Estimator, classes_and_codes

if TYPE_CHECKING:
    import pyarrow as pa


class NaiveBayes(Estimator):
    """Naive Bayes over columns of any kind; a missing value adds no evidence.

    Parameters
    ----------
    columns
        One family for all columns, or a mapping from names to families, as in `naively.fit`.
    prior
        The class prior, as in `naively.fit`.
    tune
        Whether `fit` chooses smoothing, families and calibration by leave-one-out. `partial_fit` never tunes.
    n_jobs
        The number of threads; None is all cores.

    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [8.0], [9.0]]), np.array(["low", "low", "high", "high"])
    >>> NaiveBayes().fit(X, y).predict([[1.5], [np.nan]]).tolist()
    ['low', 'high']
    """

    _input_tags: ClassVar[dict[str, bool]] = {"allow_nan": True, "sparse": True, "string": True, "categorical": True}

    def __init__(
        self, columns: Any = None, *, prior: PriorLike = "empirical", tune: bool = True, n_jobs: int | None = None
    ) -> None:
        """Store the parameters unchanged."""
        self.columns = columns
        self.prior = prior
        self.tune = tune
        self.n_jobs = n_jobs

    def fit(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rows and their labels, from the start, and tune.

        Parameters
        ----------
        X, y, sample_weight
            Rows, their classes and weights.
        """
        return self._fit(X, y, sample_weight, self.tune)

    def _fit(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None, tune: bool) -> Self:
        labels = self._labels(y)
        table = self._read(X, reset=True)
        columns = self.columns
        if columns is None and table.is_sparse:
            columns = Multinomial(fractional=True)  # the matrix may hold tf-idf
        model = fit(
            table,
            labels,
            columns=columns,
            weight=sample_weight,
            tune=tune,
            n_jobs=self.n_jobs,
            many_classes=True,  # as in scikit-learn
        )
        self.classes_ = classes_and_codes(labels)[0]
        model = replace(model, target=target_name(y))
        self.model_ = with_classes(model, self.classes_.tolist()).with_prior(self.prior)
        return self

    def partial_fit(
        self, X: TableLike, y: LabelsLike, classes: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count more rows, which may have new classes, categories and words.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes
            Further classes.
        """
        labels = self._labels(y)
        if not hasattr(self, "model_"):
            self._fit(X, labels, sample_weight, tune=False)
        else:
            self.model_ = self.model_.update(self._read(X), labels, sample_weight, new_classes=True)
        if classes is not None or len(self.model_.classes) > len(self.classes_):
            known = [self.classes_, labels] if classes is None else [self.classes_, labels, np.asarray(classes)]
            self.classes_ = np.unique(np.concatenate(known))
            self.model_ = with_classes(self.model_, self.classes_.tolist())
        return self

    def forget(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Subtract rows that were counted, given as in `fit`; all classes stay known."""
        check_is_fitted(self, "model_")
        labels = self._labels(y)
        model = self.model_.forget(self._read(X), labels, sample_weight)
        self.model_ = with_classes(model, self.classes_.tolist())
        return self

    def decision_function(self, X: TableLike) -> Floats:
        """Return the log-odds of the second of two classes, or the log posterior of each of more classes.

        Parameters
        ----------
        X
            Rows.
        """
        check_is_fitted(self, "model_")
        table = self._read(X)
        return self.model_.log_odds(table) if len(self.classes_) == 2 else self.model_.log_posterior(table)

    def sample(self, n: int = 1, of: Label | None = None, seed: int | None = None) -> pa.Table:
        """Return random rows from the model as an Arrow table, with their class in the last column.

        Parameters
        ----------
        n, of, seed
            As in `Model.sample`.
        """
        check_is_fitted(self, "model_")
        return self.model_.sample(n, of, seed)

    def _read(self, X: TableLike, reset: bool = False) -> Table:
        """Read any table; store the names of its columns, or compare them with those stored."""
        table = read(X)
        if len(getattr(X, "shape", ())) != 2:  # a list of texts, a mapping, …: the schema compares the columns
            self.n_features_in_ = len(table.names)
            if not reset:
                require_columns(self.model_.schema.names, table.names)
        elif reset or "feature_names_in_" in self.__dict__ or table.names != Numbered(self.n_features_in_):
            validate_data(self, X, reset=reset, skip_check_array=True)
        for size, unit in ((table.n_rows, "sample"), (len(table.names), "feature")):
            if not size:
                shape = f"(shape=({table.n_rows}, {len(table.names)}))"
                raise InputError(f"Found array with 0 {unit}(s) {shape} while a minimum of 1 is required.")
        return table
