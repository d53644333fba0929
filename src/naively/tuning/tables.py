"""Decide whether tables of columns are used, and with which weights.

Three candidates are calibrated on the same rows and folds, each row scored as if it had not been counted:

    plain    the columns alone: what was chosen without tables
    one      one more feature, the mean of the evidence of all tables
    own      the evidence of each table, each weight shrunk to the common one

A candidate replaces the one before it if its cross-fitted predictions gain more than two standard errors, and more
than one row can lose; "own" is looked at only after "one" has won. The choice flatters itself on small samples. So the
report is that of a choice made for each fold by the other folds. With one standard error it is still too good
(docs/decisions/0028).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Floats
from naively.families.together import TableTree, TableView, WeightedTables, count_keys
from naively.model.calibrate import ColumnImportance
from naively.schema.plan_tables import plan_if_possible
from naively.tuning.calibrate import Calibration, calibrate
from naively.tuning.features import Features
from naively.tuning.importance import (
    MAX_REFIT_CELLS,
    Part,
    gains_alone,
    losses_refitted,
    means_and_intervals,
    parts_of,
    ranked,
)
from naively.tuning.loo_scores import LooScorer
from naively.tuning.sample import FOLDS
from naively.tuning.solver import WEIGHT_PENALTY, Problem, standard_error_of_sum

MIN_STANDARD_ERRORS = 2.0  # of the gain, to use tables or to weigh each of them
MAX_IMPORTANCE_ROWS = 2048  # of the sample, whose tables are counted again without each column
N_TRIED_TABLES = 16  # half of them take half of the time, and recognise as many models
TRIED_ROWS, MAX_TRIED_CELLS = 1024, 2**20  # of the sample, up to twice as many if it is small; (table, row, class)
MIN_TRIED_ROWS = 100
TRIED_WEIGHTS = (0.5, 1.0, 2.0, 4.0)  # of the mean evidence of all tables


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows to calibrate on: those of the columns alone, what was chosen for them, and their folds.

    `unit` is how much of the weight of each row is one observation, `kind` its position among the usable rows.
    """

    problem: Problem
    unit: Floats
    plain: Calibration
    kind: NDArray[np.intp]
    fold: NDArray[np.intp]
    n_columns: int


@dataclass(frozen=True, eq=False)
class TableChoice:
    """The candidate that was chosen.

    `weights` are those of the tables, empty if they are not used. `log_posterior` are predictions after a choice by the
    other folds. `gain` is the gain over the columns alone by these, in nats per row, with a 95 % interval.
    """

    calibration: Calibration
    weights: tuple[float, ...]
    log_posterior: Floats
    gain: tuple[float, float, float]


def table_evidence(scorer: LooScorer) -> Floats | None:
    """Return the evidence of the tables of a model for usable rows, (table, row, class); None if it has no tables."""
    parts = []
    for usable, model, leaving in scorer.usable_parts():
        if model.schema.tables is None or model.table_counts is None:
            return None
        plan, counts, total = model.schema.tables, model.table_counts, model.class_weights.weight
        rows = scorer.sample.table.take(usable)
        if leaving.weight.any():
            parts.append(TableTree.of(counts, total).leave_one_out(plan.view(rows).keys(), leaving))
            continue
        part = np.zeros((counts.n_columns, len(usable), len(model.classes)))  # the model has not counted these rows
        for t, alone in enumerate(np.eye(counts.n_columns)):
            table = WeightedTables.of(plan, counts, total, alone)
            table.score(table.view(rows), part[t])
        parts.append(part)
    return np.concatenate(parts, axis=1) if parts else None


def choose_tables(evidence: Floats, rows: TableRows) -> TableChoice:
    """Return the best of plain, one and own."""
    n_tables = len(evidence)
    candidates = [(rows.plain, np.zeros(n_tables))]
    weight, unit = rows.problem.weight, rows.unit
    every_row = np.ones(len(rows.fold), bool)
    while len(candidates) < 3:
        candidate = calibrated(evidence, rows, has_own_weights=len(candidates) == 2)
        gain = _losses(candidates[-1][0], rows) - _losses(candidate[0], rows)
        if not is_better(gain, rows, every_row):
            if len(candidates) == 1:
                gain_and_interval = means_and_intervals(gain[None], weight, unit)[0]
                return TableChoice(rows.plain, (), rows.plain.log_posterior, gain_and_interval)
            break
        candidates.append(candidate)
    calibration, weights = candidates[-1]
    log_posterior = _nested(candidates, rows)
    gain = _losses(rows.plain, rows) - rows.problem.losses_of(log_posterior)
    gain_and_interval = means_and_intervals(gain[None], weight, unit)[0]
    return TableChoice(calibration, tuple(weights.tolist()), log_posterior, gain_and_interval)


