"""Rows that are taught twice give a warning, once the file has counted them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import naively as nb

ROWS = {"x": list(range(12)), "s": list("abcdefabcdef")}
LABELS = ["a", "b"] * 6


def test_repeated_rows_give_a_warning(tmp_path: Path) -> None:
    nb.fit(ROWS, LABELS).save(tmp_path / "m", source="monday.csv")
    ledger = nb.open(tmp_path / "m")
    with pytest.warns(nb.RepeatedRowsWarning, match="these 12 rows were counted before, by entry .* \\(monday.csv, "):
        entry = ledger.update(ROWS, LABELS, source="again.csv")
    ledger.undo(entry.id)
    ledger.undo(ledger.log()[0].id)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.update(ROWS, LABELS)  # the others are undone
        ledger.update({"x": [*range(11), 99], "s": ROWS["s"]}, LABELS)
        for _ in range(2):
            ledger.update({"x": [1], "s": ["a"]}, ["a"])  # a few equal rows are no surprise


def test_forgotten_rows_may_be_taught_again(tmp_path: Path) -> None:
    rows = {"x": list(range(20, 32)), "s": ROWS["s"]}
    nb.fit(ROWS, LABELS).save(tmp_path / "m")
    ledger = nb.open(tmp_path / "m")
    ledger.update(rows, LABELS)
    ledger.forget(rows, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.update(rows, LABELS)
