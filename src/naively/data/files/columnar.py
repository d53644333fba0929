"""Read files that know their types: Parquet, Arrow (Feather), JSON, and tables in SQLite, DuckDB and Excel files."""

from __future__ import annotations

import io
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO

from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.files.batches import MAX_ROWS, ReadProgress
from naively.data.files.csv import Types, repeats
from naively.data.files.lines import read_json
from naively.data.files.paths import DataFile, Files
from naively.data.names import Numbered, listed, unique_names
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_FILE = b"ARROW1"  # how a file of Arrow begins; else it is a stream
Cell = str | bytes | int | float | date | None  # of SQLite

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")


def read_columnar(
    file: DataFile, how: Files, types: Types, raw: bool, progress: ReadProgress
) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches.

    Unless `raw`, strings of Parquet that repeat are codes of a dictionary, and texts of SQLite that are dates are
    dates.
    """
    import pyarrow as pa

    try:
        if file.format == "parquet":
            yield from _read_parquet(file, types, raw, progress)
        elif file.format == "json":
            yield from _read_json(file, how, raw, progress)
        elif file.format == "sqlite":
            yield from _read_sqlite(file, raw)
        elif file.format == "excel":
            yield from _read_excel(file, how)
        else:
            yield from {"arrow": _read_arrow, "duckdb": _read_duckdb}[file.format](file)
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


def _read_json(file: DataFile, how: Files, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    on_disk, stream = file.open_both()
    with on_disk, stream:
        progress.follow(on_disk, stream)
        if how.encoding not in (None, "utf-8", "utf-8-sig"):
            stream = _as_utf8(file, stream, how.encoding)
        yield from read_json(file.given, b"", stream, raw=raw)


def _as_utf8(file: DataFile, stream: BinaryIO, encoding: str) -> BinaryIO:
    try:
        return io.BytesIO(stream.read().decode(encoding).encode())
    except UnicodeDecodeError as error:
        raise InputError(f"{file.given}: is not {encoding} ({error.reason} at byte {error.start}).") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _query(file: DataFile, tables: Sequence[str]) -> str:
    """Return the given query, or that of all rows of the given table, or of the only one."""
    if file.query is not None and file.query not in tables and " " in file.query.strip():
        return file.query.strip().rstrip(";")
    return f"SELECT * FROM {_quoted(_table(file, tables, 'table'))}"


def _table(file: DataFile, tables: Sequence[str], kind: str) -> str:
    """Return the name of the given table, or of the only one; `kind` is what messages call it."""
    name = tables[0] if file.query is None and len(tables) == 1 else file.query
    if name is None or name not in tables:
        problem = f"name a {kind}" if name is None else f"there is no {kind} {name!r}"
        names = listed(tables) or "none"
        raise InputError(f"{file.given}: {problem}, as {file.given}::{kind.upper()}; it has {names}.")
    return name


def _read_sqlite(file: DataFile, raw: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table; each SQLite cell has its own type, so that of a column is decided over all rows."""
    import pyarrow as pa

    connection = sqlite3.connect(file.path.resolve().as_uri() + "?mode=ro", uri=True)
    connection.create_function("is_iso_date", 1, _is_iso_date, deterministic=True)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        query = _query(file, [name for (name,) in tables if not name.startswith("sqlite_")])
        names = [column[0] for column in connection.execute(f"SELECT * FROM ({query}) LIMIT 0").description]
        types = [_sqlite_type(connection, query, name, raw) for name in names]
        rows = connection.execute(query)
        while fetched := rows.fetchmany(MAX_ROWS):
            columns = [
                pa.array([None if cell is None else convert(cell) for cell in cells], kind)
                for (kind, convert), cells in zip(types, zip(*fetched, strict=True), strict=True)
            ]
            yield pa.record_batch(columns, names)
    finally:
        connection.close()


def _sqlite_type(
    connection: sqlite3.Connection, query: str, name: str, raw: bool
) -> tuple[pa.DataType, Callable[[Any], Cell]]:
    """Return the type of a column, and the function that converts its cells; SQLite stores dates as text."""
    import pyarrow as pa

    column = _quoted(name)
    types = {kind for (kind,) in connection.execute(f"SELECT DISTINCT typeof({column}) FROM ({query})")}
    types -= {"null"}
    if types <= {"integer"}:
        return pa.int64() if types else pa.null(), int
    if types <= {"integer", "real"}:
        return pa.float64(), float
    if types == {"text"} and not raw:
        other = f"SELECT 1 FROM ({query}) WHERE {column} NOT NULL AND NOT is_iso_date({column}) LIMIT 1"
        if connection.execute(other).fetchone() is None:
            return pa.timestamp("us"), datetime.fromisoformat
    return pa.string(), _text


def _is_iso_date(text: str) -> bool:
    """Return whether a text is a date that CSV reads as one, with or without a time.

    >>> _is_iso_date("2020-12-31"), _is_iso_date("2020-12-31 23:59"), _is_iso_date("2020-02-31"), _is_iso_date("2020")
    (True, True, False, False)
    """
    try:
        return ISO_DATE.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


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


def _read_excel(file: DataFile, how: Files) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a sheet: its first row names the columns, and the type of a column is decided over all rows."""
    import pyarrow as pa

    try:
        import python_calamine
    except ImportError:
        raise InputError(
            f'{file.given}: is an Excel file; install python-calamine to read it (pip install "naively[excel]").'
        ) from None
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(file.path))
        sheet = book.get_sheet_by_name(_table(file, book.sheet_names, "sheet"))
        rows = [row for row in sheet.to_python() if any(cell != "" for cell in row)]
    except python_calamine.CalamineError as error:
        raise _unreadable(file, error) from None
    if not rows:
        raise InputError(f"{file.given}: the sheet is empty.")
    header = [str(cell).strip() for cell in rows[0]] if how.header else list(Numbered(len(rows[0])))
    names = unique_names(header, f"{file.given}, row 1: ")
    cells = zip(*rows[1:], strict=True) if how.header else zip(*rows, strict=True)
    columns = [_excel_column(column, frozenset(how.missing_values)) for column in cells]
    if columns:
        yield from pa.table(columns, names=list(names)).to_batches(MAX_ROWS)


def _excel_column(cells: Sequence[Any], missing: frozenset[str]) -> pa.Array[Any]:
    """Return the cells of a column as whole numbers, numbers, booleans or dates if all are such, else as strings."""
    import pyarrow as pa

    values = [None if isinstance(cell, str) and cell in missing else cell for cell in cells]
    types = {type(value) for value in values} - {type(None)}
    if types and types <= {int, float}:
        is_whole = all(value is None or float(value).is_integer() for value in values)
        is_exact = all(value is None or abs(value) <= MAX_EXACT_INTEGER for value in values)
        if is_whole and is_exact:
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if types == {bool}:
        return pa.array(values, pa.bool_())
    if types and types <= {date, datetime}:
        times = [datetime.combine(value, time()) if type(value) is date else value for value in values]
        return pa.array(times, pa.timestamp("us"))
    if not types:
        return pa.nulls(len(values))
    return pa.array([None if value is None else _text(_plain(value)) for value in values], pa.string())


def _plain(value: Any) -> Cell:
    """Return a cell among strings as it is shown: 12, not 12.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT_INTEGER:
        return int(value)
    return str(value) if isinstance(value, (time, timedelta)) else value
