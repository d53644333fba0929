"""From probabilities to a class: by odds, by thresholds, by costs, or only if it is probable enough.

    prediction = of            if P(of | x) / P(not of | x) > γ             (1)
    prediction = argmax_c P(c | x) / t_c                                    (2)
    prediction = argmin_d Σ_c P(c | x) · cost_cd                            (3)
    no prediction              if max_c P(c | x) < min_probability          (4)

Source: Murphy, Probabilistic Machine Learning: An Introduction (2022), section 5.1; document 004, (5.26), for (1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.types import Floats, Index
from naively.data.labelled import Label
from naively.data.names import listed
from naively.errors import InputError

Thresholds = ArrayLike | Mapping[Any, float]


class DecisionOptions(TypedDict, total=False):
    """The options of `Model.predict` that choose a decision rule."""

    odds: float | None
    threshold: Thresholds | None
    costs: ArrayLike | None
    of: Label | None
    min_probability: float | None


Rule = Callable[[Floats], Index]  # log posteriors (row, class) → the position of each row's class, −1 for none

ROUNDING = 1e-12  # odds whose logarithms differ by less than this are equal: sums of logarithms are not more precise


def decision_rule(
    classes: Sequence[Label],
    odds: float | None = None,
    threshold: Thresholds | None = None,
    costs: ArrayLike | None = None,
    of: Label | None = None,
    min_probability: float | None = None,
) -> Rule | None:
    """Return the rule that the options of `Model.predict` describe; None is the most probable class."""
    n_options = sum(option is not None for option in (odds, threshold, costs, min_probability))
    if n_options > 1:
        raise InputError("give one of odds=, threshold=, costs= and min_probability=, not several.")
    if not n_options:
        return None
    if min_probability is not None:
        return partial(by_probability, min_probability=min_probability)
    if costs is not None:
        return partial(by_costs, costs=costs)
    if threshold is not None and (np.ndim(threshold) or isinstance(threshold, Mapping)):  # type: ignore[arg-type]
        return partial(by_thresholds, thresholds=threshold, classes=classes)
    if of is None and len(classes) > 2:
        raise InputError(
            f"odds= and a single threshold= decide between two classes, and there are {len(classes)}: "
            "name the class with of=, or give one threshold per class."
        )
    log_gamma = log_threshold(odds, None if threshold is None else float(threshold))  # type: ignore[arg-type]
    return partial(by_odds, of=position_of(of, classes), log_gamma=log_gamma)


def position_of(label: Label | None, classes: Sequence[Label]) -> int:
    """Return the position of a class, the last for None."""
    if label is None:
        return len(classes) - 1
    if label not in classes:
        raise InputError(f"{label!r} is not a class of the model: {listed(map(repr, classes))}.")
    return list(classes).index(label)


def by_probability(log_posterior: Floats, min_probability: float) -> Index:
    """Return the most probable class, or −1 if its probability is below `min_probability`; equation (4)."""
    if not (isinstance(min_probability, (int, float)) and 0 < min_probability <= 1):
        raise InputError(f"min_probability={min_probability!r}: a probability above 0 and up to 1.")
    return np.where(log_posterior.max(axis=1) >= math.log(min_probability) - ROUNDING, log_posterior.argmax(axis=1), -1)


def log_odds_of(log_posterior: Floats, of: int) -> Floats:
    """Return log P(of) − log P(any other class), without subtracting nearly equal numbers."""
    others = np.delete(log_posterior, of, axis=1)
    if not others.shape[1]:
        return np.full(len(log_posterior), np.inf)
    return np.asarray(log_posterior[:, of] - log_sum_exp(others))


def log_sum_exp(logs: Floats) -> Floats:
    """Return log Σ exp of each row; −∞ for a row of −∞."""
    top = logs.max(axis=1)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))


def log_odds_against(log_posterior: Floats, log_prior: Floats, of: int, against: int) -> Floats:
    """Return log P(of) − log P(against); the odds of the prior for a row in which both are impossible."""
    one, two = log_posterior[:, of], log_posterior[:, against]
    neither = np.isneginf(one) & np.isneginf(two)
    prior = log_prior[of] - log_prior[against] if np.isfinite(log_prior[[of, against]]).any() else 0.0
    out: Floats = np.full(len(one), prior)
    return np.subtract(one, two, out=out, where=~neither)


def log_odds_of_row(log_posterior: Sequence[float], log_prior: Sequence[float], of: int, against: int) -> float:
    """Return the same for one row, which is faster than an array of one row."""
    one, two = log_posterior[of], log_posterior[against]
    if one == two == -math.inf:
        one, two = log_prior[of], log_prior[against]
    return 0.0 if one == two else one - two


def by_odds(log_posterior: Floats, of: int, log_gamma: float) -> Index:
    """Return `of` or the most probable other class, by equation (1); equal odds are not enough for `of`."""
    others = log_posterior.copy()
    others[:, of] = -np.inf
    other = others.argmax(axis=1)
    if log_posterior.shape[1] > 1:
        other = np.where(other == of, (of + 1) % log_posterior.shape[1], other)
    tie = ROUNDING * (1.0 + abs(log_gamma)) if math.isfinite(log_gamma) else 0.0
    return np.where(log_odds_of(log_posterior, of) > log_gamma + tie, of, other)


def log_threshold(odds: float | None, threshold: float | None) -> float:
    """Return the logarithm of γ, given as odds or as a probability."""
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


def by_thresholds(log_posterior: Floats, thresholds: Thresholds, classes: Sequence[Label]) -> Index:
    """Return the class with the largest ratio of probability and threshold, equation (2)."""
    if isinstance(thresholds, Mapping):
        unmatched = set(thresholds) ^ set(classes)
        if unmatched:
            raise InputError(f"threshold= must name every class once; check {sorted(map(str, unmatched))}.")
        thresholds = [thresholds[label] for label in classes]
    numbers = np.asarray(thresholds, dtype=np.float64)
    if numbers.shape != (len(classes),):
        raise InputError(f"threshold= has shape {numbers.shape}: give one probability per class ({len(classes)}).")
    if not ((numbers > 0) & (numbers <= 1)).all():
        raise InputError(f"threshold={numbers.tolist()}: probabilities above 0 and up to 1.")
    return np.asarray((log_posterior - np.log(numbers)).argmax(axis=1))


def by_costs(log_posterior: Floats, costs: ArrayLike) -> Index:
    """Return the class of least expected cost, equation (3); costs[c][d] is that of predicting d if c is true."""
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "costs must be a square table of numbers: rows are the true class, columns the predicted one."
        ) from None
    n = log_posterior.shape[1]
    if matrix.shape != (n, n):
        raise InputError(
            f"costs has shape {matrix.shape}: rows are the true class, columns the predicted one, {n} × {n}."
        )
    if not np.isfinite(matrix).all():
        raise InputError("costs must be finite numbers.")
    return np.asarray((np.exp(log_posterior) @ matrix).argmin(axis=1))
