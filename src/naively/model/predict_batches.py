"""Predictions of a stream: batches in, the same rows out with `prediction` and the probabilities added."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import data as sources
from naively.data.arrow_arrays import arrow_array, arrow_strings
from naively.data.kinds import Kind
from naively.data.missing import lacking, named
from naively.errors import InputError, LeftOutWarning
from naively.families import Text
from naively.model.decide import Decision
from naively.model.model import Model

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 65_536
DEFAULTS = dict.fromkeys(("odds", "threshold", "costs", "of", "unsure"))

__all__ = ["as_trained", "predict_batches"]


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
    for table in sources.gathered(batches, 0 if prompt else AT_ONCE):
        known = sources.read(as_trained(model, table, said, before))
        before += table.num_rows
        yield _predicted(model, table, known, proba, top, decision)


def as_trained(model: Model, table: pa.Table, said: set[str], before: int = 0) -> pa.Table:
    """The columns of the model, as the types that it was trained with where text can be read so.

    Those that the data lacks are missing; that is said once, and what was said is kept in `said`. `before` is how many
    rows came before the table, so that an error can name the row.
    """
    import pyarrow as pa

    absent = set(lacking(model.schema.names, tuple(table.column_names)))
    unsaid = [name for name in dict.fromkeys(model.scored) if name in absent and name not in said]
    if unsaid:
        said.update(unsaid)
        warnings.warn(f"the data lacks {named(unsaid)}: taken as missing.", LeftOutWarning, stacklevel=3)
    kinds = {name: block.kind(i) for block in model.schema.blocks for i, name in enumerate(block.names)}
    words = {name for block in model.schema.blocks if isinstance(block.family, Text) for name in block.names}
    given = dict(zip(table.column_names, table.columns, strict=True))  # by name: one by one is slow if they are many
    columns = {
        name: (
            pa.nulls(table.num_rows)
            if name in absent
            else _typed(name, given[name], kinds[name], name in words, before)
        )
        for name in model.schema.names
    }
    return pa.table(columns)


def _typed(name: str, column: Any, kind: Kind, words: bool, before: int) -> Any:
    """A column of strings as numbers, booleans or dates if it was so at training, and numbers as strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not text:
        plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        return column.cast(pa.string()) if kind == "string" and plain else column
    if kind == "string" and not words:
        return _coded(column)
    column = _without_gaps(column)
    wanted = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}.get(kind)
    if wanted is None:
        return column if kind == "string" else pa.nulls(len(column))
    trimmed: Any = pc.utf8_trim_whitespace(column)
    try:
        return pc.cast(trimmed, wanted)
    except pa.ArrowInvalid as error:
        value = str(error).partition("'")[2].rpartition("'")[0]
        row = before + int(pc.index(trimmed, pa.scalar(value, trimmed.type)).as_py()) + 1
        raise InputError(
            f"column {name!r} was of type {kind} at training, and now holds {value!r} in row {row:,} (the header not "
            "counted): mend the cell, or leave it empty."
        ) from None


def _without_gaps(column: Any) -> Any:
    """Strings, missing where they say so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gap = pc.is_in(column, arrow_strings(list(sources.GAPS)).cast(column.type))
    return pc.if_else(gap, pa.nulls(1, column.type)[0], column)


def _coded(column: Any) -> Any:
    """Values as codes; whether one is a gap is asked once, and not in every row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded: Any = column.combine_chunks().dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    gaps = pc.index_in(arrow_strings(list(sources.GAPS)).cast(column.type), encoded.dictionary).drop_null()
    if not len(gaps):
        return encoded
    codes = pc.if_else(pc.is_in(encoded.indices, gaps), pa.nulls(1, pa.int32())[0], encoded.indices)
    return pa.DictionaryArray.from_arrays(codes, encoded.dictionary)


def _predicted(
    model: Model, table: pa.Table, known: sources.Table, proba: bool, top: int | None, decision: dict[str, Any]
) -> pa.Table:
    classes = arrow_array(np.asarray(model.classes))
    found = model.answers(known, Decision(**DEFAULTS | decision, classes=model.classes))
    added: dict[str, Any] = {"prediction": _named(classes, found)}
    if proba or top:
        posterior = model.posterior(known)
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
