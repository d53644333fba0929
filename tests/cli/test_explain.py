"""`naively explain` and `naively sample`."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import main

DATA = """sky,wind,note,play
sun,1.5,dry and warm today,yes
rain,9,wet and cold today,no
sun,2,dry and mild,yes
,8,cold,no
"""


def run(*arguments: Any, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text(DATA)
    result = run("fit", tmp_path / "d.csv", "--target", "play", "--column", "note=text", "-o", tmp_path / "m")
    assert result.exit_code == 0, result.output
    return tmp_path / "m"


def test_explain_prints_rows(model: Path) -> None:
    result = run("explain", model, model.parent / "d.csv")
    assert result.exit_code == 0, result.output
    for text in ("answer yes", "log-odds of yes against no", "prior", "sky", "total", "Would become"):
        assert text in result.stdout
    several = run("explain", model, "-", "--row", 4, "--row", 2, text=DATA)
    assert several.stdout.index("row 4") < several.stdout.index("row 2")
    assert "missing" in several.stdout


def test_json_equals_the_python_result(model: Path) -> None:
    result = json.loads(run("explain", model, model.parent / "d.csv", "--row", 2, "--json").stdout)
    rows = {"sky": ["rain"], "wind": [9.0], "note": ["wet and cold today"]}
    expected = naively.load(model).explain(rows)[0].to_dict()
    assert result == [json.loads(json.dumps(expected))]
    total = result[0]["prior"] + sum(line["log_odds"] for line in result[0]["contributions"])
    assert total == pytest.approx(result[0]["total"], abs=1e-10)


def test_explain_a_text(model: Path) -> None:
    (result,) = json.loads(run("explain", model, "--text", "so cold", "--of", "yes", "--json").stdout)
    assert result["of"] == "yes"
    assert {line["value"] for line in result["contributions"] if line["column"] == "note"} == {"so", "cold"}
    page = run("explain", model, "--text", "<script>cold", "--html").stdout
    assert "&lt;" in page
    assert "<script" not in page


def test_infinite_log_odds_are_strings(tmp_path: Path) -> None:
    naively.fit({"sky": ["a", "b"]}, [0, 1], columns=naively.Categorical(alpha=0)).save(tmp_path / "m")
    (result,) = json.loads(run("explain", tmp_path / "m", "-", "--json", text="sky\na\n").stdout)
    assert result["total"] == "inf"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("m",), 2, "give DATA, or one row"),
        (("m", "d.csv", "--text", "x"), 2, "give DATA, or one row"),
        (("m", "--text", "x", "--row", "1"), 2, "leave out --row"),
        (("m", "d.csv", "--row", "5"), 1, "d.csv: there is no row 5: the data has 4 rows"),
        (("m", "d.csv", "--of", "maybe"), 1, "'maybe' is not a class"),
        (("m", "d.csv", "--json", "--html"), 2, "not both"),
    ],
)
def test_errors(
    model: Path, arguments: tuple[str, ...], code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    result = run("explain", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_sample(model: Path) -> None:
    drawn = list(csv.DictReader(io.StringIO(run("sample", model, "-n", 20, "--of", "yes", "--seed", 1).stdout)))
    assert len(drawn) == 20
    assert list(drawn[0]) == ["sky", "wind", "note", "play"]
    assert {row["play"] for row in drawn} == {"yes"}
    assert run("sample", model, "--seed", 1).stdout == run("sample", model, "--seed", 1).stdout
    listed = json.loads(run("sample", model, "-n", 3, "--format", "json").stdout)
    assert len(listed) == 3
    assert len(run("sample", model, "-n", 3, "--format", "jsonl").stdout.splitlines()) == 3
    assert run("sample", model, "-n", 2, "-o", model.parent / "s.parquet").exit_code == 0
    assert pq.read_table(model.parent / "s.parquet").num_rows == 2
    assert run("sample", model, "-n", 2, "--format", "json", "-o", model.parent / "s.json").exit_code == 0
    assert len(json.loads((model.parent / "s.json").read_text())) == 2
    assert "is not a class" in run("sample", model, "--of", "perhaps").stderr
