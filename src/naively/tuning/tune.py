"""Tune a model: choose smoothing, families and calibration by leave-one-out, with nothing held out.

1. Take a sample of the rows, those with the smallest hashes of their content, and find out about copies (sample.py).
2. Score each column and block of words, each row as if it had not been counted (loo_scores.py, features.py).
3. Compare choices, each after calibration (search.py).
4. Fit weights, shrunk to a common one, and class offsets (solver.py, calibrate.py).
5. Keep the textbook unless cross-fitted predictions are better by more than chance (calibrate.py), and report them.
6. Compute what each column is worth (importance.py), and warn of one that may hold the answer.

The result does not depend on the order of rows, on batches, on threads, or on the names of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively._kernels.threads import one_thread
from naively._kernels.types import Floats
from naively.data.labelled import LabelsLike, WeightLike
from naively.data.names import listed
from naively.data.read import TableLike
from naively.errors import InputError, TuningWarning, warn_user
from naively.families import Family
from naively.families.base import NotCountedError
from naively.model.calibrate import ANSWER_SHARE, ColumnImportance, EvidenceKey, Tuning
from naively.model.count import rows_to_count
from naively.priors import ClassPrior
from naively.schema.schema import Schema, name_of_part
from naively.statistics import NegativeCountError
from naively.tuning.calibrate import MIN_GAIN_NATS, Calibration, calibrate, choose
from naively.tuning.features import MAX_WEIGHTED_COLUMNS, Features, features_of
from naively.tuning.importance import importance, importance_of_many, parts_of
from naively.tuning.loo_scores import LooScorer
from naively.tuning.sample import FOLDS, Sample, Sampler
from naively.tuning.search import search
from naively.tuning.solver import Problem, log_softmax, with_floor
from naively.tuning.tables import (
    TableRows,
    calibrated,
    choose_tables,
    expected_gain,
    importance_with_tables,
    table_evidence,
)

if TYPE_CHECKING:
    from naively.model.model import Model

MAX_KEPT_ROWS, MAX_ROWS, MAX_TEXTS, MIN_ROWS = 8192, 2048, 4096, 512  # of a sample: if cheap, else; of texts
ROWS_PER_TEXT = 16  # of the table, for each text of a sample beyond MAX_TEXTS
MAX_CELLS, MAX_CHEAP_CELLS = 2**22, 2**18  # (row, column, class) triples of a sample; of one with more than MAX_ROWS
MAX_SEARCHED_CELLS, MIN_SEARCHED_ROWS = 2**20, 256  # of the part of a sample on which choices are compared
MAX_WORDS = 9 * 2**14  # distinct words per row, summed over the rows of a sample that is searched
MAX_CALIBRATED_WORDS = 24 * MAX_WORDS  # the same, of the sample that weights are fitted on
MIN_ANSWER_ROWS = 100  # from which a column that predicts the class almost perfectly gets a warning
MAX_SCORES = 2**20  # (row, class) pairs of a sample of texts
MIN_SHARE_TO_CALIBRATE = 0.5  # of the rows that a model was tuned by: fewer of them cannot take their place


def rows_to_keep(schema: Schema) -> int:
    """Return how many rows to keep while counting: fewer where there are many columns."""
    return int(np.clip(MAX_CELLS // max(1, len(schema.names)), MIN_ROWS, MAX_KEPT_ROWS))


def rows_to_search(model: Model) -> int:
    """Return the size of the sample on which choices are compared."""
    return _rows_within(model, MAX_SEARCHED_CELLS, MAX_WORDS, MIN_SEARCHED_ROWS)


def rows_to_look_at(model: Model) -> int:
    """Return the size of the sample on which weights are fitted: more rows than are searched, if they are cheap."""
    cheap = _rows_within(model, MAX_CHEAP_CELLS, MAX_CALIBRATED_WORDS, MIN_ROWS)
    return max(cheap, min(_rows_within(model, MAX_CELLS, MAX_WORDS, MIN_ROWS), MAX_ROWS))


def _rows_within(model: Model, max_cells: int, max_words: int, min_rows: int) -> int:
    """Return the size of a sample: smaller with many columns, classes or words per text.

    It depends only on what has been counted, so that batches do not matter.
    """
    keep, n_classes = rows_to_keep(model.schema), max(1, len(model.classes))
    if not _has_words(model.schema):
        n_columns = min(max(1, len(model.schema.names)), MAX_WEIGHTED_COLUMNS)
        return int(np.clip(max_cells // (n_columns * n_classes), min_rows, keep))
    blocks = zip(model.chosen.schema.blocks, model.chosen.statistics, strict=True)
    words = sum(statistic.token_weight() for block, statistic in blocks if block.family.has_length)
    words_per_row = words / max(float(model.class_weights.weight.sum()), 1e-300)
    keep = min(keep, max(MAX_TEXTS, int(model.class_weights.rows.sum()) // ROWS_PER_TEXT))
    return int(np.clip(min(max_words / max(words_per_row, 1.0), MAX_SCORES / n_classes), MIN_ROWS, keep))


def _has_words(schema: Schema) -> bool:
    return any(block.family.has_length for block in schema.blocks)


def tune(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None) -> Tuning:
    """Return a tuning from rows that the model has counted."""
    return tune_on(model, sample_of(model, X, y, weight, rows_to_look_at(model)))


def tune_on(model: Model, sample: Sample) -> Tuning:
    """Return a tuning from a sample; refuse rows that the model has not counted."""
    return _tune_on(model, _scored(model, sample))


def tune_and_predict(model: Model, sample: Sample, choices: Tuning | None = None) -> tuple[Tuning, CrossFitted]:
    """Return `tune_on`, and `cross_fitted` under that tuning for the rows that it looks at; score them once.

    With `choices`, its families and length exponents are taken, and only weights and offsets are fitted. Then the
    weights of blocks of words are shrunk to a common one too, as those of columns are.
    """
    scored = _scored(model, sample)
    tuning = _tune_on(model, scored, choices)
    return tuning, _cross_fitted(model.with_tuning(tuning), scored, shrinks_words=choices is not None)


def _tune_on(model: Model, scored: _Scored, choices: Tuning | None = None) -> Tuning:
    try:
        return _with_rows(model, _tuned(scored, choices))
    except (NotCountedError, NegativeCountError) as error:
        raise InputError(f"tune() needs rows that the model has counted, and these were not all: {error}.") from None


def sample_of(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike, limit: int) -> Sample:
    """Return a sample of rows."""
    sampler = Sampler(limit)
    for rows in rows_to_count(model, X, y, weight):
        rows.label_in(model.classes)  # refuses a class that the model does not have
        sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    return sampler.sample(model.classes)


class CrossFitted(NamedTuple):
    """Log posteriors, labels and weights of rows of a sample, and the position of each row's kind in the sample."""

    log_posterior: Floats
    label: NDArray[np.intp]
    weight: Floats
    kind: NDArray[np.intp]


