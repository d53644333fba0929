"""Fitting: a table, files or batches with their labels → a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from naively import data as sources
from naively._kernels.threads import use_threads
from naively.errors import InputError, LeftOutWarning
from naively.model.model import Model, counting
from naively.priors import ClassPrior, PriorLike
from naively.schema.schema import infer
from naively.tuning.tune import Sampler, rows_to_keep, rows_to_look_at, tuned

__all__ = ["fit"]


def fit(
    X: Any,
    y: Any,
    *,
    columns: Any = None,
    prior: PriorLike = "empirical",
    weight: Any = None,
    tune: bool = True,
    n_jobs: int | None = None,
) -> Model:
    """Count a table and its labels, and tune what is computed from the counts; see `Model` for what can be asked.

    X is an array, a sparse matrix, a frame or a mapping; y its labels, or the name of the column to predict;
    rows without a label are left out, and said so.
    `columns` is one family for all columns, or a mapping from a name or a tuple of names to a family; columns not
    named get a family by their type. `tune` chooses smoothing, families and calibration by leave-one-out, so that the
    probabilities can be trusted; `tune=False` is the textbook. `n_jobs` is the number of threads, by default all cores.

    X may also be files (a path, a glob, a folder; see docs/tables.md) or an iterator of batches: y is then the name of
    the column to predict and `weight` that of the weights. They are read once, in a bounded memory; rows without y are
    left out, and said so.

    >>> mail = {"offer": [True, True, False, False], "length": [20, 35, 120, 80]}
    >>> model = fit(mail, ["spam", "spam", "ham", "ham"])
    >>> model.predict({"offer": [True], "length": [30]}).tolist()
    ['spam']
    """
    with use_threads(n_jobs):
        model = _fit(X, y, columns, prior, weight, tune)
    return replace(model, n_jobs=n_jobs)


def _fit(X: Any, y: Any, columns: Any, prior: PriorLike, weight: Any, tune: bool) -> Model:
    """Fit on the threads of the caller."""
    whole = hasattr(X, "__arrow_c_stream__") and not isinstance(y, str)  # a reader can be taken as one table
    if sources.is_path(X) or (sources.is_stream(X) and not whole):
        return _fit_stream(X, y, columns, prior, weight, tune)
    table = sources.read(X)
    target = getattr(y, "name", None)
    if isinstance(y, str):
        table, y, target = *sources.split_target(table, y), y
    table, y, weight = sources.with_labels(table, y, weight, target)
    classes, label = sources.read_labels(y, table.n_rows)
    weights = sources.read_weight(weight, table.n_rows)
    if weights is not None and not weights.all():  # rows of weight zero are invisible, and so are their classes
        table, label, weights = counting(table, label, weights)
        present = np.unique(label)
        classes, label = tuple(classes[c] for c in present), np.searchsorted(present, label).astype(np.int32)
    model = _count_parts([sources.Part(table, classes, label, weights)], columns, tune)
    named = target if isinstance(target, str) else "class"
    return replace(model, prior=ClassPrior.of(prior, classes), target=named)


def _fit_stream(X: Any, target: Any, columns: Any, prior: PriorLike, weight: Any, tune: bool) -> Model:
    """Count files or batches; files are read again from the start when a column turns out to be of another type."""
    if not isinstance(target, str) or not (weight is None or isinstance(weight, str)):
        raise InputError("with files or batches, y (and weight) are the names of columns in them.")
    types: dict[str, str] = {}
    while True:
        try:
            batches = sources.read_files(X, types) if sources.is_path(X) else X
            model = _count_parts(sources.parts(batches, target, weight), columns, tune)
            return replace(model, prior=ClassPrior.of(prior, model.classes), target=target)
        except sources.OtherTypeError as error:
            if not sources.is_path(X) or X == "-" or types.get(error.column) == error.wider:
                raise
            types[error.column] = error.wider
            warnings.warn(f"{error} It was read as {error.wider}.", LeftOutWarning, stacklevel=3)


def _count_parts(parts: Iterable[sources.Part], columns: Any, tune: bool) -> Model:
    """Return the sum of the models of all parts, tuned on a sample of their rows if `tune` is true.

    The first part decides the schema, but for columns in which it has no value.
    """
    total: Model | None = None
    sampler: Sampler | None = None
    for part in parts:
        schema, like = (infer(part.table, columns), ()) if total is None else total.schema_for(part.table)
        model = Model.count(part.table, part.label, part.weight, part.classes, schema, like, to_add=True)
        total = model if total is None else total + model
        if tune:
            sampler = sampler or Sampler(rows_to_keep(schema))
            sampler.add(part.table, part.classes, part.label, part.weight)
    assert total is not None  # `parts` refuses data without rows
    if sampler is None:
        return total
    return total.with_tuning(tuned(total, sampler.sample(total.classes, rows_to_look_at(total))))
