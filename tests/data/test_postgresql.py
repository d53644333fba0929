"""Tables and queries of a PostgreSQL server are read, counted and refused as those of files are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.databases import POSTGRES, needs_postgresql

import naively
from naively.cli.main import main
from naively.data.files.batches import ReadProgress
from naively.data.files.read import read_files
from naively.errors import InputError

TABLE = {"sky": ["sun", "rain", None] * 20, "wind": [1.5, 20.0, 3.0] * 20, "play": ["yes", "no", "yes"] * 20}
PASSWORD = "pass word/@:%'\"\\"
ROWS_THAT_FAIL = """SELECT i AS n, repeat('word ', 40) AS note, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS play,
  {failure} AS failure FROM generate_series(1, 100000) AS i"""
FAILURES = {
    "division by zero": "1 / (90000 - i)",
    "terminating connection": "CASE WHEN i = 90000 THEN pg_terminate_backend(pg_backend_pid()) ELSE false END",
}


class Server:
    """A schema of its own on the server, and the address that shows only this schema."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.address = f"{POSTGRES}&options=-csearch_path%3D{name}"

    def run(self, *statements: str) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def add(self, name: str, table: Any) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, pa.table(table), mode="create")
            connection.commit()

    def read(self, query: str, raw: bool = False) -> pa.Table:
        return pa.Table.from_batches(read_files(f"{self.address}::{query}", raw=raw))


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    name = f"test_{abs(hash(request.node.nodeid)):x}"
    server = Server(name)
    server.run(f"CREATE SCHEMA {name}")
    yield server
    server.run(f"DROP SCHEMA {name} CASCADE")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


pytestmark = needs_postgresql


def test_tables_of_columns_are_those_of_a_frame(server: Server) -> None:
    server.add("days", TABLE)
    local, remote = (naively.fit(source, "play", together=True) for source in (TABLE, f"{server.address}::days"))
    assert local.schema.tables is not None
    assert remote.schema == local.schema
    assert remote.tuning == local.tuning


def test_every_command_reads_a_server(server: Server, tmp_path: Path) -> None:
    server.add("days", TABLE)
    local, path, source = naively.fit(TABLE, "play"), tmp_path / "play.naively", f"{server.address}::days"
    assert naively.fit(source, "play").class_counts.tolist() == local.class_counts.tolist()
    assert naively.fit(server.address, "play").schema == local.schema
    for command in (
        ["fit", source, "--target", "play", "-o", path],
        ["predict", path, f"{server.address}::SELECT sky, wind FROM days", "-o", tmp_path / "out.csv"],
        ["evaluate", path, source],
        ["explain", path, source, "--row", 2],
        ["update", path, source, source],
        ["forget", path, source],
    ):
        result = run(*command)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "out.csv").read_text().splitlines()[2] == "rain,20,no"
    model = naively.load(path)
    assert model.class_counts.tolist() == (2 * local.class_counts).tolist()
    assert model.predict(source).tolist() == TABLE["play"]
    assert [entry.source for entry in naively.open(path).log()][:2] == [source, f"{source} {source}"]


