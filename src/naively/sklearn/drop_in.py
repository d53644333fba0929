"""What the five drop-ins share: scikit-learn's parameters, checks and rules of partial_fit around one block of columns.

No mathematics here: counts, estimates and scores are those of the family that each class names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from naively.data.labelled import LabelledRows
from naively.data.names import Names, Numbered
from naively.data.table import MatrixTable
from naively.data.views import RefusedEntryError
from naively.errors import warn_user
from naively.families import Family
from naively.model.count import count
from naively.model.merge import with_classes
from naively.model.model import Model
from naively.priors import ClassPrior
from naively.schema.schema import Block, Schema
from naively.sklearn.base import Estimator, classes_and_codes, is_plain, positions_in
from naively.statistics import Statistic

__all__ = ["DiscreteNB", "DropIn"]

SMALLEST_ALPHA = 1e-10


class DropIn(Estimator):
    """One family for all columns, which are numbered; classes fixed by the first call."""

    n_features_in_: int
    _suits = True  # the checks at the border are stricter than the family's own
    _strict = False  # whether gaps and infinities are left for counting and scoring to find

    def _family(self) -> Family:
        """The family that the parameters describe; may use what has been counted."""
        raise NotImplementedError

    def _class_prior(self) -> ClassPrior:
        """The prior that the parameters describe."""
        raise NotImplementedError

    def _checked(self, X: Any, reset: bool) -> Any:
        """The rows, checked by scikit-learn's rules."""
        raise NotImplementedError

    def _check_entries(self, X: Any) -> None:
        """Raise what scikit-learn says of gaps, infinities and the like; only called when they were met."""

    def _ask(self, question: Callable[[Model, Any], NDArray[Any]], X: Any) -> NDArray[Any]:
        try:
            return super()._ask(question, X)
        except RefusedEntryError:
            self._check_entries(X)
            raise ValueError("Input X holds a row whose sum is too large for float64: rescale it.") from None

    def _is_plain(self, X: Any, reset: bool) -> bool:
        """Whether the checks can be left out."""
        return not reset and "feature_names_in_" not in self.__dict__ and is_plain(X, self.n_features_in_)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows and their labels, from the start."""
        checked, labels = self._checked(X, reset=True), self._labels(y)
        classes, codes = classes_and_codes(labels)
        counted = self._count(checked, codes, classes, sample_weight)
        self.classes_ = classes  # not before: rows that are refused change nothing
        return self._estimated(counted)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; the first call says which classes there are."""
        first = _check_partial_fit_first_call(self, classes) or not hasattr(self, "model_")
        checked = self._checked(X, reset=first)
        rows = self._count(checked, positions_in(self.classes_, self._labels(y)), self.classes_, sample_weight)
        return self._estimated(rows if first else self.model_ + self._alike(rows))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back that were counted before: the opposite of `partial_fit`."""
        check_is_fitted(self, "model_")
        checked = self._checked(X, reset=False)
        rows = self._count(checked, positions_in(self.classes_, self._labels(y)), self.classes_, sample_weight)
        rest = self.model_ - self._alike(rows)
        return self._estimated(with_classes(rest, self.classes_.tolist()))

    def _alike(self, rows: Model) -> Model:
        """Rows counted under the schema in force, so that they add to the model."""
        return replace(rows, schema=self.model_.schema)

    def _count(self, X: Any, codes: NDArray[np.int32], classes: NDArray[Any], sample_weight: Any) -> Model:
        if X.shape[0] != len(codes):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(codes)]}")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            counted = sample_weight > 0
            if not counted.all():
                self._check_entries(X)
                X, codes, sample_weight = X[counted], codes[counted], sample_weight[counted]
        schema = Schema(names := Numbered(X.shape[1]), (Block(names, "number", self._counting_family()),))
        try:
            rows = LabelledRows(self._table(X, names), tuple(classes.tolist()), codes, sample_weight)
            return Model(schema, rows.classes, *count(rows, schema), n_jobs=1)
        except RefusedEntryError:
            self._check_entries(X)
            raise

    def _counting_family(self) -> Family:
        """Any family with the right statistic; the parameters do not matter for counting."""
        return self._family()

    def _estimated(self, counted: Model) -> Self:
        """Keep the counts, under the family and prior that the parameters describe now."""
        self.model_ = counted  # the family may ask what has been counted
        schema, family, prior = counted.schema, self._family(), self._class_prior()
        if schema.blocks[0].family != family:
            schema = Schema(schema.names, (replace(schema.blocks[0], family=family),))
        self.model_ = replace(counted, schema=schema, prior=prior)
        return self

    def _read(self, X: Any) -> MatrixTable:
        return self._table(self._checked(X, reset=False), self.model_.schema.names)

    def _table(self, X: Any, names: Names) -> MatrixTable:
        """Rows that were checked, as a table with the columns so named."""
        return MatrixTable(X, names, self._suits, self._strict)

    @property
    def _statistic(self) -> Statistic:
        return self.model_.statistics[0]

    @property
    def class_count_(self) -> NDArray[np.float64]:
        """Weight of the rows counted, per class."""
        check_is_fitted(self, "model_")
        return self.model_.class_counts


class DiscreteNB(DropIn):
    """The four classes of counts: alpha, its lower bound, and the class prior."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """log π_c, per class."""
        check_is_fitted(self, "model_")
        return self.model_.log_prior

    def _class_prior(self) -> ClassPrior:
        if self.class_prior is not None:
            if len(self.class_prior) != len(self.classes_):
                raise ValueError("Number of priors must match number of classes.")
            given = np.asarray(self.class_prior, dtype=np.float64)
            return ClassPrior.of(given / given.sum(), self.classes_.tolist())
        return ClassPrior(uniform=not self.fit_prior)

    def _smoothing(self) -> float | tuple[float, ...]:
        """Alpha, checked; raised to a smallest value unless force_alpha."""
        if isinstance(self.alpha, Real):
            alpha: Any = float(self.alpha)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
        if np.min(alpha) < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        if np.min(alpha) < SMALLEST_ALPHA and not self.force_alpha:
            warn_user(
                f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
            )
            alpha = np.maximum(alpha, SMALLEST_ALPHA)
        return float(alpha) if np.ndim(alpha) == 0 else tuple(alpha.tolist())

    def _checked(self, X: Any, reset: bool) -> Any:
        if self._is_plain(X, reset):
            return X
        return validate_data(self, X, accept_sparse="csr", ensure_all_finite=not self._strict, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
