"""Databases in which the tests run exported SQL: DuckDB and SQLite always, PostgreSQL and Spark where there is one.

NAIVELY_POSTGRES is the URI of a PostgreSQL server, such as postgresql://user@localhost/database. `make engines` starts
one. Spark needs the package pyspark and Java.
"""

from __future__ import annotations

import datetime
import os
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pytest

POSTGRES = os.environ.get("NAIVELY_POSTGRES")
HAS_SPARK = find_spec("pyspark") is not None and shutil.which("java") is not None
HAS_ADBC = find_spec("adbc_driver_postgresql") is not None

needs_postgresql = pytest.mark.skipif(
    not (POSTGRES and HAS_ADBC),
    reason="no PostgreSQL server: run make engines, or set NAIVELY_POSTGRES and install adbc-driver-postgresql",
)
ALL = [
    "duckdb",
    "sqlite",
    pytest.param("postgresql", marks=needs_postgresql),
    pytest.param("spark", marks=pytest.mark.skipif(not HAS_SPARK, reason="no Spark: install pyspark and Java")),
]

Table = Mapping[str, Sequence[Any]]
Rows = list[tuple[Any, ...]]


def query(database: str, sql: str, table: Table, name: str = "data") -> Rows:
    """Return the rows of a query over one table."""
    run = {"duckdb": _duckdb, "sqlite": _sqlite, "postgresql": _postgresql, "spark": _spark}[database]
    return run(sql, table, name)


def _duckdb(sql: str, table: Table, name: str) -> Rows:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("given", _arrow(table))
        quoted = name.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM given')
        return connection.execute(sql).fetchall()


def _sqlite(sql: str, table: Table, name: str) -> Rows:
    quoted = [column.replace('"', '""') for column in (name, *table)]
    with closing(sqlite3.connect(":memory:")) as connection:
        columns = ", ".join(f'"{column}" COLLATE NOCASE' for column in quoted[1:])
        connection.execute(f'CREATE TABLE "{quoted[0]}" ({columns})')
        rows = zip(*([_plain(value) for value in values] for values in table.values()), strict=True)
        connection.executemany(f'INSERT INTO "{quoted[0]}" VALUES ({", ".join("?" * len(table))})', rows)
        return connection.execute(sql).fetchall()


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, datetime.date) else value


def _postgresql(sql: str, table: Table, name: str) -> Rows:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(str(POSTGRES)) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(name, _arrow(table), mode="create", temporary=True)
        cursor.execute("SET jit = off")  # as docs/export.md says for many classes
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]


def _spark(sql: str, table: Table, name: str) -> Rows:
    frame = spark_session().createDataFrame(_arrow(table, "UTC"))
    frame.createOrReplaceTempView("`" + name.replace("`", "``") + "`")
    return [tuple(row) for row in spark_session().sql(sql).collect()]


@cache
def spark_session() -> Any:
    """Return a session with one thread, in a time zone in which midnight is not midnight UTC."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "Asia/Tokyo",
    }
    builder = SparkSession.builder.master("local[1]").appName("naively")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _arrow(table: Table, time_zone: str | None = None) -> pa.Table:
    arrays = {name: pa.array(values) for name, values in table.items()}
    kinds = {name: pa.timestamp("us", time_zone) for name, a in arrays.items() if pa.types.is_timestamp(a.type)}
    return pa.table({name: array.cast(kinds.get(name, array.type)) for name, array in arrays.items()})