def cross_fitted(model: Model, sample: Sample) -> CrossFitted:
    """Return predictions for a sample, under the current families.

    Each row is scored as if it had not been counted, and calibrated by the other folds, unless the model is the
    textbook. A sample that is too small for that is calibrated by the tuning of the model.
    """
    return _cross_fitted(model, _Scored(LooScorer(model.with_tuning(None), sample)))


@dataclass(eq=False)
class _Scored:
    """A scorer, and its features under the families that the rules have chosen, scored when they are first needed."""

    scorer: LooScorer

    @cached_property
    def textbook(self) -> Features:
        return features_of(self.scorer)


def _scored(model: Model, sample: Sample, rests: Mapping[int, Model] | None = None) -> _Scored:
    """Return a scorer for the rows that tuning looks at."""
    plain = model.with_tuning(None)
    return _Scored(LooScorer(plain, sample.smallest(rows_to_look_at(plain)), rests=rests))


def _cross_fitted(model: Model, scored: _Scored, shrinks_words: bool = False) -> CrossFitted:
    scorer = scored.scorer
    with one_thread():
        kind = np.flatnonzero(scorer.is_usable)
        textbook = scored.textbook
        if model.tuning is None or model.tuning.is_textbook:
            problem, log_posterior = _textbook(scorer, textbook)
        else:
            features = _features_under(scorer, model.tuning, textbook)
            evidence = table_evidence(scorer) if model.tuning.table_weights else None
            if len(kind) < MIN_SHARE_TO_CALIBRATE * model.tuning.rows:
                problem, log_posterior = _as_tuned(scorer, features, model.tuning, evidence)
            else:
                rows = _judge(scorer, _textbook(scorer, textbook)[1], features, shrinks_words)
                problem, calibration = rows.problem, rows.plain
                if evidence is not None:
                    calibration = calibrated(evidence, rows, len(set(model.tuning.table_weights)) > 1)[0]
                log_posterior = calibration.log_posterior
                kind = np.repeat(kind, scorer.sample.n_parts[kind])
    log_posterior = with_floor(_under_prior(model, log_posterior, problem.base), model.floor)
    return CrossFitted(log_posterior, problem.label, problem.weight, kind)


