"""Every source gives the same statistics and tuning, bit for bit, under a given schema.

The rows are a table in memory, CSV, Parquet, or a table in DuckDB, SQLite (by ADBC and by Python's own module) or
PostgreSQL; read at once or in small batches.
"""

from __future__ import annotations

import datetime
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from tests.support.databases import POSTGRES, needs_postgresql
from tests.support.engines import assert_same_counts, mixed_table, text_table

import naively
from naively.data.files import sqlite

SQLITE_TYPES = {pa.float64(): "REAL", pa.int64(): "INTEGER", pa.bool_(): "BOOLEAN"}


def without_empty_strings(table: pa.Table) -> pa.Table:
    """Replace the empty string, which is a missing value in CSV, by another one."""
    is_text = [pa.types.is_string(kind) for kind in table.schema.types]
    columns = [
        pc.if_else(pc.equal(column, pa.scalar("")), pa.scalar("-"), column) if text else column
        for column, text in zip(table.columns, is_text, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


TABLES = {"mixed": without_empty_strings(mixed_table(1500)), "texts": text_table(400)}


@cache
def local(name: str) -> tuple[naively.Schema, naively.Model]:
    schema = naively.infer_schema(TABLES[name], "y")
    with pytest.warns(naively.LeftOutWarning):
        return schema, naively.fit(TABLES[name], "y", schema=schema)


def write_csv(table: pa.Table, name: str, folder: Path) -> Path:
    arrow_csv.write_csv(table, folder / "rows.csv")
    return folder / "rows.csv"


def write_parquet(table: pa.Table, name: str, folder: Path) -> Path:
    pq.write_table(table, folder / "rows.parquet", row_group_size=111)
    return folder / "rows.parquet"


def write_duckdb(table: pa.Table, name: str, folder: Path) -> str:
    import duckdb

    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE rows_ AS SELECT * FROM given")
    return f"{folder / 'rows.duckdb'}::SELECT * FROM rows_"


def write_sqlite(table: pa.Table, name: str, folder: Path) -> str:
    def cell(value: Any) -> Any:
        return str(value) if isinstance(value, datetime.date) else value

    with closing(sqlite3.connect(folder / "rows.db")) as connection, connection:
        columns = ", ".join(f'"{f.name}" {SQLITE_TYPES.get(f.type, "TEXT")}' for f in table.schema)
        connection.execute(f"CREATE TABLE rows_ ({columns})")
        rows = zip(*(map(cell, column.to_pylist()) for column in table.columns), strict=True)
        connection.executemany(f"INSERT INTO rows_ VALUES ({', '.join('?' * table.num_columns)})", rows)
    return f"{folder / 'rows.db'}::rows_"


def write_postgresql(table: pa.Table, name: str, folder: Path) -> str:
    from adbc_driver_postgresql import dbapi

    table_name = f"naively law {name}"
    with dbapi.connect(str(POSTGRES)) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(table_name, table, mode="replace")
        connection.commit()
    return f"{POSTGRES}::{table_name}"


Writer = Callable[[pa.Table, str, Path], Path | str]
SOURCES = [
    write_csv,
    write_parquet,
    write_duckdb,
    write_sqlite,
    pytest.param(write_postgresql, marks=needs_postgresql),
]


@pytest.mark.parametrize("write", SOURCES)
@pytest.mark.parametrize("name", TABLES)
def test_a_source_is_the_table_in_memory(name: str, write: Writer, tmp_path: Path) -> None:
    schema, model = local(name)
    source = write(TABLES[name], name, tmp_path)
    with pytest.warns(naively.LeftOutWarning, match=r"rows have no 'y' and were left out"):
        counted = naively.fit(source, "y", schema=schema)
    assert_same_counts(counted, model)
    assert counted.tuning == model.tuning


@pytest.mark.parametrize("has_adbc", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_small_batches_of_sqlite(name: str, has_adbc: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "ROWS_PER_BATCH", 64)
    if not has_adbc:
        monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)
    test_a_source_is_the_table_in_memory(name, write_sqlite, tmp_path)


@needs_postgresql
@pytest.mark.parametrize("name", TABLES)
def test_parts_of_a_table_on_a_server(name: str, tmp_path: Path) -> None:
    schema, model = local(name)
    address, _, table = write_postgresql(TABLES[name], f"{name} in parts", tmp_path).partition("::")

    def parts() -> Iterator[naively.Part]:
        for k in range(4):
            query = f"""SELECT * FROM "{table}" WHERE (('x' || md5(ctid::text))::bit(32)::int & 3) = {k}"""
            yield naively.count(f"{address}::{query}", schema, "y")

    with pytest.warns(naively.LeftOutWarning):
        counted = naively.total(parts()).to_model()
    assert_same_counts(counted, model)
    assert counted.tuning == model.tuning
