"""Rows that a model has counted are recognised in any container, order and batch, and in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import naively
from naively.data.labelled import read_labelled
from naively.data.read import read
from naively.model.counted import counted_rows
from naively.model.model import Model

FRAME = pd.DataFrame(
    {
        "age": [30.5, 41, None, 18, 30.5],
        "job": ["cook", None, "smith", "cook", "cook"],
        "paid": [True, False, True, True, True],
        "born": pd.to_datetime(["1990-01-02", "1980-05-06", "NaT", "2001-07-08", "1990-01-02"]),
        "level": [1, 2, 1, 3, 1],
        "y": ["a", "b", "a", "b", "a"],
    }
)
NEW = FRAME.assign(age=[1.0, 2, 3, 4, 5])


def known(model: Model, X: Any, y: Any = "y") -> list[bool]:
    rows = read_labelled(X, y, like=model)
    counted = counted_rows(model, rows.table, rows.classes, rows.label)
    assert counted.is_known.all()
    return list(counted.is_counted.tolist())


@pytest.fixture(scope="module")
def model() -> Model:
    return naively.fit(FRAME, "y")


def test_containers(model: Model, tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    FRAME.to_parquet(tmp_path / "rows.parquet")
    assert known(model, FRAME) == [True] * 5
    assert known(model, FRAME[["y", *reversed(FRAME.columns[:-1])]].assign(other="x")) == [True] * 5
    assert known(model, FRAME.iloc[::-1]) == [True] * 5
    assert known(model, str(tmp_path / "rows.csv")) == [True] * 5
    assert known(model, str(tmp_path / "rows.parquet")) == [True] * 5
    from_file = naively.fit(str(tmp_path / "rows.csv"), "y")
    assert known(from_file, FRAME) == [True] * 5
    assert known(from_file, str(tmp_path / "rows.csv")) == [True] * 5
    assert known(model, NEW) == [False] * 5


def test_class(model: Model) -> None:
    assert known(model, FRAME.drop(columns="y"), ["b", "a", "b", "a", "b"]) == [False] * 5
    table = read(pd.concat([FRAME, NEW]).drop(columns="y"))
    counted = counted_rows(model, table)
    assert counted.is_counted.tolist() == [True] * 5 + [False] * 5
    assert counted.is_known.all()
    assert counted.share == 0.5


def test_history(model: Model, tmp_path: Path) -> None:
    more = model.update(NEW, "y")
    assert known(more, NEW) == [True] * 5
    assert known(more.forget(FRAME, "y"), FRAME) == [False] * 5
    model.save(tmp_path / "m.naively")
    ledger = naively.open(tmp_path / "m.naively")
    assert known(ledger.model(), FRAME) == [True] * 5
    entry = ledger.update(NEW, "y")
    assert known(naively.load(tmp_path / "m.naively"), NEW) == [True] * 5
    ledger.forget(FRAME, "y")
    assert known(ledger.model(), FRAME) == [False] * 5
    ledger.compact()
    assert known(naively.load(tmp_path / "m.naively"), NEW) == [True] * 5
    assert entry.rows == 5


def test_batches(model: Model) -> None:
    parts = naively.fit(iter([FRAME.iloc[:2], FRAME.iloc[2:]]), "y", tune=False)
    assert parts.row_hashes is not None
    assert model.row_hashes is not None
    np.testing.assert_array_equal(parts.row_hashes.hashes, model.row_hashes.hashes)
    assert parts.row_hashes.rows.tolist() == model.row_hashes.rows.tolist()
    assert sorted(model.row_hashes.rows.tolist()) == [1, 1, 1, 2]  # two rows are equal


def test_large_data() -> None:
    x, y = np.arange(50_000.0)[:, None], np.arange(50_000) % 2
    model = naively.fit(x, y, tune=False)
    counted = counted_rows(model, read(x), model.classes, y)
    assert counted.is_known.sum() == counted.is_counted.sum() == 2048
    assert counted.share == 1.0
    assert counted.presumed.all()
    new = counted_rows(model, read(x + 0.5), model.classes, y)
    assert 1500 < new.is_known.sum() < 2600
    assert not new.presumed.any()


def test_unknown() -> None:
    assert naively.load(Path(__file__).parents[1] / "store" / "every_family.naively").row_hashes is None
    old = replace(naively.fit(FRAME, "y", tune=False), row_hashes=None)
    counted = counted_rows(old, read(FRAME.drop(columns="y")))
    assert not counted.is_known.any()
    assert not counted.presumed.any()
    assert np.isnan(counted.share)
    assert (old + old).row_hashes is None
    assert (old - (old - old)).row_hashes is None
