"""Write rows as CSV, JSON, Parquet or Arrow. Rows that were read come out as they went in.

CSV has no types: its cells are copied to CSV, and get types where the format has them. JSON lines are copied with their
text. Files with types keep these.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from json.encoder import encode_basestring as quote
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from naively._kernels.text import NumberKinds
from naively.data.files.cells import Cells
from naively.data.files.lines import LINE, parse_json_lines, without_timestamps
from naively.data.names import columns_named
from naively.data.plain import JsonObject
from naively.errors import InputError

Pair = tuple[pa.Table, pa.Table]  # rows as they were read, and the columns to add

_AFTER_COLON = re.compile(r"\s*:\s*")
NEEDS_QUOTES = re.compile('[",\r\n]')
ROWS_AT_ONCE = 8192  # rows that are Python objects at a time
# Cells that are numbers in JSON. A leading zero or a plus sign is part of a code: such cells are strings.
JSON_NUMBER = r"^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$"


def write_tables(tables: Iterable[pa.Table], file: IO[bytes], kind: str) -> None:
    """Write tables with the same columns to a file as "csv", "jsonl", "json" or "parquet"."""
    write = {"csv": _write_csv, "jsonl": _write_json_lines, "json": _write_json, "parquet": _write_parquet}[kind]
    write(tables, file)


def write_rows(
    pairs: Iterable[Pair],
    file: IO[bytes],
    kind: str,
    numbers: Collection[str],
    folder: Path | None = None,
    keep: Sequence[str] = (),
) -> None:
    """Write rows and the columns to add; the rows come out as they went in.

    Parameters
    ----------
    pairs
        Rows of `read_files(…, raw=True)`, and the columns to add.
    file, kind
        The open file, and its format: "csv", "jsonl", "parquet" or, for rows that have types, "arrow".
    numbers
        The columns of CSV whose cells are numbers in JSON, if they are written as JSON writes numbers.
    folder
        Where there is space for a temporary file.
    keep
        The columns of the rows to write; by default all.
    """
    remaining = iter(_select(pairs, tuple(keep)))
    first = next(remaining, None)
    if first is None:
        return
    rows = chain([first], remaining)
    has_lines = LINE in first[0].column_names
    cells = Cells.marked(first[0].schema)
    if kind == "csv":
        _write_csv(map(_join, _cells_of_lines(rows) if has_lines else rows), file)
    elif kind == "arrow":
        _write_arrow(map(_join, rows), file)
    elif kind == "jsonl" and has_lines:
        _write_lines(rows, file)
    elif kind == "jsonl":
        _write_json_lines(map(_join, rows), file, None if cells is None else CellsOfRows(cells, numbers))
    elif has_lines:
        _write_parquet_of_lines(rows, file, folder)
    elif cells is not None:
        _write_parquet_of_cells(map(_join, rows), first[0].column_names, cells, file, folder)
    else:
        _write_parquet(map(_join, rows), file)


@dataclass(frozen=True)
class CellsOfRows:
    """How the cells of CSV are written, and the columns that are numbers."""

    cells: Cells
    numbers: Collection[str]


def _select(pairs: Iterable[Pair], keep: tuple[str, ...]) -> Iterator[Pair]:
    """Yield the rows with the columns to write; those of an earlier prediction are replaced."""
    is_first = True
    for table, results in pairs:
        has_lines = LINE in table.column_names
        if is_first:
            keep = columns_named(keep, [name for name in table.column_names if name != LINE], "--keep")
        is_first = False
        if has_lines:
            lines = pa.array(_select_members(table, results.column_names, keep), pa.large_string())
            table = table.set_column(table.column_names.index(LINE), LINE, lines)
        elif keep:
            table = table.select(list(keep))
        yield table, results


def _select_members(table: pa.Table, replaced: Sequence[str], keep: tuple[str, ...]) -> list[str]:
    """Return JSON lines without the keys that are replaced, and with only those to keep, if any are given."""
    quoted = [quote(name) for name in replaced]

    def select(line: str) -> str:
        if not keep and not any(name in line for name in quoted):
            return line
        members = [(name, text) for name, text in _members(line) if name not in replaced]
        members = [(name, text) for name, text in members if name in keep] if keep else members
        return f"{{{', '.join(text for _, text in members)}}}"

    return [select(line) for line in _lines(table)]


def _members(line: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a JSON object, each with the text of the key and its value.

    >>> list(_members('{"a" : 1.50, "b": [1, {"c": 2}]}'))
    [('a', '"a" : 1.50'), ('b', '"b": [1, {"c": 2}]')]
    """
    decode, end = json.JSONDecoder().raw_decode, line.index("{") + 1
    while (start := line.find('"', end)) >= 0:
        name, end = decode(line, start)
        value = _AFTER_COLON.match(line, end)
        assert value is not None  # the line is valid JSON
        _, end = decode(line, value.end())
        yield name, line[start:end]