def _under_prior(model: Model, log_posterior: Floats, log_shares: Floats) -> Floats:
    """Return log posteriors under the prior of the model, from those under the class shares; (row, class)."""
    if model.prior == ClassPrior():
        return log_posterior
    weight = np.exp(log_shares) * model.class_weights.weight.sum()
    return log_softmax(log_posterior - log_shares + model.prior.log_probability(model.classes, weight))


def tuned(model: Model, sample: Sample, rests: Mapping[int, Model] | None = None) -> Tuning:
    """Return a tuning from a sample of rows that the model has counted.

    With `rests`, the model without each fold of the sample, folds are left out instead of single rows.
    """
    return _with_rows(model, _tuned(_scored(model, sample, rests)))


def _with_rows(model: Model, tuning: Tuning) -> Tuning:
    """Return the tuning with the number of rows that the model has counted."""
    n_rows = int(model.class_weights.rows.sum())
    tuning = replace(tuning, counted_rows=n_rows)
    return tuning if tuning.plain is None else replace(tuning, plain=replace(tuning.plain, counted_rows=n_rows))


def _tuned(scored: _Scored, choices: Tuning | None = None) -> Tuning:
    scorer = scored.scorer
    model, sample = scorer.model, scorer.sample
    with one_thread():
        _warn_of_copies(model, sample)
        n_rows = int(scorer.is_usable.sum())
        if len(model.classes) < 2 or len(set(sample.label[scorer.is_usable].tolist())) < 2:
            return Tuning(rows=n_rows)
        textbook = features = scored.textbook
        problem, log_posterior = _textbook(scorer, textbook)
        if problem.losses_of(log_posterior).sum() <= MIN_GAIN_NATS:  # no other prediction can gain more
            report = _report(log_posterior, problem)
            worth = _importance_by_textbook(scorer, textbook)
            _warn_of_answers(textbook, worth, report, int(sample.rows.sum()))
            return Tuning(rows=n_rows, report=report, importance=worth)
        is_searched, shrinks_words = sample.is_among_smallest(rows_to_search(model)), choices is not None
        if choices is not None:
            features = _features_under(scorer, choices, textbook)
        elif is_searched.all():
            features = search(scorer, textbook)
        else:
            few = LooScorer(model, sample.where(is_searched), scorer)
            choices = _tuning_of_choices(model, search(few, textbook.where(is_searched, few)))
            if choices.families or choices.exponents:
                features = _features_under(scorer, choices, textbook)
        rows = _judge(scorer, log_posterior, features, shrinks_words)
        if rows.plain.solution is None:
            worth = _importance_by_textbook(scorer, textbook)
        else:
            worth = _importance(features, rows.problem, rows.unit, rows.plain)
        floor = 0.0 if rows.plain.solution is None else 0.5 / max(float(rows.problem.weight.sum()), 1.0)
        report = _report(with_floor(rows.plain.log_posterior, floor), rows.problem)
        _warn_of_answers(features, worth, report, int(sample.rows.sum()))
        tuning = Tuning(rows=n_rows, report=report, importance=worth, floor=floor)
        if rows.plain.solution is not None:
            tuning = _with_weights(_tuning_of_choices(model, features, tuning), model, features, rows.plain)
        evidence = table_evidence(scorer)
        if evidence is not None:
            return _with_tables(scorer, features, rows, evidence, tuning)
        return replace(tuning, together_expected=expected_gain(scorer, rows))


