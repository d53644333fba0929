"""Tables of SQLite are read with one type for each column, by ADBC and by Python's own module alike."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naively
from naively.data.files import sqlite
from naively.data.files.batches import ReadProgress
from naively.data.files.read import read_files
from naively.errors import InputError

CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
    st.sampled_from(["2020-02-29", "2021-02-29", "2020-12-31T23:59", "2020-12-31 24:00", "2020-12-31 23:59:59.5"]),
    st.sampled_from([b"bytes", 0, 1, 0.1 + 0.2, 0.3, "", "it's", 'a "b"; --', "\\"]),
)
NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
    | st.sampled_from(["naively_source", "c1", "c2", '"', "';--", ") --", "a]", "`", "TRUE", "False"]),
    min_size=1,
    max_size=4,
    unique_by=str.casefold,
)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]], table: str = "t") -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(quoted, names))})")
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * len(names))})", rows)
    return path


def read(where: Path | str, **options: Any) -> pa.Table:
    return pa.Table.from_batches(read_files(where, **options))


@pytest.fixture(params=["ADBC", "sqlite3"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read by one of the two modules."""
    if request.param == "sqlite3":
        monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)
    else:
        pytest.importorskip("adbc_driver_sqlite")
    return str(request.param)


@given(st.data(), NAMES, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_modules_read_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject, names: list[str], raw: bool
) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    table = data.draw(st.sampled_from(names))
    rows = data.draw(st.lists(st.tuples(*[CELLS] * len(names)), min_size=1, max_size=6))
    path = write(tmp_path / "d.db", names, rows, table)
    monkeypatch.setattr(sqlite, "ROWS_PER_BATCH", 2)
    by_adbc = read(path, raw=raw)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "adbc_driver_sqlite", None)
        by_python = read(f"{path}::{table}", raw=raw)
    assert by_adbc.schema == by_python.schema
    assert by_adbc.column_names == list(names)
    for *columns, cells in zip(by_adbc.columns, by_python.columns, zip(*rows, strict=True), strict=True):
        for column in columns:
            check_column(column, cells)


def check_column(column: pa.ChunkedArray[Any], cells: Sequence[Any]) -> None:
    """Compare a column with its cells: no cell is lost, and different cells stay different."""
    values: list[Any] = column.to_pylist()
    assert [value is None for value in values] == [cell is None for cell in cells]
    present = [(value, cell) for value, cell in zip(values, cells, strict=True) if cell is not None]
    if pa.types.is_timestamp(column.type):
        assert all(value == datetime.fromisoformat(cell) for value, cell in present)
    elif pa.types.is_string(column.type):
        for value, cell in present:
            if isinstance(cell, float):
                assert float(value) == pytest.approx(cell, rel=1e-15)  # versions of SQLite write other last digits
            else:
                assert value == (cell.decode() if isinstance(cell, bytes) else str(cell))
    else:
        assert all(value == type(value)(cell) for value, cell in present)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("first", "later", "kind"),
    [
        (1, 2.5, pa.float64()),
        (1, "many", pa.string()),
        (1.5, "many", pa.string()),
        (None, 1, pa.int64()),
        (None, 1.5, pa.float64()),
        (None, "word", pa.string()),
        (None, "2020-12-31", pa.timestamp("us")),
        ("2020-12-31", "never", pa.string()),
        ("word", b"bytes", pa.string()),
        (None, None, pa.null()),
    ],
)
def test_a_type_that_changes_after_the_first_batch(
    first: Any, later: Any, kind: pa.DataType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "ROWS_PER_BATCH", 4)
    rows = [(first, "a")] * 9 + [(later, "b")] * 3
    table = read(write(tmp_path / "d.db", ["x", "y"], rows))
    assert table.schema.types == [kind, pa.string()]
    check_column(table["x"], [x for x, _ in rows])
    if first is not None:
        model = naively.fit(tmp_path / "d.db", "y", tune=False)
        assert model.class_counts.tolist() == [9, 3]


@pytest.mark.usefixtures("module")
def test_queries(tmp_path: Path) -> None:
    path = write(tmp_path / "d.db", ["x", "y"], [(i, i % 2) for i in range(10)])
    assert read(f"{path}::SELECT x FROM t ORDER BY x DESC -- the end")["x"].to_pylist() == list(range(9, -1, -1))
    assert read(f"{path}::WITH s AS (SELECT 5 AS five)\nSELECT * FROM s;")["five"].to_pylist() == [5]
    assert read(f"{path}::SELECT x AS a, y AS A FROM t LIMIT 1").num_columns == 2
    assert read(f"{path}::SELECT 7 AS naively_source")["naively_source"].to_pylist() == [7]
    for query, reason in (
        ("SELECT nonsense FROM t", "no such column"),
        ("SELECT 1 AS a; DROP TABLE t", "syntax error"),
        ("DELETE FROM t RETURNING x", "syntax error"),
    ):
        with pytest.raises(InputError, match=rf"d\.db: cannot be read as sqlite \(.*{reason}"):
            read(f"{path}::{query}")
    assert read(path).num_rows == 10


@pytest.mark.usefixtures("module")
def test_a_query_that_fails_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "ROWS_PER_BATCH", 4)
    path = write(tmp_path / "d.db", ["x", "y"], [(i, "ab"[i % 2]) for i in range(20)])
    query = f"{path}::SELECT CASE x WHEN 15 THEN abs(-9223372036854775807 - 1) ELSE x END AS x, y FROM t"
    with pytest.raises(InputError, match=r"d\.db: cannot be read as sqlite \(.*overflow"):
        naively.fit(query, "y")


@pytest.mark.usefixtures("module")
def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = write(tmp_path / "d.db", ["x", "y"], [(b"\xff\xfe", 1)])
    with pytest.raises(InputError, match=r"d\.db: .*'x'"):
        read(path)
    with pytest.raises(InputError, match=r"d\.db: .*'x'"):
        read(f"{path}::SELECT CAST(x AS TEXT) AS x FROM t")


@pytest.mark.usefixtures("module")
def test_the_share_is_that_of_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "ROWS_PER_BATCH", 100)
    path = write(tmp_path / "d.db", ["x"], [(i,) for i in range(1000)])
    progress = ReadProgress()
    n_rows = 0
    for n_batches, batch in enumerate(read_files(path, progress=progress), start=1):
        n_rows += batch.num_rows
        assert progress.share(n_batches) == n_rows / 1000
    assert n_rows == 1000
