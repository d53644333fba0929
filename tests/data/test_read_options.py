"""Files as they come: delimiters, decimal signs, missing values, headers, encodings, bad rows, sheets, dates."""

from __future__ import annotations

import datetime
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import Files, InputError, LeftOutWarning
from naively.data.files.read import read_files

ROWS = [("a", 1.5, "yes"), ("b", -2.25, "no"), ("a", 3.0, "yes"), ("é", 100.75, "no")]
MEMORY = {"k": [r[0] for r in ROWS], "x": [r[1] for r in ROWS]}
PLAIN = naively.fit(MEMORY | {"y": [r[2] for r in ROWS]}, "y", tune=False)
PREDICTIONS = PLAIN.predict(MEMORY).tolist()


def same(model: naively.Model, other: naively.Model = PLAIN) -> bool:
    table = {"k": ["a", "é", "?"], "x": [1.0, 50.0, -3.0]}
    return model.classes == other.classes and np.array_equal(model.posterior(table), other.posterior(table))


@given(st.sampled_from([",", ";", "\t", "|", "~"]), st.sampled_from([".", ","]), st.sampled_from(["utf-8", "cp1252"]))
def test_every_way_to_write_the_same_cells(tmp_path_factory: Any, delimiter: str, decimal: str, encoding: str) -> None:
    path = tmp_path_factory.mktemp("d") / "d.csv"
    lines = [["k", "x", "y"], *([k, repr(x).replace(".", decimal), y] for k, x, y in ROWS)]
    path.write_text("".join(f"{delimiter.join(line)}\n" for line in lines), encoding=encoding)
    if delimiter == decimal == ",":
        with pytest.raises(InputError, match="both a comma"):
            Files(path, delimiter=delimiter, decimal=decimal)
        return
    files = Files(path, delimiter=delimiter, decimal=decimal, encoding=encoding)
    model = naively.fit(files, "y", tune=False)
    assert same(model)
    assert model.predict(files).tolist() == PREDICTIONS
    assert same(model.update(files).forget(files))
    assert model.evaluate(files).rows == 4


def test_no_header_has_the_names_of_an_array(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("1,5,0\n2,6,1\n1,7,0\n")
    model = naively.fit(Files(path, header=False), "x2", tune=False)
    assert tuple(model.schema.names) == ("x0", "x1")
    assert model.class_counts.tolist() == [2.0, 1.0]
    assert model.predict(Files(path, header=False)).tolist() == [0, 1, 0]


def test_missing_values_replace_the_usual_ones(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("country,x,y\nNA,1,a\n?,-999,b\n,3,a\nNA,4,b\n")
    [batch] = read_files(Files(path, missing_values=["?", "-999"]))
    assert batch.to_pydict() == {"country": ["NA", None, None, "NA"], "x": [1, None, 3, 4], "y": ["a", "b", "a", "b"]}
    [raw] = read_files(Files(path, missing_values=["?", "-999"]), raw=True)
    assert raw["x"].to_pylist() == ["1", "-999", "3", "4"]
    model = naively.fit(Files(path, missing_values=["?", "-999"]), "y", tune=False)
    expected = model.posterior({"country": ["NA", None, None, "NA"], "x": [1, None, 3, 4]})
    assert np.array_equal(model.posterior(Files(path, missing_values=["?", "-999"])), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "ab"}, "one character"),
        ({"decimal": ";"}, "decimal="),
        ({"encoding": "klingon"}, "is not known"),
        ({"bad_rows": "ignore"}, "bad_rows="),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Files("d.csv", **options)


def test_json_arrays_are_json_lines(tmp_path: Path) -> None:
    rows = [{"k": k, "x": x, "y": y} for k, x, y in ROWS]
    for name, text in (
        ("a.json", json.dumps(rows, indent=2)),
        ("b.json", "\n" + json.dumps(rows)),
        ("noname", json.dumps(rows)),
    ):
        (tmp_path / name).write_text(text)
        assert same(naively.fit(tmp_path / name, "y", tune=False))
        assert PLAIN.predict(tmp_path / name).tolist() == PREDICTIONS
    for text, message in (("[1, 2]", "item 1: is of type int"), ("[]", "no rows"), ('[{"a": 1}', "is not JSON")):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError, match=message):
            naively.fit(tmp_path / "bad.json", "y")


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "people"
    for row in (("k", "x", "day", "y"), *((k, x, datetime.date(2020, 1, 1), y) for k, x, y in ROWS)):
        sheet.append(row)
    book.save(tmp_path / "d.xlsx")
    model = naively.fit(tmp_path / "d.xlsx", "y", tune=False)
    assert model.schema.kinds() == {"k": "string", "x": "number", "day": "date"}
    assert model.predict(f"{tmp_path / 'd.xlsx'}::people").tolist() == PREDICTIONS
    book.create_sheet("more").append(("k",))
    book.save(tmp_path / "d.xlsx")
    with pytest.raises(InputError, match=r"name a sheet, as .*::SHEET; it has people, more"):
        model.predict(tmp_path / "d.xlsx")
    (tmp_path / "e.xlsx").write_bytes(b"PK\x03\x04 nothing else")
    with pytest.raises(InputError, match="cannot be read as excel"):
        model.predict(tmp_path / "e.xlsx")


