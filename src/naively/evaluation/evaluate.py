"""Evaluate the predictions and probabilities of a model on rows whose class is known.

    accuracy            share of the rows whose most probable class is the true one                      (1)
    balanced accuracy   mean over the classes of their recall                                            (2)
    log-loss            −mean log P(true class)                                                          (3)
    Brier score         mean Σ_c (P(c) − [c is true])², halved for two classes                           (4)
    calibration error   Σ_bins share of the rows · |share right − mean probability of the prediction|    (5)
    lift                log-loss of the class prior alone, less (3)                                      (6)

F1 and MCC are in `agreement.py`. The baseline of a figure is its value if every row gets the class prior as its
probabilities, and so the most frequent class as its prediction.

scikit-learn computes the areas under curves. The 95 % intervals assume that rows are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively._kernels.types import Bools, Floats, Index
from naively.data.labelled import Label, LabelsLike, WeightLike
from naively.data.names import counted
from naively.data.plain import JsonObject, as_plain
from naively.data.read import TableLike
from naively.errors import InputError
from naively.evaluation import agreement
from naively.evaluation.curves import CalibrationBin, ClassMetrics, calibration, calibration_error, class_metrics
from naively.evaluation.intervals import UNDEFINED, Estimate, around, effective_rows, mean, share
from naively.evaluation.render_text import as_text
from naively.evaluation.scored_rows import ScoredRows, score_rows
from naively.evaluation.thresholds import Thresholds, thresholds
from naively.model.decide import by_probability, position_of
from naively.model.model import Model

WITH_BASELINE = ("accuracy", "balanced_accuracy", "f1", "mcc", "log_loss", "brier", "calibration_error")
SUMMARY = (*WITH_BASELINE, "lift")
MAX_CLASSES_WITH_CURVES = 50
MIN_PROBABILITY = float(np.finfo(np.float64).eps)  # scikit-learn clips here too: a row costs at most 36 nats


class Goals(TypedDict, total=False):
    """The options of `Model.evaluate`."""

    of: Label | None
    costs: ArrayLike | None
    precision: float | None
    min_probability: float | None


@dataclass(frozen=True)
class Coverage:
    """The share of the rows whose prediction reaches a probability, and the error rate among them."""

    min_probability: float
    share: Estimate
    error: Estimate


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Estimates (1) to (6), F1 (the mean over the classes), MCC, the confusion matrix (true class, predicted class).

    `baseline` has the value of each figure for the class prior alone, `origin` a sentence that says how the rows were
    scored, and `n_counted` the number of rows that the model has counted; None if it is not known.

    >>> log_posterior = np.log([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    >>> evaluation = Evaluation.of(log_posterior, np.array([0, 1, 1, 1]), ("ham", "spam"))
    >>> evaluation.accuracy.value, evaluation.confusion.tolist(), round(evaluation.log_loss.value, 4)
    (0.75, [[1.0, 0.0], [1.0, 2.0]], 0.4004)
    """

    classes: tuple[Label, ...]
    rows: int
    weight: float
    accuracy: Estimate
    balanced_accuracy: Estimate
    f1: Estimate
    mcc: Estimate
    log_loss: Estimate
    brier: Estimate
    calibration_error: Estimate
    lift: Estimate
    calibration: tuple[CalibrationBin, ...]
    confusion: Floats
    by_class: tuple[ClassMetrics, ...]
    thresholds: Thresholds | None = None
    coverage: Coverage | None = None
    baseline: Mapping[str, float] = field(default_factory=dict)
    n_counted: int | None = None
    origin: str = ""

    @classmethod
    def of(
        cls,
        log_posterior: Floats,
        label: NDArray[np.integer],
        classes: Sequence[Label],
        weight: Floats | None = None,
        *,
        log_prior: Floats | None = None,
        **goals: Unpack[Goals],
    ) -> Evaluation:
        """Evaluate log posteriors of rows whose class is known.

        Parameters
        ----------
        log_posterior
            Log posteriors, (row, class).
        label
            The position of each row's class in `classes`.
        classes
            The classes, in the order of the columns of `log_posterior`.
        weight
            The weight of each row, 1 by default. Rows of weight zero are ignored.
        log_prior
            The prior that the lift compares with, (class,) or (row, class). Default: the shares of the classes among
            these rows.
        goals
            `of`, `costs`, `precision` and `min_probability`, as in `Model.evaluate`.
        """
        log_posterior, truth, weight, log_prior = _rows_with_weight(log_posterior, label, weight, log_prior)
        posterior = np.exp(log_posterior)
        n_classes = len(classes)
        predicted, is_class = posterior.argmax(axis=1), truth[:, None] == np.arange(n_classes)
        is_right, probability = predicted == truth, posterior.max(axis=1)
        if log_prior is None:
            with np.errstate(divide="ignore"):
                log_prior = np.log((is_class * weight[:, None]).sum(axis=0) / weight.sum())
        figures = _figures(posterior, truth, weight)
        prior = np.broadcast_to(np.exp(log_prior), posterior.shape)
        prior_loss, by_prior = losses(prior, truth), prior.argmax(axis=1)
        confusion = confusion_of(truth, predicted, weight, n_classes)
        with_curves = n_classes <= MAX_CLASSES_WITH_CURVES
        return cls(
            classes=tuple(classes),
            rows=len(truth),
            weight=float(weight.sum()),
            **figures,
            lift=mean(prior_loss - losses(posterior, truth), weight),
            calibration=calibration(probability, is_right, weight),
            confusion=confusion,
            by_class=tuple(
                class_metrics(
                    *(classes[c], posterior[:, c], is_class[:, c], predicted == c, by_prior == c, weight, with_curves)
                )
                for c in range(n_classes)
            ),
            thresholds=_thresholds(posterior, is_class, classes, weight, goals),
            coverage=_coverage(probability, is_right, weight, goals.get("min_probability")),
            baseline={name: estimate.value for name, estimate in _figures(prior, truth, weight).items()},
        )

    def to_dict(self) -> JsonObject:
        """Return plain data that JSON can hold; the confusion matrix is a list of its entries above zero."""
        with_curves = len(self.classes) <= MAX_CLASSES_WITH_CURVES
        first = ("rows", "weight", *SUMMARY, "calibration")
        return {
            **{name: as_plain(getattr(self, name)) for name in first},
            "baseline": dict(self.baseline),
            "counted_rows": self.n_counted,
            "origin": self.origin,
            "classes": [metrics.to_dict(with_curves) for metrics in self.by_class],
            "confusion": [
                {"true": self.classes[a], "answer": self.classes[b], "weight": float(self.confusion[a, b])}
                for a, b in np.argwhere(self.confusion > 0).tolist()
            ],
            "thresholds": as_plain(self.thresholds),
            "coverage": as_plain(self.coverage),
        }

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {counted(self.rows, 'row')}, {counted(len(self.classes), 'class', 'classes')}: "
            f"accuracy {self.accuracy.value:.4f}, log-loss {self.log_loss.value:.4f}>"
        )

    def _repr_html_(self) -> str:
        from naively.evaluation.render_html import as_html

        return as_html(self)


