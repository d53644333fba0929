"""Fit the weights and offsets of a calibration, and decide by cross-fitting whether it replaces the textbook.

The weights of columns are shrunk to a common weight. How strongly is chosen by 5-fold cross-fitting over leave-one-out
evidence; blocks of words keep a weight each. The textbook stays unless the cross-fitted calibration, or the class
shares alone, are better by more than chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.tuning.sample import FOLDS
from naively.tuning.solver import (
    SOLVER_TOLERANCE,
    WEIGHT_PENALTY,
    Floats,
    Problem,
    Solution,
    log_softmax,
    standard_error_of_sum,
)

SHRINKAGE_STRENGTHS = (1.0, 0.1, 0.01)  # of the pull to the common weight, as shares of the rows' own curvature
COLUMN_PENALTY = 0.5  # κ of the pull to the common weight for a column about which the rows say little
MIN_GAIN_NATS = 4.0  # over the sample, to replace the textbook: by chance at most once in e⁴ = 55 tables
CROSS_FIT_TOLERANCE = 1e-5  # enough to compare strengths by


@dataclass(frozen=True, eq=False)
class Calibration:
    """The solution (None for the textbook), the common weight of columns, and cross-fitted log posteriors."""

    solution: Solution | None
    default_weight: float
    log_posterior: Floats


def calibrate(problem: Problem, n_columns: int, fold: NDArray[np.intp]) -> Calibration:
    """Fit weights and offsets.

    Parameters
    ----------
    problem
        The rows: log prior, evidence, targets and weights. The first `n_columns` features are shrunk to one weight.
    n_columns
        Number of features that are columns; the others are blocks of words.
    fold
        The fold of each row.
    """
    group = np.concatenate(
        [np.zeros(n_columns, np.intp), np.arange(len(problem.evidence) - n_columns) + min(n_columns, 1)]
    )
    is_held_out = [fold == f for f in range(FOLDS) if (fold == f).any() and (fold != f).any()]
    every_row = ShrunkWeights.of(problem, group, n_columns)
    other_folds = [every_row.without(held_out) for held_out in is_held_out]
    solution = every_row.common
    default_weight = float(every_row.common.weight[0]) if n_columns else 1.0
    best_loss, best = np.inf, Calibration(solution, default_weight, np.zeros(problem.base.shape))
    for strength in (np.inf, *(SHRINKAGE_STRENGTHS if n_columns > 1 else ())):
        log_posterior = np.zeros_like(problem.base)
        solution = every_row.solve(strength, solution)
        for held_out, fitted in zip(is_held_out, other_folds, strict=True):
            of_fold = fitted.solve(strength, solution, CROSS_FIT_TOLERANCE)
            log_posterior[held_out] = log_softmax(problem.scores(of_fold.offset, of_fold.weight)[held_out])
        loss = float(problem.losses_of(log_posterior).sum())
        if loss >= best_loss:
            break  # weaker strengths would do worse still
        best_loss, best = loss, Calibration(solution, default_weight, log_posterior)
    return best


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


@dataclass(frozen=True, eq=False)
class ShrunkWeights:
    """A problem with its best common weights, to which the weight of each column is shrunk.

    `grouped` is the problem with one feature for all columns, `solution` solves it, and `common` says the same of every
    feature. `prior` is the expected weight of each group, `curvature` is how much the rows determine each weight.
    """

    problem: Problem
    grouped: Problem
    solution: Solution
    common: Solution
    prior: Floats  # of each group
    curvature: Floats
    group: NDArray[np.intp]  # of each feature
    n_columns: int

    @classmethod
    def of(cls, problem: Problem, group: NDArray[np.intp], n_columns: int) -> ShrunkWeights:
        """Fit one weight per group of features."""
        grouped = problem.summed(group, int(group[-1]) + 1 if len(group) else 0)
        prior = prior_weight(grouped)
        solution = grouped.solve(prior, WEIGHT_PENALTY / prior**2)
        common = Solution(solution.offset, solution.weight[group], 0.0)
        curvature, common = problem.curvature_at(common)
        return cls(problem, grouped, solution, common, prior, curvature, group, n_columns)

    def without(self, held_out: NDArray[np.bool_]) -> ShrunkWeights:
        """Return the same for the other rows. Their curvature is close to a share of that of all rows."""
        weight = np.where(held_out, 0.0, self.problem.weight)
        grouped = replace(self.grouped, weight=weight)
        solution = grouped.solve(self.prior, WEIGHT_PENALTY / self.prior**2, self.solution, CROSS_FIT_TOLERANCE)
        return replace(
            self,
            problem=replace(self.problem, weight=weight),
            grouped=grouped,
            solution=solution,
            common=Solution(solution.offset, solution.weight[self.group], 0.0),
            curvature=self.curvature * (weight.sum() / self.problem.weight.sum()),
        )

    def solve(self, strength: float, start: Solution, tolerance: float = SOLVER_TOLERANCE) -> Solution:
        """Return weights pulled to the common one by `strength` times the curvature."""
        if not np.isfinite(strength):
            return self.common
        is_column, prior = np.arange(len(self.group)) < self.n_columns, self.prior[self.group]
        pull = np.where(is_column, strength * self.curvature + COLUMN_PENALTY, WEIGHT_PENALTY / prior**2)
        return self.problem.solve(np.where(is_column, self.common.weight, prior), pull, start, tolerance)