def test_dates_in_sqlite_are_dates(tmp_path: Path) -> None:
    days = ["2020-12-31", None, "2021-01-31 23:59:00"]
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.execute("CREATE TABLE t (day DATE, code TEXT, y TEXT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", zip(days, ["2020-12-31", "x", "2020-02-31"], "aba", strict=True)
        )
    connection.close()
    [batch] = read_files(tmp_path / "d.db")
    assert pa.types.is_timestamp(batch["day"].type)
    assert pa.types.is_string(batch["code"].type)
    model = naively.fit(tmp_path / "d.db", "y", tune=False)
    assert model.schema.kinds()["day"] == "date"
    from_memory = [None if day is None else np.datetime64(day.replace(" ", "T"), "us") for day in days]
    expected = model.posterior({"day": from_memory, "code": ["2020-12-31", "x", "2020-02-31"]})
    assert np.array_equal(model.posterior(tmp_path / "d.db"), expected)
    [raw] = read_files(tmp_path / "d.db", raw=True)
    assert raw["day"].to_pylist() == days


def test_na_in_a_format_with_types_is_a_value_everywhere(tmp_path: Path) -> None:
    table = pa.table({"country": ["NA", "NA", "DE", "DE"], "y": ["a", "a", "b", "b"]})
    pq.write_table(table, tmp_path / "d.parquet")
    model = naively.fit(tmp_path / "d.parquet", "y", tune=False)
    expected = model.posterior({"country": ["NA", "NA", "DE", "DE"]})
    assert expected[0, 0] > 0.7
    assert np.array_equal(model.posterior(tmp_path / "d.parquet"), expected)
    [rows] = naively.predict_batches(model, [table.drop_columns("y")], proba=True)
    assert rows["p_a"].to_pylist() == expected[:, 0].tolist()
    assert model.update(tmp_path / "d.parquet").posterior({"country": ["NA"]})[0, 0] > expected[0, 0]


BAD = "k,x,y\na,1.5,yes\nb,much,no\na,3\nb,4,no,4\né,5,no\n"


@pytest.mark.parametrize("rule", ["empty", "skip"])
def test_bad_rows_are_listed(tmp_path: Path, rule: Any) -> None:
    path = tmp_path / "d.csv"
    path.write_text(BAD)
    files = Files(path, bad_rows=rule)
    with pytest.warns(LeftOutWarning) as caught:
        result = PLAIN.posterior(files)
    text = "\n".join(str(warning.message) for warning in caught)
    for message in (
        "2 rows were left out:",
        "d.csv, line 4: 2 cells where the header has 3",
        "d.csv, line 5: 4 cells where the header has 3",
        "d.csv, line 3: column 'x' is 'much', but should be a number.",
    ):
        assert message in text
    kept = {"k": ["a", "b", "é"], "x": [1.5, None, 5.0]} if rule == "empty" else {"k": ["a", "é"], "x": [1.5, 5.0]}
    assert np.array_equal(result, PLAIN.posterior(kept))
    with pytest.warns(LeftOutWarning) as caught:
        updated = PLAIN.update(files)
    assert any("line 3" in str(warning.message) for warning in caught)
    labels = ["yes", "no", "no"] if rule == "empty" else ["yes", "no"]
    assert same(updated, PLAIN.update(kept, labels))