def _with_tables(scorer: LooScorer, features: Features, rows: TableRows, evidence: Floats, plain: Tuning) -> Tuning:
    """Return the tuning with tables of columns, if they are better by more than chance; see `tuning/tables.py`."""
    choice = choose_tables(evidence, rows)
    if not choice.weights:
        return replace(plain, together=choice.gain)
    floor = 0.5 / max(float(rows.problem.weight.sum()), 1.0)
    report = _report(with_floor(choice.log_posterior, floor), rows.problem)
    worth = _importance_with_tables(scorer, features, rows, choice.calibration, choice.weights)
    tuning = Tuning(rows=plain.rows, report=report, importance=worth, floor=floor)
    tuning = _tuning_of_choices(scorer.model, features, tuning)
    tuning = _with_weights(tuning, scorer.model, features, choice.calibration)
    return replace(tuning, table_weights=choice.weights, together=choice.gain, plain=plain)


def _importance_with_tables(
    scorer: LooScorer, features: Features, rows: TableRows, calibration: Calibration, weights: tuple[float, ...]
) -> tuple[ColumnImportance, ...]:
    if not features.has_weight_per_column:
        return ()
    return importance_with_tables(scorer, features, rows, calibration, weights)


def importance_by_rows(
    model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None
) -> tuple[ColumnImportance, ...]:
    """Return what each column is worth, from rows that the model has counted, the highest first."""
    plain = model.with_tuning(None)
    sample = sample_of(plain, X, y, weight, rows_to_look_at(plain))
    try:
        with one_thread():
            return _importance_on(plain, model.tuning, sample)
    except (NotCountedError, NegativeCountError) as error:
        raise InputError(
            f"importance() needs rows that the model has counted, and these were not all: {error}."
        ) from None


def _importance_on(model: Model, tuning: Tuning | None, sample: Sample) -> tuple[ColumnImportance, ...]:
    scorer = LooScorer(model, sample)
    if len(model.classes) < 2 or len(set(sample.label[scorer.is_usable].tolist())) < 2:
        return ()
    features = textbook = features_of(scorer)
    log_posterior = _textbook(scorer, textbook)[1]
    calibration = Calibration(None, 1.0, log_posterior)
    if tuning is not None and not tuning.is_textbook:
        features = _features_under(scorer, tuning, textbook)
        rows = _judge(scorer, log_posterior, features)
        calibration = rows.plain
        evidence = table_evidence(scorer) if tuning.table_weights else None
        if evidence is not None and features.has_weight_per_column:
            with_tables, weights = calibrated(evidence, rows, len(set(tuning.table_weights)) > 1)
            return _importance_with_tables(scorer, features, rows, with_tables, tuple(weights.tolist()))
        if features.has_weight_per_column and calibration.solution is not None:
            return _importance(features, rows.problem, rows.unit, calibration)
    if textbook.has_weight_per_column:
        return _importance_by_textbook(scorer, textbook)
    return importance_of_many(scorer, textbook if calibration.solution is None else features, calibration)


def _importance_by_textbook(scorer: LooScorer, features: Features) -> tuple[ColumnImportance, ...]:
    problem, unit = scorer.problem(features.pieces()), scorer.scaled_weight[1]
    return _importance(features, problem, unit, Calibration(None, 1.0, problem.base))


def _importance(
    features: Features, problem: Problem, unit: Floats, calibration: Calibration
) -> tuple[ColumnImportance, ...]:
    """Return what each column is worth; empty if there are too many to have a weight each."""
    return importance(problem, unit, calibration, parts_of(features)) if features.has_weight_per_column else ()


