"""Fitting: a table, files or batches with their labels → a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from naively._kernels.threads import use_threads
from naively.data.files.paths import is_path
from naively.data.files.read import retry_with_wider_types
from naively.data.labelled import LabelledRows, labelled_batches
from naively.model.count import count, count_like
from naively.model.model import Model
from naively.priors import ClassPrior, PriorLike
from naively.schema.schema import infer
from naively.tuning.sample import Sampler
from naively.tuning.tune import rows_to_keep, rows_to_look_at, tuned

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

    X may also be files (a path, a glob, a folder; see docs/tables.md) or an iterator of batches. They are read once,
    in a bounded memory. y and `weight` are arrays or names of columns.

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

    def count_all(types: Mapping[str, str]) -> Model:
        return _count_parts(labelled_batches(X, y, weight, types=types), columns, tune)

    model = retry_with_wider_types(count_all, can_retry=is_path(X) and X != "-")
    target = y if isinstance(y, str) else getattr(y, "name", None)
    return replace(
        model, prior=ClassPrior.of(prior, model.classes), target=target if isinstance(target, str) else "class"
    )


def _count_parts(parts: Iterable[LabelledRows], columns: Any, tune: bool) -> Model:
    """Return the sum of the models of all parts, tuned on a sample of their rows if `tune` is true.

    The first part decides the schema, but for columns in which it has no value.
    """
    total: Model | None = None
    sampler: Sampler | None = None
    for part in parts:
        if total is None:
            schema = infer(part.table, columns)
            total = Model(schema, part.classes, *count(part, schema))
        else:
            total = total + count_like(total, part, to_add=True)
        if tune:
            sampler = sampler or Sampler(rows_to_keep(total.schema))
            sampler.add(part.table, part.classes, part.label, part.weight)
    assert total is not None  # `labelled_batches` refuses data without rows
    if sampler is None:
        return total
    return total.with_tuning(tuned(total, sampler.sample(total.classes, rows_to_look_at(total))))
