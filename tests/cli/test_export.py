"""`naively export` writes SQL, ONNX and JSON, and overwrites nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import main


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.naively"
    naively.fit({"sky": ["sun", "rain", "rain"]}, ["yes", "no", "no"], tune=False).save(path)
    return path


def export(model: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["export", str(model), *arguments])


def test_sql_runs(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.sql"
    done = export(model, "--to", "sql", "--dialect", "sqlite", "--table", "main.days", "--key", "day", "-o", str(file))
    assert done.exit_code == 0, done.output
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE days (day, sky)")
        connection.executemany("INSERT INTO days VALUES (?, ?)", [(1, "sun"), (2, "rain")])
        rows = connection.execute(file.read_text(encoding="utf-8")).fetchall()
    expected = naively.load(model).posterior({"sky": ["sun", "rain"]})
    assert [row[:2] for row in rows] == [(1, "yes"), (2, "no")]
    assert [list(row[2:]) for row in rows] == [pytest.approx(p) for p in expected.tolist()]


def test_json_is_the_scorecard(model: Path) -> None:
    done = export(model, "--to", "json")
    assert json.loads(done.stdout) == naively.load(model).to_dict()


def test_onnx(model: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    file = tmp_path / "m.onnx"
    assert export(model, "--to", "onnx", "-o", str(file)).exit_code == 0
    onnx.checker.check_model(str(file))
    assert export(model, "--to", "onnx").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "sql"], "--dialect"),
        (["--to", "json", "--key", "id"], "--to sql"),
        (["--to", "pmml"], "pmml"),
        ([], "--to"),
    ],
)
def test_wrong_commands(model: Path, arguments: list[str], message: str) -> None:
    done = export(model, *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_files_are_not_overwritten(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text("mine")
    assert export(model, "--to", "json", "-o", str(file)).exit_code == 2
    assert file.read_text() == "mine"
    assert export(model, "--to", "json", "-o", str(model), "--force").exit_code == 2
    assert export(model, "--to", "json", "-o", str(file), "--force").exit_code == 0


def test_a_model_of_text_is_refused_and_no_file_is_written(tmp_path: Path) -> None:
    path, file = tmp_path / "t.naively", tmp_path / "t.sql"
    naively.fit(["cheap pills", "lunch at noon"], ["spam", "ham"], tune=False).save(path)
    done = export(path, "--to", "sql", "--dialect", "duckdb", "-o", str(file))
    assert done.exit_code == 1
    assert "column 'text' is Text" in done.output
    assert not file.exists()
