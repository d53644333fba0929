"""Curves: calibration, ROC and precision–recall of each class."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from naively._kernels.types import Bools, Floats, Index
from naively.data.plain import JsonObject, as_plain
from naively.evaluation.agreement import estimate, f1_of
from naively.evaluation.intervals import Estimate, area, around, effective_rows, share
from naively.evaluation.ranking import Ranking
from naively.families.evidence import Z

N_BINS = 15
MAX_CURVE_POINTS = 101


class CalibrationBin(NamedTuple):
    """Rows of similar probability: their weight, mean probability, and the share in which the event was observed."""

    weight: float
    probability: float
    observed: Estimate


@dataclass(frozen=True, eq=False)
class ClassMetrics:
    """One class against all others.

    `roc` has points (false positive rate, true positive rate), `precision_recall` (recall, precision). Without rows of
    the class or of others, estimates are NaN and curves are empty. `f1_baseline` is F1 if every row gets the class that
    is most probable by the prior.
    """

    label: object
    weight: float
    precision: Estimate
    recall: Estimate
    f1: Estimate
    f1_baseline: float
    auc: Estimate
    average_precision: float
    roc: Floats
    precision_recall: Floats
    calibration: tuple[CalibrationBin, ...]

    def to_dict(self, curves: bool = True) -> JsonObject:
        """Return plain data, with the curves or without them."""
        left_out = ("label",) if curves else ("label", "roc", "precision_recall", "calibration")
        metrics = {name: value for name, value in as_plain(self).items() if name not in left_out}
        return {"class": self.label, **metrics}


def calibration(probability: Floats, observed: Bools, weight: Floats) -> tuple[CalibrationBin, ...]:
    """Sort the rows into 15 bins of equal weight by their probability; rows of equal probability share a bin."""
    bin_of_row = _bin_of_rows(probability, weight)
    return tuple(
        CalibrationBin(
            float(weight[rows].sum()),
            float(np.average(probability[rows], weights=weight[rows])),
            share(observed[rows], weight[rows]),
        )
        for rows in (np.flatnonzero(bin_of_row == b) for b in np.unique(bin_of_row))
    )


def _bin_of_rows(probability: Floats, weight: Floats) -> Index:
    """Return the bin of each row, by the rank of the middle of all rows with the same probability."""
    distinct, position = np.unique(probability, return_inverse=True)
    tied = np.bincount(position, weights=weight, minlength=len(distinct))
    middle = (np.cumsum(tied) - tied / 2) / tied.sum()
    return np.asarray(np.minimum((middle * N_BINS).astype(np.intp), N_BINS - 1)[position])


def calibration_error(probability: Floats, observed: Bools, weight: Floats) -> Estimate:
    """Return Σ over the bins of their share of the rows times |observed share − mean probability|."""
    bin_of_row, total = _bin_of_rows(probability, weight), float(weight.sum())
    error = variance = 0.0
    for b in np.unique(bin_of_row):
        rows = bin_of_row == b
        bin_share, residual = float(weight[rows].sum()) / total, observed[rows] - probability[rows]
        bias = float(np.average(residual, weights=weight[rows]))
        spread = float(np.average(np.square(residual - bias), weights=weight[rows]))
        error += bin_share * abs(bias)
        variance += bin_share * bin_share * spread / max(effective_rows(weight[rows]), 1.0)
    return around(error, Z * math.sqrt(variance))


def class_metrics(
    label: object,
    probability: Floats,
    observed: Bools,
    predicted: Bools,
    by_prior: Bools,
    weight: Floats,
    curves: bool,
) -> ClassMetrics:
    """Return the metrics of one class against all others, as scikit-learn defines them.

    `predicted` and `by_prior` are the rows that the model and the prior alone predict as this class.
    """
    is_known = bool(weight[observed].any())
    has_both = is_known and bool(weight[~observed].any())
    ranking = Ranking.of(observed, probability, weight) if is_known else None
    auc = ranking.area if ranking and has_both else math.nan
    roc = precision_recall = np.zeros((0, 2))
    if ranking and has_both and curves:
        roc = _thin(np.stack(ranking.roc(), axis=1))
        precision_recall = _thin(np.stack(ranking.precision_recall(), axis=1))
    return ClassMetrics(
        label,
        float(weight[observed].sum()),
        share(observed[predicted], weight[predicted]),
        share(predicted[observed], weight[observed]),
        estimate(f1_of(1), _two_by_two(observed, predicted, weight), effective_rows(weight)),
        f1_of(1)(_two_by_two(observed, by_prior, weight))[0],
        area(auc, effective_rows(weight[observed]), effective_rows(weight[~observed])),
        ranking.average_precision if ranking else math.nan,
        roc,
        precision_recall,
        calibration(probability, observed, weight) if curves else (),
    )


def _two_by_two(observed: Bools, predicted: Bools, weight: Floats) -> Floats:
    """Return the weight of the rows, (is of the class, is predicted as the class)."""
    return np.bincount(2 * observed + predicted, weight, 4).reshape(2, 2).astype(np.float64)


def _thin(points: Floats) -> Floats:
    """Return at most 101 points of a curve at equal steps, its ends among them."""
    if len(points) <= MAX_CURVE_POINTS:
        return points
    step = np.linspace(0, len(points) - 1, MAX_CURVE_POINTS).round().astype(np.intp)
    return points[np.unique(step)]
