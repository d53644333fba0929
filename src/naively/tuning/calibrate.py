"""Fit the weights and offsets of a calibration, and decide by cross-fitting whether it replaces the textbook.

The weights of columns are shrunk to a common weight. How strongly is chosen by 5-fold cross-fitting over leave-one-out
evidence; blocks of words keep a weight each. The textbook stays unless the cross-fitted calibration, or the class
shares alone, are better by more than chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Floats
from naively.tuning.sample import FOLDS
from naively.tuning.solver import (
    MAX_WEIGHT,
    WEIGHT_PENALTY,
    Problem,
    Solution,
    log_softmax,
    standard_error_of_sum,
)

SHRINKAGE_STRENGTHS = (1.0, 0.1, 0.01)  # of the pull to the common weight, as shares of the rows' own curvature
COLUMN_PENALTY = 0.5  # κ of the pull to the common weight for a column about which the rows say little
MIN_GAIN_NATS = 4.0  # over the sample, to replace the textbook: by chance at most once in e⁴ = 55 tables
CROSS_FIT_TOLERANCE = 1e-6  # nats per row: enough to compare strengths by; folds that stop early look better
FINAL_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class Calibration:
    """The solution (None for the textbook), the common weight of columns, and cross-fitted log posteriors.

    `penalty` is what the solution was found under: centre and strength of the pull on each feature, and its group.
    With `has_common_weight`, the features of a group have one weight, and centre and strength are those of the group.
    """

    solution: Solution | None
    default_weight: float
    log_posterior: Floats
    penalty: tuple[Floats, Floats, NDArray[np.intp]] = (np.zeros(0), np.zeros(0), np.zeros(0, np.intp))
    has_common_weight: bool = False


def calibrate(problem: Problem, n_columns: int, fold: NDArray[np.intp], n_tables: int = 0) -> Calibration:
    """Fit weights and offsets.

    Parameters
    ----------
    problem
        The rows: log prior, evidence, targets and weights. The first `n_columns` features are shrunk to one weight.
    n_columns
        Number of features that are columns; the others are blocks of words.
    fold
        The fold of each row.
    n_tables
        Number of features, the last ones, that are tables of columns. They have a common weight of their own, which is
        pulled to 0; several of them have weights that are shrunk to it as those of columns are.
    """
    n_words, first_word = len(problem.evidence) - n_columns - n_tables, min(n_columns, 1)
    n_groups = first_word + n_words + min(n_tables, 1)
    group = np.repeat(np.arange(n_groups), [n_columns] * first_word + [1] * n_words + [n_tables] * min(n_tables, 1))
    is_held_out = [fold == f for f in range(FOLDS) if (fold == f).any() and (fold != f).any()]
    row_weight = problem.weight * ~np.array([np.zeros_like(fold, bool), *is_held_out])  # all rows; those of other folds
    grouped = problem.summed(group, n_groups)
    prior = prior_weight(grouped)
    pull, n = WEIGHT_PENALTY / prior**2, len(row_weight)
    if n_tables:
        prior[-1], pull[-1] = 0.0, WEIGHT_PENALTY
    solution = grouped.solve(prior, pull)
    settings = np.tile(prior, (n, 1)), np.tile(pull, (n, 1)), [solution] * n, CROSS_FIT_TOLERANCE
    common = [solution, *grouped.solve_each(row_weight, *settings)[1:]]
    curvature, start = problem.curvature_at(replace(solution, weight=solution.weight[group]))
    share = row_weight.sum(axis=1, keepdims=True) / problem.weight.sum()  # of the curvature, nearly
    solutions = [replace(start, offset=s.offset, weight=s.weight[group]) for s in common]
    position = np.arange(len(group))
    is_shrunk = (position < n_columns) | ((n_tables > 1) & (position >= n_columns + n_words))
    centre = np.where(is_shrunk, [s.weight for s in solutions], prior[group])
    pulls = np.full_like(centre, np.inf)

    def held_out_by(of_folds: Sequence[Solution]) -> Floats:
        """Return the log posterior of each row by the solution without its fold."""
        log_posterior = np.zeros_like(problem.base)
        for held_out, scores in zip(is_held_out, problem.scores_of_each(of_folds), strict=True):
            log_posterior[held_out] = log_softmax(scores[held_out])
        return log_posterior

    best_loss, best = np.inf, (solutions[0], pulls[0], np.zeros_like(problem.base))
    for strength in (np.inf, *(SHRINKAGE_STRENGTHS if max(n_columns, n_tables) > 1 else ())):
        if np.isfinite(strength):
            pulls = np.where(is_shrunk, strength * share * curvature + COLUMN_PENALTY, pull[group])
            full = problem.solve(centre[0], pulls[0], solutions[0], CROSS_FIT_TOLERANCE)
            starts = [moved(s, solutions[0], full, float(k)) for s, k in zip(solutions[1:], share[1:, 0], strict=True)]
            solutions = [full, *problem.solve_each(row_weight[1:], centre[1:], pulls[1:], starts, CROSS_FIT_TOLERANCE)]
        log_posterior = held_out_by(solutions[1:])
        loss = float(problem.losses_of(log_posterior).sum())
        if loss >= best_loss:
            break  # weaker strengths would do worse still
        best_loss, best = loss, (solutions[0], pulls[0], log_posterior)
    solution, own_pull, log_posterior = best
    has_common_weight = not np.isfinite(own_pull).all()
    penalty = prior[group], pull[group], group
    if not has_common_weight:
        solution = problem.solve(centre[0], own_pull, solution, FINAL_TOLERANCE)
        penalty = centre[0], own_pull, group
    default_weight = float(common[0].weight[0]) if n_columns else 1.0
    return Calibration(solution, default_weight, log_posterior, penalty, has_common_weight)


def moved(start: Solution, before: Solution, after: Solution, share: float) -> Solution:
    """Return the solution of a fold, moved as that of all rows has moved, with that share of its curvature."""
    weight = np.clip(start.weight + (after.weight - before.weight), 0.0, MAX_WEIGHT)
    curvature = None if after.curvature is None else share * after.curvature
    return Solution(start.offset + (after.offset - before.offset), weight, 0.0, curvature)


def choose(problem: Problem, unit: Floats, textbook: Floats, calibration: Calibration) -> Calibration:
    """Return the textbook, the class shares alone or the calibration.

    The textbook stays unless another gains more than `MIN_GAIN_NATS` over the sample. If the textbook were right, its
    likelihood ratio to any other prediction would have the mean 1, so by Markov's inequality g nats are gained with
    probability e^−g at most. The calibration replaces the class shares if it gains more than a standard error. The
    class shares are no candidate if the textbook is right more often than they are by more than four standard errors.

    Parameters
    ----------
    problem
        The rows.
    unit
        How much of the weight of each row is one observation.
    textbook
        Log posteriors of the rows by the textbook, (row, class).
    calibration
        The calibration of the rows.
    """
    no_evidence = Solution(np.zeros(problem.n_classes), np.zeros(len(problem.evidence)), 0.0)
    shares = Calibration(no_evidence, 0.0, log_softmax(problem.base))
    best = Calibration(None, 1.0, textbook)
    top_share = np.max(problem.weight @ problem.target) / problem.weight.sum()
    hits = problem.weight * ((textbook.argmax(axis=1) == problem.label) - top_share)
    is_evidence = hits.sum() > 4.0 * standard_error_of_sum(hits, problem.weight, unit)
    for candidate in (calibration,) if is_evidence else (shares, calibration):
        gain = problem.losses_of(best.log_posterior) - problem.losses_of(candidate.log_posterior)
        chance = standard_error_of_sum(gain, problem.weight, unit)
        if gain.sum() > (MIN_GAIN_NATS if best.solution is None else chance):
            best = candidate
    return best


def prior_weight(problem: Problem) -> Floats:
    """Return the weight of each feature that is expected before its rows are compared with their labels.

    It is the textbook's 1, but not so much that the odds between the best two classes are above N + 2 to 1 in the mean
    row: more cannot be learnt from N rows. Without this, rows that are easily separated would make a text certain.
    """
    top = np.partition(problem.evidence, -2, axis=2)[:, :, -2:]
    margin = (top[:, :, 1] - top[:, :, 0]) @ problem.weight
    total = float(problem.weight.sum())
    return np.asarray(np.minimum(1.0, total * np.log(total + 2.0) / np.maximum(margin, 1e-300)))
