"""Tables → CSV, JSON lines or Parquet, one after the other; a file is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from typing import IO, Any

import pyarrow as pa

from naively.storage import written_whole

__all__ = ["write_tables"]


def write_tables(tables: Iterable[pa.Table], output: str, kind: str) -> None:
    """Write to a file, or to standard output as far as it goes; a reader that has had enough (head) is no error."""
    write = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}[kind]
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
    for table in map(_without_codes, tables):
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


def _parquet(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        writer: Any = None
        for table in tables:
            if writer is None:
                schema = table.schema
                writer = stack.enter_context(pq.ParquetWriter(file, schema))
            writer.write_table(table.cast(schema))


def _without_codes(table: pa.Table) -> pa.Table:
    """Dictionaries as the values that they stand for, which CSV can hold."""
    fields = [f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in table.schema]
    return table.cast(pa.schema(fields))


def _json_lines(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """One object per line; what JSON has no word for (a date) as a string."""
    for table in tables:
        for batch in table.to_batches(8192):
            lines = (json.dumps(row, ensure_ascii=False, default=str) for row in batch.to_pylist())
            file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
