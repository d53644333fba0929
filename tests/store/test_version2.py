"""A file of format 2, with relabelled rows: every later version must read, update and correct it.

It was written by `make` below, and must not be written again.
"""

import shutil
from pathlib import Path

import numpy as np
from tests.support.models import EVERYTHING, rows, same

import naively
from naively import Ledger

OLD_FILE = Path(__file__).with_name("version2.naively")


def make(path: Path) -> None:
    """Write a file that remembers its rows, with a relabel of two entries, and one that is undone."""
    ledger = Ledger.fit(path, *rows(0, 12), columns=EVERYTHING, remember_rows=True, tune=False, source="first")
    ledger.update(*rows(1, 6), source="anna")
    both = {name: values + rows(1, 6)[0][name] for name, values in rows(0, 12)[0].items()}
    ledger.relabel(both, rows(0, 12)[1] + rows(1, 6)[1], to="c", new_classes=True, comment="all of them")
    wrong = ledger.relabel(rows(1, 6)[0], ["c"] * 6, to="a")
    ledger.undo(wrong.id)
    ledger.close()


def test_file_is_read_and_corrected(tmp_path: Path) -> None:
    path = Path(shutil.copy(OLD_FILE, tmp_path / "old"))
    first, second = rows(0, 12), rows(1, 6)
    expected = naively.fit(first[0], ["c"] * 12, columns=EVERYTHING, tune=False)
    both = expected.update(second[0], ["c"] * 6)
    assert same(naively.load(path), both)
    with naively.open(path) as ledger:
        assert [(e.act, e.rows, e.is_current) for e in ledger.log()] == [
            ("fit", 12, True), ("update", 6, True), ("relabel", 18, True), ("relabel", 6, False), ("undo", 0, True),
        ]  # fmt: skip
        assert same(ledger.model(sources="first"), expected)
        ledger.forget(second[0], ["c"] * 6)
        assert same(ledger.model(), expected)
        ledger.undo(ledger.log()[-1].id)
        ledger.undo(ledger.log()[2].id)
        original = naively.fit(*first, columns=EVERYTHING, tune=False).update(*second)
        assert same(ledger.model(), original)
        assert np.isfinite(ledger.model().log_posterior(first[0])).all()


if __name__ == "__main__":
    make(OLD_FILE)
