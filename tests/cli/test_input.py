"""Errors about data name the file, in every command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import main


def run(*arguments: Any, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    naively.fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, "play").save(tmp_path / "m.naively")
    (tmp_path / "other.csv").write_text("sky,wind\nsun,1\n")
    (tmp_path / "none.csv").write_text("sky,play\nsun,\n")
    (tmp_path / "text.csv").write_text("sky,play\nsun,yes\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit other.csv --target play -o new.naively", "other.csv: there is no column 'play' to predict"),
        ("update m.naively other.csv", "other.csv: there is no column 'play' to predict"),
        ("update m.naively none.csv", "none.csv: no rows to count"),
        ("update m.naively text.csv --weight sky", "text.csv, line 2: column 'sky' is 'sun', but should be a number"),
        ("forget m.naively other.csv", "other.csv: there is no column 'play' to predict"),
        ("forget m.naively text.csv --entry x", "m.naively: 'x' is not the id of an entry"),
        ("tune m.naively other.csv", "other.csv: there is no column 'play' to predict"),
        ("evaluate m.naively other.csv", "other.csv: there is no column 'play'"),
        ("explain m.naively other.csv --row 3", "other.csv: there is no row 3: the data has 1 row"),
        ("plot confusion m.naively other.csv -o c.svg", "other.csv: there is no column 'play' to predict"),
        ("update m.naively absent.csv", "absent.csv: there is no such file"),
    ],
)
def test_errors_name_the_file(arguments: str, message: str) -> None:
    result = run(*arguments.split())
    assert result.exit_code == 1
    errors = [line for line in result.stderr.splitlines() if not line.startswith("naively: note:")]
    assert errors[-1].startswith(f"naively: {message}")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["update", "evaluate", "predict"])
def test_errors_of_cells_say_what_to_do(command: str, tmp_path: Path) -> None:
    rows = "\n".join(f"{i % 7},{'yes' if i % 7 > 3 else 'no'}" for i in range(30))
    (tmp_path / "numbers.csv").write_text(f"x,play\n{rows}\n")
    (tmp_path / "wrong.csv").write_text("x,play\n1,no\nmuch,yes\n")
    assert run("fit", "numbers.csv", "--target", "play", "-o", "n.naively").exit_code == 0
    message = run(command, "n.naively", "wrong.csv").stderr
    assert (
        "wrong.csv, line 3: column 'x' is 'much', but should be a number. Correct the cell or leave it empty" in message
    )


@pytest.mark.usefixtures("folder")
def test_show_refuses_classes_without_a_column() -> None:
    result = run("show", "m.naively", "--of", "yes")
    assert result.exit_code == 2
    assert "are for the table of a COLUMN" in result.stderr


@pytest.mark.usefixtures("folder")
def test_errors_name_standard_input() -> None:
    assert "naively: standard input: there is no column 'play'" in run("update", "m.naively", "-", text="a\n1\n").stderr
