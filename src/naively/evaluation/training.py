"""How good a model is, from the rows that it was trained on and nothing else.

By itself, each row is scored as if it had not been counted, and calibrated by what the other folds say
(`tuning.cross_fitted`): on long data, a sample of the rows with the smallest hashes. That takes the rows as
independent. Where they are not, `groups` says which belong together: groups fall into 5 folds, and each fold is
predicted by the model without it, which is a subtraction, tuned on the rest. `time` gives an order: each of the last 4
of 5 stretches is predicted by a model of all rows before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import data as sources
from naively._kernels.threads import use_threads
from naively.data.labelled import read_labelled
from naively.data.row_hash import mix, row_hashes
from naively.errors import InputError
from naively.evaluation import Evaluation
from naively.tuning.tune import cross_fitted, sample_of, tune

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["evaluate_training"]

ROWS = 20_000  # a share of 0.9 is then known to 0.002
FOLDS = 5


def evaluate_training(
    model: Model, X: Any, y: Any, weight: Any = None, groups: Any = None, time: Any = None, **asked: Any
) -> Evaluation:
    """The evaluation; `asked` are the questions of `Model.evaluate`.

    >>> import naively
    >>> x, y = np.arange(60.0) % 7, np.arange(60) % 2
    >>> model = naively.fit({"x": x}, y)
    >>> bool(model.evaluate_training({"x": x}, y).accuracy.value < 0.7)
    True
    """
    if groups is not None and time is not None:
        raise InputError("give groups= or time=, not both.")
    if groups is None and time is None:
        sample = sample_of(model, X, y, weight, ROWS)
        with use_threads(model.n_jobs):
            predicted = cross_fitted(model, sample)
        return Evaluation.of(*_ordered(*predicted, model.classes), **asked)
    counted = read_labelled(X, y, weight, like=model, keep_all=True)
    table, classes, label, weights = counted.table, counted.classes, counted.label, counted.weights
    labels = np.asarray(classes)[label]
    splits = _group_folds(groups, table.n_rows) if time is None else _stretches(time, table.n_rows)
    place = np.array([model.classes.index(c) for c in classes])
    posteriors, rows = [], []
    for rest, ask in splits:
        learnt = _without(model, table, labels, weights, rest, ask, forwards=time is not None)
        posteriors.append(learnt.log_posterior(table.take(ask)))
        rows.append(ask)
    chosen = np.concatenate(rows)
    found = np.concatenate(posteriors), place[label[chosen]], weights[chosen]
    return Evaluation.of(*_ordered(*found, model.classes), **asked)


def _ordered(
    log_posterior: NDArray[np.float64], label: NDArray[Any], weight: NDArray[np.float64], classes: tuple[Any, ...]
) -> tuple[Any, Any, Any, Any]:
    return log_posterior, label, classes, weight


def _without(
    model: Model,
    table: sources.Table,
    labels: NDArray[Any],
    weights: NDArray[np.float64],
    rest: NDArray[np.intp],
    ask: NDArray[np.intp],
    forwards: bool,
) -> Model:
    """The model of the rest: what is left of it, or the rows before; tuned if the model is."""
    plain = model.with_tuning(None)
    if forwards:
        left = plain.of_rows(table.take(rest), labels[rest], weights[rest])
    else:
        left = plain.forget(table.take(ask), labels[ask], weights[ask])
    left = left.with_classes(model.classes).with_prior(model.prior)
    if model.tuning is None:
        return left
    return left.with_tuning(tune(left, table.take(rest), labels[rest], weights[rest]))


def _group_folds(groups: Any, n_rows: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rest and fold, whole groups in each; the fold of a group is a hash of its name."""
    named = sources.read({"group": list(groups)})
    if named.n_rows != n_rows:
        raise InputError(f"groups= has {named.n_rows} names for {n_rows} rows.")
    fold = mix(row_hashes(named)) % np.uint64(FOLDS)
    present = np.unique(fold)
    if len(present) < 2:
        raise InputError(
            "groups= has one group only, or too few to be told apart: nothing would be left to learn from."
        )
    for f in present:
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def _stretches(time: Any, n_rows: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows before, and the stretch after them; equal times stay together."""
    when = np.asarray(time)
    if len(when) != n_rows:
        raise InputError(f"time= has {len(when)} moments for {n_rows} rows.")
    order = np.argsort(when, kind="stable")
    edges = [when[order[k * n_rows // FOLDS]] for k in range(1, FOLDS)]
    for start, stop in zip(edges, [*edges[1:], None], strict=True):
        before = np.flatnonzero(when < start)
        after = np.flatnonzero((when >= start) & ((when < stop) if stop is not None else True))
        if len(before) and len(after):
            yield before, after
