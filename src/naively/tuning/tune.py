"""Tuning: choose smoothing, families and calibration by leave-one-out, with nothing held out.

    1. a sample of the rows, by the smallest hash of their content                          sample.py
    2. the evidence of each column and block of words, each row as if not counted           bench.py, words.py, coins.py
    3. choices, each compared after calibration                                             search.py, bells.py
    4. weights, shrunk to a common one by a strength that is cross-fitted; class offsets    solve.py, here
    5. what it is worth: predictions of each fold by the calibration of the others          here

It is deterministic: order, batches and threads do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.threads import one_thread
from naively.data.labelled import labelled_batches
from naively.errors import InputError
from naively.families import Complement, Multinomial, Presence, Text
from naively.families.base import NotCountedError
from naively.model.calibrate import Tuning
from naively.schema.schema import Schema
from naively.statistics import NegativeCountError, TokenCounts, WordCounts
from naively.tuning.features import NARROW, Features, features_of
from naively.tuning.loo_scores import Bench
from naively.tuning.sample import FOLDS, Sample, Sampler
from naively.tuning.search import searched
from naively.tuning.solver import (
    SOLVER_TOLERANCE,
    WEIGHT_PENALTY,
    Problem,
    Solution,
    log_softmax,
    standard_error_of_sum,
)

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = [
    "Sample",
    "Sampler",
    "cross_fitted",
    "rows_to_keep",
    "rows_to_look_at",
    "sample_of",
    "tune",
    "tune_on",
    "tuned",
]

Floats = NDArray[np.float64]
ROWS, TEXTS, FEWEST = 2048, 4096, 512  # rows to look at
WORDS, SCORES = 9 * 2**14, 2**20  # different words of all texts looked at; numbers of (row, class)
STRENGTHS = (1.0, 0.1, 0.01)  # of the pull to a common weight, as shares of what the rows say
ROUGH = 1e-5  # of the log-loss, relative: good enough to compare strengths by


def rows_to_keep(schema: Schema) -> int:
    """How many rows to keep while counting: fewer where there are many columns."""
    return int(np.clip(2**22 // max(1, len(schema.names)), FEWEST, TEXTS if _with_words(schema) else ROWS))


def rows_to_look_at(model: Model) -> int:
    """How many of them the search looks at: fewer where there are many columns, classes or words in a text.

    What has been counted decides, so that it is the same in whatever pieces the rows came.
    """
    keep, n_classes = rows_to_keep(model.schema), max(1, len(model.classes))
    if not _with_words(model.schema):
        return int(np.clip(2**22 // (min(max(1, len(model.schema.names)), NARROW) * n_classes), FEWEST, keep))
    statistics = [s for s in model.chosen.statistics if isinstance(s, (WordCounts, TokenCounts))]
    words = sum(float(s.cells.sums[1].sum()) for s in statistics) / max(float(model.seen.weight.sum()), 1e-300)
    return int(np.clip(min(WORDS / max(words, 1.0), SCORES / n_classes), FEWEST, keep))


def _with_words(schema: Schema) -> bool:
    return any(isinstance(block.family, (Text, Multinomial, Complement)) for block in schema.blocks)


@dataclass(frozen=True, eq=False)
class Calibration:
    """The solution, the common weight, and the log posteriors of the rows, cross-fitted."""

    solution: Solution
    common: float
    log_posterior: Floats


def tune(model: Model, X: Any, y: Any, weight: Any = None) -> Tuning:
    """A tuning from rows that the model has counted; refused, by name, where it can be seen that it has not."""
    return tune_on(model, sample_of(model, X, y, weight, rows_to_look_at(model)))


def tune_on(model: Model, sample: Sample) -> Tuning:
    """A tuning from a sample of rows that may or may not have been counted."""
    try:
        return tuned(model, sample)
    except (NotCountedError, NegativeCountError) as error:
        raise InputError(f"tune() needs rows that the model has counted, and these were not all: {error}.") from None


def sample_of(model: Model, X: Any, y: Any, weight: Any, limit: int) -> Sample:
    """The sample of some rows."""
    sampler = Sampler(limit)
    for rows in labelled_batches(X, y, weight, like=model):
        rows.label_in(model.classes)  # refuses a class that the model does not have
        sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    return sampler.sample(model.classes)


def cross_fitted(model: Model, sample: Sample) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Log posteriors of a sample, each row as if not counted, its calibration by the other folds; label, weight.

    The families are those in force. An untuned model is not calibrated.
    """
    families = {} if model.tuning is None else model.tuning.families
    plain = model.with_tuning(Tuning(families=families) if families else None)
    with one_thread():
        bench = Bench(plain, sample)
        usable = bench.usable
        features = features_of(bench)
        exponents = {} if model.tuning is None else model.tuning.exponents
        words = tuple(replace(word, words=None, beta=exponents.get(word.key, 0.0)) for word in features.words)
        features = replace(features, words=words)
        base, label, weight = bench.log_prior()[usable], sample.label[usable], sample.weight[usable]
        problem = Problem(base, features.stacked()[:, usable], label, weight)
        if model.tuning is None:
            return log_softmax(problem.scores(0.0, np.ones(len(problem.evidence)))), label, weight
        problem, fold, together = _over_folds(problem, sample.fold[usable], bench.leaving_weight[usable])
        found = calibrated(problem, len(features.keys()), fold, together)
    return found.log_posterior, problem.label, problem.weight


