"""Thresholds for two classes: precision, recall and cost at each, and the best one for a goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.types import Bools, Floats
from naively.data.labelled import Label
from naively.errors import InputError

THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MAX_CANDIDATES = 10_001  # thresholds tried to find the best one


@dataclass(frozen=True)
class Threshold:
    """The result of predicting a class above a probability.

    `answered` is the share of the rows for which it is predicted. Precision is NaN if there are none, and `cost`, the
    mean per row, is NaN without costs.
    """

    threshold: float
    answered: float
    precision: float
    recall: float
    false_positive_rate: float
    cost: float


@dataclass(frozen=True)
class Thresholds:
    """A table of thresholds for the class `of`, and the best one for `goal`, if there is a goal and one reaches it."""

    of: Label | None
    goal: str
    best: Threshold | None
    table: tuple[Threshold, ...]


def thresholds(
    of: Label | None,
    probability: Floats,
    observed: Bools,
    weight: Floats,
    costs: ArrayLike | None = None,
    precision: float | None = None,
) -> Thresholds:
    """Return the table of thresholds for P(of), and the best one by `costs` or `precision`.

    Parameters
    ----------
    of
        The class that is predicted if its probability is above the threshold, as in `predict(threshold=…)`.
    probability, observed, weight
        For each row P(of), whether its class is `of`, and its weight.
    costs
        The cost of a miss if a false alarm costs 1, or a 2 × 2 table costs[true][predicted] with `of` last.
        The best threshold has the least cost.
    precision
        The best threshold has the highest recall at this precision or better.
    """
    cost_table = None if costs is None else _cost_table(costs)
    if precision is not None and not 0 < precision <= 1:
        raise InputError(f"precision={precision}: give a share above 0 and up to 1.")
    distinct, weight_from = _weight_from(probability, observed, weight)

    def results(values: Sequence[float]) -> tuple[Threshold, ...]:
        above = weight_from[np.searchsorted(distinct, values, side="right")]
        return tuple(_result(*row, weight_from[0], cost_table) for row in zip(values, above, strict=True))

    table = results(THRESHOLDS)
    if costs is None and precision is None:
        return Thresholds(of, "", None, table)
    candidates = results(_candidates(distinct))
    if precision is not None:
        precise = [row for row in candidates if row.precision >= precision]
        best = max(precise, key=lambda row: (row.recall, row.threshold), default=None)
        return Thresholds(of, f"precision of {precision:g} or better", best, table)
    best = min(candidates, key=lambda row: (row.cost, row.threshold), default=None)
    return Thresholds(of, "least cost", best, table)


def _cost_table(costs: ArrayLike) -> Floats:
    """Return the costs as a 2 × 2 table (true, predicted)."""
    try:
        table = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.full((0, 0), np.nan)
    if table.shape == ():
        table = np.array([[0.0, 1.0], [float(table), 0.0]])
    if table.shape != (2, 2) or not np.isfinite(table).all():
        raise InputError(
            f"costs={costs!r}: give the cost of a miss if a false alarm costs 1, or a table of 2 × 2 numbers "
            "(rows are the true class, columns the predicted one)."
        )
    return table


def _weight_from(probability: Floats, observed: Bools, weight: Floats) -> tuple[Floats, Floats]:
    """Return the distinct probabilities, and the weight of both classes at each of them or above.

    The weights are (probability + 1, 2): of the other class and of the class; the last row is zero.
    """
    distinct, position = np.unique(probability, return_inverse=True)
    sums = [np.bincount(position[k], weights=weight[k], minlength=len(distinct)) for k in (~observed, observed)]
    cumulative = np.cumsum(np.stack(sums, axis=1)[::-1], axis=0)[::-1]
    return distinct, np.concatenate([cumulative, np.zeros((1, 2))])


def _candidates(distinct: Floats) -> list[float]:
    """Return 0, 1 and the middle between neighbouring probabilities, thinned out if there are many."""
    middles = np.concatenate([[0.0], (distinct[:-1] + distinct[1:]) / 2, [1.0]])
    return list(middles[np.unique(np.linspace(0, len(middles) - 1, MAX_CANDIDATES).round().astype(np.intp))].tolist())


def _result(threshold: float, above: Floats, all_rows: Floats, costs: Floats | None) -> Threshold:
    """Return the result of one threshold from the weights of both classes above it and in all rows."""
    (false, true), (negative, positive) = above, all_rows
    total = negative + positive
    confusion = np.array([[negative - false, false], [positive - true, true]])
    return Threshold(
        threshold,
        (false + true) / total,
        true / (false + true) if false + true > 0 else math.nan,
        true / positive if positive > 0 else math.nan,
        false / negative if negative > 0 else math.nan,
        math.nan if costs is None else float((confusion * costs).sum() / total),
    )
