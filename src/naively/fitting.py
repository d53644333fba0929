"""Fit a model to a table, files or batches with their labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from naively._kernels.threads import use_threads
from naively.data.files.paths import is_path
from naively.data.files.read import retry_with_wider_types
from naively.data.labelled import LabelledRows, LabelsLike, WeightLike, labelled_batches
from naively.data.read import TableLike
from naively.model.count import count, count_like
from naively.model.model import Model
from naively.priors import ClassPrior, PriorLike
from naively.schema.infer import Columns, infer
from naively.tuning.sample import Sampler
from naively.tuning.tune import rows_to_keep, tuned


def fit(
    X: TableLike,
    y: LabelsLike,
    *,
    columns: Columns | None = None,
    prior: PriorLike = "empirical",
    weight: WeightLike = None,
    tune: bool = True,
    n_jobs: int | None = None,
) -> Model:
    """Count a table and its labels, and tune the model.

    Parameters
    ----------
    X
        An array, a sparse matrix, a frame, a mapping from column name to values, or a list of texts. Also files (a
        path, a glob or a folder) or an iterator of batches, which are read once, in bounded memory.
    y
        The labels, or the name of the column to predict. Rows without a label are dropped, with a warning.
    columns
        One family for all columns, or a mapping from a name or a tuple of names to a family. The other columns get a
        family by their type.
    prior
        The class prior: "empirical", "uniform", or a probability for each class.
    weight
        The weight of each row, or the name of the column that holds it.
    tune
        Whether to choose smoothing, families and calibration by leave-one-out. Without it: plain Naive Bayes.
    n_jobs
        The number of threads; None is all cores.

    >>> mail = {"offer": [True, True, False, False], "length": [20, 35, 120, 80]}
    >>> model = fit(mail, ["spam", "spam", "ham", "ham"])
    >>> model.predict({"offer": [True], "length": [30]}).tolist()
    ['spam']
    """
    with use_threads(n_jobs):
        model = retry_with_wider_types(
            lambda types: count_batches(labelled_batches(X, y, weight, types=types), columns, tune),
            can_retry=is_path(X) and X != "-",
        )
    name = y if isinstance(y, str) else getattr(y, "name", None)
    target = name if isinstance(name, str) else "class"
    return replace(model, prior=ClassPrior.of(prior, model.classes), target=target, n_jobs=n_jobs)


def count_batches(batches: Iterable[LabelledRows], columns: Columns | None, tune: bool) -> Model:
    """Return the sum of the models of all batches, tuned on a sample of their rows if `tune` is true.

    The first batch determines the schema, but for columns in which it has no value.
    """
    model: Model | None = None
    sampler: Sampler | None = None
    for rows in batches:
        if model is None:
            schema = infer(rows.table, columns)
            model = Model(schema, rows.classes, *count(rows, schema))
        else:
            model = model + count_like(model, rows, to_add=True)
        if tune:
            sampler = sampler or Sampler(rows_to_keep(model.schema))
            sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    assert model is not None  # `labelled_batches` refuses data without rows
    if sampler is None:
        return model
    return model.with_tuning(tuned(model, sampler.sample(model.classes)))