def evaluate(
    model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None, **goals: Unpack[Goals]
) -> Evaluation:
    """Evaluate a model on rows whose class is known. See `Model.evaluate`.

    >>> from naively import fit
    >>> model = fit({"sky": ["sun", "sun", "rain", "rain"]}, ["yes", "yes", "no", "no"])
    >>> evaluation = evaluate(model, {"sky": ["sun", "rain", "rain"]}, ["yes", "no", "yes"])
    >>> round(evaluation.accuracy.value, 3), evaluation.rows
    (0.667, 3)
    """
    return evaluation_of(model, score_rows(model, X, y, weight), **goals)


def evaluation_of(model: Model, scored: ScoredRows, **goals: Unpack[Goals]) -> Evaluation:
    """Return the figures of rows that a model has scored."""
    keep = scored.is_scored
    posterior, label, weight = scored.log_posterior[keep], scored.label[keep], scored.weight[keep]
    evaluation = Evaluation.of(posterior, label, model.classes, weight, log_prior=model.log_prior, **goals)
    return replace(evaluation, n_counted=scored.n_counted, origin=scored.origin)


def _rows_with_weight(
    log_posterior: Floats, label: NDArray[np.integer], weight: Floats | None, log_prior: Floats | None
) -> tuple[Floats, Index, Floats, Floats | None]:
    """Return the rows whose weight is not zero."""
    if len(log_posterior) != len(label):
        raise InputError(f"{len(log_posterior)} rows but {len(label)} labels: give one label per row.")
    weight = np.ones(len(label)) if weight is None else np.asarray(weight, dtype=np.float64)
    rows = weight > 0
    if not rows.any():
        raise InputError("no rows to evaluate: at least one row with a label and a weight is needed.")
    if log_prior is not None and log_prior.ndim == 2:
        log_prior = log_prior[rows]
    return log_posterior[rows], np.asarray(label)[rows].astype(np.intp), weight[rows], log_prior