def test_types_that_are_counted(server: Server) -> None:
    server.run("CREATE TYPE mood AS ENUM ('sad', 'glad')", "CREATE DOMAIN price AS numeric(8, 2)")
    server.run("CREATE DOMAIN offer AS price", "CREATE DOMAIN feeling AS mood")
    types = {
        "CAST(0.1 AS numeric)": (pa.float64(), 0.1),
        "CAST(12345678901234567.89 AS numeric)": (pa.float64(), 12345678901234567.89),
        "CAST('NaN' AS numeric)": (pa.float64(), pytest.approx(float("nan"), nan_ok=True)),
        "CAST(2.5 AS offer)": (pa.float64(), 2.5),
        "CAST(2.5 AS money)": (pa.float64(), 2.5),
        "CAST(4000000000 AS oid)": (pa.int64(), 4_000_000_000),
        "CAST(7 AS smallint)": (pa.int16(), 7),
        "true": (pa.bool_(), True),
        "CAST('glad' AS feeling)": (pa.string(), "glad"),
        "CAST('ab' AS char(5))": (pa.string(), "ab"),
        "CAST('{\"a\":1}' AS jsonb)": (pa.string(), '{"a": 1}'),
        "CAST('00000000-0000-0000-0000-000000000001' AS uuid)": (
            pa.string(),
            "00000000-0000-0000-0000-000000000001",
        ),
        "CAST('10.0.0.1' AS inet)": (pa.string(), "10.0.0.1/32"),
    }
    columns = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(types))
    table = server.read(f"SELECT {columns}")
    assert list(zip(table.schema.types, (column[0].as_py() for column in table.columns), strict=True)) == list(
        types.values()
    )
    dates = server.read("SELECT DATE '2020-01-31' AS a, TIMESTAMP '2020-01-31 12:00' AS b, TIME '12:00' AS c")
    assert list(map(str, dates.schema.types)) == ["date32[day]", "timestamp[us]", "time64[us]"]


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("INTERVAL '1 day'", "interval"),
        ("ARRAY[1, 2]", r"integer\[\]"),
        (r"CAST('\x00ff' AS bytea)", "bytea"),
        ("int4range(1, 3)", "int4range"),
        ("point(1, 2)", "point"),
        ("TIMETZ '12:00+01'", "time with time zone"),
        ("ROW(1, 'x')", "record"),
    ],
)
def test_types_that_are_refused_by_name(server: Server, sql: str, shown: str, tmp_path: Path) -> None:
    columns = f"{sql} AS odd, CAST('a' AS text) AS play, 1 AS wind"
    with pytest.raises(InputError, match=f"column 'odd' has type {shown} of PostgreSQL, which cannot be counted"):
        naively.fit(f"{server.address}::SELECT {columns}", "play")
    if shown == "record":
        return  # a type without a name has no text form in a table
    server.run(f"CREATE TABLE t AS SELECT {columns} FROM generate_series(1, 4)")
    path = tmp_path / "m.naively"
    result = run("fit", server.address, "--target", "play", "--ignore", "odd", "-o", path)
    assert result.exit_code == 0, result.output
    result = run("predict", path, server.address, "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    assert server.read(f"SELECT CAST({sql} AS text) AS odd")["odd"][0].as_py() in (
        pa.csv.read_csv(tmp_path / "out.csv").column("odd").cast(pa.string()).to_pylist()
    )


def test_tables_are_found_by_name(server: Server) -> None:
    with pytest.raises(InputError, match=r"name a table, as postgresql://.*::TABLE; it has none"):
        server.read("")
    server.add("a", {"x": [1]})
    server.add("select me", {"x": [2]})
    assert server.read("a")["x"].to_pylist() == [1]
    assert server.read("select me")["x"].to_pylist() == [2]
    assert server.read(f"{server.name}.select me")["x"].to_pylist() == [2]
    assert server.read("SELECT x + 1 AS y FROM a; ")["y"].to_pylist() == [2]
    assert server.read("SELECT x + 1 AS y FROM a -- the end")["y"].to_pylist() == [2]
    assert server.read("WITH b AS (SELECT 5 AS x)\nTABLE b")["x"].to_pylist() == [5]
    with pytest.raises(InputError, match=r"there is no table 'b', as .*; it has a, select me\."):
        server.read("b")
    with pytest.raises(InputError, match=r"column names that occur more than once: x\."):
        server.read("SELECT x, x FROM a")
    with pytest.raises(InputError, match=r": has no rows\."):
        server.read("SELECT x FROM a WHERE false")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT nonsense FROM days", 'column "nonsense" does not exist'),
        ("SELECT * FROM nowhere", 'relation "nowhere" does not exist'),
        ("SELECT 1 / 0 AS x", "division by zero"),
        ("WITH gone AS (DELETE FROM days RETURNING *) SELECT * FROM gone", "WITH clause containing a data-modifying"),
        ("SELECT setval('counter', 5)", "cannot execute setval.* in a read-only transaction"),
        ("SELECT 1) AS x; DROP TABLE days; SELECT (1", "cannot insert multiple commands|syntax error"),
        ("DROP TABLE days", "syntax error"),
    ],
)
def test_queries_that_fail(server: Server, query: str, reason: str) -> None:
    server.add("days", TABLE)
    server.run("CREATE SEQUENCE counter")
    with pytest.raises(InputError, match=f"^postgresql://.*: .*({reason})"):
        naively.fit(f"{server.address}::{query}", "play")
    assert server.read("days").num_rows == 60


