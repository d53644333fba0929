"""Tables → CSV, JSON lines or Parquet, one after the other; a file is written whole or not at all."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from functools import partial
from typing import IO, Any

import pyarrow as pa

from naively.store.write import written_whole

__all__ = ["write_tables"]

LOOKED_AT = 8192  # rows that decide how a column of Parquet is written
AT_ONCE = 65_536  # values that Parquet encodes at a time: a fifth less time than by the usual 1,024, for the same file


def write_tables(tables: Iterable[pa.Table], output: str, kind: str, categories: Collection[str] = frozenset()) -> None:
    """Write to a file, or to standard output as far as it goes; a reader that has had enough (head) is no error.

    `categories` stay so in Parquet; whatever else comes as codes and values is written as plain values.
    """
    writers: dict[str, Callable[[Iterable[pa.Table], IO[bytes]], None]] = {
        "csv": _csv,
        "jsonl": _json_lines,
        "parquet": partial(_parquet, categories=categories),
    }
    write = writers[kind]
    if output != "-":
        with written_whole(output) as unfinished, unfinished.open("wb") as file:
            write(tables, file)
        return
    try:
        write(tables, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _csv(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """Quotes where they are needed; a missing cell is empty. Arrow quotes all strings or none: it writes the rest."""
    from pyarrow import csv as arrow_csv

    plain = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    names: list[str] | None = None
    for table in tables:
        table = table.cast(_without_codes(table.schema))
        if names is None:
            names = table.column_names
            file.write(_quoted([names]))
        written = pa.BufferOutputStream()
        try:
            arrow_csv.write_csv(table, written, plain)
            file.write(written.getvalue())
        except pa.ArrowInvalid:
            for batch in table.to_batches(8192):
                file.write(_quoted(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
        file.flush()  # whoever reads from the pipe has waited for these rows


def _quoted(rows: Iterable[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _parquet(tables: Iterable[pa.Table], file: IO[bytes], categories: Collection[str]) -> None:
    """Codes are written as codes, which takes a fraction of the time; that a column was read so is not told on."""
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        writer: Any = None
        for table in tables:
            if writer is None:
                schema = table.schema
                options: Any = {"use_dictionary": _repeated(table), "write_batch_size": AT_ONCE, "store_schema": False}
                opened = pq.ParquetWriter(file, schema, **options)
                writer = stack.enter_context(opened)
                told = _without_codes(schema, categories).serialize().to_pybytes()
                writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(told).decode()})
            writer.write_table(table.cast(schema).unify_dictionaries())


def _repeated(table: pa.Table) -> Any:
    """Columns whose values come twice or more on average in the first rows: only those gain from a dictionary."""
    some = table.slice(0, LOOKED_AT)
    return [f.name for f, column in zip(some.schema, some.columns, strict=True) if _comes_back(f.type, column)]


def _comes_back(kind: Any, column: Any) -> bool:
    import pyarrow.compute as pc

    if pa.types.is_nested(kind) or pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return False
    if pa.types.is_dictionary(kind):
        return True
    return 2 * int(pc.count_distinct(column).as_py()) <= len(column)


def _without_codes(schema: pa.Schema, categories: Collection[str] = frozenset()) -> pa.Schema:
    """The types of values instead of those of codes and values, but for categories."""
    coded = [pa.types.is_dictionary(f.type) and f.name not in categories for f in schema]
    fields = [f.with_type(f.type.value_type) if is_so else f for f, is_so in zip(schema, coded, strict=True)]
    return pa.schema(fields).with_metadata(schema.metadata)


def _json_lines(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """One object per line; what JSON has no word for as a string (a date), and NaN as null."""
    for table in map(_without_nan, tables):
        for batch in table.to_batches(8192):
            lines = (json.dumps(row, ensure_ascii=False, default=str) for row in batch.to_pylist())
            file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()


def _without_nan(table: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    for place, kind in enumerate(table.schema.types):
        if pa.types.is_floating(kind) and pc.any(pc.is_nan(table.column(place))).as_py():
            column: Any = table.column(place)
            kept = pc.if_else(pc.is_nan(column), pa.nulls(1, kind)[0], column)
            table = table.set_column(place, table.column_names[place], kept)
    return table
