"""Read files that know their types: Parquet, Arrow (Feather), JSON lines, and tables in SQLite and DuckDB files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from naively.data.files.batches import MAX_ROWS, ReadProgress
from naively.data.files.csv import Types, repeats
from naively.data.files.lines import read_json_lines
from naively.data.files.paths import DataFile
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_FILE = b"ARROW1"  # how a file of Arrow begins; else it is a stream
Cell = str | bytes | int | float | None  # of SQLite


def read_columnar(file: DataFile, types: Types, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches; unless `raw`, strings of Parquet that repeat are codes of a dictionary."""
    import pyarrow as pa

    read = {"arrow": _read_arrow, "sqlite": _read_sqlite, "duckdb": _read_duckdb}
    try:
        if file.format == "parquet":
            yield from _read_parquet(file, types, raw, progress)
        elif file.format == "json":
            yield from _read_json(file, raw, progress)
        else:
            yield from read[file.format](file)
    except (pa.ArrowException, OSError, sqlite3.Error) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: DataFile, error: Exception) -> InputError:
    return InputError(f"{file.given}: cannot be read as {file.format} ({error}).")


def _read_parquet(file: DataFile, types: Types, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.path, read_dictionary=[] if raw else _dictionary_columns(file, types)) as parquet:
        n_read = 0
        for batch in parquet.iter_batches(MAX_ROWS):
            n_read += batch.num_rows
            progress.rows(n_read, parquet.metadata.num_rows)
            yield batch


def _dictionary_columns(file: DataFile, types: Types) -> list[str]:
    """Return the columns of strings that repeat among the first rows, as in CSV; Parquet stores codes of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    strings = [f.name for f in pq.read_schema(file.path) if pa.types.is_string(f.type) and "." not in f.name]
    given = [name for name in strings if isinstance(types.get(name), pa.DictionaryType)]
    others = [name for name in strings if name not in types]
    if not others:
        return given
    with pq.ParquetFile(file.path, read_dictionary=others) as parquet:  # codes are counted faster than strings
        first = next(parquet.iter_batches(MAX_ROWS, columns=others), None)
    return given if first is None else given + [name for name in others if repeats(first[name])]


def _read_arrow(file: DataFile) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with pa.memory_map(str(file.path)) as mapped:
        if mapped.read(len(ARROW_FILE)) != ARROW_FILE:
            mapped.seek(0)
            with pa.ipc.open_stream(mapped) as stream:
                yield from stream
            return
        with pa.ipc.open_file(mapped) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)


def _read_json(file: DataFile, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    on_disk, stream = file.open_both()
    with on_disk, stream:
        progress.follow(on_disk, stream)
        yield from read_json_lines(file.given, b"", stream, raw=raw)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _query(file: DataFile, tables: Sequence[str]) -> str:
    """Return the given query, or that of all rows of the given table, or of the only one."""
    query = tables[0] if file.query is None and len(tables) == 1 else file.query
    if query is None or (query not in tables and " " not in query.strip()):
        problem = "name a table" if query is None else f"there is no table {query!r}"
        raise InputError(f"{file.given}: {problem}, as {file.given}::TABLE; it has {', '.join(tables) or 'none'}.")
    return f"SELECT * FROM {_quoted(query)}" if query in tables else query.strip().rstrip(";")


def _read_sqlite(file: DataFile) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table; each SQLite cell has its own type, so that of a column is decided over all rows."""
    import pyarrow as pa

    connection = sqlite3.connect(file.path.resolve().as_uri() + "?mode=ro", uri=True)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        query = _query(file, [name for (name,) in tables if not name.startswith("sqlite_")])
        names = [column[0] for column in connection.execute(f"SELECT * FROM ({query}) LIMIT 0").description]
        types = [_sqlite_type(connection, query, name) for name in names]
        rows = connection.execute(query)
        while fetched := rows.fetchmany(MAX_ROWS):
            columns = [
                pa.array([None if cell is None else convert(cell) for cell in cells], kind)
                for (kind, convert), cells in zip(types, zip(*fetched, strict=True), strict=True)
            ]
            yield pa.record_batch(columns, names)
    finally:
        connection.close()


def _sqlite_type(connection: sqlite3.Connection, query: str, name: str) -> tuple[pa.DataType, Callable[[Any], Cell]]:
    """Return the type of a column, and the function that converts its cells."""
    import pyarrow as pa

    types = {kind for (kind,) in connection.execute(f"SELECT DISTINCT typeof({_quoted(name)}) FROM ({query})")}
    types -= {"null"}
    if types <= {"integer"}:
        return pa.int64() if types else pa.null(), int
    return (pa.float64(), float) if types <= {"integer", "real"} else (pa.string(), _text)


def _text(cell: Cell) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)


def _read_duckdb(file: DataFile) -> Iterator[pa.RecordBatch]:
    try:
        import duckdb
    except ImportError:
        raise InputError(f"{file.given}: is a DuckDB file; install the package duckdb to read it.") from None
    try:
        with duckdb.connect(str(file.path), read_only=True) as connection:
            tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
            yield from connection.sql(_query(file, tables)).to_arrow_reader(MAX_ROWS)
    except duckdb.Error as error:
        raise _unreadable(file, error) from None
