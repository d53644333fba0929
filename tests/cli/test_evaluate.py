"""`naively evaluate` and `naively predict --unsure` through their face."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from naively.cli.main import main

ROWS = "".join(f"{'sun' if i % 2 else 'rain'},{i % 7},{'yes' if i % 2 or i % 11 == 0 else 'no'}\n" for i in range(60))
DATA = "sky,wind,play\n" + ROWS


def run(*arguments: Any, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text(DATA)
    assert run("fit", tmp_path / "d.csv", "--target", "play", "-o", tmp_path / "m").exit_code == 0
    return tmp_path / "m"


def test_tables_and_json_say_the_same(model: Path) -> None:
    result = run("evaluate", model, model.parent / "d.csv", "--unsure", 0.9, "--precision", 0.8, "--of", "yes")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("60 rows, 2 classes")
    assert "precision of 0.8 or better" in result.stdout
    plain = json.loads(run("evaluate", model, model.parent / "d.csv", "--json", "--unsure", 0.9).stdout)
    assert f"{plain['accuracy']['value']:.4f}" in result.stdout
    assert f"{plain['answered']['share']['value']:.4f}" in result.stdout
    assert [one["class"] for one in plain["classes"]] == ["no", "yes"]


def test_other_containers_names_and_gaps(model: Path) -> None:
    text = DATA.replace("play", "truth") + "sun,3,\n"
    result = run("evaluate", model, "-", "--target", "truth", "--json", text=text)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows"] == 60
    assert "1 of 61 rows have no 'truth'" in result.stderr
    table = pa.table({"sky": ["sun", "rain"], "wind": [1.0, 2.0], "play": ["yes", "no"], "n": [3, 1]})
    pq.write_table(table, model.parent / "d.parquet")
    found = run("evaluate", model, model.parent / "d.parquet", "--weight", "n", "--json")
    assert json.loads(found.stdout)["weight"] == 4.0


def test_classes_that_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b\n1,0\n2,1\n1,0\n2,1\n")
    assert run("fit", tmp_path / "d.csv", "--target", "b", "-o", tmp_path / "m").exit_code == 0
    found = run("evaluate", tmp_path / "m", tmp_path / "d.csv", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["rows"] == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--target", "nothing"], 1, "there is no column 'nothing'; the data has sky, wind, play"),
        (["--weight", "sky"], 1, "column 'sky' holds 'rain': weights are numbers"),
        (["--target", "sky"], 1, "column 'sky' holds 'rain', and the model knows only no, yes"),
        (["--unsure", "2"], 2, "2.0 is not in the range"),
        (["--cost", "1", "--precision", "0.5"], 1, "not both"),
    ],
)
def test_refusals(model: Path, arguments: list[str], code: int, message: str) -> None:
    result = run("evaluate", model, model.parent / "d.csv", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_predict_leaves_the_unsure_empty(model: Path) -> None:
    text = "sky,wind\nsun,1\n,\n"
    result = run("predict", model, "-", "--unsure", 0.8, text=text)
    assert result.stdout == "sky,wind,prediction\nsun,1,yes\n,,\n"
    nobody = run("predict", model, "-", "--unsure", 1, text=text)
    assert nobody.stdout == "sky,wind,prediction\nsun,1,\n,,\n"
    both = run("predict", model, "-", "--unsure", 0.8, "--odds", 2, text=text)
    assert both.exit_code == 2


def test_rows_that_were_counted_are_suspected(tmp_path: Path) -> None:
    """Texts of rare words look easy to a model that has counted them, and so they should not be judged by."""
    random = np.random.default_rng(1)

    def write(name: str) -> Path:
        spam = random.random(300) < 0.5
        words = [[f"w{k}" for k in random.integers(0, 2000, 12)] for _ in spam]
        offer = random.random(300) < np.where(spam, 0.9, 0.1)
        rows = zip(words, offer, spam, strict=True)
        lines = [f"{' '.join([*some, *(['offer'] if there else [])])},{label}" for some, there, label in rows]
        (tmp_path / name).write_text("text,spam\n" + "\n".join(lines) + "\n")
        return tmp_path / name

    seen, new = write("seen.csv"), write("new.csv")
    assert run("fit", seen, "--target", "spam", "-o", tmp_path / "m").exit_code == 0
    assert "evaluate_training" in run("evaluate", tmp_path / "m", seen).stderr
    assert run("evaluate", tmp_path / "m", new).stderr == ""
