"""Fit the weights and offsets of a calibration, and estimate by cross-fitting what it is worth.

The weights of columns are shrunk to a common weight. How strongly is chosen by 5-fold cross-fitting over leave-one-out
evidence; blocks of words keep a weight each. The same cross-fitted predictions decide whether the columns are used.
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
CROSS_FIT_TOLERANCE = 1e-5  # enough to compare strengths by


@dataclass(frozen=True, eq=False)
class Calibration:
    """The solution, the common weight of columns, and cross-fitted log posteriors of the rows."""

    solution: Solution
    default_weight: float
    log_posterior: Floats


def spread_over_folds(
    problem: Problem, fold: NDArray[np.intp], copies_per_row: Floats
) -> tuple[Problem, NDArray[np.intp], Floats]:
    """Spread rows that occur often, and leave one at a time, over as many folds as they can fill.

    Otherwise a table of few distinct rows would have folds in which whole kinds of rows are missing. Copies that leave
    together stay together.
    """
    parts = np.clip(problem.weight // copies_per_row, 1, FOLDS).astype(np.intp)
    row = np.repeat(np.arange(len(parts)), parts)
    nth_part = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    spread = replace(problem.rows(row), weight=(problem.weight / parts)[row])
    return spread, (fold[row] + nth_part) % FOLDS, copies_per_row[row]


def calibrate(problem: Problem, n_columns: int, fold: NDArray[np.intp], copies_per_row: Floats) -> Calibration:
    """Fit weights and offsets.

    Parameters
    ----------
    problem
        The rows: log prior, evidence, labels and weights. The first `n_columns` features are shrunk to one weight.
    n_columns
        Number of features that are columns; the others are blocks of words.
    fold
        The fold of each row.
    copies_per_row
        How much of each row's weight leaves the model at once. Copies are not independent observations.
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
        loss = float(-problem.weight @ log_posterior[np.arange(len(fold)), problem.label])
        if loss >= best_loss:
            break  # weaker strengths would do worse still
        best_loss, best = loss, Calibration(solution, default_weight, log_posterior)
    return fall_back_to_prior(best, problem, copies_per_row)


def fall_back_to_prior(calibration: Calibration, problem: Problem, copies_per_row: Floats) -> Calibration:
    """Return the class prior alone unless the columns beat it by more than one standard error.

    On pure noise about 1 seed in 12 beats the prior by chance, which would cost 0.1 nats per row on new data.
    """
    true_class = np.arange(len(problem.label)), problem.label
    log_prior = log_softmax(problem.base)
    gain = problem.weight * (calibration.log_posterior[true_class] - log_prior[true_class])
    if gain.sum() > standard_error_of_sum(gain, problem.weight, copies_per_row):
        return calibration
    no_evidence = Solution(np.zeros(problem.n_classes), np.zeros(len(problem.evidence)), 0.0)
    return Calibration(no_evidence, 0.0, log_prior)


@dataclass(frozen=True, eq=False)
class ShrunkWeights:
    """A problem with its best common weights, to which the weight of each column is shrunk.

    `grouped` is the problem with one feature for all columns, `solution` solves it, and `common` says the same of every
    feature. `curvature` is how much the rows determine each weight.
    """

    problem: Problem
    grouped: Problem
    solution: Solution
    common: Solution
    curvature: Floats
    group: NDArray[np.intp]  # of each feature
    n_columns: int

    @classmethod
    def of(cls, problem: Problem, group: NDArray[np.intp], n_columns: int) -> ShrunkWeights:
        """Fit one weight per group of features."""
        grouped = problem.summed(group, int(group[-1]) + 1 if len(group) else 0)
        ones = np.ones(len(grouped.evidence))
        solution = grouped.solve(ones, WEIGHT_PENALTY * ones)
        common = Solution(solution.offset, solution.weight[group], 0.0)
        curvature, common = problem.curvature_at(common)
        return cls(problem, grouped, solution, common, curvature, group, n_columns)

    def without(self, held_out: NDArray[np.bool_]) -> ShrunkWeights:
        """Return the same for the other rows. Their curvature is close to a share of that of all rows."""
        weight = np.where(held_out, 0.0, self.problem.weight)
        grouped = replace(self.grouped, weight=weight)
        ones = np.ones(len(grouped.evidence))
        solution = grouped.solve(ones, WEIGHT_PENALTY * ones, self.solution, CROSS_FIT_TOLERANCE)
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
        is_column = np.arange(len(self.group)) < self.n_columns
        pull = np.where(is_column, strength * self.curvature + 1e-3, WEIGHT_PENALTY)
        return self.problem.solve(np.where(is_column, self.common.weight, 1.0), pull, start, tolerance)