def _warn_of_answers(
    features: Features, worth: Sequence[ColumnImportance], report: Mapping[str, float], n_rows: int
) -> None:
    """Warn of columns that alone remove nearly all uncertainty: they may be known only after the class is.

    5 % of the uncertainty about two equal classes is left where 0.6 % of the rows are predicted wrongly. A column of
    text is no suspect, nor is the only column: they are what the class is to be predicted from. A few rows say too
    little: of 100 rows without a mistake, 3 in 100 may still be mistaken.
    """
    if n_rows < MIN_ANSWER_ROWS:
        return
    texts = {word.block.names[0] for word in features.words}
    least = ANSWER_SHARE * report["prior_log_loss"]
    answers = [column.column for column in worth if column.alone_low >= least and column.column not in texts]
    if answers and len(worth) > 1:
        predicts = "alone predicts" if len(answers) == 1 else "each alone predict"
        warn_user(
            f"{listed(map(repr, answers))} {predicts} the class almost perfectly. Leave out a column that is known "
            "only after the class is.",
            TuningWarning,
        )


def _warn_of_copies(model: Model, sample: Sample) -> None:
    """Warn where equal rows are taken for copies; a weight of 2 is no surprise."""
    n_copies = np.ones(len(model.classes))
    is_repeated = (sample.rows > 1) & (sample.rows == sample.counts)
    n_copies[sample.label[is_repeated]] = sample.copies[is_repeated]
    if (n_copies > 1).any():
        most = int(n_copies.max())
        copied = listed(repr(label) for label, k in zip(model.classes, n_copies, strict=True) if k > 1)
        warn_user(
            f"the rows of class {copied} come in multiples of up to {most}, as in a table that was copied: tuning "
            "leaves equal rows out together.",
            TuningWarning,
        )


def _features_under(scorer: LooScorer, tuning: Tuning, textbook: Features) -> Features:
    """Return the features under the families and length exponents of a tuning; those of the textbook are given."""
    features = textbook
    if tuning.families:
        model = scorer.model.with_tuning(Tuning(families=tuning.families))
        features = features_of(LooScorer(model, scorer.sample, scorer))
    words = [replace(word, length_exponent=tuning.exponents.get(word.key, 0.0)) for word in features.words]
    return replace(features, words=tuple(words))


def _textbook(scorer: LooScorer, features: Features) -> tuple[Problem, Floats]:
    """Return the usable rows, and their log posteriors by the textbook."""
    problem = scorer.problem(features.summed_pieces())
    return problem, log_softmax(problem.scores(0.0, np.ones(len(problem.evidence))))


def _as_tuned(scorer: LooScorer, features: Features, tuning: Tuning, tables: Floats | None) -> tuple[Problem, Floats]:
    """Return the usable rows, and their log posteriors by the weights and offsets of a tuning."""
    problem = scorer.problem(features.pieces())
    keys, scale = features.keys(), [1.0] * len(features.keys())
    keys += [word.key for word in features.words]
    scale += [word.typical_length**word.length_exponent for word in features.words]
    weight = np.array([tuning.weights.get(key, tuning.default_weight) for key in keys]) / scale
    scores = problem.scores(tuning.offset(scorer.model.classes), weight)
    if tables is not None:
        scores += np.tensordot(tuning.table_weights, tables, axes=1)
    return problem, log_softmax(scores)