def expected_gain(scorer: LooScorer, rows: TableRows) -> tuple[float, ...]:
    """Return what tables would gain, for a model that has none; empty if it is no more than chance.

    The tables are those of some sampled rows, which are few, and the weights of the columns stay. So the gain of
    `choose_tables` is usually larger. It is in nats per row, with a 95 % interval. The one weight of the tables is
    chosen for each fold by the other folds.
    """
    n_rows = min(TRIED_ROWS, MAX_TRIED_CELLS // (N_TRIED_TABLES * len(scorer.model.classes)))
    if scorer.leaves_groups_out or n_rows < MIN_TRIED_ROWS:
        return ()
    step = max(1, int(scorer.is_usable.sum()) // n_rows)
    usable, keep = np.flatnonzero(scorer.is_usable)[::step], np.flatnonzero(rows.kind % step == 0)
    table = scorer.sample.table.take(usable)
    plan = plan_if_possible(scorer.model.schema, table, scorer.model.chosen.left_out, N_TRIED_TABLES)
    if plan is None:
        return ()
    evidence = _evidence_of_sample(scorer, usable, plan.view(table)).mean(axis=0)[rows.kind[keep] // step]
    tried = replace(rows, problem=rows.problem.rows(keep), unit=rows.unit[keep], fold=rows.fold[keep])
    plain = rows.plain.log_posterior[keep]
    losses = tried.problem.losses_of_tables(np.multiply.outer(TRIED_WEIGHTS, evidence), plain)
    gains = tried.problem.losses_of(plain) - losses  # (weight, row)
    gain = gains[0]
    for f in range(FOLDS):
        others = tried.fold != f
        gain = np.where(others, gain, gains[gains[:, others].sum(axis=1).argmax()])
    if not is_better(gain, tried, np.ones(len(gain), bool)):
        return ()
    return means_and_intervals(gain[None], tried.problem.weight, tried.unit)[0]


def calibrated(evidence: Floats, rows: TableRows, has_own_weights: bool) -> tuple[Calibration, Floats]:
    """Return the calibration with tables, and the weight of each table.

    The solution of the calibration has the weights of columns and words only.
    """
    n_tables = len(evidence)
    features = evidence[:, rows.kind]
    if not has_own_weights:
        features = features.mean(axis=0, keepdims=True)
    problem = replace(rows.problem, evidence=np.concatenate([rows.problem.evidence, features]))
    calibration = calibrate(problem, rows.n_columns, rows.fold, len(features))
    solution, n_plain = calibration.solution, len(rows.problem.evidence)
    assert solution is not None
    weights = (
        solution.weight[n_plain:] if has_own_weights else np.repeat(solution.weight[n_plain:] / n_tables, n_tables)
    )
    centre, pull, group = calibration.penalty
    penalty = centre[:n_plain], pull[:n_plain], group[:n_plain]
    solution = replace(solution, weight=solution.weight[:n_plain], curvature=None)
    return replace(calibration, solution=solution, penalty=penalty), weights


def importance_with_tables(
    scorer: LooScorer, features: Features, rows: TableRows, calibration: Calibration, weights: tuple[float, ...]
) -> tuple[ColumnImportance, ...]:
    """Return what each column is worth in a model with tables: equations (1) and (2) of `importance.py`.

    Without a column, each table reads its other columns. The counts of such tables are not known, so those of the
    sampled rows take their place, with the column and without it. The tables get a common factor of their weights, and
    the weights of columns and words are fitted again, unless there is too much work. In a large sample, every k-th row
    stands for k rows.
    """
    step = -(-int(scorer.is_usable.sum()) // MAX_IMPORTANCE_ROWS)
    usable, keep = np.flatnonzero(scorer.is_usable)[::step], np.flatnonzero(rows.kind % step == 0)
    table_scores, without = _scores_of_sample(scorer, usable, np.array(weights), rows.kind[keep] // step)
    problem, unit = rows.problem.rows(keep), step * rows.unit[keep]
    problem = replace(problem, weight=step * problem.weight)
    parts = {part.column: part for part in parts_of(features)}
    parts |= {name: Part(name, 1, []) for name in without if name not in parts}
    is_refitted = len(parts) * problem.evidence.size <= MAX_REFIT_CELLS

    def losses_without(dropped: list[int], scores: Floats) -> Floats:
        return _losses_with_factor(problem, calibration, np.array(dropped, dtype=np.intp), scores, is_refitted)

    total, out = losses_without([], table_scores), []
    for part in parts.values():
        losses = losses_without(part.features, without.get(part.column, table_scores))
        [worth] = means_and_intervals((losses - total)[None], problem.weight, unit)
        alone = gains_alone(problem, problem.evidence[part.features].sum(axis=0)[None])
        [interval] = means_and_intervals(alone, problem.weight, unit)
        out.append(ColumnImportance(part.column, *worth, *interval, part.n_columns))
    return ranked(out)


def _losses_with_factor(
    problem: Problem, calibration: Calibration, dropped: NDArray[np.intp], scores: Floats, is_refitted: bool
) -> Floats:
    """Return the loss of each row without some features, where the scores of tables (row, class) get a new factor.

    The other weights are fitted again with it if `is_refitted`, else they stay.
    """
    solution, (centre, pull, group) = calibration.solution, calibration.penalty
    assert solution is not None
    if not is_refitted:
        weight = solution.weight.copy()
        weight[dropped] = 0.0
        problem = replace(problem, base=problem.scores(solution.offset, weight), evidence=problem.evidence[:0])
        solution = replace(solution, offset=np.zeros_like(solution.offset), weight=weight[:0])
        centre, pull, group, dropped = centre[:0], pull[:0], group[:0], dropped[:0]
    problem = replace(problem, evidence=np.concatenate([problem.evidence, scores[None]]))
    penalty = np.append(centre, 1.0), np.append(pull, WEIGHT_PENALTY), np.append(group, group.max(initial=-1) + 1)
    solution = replace(solution, weight=np.append(solution.weight, 1.0), curvature=None)
    [losses] = losses_refitted(problem, replace(calibration, solution=solution, penalty=penalty), [dropped])
    return np.asarray(losses)


def _scores_of_sample(
    scorer: LooScorer, usable: NDArray[np.intp], weights: Floats, kind: NDArray[np.intp]
) -> tuple[Floats, dict[str, Floats]]:
    """Return the weighted evidence of tables of sampled rows, (row, class), and the same without each column."""
    tables = scorer.model.schema.tables
    assert tables is not None
    used = np.flatnonzero(weights)
    view = tables.view(scorer.sample.table.take(usable)).take_tables(used)
    evidence = _evidence_of_sample(scorer, usable, view)
    full = np.einsum("m,mic->ic", weights[used], evidence)
    without = {}
    for position, name in enumerate(tables.columns):
        reads = np.flatnonzero((view.plan.columns == position).any(axis=1))
        rest = _evidence_of_sample(scorer, usable, view.take_tables(reads).without_column(position))
        without[name] = (full + np.einsum("m,mic->ic", weights[used[reads]], rest - evidence[reads]))[kind]
    return full[kind], without


def _evidence_of_sample(scorer: LooScorer, usable: NDArray[np.intp], view: TableView) -> Floats:
    """Return the evidence of tables that have counted these rows of the sample only, each row left out."""
    n_classes = len(scorer.model.classes)
    label, weight = scorer.sample.label[usable].astype(np.int32), scorer.sample.weight[usable].astype(np.float64)
    total = np.bincount(label, weight, n_classes).astype(np.float64)
    keys = view.keys()
    tree = TableTree.of(count_keys(keys, label, None if (weight == 1).all() else weight, n_classes), total)
    return tree.leave_one_out(keys, scorer.leaving.part(usable))


def _losses(calibration: Calibration, rows: TableRows) -> Floats:
    return rows.problem.losses_of(calibration.log_posterior)


def is_better(gain: Floats, rows: TableRows, keep: NDArray[np.bool_]) -> bool:
    """Return whether some rows gain enough.

    A posterior has a floor, so one row loses at most log(2 n C) nats of n rows and C classes. A smaller gain could be
    lost with a single row that the sample happens not to have.
    """
    largest_loss = np.log(2.0 * rows.problem.weight.sum() * rows.problem.n_classes)
    chance = standard_error_of_sum(gain[keep], rows.problem.weight[keep], rows.unit[keep])
    return bool(gain[keep].sum() > max(largest_loss * keep.mean(), MIN_STANDARD_ERRORS * chance))


def _nested(candidates: list[tuple[Calibration, Floats]], rows: TableRows) -> Floats:
    """Return predictions of each fold by the candidate that the other folds choose."""
    log_posterior = rows.plain.log_posterior.copy()
    losses = [_losses(calibration, rows) for calibration, _ in candidates]
    for f in range(FOLDS):
        best, others = 0, rows.fold != f
        while best + 1 < len(candidates) and is_better(losses[best] - losses[best + 1], rows, others):
            best += 1
        log_posterior[~others] = candidates[best][0].log_posterior[~others]
    return log_posterior
