"""What `update` prints: how well the rows were predicted before, and when to tune again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import main

ROWS = [f"{20 + i % 40 + i / 1000},{'mf'[i % 2]},{'high' if i % 40 > 20 else 'low'}\n" for i in range(160)]
HEADER = "age,sex,income\n"


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("first.csv").write_text(HEADER + "".join(ROWS[:60]))
    Path("more.csv").write_text(HEADER + "".join(ROWS[60:100]))
    Path("most.csv").write_text(HEADER + "".join(ROWS[100:]))
    naively.fit("first.csv", "income").save("m")


def test_update_prints_how_well_the_rows_were_predicted() -> None:
    before = naively.load("m").evaluate("more.csv")
    result = run("update", "m", "more.csv")
    assert result.exit_code == 0, result.output
    assert f"predicted before (40 rows): accuracy {before.accuracy.value:.4f} (" in result.stdout
    assert f"log-loss {before.log_loss.value:.4f} (" in result.stdout


def test_json_has_the_same_figures() -> None:
    before = naively.load("m").evaluate("more.csv")
    [entry] = json.loads(run("update", "m", "more.csv", "--json").stdout)
    assert entry["before"]["accuracy"]["value"] == before.accuracy.value
    assert entry["before"]["rows"] == 40


def test_show_tells_how_many_rows_came_since_the_tuning() -> None:
    assert "Tuned when" not in run("show", "m").stdout
    assert "tuning again" not in run("update", "m", "more.csv").stderr
    assert "Tuned when it had learnt 60 rows; 40 more came since.\n" in run("show", "m").stdout
    assert "the model was tuned with 60 rows: tuning again may pay" in run("update", "m", "most.csv").stderr
    assert "100 more came since. Tuning it again may pay (naively tune)." in run("show", "m").stdout
    assert "tuning again" not in run("update", "m", "--set", "age=41", "--label", "high").stderr  # it was said before
    assert json.loads(run("show", "m", "--json").stdout)["rows_since_tuning"] == 101
    run("forget", "m", "first.csv", "more.csv", "most.csv", "--target", "income")
    assert "Tuned when it had learnt 60 rows; it has 59 fewer now." in run("show", "m").stdout


def test_a_new_class_needs_an_option() -> None:
    result = run("update", "m", "--set", "age=41", "--label", "hihg")
    assert result.exit_code == 1
    assert "Did you mean 'high'? To add a class, give new_classes=True (in the shell: --new-class; " in result.stderr
    result = run("update", "m", "--set", "age=41", "--label", "middle", "--new-class")
    assert result.exit_code == 0, result.output
    assert naively.load("m").classes == ("high", "low", "middle")
    result = run("relabel", "m", "--set", "age=41", "--label", "middle", "--to", "average", "--new-class")
    assert result.exit_code == 0, result.output
    assert "average" in naively.load("m").classes


def test_a_new_class_of_numbers_is_a_number() -> None:
    naively.fit({"x": [1, 2, 3, 4]}, [0, 1, 0, 1]).save("n")
    assert "has no class 2; it has 0, 1" in run("update", "n", "--set", "x=9", "--label", "2").stderr
    assert run("update", "n", "--set", "x=9", "--label", "2", "--new-class").exit_code == 0
    assert naively.load("n").classes == (0, 1, 2)
    assert "not of the type" in run("update", "n", "--set", "x=9", "--label", "two", "--new-class").stderr