def _join(pair: Pair) -> pa.Table:
    table, results = pair
    for name, column in zip(results.column_names, results.columns, strict=True):
        table = table.append_column(name, column)
    return table


def _write_csv(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """Quote only cells that need it; leave missing cells empty.

    Arrow quotes all strings or none, so Python writes the tables that have a cell that needs quotes.
    """
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    for i, table in enumerate(tables):
        if i == 0:
            file.write(_format_csv([table.column_names]))
        table = _with_nested_as_text(_without_dictionaries(table))
        buffer = pa.BufferOutputStream()
        try:
            arrow_csv.write_csv(table, buffer, options)
            file.write(buffer.getvalue())
        except pa.ArrowInvalid:
            strings = table.cast(pa.schema([field.with_type(pa.string()) for field in table.schema]))
            for batch in strings.to_batches(ROWS_AT_ONCE):
                file.write(_format_csv(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
        file.flush()  # whoever reads from a pipe waits for these rows


def _with_nested_as_text(table: pa.Table) -> pa.Table:
    """Return the table with lists and structs as JSON."""
    for i, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            texts = [None if value is None else _json(value) for value in table.column(i).to_pylist()]
            table = table.set_column(i, field.name, pa.array(texts, pa.string()))
    return table


def _format_csv(rows: Iterable[Sequence[str | None]]) -> bytes:
    """Return lines of cells. Python's writer does not quote a carriage return before version 3.13."""

    def quoted(cell: str | None) -> str:
        return '"' + cell.replace('"', '""') + '"' if cell and NEEDS_QUOTES.search(cell) else cell or ""

    return "".join(",".join(map(quoted, row)) + "\n" for row in rows).encode()


def _cells_of_lines(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield JSON lines as cells of CSV: strings and numbers as they are written, lists and objects as JSON."""
    names: dict[str, None] = {}
    n_rows = 0
    for i, (table, results) in enumerate(pairs):
        rows: list[JsonObject] = []
        for line in _lines(table):
            row = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
            if any(isinstance(value, (dict, list)) for value in row.values()):
                plain = json.loads(line)  # the numbers within lists and objects are numbers
                row = {name: plain[name] if isinstance(value, (dict, list)) else value for name, value in row.items()}
            rows.append(row)
        if i == 0:
            names = {name: None for row in rows for name in row}
        for n, row in enumerate(rows, start=n_rows + 1):
            if unknown := row.keys() - names.keys():
                raise InputError(
                    f"row {n:,} has the key {min(unknown)!r}, which the first rows do not have, and CSV has a header: "
                    "write JSON lines (--format jsonl)."
                )
        n_rows += len(rows)
        columns = {name: pa.array([_cell(row.get(name)) for row in rows], pa.string()) for name in names}
        yield pa.table(columns), results


def _cell(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _lines(table: pa.Table) -> list[str]:
    lines: Any = table.column(LINE)
    texts: list[str] = lines.to_pylist()
    return texts


def _write_lines(pairs: Iterable[Pair], file: IO[bytes]) -> None:
    """Write JSON lines as they were read, each with further keys at its end."""
    for table, results in pairs:
        file.write("".join(_lines_with_results(table, results)).encode())
        file.flush()


def _lines_with_results(table: pa.Table, results: pa.Table) -> Iterator[str]:
    for line, more in zip(_lines(table), _json_members(results), strict=True):
        members = line[:-1].rstrip()
        yield f"{members}{'' if members == '{' else ', '}{more}}}\n"


def _write_json_lines(tables: Iterable[pa.Table], file: IO[bytes], rows: CellsOfRows | None = None) -> None:
    """Write a line for each row; `rows` is None if the columns have types."""
    for table in tables:
        for batch in table.to_batches(ROWS_AT_ONCE):
            members = _json_members(pa.Table.from_batches([batch]), rows)
            file.write("".join(f"{{{row}}}\n" for row in members).encode())
        file.flush()


def _json_members(table: pa.Table, rows: CellsOfRows | None = None) -> Iterable[str]:
    """Return each row as the members of a JSON object, without its braces."""
    columns = [
        [f"{quote(name)}: {value}" for value in _json_values(name, column, rows)]
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return map(", ".join, zip(*columns, strict=True))


def _json_values(name: str, column: Any, rows: CellsOfRows | None) -> Iterable[str]:
    """Return the values of a column as JSON.

    A cell of CSV is a number if its column is one and it is written as JSON writes numbers, up to the decimal sign;
    else it is a string: 01234 stays as it is. An empty cell is null.
    """
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return map(_json, column.to_pylist())
    if rows is None or name not in rows.numbers:
        nulls = (None,) if rows is None else (None, "")
        return ("null" if value in nulls else quote(value) for value in column.to_pylist())
    present: Any = rows.cells.with_missing(column)
    numbers: Any = rows.cells.with_points(present)
    is_json = pc.match_substring_regex(numbers, JSON_NUMBER).to_pylist()
    columns = zip(present.to_pylist(), numbers.to_pylist(), is_json, strict=True)
    return ("null" if cell is None else number if is_valid else quote(cell) for cell, number, is_valid in columns)


def _json(value: object) -> str:
    """Return a value as JSON, which has no NaN and no infinity: null, and the strings "inf" and "-inf"."""
    if isinstance(value, float):
        return repr(value) if abs(value) < float("inf") else "null" if value != value else f'"{value}"'
    return json.dumps(value, ensure_ascii=False, default=str)


def _write_json(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    rows = [json.loads(f"{{{row}}}") for table in tables for row in _json_members(table)]
    file.write(f"{json.dumps(rows, ensure_ascii=False, indent=1)}\n".encode())


def _write_parquet(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    import pyarrow.parquet as pq  # takes as long to import as all of pyarrow's other modules that are used here

    remaining = iter(tables)
    first = next(remaining, None)
    if first is not None:
        with pq.ParquetWriter(file, first.schema) as writer:
            for table in chain([first], remaining):
                writer.write_table(table.cast(first.schema))


def _write_parquet_of_cells(
    tables: Iterable[pa.Table], names: Sequence[str], how: Cells, file: IO[bytes], folder: Path | None
) -> None:
    """Write cells of CSV: a column is of whole numbers, or of numbers, if all of its cells are, and else of strings.

    All rows are in a temporary file until that is known.
    """
    kinds = dict.fromkeys(names, NumberKinds())
    with tempfile.TemporaryFile(dir=folder) as file_of_cells:
        spool = cast("io.IOBase", file_of_cells)
        writer: pa.RecordBatchStreamWriter | None = None
        for table in tables:
            writer = writer or pa.ipc.new_stream(spool, table.schema)
            writer.write_table(table)
            for name, kind in kinds.items():
                if kind.are_integers or kind.are_numbers:
                    kinds[name] = kind.combined_with(how.number_kinds(table[name]))
        assert writer is not None  # there is a first table
        writer.close()
        spool.seek(0)
        types = {
            name: pa.int64() if kind.are_integers else pa.float64()
            for name, kind in kinds.items()
            if kind.has_values and (kind.are_integers or kind.are_numbers)
        }
        reader = pa.ipc.open_stream(spool)
        _write_parquet((_typed_cells(pa.Table.from_batches([batch]), names, types, how) for batch in reader), file)


def _typed_cells(table: pa.Table, names: Sequence[str], types: Mapping[str, pa.DataType], how: Cells) -> pa.Table:
    """Return cells as numbers of these types, or as strings; an empty cell is missing."""
    for i, name in enumerate(names):
        cells = table.column(i)
        if name in types:
            typed = pc.cast(how.with_points(how.with_missing(cells)), types[name])
        else:
            typed = pc.if_else(pc.equal(cells, pa.scalar("", cells.type)), pa.nulls(1, cells.type)[0], cells)
        table = table.set_column(i, name, typed)
    return table.replace_schema_metadata(None)


def _write_parquet_of_lines(pairs: Iterable[Pair], file: IO[bytes], folder: Path | None) -> None:
    """Write JSON lines: whole numbers stay whole numbers unless a fraction is among them, and strings stay strings.

    All rows are in a temporary file until the types are known.
    """
    schema, results_schema = pa.schema([]), pa.schema([])
    sizes: list[int] = []
    with tempfile.TemporaryFile(dir=folder) as spool:
        for table, results in pairs:
            results_schema = results.schema
            for start in range(0, table.num_rows, ROWS_AT_ONCE):
                lines = table.select([LINE]).slice(start, ROWS_AT_ONCE)
                text = "".join(f"{line}\n" for line in _lines(lines)).encode()
                block_schema = without_timestamps(parse_json_lines(text, can_grow=True).schema)
                schema = pa.unify_schemas([schema, block_schema], promote_options="permissive")
                block = "".join(_lines_with_results(lines, results.slice(start, ROWS_AT_ONCE))).encode()
                sizes.append(spool.write(block))
        spool.seek(0)
        schema = pa.schema([*schema, *results_schema])
        _write_parquet((parse_json_lines(spool.read(size), schema) for size in sizes), file)


def _write_arrow(tables: Iterable[pa.Table], file: IO[bytes]) -> None:
    """Write a stream of Arrow batches."""
    remaining = iter(tables)
    first = next(remaining, None)
    if first is not None:
        with pa.ipc.new_stream(cast("io.IOBase", file), first.schema) as writer:
            for table in chain([first], remaining):
                writer.write_table(table.cast(first.schema))


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Return the table with dictionary columns decoded to their values."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields).with_metadata(table.schema.metadata))
