"""What is read of a database: the given query, the given table, or the only one; and tables in DuckDB files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from naively.data.files.batches import MAX_ROWS, ReadProgress
from naively.data.files.paths import DataFile
from naively.data.names import listed
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import AdbcDatabase, AdbcStatement


def quote(name: str) -> str:
    """Return the name of a table or a column in quotes, which it cannot end.

    >>> print(quote('a "b"; --'))
    "a ""b""; --"
    """
    return '"' + name.replace('"', '""') + '"'


def is_query(file: DataFile, tables: Sequence[str]) -> bool:
    """Return whether a query is given, not the name of a table: it has a blank or a line break."""
    return file.query is not None and file.query not in tables and len(file.query.split()) > 1


def query_of(file: DataFile, tables: Sequence[str]) -> str:
    """Return the given query, or that of all rows of the given table, or of the only one."""
    if file.query is not None and is_query(file, tables):
        return file.query.strip().rstrip(";")
    return f"SELECT * FROM {quote(choose_table(file, tables))}"


def choose_table(file: DataFile, tables: Sequence[str], kind: str = "table") -> str:
    """Return the name of the given table, or of the only one; `kind` is what messages call it."""
    name = tables[0] if file.query is None and len(tables) == 1 else file.query
    if name is None or name not in tables:
        problem = f"name a {kind}" if name is None else f"there is no {kind} {name!r}"
        names = listed(tables) or "none"
        raise InputError(f"{file.given}: {problem}, as {file.given}::{kind.upper()}; it has {names}.")
    return name


def follow_rows(
    batches: Iterator[pa.RecordBatch], n_rows: int | None, progress: ReadProgress
) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and note which share of the rows they are, if their number is known."""
    n_read = 0
    for batch in batches:
        n_read += batch.num_rows
        progress.rows(n_read, n_rows)
        yield batch


@contextmanager
def adbc_statement(database: AdbcDatabase) -> Iterator[AdbcStatement]:
    """Connect to a database by ADBC, in one transaction; end both at the end.

    ADBC's form of Python's DB-API would import pandas and polars.
    """
    from adbc_driver_manager import AdbcConnection, AdbcStatement

    with database, AdbcConnection(database) as connection:
        connection.set_autocommit(False)
        with AdbcStatement(connection) as statement:
            yield statement


def execute(statement: AdbcStatement, query: str) -> pa.RecordBatchReader:
    """Run a query; return its rows."""
    import pyarrow as pa

    statement.set_sql_query(query)
    stream, _ = statement.execute_query()
    return pa.RecordBatchReader.from_stream(stream)


def read_duckdb(file: DataFile, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table or query in a DuckDB file."""
    try:
        import duckdb
    except ImportError:
        raise InputError(
            f'{file.given}: is a DuckDB file; install duckdb to read it (pip install "naively[duckdb]").'
        ) from None
    try:
        with duckdb.connect(str(file.path), read_only=True) as connection:
            tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
            query = query_of(file, tables)
            n_rows = None
            if not is_query(file, tables):  # the number of rows of a query would take a second run
                [(n_rows,)] = connection.execute(f"SELECT count(*) FROM ({query})").fetchall()
            yield from follow_rows(connection.sql(query).to_arrow_reader(MAX_ROWS), n_rows, progress)
    except duckdb.Error as error:
        raise file.unreadable(error) from None