def _judge(scorer: LooScorer, textbook: Floats, features: Features, shrinks_words: bool = False) -> TableRows:
    """Return the rows divided among folds, and what is best for them: textbook, class shares or calibration.

    `textbook` are the log posteriors of the usable rows by the textbook. With `shrinks_words`, the weights of blocks of
    words are shrunk to a common one together with those of columns.

    A kind that occurs often is in as many folds as it can fill. Otherwise a table of few kinds would have folds in
    which kinds are missing.
    """
    sample, keep = scorer.sample, scorer.is_usable
    n_parts = sample.n_parts[keep]
    kind = np.repeat(np.arange(len(n_parts)), n_parts)
    nth_part = np.arange(len(kind)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    weight, unit = scorer.scaled_weight
    problem = scorer.problem(features.pieces())
    if len(kind) > len(n_parts):
        problem = replace(problem.rows(kind), weight=(weight / n_parts)[kind])
    fold, n_columns = (sample.fold[keep][kind] + nth_part) % FOLDS, len(features.keys())
    n_shrunk = len(problem.evidence) if shrinks_words else n_columns
    calibration = choose(problem, unit[kind], textbook[kind], calibrate(problem, n_shrunk, fold))
    return TableRows(problem, unit[kind], calibration, kind, fold, n_columns)


def _tuning_of_choices(model: Model, features: Features, tuning: Tuning | None = None) -> Tuning:
    exponents: dict[EvidenceKey | str, float] = {
        word.key: word.length_exponent for word in features.words if word.length_exponent
    }
    return replace(tuning or Tuning(), families=_families(model, features), exponents=exponents)


def _with_weights(tuning: Tuning, model: Model, features: Features, calibration: Calibration) -> Tuning:
    keys, solution = features.keys(), calibration.solution
    assert solution is not None
    weights: dict[EvidenceKey | str, float] = dict(zip(keys, solution.weight.tolist(), strict=False))
    if not features.has_weight_per_column:
        weights = {
            EvidenceKey((name,), block.role): float(w)
            for block, w in zip(features.blocks, solution.weight, strict=False)
            for name in block.names
            if w != calibration.default_weight
        }
    word_weights = zip(features.words, solution.weight[len(keys) :].tolist(), strict=True)
    weights |= {word.key: w * word.typical_length**word.length_exponent for word, w in word_weights}
    offsets = dict(zip(model.classes, solution.offset.tolist(), strict=True))
    return replace(tuning, offsets=offsets, weights=weights, default_weight=calibration.default_weight)


def _families(model: Model, features: Features) -> dict[str, Family]:
    """Return the families that differ from what the rules chose, by column (by the first of a joint block)."""
    by_rule: dict[str, Family] = {}
    for block in sorted(model.chosen.schema.blocks, key=lambda block: block.role == "value"):
        role = "value" if block.role == "presence" else block.role
        by_rule |= {name_of_part(name, role): block.family for name in block.names}
    chosen: dict[str, Family] = {}
    has_presence = set()
    for block in (*features.blocks, *(word.block for word in features.words)):
        if block.family.role == "presence":
            has_presence.add(block.names[0])
            continue
        names = [name_of_part(name, block.role) for name in (block.names[:1] if block.family.joint else block.names)]
        chosen |= {name: block.family for name in names if by_rule[name] != block.family}
    counted = {name: block.family for block in model.schema.blocks for name in block.names}
    for name in has_presence:
        family = chosen.get(name, by_rule.get(name, counted[name]))  # a column of one value has no family by rule
        if family.role == "value":
            chosen[name] = replace(family, missing="value")
    return chosen


def _report(log_posterior: Floats, problem: Problem) -> dict[str, float]:
    return report_of(log_posterior, log_softmax(problem.base), problem.label, problem.weight)


def report_of(log_posterior: Floats, log_prior: Floats, label: NDArray[np.intp], weight: Floats) -> dict[str, float]:
    """Return log-loss and accuracy of predictions for rows that were not counted, and those of the class shares alone.

    `log_loss_error` is the standard error of the log-loss, `n_observations` the number of independent observations.
    """
    true_class = np.arange(len(label)), label
    n = float(weight.sum())
    share, losses = weight / n, -log_posterior[true_class]
    loss = float(share @ losses)
    return {
        "log_loss": loss,
        "log_loss_error": float(np.sqrt(share @ np.square(losses - loss) / n)),
        "prior_log_loss": float(-share @ log_prior[true_class]),
        "accuracy": float(share @ (log_posterior.argmax(axis=1) == label)),
        "prior_accuracy": float(np.bincount(label, weight).max() / n),
        "n_observations": n,
    }
