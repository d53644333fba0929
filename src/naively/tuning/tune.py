"""Tune a model: choose smoothing, families and calibration by leave-one-out, with nothing held out.

1. Take a sample of the rows, those with the smallest hashes of their content (sample.py).
2. Score each column and block of words, each row as if it had not been counted (loo_scores.py, features.py).
3. Compare choices, each after calibration (search.py).
4. Fit weights, shrunk to a common one, and class offsets (solver.py, calibrate.py).
5. Report what cross-fitted predictions are worth.

The result does not depend on the order of rows, on batches or on threads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively._kernels.threads import one_thread
from naively.data.labelled import LabelsLike, WeightLike, labelled_batches
from naively.data.read import TableLike
from naively.errors import InputError
from naively.families import Family
from naively.families.base import NotCountedError
from naively.model.calibrate import EvidenceKey, Tuning
from naively.priors import ClassPrior
from naively.schema.schema import Schema
from naively.statistics import NegativeCountError
from naively.tuning.calibrate import Calibration, calibrate, spread_over_folds
from naively.tuning.features import MAX_WEIGHTED_COLUMNS, Features, features_of
from naively.tuning.loo_scores import LooScorer
from naively.tuning.sample import Sample, Sampler
from naively.tuning.search import search
from naively.tuning.solver import Floats, Problem, log_softmax, one_hot

if TYPE_CHECKING:
    from naively.model.model import Model

MAX_ROWS, MAX_TEXTS, MIN_ROWS = 2048, 4096, 512  # of a sample
MAX_WORDS = 9 * 2**14  # distinct words per row, summed over the rows of a sample
MAX_SCORES = 2**20  # (row, class) pairs of a sample of texts
MAX_CELLS = 2**22  # (row, column, class) triples of a sample


def rows_to_keep(schema: Schema) -> int:
    """Return how many rows to keep while counting: fewer where there are many columns."""
    most = MAX_TEXTS if _has_words(schema) else MAX_ROWS
    return int(np.clip(MAX_CELLS // max(1, len(schema.names)), MIN_ROWS, most))


def rows_to_look_at(model: Model) -> int:
    """Return the size of the sample: smaller with many columns, classes or words per text.

    It depends only on what has been counted, so that batches do not matter.
    """
    keep, n_classes = rows_to_keep(model.schema), max(1, len(model.classes))
    if not _has_words(model.schema):
        n_columns = min(max(1, len(model.schema.names)), MAX_WEIGHTED_COLUMNS)
        return int(np.clip(MAX_CELLS // (n_columns * n_classes), MIN_ROWS, keep))
    blocks = zip(model.chosen.schema.blocks, model.chosen.statistics, strict=True)
    words = sum(statistic.token_weight() for block, statistic in blocks if block.family.has_length)
    words_per_row = words / max(float(model.class_weights.weight.sum()), 1e-300)
    return int(np.clip(min(MAX_WORDS / max(words_per_row, 1.0), MAX_SCORES / n_classes), MIN_ROWS, keep))


def _has_words(schema: Schema) -> bool:
    return any(block.family.has_length for block in schema.blocks)


def tune(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None) -> Tuning:
    """Return a tuning from rows that the model has counted."""
    return tune_on(model, sample_of(model, X, y, weight, rows_to_look_at(model)))


def tune_on(model: Model, sample: Sample) -> Tuning:
    """Return a tuning from a sample; refuse rows that the model has not counted."""
    try:
        return tuned(model, sample)
    except (NotCountedError, NegativeCountError) as error:
        raise InputError(f"tune() needs rows that the model has counted, and these were not all: {error}.") from None


def sample_of(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike, limit: int) -> Sample:
    """Return a sample of rows."""
    sampler = Sampler(limit)
    for rows in labelled_batches(X, y, weight, like=model):
        rows.label_in(model.classes)  # refuses a class that the model does not have
        sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    return sampler.sample(model.classes)


def cross_fitted(model: Model, sample: Sample) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Return log posteriors, labels and weights of a sample, under the current families.

    Each row is scored as if it had not been counted, and calibrated by the other folds. A model without a tuning is not
    calibrated.
    """
    families = {} if model.tuning is None else model.tuning.families
    plain = model.with_tuning(Tuning(families=families) if families else None)
    with one_thread():
        scorer = LooScorer(plain, sample)
        features = features_of(scorer)
        exponents = {} if model.tuning is None else model.tuning.exponents
        words = [replace(word, length_exponent=exponents.get(word.key, 0.0)) for word in features.words]
        features = replace(features, words=tuple(words))
        log_prior = scorer.log_prior()[scorer.is_usable]
        if model.tuning is None:
            problem = _problem(scorer, features, log_prior)
            log_posterior = log_softmax(problem.scores(0.0, np.ones(len(problem.evidence))))
        else:
            problem, calibration = _calibrated(scorer, features, log_prior)
            log_posterior = calibration.log_posterior
    return _under_prior(model, log_posterior, problem.base), problem.label, problem.weight


