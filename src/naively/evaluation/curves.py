"""Curves: probabilities against what came (calibration), and what each class can be told apart by (ROC, precision)."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.evaluation.intervals import Figure, area, effective, share

__all__ = ["Bin", "OfClass", "calibration", "calibration_error", "of_class"]

BINS = 15
POINTS = 101  # of a curve, at most
Floats = NDArray[np.float64]


class Bin(NamedTuple):
    """Rows with about the same probability: their weight, the mean of what was said, and the share that came."""

    weight: float
    probability: float
    came: Figure


@dataclass(frozen=True, eq=False)
class OfClass:
    """One class against all others; figures are NaN, and curves empty, where there are no rows to tell.

    `roc` has points (false positive rate, true positive rate), `precision_recall` (recall, precision).
    """

    label: Any
    weight: float
    precision: Figure
    recall: Figure
    auc: Figure
    average_precision: float
    roc: Floats
    precision_recall: Floats
    calibration: tuple[Bin, ...]

    def to_dict(self, curves: bool = True) -> dict[str, Any]:
        """As plain data."""
        found: dict[str, Any] = {"class": self.label, "weight": self.weight}
        found |= {name: getattr(self, name).to_dict() for name in ("precision", "recall", "auc")}
        found["average_precision"] = None if math.isnan(self.average_precision) else self.average_precision
        if curves:
            found |= {name: getattr(self, name).tolist() for name in ("roc", "precision_recall")}
            found["calibration"] = bins_to_dict(self.calibration)
        return found


def bins_to_dict(bins: tuple[Bin, ...]) -> list[dict[str, Any]]:
    """A calibration curve as plain data."""
    return [{"weight": b.weight, "probability": b.probability, "came": b.came.to_dict()} for b in bins]


def calibration(probability: Floats, came: NDArray[Any], weight: Floats) -> tuple[Bin, ...]:
    """Rows in 15 bins of equal weight by their probability; equal probabilities are never parted."""
    place = _bin_of(probability, weight)
    return tuple(
        Bin(
            float(weight[own].sum()),
            float(np.average(probability[own], weights=weight[own])),
            share(came[own], weight[own]),
        )
        for own in (np.flatnonzero(place == b) for b in np.unique(place))
    )


def _bin_of(probability: Floats, weight: Floats) -> NDArray[np.intp]:
    """The bin of each row: where the middle of its ties lies among all rows."""
    distinct, place = np.unique(probability, return_inverse=True)
    tied = np.bincount(place, weights=weight, minlength=len(distinct))
    middle = (np.cumsum(tied) - tied / 2) / tied.sum()
    return np.asarray(np.minimum((middle * BINS).astype(np.intp), BINS - 1)[place])


def calibration_error(probability: Floats, came: NDArray[Any], weight: Floats) -> Figure:
    """Σ over the bins of their share of the rows times |share that came − mean probability|."""
    place, total = _bin_of(probability, weight), float(weight.sum())
    error = variance = 0.0
    for b in np.unique(place):
        own = place == b
        part, difference = float(weight[own].sum()) / total, came[own] - probability[own]
        gap = float(np.average(difference, weights=weight[own]))
        spread = float(np.average(np.square(difference - gap), weights=weight[own]))
        error += part * abs(gap)
        variance += part * part * spread / max(effective(weight[own]), 1.0)
    half = 1.959963984540054 * math.sqrt(variance)
    return Figure(error, max(0.0, error - half), min(1.0, error + half))


def of_class(
    label: Any, probability: Floats, came: NDArray[np.bool_], answered: NDArray[np.bool_], weight: Floats, curves: bool
) -> OfClass:
    """What can be said of one class; metrics are scikit-learn's."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

    both = bool(came.any()) and not came.all()
    auc = float(roc_auc_score(came, probability, sample_weight=weight)) if both else math.nan
    roc = pairs = np.zeros((0, 2))
    if both and curves:
        false, true, _ = roc_curve(came, probability, sample_weight=weight)
        precision, recall, _ = precision_recall_curve(came, probability, sample_weight=weight)
        roc, pairs = _thinned(np.stack([false, true], axis=1)), _thinned(np.stack([recall, precision], axis=1)[::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "no positive class": it is NaN below
        average = float(average_precision_score(came, probability, sample_weight=weight)) if came.any() else math.nan
    return OfClass(
        label,
        float(weight[came].sum()),
        share(came[answered], weight[answered]),
        share(answered[came], weight[came]),
        area(auc, effective(weight[came]), effective(weight[~came])),
        average,
        roc,
        pairs,
        calibration(probability, came, weight) if curves else (),
    )


def _thinned(points: Floats) -> Floats:
    """At most so many points of a curve, its ends among them: those nearest to equal steps of the first coordinate."""
    if len(points) <= POINTS:
        return points
    step = np.linspace(0, len(points) - 1, POINTS).round().astype(np.intp)
    return points[np.unique(step)]
