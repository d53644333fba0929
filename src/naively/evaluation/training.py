"""Evaluate a model on the rows that it was trained on.

By default each row is scored without its own counts, and calibrated by the other folds (`tuning.cross_fitted`). This
assumes that rows are independent. Where they are not:

- `groups` names the rows that belong together. Groups are divided into 5 folds; each fold is predicted by the model
  without it, which is a subtraction, tuned on the other folds.
- `time` orders the rows. Each of the last 4 of 5 periods is predicted by a model of all rows before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.threads import use_threads
from naively._kernels.types import Floats, Index
from naively.data.labelled import LabelledRows, LabelsLike, WeightLike, class_array, read_labelled
from naively.data.read import TableLike, read
from naively.data.row_hash import mix
from naively.errors import InputError
from naively.evaluation.evaluate import Evaluation, Goals
from naively.families.base import NotCountedError
from naively.model.count import count_rows
from naively.model.merge import with_classes
from naively.model.model import Model
from naively.statistics import NegativeCountError
from naively.tuning.tune import cross_fitted, sample_of, tune

MAX_ROWS = 20_000  # estimates a share of 0.9 to within 0.002 (one standard error)
N_FOLDS = 5


def evaluate_training(
    model: Model,
    X: TableLike,
    y: LabelsLike,
    weight: WeightLike = None,
    groups: LabelsLike = None,
    time: ArrayLike | None = None,
    **goals: Unpack[Goals],
) -> Evaluation:
    """Evaluate a model on its training rows, of which large data is sampled. See `Model.evaluate_training`.

    >>> import naively
    >>> x, y = np.arange(60.0) % 7, np.arange(60) % 2
    >>> model = naively.fit({"x": x}, y)
    >>> bool(model.evaluate_training({"x": x}, y).accuracy.value < 0.7)
    True
    """
    if groups is not None and time is not None:
        raise InputError("give groups= or time=, not both.")
    if groups is None and time is None:
        try:
            with use_threads(model.n_jobs):
                log_posterior, label, weights = cross_fitted(model, sample_of(model, X, y, weight, MAX_ROWS))
        except (NotCountedError, NegativeCountError) as error:
            raise InputError(
                f"evaluate_training() needs rows that the model has counted, and these were not all: "
                f"{error.remainder}. Use evaluate() for new rows."
            ) from None
    else:
        rows = read_labelled(X, y, weight, like=model, keep_all=True)
        log_posterior, label, weights = _predict_folds(model, rows, groups, time)
    return Evaluation.of(log_posterior, label, model.classes, weights, **goals)


def _predict_folds(
    model: Model, rows: LabelledRows, groups: LabelsLike, time: ArrayLike | None
) -> tuple[Floats, Index, Floats]:
    """Return the log posteriors, labels and weights of all rows that a fold predicts."""
    is_known = rows.in_classes(model.classes)  # the others have weight zero
    label = np.zeros(rows.n_rows, np.intp)
    label[is_known] = rows.where(is_known).without_empty_classes().label_in(model.classes)
    labels, weights = class_array(rows.classes)[rows.label], rows.weights
    folds = list(_group_folds(groups, rows.n_rows) if groups is not None else _periods(time, rows.n_rows))
    if not folds:
        raise InputError("time= has too few different times: no row has others before it. Give at least five.")
    plain = model.with_tuning(None)
    posteriors = []
    for learnt, predicted in folds:
        counted = predicted if time is None else learnt
        fold = count_rows(plain, rows.table.take(counted), labels[counted], weights[counted])
        fold = plain - fold if time is None else fold
        fold = with_classes(fold, model.classes).with_prior(model.prior)
        if model.tuning is not None:
            fold = fold.with_tuning(tune(fold, rows.table.take(learnt), labels[learnt], weights[learnt]))
        posteriors.append(fold.log_posterior(rows.table.take(predicted)))
    order = np.concatenate([predicted for _, predicted in folds])
    return np.concatenate(posteriors), label[order], weights[order]


def _group_folds(groups: LabelsLike, n_rows: int) -> Iterator[tuple[Index, Index]]:
    """Yield the rows to learn from and the rows to predict; the fold of a group is a hash of its name."""
    names = read({"group": list(groups)})
    if names.n_rows != n_rows:
        raise InputError(f"groups= has {names.n_rows} names for {n_rows} rows.")
    fold = mix(names.row_hashes()) % np.uint64(N_FOLDS)
    folds = np.unique(fold)
    if len(folds) < 2:
        raise InputError("groups= has too few groups to divide into folds: give at least two, better ten.")
    for f in folds:
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def _periods(time: ArrayLike | None, n_rows: int) -> Iterator[tuple[Index, Index]]:
    """Yield the rows before a period, and the rows of the period; equal times are in one period."""
    when = np.asarray(time)
    if len(when) != n_rows:
        raise InputError(f"time= has {len(when)} times for {n_rows} rows.")
    order = np.argsort(when, kind="stable")
    edges = [when[order[k * n_rows // N_FOLDS]] for k in range(1, N_FOLDS)]
    for start, stop in zip(edges, [*edges[1:], None], strict=True):
        before = np.flatnonzero(when < start)
        period = np.flatnonzero((when >= start) & ((when < stop) if stop is not None else True))
        if len(before) and len(period):
            yield before, period
