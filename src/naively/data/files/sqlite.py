"""Read tables in SQLite files, through ADBC if it is installed, which is several times faster.

A cell of SQLite has a type of its own. So the type of a column is decided over all rows first; then each cell is
converted to it by SQLite. The first row that is fetched is not one of the table: its cells tell ADBC the types.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from naively.data.files.batches import ReadProgress
from naively.data.files.databases import adbc_statement, execute, follow_rows, is_query, query_of, quote
from naively.data.files.paths import DataFile
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import AdbcDatabase

Type = Literal["nothing", "integer", "real", "text", "date"]

ROWS_PER_BATCH = 2**16
TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
FIRST_CELLS: dict[Type, str] = {"nothing": "NULL", "integer": "0", "real": "0.0", "text": "''", "date": "''"}
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MINUTE = "[ T][0-9][0-9]:[0-9][0-9]"
_MAX_DATE_LENGTH = 26  # with microseconds


@dataclass(frozen=True)
class _Column:
    """A column of the result: its name, its name in the query, and the types of its cells."""

    name: str
    reference: str
    cell_types: frozenset[str]
    is_date: bool

    @property
    def type(self) -> Type:
        if self.is_date:
            return "date"
        if self.cell_types <= {"integer", "real"}:
            return "real" if "real" in self.cell_types else "integer" if self.cell_types else "nothing"
        return "text"

    def arrow_type(self) -> pa.DataType:
        """Return the type of the column when it has been read."""
        import pyarrow as pa

        types: dict[Type, pa.DataType] = {
            "nothing": pa.null(),
            "integer": pa.int64(),
            "real": pa.float64(),
            "text": pa.string(),
            "date": pa.timestamp("us"),
        }
        return types[self.type]

    def converted(self) -> str:
        """Return the SQL of the column, in which all cells have one type."""
        if self.type == "real":
            return f"CAST({self.reference} AS REAL)"
        if self.type != "text" or self.cell_types == {"text"}:
            return self.reference
        text = f"CAST({self.reference} AS TEXT)"
        if "real" not in self.cell_types:
            return text
        # SQLite writes 15 digits; a number that has more keeps all of them, so that it stays different from others.
        is_exact = f"typeof({self.reference}) <> 'real' OR CAST({text} AS REAL) = {self.reference}"
        return f"CASE WHEN {is_exact} THEN {text} ELSE printf('%!.17g', {self.reference}) END"


def read_sqlite(file: DataFile, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table or query; unless `raw`, texts are dates in a column in which all of them are."""
    uri = file.path.resolve().as_uri() + "?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            tables = [name for (name,) in connection.execute(TABLES) if not name.startswith("sqlite_")]
            is_table = not is_query(file, tables)
            source = _named_by_position(connection, query_of(file, tables), is_table)
            columns = _columns(connection, *source, raw)
            n_rows = None
            if is_table:  # the number of rows of a query would take another run
                [(n_rows,)] = connection.execute(f"{source[0]}SELECT count(*) FROM {source[1]}")
            batches = _fetch(file, connection, uri, _typed_query(*source[:2], columns), columns)
            yield from follow_rows(batches, n_rows, progress)
    except sqlite3.Error as error:
        raise file.unreadable(error) from None


def _named_by_position(connection: sqlite3.Connection, query: str, is_table: bool) -> tuple[str, str, Sequence[str]]:
    """Return the query as a common table expression with columns c1, c2, …; its name; and the names of its columns.

    SQLite renames a column TRUE or FALSE in a subquery, so the names of a table are read without one.
    """
    name = "naively_source"
    while name in query.lower():
        name += "_"
    no_rows = f"{query} LIMIT 0" if is_table else f"SELECT * FROM ({query}\n) LIMIT 0"
    names = [column[0] for column in connection.execute(no_rows).description]
    references = ", ".join(f"c{i}" for i in range(1, len(names) + 1))
    return f"WITH {name} ({references}) AS ({query}\n)\n", name, names


