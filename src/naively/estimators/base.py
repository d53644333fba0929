"""What all estimators share: a model inside, and scikit-learn's rules about input at the border."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from naively.model import Model

__all__ = ["Estimator", "positions_in"]


class Estimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions are those of `model_`; `classes_` holds its classes in the labels' own type."""

    model_: Model
    classes_: NDArray[Any]

    def _read(self, X: Any) -> Any:
        """Check the rows to be scored, by scikit-learn's rules."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self, "model_")
        best = self.model_.best(self._read(X))
        return np.asarray(self.classes_[best])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the posterior, (row, class)."""
        check_is_fitted(self, "model_")
        return self.model_.log_posterior(self._read(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The posterior, (row, class)."""
        check_is_fitted(self, "model_")
        return self.model_.posterior(self._read(X))

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log p(x, c), (row, class)."""
        check_is_fitted(self, "model_")
        return self.model_.log_joint(self._read(X))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back that were counted before: the opposite of `partial_fit`."""
        raise NotImplementedError

    def _labels(self, y: Any) -> NDArray[Any]:
        """Labels as a one-dimensional array of classes."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        checked = column_or_1d(y, warn=True)
        check_classification_targets(checked)
        return np.asarray(checked)


def positions_in(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among the sorted classes; a label that is not there is an error."""
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[places] != y
    if unknown.any():
        found = np.unique(y[unknown])
        raise ValueError(f"The target label(s) {found} in y do not exist in the initial classes {classes}")
    return places.astype(np.int32)
