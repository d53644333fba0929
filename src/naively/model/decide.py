"""From probabilities to an answer: the largest, the odds against a threshold, thresholds per class, costs, or none.

answer = of            if P(of | x) / P(not of | x) > γ                 (1)   document 004, (5.26)
answer = argmax_c P(c | x) / t_c                                        (2)
answer = argmin_d Σ_c P(c | x) · cost_cd                                (3)
no answer              if max_c P(c | x) < min_probability                       (4)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import best_class, normalise
from naively.errors import InputError

Floats = NDArray[np.float64]

ROUNDING = 1e-12  # odds that differ from γ by less than this in logs are a tie: sums of logarithms are no better


@dataclass(frozen=True)
class Decision:
    """How a row gets its class: by odds, thresholds, costs or a least probability; without these, the most probable."""

    classes: Sequence[Any]
    odds: float | None = None
    threshold: Any = None
    costs: Any = None
    of: Any = None
    min_probability: float | None = None

    def __post_init__(self) -> None:
        given = (self.odds, self.threshold, self.costs, self.min_probability)
        if sum(option is not None for option in given) > 1:
            raise InputError("give one of odds=, threshold=, costs= and min_probability=, not several.")
        single = self.odds is not None or (self.threshold is not None and self._is_single_threshold)
        if single and self.of is None and len(self.classes) > 2:
            raise InputError(
                f"odds= and a single threshold= decide between two classes, and there are {len(self.classes)}: "
                "say of= which one, or give one threshold per class."
            )

    @property
    def has_rule(self) -> bool:
        """Whether rows are decided by anything but the most probable class."""
        return any(option is not None for option in (self.odds, self.threshold, self.costs, self.min_probability))

    @property
    def _is_single_threshold(self) -> bool:
        return np.ndim(self.threshold) == 0 and not isinstance(self.threshold, Mapping)

    def decide(self, scores: Floats, log_prior: Floats, out: NDArray[np.int32]) -> int:
        """Write the position of each row's class to `out`, −1 for none, and return the number of impossible rows.

        If there is a rule, the scores are normalised in place.
        """
        if not self.has_rule:
            return best_class(scores, log_prior, out)
        n_impossible = normalise(scores, log_prior, 0)
        out[:] = self._by_rule(scores)
        return n_impossible

    def _by_rule(self, log_posterior: Floats) -> NDArray[np.intp]:
        if self.min_probability is not None:
            return answer_if_probable(log_posterior, self.min_probability)
        if self.costs is not None:
            return by_costs(np.exp(log_posterior), self.costs)
        if self.threshold is not None and not self._is_single_threshold:
            return by_thresholds(log_posterior, self.threshold, self.classes)
        gamma = log_threshold(self.odds, None if self.threshold is None else float(self.threshold))
        return by_odds(log_posterior, position_of(self.of, self.classes), gamma)

    def names(self, positions: NDArray[np.int32]) -> NDArray[Any]:
        """Return the classes at these positions; None, in an object array, where a position is −1."""
        names: NDArray[Any] = np.asarray(self.classes)[positions]
        if (positions < 0).any():
            names = names.astype(object)
            names[positions < 0] = None
        return names


def position_of(label: Any, classes: Sequence[Any]) -> int:
    """The place of a class, the last for None."""
    if label is None:
        return len(classes) - 1
    if label not in classes:
        raise InputError(f"{label!r} is not a class of the model: {', '.join(map(repr, classes))}.")
    return list(classes).index(label)


def answer_if_probable(log_posterior: Floats, min_probability: float) -> NDArray[np.intp]:
    """Equation (4): the most probable class, or −1 where its probability does not reach `min_probability`."""
    if not (isinstance(min_probability, (int, float)) and 0 < min_probability <= 1):
        raise InputError(f"min_probability={min_probability!r}: a probability above 0 and up to 1.")
    return np.where(log_posterior.max(axis=1) >= math.log(min_probability) - ROUNDING, log_posterior.argmax(axis=1), -1)


def log_odds_of(log_posterior: Floats, of: int) -> Floats:
    """log P(of) − log P(any other), without taking differences of nearly equal numbers."""
    others = np.delete(log_posterior, of, axis=1)
    if not others.shape[1]:
        return np.full(len(log_posterior), np.inf)
    top = others.max(axis=1)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        rest = top + np.log(np.exp(others - top[:, None]).sum(axis=1))
    return np.asarray(log_posterior[:, of] - rest)


def log_odds_against(log_posterior: Floats, log_prior: Floats, of: int, against: int) -> Floats:
    """log P(of) − log P(against); the prior's odds for a row that rules out both."""
    one, two = log_posterior[:, of], log_posterior[:, against]
    neither = np.isneginf(one) & np.isneginf(two)
    prior = log_prior[of] - log_prior[against] if np.isfinite(log_prior[[of, against]]).any() else 0.0
    out: NDArray[np.float64] = np.full(len(one), prior)
    return np.subtract(one, two, out=out, where=~neither)


def by_odds(log_posterior: Floats, of: int, log_gamma: float) -> NDArray[np.intp]:
    """Equation (1); a tie goes against `of`. With more than two classes, the most probable of the others else."""
    others = log_posterior.copy()
    others[:, of] = -np.inf
    other = others.argmax(axis=1)
    if log_posterior.shape[1] > 1:
        other = np.where(other == of, (of + 1) % log_posterior.shape[1], other)
    tie = ROUNDING * (1.0 + abs(log_gamma)) if math.isfinite(log_gamma) else 0.0
    return np.where(log_odds_of(log_posterior, of) > log_gamma + tie, of, other)


def log_threshold(odds: float | None, threshold: float | None) -> float:
    """The logarithm of γ, given as odds or as a probability."""
    if odds is not None:
        if not odds >= 0:
            raise InputError(f"odds={odds}: the threshold γ is a number from 0 on.")
        return math.log(odds) if odds > 0 else -math.inf
    assert threshold is not None
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold={threshold}: a probability lies between 0 and 1.")
    if threshold in (0, 1):
        return -math.inf if threshold == 0 else math.inf
    return math.log(threshold) - math.log1p(-threshold)


def by_thresholds(log_posterior: Floats, thresholds: Any, classes: Sequence[Any]) -> NDArray[np.intp]:
    """Equation (2)."""
    if isinstance(thresholds, Mapping):
        unlike = set(thresholds) ^ set(classes)
        if unlike:
            raise InputError(f"threshold= must name every class once; look at {sorted(map(str, unlike))}.")
        thresholds = [thresholds[label] for label in classes]
    numbers = np.asarray(thresholds, dtype=np.float64)
    if numbers.shape != (len(classes),):
        raise InputError(f"threshold= has shape {numbers.shape}: give one probability per class ({len(classes)}).")
    if not ((numbers > 0) & (numbers <= 1)).all():
        raise InputError(f"threshold={numbers.tolist()}: probabilities above 0 and up to 1.")
    return np.asarray((log_posterior - np.log(numbers)).argmax(axis=1))


def by_costs(posterior: Floats, costs: Any) -> NDArray[np.intp]:
    """Equation (3); costs[c][d] is the cost of answering d when c is true."""
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "costs must be a square table of numbers: rows are the true class, columns the answer."
        ) from None
    n = posterior.shape[1]
    if matrix.shape != (n, n):
        raise InputError(f"costs has shape {matrix.shape}: rows are the true class, columns the answer, {n} × {n}.")
    if not np.isfinite(matrix).all():
        raise InputError("costs must be finite numbers.")
    return np.asarray((posterior @ matrix).argmin(axis=1))
