"""Fit a model to a table, files or batches with their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from naively._kernels.threads import use_threads
from naively.data.files.paths import is_readable_again
from naively.data.files.read import retry_with_wider_types
from naively.data.frames import is_spark_frame
from naively.data.labelled import (
    Label,
    LabelledRows,
    LabelsLike,
    RowTally,
    WeightLike,
    join_rows,
    labelled_batches,
)
from naively.data.read import TableLike
from naively.errors import InputError, warn_user
from naively.model.count import count, count_like, count_tables
from naively.model.counted import hash_rows
from naively.model.model import Model
from naively.priors import ClassPrior, PriorLike
from naively.schema.choose import choose
from naively.schema.infer import Columns, infer
from naively.schema.plan_tables import n_planned_rows, suitable_columns, with_tables
from naively.schema.schema import Schema
from naively.statistics import ClassWeights, RowHashes
from naively.tuning.groups import GroupFolds, refuse_missing_group, split_by_group
from naively.tuning.sample import SampledRows, Sampler
from naively.tuning.tune import rows_to_keep, tuned

MAX_UNIQUE_CLASSES = 100  # more classes are refused if they have fewer than two rows on average
MIN_AMOUNTS, ROWS_PER_AMOUNT = 11, 10  # as many numeric classes may be amounts, if they have fewer rows on average
MAX_AMOUNTS = 1000  # more numeric classes are amounts


def fit(
    X: TableLike,
    y: LabelsLike,
    *,
    columns: Columns | None = None,
    prior: PriorLike = "empirical",
    weight: WeightLike = None,
    tune: bool = True,
    alpha: float | None = None,
    n_jobs: int | None = None,
    many_classes: bool = False,
    group: str | None = None,
    schema: Schema | None = None,
    together: bool = False,
) -> Model:
    """Count a table and its labels, and tune the model.

    Parameters
    ----------
    X
        An array, a sparse matrix, a frame, a mapping from column name to values, or a list of texts. Also files (a
        path, a glob or a folder) or an iterator of batches, which are read once, in bounded memory. The rows of a Spark
        DataFrame are counted by its executors (`naively.spark.fit`).
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
    alpha
        Without tuning: the pseudo-count of columns of values, booleans, bins and words whose family is not given, by
        default 1. 0 is no smoothing. Tuning chooses it.
    n_jobs
        The number of threads; None is all cores.
    many_classes
        Whether to accept any number of classes. By default more than 100 are refused if the rows are fewer than twice
        as many, before time and memory are spent on them, and numbers that look like amounts give a warning.
    group
        The name of a column whose equal values mark rows that belong together, such as a patient or a thread. It is not
        a column of the model. Tuning keeps the rows of a group in one fold, and reports predictions for new groups.
    schema
        What to count of each column, as `infer_schema` returns it or another model has it (`model.schema`). By default
        the first rows decide. Data that does not have these columns is refused; further columns are not read.
    together
        Whether to count tables of columns too, and to use what columns say together where tuning finds that it helps
        (docs/together.md).

    >>> mail = {"offer": [True, True, False, False], "length": [20, 35, 120, 80]}
    >>> model = fit(mail, ["spam", "spam", "ham", "ham"])
    >>> model.predict({"offer": [True], "length": [30]}).tolist()
    ['spam']
    """
    if is_spark_frame(X):
        from naively.engines import spark

        if not isinstance(y, str) or not (weight is None or isinstance(weight, str)):
            raise InputError("of a Spark frame, y= and weight= are names of columns.")
        if group is not None:
            raise InputError("group= is not possible with a Spark frame yet.")
        return spark.fit(
            X,
            y,
            columns=columns,
            weight=weight,
            tune=tune,
            prior=prior,
            alpha=alpha,
            many_classes=many_classes,
            schema=schema,
            together=together,
        )
    refuse_settings(tune, alpha, together)
    if schema is not None and not (columns is None and alpha is None and group is None and not together):
        raise InputError("schema= decides what is counted: give no columns=, alpha=, group= or together= with it.")
    target = target_name(y)

    def read_and_count(types: Mapping[str, str]) -> Model:
        if schema is not None:
            batches = labelled_batches(X, y, weight, types=types_of(schema))
            return _count_under(schema, batches, tune, None if many_classes else target)
        batches = labelled_batches(X, y, weight, types=types)
        inferred, batches = _infer(batches, columns, alpha, None if many_classes else target, group, together)
        return _count(inferred, batches, tune) if group is None else _count_groups(inferred, batches, tune, group)

    with use_threads(n_jobs):
        can_retry = schema is None and is_readable_again(X)
        model = retry_with_wider_types(read_and_count, can_retry=can_retry)
    return replace(model, prior=ClassPrior.of(prior, model.classes), target=target, n_jobs=n_jobs)


def refuse_settings(tune: bool, alpha: float | None, together: bool) -> None:
    """Refuse settings of `fit` that contradict each other."""
    if alpha is not None and tune:
        raise InputError("alpha= needs tune=False: tuning chooses the smoothing. Or give it to a family, in columns=.")
    if together and not tune:
        raise InputError("together= needs tuning, which decides whether columns together help: leave out tune=False.")


def target_name(y: LabelsLike) -> str:
    """Return the name of the column to predict: y, or that of a series; else "class"."""
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) else "class"


def types_of(schema: Schema) -> dict[str, str]:
    """Return how CSV files are read for a schema: its columns by their kinds; dates and others are inferred."""
    return {name: kind for name, kind in schema.kinds().items() if kind in ("number", "string", "boolean")}


def infer_schema(
    X: TableLike,
    y: LabelsLike,
    *,
    columns: Columns | None = None,
    weight: WeightLike = None,
    alpha: float | None = None,
    many_classes: bool = False,
    together: bool = False,
) -> Schema:
    """Decide what to count of each column, from the first rows of the data: 262,144, or fewer of many columns.

    Parts that are counted under one schema can be added, wherever they were counted; see `count`.

    Parameters
    ----------
    X, y, columns, weight, alpha, many_classes, together
        As in `fit`. The tables of columns are part of the schema; they follow from the first 32,768 rows.

    Returns
    -------
    Schema
        The columns, their kinds and their families; `to_json` and `from_json` convert it.

    >>> print(infer_schema({"age": [31, 45], "job": ["cook", "smith"]}, ["a", "b"]))
    age  automatic, from the numbers seen
    job  automatic, from the values seen
    """
    tally = RowTally()  # of the rows that are read, which need not be all: `fit` reports
    batches = labelled_batches(X, y, weight, tally=tally)
    rows = next(batches, None)
    if rows is None:
        tally.report(y if isinstance(y, str) else None)
        raise AssertionError  # `report` refuses data without rows
    if not many_classes:
        check_classes(rows.classes, rows.n_rows, target_name(y))
    schema = infer(rows.table, columns, alpha, weight=rows.weight)
    return _with_tables(schema, chain([rows], batches))[0] if together else schema


def _with_tables(schema: Schema, batches: Iterator[LabelledRows]) -> tuple[Schema, Iterator[LabelledRows]]:
    """Return a schema with a plan of tables from the first rows, and all batches, of which the first have been read."""
    n_rows, read = n_planned_rows(schema), list[LabelledRows]()
    while sum(rows.n_rows for rows in read) < n_rows and (rows := next(batches, None)) is not None:
        read.append(rows)
    first = join_rows(read)
    first = first.take(np.arange(n_rows)) if first.n_rows > n_rows else first
    suitable = suitable_columns(schema)
    weights, statistics = count(first, suitable)
    left_out = choose(suitable, statistics, weights).left_out  # identifiers and the like
    return with_tables(schema, first.table, left_out), chain(read, batches)


def check_classes(classes: Sequence[Label], n_rows: int, target: str) -> None:
    """Refuse labels that are amounts or names, and warn if they may be; `classes` are those of the first rows."""
    n_classes = len(classes)
    if n_classes > MAX_UNIQUE_CLASSES and 2 * n_classes > n_rows:
        raise InputError(
            f"{target!r} has {n_classes:,} different values in {n_rows:,} rows: these are amounts or names, "
            "not classes. Predict another column, group the values first (for example low, high), or allow it "
            "with many_classes=True (--many-classes)."
        )
    is_number = not any(isinstance(label, (str, bool)) for label in classes)
    has_few_rows = n_classes >= MIN_AMOUNTS and n_rows < ROWS_PER_AMOUNT * n_classes
    if is_number and (has_few_rows or n_classes > MAX_AMOUNTS):
        warn_user(
            f"{target!r} is a number with {n_classes:,} values. naively predicts classes; group the values first (for "
            "example low, high)."
        )


def _infer(
    batches: Iterator[LabelledRows],
    columns: Columns | None,
    alpha: float | None,
    target: str | None,
    group: str | None,
    together: bool,
) -> tuple[Schema, Iterator[LabelledRows]]:
    """Return the schema that the first batch determines, and all batches, of which the first have been read.

    The labels must look like classes if `target`, their name, is given.
    """
    rows = next(batches)  # `labelled_batches` refuses data without rows
    if group is not None:
        refuse_missing_group(rows, group)
    if target is not None:
        check_classes(rows.classes, rows.n_rows, target)
    table = rows.table if group is None else rows.table.without_column(group)
    schema = infer(table, columns, alpha, weight=rows.weight)
    batches = chain([rows], batches)
    return _with_tables(schema, batches) if together else (schema, batches)


def _count(schema: Schema, batches: Iterable[LabelledRows], tune: bool) -> Model:
    """Return the sum of the models of all batches, tuned on a sample of their rows if `tune` is true.

    Later batches may have the first values of a column.
    """
    sampler = Sampler(rows_to_keep(schema)) if tune else None
    model: Model | None = None
    for rows in batches:
        model = count_under(schema, [rows], None) if model is None else model + count_like(model, rows, to_add=True)
        if sampler is not None:
            sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    assert model is not None  # the first batch has rows
    return tuned_on(model, None if sampler is None else sampler.sampled)


def _count_under(schema: Schema, batches: Iterable[LabelledRows], tune: bool, target: str | None) -> Model:
    """Return the same for a schema that was given: other columns, or other kinds, are refused."""
    sampler = Sampler(rows_to_keep(schema)) if tune else None
    model = count_under(schema, batches, sampler)
    assert model is not None  # `labelled_batches` refuses data without rows
    if target is not None:
        check_classes(model.classes, int(model.class_weights.rows.sum()), target)
    return tuned_on(model, None if sampler is None else sampler.sampled)


def _count_groups(schema: Schema, batches: Iterable[LabelledRows], tune: bool, group: str) -> Model:
    """Return the same for rows that belong together, which stay in one fold; see `tuning.groups`."""
    folds = GroupFolds(Model(schema, (), ClassWeights(np.zeros(0), np.zeros(0, np.int64)), ()))
    for rows in batches:
        folds.add(split_by_group(rows, group))
    model = folds.model()
    return model.with_tuning(folds.tuning(model)) if tune else model


def count_under(schema: Schema, batches: Iterable[LabelledRows], sampler: Sampler | None) -> Model | None:
    """Return the sum of the models of batches under a schema, None without rows; the sampler looks at the rows.

    A batch must have the columns of the schema, of the same kinds. Other columns are left out.
    """
    model: Model | None = None
    for batch in batches:
        rows = replace(batch, table=batch.table.select(schema.names))
        like = () if model is None else model.statistics
        counts = count(rows, schema, like, to_add=bool(like))  # gives strings their codes, by which they are hashed
        part = Model(schema, rows.classes, *counts, row_hashes=RowHashes.of(hash_rows(rows, schema.names)))
        if schema.tables is not None:
            part = replace(part, table_counts=count_tables(rows, schema, None if model is None else model.table_counts))
        model = part if model is None else model + part
        if sampler is not None:
            sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    return model


def tuned_on(model: Model, sampled: SampledRows | None) -> Model:
    """Return a model tuned on a sample of its rows; not tuned without a sample."""
    return model if sampled is None else model.with_tuning(tuned(model, sampled.sample(model.classes)))
