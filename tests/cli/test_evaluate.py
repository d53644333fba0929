"""`naively evaluate` and `naively predict --min-probability`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.held_out import HeldOutRows
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


def test_text_and_json_agree(model: Path) -> None:
    result = run("evaluate", model, model.parent / "d.csv", "--min-probability", 0.9, "--precision", 0.8, "--of", "yes")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("60 rows, 2 classes")
    assert "precision of 0.8 or better" in result.stdout
    plain = json.loads(run("evaluate", model, model.parent / "d.csv", "--json", "--min-probability", 0.9).stdout)
    assert f"{plain['accuracy']['value']:.4f}" in result.stdout
    assert f"{plain['coverage']['share']['value']:.4f}" in result.stdout
    assert [one["class"] for one in plain["classes"]] == ["no", "yes"]


def test_other_target_missing_labels_and_weights(model: Path) -> None:
    text = DATA.replace("play", "truth") + "sun,3,\n"
    result = run("evaluate", model, "-", "--target", "truth", "--json", text=text)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows"] == 60
    assert "1 of 61 rows have no 'truth'" in result.stderr
    table = pa.table({"sky": ["sun", "rain"], "wind": [1.0, 2.0], "play": ["yes", "no"], "n": [3, 1]})
    pq.write_table(table, model.parent / "d.parquet")
    weighted = run("evaluate", model, model.parent / "d.parquet", "--weight", "n", "--json")
    assert json.loads(weighted.stdout)["weight"] == 4.0


def test_numeric_classes(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b\n1,0\n2,1\n1,0\n2,1\n")
    assert run("fit", tmp_path / "d.csv", "--target", "b", "-o", tmp_path / "m").exit_code == 0
    result = run("evaluate", tmp_path / "m", tmp_path / "d.csv", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows"] == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--target", "nothing"], 1, "there is no column 'nothing' to predict; the data has sky, wind, play"),
        (["--weight", "sky"], 1, "column 'sky' is 'rain', but should be a number"),
        (["--target", "sky"], 1, "'rain' is not a class of the model, whose classes are 'no', 'yes'"),
        (["--min-probability", "2"], 2, "2.0 is not in the range"),
        (["--cost", "1", "--precision", "0.5"], 1, "not both"),
    ],
)
def test_errors(model: Path, arguments: list[str], code: int, message: str) -> None:
    result = run("evaluate", model, model.parent / "d.csv", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_predict_leaves_improbable_predictions_empty(model: Path) -> None:
    text = "sky,wind\nsun,1\n,\n"
    result = run("predict", model, "-", "--min-probability", 0.8, text=text)
    assert result.stdout == "sky,wind,prediction\nsun,1,yes\n,,\n"
    none = run("predict", model, "-", "--min-probability", 1, text=text)
    assert none.stdout == "sky,wind,prediction\nsun,1,\n,,\n"
    both = run("predict", model, "-", "--min-probability", 0.8, "--threshold", 0.5, text=text)
    assert both.exit_code == 2


def test_training_rows_are_recognised(tmp_path: Path) -> None:
    """Texts with rare words are easy for a model that was trained on them."""
    random = np.random.default_rng(1)

    def write(name: str) -> Path:
        spam = random.random(300) < 0.5
        words = [[f"w{k}" for k in random.integers(0, 2000, 12)] for _ in spam]
        offer = random.random(300) < np.where(spam, 0.9, 0.1)
        rows = zip(words, offer, spam, strict=True)
        lines = [f"{' '.join([*text, *(['offer'] if has_offer else [])])},{label}" for text, has_offer, label in rows]
        (tmp_path / name).write_text("text,spam\n" + "\n".join(lines) + "\n")
        return tmp_path / name

    training, new = write("training.csv"), write("new.csv")
    assert run("fit", training, "--target", "spam", "-o", tmp_path / "m").exit_code == 0
    of_training = run("evaluate", tmp_path / "m", training)
    assert "the model has counted all 300 rows: figures are leave-one-out" in of_training.stdout
    of_new = run("evaluate", tmp_path / "m", new)
    assert "the model has counted none of these rows" in of_new.stdout
    losses = [json.loads(run("evaluate", tmp_path / "m", f, "--json").stdout)["log_loss"] for f in (training, new)]
    assert losses[0]["high"] > losses[1]["low"]
    assert losses[1]["high"] > losses[0]["low"]


def test_folds_and_groups(model: Path) -> None:
    data = model.parent / "d.csv"
    folds = run("evaluate", model, data, "--cv", 4)
    assert folds.exit_code == 0, folds.output
    assert "without each of 4 folds of rows" in folds.stdout
    groups = run("evaluate", model, data, "--cv", 3, "--group", "wind")
    assert "folds of groups" in groups.stdout
    left_out = run("evaluate", model, data, "--group", "wind")
    assert left_out.exit_code == 0, left_out.output
    refused = run("evaluate", model, data, "--group", "storm")
    assert "there is no column 'storm' of groups; the data has sky, wind" in refused.stderr


def test_two_models(model: Path) -> None:
    data, other = model.parent / "d.csv", model.parent / "other"
    assert run("fit", data, "--target", "play", "--ignore", "sky", "-o", other).exit_code == 0
    result = run("evaluate", other, model, data)
    assert result.exit_code == 0, result.output
    assert "B − A" in result.stdout
    plain = json.loads(run("evaluate", other, model, data, "--json").stdout)
    assert plain["difference"]["accuracy"]["value"] > 0
    assert run("evaluate", other, model).exit_code == 2
    assert "--cv is for one model" in run("evaluate", other, model, data, "--cv", 3).stderr


def test_fit_with_test_rows(model: Path) -> None:
    folder = model.parent
    one = run("fit", folder / "d.csv", "--target", "play", "--test-share", 0.3, "-o", folder / "m1")
    assert one.exit_code == 0, one.output
    assert "On the test rows:" in one.stdout
    assert "counted none of these rows" in one.stdout.split("test rows")[1]
    header, *lines = DATA.splitlines()
    (folder / "back.csv").write_text("\n".join([header, *reversed(lines)]) + "\n")
    other = run("fit", folder / "back.csv", "--target", "play", "--test-share", 0.3, "-o", folder / "m2")
    assert other.stdout.split("test rows")[1] == one.stdout.split("test rows")[1]
    file = run("fit", folder / "d.csv", "--target", "play", "--test", folder / "back.csv", "-o", folder / "m3")
    assert "the model has counted all 60 rows" in file.stdout
    both = run("fit", folder / "d.csv", "--target", "play", "--test", "x", "--test-share", 0.3, "-o", folder / "m4")
    assert both.exit_code == 2


def test_test_rows_that_equal_training_rows_are_new_rows(tmp_path: Path) -> None:
    """Two groups may have equal rows, one in the training part and one in the test part: the latter is a new row."""
    rows = [f"{'sun' if i % 4 else 'fog'},{'yes' if i % 3 else 'no'},g{i % 20}" for i in range(400)]
    (tmp_path / "d.csv").write_text("\n".join(["sky,play,person", *rows]))
    arguments = ("--target", "play", "--group", "person", "--test-share", 0.3, "--no-tune", "-o", tmp_path / "m")
    result = run("fit", tmp_path / "d.csv", *arguments)
    assert result.exit_code == 0, result.output
    figures = result.stdout.split("On the test rows:")[1]
    assert "counted none of these rows" in figures
    model = naively.load(tmp_path / "m")
    n_test = 400 - int(model.class_counts.sum())
    assert f"{n_test} rows" in figures
    held_out = HeldOutRows(0.3, "person")
    cells = zip(*(row.split(",") for row in rows), strict=True)
    columns = dict(zip(("sky", "play", "person"), map(list, cells), strict=True))
    list(held_out.split(iter([pa.RecordBatch.from_pydict(columns)])))
    test_rows = pa.Table.from_batches(held_out.batches)
    right = (model.predict(test_rows) == test_rows["play"].to_numpy()).mean()
    assert f"{right:.4f}" in figures


def test_fit_with_groups(model: Path) -> None:
    folder = model.parent
    result = run("fit", folder / "d.csv", "--target", "play", "--group", "wind", "-o", folder / "m1")
    assert result.exit_code == 0, result.output
    assert "new groups" in result.stdout
    assert "wind" not in result.stdout.split("Expected")[0]


def test_groups_of_rows_that_were_not_counted_get_advice(model: Path) -> None:
    (model.parent / "other.csv").write_text(DATA + "sun,6,no\n" * 9)
    refused = run("evaluate", model, model.parent / "other.csv", "--group", "wind")
    assert refused.exit_code == 1
    assert "has not counted all of these rows" in refused.stderr
    assert "--cv 5 --group COLUMN" in refused.stderr