def _under_prior(model: Model, log_posterior: Floats, log_shares: Floats) -> Floats:
    """Return log posteriors under the prior of the model, from those under the class shares; (row, class)."""
    if model.prior == ClassPrior():
        return log_posterior
    weight = np.exp(log_shares) * model.class_weights.weight.sum()
    return log_softmax(log_posterior - log_shares + model.prior.log_probability(model.classes, weight))


def tuned(model: Model, sample: Sample) -> Tuning:
    """Return a tuning from a sample of rows that the model has counted."""
    model = model.with_tuning(None)
    with one_thread():
        scorer = LooScorer(model, sample)
        n_rows = int(scorer.is_usable.sum())
        if len(model.classes) < 2 or len(np.unique(sample.label[scorer.is_usable])) < 2:
            return Tuning(rows=n_rows)
        log_prior = scorer.log_prior()[scorer.is_usable]
        features = search(scorer, features_of(scorer), log_prior)
        problem, calibration = _calibrated(scorer, features, log_prior)
    return _tuning(model, features, calibration, problem, n_rows)


def _problem(scorer: LooScorer, features: Features, log_prior: Floats) -> Problem:
    sample, keep = scorer.sample, scorer.is_usable
    target = one_hot(sample.label[keep], log_prior.shape[1])
    return Problem(log_prior, features.stacked().compress(keep, axis=1), target, sample.weight[keep])


def _calibrated(scorer: LooScorer, features: Features, log_prior: Floats) -> tuple[Problem, Calibration]:
    """Return the rows spread over folds, and their calibration."""
    sample, keep = scorer.sample, scorer.is_usable
    spread, fold, copies_per_row = spread_over_folds(
        _problem(scorer, features, log_prior), sample.fold[keep], scorer.leaving.weight[keep]
    )
    return spread, calibrate(spread, len(features.keys()), fold, copies_per_row)


def _tuning(model: Model, features: Features, calibration: Calibration, problem: Problem, n_rows: int) -> Tuning:
    keys, solution = features.keys(), calibration.solution
    weights: dict[EvidenceKey | str, float] = dict(zip(keys, solution.weight.tolist(), strict=False))
    if not features.has_weight_per_column:
        weights = {
            EvidenceKey((name,), block.family.role): float(w)
            for block, w in zip(features.blocks, solution.weight, strict=False)
            for name in block.names
            if w != calibration.default_weight
        }
    word_weights = zip(features.words, solution.weight[len(keys) :].tolist(), strict=True)
    weights |= {word.key: w * word.typical_length**word.length_exponent for word, w in word_weights}
    return Tuning(
        offsets=dict(zip(model.classes, solution.offset.tolist(), strict=True)),
        weights=weights,
        exponents={word.key: word.length_exponent for word in features.words if word.length_exponent},
        families=_families(model, features),
        default_weight=calibration.default_weight,
        rows=n_rows,
        report=_report(calibration.log_posterior, problem),
    )


def _families(model: Model, features: Features) -> dict[str, Family]:
    """Return the families that differ from what the rules chose, by column (by the first of a joint block)."""
    by_rule: dict[str, Family] = {}
    for block in sorted(model.chosen.schema.blocks, key=lambda block: block.family.role == "value"):
        by_rule |= dict.fromkeys(block.names, block.family)
    chosen: dict[str, Family] = {}
    has_presence = set()
    for block in (*features.blocks, *(word.block for word in features.words)):
        if block.family.role == "presence":
            has_presence.add(block.names[0])
            continue
        names = block.names[:1] if block.family.joint else block.names
        chosen |= {name: block.family for name in names if by_rule[name] != block.family}
    for name in has_presence:
        if name in by_rule and by_rule[name].role == "value":
            chosen[name] = replace(chosen.get(name, by_rule[name]), missing="value")
    return chosen


def _report(log_posterior: Floats, problem: Problem) -> dict[str, float]:
    """Return log-loss and accuracy of cross-fitted predictions, and the log-loss of the class shares alone."""
    true_class = np.arange(len(problem.label)), problem.label
    share = problem.weight / problem.weight.sum()
    return {
        "log_loss": float(-share @ log_posterior[true_class]),
        "prior_log_loss": float(-share @ log_softmax(problem.base)[true_class]),
        "accuracy": float(share @ (log_posterior.argmax(axis=1) == problem.label)),
    }