def tuned(model: Model, sample: Sample) -> Tuning:
    """A tuning for a model, from a sample of the rows that it has counted."""
    with one_thread():
        return _tuned(model.with_tuning(None), sample)


def _tuned(model: Model, sample: Sample) -> Tuning:
    bench = Bench(model, sample)
    usable = bench.usable
    if len(model.classes) < 2 or len(np.unique(sample.label[usable])) < 2:
        return Tuning(rows=int(usable.sum()))
    base = bench.log_prior()[usable]
    features = searched(bench, features_of(bench), usable, base)
    problem = Problem(base, features.stacked()[:, usable], sample.label[usable], sample.weight[usable])
    problem, fold, together = _over_folds(problem, sample.fold[usable], bench.leaving_weight[usable])
    calibration = calibrated(problem, len(features.keys()), fold, together)
    return replace(_tuning(model, features, calibration, problem), rows=int(usable.sum()))


def _over_folds(problem: Problem, fold: NDArray[np.intp], together: Floats) -> tuple[Problem, NDArray[np.intp], Floats]:
    """Rows that come often, and leave one at a time, in as many folds as they can fill; their copies stay together.

    Else a table of few different rows, such as all kinds of passengers, would lack whole kinds in every fold.
    """
    parts = np.clip(problem.weight // together, 1, FOLDS).astype(np.intp)
    row = np.repeat(np.arange(len(parts)), parts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    spread = replace(problem.rows(row), weight=(problem.weight / parts)[row])
    return spread, (fold[row] + nth) % FOLDS, together[row]


def calibrated(problem: Problem, n_columns: int, fold: NDArray[np.intp], together: Floats) -> Calibration:
    """Weights and offsets; the first `n_columns` features are pulled to one weight, words have each their own.

    `together` is how much of each row's weight leaves at once.
    """
    n = len(problem.evidence)
    group = np.concatenate([np.zeros(n_columns, np.intp), np.arange(n - n_columns) + min(n_columns, 1)])
    trains = [(problem.rows(fold != f), fold == f) for f in range(FOLDS) if (fold == f).any() and (fold != f).any()]
    whole = _Pull(problem, group, n_columns)
    pulls = [_Pull(train, group, n_columns, whole) for train, _ in trains]
    solution, common = whole.common(), float(whole.centre[0]) if n_columns else 1.0
    best, found = np.inf, Calibration(solution, common, np.zeros(problem.base.shape))
    for strength in (np.inf, *(STRENGTHS if n_columns > 1 else ())):
        log_posterior = np.zeros_like(problem.base)
        solution = whole.solve(strength, solution)
        for (_, rest), pull in zip(trains, pulls, strict=True):
            fitted = pull.solve(strength, solution, ROUGH)
            log_posterior[rest] = log_softmax(problem.rows(rest).scores(fitted.offset, fitted.weight))
        loss = float(-problem.weight @ log_posterior[np.arange(len(fold)), problem.label])
        if loss < best:
            best = loss
            found = Calibration(solution, common, log_posterior)
    return _unless_silence_is_as_good(found, problem, together)


def _unless_silence_is_as_good(found: Calibration, problem: Problem, together: Floats) -> Calibration:
    """The class shares alone, unless what the columns say is better by more than one standard error.

    Of noise, one seed in twelve looks better by chance, and would cost a tenth of a nat on new rows.
    """
    silent, own = log_softmax(problem.base), (np.arange(len(problem.label)), problem.label)
    gain = problem.weight * (found.log_posterior[own] - silent[own])
    if gain.sum() > standard_error_of_sum(gain, problem.weight, together):
        return found
    nothing = Solution(np.zeros(problem.base.shape[1]), np.zeros(len(problem.evidence)), 0.0)
    return Calibration(nothing, 0.0, silent)


class _Pull:
    """A problem, its best common weights, and how much the rows say of each weight there."""

    def __init__(self, problem: Problem, group: NDArray[np.intp], n_columns: int, near: _Pull | None = None) -> None:
        self.problem, self.n_columns = problem, n_columns
        n_groups = int(group[-1]) + 1 if len(group) else 0
        ones = np.ones(n_groups)
        grouped, pull = problem.summed(group, n_groups), WEIGHT_PENALTY * ones
        self.grouped: Solution = (
            grouped.solve(ones, pull) if near is None else grouped.solve(ones, pull, near.grouped, ROUGH)
        )
        self.offset, self.centre = self.grouped.offset, self.grouped.weight[group]

    @cached_property
    def said(self) -> Floats:
        """What the rows say of each weight."""
        return self.problem.curvature_of_weights(self.common())

    def common(self) -> Solution:
        """One weight for all columns."""
        return Solution(self.offset, self.centre, 0.0)

    def solve(self, strength: float, start: Solution | None = None, close: float = SOLVER_TOLERANCE) -> Solution:
        """Weights pulled to the common one by `strength` times what the rows say."""
        if not np.isfinite(strength):
            return self.common()
        pull = np.where(np.arange(len(self.centre)) < self.n_columns, strength * self.said + 1e-3, WEIGHT_PENALTY)
        centre = np.where(np.arange(len(self.centre)) < self.n_columns, self.centre, 1.0)
        return self.problem.solve(centre, pull, start or self.common(), close)


def _tuning(model: Model, features: Features, found: Calibration, problem: Problem) -> Tuning:
    keys = features.keys()
    weights = dict(zip(keys, found.solution.weight.tolist(), strict=False))
    if not features.narrow:
        weights = {name: found.solution.weight[i] for i, b in enumerate(features.blocks) for name in b.names}
        weights = {name: float(w) for name, w in weights.items() if w != found.common}
    words = zip(features.words, found.solution.weight[len(keys) :].tolist(), strict=True)
    weights |= {word.key: w * word.typical**word.beta for word, w in words}
    return Tuning(
        offsets=dict(zip(model.classes, found.solution.offset.tolist(), strict=True)),
        weights=weights,
        exponents={word.key: word.beta for word in features.words if word.beta},
        families=_families(model, features),
        common=found.common,
        report=_report(found.log_posterior, problem),
    )


def _families(model: Model, features: Features) -> dict[str, Any]:
    """The families that are not those the rules chose."""
    ruled = {name: block.family for block in model.chosen.schema.blocks for name in block.names}
    ruled |= {n: b.family for b in model.chosen.schema.blocks if not isinstance(b.family, Presence) for n in b.names}
    chosen: dict[str, Any] = {}
    for block in (*features.blocks, *(word.block for word in features.words)):
        if not isinstance(block.family, Presence):
            names = block.names[:1] if block.family.joint else block.names
            chosen |= {name: block.family for name in names if ruled[name] != block.family}
    gaps = {b.names[0] for b in features.blocks if isinstance(b.family, Presence)}
    for name in gaps:
        if name in ruled and not isinstance(ruled[name], Presence):
            chosen[name] = replace(chosen.get(name, ruled[name]), missing="value")
    return chosen


def _report(log_posterior: Floats, problem: Problem) -> dict[str, float]:
    """Log-loss and accuracy of cross-fitted predictions, and the log-loss of the class shares alone."""
    rows, weight = np.arange(len(problem.label)), problem.weight / problem.weight.sum()
    prior = log_softmax(problem.base)
    return {
        "log_loss": float(-weight @ log_posterior[rows, problem.label]),
        "prior_log_loss": float(-weight @ prior[rows, problem.label]),
        "accuracy": float(weight @ (log_posterior.argmax(axis=1) == problem.label)),
    }
