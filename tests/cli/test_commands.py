"""What the commands print, write and refuse."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from tests.support.data_sets import needs_data_set, optional_data_set

import naively
from naively.cli.main import COMMANDS, main

ADULT = "tables/adult.csv"
DATA = 'id,sky,wind,play\n007,sun,1.50,yes\n008,rain,9,no\n009,sun,2,yes\n010,,8,no\n011,"rain, hail",7,\n'


def run(*arguments: Any, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text(DATA)
    result = run("fit", tmp_path / "d.csv", "--target", "play", "--ignore", "id", "-o", tmp_path / "m")
    assert result.exit_code == 0, result.output
    return tmp_path / "m"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_reports_what_it_learnt(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(DATA)
    arguments = ("fit", tmp_path / "d.csv", "--target", "play", "-o", tmp_path / "m", "--column", "id=categorical")
    result = run(*arguments, "--prior", "no=0.9,yes=0.1")
    assert result.exit_code == 0
    assert "Learnt 'play' from 4 of 5 rows." in result.stdout
    assert "1 of 5 rows have no 'play' and were left out" in result.stderr
    assert "sky           1  Categorical" in result.stdout
    assert naively.load(tmp_path / "m").prior.given == {"no": 0.9, "yes": 0.1}
    again = run(*arguments)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert run(*arguments, "--force").exit_code == 0


def test_predict_adds_columns_and_changes_no_cell(model: Path) -> None:
    result = run("predict", model, model.parent / "d.csv", "--proba")
    assert result.exit_code == 0, result.output
    rows = rows_of(result.stdout)
    assert [row["id"] for row in rows] == ["007", "008", "009", "010", "011"]
    assert [row["wind"] for row in rows] == ["1.50", "9", "2", "8", "7"]
    assert rows[4]["sky"] == "rain, hail"
    assert [row["prediction"] for row in rows[:4]] == ["yes", "no", "yes", "no"]
    loaded = naively.load(model)
    expected = loaded.posterior({"sky": ["sun"], "wind": [1.5]})[0]
    assert [float(rows[0]["p_no"]), float(rows[0]["p_yes"])] == expected.tolist()  # not rounded
    assert list(rows[0])[-3:] == ["prediction", "p_no", "p_yes"]


def test_predict_reads_and_writes_all_formats(model: Path) -> None:
    data = model.parent / "d.csv"
    piped = run("predict", model, "-", text=DATA)
    assert piped.stdout == run("predict", model, data).stdout
    for name in ("o.csv", "o.jsonl", "o.parquet"):
        assert run("predict", model, data, "-o", model.parent / name, "--top", 1).exit_code == 0
    lines = [json.loads(line) for line in (model.parent / "o.jsonl").read_text().splitlines()]
    parquet = pq.read_table(model.parent / "o.parquet").to_pylist()
    assert [row["top_1"] for row in lines] == [row["prediction"] for row in parquet]
    assert float(rows_of((model.parent / "o.csv").read_text())[0]["p_top_1"]) == parquet[0]["p_top_1"]
    again = run("predict", model, model.parent / "o.parquet")
    assert again.exit_code == 0
    assert "the new predictions replace 'prediction' of the data" in again.stderr
    assert [row["prediction"] for row in rows_of(again.stdout)] == [row["prediction"] for row in parquet]


def test_predict_with_thresholds(model: Path) -> None:
    data = model.parent / "d.csv"
    never = rows_of(run("predict", model, data, "--threshold", 1, "--of", "yes").stdout)
    assert {row["prediction"] for row in never} == {"no"}
    always = rows_of(run("predict", model, data, "--threshold", 0).stdout)
    assert {row["prediction"] for row in always} == {"yes"}


def test_predict_reports_a_missing_column(model: Path) -> None:
    result = run("predict", model, "-", text="id,wind\n1,2\n")
    assert result.exit_code == 0
    assert "column 'sky' is not in the data; predictions are made without it" in result.stderr
    assert rows_of(result.stdout)[0]["prediction"] == "yes"


def test_show(model: Path) -> None:
    shown = run("show", model).stdout
    assert "Predicts 'play'.\n\nclass  prior  rows  weight\nno       0.5     2       2\n" in shown
    assert "plain Naive Bayes stays" in shown  # four rows
    tuning = json.loads(run("show", model, "--json").stdout)["tuning"]
    assert set(tuning) >= {"weights", "exponents", "offsets", "common", "report"}
    assert "\nmean          8.5    1.75\n" in run("show", model, "wind").stdout
    [sky] = json.loads(run("show", model, "sky", "--json").stdout)
    assert [(v["value"], v["count"]) for v in sky["values"]] == [("rain", [1.0, 0.0]), ("sun", [0.0, 2.0])]
    header, *lines = run("show", model, "--csv").stdout.splitlines()
    assert header.split(",")[:6] == ["column", "family", "value", "parameter", "class", "weight"]
    assert sum(line.startswith("sky,") for line in lines) == 4
    against = run("show", model, "sky", "--of", "no", "--against", "yes").stdout
    assert "log-odds of no against yes" in against
    assert run("show", model, "--json", "--csv").exit_code == 2
    assert [c["class"] for c in json.loads(run("show", model, "--json").stdout)["classes"]] == ["no", "yes"]
    assert run("show", model, "nothing").exit_code == 1


def test_demo_and_help() -> None:
    assert "p(yes)" in run("demo", "play").stdout
    for command in COMMANDS:
        result = run(command, "--help")
        assert result.exit_code == 0
        assert f"naively {command}" in result.stdout  # an example


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fit", "none.csv", "--target", "y", "-o", "m"), 1, "none.csv: there is no such file"),
        (("fit", "d.csv", "--target", "y", "-o", "m"), 1, "there is no column 'y'"),
        (("fit", "d.csv", "--target", "play", "-o", "m", "--ignore", "cat"), 1, "--ignore cat"),
        (("fit", "d.csv", "--target", "play", "-o", "m", "--column", "sky=odd"), 1, "'odd' is not a family"),
        (("fit", "d.csv", "--target", "play", "-o", "m", "--column", "sky"), 2, "COLUMN=FAMILY"),
        (("fit", "d.csv", "--target", "play", "-o", "none/m"), 2, "no such folder"),
        (("fit", "d.csv"), 2, "--target"),
        (("predict", "d.csv", "d.csv"), 1, "d.csv: is not a model file"),
        (("predict", "none", "d.csv"), 1, "none: cannot be read"),
        (("predict", "m", "d.csv", "-o", "x.odd"), 2, "--format"),
        (("predict", "m", "d.csv", "--threshold", "0.5", "--min-probability", "0.9"), 2, "only one of"),
        (("nothing",), 2, "No such command"),
    ],
)
def test_errors(
    arguments: tuple[str, ...], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(DATA)
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not result.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["d.csv"]


def test_a_failed_prediction_leaves_no_file(model: Path) -> None:
    bad = model.parent / "bad.csv"
    bad.write_text("sky,wind\nsun,1\nsun,strong\n")
    result = run("predict", model, bad, "-o", model.parent / "out.csv")
    assert result.exit_code == 1
    assert "line 3: column 'wind' is 'strong', but should be a number" in result.stderr
    assert sorted(p.name for p in model.parent.iterdir()) == ["bad.csv", "d.csv", "m"]


def test_run_as_a_module_without_heavy_imports(model: Path) -> None:
    command = [sys.executable, "-m", "naively", "predict", str(model), "-"]
    done = subprocess.run(command, input=DATA.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == run("predict", model, "-", text=DATA).stdout
    assert not done.stderr
    libraries = {"numpy", "scipy", "pyarrow", "sklearn", "rich", "matplotlib"}
    heavy = f"import sys, naively.cli.main; print({libraries} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", heavy]).strip() == b"set()"


@needs_data_set(ADULT)
def test_adult(tmp_path: Path) -> None:
    head, *lines = optional_data_set(ADULT).read_text().splitlines(keepends=True)
    for split in ("train", "test"):
        (tmp_path / f"{split}.csv").write_text(head + "".join(li for li in lines if li.endswith(f",{split}\n")))
    fitted = run("fit", tmp_path / "train.csv", "--target", "income", "--ignore", "split", "-o", tmp_path / "m")
    assert "Learnt 'income' from 32,561 rows." in fitted.stdout
    rows = rows_of(run("predict", tmp_path / "m", tmp_path / "test.csv").stdout)
    assert len(rows) == 16_281
    right = sum(row["income"] == row["prediction"] for row in rows)
    assert right / len(rows) > 0.82
