"""Rows of databases: PostgreSQL compared with a bare read by ADBC, SQLite compared with a read cell by cell.

python tools/with_postgres.py python -m benchmarks databases --rows 2000000
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import naively
from benchmarks.measure import report
from naively.data.files.read import read_files

ROWS_PER_BATCH = 2**18
SQLITE_TYPES = {pa.float64(): "REAL", pa.int64(): "INTEGER"}


def draw_table(n_rows: int) -> pa.Table:
    """Draw a label and 10 columns: six of numbers, two of strings, one of booleans and one of dates."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n_rows)
    columns = {
        "label": pa.array(np.array(["no", "yes"])[label]),
        "age": pa.array(rng.integers(17, 90, n_rows)),
        "income": pa.array(np.round(np.exp(rng.normal(10 + 0.3 * label, 1)), 2)),
        "far": pa.array(1e7 + rng.normal(size=n_rows) + label),
        "score": pa.array(rng.normal(size=n_rows) + label, mask=rng.random(n_rows) < 0.1),
        "sky": pa.array(np.array(["sun", "rain", "fog", "snow"])[rng.integers(0, 4, n_rows)]),
        "town": pa.array(
            np.array([f"town {k}" for k in range(300)])[rng.integers(0, 300, n_rows)], mask=rng.random(n_rows) < 0.05
        ),
        "visits": pa.array(rng.poisson(2 + label)),
        "rate": pa.array(rng.random(n_rows)),
        "flag": pa.array(rng.random(n_rows) < 0.3),
        "day": pa.array((np.datetime64("2015-01-01") + rng.integers(0, 3000, n_rows)).astype("datetime64[D]")),
    }
    return pa.table(columns)


def write_sqlite(table: pa.Table, path: Path) -> None:
    """Write the rows as SQLite has them: booleans as integers, dates as text."""
    texts = [column.cast(pa.string()) if pa.types.is_date(column.type) else column for column in table.columns]
    plain = pa.table(texts, names=table.column_names)
    with closing(sqlite3.connect(path)) as connection, connection:
        names = ", ".join(f"{f.name} {SQLITE_TYPES.get(f.type, 'TEXT')}" for f in plain.schema)
        connection.execute(f"CREATE TABLE people ({names.replace('flag TEXT', 'flag INTEGER')})")
        for batch in plain.to_batches(2**16):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * plain.num_columns)})", rows)


def read_cells(path: Path) -> int:
    """Read the table as naively did before: a pass for the types of each column, and a Python value for each cell."""

    def convert(connection: sqlite3.Connection, name: str) -> tuple[pa.DataType, Any]:
        types = {kind for (kind,) in connection.execute(f"SELECT DISTINCT typeof({name}) FROM people")} - {"null"}
        if types <= {"integer", "real"}:
            return (pa.float64(), float) if "real" in types else (pa.int64(), int)
        other = f"SELECT 1 FROM people WHERE {name} NOT NULL AND NOT is_date({name}) LIMIT 1"
        if connection.execute(other).fetchone() is None:
            return pa.timestamp("us"), datetime.fromisoformat
        return pa.string(), str

    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("is_date", 1, _is_date, deterministic=True)
        names = [column[0] for column in connection.execute("SELECT * FROM people LIMIT 0").description]
        types = [convert(connection, name) for name in names]
        rows, n_rows = connection.execute("SELECT * FROM people"), 0
        while fetched := rows.fetchmany(ROWS_PER_BATCH):
            for (kind, read), cells in zip(types, zip(*fetched, strict=True), strict=True):
                pa.array([None if cell is None else read(cell) for cell in cells], kind)
            n_rows += len(fetched)
    return n_rows


def _is_date(text: str) -> bool:
    try:
        return datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def count_rows(batches: Iterator[pa.RecordBatch]) -> int:
    """Return the number of rows of batches, each of which is dropped."""
    return sum(batch.num_rows for batch in batches)


def read_bare(uri: str) -> int:
    """Read all rows of the table by ADBC, and do nothing with them."""
    import adbc_driver_postgresql

    from naively.data.files.databases import adbc_statement, execute

    with adbc_statement(adbc_driver_postgresql.connect(uri)) as statement:
        return count_rows(iter(execute(statement, "SELECT * FROM naively_people")))


def compare_sqlite(table: pa.Table, repeats: int) -> None:
    """Print how much faster a table in a file is read and counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.db"
        write_sqlite(table, path)
        turns = {"read": lambda: count_rows(read_files(path)), "cell by cell": lambda: read_cells(path)}
        report(f"SQLite, {table.num_rows:,} rows, 11 columns, read", turns, repeats)


def compare_postgresql(table: pa.Table, uri: str, repeats: int) -> None:
    """Print how much longer counting takes than reading."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("naively_people", table, mode="replace")
        connection.commit()
        cursor.execute("ANALYZE naively_people")
        connection.commit()
    source = f"{uri}::naively_people"
    turns = {
        "bare read": lambda: read_bare(uri),
        "our read": lambda: count_rows(read_files(source)),
        "fit, textbook": lambda: naively.fit(source, "label", tune=False),
        "fit, tuned": lambda: naively.fit(source, "label"),
    }
    report(f"PostgreSQL, {table.num_rows:,} rows, 11 columns", turns, repeats)


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--sqlite-rows", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    compare_sqlite(draw_table(options.sqlite_rows), options.repeats)
    uri = os.environ.get("NAIVELY_POSTGRES")
    if uri:
        compare_postgresql(draw_table(options.rows), uri, options.repeats)
    else:
        print("PostgreSQL is skipped: run this by tools/with_postgres.py")
