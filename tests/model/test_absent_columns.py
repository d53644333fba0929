"""Columns of a model that rows do not have are counted as missing, with a warning, and can be forgotten again."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import naively
from naively.cli.main import main
from naively.errors import InputError, LeftOutWarning

ROWS: dict[str, list[Any]] = {
    "size": [1.0, 2.0, 3.0, None, 5.0, 6.0],
    "colour": ["red", "blue", None, "red", "blue", "red"],
    "new": [True, False, True, None, False, False],
    "note": ["cheap pills", "lunch today", "lunch at noon", None, "cheap lunch", "pills"],
    "visits": [0, 3, 1, 2, None, 1],
}
PLAY = ["yes", "no", "yes", "no", "yes", "no"]
COLUMNS = {
    "size": naively.Gaussian(),
    "note": naively.Text(),
    "visits": naively.Poisson(),
    "new": naively.Bernoulli(missing="value"),
}
SUBSETS = [names for n in (1, 2, 4) for names in combinations(ROWS, n)]


def fitted(**columns: Any) -> naively.Model:
    return naively.fit(ROWS, PLAY, columns=COLUMNS | columns, tune=False)


@pytest.mark.parametrize("absent", SUBSETS, ids=" ".join)
def test_update_accepts_what_predict_accepts(absent: tuple[str, ...], tmp_path: Path) -> None:
    rows = {name: values for name, values in ROWS.items() if name not in absent}
    model = fitted()
    model.save(tmp_path / "m")
    with pytest.warns(LeftOutWarning, match="predictions are made without"):
        model.predict(rows)
    with pytest.warns(LeftOutWarning, match="counted as missing in all rows") as caught:
        more = model.update(rows, PLAY)
    assert all(repr(name) in str(caught[0].message) for name in absent)
    assert (more.class_counts == 2 * model.class_counts).all()
    empty = model.update(ROWS | dict.fromkeys(absent, [None] * len(PLAY)), PLAY)
    assert (more.log_joint(ROWS) == empty.log_joint(ROWS)).all()
    for name in {*absent} - {"new"}:  # a missing value of "new" is evidence
        assert np.allclose(evidence(more, name), evidence(model, name), atol=1e-12)
    with pytest.warns(LeftOutWarning):
        rest = more.forget(rows, PLAY)
    assert np.allclose(rest.posterior(ROWS), model.posterior(ROWS), atol=1e-12)
    ledger = naively.open(tmp_path / "m")
    with pytest.warns(LeftOutWarning, match="counted as missing in all rows"):
        ledger.update(rows, PLAY)
    assert np.allclose(naively.load(tmp_path / "m").posterior(ROWS), more.posterior(ROWS), atol=1e-12)
    with pytest.warns(LeftOutWarning, match="counted as missing in all rows"):
        ledger.forget(rows, PLAY)
    assert np.allclose(naively.load(tmp_path / "m").posterior(ROWS), model.posterior(ROWS), atol=1e-12)


def evidence(model: naively.Model, name: str) -> Any:
    with pytest.warns(LeftOutWarning):
        return model.log_joint({name: ROWS[name]}) - model.log_prior


def test_rows_that_are_remembered(tmp_path: Path) -> None:
    ledger = naively.Ledger.fit(tmp_path / "m", ROWS, PLAY, tune=False, remember_rows=True)
    rows = {"size": [7.0], "note": ["cheap"]}
    with pytest.warns(LeftOutWarning):
        ledger.update(rows, ["yes"])
    with pytest.warns(LeftOutWarning):
        ledger.forget(rows, ["yes"])
    with pytest.warns(LeftOutWarning), pytest.raises(InputError, match="counted"):
        ledger.forget(rows, ["yes"])


def test_the_command_notes_every_missing_column(tmp_path: Path) -> None:
    fitted().save(tmp_path / "m")
    (tmp_path / "d.jsonl").write_text(json.dumps({"size": 2.0, "class": "yes"}) + "\n")
    result = CliRunner().invoke(main, ["update", str(tmp_path / "m"), str(tmp_path / "d.jsonl")])
    assert result.exit_code == 0, result.output
    assert "columns 'colour', 'new', 'note', 'visits' are not in the data" in result.stderr


@pytest.mark.parametrize(("classes", "label"), [([0, 1], "maybe"), ([True, False], "maybe")])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "memory"])
def test_a_label_of_another_type_is_named(classes: list[Any], label: str, suffix: str, tmp_path: Path) -> None:
    """The message names the label, the classes, and what to do."""
    path = tmp_path / "m"
    naively.fit({"sky": ["sun", "rain"] * 3}, classes * 3, tune=False).save(path)
    rows = {"sky": ["sun", "rain"], "class": [classes[0], label]}
    data: Any = rows
    if suffix == "csv":
        data = tmp_path / "d.csv"
        data.write_text(f"sky,class\nsun,{str(classes[0]).lower()}\nrain,{label}\n")
    elif suffix == "jsonl":
        data = tmp_path / "d.jsonl"
        data.write_text(json.dumps({"sky": "rain", "class": label}) + "\n")
    if suffix == "memory":
        rows["class"] = [label] * 2
    for update in (naively.open(path).update, naively.load(path).update):
        with pytest.raises(InputError) as error:
            update(data, "class")
        message = str(error.value)
        assert "'maybe'" in message
        assert str(sorted(classes))[1:-1] in message
        assert "fit a new model" in message
        assert "double" not in message


def test_classes_of_a_file_are_integers_as_those_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("sky,class\nsun,1\nrain,2\n")
    (tmp_path / "d.jsonl").write_text('{"sky": "sun", "class": 1}\n{"sky": "rain", "class": 2}\n')
    for name in ("d.csv", "d.jsonl"):
        naively.fit({"sky": ["sun", "rain"] * 3}, [0, 1] * 3, tune=False).save(tmp_path / "m", overwrite=True)
        naively.open(tmp_path / "m").update(tmp_path / name, new_classes=True)
        classes = naively.load(tmp_path / "m").classes
        assert (classes, [*map(type, classes)]) == ((0, 1, 2), [int] * 3)