def losses(posterior: Floats, truth: Index) -> Floats:
    """Return −log P(true class) of each row."""
    return np.asarray(-np.log(np.clip(posterior[np.arange(len(truth)), truth], MIN_PROBABILITY, 1.0)))


def squares(posterior: Floats, truth: Index) -> Floats:
    """Return the term of each row in equation (4)."""
    halves = 2.0 if posterior.shape[1] <= 2 else 1.0
    is_class = truth[:, None] == np.arange(posterior.shape[1])
    return np.asarray(np.square(posterior - is_class).sum(axis=1) / halves)


def confusion_of(truth: Index, predicted: Index, weight: Floats, n_classes: int) -> Floats:
    """Return the weight of the rows, (true class, predicted class)."""
    flat = np.bincount(truth * n_classes + predicted, weight, n_classes**2)
    return flat.reshape(n_classes, n_classes).astype(np.float64)


def _figures(posterior: Floats, truth: Index, weight: Floats) -> dict[str, Any]:
    """Return the figures that have a baseline."""
    predicted = posterior.argmax(axis=1)
    is_right, n = predicted == truth, effective_rows(weight)
    confusion = confusion_of(truth, predicted, weight, posterior.shape[1])
    return {
        "accuracy": share(is_right, weight),
        "balanced_accuracy": _balanced_accuracy(truth, predicted, weight),
        "f1": agreement.estimate(agreement.macro_f1, confusion, n),
        "mcc": agreement.estimate(agreement.mcc, confusion, n, least=-1.0),
        "log_loss": mean(losses(posterior, truth), weight, least=0.0),
        "brier": mean(squares(posterior, truth), weight, 0.0, 1.0 if posterior.shape[1] <= 2 else 2.0),
        "calibration_error": calibration_error(posterior.max(axis=1), is_right, weight),
    }


def _balanced_accuracy(label: Index, predicted: Index, weight: Floats) -> Estimate:
    """Return equation (2) over the classes that occur; the variances of their recalls add up."""
    recalls = [mean((predicted == c)[label == c].astype(np.float64), weight[label == c]) for c in np.unique(label)]
    half_width = float(np.sqrt(sum((recall.high - recall.value) ** 2 for recall in recalls))) / len(recalls)
    return around(float(np.mean([recall.value for recall in recalls])), half_width)


def _thresholds(
    posterior: Floats, is_class: Bools, classes: Sequence[Label], weight: Floats, goals: Goals
) -> Thresholds | None:
    """Return the thresholds if there are two classes."""
    costs, precision = goals.get("costs"), goals.get("precision")
    if costs is not None and precision is not None:
        raise InputError("give costs= or precision=, not both.")
    if len(classes) == 2:
        c = position_of(goals.get("of"), classes)
        return thresholds(classes[c], posterior[:, c], is_class[:, c], weight, costs, precision)
    if costs is not None or precision is not None:
        goal = "precision" if costs is None else "costs"
        raise InputError(f"{goal}= is for a threshold between two classes, and there are {len(classes)}.")
    return None


def _coverage(probability: Floats, is_right: Bools, weight: Floats, min_probability: float | None) -> Coverage | None:
    """Return the share of the rows that reach a probability, and the error rate among them; None without one."""
    if min_probability is None:
        return None
    reached = by_probability(np.log(probability)[:, None], min_probability) >= 0
    error = share(~is_right[reached], weight[reached]) if reached.any() else UNDEFINED
    return Coverage(min_probability, share(reached, weight), error)