def test_bad_rows_stop_by_default(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("k,x,y\na,1.5,yes\n\nb,much,no\n")
    for call in (PLAIN.predict, PLAIN.update, PLAIN.evaluate):
        with pytest.raises(InputError, match=r"d\.csv, line 4: column 'x' is 'much', but should be a number"):
            call(path)
    path.write_text('{"k": "a", "x": "much"}\n')
    with pytest.raises(InputError, match=r"d\.csv, row 1|line 1"):
        PLAIN.predict(path.rename(tmp_path / "d.jsonl"))


def test_names_match_up_to_case_and_blanks(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(" K,X ,Y\na,1.5,yes\nb,-2.25,no\n")
    memory = {" K": ["a", "b"], "X ": [1.5, -2.25]}
    expected = PLAIN.posterior({"k": ["a", "b"], "x": [1.5, -2.25]})
    for rows in (path, memory, iter([memory])):
        with pytest.warns(LeftOutWarning, match="' K' as 'k', 'X ' as 'x'"):
            assert np.array_equal(PLAIN.posterior(rows), expected)
    with pytest.warns(LeftOutWarning, match="' K' as 'k', 'X ' as 'x'"):
        updated = PLAIN.update(path, "Y")
    assert same(updated, PLAIN.update({"k": ["a", "b"], "x": [1.5, -2.25]}, ["yes", "no"]))


def test_exact_names_come_first() -> None:
    rows = {"K": ["b", "b"], "k": ["a", "a"], "x": [1.5, 1.5], "X": [9.0, 9.0]}
    assert np.array_equal(PLAIN.posterior(rows), PLAIN.posterior({"k": ["a", "a"], "x": [1.5, 1.5]}))


def test_other_data_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("sepal,petal,y\n1,2,yes\n3,4,no\n")
    for call in (PLAIN.predict, PLAIN.posterior, PLAIN.explain, PLAIN.update):
        with pytest.raises(InputError, match=r"the data has 0 of the 2 columns that the model was trained with"):
            call(path)
    with pytest.raises(InputError, match="0 of the 2 columns"):
        PLAIN.predict({"sepal": [1]})
    value = np.random.default_rng(1).choice(np.array(["a", "b", None], object), 300, p=[0.3, 0.3, 0.4])
    y = ["yes" if v is None or (v == "a" and i % 4) else "no" for i, v in enumerate(value)]
    twice = naively.fit({"k": value, "n": np.arange(300) % 7}, y)
    blocks = [block for block in twice.chosen.schema.blocks if "k" in block.names]
    assert len(blocks) == 2  # the value, and whether there is one
    for none in ({"sepal": 1}, {"sepal": [1]}, {"sepal": [1, 2]}):
        with pytest.raises(InputError, match=r"has (0 of|not) the"):
            twice.predict(none)
    wide = naively.fit({f"c{i}": [1.5, 2.5, 3.5] for i in range(30)} | {"y": ["a", "b", "a"]}, "y", tune=False)
    with pytest.raises(InputError, match="2 of the 30 columns"):
        wide.log_joint({"c1": [1, 2], "c2": [1, 2]})
    with pytest.warns(LeftOutWarning, match="not in the data"):
        assert wide.log_joint({"c1": 1}).shape == (1, 2)


TEXTS = naively.fit(
    ["cheap pills", "lunch at noon", "cheap offer", "see you"], ["spam", "ham", "spam", "ham"], tune=False
)


def test_every_function_takes_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("k,x,y\n" + "".join(f"{k},{x},{y}\n" for k, x, y in ROWS))
    memory = {"k": [r[0] for r in ROWS], "x": [r[1] for r in ROWS]}
    labels = [r[2] for r in ROWS]
    for rows in ("d.csv", Path("d.csv"), [Path("d.csv")], Files("d.csv"), iter([memory])):
        assert PLAIN.predict(rows).tolist() == PLAIN.predict(memory).tolist()
    for name in ("posterior", "log_posterior", "log_joint", "log_marginal", "log_odds", "odds", "predict_proba"):
        assert np.array_equal(getattr(PLAIN, name)("d.csv"), getattr(PLAIN, name)(memory)), name
    assert [e.to_dict() for e in PLAIN.explain("d.csv")] == [e.to_dict() for e in PLAIN.explain(memory)]
    model = naively.fit("d.csv", "y", tune=False)
    assert model.evaluate("d.csv").to_dict() == model.evaluate(memory, labels).to_dict()
    assert model.evaluate_training("d.csv").to_dict() == model.evaluate_training(memory, labels).to_dict()
    assert (
        model.leave_one_out("d.csv").log_posterior.tolist()
        == model.leave_one_out(memory, labels).log_posterior.tolist()
    )
    assert naively.cross_validate(model, "d.csv", k=2).rows == naively.cross_validate(model, memory, labels, k=2).rows
    other = model.without_floor()
    assert naively.compare(model, other, "d.csv").to_dict() == naively.compare(model, other, memory, labels).to_dict()
    assert same(model.tune("d.csv"), model.tune(memory, labels))
    assert same(model.update("d.csv"), model.update(memory, labels))
    assert same(model.update("d.csv").forget("d.csv"), model)


def test_a_string_is_a_text_or_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert TEXTS.predict("a cheap thing").tolist() == ["spam"]
    assert TEXTS.predict("line\nof mail.csv").tolist() == TEXTS.predict(["line\nof mail.csv"]).tolist()
    assert len(TEXTS.explain("a cheap lunch")) == 1
    with pytest.raises(InputError, match=r"no such file.* give a text as a list"):
        TEXTS.predict("mail.csv")
    with pytest.raises(InputError, match="no such file"):
        PLAIN.predict("a cheap thing")
    with pytest.raises(InputError, match="no such file"):
        TEXTS.predict(Path("a cheap thing"))
    Path("cheap").write_text("text\nlunch\nnoon\n")
    assert TEXTS.predict("cheap").tolist() == ["ham", "ham"]
    assert TEXTS.predict(["cheap"]).tolist() == ["spam"]


def test_one_row_without_its_label_is_refused() -> None:
    with pytest.raises(InputError, match=r"the row has no column 'y' with its label: give the label as y\.$"):
        naively.fit({"k": ["a", "b"], "y": ["yes", "no"]}, "y", tune=False).update({"k": "a"}, new_classes=True)
    for call in (TEXTS.update, TEXTS.evaluate):
        with pytest.raises(InputError, match=r"label: give the label as y; there is no file 'tickets'\.$"):
            call("tickets")


def test_one_row_with_its_label() -> None:
    expected = PLAIN.update({"k": ["a"], "x": [2.0]}, ["no"])
    assert same(PLAIN.update({"k": "a", "x": 2.0}, "no"), expected)
    assert same(PLAIN.update({"k": "a", "x": 2.0, "y": "no"}, "y"), expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"k": ["a"], "x": [2.0], "y": ["no"]})
    assert same(PLAIN.update(frame.iloc[0], "y"), expected)
    assert same(PLAIN.update(frame.drop(columns="y").iloc[0], "no"), expected)
    one, two = TEXTS.update("cheap lunch", "ham"), TEXTS.update(["cheap lunch"], ["ham"])
    assert np.array_equal(one.posterior("cheap"), two.posterior("cheap"))
    numbers = naively.fit({"x": [1.0, 2.0, 3.0]}, [0, 1, 0], tune=False)
    assert numbers.update({"x": 2.0}, 1).class_counts.tolist() == [2.0, 2.0]
    assert numbers.evaluate({"x": 2.0}, 1).rows == 1


def test_standard_input_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, encoding in (("k;x;y\na;1,5;yes\né;2,5;no\n", "utf-8"), ("k;x;y\na;1,5;yes\né;2,5;no\n", "cp1252")):
        stream = io.TextIOWrapper(io.BytesIO(text.encode(encoding)))
        monkeypatch.setattr("sys.stdin", stream)
        result = PLAIN.posterior(Files("-", decimal=",", encoding=encoding))
        assert np.array_equal(result, PLAIN.posterior({"k": ["a", "é"], "x": [1.5, 2.5]}))
