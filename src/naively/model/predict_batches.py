"""Predictions of a stream: batches in, the same rows out with `prediction` and the probabilities added."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.convert import arrow_array, code_strings, convert_column, is_string, with_missing_cells
from naively.data.files.batches import arrow_tables, rebatch
from naively.data.names import missing_names, warn_missing_columns
from naively.data.read import read
from naively.data.table import Table
from naively.errors import InputError
from naively.families import Text
from naively.model.decide import Decision
from naively.model.model import Model
from naively.model.score import decide_rows, decide_with_posterior

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 65_536


def predict_batches(
    model: Model,
    batches: Iterable[Any],
    *,
    proba: bool = False,
    top: int | None = None,
    prompt: bool = False,
    **decision: Any,
) -> Generator[pa.Table]:
    """The same rows in order with the column `prediction`, with `proba` one `p_CLASS` for each class as well.

    `top=k` adds the k most probable classes and their probabilities instead, as `top_1`, `p_top_1`, … `decision` are
    the arguments of `Model.predict`. 65,536 rows are gathered at a time, or with `prompt` each batch is answered as it
    comes. A column that the model knows and the data lacks is taken as missing, and said so.

    >>> from naively import fit
    >>> model = fit({"sky": ["sun", "sun", "rain"]}, ["yes", "yes", "no"])
    >>> [rows] = predict_batches(model, [{"day": [1, 2], "sky": ["rain", None]}])
    >>> rows.to_pydict()
    {'day': [1, 2], 'sky': ['rain', None], 'prediction': ['no', 'yes']}
    """
    said: set[str] = set()
    before = 0
    for table in arrow_tables(batches) if prompt else rebatch(batches, AT_ONCE):
        known = read(as_trained(model, table, said, before))
        before += table.num_rows
        yield _predicted(model, table, known, proba, top, decision)


def as_trained(model: Model, table: pa.Table, said: set[str], before: int = 0) -> pa.Table:
    """The columns of the model, as the types that it was trained with where text can be read so.

    Those that the data lacks are missing; that is said once, and what was said is kept in `said`. `before` is how many
    rows came before the table, so that an error can name the row.
    """
    import pyarrow as pa

    absent = set(missing_names(model.schema.names, tuple(table.column_names)))
    unsaid = [name for name in dict.fromkeys(model._used_columns) if name in absent and name not in said]
    said.update(unsaid)
    warn_missing_columns(unsaid)
    kinds = model.schema.kinds()
    texts = {name for block in model.schema.blocks if isinstance(block.family, Text) for name in block.names}
    given = dict(zip(table.column_names, table.columns, strict=True))  # by position takes long with many columns

    def column(name: str) -> Any:
        if name in absent:
            return pa.nulls(table.num_rows)
        if kinds[name] == "string" and is_string(given[name].type):
            return with_missing_cells(given[name]) if name in texts else code_strings(given[name])
        return convert_column(name, given[name], kinds[name], before)

    return pa.table({name: column(name) for name in model.schema.names})


def _predicted(
    model: Model, table: pa.Table, known: Table, proba: bool, top: int | None, decision: dict[str, Any]
) -> pa.Table:
    classes = arrow_array(np.asarray(model.classes))
    rule = Decision(model.classes, **decision)
    if proba or top:
        positions, posterior = decide_with_posterior(model, known, rule)
    else:
        positions, posterior = decide_rows(model, known, rule), None
    added: dict[str, Any] = {"prediction": _named(classes, positions)}
    if posterior is not None:
        if proba:
            added |= {f"p_{label}": arrow_array(posterior[:, c]) for c, label in enumerate(model.classes)}
        order = np.argsort(-posterior, axis=1, kind="stable")[:, : top or 0]
        for k in range(order.shape[1]):
            added[f"top_{k + 1}"] = _named(classes, order[:, k])
            added[f"p_top_{k + 1}"] = arrow_array(np.take_along_axis(posterior, order[:, k : k + 1], axis=1)[:, 0])
    taken = [name for name in added if name in table.column_names]
    if taken:
        raise InputError(f"the data has a column {taken[0]!r} already, which a prediction would hide: rename it.")
    for name, answers in added.items():
        table = table.append_column(name, answers)
    return table


def _named(classes: Any, positions: Any) -> Any:
    """The classes at these positions, missing where there is none; no class is looked at more than once."""
    import pyarrow as pa

    if (positions < 0).any():
        return classes.take(pa.array(positions, pa.int64(), mask=positions < 0))
    return classes.take(arrow_array(positions.astype(np.int64)))
