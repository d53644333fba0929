"""Evaluate a model on the rows that it was trained on.

By default each row is scored without its own counts, and calibrated by the other folds (`tuning.cross_fitted`). This
assumes that rows are independent. Where they are not:

- `groups` names the rows that belong together. Groups are divided into 5 folds; each fold is predicted by the model
  without it, which is a subtraction, tuned on the other folds.
- `time` orders the rows. Each of the last 4 of 5 periods is predicted by a model of all rows before it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.row_hash import mix
from naively._kernels.threads import use_threads
from naively._kernels.types import Floats, Hashes, Index
from naively.data.labelled import LabelledRows, LabelsLike, WeightLike, class_array, read_labelled
from naively.data.names import existing_columns
from naively.data.read import TableLike, read
from naively.errors import InputError, TuningWarning
from naively.evaluation.evaluate import Evaluation, Goals
from naively.evaluation.scored_rows import MAX_COUNTED_ROWS
from naively.families.base import NotCountedError
from naively.model.count import count_like, count_rows
from naively.model.counted import as_counted, counted_rows
from naively.model.merge import with_classes
from naively.model.model import Model, ModelLike
from naively.statistics import NegativeCountError
from naively.tuning.tune import cross_fitted, sample_of, tune

N_FOLDS = 5
Fold = tuple[Index, Index]  # the rows to learn from, and the rows to predict


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
                sample = sample_of(model, X, y, weight, MAX_COUNTED_ROWS)
                log_posterior, label, weights, _ = cross_fitted(model, sample)
            origin = "the model has counted these rows: figures are leave-one-out"
        except (NotCountedError, NegativeCountError) as error:
            raise InputError(
                f"evaluate_training() needs rows that the model has counted, and these were not all: "
                f"{error.remainder}. Use evaluate() for new rows."
            ) from None
    else:
        rows = read_labelled(X, y, weight, like=model, keep_all=True)
        if time is None:
            _refuse_uncounted(model, rows)
        folds = _folds(_group_hashes(rows, groups), N_FOLDS) if time is None else list(_periods(time, rows.n_rows))
        if not folds:
            raise InputError("time= has too few different times: no row has others before it. Give at least five.")
        log_posterior, label, weights = _predict_folds(model, rows, folds, is_counted=time is None)
        if time is None:
            origin = (
                f"the model has counted these rows: each is predicted without its fold of groups ({len(folds)} folds)"
            )
        else:
            origin = f"each of {len(folds)} periods is predicted from the rows before it"
    return replace(Evaluation.of(log_posterior, label, model.classes, weights, **goals), origin=origin)


def cross_validate(
    model: ModelLike,
    X: TableLike,
    y: LabelsLike = None,
    weight: WeightLike = None,
    k: int = 5,
    groups: LabelsLike = None,
    **goals: Unpack[Goals],
) -> Evaluation:
    """Fit models like this one to all folds of the rows but one, and evaluate each on the fold that is left.

    Parameters
    ----------
    model
        A model or its file. Its columns, its class prior, and whether it is tuned are used; what it has counted is not.
    X, y, weight
        Rows, labels and weights, as in `Model.evaluate`.
    k
        The number of folds. The fold of a row is a hash of its content, so that equal rows are in one fold.
    groups
        One value per row, or the name of a column: all rows of a group are in one fold.
    goals
        As in `Model.evaluate`.

    >>> import naively
    >>> x, y = np.arange(60.0) % 7, np.arange(60) % 2
    >>> cross_validate(naively.fit({"x": x}, y), {"x": x}, y, k=3).rows
    60
    """
    if k < 2:
        raise InputError(f"k={k}: give at least 2 folds.")
    model = Model.of(model)
    rows = read_labelled(X, y, weight, like=model)
    label = rows.label_in(model.classes)
    rows = LabelledRows(as_counted(model, rows.table), model.classes, label, rows.weight)
    of_rows = replace(count_like(model.with_tuning(None), rows.without_empty_classes()), prior=model.prior)
    of_rows = with_classes(of_rows, model.classes).with_tuning(model.tuning)
    hashes = rows.table.row_hashes(model.schema.names) if groups is None else _group_hashes(rows, groups)
    folds = _folds(hashes, k)
    predicted = _predict_folds(of_rows, rows, folds)
    evaluation = Evaluation.of(*predicted[:2], model.classes, predicted[2], log_prior=model.log_prior, **goals)
    by = "rows" if groups is None else "groups"
    return replace(
        evaluation, origin=f"models like this one, fitted to these rows without each of {len(folds)} folds of {by}"
    )


def _predict_folds(
    model: Model, rows: LabelledRows, folds: Sequence[Fold], is_counted: bool = True
) -> tuple[Floats, Index, Floats]:
    """Return the log posteriors, labels and weights of all rows that a fold predicts.

    The model of a fold is the model without the rows to predict, or, if `is_counted` is false, that of the rows to
    learn from.
    """
    is_known = rows.in_classes(model.classes)  # the others have weight zero
    label = np.zeros(rows.n_rows, np.intp)
    label[is_known] = rows.where(is_known).without_empty_classes().label_in(model.classes)
    labels, weights = class_array(rows.classes)[rows.label], rows.weights
    plain = model.with_tuning(None)
    posteriors = []
    for learnt, predicted in folds:
        counted = predicted if is_counted else learnt
        fold = count_rows(plain, rows.table.take(counted), labels[counted], weights[counted])
        fold = plain - fold if is_counted else fold
        fold = with_classes(fold, model.classes).with_prior(model.prior)
        if model.tuning is not None:
            with warnings.catch_warnings():  # those of the fit of the model; a fold repeats them
                warnings.simplefilter("ignore", TuningWarning)
                fold = fold.with_tuning(tune(fold, rows.table.take(learnt), labels[learnt], weights[learnt]))
        posteriors.append(fold.log_posterior(rows.table.take(predicted)))
    order = np.concatenate([predicted for _, predicted in folds])
    return np.concatenate(posteriors), label[order], weights[order]


def _refuse_uncounted(model: Model, rows: LabelledRows) -> None:
    """Raise InputError if it is known that the model has not counted all rows."""
    counts = rows.in_classes(model.classes)
    if rows.weight is not None:
        counts &= rows.weight > 0
    rows = rows.where(counts).without_empty_classes()
    counted = counted_rows(model, rows.table, rows.classes, rows.label)
    if (counted.is_known & ~counted.is_counted).any():
        raise InputError(
            "the model has not counted all of these rows, so groups cannot be left out of it. To fit models again "
            "without each fold of groups: cross_validate(…, groups=…), or evaluate --cv 5 --group COLUMN. For new "
            "rows, leave out groups= (--group)."
        )


def _group_hashes(rows: LabelledRows, groups: LabelsLike) -> Hashes:
    """Return the hash of each row's group: the value of a column, or one of a list."""
    if isinstance(groups, str):
        if groups not in rows.table.names:
            raise InputError(f"there is no column {groups!r} of groups{existing_columns(groups, rows.table.names)}")
        return rows.table.row_hashes((groups,))
    names = read({"group": list(groups)})
    if names.n_rows != rows.n_rows:
        raise InputError(f"groups= has {names.n_rows} names for {rows.n_rows} rows.")
    return names.row_hashes()


def _folds(hashes: Hashes, k: int) -> list[Fold]:
    """Return the rows to learn from and the rows to predict; the fold of a group is a hash of its name."""
    fold = mix(hashes) % np.uint64(k)
    folds = np.unique(fold)
    if len(folds) < 2:
        raise InputError("groups= has too few groups to divide into folds: give at least two, better ten.")
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in folds]


def _periods(time: ArrayLike, n_rows: int) -> Iterator[Fold]:
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
