"""Evaluate the predictions and probabilities of a model on rows whose class is known.

    accuracy            share of the rows whose most probable class is the true one                      (1)
    balanced accuracy   mean over the classes of their recall                                            (2)
    log-loss            −mean log P(true class)                                                          (3)
    Brier score         mean Σ_c (P(c) − [c is true])², halved for two classes                           (4)
    calibration error   Σ_bins share of the rows · |share right − mean probability of the prediction|    (5)
    lift                log-loss of the class prior alone, less (3)                                      (6)

scikit-learn computes the areas under curves. The 95 % intervals assume that rows are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively._kernels.types import Bools, Floats, Index
from naively.data.labelled import Label, LabelsLike, WeightLike, labelled_batches
from naively.data.plain import as_plain
from naively.data.read import TableLike
from naively.errors import InputError
from naively.evaluation.curves import CalibrationBin, ClassMetrics, calibration, calibration_error, class_metrics
from naively.evaluation.intervals import UNDEFINED, Estimate, around, mean, share
from naively.evaluation.render_text import as_text
from naively.evaluation.thresholds import Thresholds, thresholds
from naively.model.decide import by_probability, position_of
from naively.model.model import Model

SUMMARY = ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "lift")
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
    """Estimates (1) to (6), the confusion matrix (true class, predicted class), curves and thresholds.

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
    log_loss: Estimate
    brier: Estimate
    calibration_error: Estimate
    lift: Estimate
    calibration: tuple[CalibrationBin, ...]
    confusion: Floats
    by_class: tuple[ClassMetrics, ...]
    thresholds: Thresholds | None = None
    coverage: Coverage | None = None

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
        n_classes, true_class = len(classes), (np.arange(len(truth)), truth)
        predicted, is_class = posterior.argmax(axis=1), truth[:, None] == np.arange(n_classes)
        is_right, probability = predicted == truth, posterior.max(axis=1)
        if log_prior is None:
            with np.errstate(divide="ignore"):
                log_prior = np.log((is_class * weight[:, None]).sum(axis=0) / weight.sum())
        loss = -np.log(np.clip(posterior[true_class], MIN_PROBABILITY, 1.0))
        prior_loss = -np.clip(np.broadcast_to(log_prior, posterior.shape)[true_class], np.log(MIN_PROBABILITY), 0.0)
        squares, halves = np.square(posterior - is_class).sum(axis=1), 2.0 if n_classes <= 2 else 1.0
        confusion = np.bincount(truth * n_classes + predicted, weight, n_classes**2)
        with_curves = n_classes <= MAX_CLASSES_WITH_CURVES
        return cls(
            classes=tuple(classes),
            rows=len(truth),
            weight=float(weight.sum()),
            accuracy=share(is_right, weight),
            balanced_accuracy=_balanced_accuracy(truth, predicted, weight),
            log_loss=mean(loss, weight, least=0.0),
            brier=mean(squares / halves, weight, 0.0, 2.0 / halves),
            calibration_error=calibration_error(probability, is_right, weight),
            lift=mean(prior_loss - loss, weight),
            calibration=calibration(probability, is_right, weight),
            confusion=confusion.reshape(n_classes, n_classes).astype(np.float64),
            by_class=tuple(
                class_metrics(classes[c], posterior[:, c], is_class[:, c], predicted == c, weight, with_curves)
                for c in range(n_classes)
            ),
            thresholds=_thresholds(posterior, is_class, classes, weight, goals),
            coverage=_coverage(probability, is_right, weight, goals.get("min_probability")),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; the confusion matrix is a list of its entries above zero."""
        with_curves = len(self.classes) <= MAX_CLASSES_WITH_CURVES
        first = ("rows", "weight", *SUMMARY, "calibration")
        return {
            **{name: as_plain(getattr(self, name)) for name in first},
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
    batches = labelled_batches(X, y, weight, like=model)
    parts = [(model.log_posterior(rows.table), rows.label_in(model.classes), rows.weights) for rows in batches]
    log_posterior, label, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Evaluation.of(log_posterior, label, model.classes, weights, log_prior=model.log_prior, **goals)


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
