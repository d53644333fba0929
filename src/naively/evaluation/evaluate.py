"""Evaluation: how good the answers and the probabilities of a model are, on rows whose class is known.

    accuracy            share of the rows whose most probable class is the true one                      (1)
    balanced accuracy   the mean over the classes of the share found                                     (2)
    log-loss            −mean log P(true class)                                                          (3)
    Brier score         mean Σ_c (P(c) − [c is true])², halved for two classes                           (4)
    calibration error   Σ_bins share of the rows · |share right − mean probability of the answer|        (5)
    lift                log-loss of the class prior alone, less (3)                                      (6)

Plain data: numbers with 95 % intervals, curves as points, tables as text. Metrics that scikit-learn has are its own.
The intervals take the rows as independent.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import labelled_batches
from naively.errors import InputError
from naively.evaluation.curves import Bin, OfClass, bins_to_dict, calibration, calibration_error, of_class
from naively.evaluation.intervals import NOTHING, Figure, mean, share
from naively.evaluation.render_text import as_text
from naively.evaluation.thresholds import Thresholds, thresholds
from naively.model.decide import if_sure

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["Answered", "Evaluation", "evaluate"]

Floats = NDArray[np.float64]
CURVES = 50  # classes with curves; with more, only their figures
SMALLEST = float(np.finfo(np.float64).eps)  # as scikit-learn clips probabilities: a row costs at most 36


@dataclass(frozen=True)
class Answered:
    """What is left to answer when the unsure are not answered: their share, and the error among them."""

    unsure: float
    share: Figure
    error: Figure

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"unsure": self.unsure, "share": self.share.to_dict(), "error": self.error.to_dict()}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Figures (1) to (6), the confusion matrix (true class, answer), curves, and the thresholds asked for.

    >>> log_posterior = np.log([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    >>> found = Evaluation.of(log_posterior, np.array([0, 1, 1, 1]), ("ham", "spam"))
    >>> found.accuracy.value, found.confusion.tolist(), round(found.log_loss.value, 4)
    (0.75, [[1.0, 0.0], [1.0, 2.0]], 0.4004)
    """

    classes: tuple[Any, ...]
    rows: int
    weight: float
    accuracy: Figure
    balanced_accuracy: Figure
    log_loss: Figure
    brier: Figure
    calibration_error: Figure
    lift: Figure
    calibration: tuple[Bin, ...]
    confusion: Floats
    by_class: tuple[OfClass, ...]
    thresholds: Thresholds | None = None
    answered: Answered | None = None

    @classmethod
    def of(
        cls,
        log_posterior: Floats,
        label: NDArray[np.integer],
        classes: Sequence[Any],
        weight: Floats | None = None,
        *,
        log_prior: Floats | None = None,
        of: Any = None,
        cost: Any = None,
        precision: float | None = None,
        unsure: float | None = None,
    ) -> Evaluation:
        """Evaluate log posteriors (row, class) of rows whose class codes are known.

        `log_prior` is what (6) compares with: (class,), or (row, class); by default the shares of the classes among
        these rows. The other options are those of `evaluate`.
        """
        log_posterior, label, weight, log_prior = _counting(log_posterior, label, weight, log_prior)
        posterior = np.exp(log_posterior)
        best, n = posterior.argmax(axis=1), len(classes)
        hit, truth = best == label, label[:, None] == np.arange(n)
        loss = -np.log(np.clip(posterior[np.arange(len(label)), label], SMALLEST, 1.0))
        prior = _log_prior(log_prior, truth, weight)[np.arange(len(label)), label]
        against = -np.clip(prior, np.log(SMALLEST), 0.0)
        confused = _confusion(label, best, n, weight)
        top = posterior.max(axis=1)
        return cls(
            tuple(classes),
            len(label),
            float(weight.sum()),
            share(hit, weight),
            _balanced(label, best, weight),
            _log_loss(label, posterior, loss, weight),
            mean(np.square(posterior - truth).sum(axis=1) / (2 if n <= 2 else 1), weight, 0.0, 1.0 if n <= 2 else 2.0),
            calibration_error(top, hit, weight),
            mean(against - loss, weight),
            calibration(top, hit, weight),
            confused,
            tuple(of_class(classes[c], posterior[:, c], truth[:, c], best == c, weight, n <= CURVES) for c in range(n)),
            _thresholds(posterior, truth, classes, weight, of, cost, precision),
            _answered(top, hit, weight, unsure),
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data that JSON can hold; confusions as a list of those that came."""
        names = ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "lift")
        found: dict[str, Any] = {"rows": self.rows, "weight": self.weight}
        found |= {name: getattr(self, name).to_dict() for name in names}
        found["calibration"] = bins_to_dict(self.calibration)
        found["classes"] = [one.to_dict(len(self.classes) <= CURVES) for one in self.by_class]
        found["confusion"] = [
            {"true": self.classes[a], "answer": self.classes[b], "weight": float(self.confusion[a, b])}
            for a, b in np.argwhere(self.confusion > 0).tolist()
        ]
        found["thresholds"] = None if self.thresholds is None else self.thresholds.to_dict()
        found["answered"] = None if self.answered is None else self.answered.to_dict()
        return found

    def __str__(self) -> str:
        return as_text(self)


def evaluate(
    model: Model,
    X: Any,
    y: Any,
    weight: Any = None,
    *,
    of: Any = None,
    cost: Any = None,
    precision: float | None = None,
    unsure: float | None = None,
) -> Evaluation:
    """Evaluate a model on rows whose class is known, best on rows that it was not fitted with.

    With two classes, `of` (by default the last), `cost` and `precision` make a table of thresholds; see
    `evaluation.thresholds`. `unsure=0.9` tells what share of the rows would be answered by a posterior that reaches
    0.9, and the error among those. y may be the name of a column of X.

    >>> from naively import fit
    >>> model = fit({"sky": ["sun", "sun", "rain", "rain"]}, ["yes", "yes", "no", "no"])
    >>> found = evaluate(model, {"sky": ["sun", "rain", "rain"]}, ["yes", "no", "yes"])
    >>> round(found.accuracy.value, 3), found.rows
    (0.667, 3)
    """
    options = {"of": of, "cost": cost, "precision": precision, "unsure": unsure}
    batches = labelled_batches(X, y, weight, like=model)
    parts = [(rows.label_in(model.classes), model.log_posterior(rows.table), rows.weights) for rows in batches]
    label, log_posterior, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Evaluation.of(log_posterior, label, model.classes, weights, log_prior=model.log_prior, **options)


def _counting(
    log_posterior: Floats, label: NDArray[Any], weight: Floats | None, log_prior: Floats | None
) -> tuple[Floats, NDArray[np.intp], Floats, Floats | None]:
    """The rows whose weight is not zero."""
    label = np.asarray(label).astype(np.intp)
    if len(log_posterior) != len(label):
        raise InputError(f"{len(log_posterior)} rows but {len(label)} labels: give one label per row.")
    weight = np.ones(len(label)) if weight is None else np.asarray(weight, dtype=np.float64)
    some = weight > 0
    if not some.any():
        raise InputError("no rows to evaluate: at least one row with a label and a weight is needed.")
    if log_prior is not None and log_prior.ndim == 2:
        log_prior = log_prior[some]
    return log_posterior[some], label[some], weight[some], log_prior


def _log_prior(log_prior: Floats | None, truth: NDArray[np.bool_], weight: Floats) -> Floats:
    if log_prior is None:
        with np.errstate(divide="ignore"):
            log_prior = np.log((truth * weight[:, None]).sum(axis=0) / weight.sum())
    return np.broadcast_to(log_prior, truth.shape)


def _confusion(label: NDArray[np.intp], best: NDArray[np.intp], n: int, weight: Floats) -> Floats:
    from sklearn.metrics import confusion_matrix

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one class only
        found = confusion_matrix(label, best, labels=range(n), sample_weight=weight)
    return np.asarray(found, dtype=np.float64)


def _balanced(label: NDArray[np.intp], best: NDArray[np.intp], weight: Floats) -> Figure:
    """Equation (2), over the classes that came; variances of the shares add up."""
    from sklearn.metrics import balanced_accuracy_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # answers of a class that did not come
        value = float(balanced_accuracy_score(label, best, sample_weight=weight))
    parts = [mean((best == c)[label == c].astype(np.float64), weight[label == c]) for c in np.unique(label)]
    half = float(np.sqrt(sum((part.high - part.value) ** 2 for part in parts))) / len(parts)
    return Figure(value, max(0.0, value - half), min(1.0, value + half))


def _log_loss(label: NDArray[np.intp], posterior: Floats, loss: Floats, weight: Floats) -> Figure:
    """Equation (3), with the spread of the rows."""
    from sklearn.metrics import log_loss

    spread = mean(loss, weight, least=0.0)
    if posterior.shape[1] == 1:
        return spread
    value = float(log_loss(label, posterior, labels=range(posterior.shape[1]), sample_weight=weight))
    return Figure(value, max(0.0, value - (spread.high - spread.value)), value + (spread.high - spread.value))


def _thresholds(
    posterior: Floats,
    truth: NDArray[np.bool_],
    classes: Sequence[Any],
    weight: Floats,
    of: Any,
    cost: Any,
    precision: float | None,
) -> Thresholds | None:
    asked = [name for name, value in (("cost", cost), ("precision", precision)) if value is not None]
    if len(asked) == 2:
        raise InputError("give cost= or precision=, not both.")
    if len(classes) != 2:
        if asked:
            raise InputError(f"{asked[0]}= asks for a threshold between two classes, and there are {len(classes)}.")
        return None
    if of is not None and of not in classes:
        raise InputError(f"of={of!r} is not a class of the model: {', '.join(map(repr, classes))}.")
    c = len(classes) - 1 if of is None else list(classes).index(of)
    return thresholds(classes[c], posterior[:, c], truth[:, c], weight, cost, precision)


def _answered(top: Floats, hit: NDArray[np.bool_], weight: Floats, unsure: float | None) -> Answered | None:
    if unsure is None:
        return None
    sure = if_sure(np.log(top)[:, None], unsure) >= 0
    error = share(~hit[sure], weight[sure]) if sure.any() else NOTHING
    return Answered(unsure, share(sure, weight), error)
