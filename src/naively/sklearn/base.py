"""What all estimators share: a model inside, and scikit-learn's rules about input at the border."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from naively.data.labelled import code_labels, refuse_missing_labels
from naively.model.model import Model
from naively.model.score import most_probable

__all__ = ["Estimator", "classes_and_codes", "is_plain", "positions_in"]

PLAIN_LIMIT = 2**16  # beyond this size the checks no longer matter for the time
FEW = 64  # so many labels are looked up one by one: numbering them first takes longer


class Estimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions are those of `model_`; `classes_` holds its classes in the labels' own type."""

    model_: Model
    classes_: NDArray[Any]

    def _read(self, X: Any) -> Any:
        """Check the rows to be scored, by scikit-learn's rules."""
        raise NotImplementedError

    def _fitted(self) -> Model:
        """The model, or scikit-learn's error if there is none."""
        if "model_" not in self.__dict__:
            check_is_fitted(self, "model_")
        return self.model_

    def _ask(self, question: Callable[[Model, Any], NDArray[Any]], X: Any) -> NDArray[Any]:
        """What the model answers about the rows."""
        return question(self._fitted(), self._read(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        positions = self._ask(most_probable, X)
        return np.asarray(self.classes_[positions])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the posterior, (row, class)."""
        return self._ask(Model.log_posterior, X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The posterior, (row, class)."""
        return self._ask(Model.posterior, X)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log p(x, c), (row, class)."""
        return self._ask(Model.log_joint, X)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back that were counted before: the opposite of `partial_fit`."""
        raise NotImplementedError

    def _labels(self, y: Any) -> NDArray[Any]:
        """Labels as a one-dimensional array of classes."""
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
            return y  # nothing to check, and checking would take longer than counting a row
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        refuse_missing_labels(y)
        checked = column_or_1d(y, warn=True)
        check_classification_targets(checked)
        return np.asarray(checked)


def is_plain(X: Any, n_columns: int) -> bool:
    """Whether X is a finite array of numbers with so many columns, which scikit-learn's checks would leave as it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == n_columns
        and X.dtype.char in "dflq"  # float64, float32, int64
        and 0 < X.size <= PLAIN_LIMIT
        and (X.dtype.char in "lq" or bool(np.isfinite(X).all()))
    )


def classes_and_codes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The sorted classes in the labels' own type, and the position of each label among them."""
    classes, codes = code_labels(labels)
    return np.array(classes, dtype=labels.dtype), codes


def positions_in(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among the sorted classes; a label that is not there is an error."""
    if labels.size <= FEW and labels.dtype == classes.dtype and labels.dtype.kind in "iuU":
        places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        if (classes[places] == labels).all():
            return places.astype(np.int32)
    found, codes = classes_and_codes(labels)
    places = np.minimum(np.searchsorted(classes, found), len(classes) - 1)
    unknown = classes[places] != found
    if unknown.any():
        raise ValueError(f"The target label(s) {found[unknown]} in y do not exist in the initial classes {classes}")
    return places.astype(np.int32)[codes]