@pytest.mark.parametrize("reason", FAILURES)
def test_a_failure_half_way_changes_nothing(server: Server, reason: str, tmp_path: Path) -> None:
    query = f"{server.address}::{ROWS_THAT_FAIL.format(failure=FAILURES[reason])}"
    batches = read_files(query)
    assert next(batches).num_rows < 90_000
    with pytest.raises(InputError, match=f"^postgresql://.*: .*{reason}"):
        list(batches)
    old, new = tmp_path / "old.naively", tmp_path / "new.naively"
    good = {"n": [1, 2], "note": ["word", "word"], "failure": [0, 0]}
    naively.fit(good, ["a", "b"], columns={"n": naively.Gaussian()}, tune=False).save(old)
    before = old.read_bytes()
    for command in (
        ["fit", query, "--target", "play", "-o", new],
        ["fit", query, "--target", "play", "--force", "-o", old],
        ["predict", old, query, "-o", tmp_path / "out.csv"],
        ["update", old, query, "--target", "play"],
        ["evaluate", old, query, "--target", "play"],
    ):
        result = run(*command)
        assert result.exit_code == 1, result.output
        assert reason in result.output
        assert "Traceback" not in result.output
        assert [path.name for path in tmp_path.iterdir()] == ["old.naively"]
    assert naively.load(old).class_counts.tolist() == [1, 1]
    assert old.read_bytes()[100:] == before[100:]  # SQLite counts transactions in its first 100 bytes


def guarded(server: Server, password: str | None) -> str:
    """Return the address of the role that needs a password."""
    user = "guarded" if password is None else f"guarded:{quote(password, safe='')}"
    return server.address.replace("postgres@", f"{user}@", 1)


@pytest.fixture
def guard(server: Server) -> Server:
    create = f"CREATE ROLE guarded LOGIN PASSWORD {sql_string(PASSWORD)}"
    server.run(f"DO $do$ BEGIN {create}; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $do$")
    server.add("days", TABLE)
    server.run(f"GRANT USAGE ON SCHEMA {server.name} TO guarded", "GRANT SELECT ON days TO guarded")
    return server


def sql_string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def test_a_wrong_password_is_an_error_that_does_not_show_it(guard: Server, tmp_path: Path) -> None:
    for wrong in ("hunter2", PASSWORD + "x", "a"):
        source = f"{guarded(guard, wrong)}::days"
        with pytest.raises(InputError, match=r"^postgresql://guarded@/.*password authentication failed"):
            naively.fit(source, "play")
        result = run("fit", source, "--target", "play", "-o", tmp_path / "m.naively")
        assert result.exit_code == 1
        if len(wrong) > 1:
            assert wrong not in result.output
            assert quote(wrong, safe="") not in result.output
    assert not list(tmp_path.iterdir())


def test_no_password_is_an_error(guard: Server) -> None:
    with pytest.raises(InputError, match="no password supplied"):
        naively.fit(f"{guarded(guard, None)}::days", "play")


