"""What `naively predict` does once its arguments are read: rows in, the same rows out with the answers.

To CSV every cell goes as it came (007, 1.50). JSON lines and Parquet have types, so that cells are read as `fit` reads
them: numbers as numbers, and what was text at training as text.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

import naively
from naively.cli.input import read_told
from naively.cli.output import write_tables
from naively.data import GAPS, OtherTypeError, categories_of
from naively.data.arrow_arrays import arrow_strings
from naively.data.files.csv import comes_back
from naively.data.files.prefetch import ahead

__all__ = ["answer"]


def answer(model: naively.Model, where: Any, output: str, kind: str, asked: dict[str, Any]) -> None:
    """Write the answers; files are read again from the start if a cell does not have the type of those before it."""
    piped = where == "-"  # what comes through a pipe is answered as it comes
    if kind == "csv" or (piped and kind == "jsonl"):
        answers = naively.predict_batches(model, read_told(where, raw=True), prompt=piped, **asked)
        write_tables(ahead(_typed(answers, model) if kind == "jsonl" else answers), output, kind)
        return
    types, categories = _types(model), categories_of(where)
    while True:
        try:
            answers = naively.predict_batches(model, _in_codes(read_told(where, types), model), **asked)
            write_tables(ahead(answers), output, kind, categories)  # the next are answered while these are written
            return
        except OtherTypeError as error:
            if piped or types.get(error.column) == error.wider:
                raise
            if output == "-":
                raise naively.InputError(f"{error} Name a file with -o, so that it can be read anew.") from None
            types[error.column] = error.wider
            click.echo(f"naively: note: {error} It is read as {error.wider}.", err=True)


def _types(model: naively.Model) -> dict[str, Any]:
    """What was text at training is text, whatever it looks like."""
    blocks = model.schema.blocks
    return {name: "string" for block in blocks for i, name in enumerate(block.names) if block.kind(i) == "string"}


def _in_codes(batches: Iterable[pa.RecordBatch], model: naively.Model) -> Iterator[pa.RecordBatch]:
    """Values that come back often as codes: who scores them needs these, and who writes Parquet as well."""
    words = {n for block in model.schema.blocks if isinstance(block.family, naively.Text) for n in block.names}
    values = set(_types(model)) - words
    often: list[str] | None = None
    for batch in batches:
        if often is None:
            named = zip(batch.schema.names, batch.schema.types, strict=True)
            plain = [name for name, kind in named if name in values and pa.types.is_string(kind)]
            often = [name for name in plain if comes_back(batch.column(name))]
        for name in often:
            place = batch.schema.get_field_index(name)
            if pa.types.is_string(batch.schema.types[place]):
                batch = batch.set_column(place, name, batch.column(place).dictionary_encode())
        yield batch


def _typed(answers: Iterable[pa.Table], model: naively.Model) -> Generator[pa.Table]:
    """What was a number at training as a number, batch by batch: JSON lines have no types to keep to."""
    blocks = model.schema.blocks
    numbers = {n for block in blocks for i, n in enumerate(block.names) if block.kind(i) == "number"}
    for table in answers:
        for place, name in enumerate(table.column_names):
            if name in numbers and pa.types.is_string(table.schema.field(place).type):
                table = table.set_column(place, name, _numbers(table.column(place)))
        yield table


def _numbers(column: Any) -> Any:
    gap = pc.is_in(column, arrow_strings(list(GAPS)))
    cells = pc.utf8_trim_whitespace(pc.if_else(gap, pa.nulls(1, pa.string())[0], column))
    for kind in (pa.int64(), pa.float64()):
        try:
            return pc.cast(cells, kind)
        except pa.ArrowInvalid:
            continue
    return column
