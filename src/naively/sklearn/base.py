"""The common parts of all estimators: a model inside, and scikit-learn's rules for input, parameters and attributes.

Counts, estimates and scores are those of the family that each class names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from naively._kernels.types import Array, Codes32, Floats
from naively.data.frame_output import Output, frame_of, series_of
from naively.data.labelled import Label, LabelledRows, LabelsLike, class_array, code_labels, refuse_missing_labels
from naively.data.names import Names, Numbered
from naively.data.read import TableLike
from naively.data.table import MatrixTable, Table
from naively.data.views import RefusedEntryError
from naively.errors import InputError
from naively.families import Family
from naively.model.calibrate import Importance
from naively.model.count import count
from naively.model.merge import with_classes
from naively.model.model import Model
from naively.model.score import predict_positions
from naively.priors import ClassPrior
from naively.schema.schema import Block, Schema
from naively.statistics import Statistic
from naively.store.model_bytes import from_bytes, to_bytes

if TYPE_CHECKING:
    from naively.evaluation import Evaluation
    from naively.explanation import Explanations

S = TypeVar("S", bound=Statistic)

MAX_UNCHECKED_NUMBERS = 2**16  # in an array whose checks would take longer than scoring it
MAX_LABELS_SEARCHED = 64  # beyond, numbering the labels first is faster than looking each of them up


class Estimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose predictions are those of `model_`; `classes_` has the classes in the type of the labels."""

    model_: Model
    classes_: Array
    _input_tags: ClassVar[dict[str, bool]] = {}  # what scikit-learn shall know about the rows that are accepted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = replace(tags.input_tags, **self._input_tags)
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters and attributes, the model as bytes that skops stores without trusting its types."""
        state: dict[str, Any] = super().__getstate__()
        if "model_" not in state:
            return state
        try:
            return {**state, "model_": to_bytes(state["model_"])}
        except InputError:  # a family that is not registered: pickle stores the object
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.get("model_")
        super().__setstate__({**state, "model_": from_bytes(model)} if isinstance(model, bytes) else state)

    def _read(self, X: TableLike) -> Table:
        """Check the rows to be scored, by scikit-learn's rules."""
        raise NotImplementedError

    def _ask(self, method: Callable[[Model, Any], Array], X: TableLike) -> Array:
        """Return the result of a method of the model for these rows."""
        if "model_" not in self.__dict__:
            check_is_fitted(self, "model_")
        table = self._read(X)
        return self._rounded(method(self.model_, table), table)

    def _rounded(self, result: Array, table: Any) -> Array:
        """Return a result in the type that scikit-learn gives it."""
        return result

    def predict(self, X: TableLike) -> Array:
        """Return the most probable class of each row.

        Parameters
        ----------
        X
            Rows.
        """
        positions = self._ask(predict_positions, X)
        classes = np.asarray(self.classes_[positions])
        output = self._output()
        return classes if output is None else cast("Array", series_of(classes, "prediction", X, output))

    def predict_log_proba(self, X: TableLike) -> Floats:
        """Return the logarithm of the probability of each class, (row, class).

        Parameters
        ----------
        X
            Rows.
        """
        return self._with_classes(self._ask(Model.log_posterior, X), X)

    def predict_proba(self, X: TableLike) -> Floats:
        """Return the probability of each class, (row, class).

        Parameters
        ----------
        X
            Rows.
        """
        return self._with_classes(self._ask(Model.posterior, X), X)

    def predict_joint_log_proba(self, X: TableLike) -> Floats:
        """Return log p(x, c), (row, class).

        Parameters
        ----------
        X
            Rows.
        """
        return self._ask(Model.log_joint, X)

    def set_output(self, *, predict: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Choose what `predict`, `predict_proba` and `predict_log_proba` return; `clone` keeps the choice.

        Parameters
        ----------
        predict
            "default" is arrays; "pandas" and "polars" are a series of classes, and frames with a column for each class
            and, in pandas, the index of the rows. None changes nothing.
        """
        if predict not in (None, "default", "pandas", "polars"):
            raise ValueError(f'predict={predict!r}: give "default", "pandas" or "polars".')
        if predict is not None:
            self._sklearn_output_config = {"predict": predict}  # a name that scikit-learn's clone copies
        return self

    def _output(self) -> Output | None:
        output = self.__dict__.get("_sklearn_output_config", {}).get("predict", "default")
        return None if output == "default" else cast("Output", output)

    def _with_classes(self, numbers: Floats, X: TableLike) -> Floats:
        """Return numbers by class in the container that `set_output` has chosen, an array by default."""
        output = self._output()
        return numbers if output is None else cast("Floats", frame_of(numbers, self.classes_.tolist(), X, output))

    def importance(
        self, X: TableLike | None = None, y: LabelsLike = None, sample_weight: ArrayLike | None = None
    ) -> Importance:
        """Return what each column is worth, the highest first, as `Model.importance` does.

        Parameters
        ----------
        X, y, sample_weight
            The rows that the estimator was fitted on. They are needed unless it is tuned.
        """
        check_is_fitted(self, "model_")
        if X is None:
            return self.model_.importance()
        return self.model_.importance(self._read(X), self._labels(y).tolist(), sample_weight)

    def explain(
        self, X: TableLike, of: Label | None = None, against: Label | None = None, top: int | None = None
    ) -> Explanations:
        """Explain the prediction for each row; a notebook shows the result as tables.

        Parameters
        ----------
        X
            Rows.
        of, against, top
            As in `Model.explain`.
        """
        check_is_fitted(self, "model_")
        return self.model_.explain(self._read(X), of, against, top)

    def evaluate(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Evaluation:
        """Return accuracy, log-loss, calibration and more on rows whose class is known, as `Model.evaluate` does.

        Parameters
        ----------
        X, y, sample_weight
            Rows, their classes and weights.
        """
        check_is_fitted(self, "model_")
        return self.model_.evaluate(self._read(X), self._labels(y).tolist(), sample_weight)

    def _labels(self, y: LabelsLike) -> Array:
        """Return labels as a one-dimensional array of classes."""
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
            return y  # nothing to check, and checking would take longer than counting a row
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        refuse_missing_labels(y)
        checked = column_or_1d(class_array(y) if isinstance(y, (list, tuple)) else y, warn=True)
        check_classification_targets(checked)
        return np.asarray(checked)


class DropIn(Estimator, Generic[S]):
    """An estimator with one family for all columns, which are numbered; the first call fixes the classes."""

    n_features_in_: int
    _counting_family: Family  # any with the right statistic: its settings do not matter for counting
    _suits = True  # whether scikit-learn's checks are stricter than those of the family
    _strict = False  # whether counting and scoring look for missing and infinite values

    def _family(self) -> Family:
        """Return the family that the parameters describe; it may depend on the counts."""
        raise NotImplementedError

    def _class_prior(self) -> ClassPrior:
        """Return the prior that the parameters describe."""
        raise NotImplementedError

    def _prior_array(self, prior: ArrayLike) -> Floats:
        """Return given prior probabilities as an array, one for each class."""
        array = np.asarray(prior, dtype=np.float64)
        if len(array) != len(self.classes_):
            raise ValueError("Number of priors must match number of classes.")
        return array

    def _checked(self, X: TableLike, reset: bool) -> Any:
        """Return the rows, checked by scikit-learn's rules."""
        raise NotImplementedError

    def _check_entries(self, X: TableLike) -> None:
        """Raise scikit-learn's error for missing, infinite or negative entries; called if there are any."""

    def _ask(self, method: Callable[[Model, Any], Array], X: TableLike) -> Array:
        try:
            return super()._ask(method, X)
        except RefusedEntryError:
            self._check_entries(X)
            raise ValueError("Input X holds a row whose sum is too large for float64: rescale it.") from None

    def _needs_no_check(self, X: TableLike, reset: bool) -> bool:
        """Return whether X is a small finite array of numbers, which scikit-learn's checks would return unchanged."""
        return (
            not reset
            and "feature_names_in_" not in self.__dict__
            and type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and X.dtype.char in "dflq"  # float64, float32, int64
            and 0 < X.size <= MAX_UNCHECKED_NUMBERS
            and (X.dtype.char in "lq" or bool(np.isfinite(X).all()))
        )

    def fit(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rows and their labels, from the start.

        Parameters
        ----------
        X, y, sample_weight
            Rows, their classes and weights.
        """
        self._validate_params()
        checked, labels = self._checked(X, reset=True), self._labels(y)
        classes, codes = classes_and_codes(labels)
        if classes.dtype == object and (typed := np.array(classes.tolist())).tolist() == classes.tolist():
            classes = typed
        model = self._count(checked, codes, classes, sample_weight)
        self.classes_ = classes  # not before: rows that are refused change nothing
        return self._estimated(model)

    def partial_fit(
        self, X: TableLike, y: LabelsLike, classes: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count more rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows, their classes and weights.
        classes
            All classes; needed in the first call.
        """
        if "model_" not in self.__dict__:
            self._validate_params()
        is_first = _check_partial_fit_first_call(self, classes) or not hasattr(self, "model_")
        rows = self._count(self._checked(X, reset=is_first), self._positions(y), self.classes_, sample_weight)
        return self._estimated(rows if is_first else self.model_ + replace(rows, schema=self.model_.schema))

    def forget(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Subtract rows that were counted: the opposite of `partial_fit`.

        Parameters
        ----------
        X, y, sample_weight
            The rows, classes and weights that were counted.
        """
        check_is_fitted(self, "model_")
        rows = self._count(self._checked(X, reset=False), self._positions(y), self.classes_, sample_weight)
        rest = self.model_ - replace(rows, schema=self.model_.schema)
        return self._estimated(with_classes(rest, self.classes_.tolist()))

    def _positions(self, y: LabelsLike) -> Codes32:
        """Return the position of each label among the classes; refuse a label that is not among them."""
        classes, labels, codes = self.classes_, self._labels(y), None
        if labels.size > MAX_LABELS_SEARCHED or labels.dtype != classes.dtype or labels.dtype.kind not in "iuU":
            labels, codes = classes_and_codes(labels)
        positions = np.minimum(np.searchsorted(classes, labels), len(classes) - 1).astype(np.int32)
        is_new = classes[positions] != labels
        if is_new.any():
            new = np.unique(labels[is_new])
            raise ValueError(f"The target label(s) {new} in y do not exist in the initial classes {classes}")
        return positions if codes is None else positions[codes]

    def _count(self, X: TableLike, codes: Codes32, classes: Array, sample_weight: ArrayLike | None) -> Model:
        if X.shape[0] != len(codes):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], len(codes)]}")
        weight: Floats | None = None
        if sample_weight is not None:
            weight = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))
            if not weight.all():
                self._check_entries(X)
                X, codes, weight = X[weight > 0], codes[weight > 0], weight[weight > 0]
        schema = Schema(names := Numbered(X.shape[1]), (Block(names, "number", self._counting_family),))
        rows = LabelledRows(self._table(X, names), tuple(classes.tolist()), codes, weight)
        try:
            return Model(schema, rows.classes, *count(rows, schema), n_jobs=1)
        except RefusedEntryError:
            self._check_entries(X)
            raise

    def _estimated(self, model: Model) -> Self:
        """Store the counts, under the family and the prior that the parameters describe now."""
        self.model_ = model  # the family may depend on the counts
        schema, family, prior = model.schema, self._family(), self._class_prior()
        if schema.blocks[0].family != family:
            schema = Schema(schema.names, (replace(schema.blocks[0], family=family),))
        if schema is not model.schema or prior is not model.prior:
            self.model_ = replace(model, schema=schema, prior=prior)
        return self

    def _read(self, X: TableLike) -> MatrixTable:
        return self._table(self._checked(X, reset=False), self.model_.schema.names)

    def _table(self, X: TableLike, names: Names) -> MatrixTable:
        return MatrixTable(X, names, self._suits, self._strict)

    def _statistic(self, model: Model | None = None) -> S:
        """Return what a model has counted, by default the fitted one."""
        return cast(S, (model or self.model_).statistics[0])

    @property
    def class_count_(self) -> Floats:
        """The weight of the counted rows of each class."""
        check_is_fitted(self, "model_")
        return self.model_.class_counts


def classes_and_codes(labels: Array) -> tuple[Array, Codes32]:
    """Return the sorted classes in the type of the labels, and the position of each label among them."""
    classes, codes = code_labels(labels)
    return np.array(classes, dtype=labels.dtype), codes