def test_the_password_is_not_stored(guard: Server, tmp_path: Path) -> None:
    path, source = tmp_path / "m.naively", f"{guarded(guard, PASSWORD)}::days"
    for command in (["fit", source, "--target", "play", "-o", path], ["update", path, source], ["log", path]):
        result = run(*command)
        assert result.exit_code == 0, result.output
        assert PASSWORD not in result.output
        assert quote(PASSWORD, safe="") not in result.output
    result = run("report", path, source, "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    stored = path.read_bytes() + (tmp_path / "report.html").read_bytes()
    assert b"guarded@" in stored
    assert PASSWORD.encode() not in stored
    assert quote(PASSWORD, safe="").encode() not in stored


def test_passwords_of_libpq(guard: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"{guarded(guard, None)}::days"
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert naively.fit(source, "play", tune=False).class_counts.tolist() == [20, 40]
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:guarded:{PASSWORD.replace(chr(92), chr(92) * 2).replace(':', chr(92) + ':')}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert naively.fit(source, "play", tune=False).class_counts.tolist() == [20, 40]
    folder = str(POSTGRES).partition("host=")[2]
    services = tmp_path / "services"
    services.write_text(f"[shop]\nhost={folder}\nuser=guarded\ndbname=postgres\noptions=-csearch_path={guard.name}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert naively.fit("postgresql:///?service=shop::days", "play", tune=False).class_counts.tolist() == [20, 40]


def test_progress_is_known_from_the_plan(server: Server) -> None:
    server.run("CREATE TABLE t AS SELECT i, repeat('x', 300) AS s FROM generate_series(1, 120000) AS i", "ANALYZE t")
    progress = ReadProgress()
    n_rows, shares = 0, []
    for n_batches, batch in enumerate(read_files(f"{server.address}::t", progress=progress), start=1):
        n_rows += batch.num_rows
        shares.append((progress.share(n_batches), n_rows / 120_000))
    assert len(shares) > 1
    for share, expected in shares:
        assert share == pytest.approx(expected, abs=0.05)


def test_names_stay_in_their_place(server: Server) -> None:
    names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
    sql = st.sampled_from(['"', "'", "\\", ";", "--", "$$", ")", "/*", "%s", "{x}", "\n"])
    strange = st.lists(st.one_of(names, sql), min_size=1, max_size=4).map("".join)
    server.add("safe", {"x": [1]})

    @settings(
        max_examples=2_000 if os.environ.get("NAIVELY_SOAK") else 10,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(strange, st.lists(strange, min_size=1, max_size=3, unique=True), strange)
    def check(table: str, columns: list[str], value: str) -> None:
        def quoted(name: str) -> str:
            return '"' + name.replace('"', '""') + '"'

        if table == "safe" or max(len(name.encode()) for name in (table, *columns)) > 63:
            return
        text = "E'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
        selected = ", ".join(f"{text} AS {quoted(name)}" for name in columns)
        server.run(f"CREATE TABLE {quoted(table)} AS SELECT {selected}")
        try:
            read = server.read(f"{server.name}.{table}")
            assert read.column_names == columns
            assert read.to_pylist() == [dict.fromkeys(columns, value)]
            read = server.read(f"SELECT * FROM {quoted(table)} WHERE {quoted(columns[0])} = {text}")
            assert read.num_rows == 1
        finally:
            server.run(f"DROP TABLE {quoted(table)}")

    check()
    assert server.read("safe")["x"].to_pylist() == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_an_interrupt_ends_a_query_that_waits(server: Server, tmp_path: Path) -> None:
    query = f"{server.address}::SELECT 1 AS x, CAST(pg_sleep(60) AS text) AS play"
    command = [sys.executable, "-m", "naively", "fit", query, "--target", "play", "-o", str(tmp_path / "m.naively")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    is_waiting = "SELECT 1 AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()"
    for _ in range(300):
        if server.read(f"SELECT count(*) AS n FROM ({is_waiting}) AS s")["n"][0].as_py():
            break
        time.sleep(0.1)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=50)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert time.monotonic() - started < 40
    assert not list(tmp_path.iterdir())
