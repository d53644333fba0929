"""Thresholds for two classes: what each would catch, let pass and cost, and the one that was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError

__all__ = ["Threshold", "Thresholds", "thresholds"]

SHOWN = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Threshold:
    """What answering `of` above a probability does; precision is NaN if it is never answered."""

    threshold: float
    answered: float  # share of the rows
    precision: float
    recall: float
    false_positive_rate: float
    cost: float  # per row, NaN without costs

    def to_dict(self) -> dict[str, float | None]:
        """As plain data, None for NaN."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: None if math.isnan(x) else x for name, x in found.items()}


@dataclass(frozen=True)
class Thresholds:
    """A table of thresholds for the class `of`, and the best by the cost or precision asked for, if there is one."""

    of: Any
    table: tuple[Threshold, ...]
    best: Threshold | None
    asked: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "of": self.of,
            "asked": self.asked,
            "best": None if self.best is None else self.best.to_dict(),
            "table": [row.to_dict() for row in self.table],
        }


def thresholds(
    of: Any, probability: Floats, came: NDArray[np.bool_], weight: Floats, cost: Any, precision: float | None
) -> Thresholds:
    """The table for P(of); `cost` is what a miss costs if a false alarm costs 1, or costs[true][answer] as in predict.

    With `cost` the best threshold has the least cost, with `precision` the highest recall at that precision or better.
    Answers are as `predict(threshold=…)` gives them: `of` if its probability is above the threshold.
    """
    costs = None if cost is None else _costs(cost)
    if precision is not None and not 0 < precision <= 1:
        raise InputError(f"precision={precision}: a share above 0 and up to 1.")
    counts = _Counts.of(probability, came, weight)
    table = tuple(counts.at(t, costs) for t in SHOWN)
    if cost is None and precision is None:
        return Thresholds(of, table, None, "")
    every = [counts.at(t, costs) for t in counts.distinct]
    if precision is not None:
        good = [row for row in every if row.precision >= precision]
        best = max(good, key=lambda row: (row.recall, row.threshold), default=None)
        return Thresholds(of, table, best, f"precision of {precision:g} or better")
    best = min(every, key=lambda row: (row.cost, row.threshold), default=None)
    return Thresholds(of, table, best, "least cost")


def _costs(cost: Any) -> Floats:
    """A 2 × 2 table (true, answer), `of` last."""
    try:
        found = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full((0, 0), np.nan)
    if found.shape == ():
        found = np.array([[0.0, 1.0], [float(found), 0.0]])
    if found.shape != (2, 2) or not np.isfinite(found).all():
        raise InputError(
            f"cost={cost!r}: give what a miss costs if a false alarm costs 1, or a table of 2 × 2 numbers "
            "(rows are the true class, columns the answer)."
        )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Weights of both classes above each distinct probability, descending."""

    distinct: Sequence[float]
    edges: Floats  # ascending
    above: Floats  # (edge + 1, 2): weight of the others and of the class with a probability from edge i on

    @classmethod
    def of(cls, probability: Floats, came: NDArray[np.bool_], weight: Floats) -> _Counts:
        edges, place = np.unique(probability, return_inverse=True)
        sums = np.stack([np.bincount(place[k], weights=weight[k], minlength=len(edges)) for k in (~came, came)], axis=1)
        above = np.concatenate([np.cumsum(sums[::-1], axis=0)[::-1], np.zeros((1, 2))])
        # A threshold between two neighbouring probabilities; the smallest is 0, under which all is answered.
        between = np.concatenate([[0.0], (edges[:-1] + edges[1:]) / 2, [1.0]])
        thin = np.unique(np.linspace(0, len(between) - 1, 10_001).round().astype(np.intp))
        return cls(between[thin].tolist(), edges, above)

    def at(self, threshold: float, costs: Floats | None) -> Threshold:
        false, true = self.above[np.searchsorted(self.edges, threshold, side="right")]
        negative, positive = self.above[0]
        whole = negative + positive
        table = np.array([[negative - false, false], [positive - true, true]])
        nan = math.nan
        return Threshold(
            threshold,
            (false + true) / whole,
            true / (false + true) if false + true > 0 else nan,
            true / positive if positive > 0 else nan,
            false / negative if negative > 0 else nan,
            nan if costs is None else float((table * costs).sum() / whole),
        )