def _columns(connection: sqlite3.Connection, source: str, name: str, names: Sequence[str], raw: bool) -> list[_Column]:
    """Return the columns with their types: in one pass over all rows, and one over each column that has dates first."""
    references = [f"c{i}" for i in range(1, len(names) + 1)]
    types = ", ".join(f"typeof({reference})" for reference in references)
    seen = zip(*connection.execute(f"{source}SELECT DISTINCT {types} FROM {name}"), strict=True)
    cell_types = [frozenset(kinds) - {"null"} for kinds in seen] or [frozenset[str]()] * len(names)
    columns = []
    for column_name, reference, kinds in zip(names, references, cell_types, strict=True):
        is_date = False
        if kinds == {"text"} and not raw:
            other = f"{source}SELECT 1 FROM {name} WHERE {reference} NOT NULL AND NOT {_is_date(reference)} LIMIT 1"
            is_date = connection.execute(other).fetchone() is None
        columns.append(_Column(column_name, reference, kinds, is_date))
    return columns


def _is_date(x: str) -> str:
    """Return the SQL condition that a text is a date that CSV reads as one: 2020-12-31, with or without a time.

    SQLite computes with 2020-02-31 as with 2020-03-02, and with 24:00 as with the next day: both change the text.
    """
    formats = [_DAY + _MINUTE, f"{_DAY}{_MINUTE}:[0-9][0-9]", f"{_DAY}{_MINUTE}:[0-9][0-9].[0-9]*"]
    has_time = " OR ".join(f"{x} GLOB '{pattern}'" for pattern in formats)
    is_short = f"length({x}) <= {_MAX_DATE_LENGTH} AND substr({x}, 21) NOT GLOB '*[^0-9]*'"
    exists = f"{x} >= '0001' AND coalesce(date({x}, '+0 days') = substr({x}, 1, 10), 0)"
    return f"CASE WHEN {x} GLOB '{_DAY}' THEN {exists} ELSE ({has_time}) AND {is_short} AND {exists} END"


def _typed_query(source: str, name: str, columns: Sequence[_Column]) -> str:
    """Return a query for a row with a cell of each type, and then the rows, each cell in the type of its column."""
    first = ", ".join(f"{FIRST_CELLS[column.type]} AS {quote(column.name)}" for column in columns)
    rest = ", ".join(column.converted() for column in columns)
    return f"{source}SELECT {first} UNION ALL SELECT {rest} FROM {name}"


def _fetch(
    file: DataFile, connection: sqlite3.Connection, uri: str, query: str, columns: Sequence[_Column]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query but the first, with the types of the columns."""
    import pyarrow as pa

    try:
        import adbc_driver_sqlite
    except ImportError:
        batches = _fetch_rows(connection, query, columns)
    else:
        batches = _fetch_batches(file, adbc_driver_sqlite.connect(uri), query)
    n_skipped = 1
    for batch in batches:
        arrays = map(_with_type, batch.slice(n_skipped).columns, columns, [file] * len(columns))
        yield pa.record_batch(list(arrays), [column.name for column in columns])
        n_skipped = 0


def _fetch_batches(file: DataFile, database: AdbcDatabase, query: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query by ADBC."""
    from adbc_driver_manager import Error

    try:
        with adbc_statement(database) as statement:
            statement.set_options(**{"adbc.sqlite.query.batch_rows": str(ROWS_PER_BATCH)})
            yield from execute(statement, query)
    except Error as error:
        raise file.unreadable(error) from None


def _fetch_rows(connection: sqlite3.Connection, query: str, columns: Sequence[_Column]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query by Python's own module."""
    import pyarrow as pa

    types = [pa.string() if column.type == "date" else column.arrow_type() for column in columns]
    rows = connection.execute(query)
    while cells := rows.fetchmany(ROWS_PER_BATCH):
        arrays = map(pa.array, zip(*cells, strict=True), types)
        yield pa.record_batch(list(arrays), [column.name for column in columns])


def _with_type(array: pa.Array[Any], column: _Column, file: DataFile) -> pa.Array[Any]:
    """Return the cells in the type of their column; SQLite does not check that text is UTF-8."""
    import pyarrow as pa

    if column.type == "nothing":
        return pa.nulls(len(array))
    try:
        array.validate(full=True)
        return array.cast(column.arrow_type())
    except pa.ArrowInvalid as error:
        raise InputError(f"{file.given}: column {column.name!r} cannot be read as {column.type} ({error}).") from None
