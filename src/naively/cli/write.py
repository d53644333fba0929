"""Write rows as CSV, JSON or Parquet."""

import csv
import io
import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from naively.data.convert import with_missing_cells
from naively.store.write import atomic_write

ROWS_AT_ONCE = 8192  # rows that are Python objects at a time


def write_tables(tables: Iterable[pa.Table], output: str, kind: str) -> None:
    """Write tables with the same columns to a file, completely or not at all, or to standard output ("-").

    A reader of standard output that stops early (head) is not an error.
    """
    write = {"csv": _write_csv, "jsonl": _write_json_lines, "json": _write_json, "parquet": _write_parquet}[kind]
    if output != "-":
        with atomic_write(output) as unfinished, unfinished.open("wb") as file:
            write(tables, file)
        return
    try:
        write(tables, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_csv(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """Quote only cells that need it; leave missing cells empty.

    Arrow quotes all strings or none, so Python's writer takes the tables with a cell that needs quotes.
    """
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    for i, table in enumerate(tables):
        if i == 0:
            file.write(_format_csv([table.column_names]))
        table = without_dictionaries(table)
        buffer = pa.BufferOutputStream()
        try:
            arrow_csv.write_csv(table, buffer, options)
            file.write(buffer.getvalue())
        except pa.ArrowInvalid:
            for batch in table.to_batches(ROWS_AT_ONCE):
                file.write(_format_csv(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
        file.flush()  # whoever reads from a pipe waits for these rows


def _format_csv(rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _write_json_lines(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    for table in tables:
        for batch in _without_nan(table).to_batches(ROWS_AT_ONCE):
            lines = (json.dumps(row, ensure_ascii=False, default=str) for row in batch.to_pylist())
            file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()


def _write_json(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    rows = [row for table in tables for row in _without_nan(table).to_pylist()]
    file.write(f"{json.dumps(rows, ensure_ascii=False, indent=1, default=str)}\n".encode())


def _without_nan(table: pa.Table) -> pa.Table:
    """Return the table with null in place of NaN, which JSON does not have."""
    for i, field in enumerate(table.schema):
        column: Any = table.column(i)
        if pa.types.is_floating(field.type) and pc.any(pc.is_nan(column)).as_py():
            table = table.set_column(i, field, pc.if_else(pc.is_nan(column), pa.nulls(1, field.type)[0], column))
    return table


def _write_parquet(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    import pyarrow.parquet as pq  # takes as long to import as all of pyarrow's other modules that are used here

    remaining = iter(tables)
    first = next(remaining, None)
    if first is not None:
        with pq.ParquetWriter(file, first.schema) as writer:
            for table in chain([first], remaining):
                writer.write_table(table.cast(first.schema))


def without_dictionaries(table: pa.Table, keep: Collection[str] = ()) -> pa.Table:
    """Return the table with dictionary columns decoded to their values, except those to keep."""
    fields = [
        field.with_type(field.type.value_type)
        if pa.types.is_dictionary(field.type) and field.name not in keep
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields).with_metadata(table.schema.metadata))


def with_numbers(table: pa.Table, kinds: Mapping[str, str]) -> pa.Table:
    """Return the table with text cells as numbers in the columns whose kind is a number."""
    for i, name in enumerate(table.column_names):
        if kinds.get(name) == "number" and pa.types.is_string(table.schema.field(i).type):
            table = table.set_column(i, name, _numbers(table.column(i)))
    return table


def _numbers(column: Any) -> Any:
    """Return text cells as whole numbers, else as numbers, else as they are."""
    cells: Any = pc.utf8_trim_whitespace(with_missing_cells(column))
    for kind in (pa.int64(), pa.float64()):
        try:
            return pc.cast(cells, kind)
        except pa.ArrowInvalid:
            continue
    return column
