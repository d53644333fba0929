"""Write what a command returns: rows as CSV, JSON or Parquet, and tables, log entries and JSON for standard output."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.store.entries import Entry

ROWS_AT_ONCE = 8192  # rows that are Python objects at a time
UNLIMITED_WIDTH = 10_000  # a file or a pipe has no width: do not wrap


def write_tables(tables: Iterable[pa.Table], output: str, kind: str) -> None:
    """Write tables with the same columns to a file, completely or not at all, or to standard output ("-").

    A reader of standard output that stops early (head) is not an error.
    """
    from naively.store.write import atomic_write

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
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

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
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        column: Any = table.column(i)
        if pa.types.is_floating(field.type) and pc.any(pc.is_nan(column)).as_py():
            table = table.set_column(i, field, pc.if_else(pc.is_nan(column), pa.nulls(1, field.type)[0], column))
    return table


def _write_parquet(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    remaining = iter(tables)
    first = next(remaining, None)
    if first is None:
        return
    with pq.ParquetWriter(file, first.schema) as writer:
        for table in chain([first], remaining):
            writer.write_table(table.cast(first.schema))


def without_dictionaries(table: pa.Table, keep: Collection[str] = ()) -> pa.Table:
    """Return the table with dictionary columns decoded to their values, except those to keep."""
    import pyarrow as pa

    fields = [
        field.with_type(field.type.value_type)
        if pa.types.is_dictionary(field.type) and field.name not in keep
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields).with_metadata(table.schema.metadata))


def print_note(message: str) -> None:
    """Print a note on standard error."""
    click.echo(f"naively: note: {message}", err=True)


def print_json(data: object) -> None:
    """Print plain data as JSON; null stands for NaN, and the strings "inf" and "-inf" for infinite numbers."""
    click.echo(json.dumps(_finite(data), ensure_ascii=False, indent=1))


def _finite(data: object) -> object:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and abs(data) == float("inf"):
        return str(data)
    return None if data != data else data


def print_entries(entries: Iterable[Entry], as_json: bool) -> None:
    """Print log entries, one line each, or as JSON."""
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    for entry in entries:
        click.echo(format_entry(entry))


def format_entry(entry: Entry) -> str:
    """Return the line of the log for an entry; its time is when it was written, not when its rows were counted."""
    sign = {1: "+", -1: "−", 0: " "}[entry.sign]
    parts = [entry.id[:8], f"{entry.written[:19]}Z", f"{entry.act:<7}", f"{sign}{entry.rows:,}".rjust(9)]
    if entry.source:
        parts.append(entry.source)
    if entry.corrects:
        parts.append(f"(of {entry.corrects[:8]})")
    if entry.absorbed:
        parts.append(f"({entry.absorbed} entries since {(entry.first or '')[:19]}Z)")
    if entry.note:
        parts.append(f"({entry.note})")
    if not entry.in_force:
        parts.append("(undone)")
    if entry.comment:
        parts.append(f"“{entry.comment}”")
    return "  ".join(parts)


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> str:
    """Return rows of text in aligned columns; the columns named in `right` are aligned to the right.

    >>> print(format_table(["class", "rows"], [["no", "12"], ["yes", "1,200"]], right=["rows"]))
    class   rows
    no        12
    yes    1,200
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in header:
        table.add_column(Text(name), justify="right" if name in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(file=io.StringIO(), width=UNLIMITED_WIDTH)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
