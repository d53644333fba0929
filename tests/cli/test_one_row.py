"""One row from options, names of columns, other tables, output that is read again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import main

DATA = "age,sex,income\n" + "".join(
    f"{20 + i % 40},{'mf'[i % 2]},{'high' if i % 40 > 20 else 'low'}\n" for i in range(80)
)


def run(*arguments: Any, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


def rows_of(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(DATA)
    naively.fit("d.csv", "income", tune=False).save("m")
    naively.fit(["cheap pills", "lunch at noon", "cheap offer", "see you"], ["spam", "ham", "spam", "ham"]).save("t")
    return tmp_path


def test_a_value_that_the_model_has_never_seen_is_noted_once() -> None:
    data = "sex,port,y\n" + "".join(f"{('male', 'female')[i % 2]},{'CQS'[i % 3]},{i % 2}\n" for i in range(60))
    Path("e.csv").write_text(data)
    naively.fit("e.csv", "y", tune=False).save("e")
    result = run("predict", "e", "--set", "sex=mael", "--set", "port=C")
    assert result.exit_code == 0
    assert result.stderr == "naively: note: sex: the model has not seen 'mael'; the nearest is 'male'.\n"
    assert "port: the model has not seen 'Zanzibar'.\n" in run("explain", "e", "--set", "port=Zanzibar").stderr
    for quiet in ("sex=male", "sex=", "sex=NA"):
        assert "not seen" not in run("predict", "e", "--set", quiet).stderr
    assert "not seen" not in run("predict", "t", "--text", "unknown words").stderr


def test_predict_one_row() -> None:
    [row] = rows_of(run("predict", "m", "--set", "age=30", "--set", "SEX=m", "--proba"))
    model = naively.load("m")
    assert row["prediction"] == model.predict({"age": 30, "sex": "m"})[0]
    assert float(row["p_high"]) == model.posterior({"age": 30, "sex": "m"})[0, 0]
    [row] = rows_of(run("predict", "t", "--text", "a cheap, cheap thing"))
    assert row == {"text": "a cheap, cheap thing", "prediction": "spam"}
    assert "note" in run("predict", "m", "--set", "age=30").stderr


def test_explain_one_row() -> None:
    [shown] = json.loads(run("explain", "m", "--set", "age=30", "--set", "sex=m", "--json").stdout)
    assert shown == json.loads(json.dumps(naively.load("m").explain({"age": 30, "sex": "m"})[0].to_dict()))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("predict m", 2, "give DATA, or one row"),
        ("predict m d.csv --set age=3", 2, "give DATA, or one row"),
        ("predict m --set age=old", 1, "column 'age' is 'old', but should be a number"),
        ("predict m --set height=3", 1, "the model has no such column; it has age, sex"),
        ("predict m --set age", 1, "give COLUMN=VALUE"),
        ("predict m --set age=3 --set Age=4", 1, "--set Age=4: column 'age' has the value '3' already"),
        ("predict m --text hello", 1, "--text needs a model with one text column; this model has none"),
        ("update t --text hello", 2, "--label"),
        ("update t d.csv --label spam", 2, "--label"),
        ("predict m d.csv --keep height", 1, "--keep height: there is no such column; the data has age, sex, income"),
        ("predict m d.csv --delimiter ab", 2, "one character"),
        ("predict t d.csv", 1, "d.csv: the data has not the column that the model was trained with (text)"),
        ("fit d.csv --target income -o n --encoding klingon", 2, "is not known"),
    ],
)
def test_errors(arguments: str, code: int, message: str) -> None:
    result = run(*arguments.split())
    assert result.exit_code == code
    assert message in result.stderr


def test_update_and_forget_one_row() -> None:
    before = naively.load("t").posterior(["cheap lunch"])
    assert run("update", "t", "--text", "cheap lunch", "--label", "ham").exit_code == 0
    assert naively.load("t").class_counts.tolist() == [3.0, 2.0]
    assert run("forget", "t", "--text", "cheap lunch", "--label", "ham").exit_code == 0
    assert naively.load("t").posterior(["cheap lunch"]).tolist() == before.tolist()
    assert run("update", "m", "--set", "age=30", "--set", "sex=m", "--label", "low").exit_code == 0
    assert int(naively.load("m").class_weights.rows.sum()) == 81


@pytest.mark.parametrize("name", ["o.csv", "o.jsonl", "o.parquet"])
def test_the_output_is_predicted_again(name: str) -> None:
    assert run("predict", "m", "d.csv", "-o", name, "--proba").exit_code == 0
    again = run("predict", "m", name, "--proba", "-o", f"again_{name}")
    assert again.exit_code == 0
    assert "the new predictions replace 'prediction', 'p_high', 'p_low' of the data" in again.stderr
    assert Path(f"again_{name}").read_bytes() == Path(name).read_bytes()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_as_and_keep(kind: str) -> None:
    result = run("predict", "m", "d.csv", "--as", "guess", "--top", 1, "--keep", "sex", "--format", kind)
    first = rows_of(result)[0] if kind == "csv" else json.loads(result.stdout.splitlines()[0])
    assert list(first) == ["sex", "guess", "guess_top_1", "guess_p_top_1"]
    Path("d.jsonl").write_text('{"age": 30, "id": 1.50, "sex": "m", "l": [{"a": 2}]}\n')
    kept = run("predict", "m", "d.jsonl", "--keep", "id", "--keep", "l", "--format", "jsonl")
    assert kept.stdout.startswith('{"id": 1.50, "l": [{"a": 2}], "prediction": ')


def test_a_column_of_the_model_is_not_replaced() -> None:
    result = run("predict", "m", "d.csv", "--as", "age")
    assert result.exit_code == 1
    assert "give the prediction another name" in result.stderr


def test_folders_keep_file_names() -> None:
    Path("mail/new").mkdir(parents=True)
    Path("mail/new/1.txt").write_text("cheap offer")
    Path("mail/new/2.txt").write_text("lunch")
    rows = rows_of(run("predict", "t", "mail", "--keep", "file"))
    assert rows == [
        {"file": "mail/new/1.txt", "prediction": "spam"},
        {"file": "mail/new/2.txt", "prediction": "ham"},
    ]


def test_reading_options_of_every_command() -> None:
    german = DATA.replace(",", ";").replace("20;", "20,5;").encode("cp1252")
    Path("g.csv").write_bytes(german)
    how = ("--delimiter", ";", "--decimal", ",", "--encoding", "cp1252", "--missing-values", "?")
    assert run("fit", "g.csv", "--target", "income", "-o", "g", "--no-tune", *how).exit_code == 0
    assert naively.load("g").schema.kinds() == {"age": "number", "sex": "string"}
    for command in ("predict", "evaluate", "update", "forget", "tune", "explain"):
        result = run(command, "g", "g.csv", *how)
        assert result.exit_code == 0, (command, result.output)
    [first, *_] = rows_of(run("predict", "g", "g.csv", *how))
    assert first["age"] == "20,5"
    line = run("predict", "g", "g.csv", *how, "--format", "jsonl").stdout.splitlines()[0]
    assert json.loads(line)["age"] == 20.5
    assert run("predict", "g", "g.csv", *how, "-o", "o.csv").exit_code == 0
    assert rows_of(run("predict", "g", "o.csv", "--decimal", ","))[0]["age"] == "20,5"
    assert run("plot", "confusion", "g", "g.csv", *how, "-o", "c.svg").exit_code == 0


def test_bad_rows_of_a_prediction() -> None:
    Path("bad.csv").write_text("age,sex\n30,m\nold,f\n31\n32,f\n")
    assert "bad.csv, line 4: 1 cell where the header has 2" in run("predict", "m", "bad.csv").stderr
    skipped = run("predict", "m", "bad.csv", "--bad-rows", "skip")
    assert [row["age"] for row in rows_of(skipped)] == ["30", "32"]
    for message in ("1 row was left out:\n  bad.csv, line 4: 1 cell", "bad.csv, line 3: column 'age' is 'old'"):
        assert message in skipped.stderr
    emptied = run("predict", "m", "-", "--bad-rows", "empty", text=Path("bad.csv").read_text())
    assert [row["age"] for row in rows_of(emptied)] == ["30", "old", "32"]
    for message in ("standard input, line 4: 1 cell", "standard input, row 2: column 'age' is 'old'"):
        assert message in emptied.stderr


def test_rows_and_one_row_are_not_given_together() -> None:
    assert "not both" in run("predict", "m", "d.csv", "--set", "age=30").stderr
    assert "not both" not in run("predict", "m").stderr


def test_a_family_names_the_setting_that_was_given() -> None:
    result = run("fit", "d.csv", "--target", "income", "--no-tune", "--column", "sex=Bernoulli(alpha=-1)", "-o", "b")
    assert "alpha=-1: a pseudo-count" in result.stderr


def test_a_file_of_another_encoding_gets_advice() -> None:
    Path("l.csv").write_bytes("café,class\nthé,a\nlait,b\n".encode("latin-1"))
    result = run("fit", "l.csv", "--target", "class", "--encoding", "utf-8", "-o", "l")
    assert "l.csv, line 1: is not UTF-8: give the encoding of the file (--encoding latin-1" in result.stderr


def test_columns_to_keep_and_to_ignore_match_up_to_case_and_blanks() -> None:
    assert list(rows_of(run("predict", "m", "d.csv", "--keep", " AGE"))[0]) == ["age", "prediction"]
    lines = run("predict", "m", "d.csv", "--keep", "Age", "--format", "jsonl").stdout.splitlines()
    assert list(json.loads(lines[0])) == ["age", "prediction"]
    assert run("fit", "d.csv", "--target", "income", "--ignore", "SEX", "-o", "n").exit_code == 0
    assert naively.load("n").schema.names == ("age",)
    for arguments in (
        ("predict", "m", "d.csv", "--keep", "aeg"),
        ("fit", "d.csv", "--target", "income", "--ignore", "aeg", "-o", "n2"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert "there is no such column (did you mean 'age'?); the data has age, sex, income." in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "e.csv", "--target", "income", "-o", "n"),
        ("predict", "m", "e.csv"),
        ("predict", "m", "e.csv", "--keep", "age"),
        ("evaluate", "m", "e.csv"),
        ("fit", "e.csv", "--target", "income", "--ignore", "age", "-o", "n"),
        ("update", "m", "e.csv"),
    ],
)
def test_a_file_that_was_not_split_has_a_hint_of_the_delimiter(arguments: tuple[str, ...]) -> None:
    Path("e.csv").write_text(DATA.replace(",", ";"))
    result = run(*arguments, "--delimiter", "|")
    assert result.exit_code == 1
    assert "one column: if it is several, give the delimiter ';'." in result.stderr
