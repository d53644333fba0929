"""Shards: counted apart under one schema with `fit --schema --keep-sample`, merged, and tuned without the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as csv
import pytest
from click.testing import CliRunner, Result
from tests.support.engines import assert_same_counts, mixed_table

import naively
from naively.cli.main import main


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write three files of one table, and their schema."""
    monkeypatch.chdir(tmp_path)
    table = mixed_table(900)
    csv.write_csv(table, tmp_path / "all.csv")
    for i in range(3):
        csv.write_csv(table.slice(300 * i, 300), tmp_path / f"{i}.csv")
    assert "town" in run("schema", "all.csv", "--target", "y", "-o", "schema.json").output
    return tmp_path


def count_shards() -> None:
    for i in range(3):
        run("fit", f"{i}.csv", "--target", "y", "--schema", "schema.json", "--no-tune", "--keep-sample", "-o", f"{i}.n")
    run("merge", "0.n", "1.n", "2.n", "-o", "merged.n")


def test_shards_are_merged_and_tuned_without_the_data(shards: Path) -> None:
    count_shards()
    assert naively.load("merged.n").tuning is None
    run("tune", "merged.n")
    run("fit", "all.csv", "--target", "y", "--schema", "schema.json", "-o", "whole.n")
    merged, whole = naively.load("merged.n"), naively.load("whole.n")
    assert_same_counts(merged, whole)
    assert merged.tuning == whole.tuning


def test_shards_with_tables_of_columns(shards: Path) -> None:
    run("schema", "all.csv", "--target", "y", "--together", "-o", "schema.json", "--force")
    count_shards()
    run("tune", "merged.n")
    run("fit", "all.csv", "--target", "y", "--together", "-o", "whole.n")
    merged, whole = naively.load("merged.n"), naively.load("whole.n")
    assert whole.schema.tables is not None
    assert_same_counts(merged, whole)
    assert merged.tuning == whole.tuning


def test_kept_rows_are_shown_and_dropped(shards: Path) -> None:
    count_shards()
    assert "rows of the data to tune by" in run("show", "merged.n").output
    assert json.loads(run("show", "merged.n", "--json").output)["kept_rows"] > 800
    assert b"K\xc3\xb6ln" in (shards / "merged.n").read_bytes()
    run("compact", "merged.n", "--force")
    assert "rows of the data" not in run("show", "merged.n").output
    assert "keeps no rows" in run("tune", "merged.n", code=2).output


def test_no_bytes_of_dropped_rows_stay_in_the_file(shards: Path) -> None:
    (shards / "texts.csv").write_text("body,y\n" + "".join(f"call {i} soon,a\nlunch at {i},b\n" for i in range(200)))
    run("fit", "texts.csv", "--target", "y", "--column", "body=text", "--keep-sample", "-o", "kept.n")
    assert b"lunch at 77" in (shards / "kept.n").read_bytes()
    run("compact", "kept.n", "--force")
    assert b"lunch at 77" not in (shards / "kept.n").read_bytes()


def test_nothing_is_kept_unless_asked_for(shards: Path) -> None:
    run("fit", "0.csv", "--target", "y", "--schema", "schema.json", "-o", "plain.n")
    assert "rows of the data" not in run("show", "plain.n").output
    run("fit", "0.csv", "--target", "y", "--keep-sample", "-o", "kept.n")
    assert naively.load("kept.n").tuning == naively.load("plain.n").tuning
    run("tune", "kept.n")


def test_rows_forgotten_are_not_tuned_on(shards: Path) -> None:
    run("fit", "all.csv", "--target", "y", "--keep-sample", "-o", "kept.n")
    (shards / "few.csv").write_text("".join((shards / "all.csv").read_text().splitlines(keepends=True)[:20]))
    run("forget", "kept.n", "few.csv")
    assert "never counted, or are forgotten" in run("tune", "kept.n").output


def test_refusals(shards: Path) -> None:
    fit = ("fit", "0.csv", "--target", "y", "-o", "m.n")
    assert "no --column" in run(*fit, "--schema", "schema.json", "--column", "far=gaussian", code=2).output
    assert "--group goes neither" in run(*fit, "--keep-sample", "--group", "town", code=2).output
    assert "cannot be read" in run(*fit, "--schema", "none.json", code=1).output
    (shards / "bad.json").write_text("{}")
    assert "not a schema" in run(*fit, "--schema", "bad.json", code=1).output
    (shards / "other.csv").write_text("far,y\n1,a\n2,b\n")
    other = run("fit", "other.csv", "--target", "y", "--schema", "schema.json", "-o", "m.n", code=1).output
    assert "'count'" in other
    assert not (shards / "m.n").exists()
    assert "already exists" in run("schema", "0.csv", "--target", "y", "-o", "schema.json", code=2).output
