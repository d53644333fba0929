"""Read the columns of a table as the families of a schema need them, and count them into one statistic per block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.threads import on_own_threads
from naively._kernels.types import Codes32, Floats
from naively.data.kinds import Kind, refuse_infinite
from naively.data.labelled import LabelledRows, LabelsLike, WeightLike, labelled_batches, relabelled
from naively.data.names import (
    positions_of,
    refuse_other_data,
    require_columns,
    require_same_width,
    warn_counted_as_missing,
)
from naively.data.read import TableLike
from naively.data.table import Table
from naively.data.views import Codes, Numbers, Texts
from naively.errors import InputError, SchemaError
from naively.model.counted import hash_rows
from naively.model.merge import refuse_other_type, total
from naively.priors import EMPIRICAL
from naively.schema.infer import Automatic, infer
from naively.schema.schema import Block, Schema
from naively.statistics import ClassWeights, CountPlan, Histogram, RowHashes, Statistic, TooLargeError
from naively.statistics.histogram import max_keys_for

if TYPE_CHECKING:
    from naively.model.model import Model

View = Numbers | Codes | Texts

_READABLE_KINDS: dict[Kind, tuple[Kind, ...]] = {  # by the kind at training; a column of missing values fits any
    "number": ("number", "boolean", "unknown"),
    "boolean": ("boolean", "number", "unknown"),
    "string": ("string", "unknown"),
    "date": ("date", "unknown"),
    "unknown": ("number", "boolean", "string", "date", "unknown"),
}


def views_of(table: Table, schema: Schema) -> list[View]:
    """Return the columns of each block as its family needs them; refuse other kinds of columns than at training."""
    position_of: dict[str, int] | None = None
    views = []
    for block in schema.blocks:
        positions: Sequence[int]
        if block.names == table.names:
            positions = range(len(table.names))
        else:
            position_of = positions_of(table.names) if position_of is None else position_of
            if any(name not in position_of for name in block.names):
                require_columns(schema.names, table.names)
            positions = [position_of[name] for name in block.names]
        kinds = block.kinds
        is_one_kind = isinstance(kinds, str) and isinstance(positions, range)
        for i, position in enumerate(() if table.checked else positions[:1] if is_one_kind else positions):
            kind, trained_kind = table.kind(position), kinds if isinstance(kinds, str) else kinds[i]
            if kind not in _READABLE_KINDS[trained_kind]:
                if trained_kind == "string" and table.use(position) == "string":
                    continue  # in models of old files, categories of numbers are strings
                if not any(present.any() for _, present in table.present([position]).dense()):
                    continue  # pandas has NaN, a number, in columns without a value
                how = "convert it, as pandas.to_datetime does" if trained_kind == "date" else "convert it"
                raise SchemaError(
                    f"column {table.names[position]!r} is of type {kind}, but was of type {trained_kind} at training: "
                    f"{how}."
                )
        views.append(block.family.read_columns(table, positions))
    return views


def count(
    rows: LabelledRows, schema: Schema, like: Sequence[Statistic] = (), to_add: bool = False
) -> tuple[ClassWeights, tuple[Statistic, ...]]:
    """Count rows under a schema.

    Parameters
    ----------
    rows
        Rows that were read and checked.
    schema
        The families of the columns.
    like
        Statistics of earlier rows under this schema, one for each block. Words get the numbers that they have there.
    to_add
        Whether the result will be added to `like` and used for nothing else.

    Returns
    -------
    The weight of each class, and one statistic for each block of the schema.
    """
    n_classes, n_columns = len(rows.classes), len(schema.names)
    earlier: Sequence[Statistic | None] = like or [None] * len(schema.blocks)
    statistics = tuple(
        count_block(block, view, rows.label, rows.weight, n_classes, before, n_columns, to_add)
        for block, view, before in zip(schema.blocks, views_of(rows.table, schema), earlier, strict=True)
    )
    return ClassWeights.count(None, rows.label, rows.weight, n_classes), statistics


def count_tables(rows: LabelledRows, schema: Schema, like: Histogram | None = None) -> Histogram | None:
    """Count the tables of columns of a schema, if it has any; with `like`, only to add to it."""
    if schema.tables is None:
        return None
    return schema.tables.count(rows.table, rows.label, rows.weight, len(rows.classes), like)


def count_like(model: Model, rows: LabelledRows, to_add: bool = False) -> Model:
    """Return the model of these rows alone, under the schema and the tuning of a model.

    With `to_add`, the result is only good for being added to the model.
    """
    require_same_width(rows.table.names, model.schema.names)
    schema = schema_for(model, rows.table)
    like = model.statistics if schema is model.schema else ()
    weights, statistics = count(rows, schema, like, to_add)
    return replace(
        model,
        schema=schema,
        classes=rows.classes,
        class_weights=weights,
        statistics=statistics,
        table_counts=count_tables(rows, schema, model.table_counts if to_add else None),
        prior=EMPIRICAL,
        row_hashes=RowHashes.of(hash_rows(rows, schema.names)),
    )


def schema_for(model: Model, table: Table) -> Schema:
    """Return the schema to count more rows under: columns without a value so far may now get a family."""
    if not any(block.family.awaits_values for block in model.schema.blocks):
        return model.schema
    families = ((tuple(block.names), block.family) for block in model.schema.blocks)
    columns = {names: Automatic(f.missing) if f.awaits_values else f for names, f in families}
    return replace(infer(table, columns, as_counted=True), tables=model.schema.tables)


def rows_to_count(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None) -> Iterator[LabelledRows]:
    """Read rows to be added to a model or subtracted from it.

    A column of the model that they do not have is counted as missing, with a warning. Labels of another type than the
    classes are refused.
    """
    missing: dict[str, None] = {}
    for rows in labelled_batches(X, y, weight, like=model):
        refuse_other_type(model.classes, rows.classes)
        if rows.table.names != model.schema.names:
            table, absent = rows.table.with_absent_columns(model.schema.names)
            if absent:
                refuse_other_data(rows.table.names, absent, model.schema.names, rows.n_rows)
                missing |= dict.fromkeys(absent)
                rows = replace(rows, table=table)
        yield rows
    warn_counted_as_missing(list(missing))


@on_own_threads
def count_relabelled(
    model: Model, X: TableLike, y: LabelsLike, to: LabelsLike, weight: WeightLike = None
) -> tuple[Model, Model]:
    """Read rows and return the models of them alone: with their labels, and with the new ones."""
    rows = list(rows_to_count(model, X, y, weight))
    new_rows = relabelled(rows, to)
    for batch in new_rows:
        refuse_other_type(model.classes, batch.classes)
    old, new = (total([count_like(model, batch) for batch in batches]) for batches in (rows, new_rows))
    assert old is not None and new is not None  # noqa: PT018  (`labelled_batches` refuses data without rows)
    return old, new


@on_own_threads
def count_rows(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None) -> Model:
    """Read rows and return the model of them alone, under the schema and the tuning of a model."""
    batches = rows_to_count(model, X, y, weight)
    model_of_rows = total([count_like(model, rows) for rows in batches])
    assert model_of_rows is not None  # `labelled_batches` refuses data without rows
    return model_of_rows


def count_block(
    block: Block,
    view: View,
    label: Codes32,
    weight: Floats | None,
    n_classes: int,
    like: Statistic | None,
    n_columns: int,
    to_add: bool = False,
) -> Statistic:
    """Return the statistic of one block of a schema that has `n_columns` in all; see `count`."""
    plan = CountPlan(max_keys_for(n_columns), like=like, only_to_add=to_add, names=block.names)
    try:
        statistic: Statistic = block.family.count(view, label, weight, n_classes, plan)
        return statistic
    except TooLargeError as error:
        name = block.names[error.column]
        if np.isinf(error.value):
            refuse_infinite(name)
        raise InputError(
            f"column {name!r} holds {error.value:g}; values beyond 1e150 cannot be trained on: rescale it, "
            "or mark them as missing."
        ) from None
