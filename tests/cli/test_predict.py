"""`naively predict` copies CSV cells unchanged to CSV, and writes typed cells to JSON lines and Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import main

TRAIN = "code,age,size,play\nA7,30,1.5,yes\nB7,41,2.25,no\nA7,,NA,yes\nB7,22,3.0,no\n"
NEW = "id,code,age,size,free\n0012,A7,30,1.50,007\n0013,12,41,NA,x\n"
ROWS = [
    {"id": "0012", "code": "A7", "age": 30, "size": 1.5, "free": "007"},
    {"id": "0013", "code": "12", "age": 41, "size": None, "free": "x"},
]


def run(*arguments: Any, text: str | None = None) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text(TRAIN)
    (tmp_path / "new.csv").write_text(NEW)
    run("fit", tmp_path / "d.csv", "--target", "play", "-o", tmp_path / "m", "--no-tune")
    return tmp_path / "m"


def without_predictions(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "prediction"} for row in rows]


def test_json_lines_and_parquet_have_numbers(model: Path) -> None:
    lines = run("predict", model, model.parent / "new.csv", "--format", "jsonl").stdout.splitlines()
    assert without_predictions([json.loads(line) for line in lines]) == ROWS
    run("predict", model, model.parent / "new.csv", "-o", model.parent / "o.parquet")
    table = pq.read_table(model.parent / "o.parquet")
    assert without_predictions(table.to_pylist()) == ROWS
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "int64", "double", "string", "string"]


def test_small_fractions_are_numbers_in_parquet(model: Path) -> None:
    """As Python writes them: 0.011325238441395255 has 18 digits behind the point, and a double has them all."""
    numbers = [0.011325238441395255, -0.0007042872814091093, 1e-120, 3.5]
    text = "code,size\n" + "".join(f"A7,{number!r}\n" for number in numbers)
    (model.parent / "small.csv").write_text(text)
    run("predict", model, model.parent / "small.csv", "-o", model.parent / "o.parquet")
    assert pq.read_table(model.parent / "o.parquet")["size"].to_pylist() == numbers


def test_standard_input_to_json_lines_has_the_numbers_of_the_model(model: Path) -> None:
    lines = run("predict", model, "-", "--format", "jsonl", text=NEW).stdout.splitlines()
    assert without_predictions([json.loads(line) for line in lines]) == ROWS
    run("predict", model, "-", "-o", model.parent / "o.parquet", text=NEW)
    assert without_predictions(pq.read_table(model.parent / "o.parquet").to_pylist()) == ROWS


def test_csv_to_csv_changes_no_cell(model: Path) -> None:
    for source in (model.parent / "new.csv", "-"):
        text = NEW if source == "-" else None
        lines = run("predict", model, source, text=text).stdout.splitlines()
        assert [line.rpartition(",")[0] for line in lines] == NEW.splitlines()


def test_a_late_cell_of_another_type(model: Path) -> None:
    big = model.parent / "big.csv"
    big.write_text("id,code,age,size\n" + "12,A7,30,1.5\n" * 400_000 + "x12,A7,30,1.5\n")
    run("predict", model, big, "-o", model.parent / "o.parquet")
    ids = pq.read_table(model.parent / "o.parquet")["id"]
    assert (ids[0].as_py(), ids[-1].as_py()) == ("12", "x12")
    lines = run("predict", model, big, "--format", "jsonl").stdout.splitlines()
    assert (json.loads(lines[0])["id"], json.loads(lines[-1])["id"]) == ("12", "x12")


def test_nan_is_null_in_json(model: Path) -> None:
    import pyarrow as pa

    pq.write_table(pa.table({"code": ["A7"], "size": [float("nan")]}), model.parent / "n.parquet")
    [line] = run("predict", model, model.parent / "n.parquet", "--format", "jsonl").stdout.splitlines()
    assert json.loads(line)["size"] is None


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_categories_stay_categories_and_other_strings_stay_strings(model: Path, suffix: str) -> None:
    """70,000 rows make two tables, whose dictionaries differ."""
    codes = ["A7", "B7", None] * 20_000 + ["C9", "A7"] * 5_000
    frame = pa.table({"code": pa.array(codes).dictionary_encode(), "free": ["x", "y"] * 35_000})
    given, out = model.parent / f"new{suffix}", model.parent / "o.parquet"
    pq.write_table(frame, given) if suffix == ".parquet" else pa.feather.write_feather(frame, given)
    run("predict", model, given, "-o", out)
    table = pq.read_table(out)
    assert [str(table.schema.field(name).type) for name in ("code", "free", "prediction")] == [
        "dictionary<values=string, indices=int32, ordered=0>",
        "string",
        "string",
    ]
    assert table["code"].to_pylist() == codes
    assert table["free"].to_pylist() == frame["free"].to_pylist()


@pytest.mark.parametrize("out", ["o.csv", "o.jsonl", "o.parquet"])
def test_a_file_without_rows(model: Path, out: str) -> None:
    (model.parent / "none.csv").write_text(NEW.splitlines()[0] + "\n")
    result = CliRunner().invoke(main, ["predict", str(model), str(model.parent / "none.csv"), "-o", out])
    assert (result.exit_code, "none.csv: has a header and no rows." in result.stderr) == (1, True)


def test_reasons_are_the_strongest_lines_of_the_explanation(model: Path) -> None:
    arguments = ("predict", model, model.parent / "new.csv", "--reasons", "2")
    lines = run(*arguments, "--format", "jsonl").stdout.splitlines()
    results = [json.loads(line) for line in lines]
    run(*arguments, "-o", model.parent / "o.parquet")
    table = pq.read_table(model.parent / "o.parquet")
    assert [(row["reason_1"], row["log_odds_1"]) for row in results] == list(
        zip(table["reason_1"].to_pylist(), table["log_odds_1"].to_pylist(), strict=True)
    )
    loaded = naively.load(model)
    explanations = loaded.explain({"code": ["A7", "12"], "age": [30, 41], "size": [1.5, None]}, top=2)
    for row, explanation in zip(results, explanations, strict=True):
        for i, line in enumerate(explanation.contributions, start=1):
            if line.log_odds:
                assert row[f"log_odds_{i}"] == pytest.approx(line.log_odds)
                assert row[f"reason_{i}"].startswith(line.column)
            else:
                assert row[f"reason_{i}"] is row[f"log_odds_{i}"] is None
    assert results[0]["reason_1"] == "size=1.50"
    csv = run(*arguments).stdout.splitlines()
    assert csv[0].endswith(",prediction,reason_1,log_odds_1,reason_2,log_odds_2")


def test_reasons_of_a_text_are_words(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("text,n,class\ncheap pills now,1,spam\nlunch at noon,2,ham\ncheap pills,1,spam\n")
    run("fit", tmp_path / "d.csv", "--target", "class", "-o", tmp_path / "m", "--no-tune", "--column", "text=Text")
    result = run("predict", tmp_path / "m", "-", "--reasons", "5", "--format", "jsonl", text="text,n\nCheap lunch,\n")
    row = json.loads(result.stdout)
    assert {row["reason_1"], row["reason_2"]} == {"text: cheap", "text: lunch"}
    assert row["reason_5"] is None


def test_reasons_of_counted_rows_are_those_of_explain(tmp_path: Path) -> None:
    """The prediction beside them too: both are by the model without the row. Other rows are not left out."""
    rng = np.random.default_rng(7)
    rows = [
        f"T{i},{'mf'[i % 2]},{rng.normal(40 + 9 * (i % 3), 5):.1f},{'cheap pills' if i % 3 else 'lunch at noon'} w{i}"
        f",{'no' if (i % 3 == 0) ^ (rng.random() < 0.2) else 'yes'}"
        for i in range(80)
    ]
    (tmp_path / "d.csv").write_text("\n".join(["ticket,sex,age,note,alive", *rows]))
    (tmp_path / "new.csv").write_text(
        "\n".join(["ticket,sex,age,note", "T900,m,44.5,cheap w1", rows[0].rsplit(",", 1)[0]])
    )
    columns = ("--column", "note=Text", "--column", "ticket=Categorical")
    run("fit", tmp_path / "d.csv", "--target", "alive", "-o", tmp_path / "m", *columns)
    loaded = naively.load(tmp_path / "m")
    for file, n_left_out in (("d.csv", 80), ("new.csv", 1)):
        arguments = ("predict", tmp_path / "m", tmp_path / file, "--reasons", "3", "--proba", "--format", "jsonl")
        result = run(*arguments)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        explanations = loaded.explain(tmp_path / file)
        assert sum(explanation.is_left_out for explanation in explanations) == n_left_out
        for answer, explanation in zip(answers, explanations, strict=True):
            assert answer["prediction"] == explanation.of
            assert answer["p_yes"] == pytest.approx(explanation.posterior["yes"], rel=1e-9)
            for i, line in enumerate(explanation.contributions[:3], start=1):
                if line.log_odds:
                    assert answer[f"log_odds_{i}"] == pytest.approx(line.log_odds, rel=1e-9)
                    assert answer[f"reason_{i}"].startswith(line.column)
        assert f"has counted {n_left_out} row" in result.stderr
        as_it_is = [json.loads(line) for line in run(*arguments, "--no-leave-out").stdout.splitlines()]
        assert [row["p_yes"] for row in as_it_is] == pytest.approx(
            loaded.posterior(tmp_path / file)[:, 1].tolist(), rel=1e-12
        )
        assert "counted" not in run(*arguments, "--no-leave-out").stderr
    refused = CliRunner().invoke(main, ["predict", str(tmp_path / "m"), str(tmp_path / "d.csv"), "--no-leave-out"])
    assert refused.exit_code == 2
