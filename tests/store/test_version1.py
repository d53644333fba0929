"""A file of format 1 as an early version wrote it: every later version must read, update and correct it.

It was written by `make` below, and must not be written again.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.support.models import EVERYTHING, rows, same

import naively
from naively import InputError, Ledger, Model

OLD_FILE = Path(__file__).with_name("version1.naively")


def make(path: Path) -> None:
    """Write a tuned file with every kind of column, remembered rows, and every act but compact."""
    ledger = Ledger.fit(path, *rows(0, 30), columns=EVERYTHING, remember_rows=True, source="first", comment="début")
    ledger.update(*rows(1, 6, "abc"), source="anna")
    wrong = ledger.update(*rows(2), source="ben", weight=[0.5, 1.0, 2.0, 1.0, 1.0])
    ledger.undo(wrong.id)
    ledger.forget(*rows(1, 6, "abc"))
    ledger.update(*rows(3, 4))
    ledger.tune(prior="uniform", comment="settled")
    ledger.close()


def expected_model() -> Model:
    """Return a model of what the file counts."""
    return naively.fit(*rows(0, 30), columns=EVERYTHING, tune=False).update(*rows(3, 4))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a copy of the file, which a test may change."""
    return Path(shutil.copy(OLD_FILE, tmp_path / "old"))


def test_file_is_read(path: Path) -> None:
    model = naively.load(path)
    assert same(model, expected_model())
    assert model.prior == naively.ClassPrior(uniform=True)
    assert model.tuning is not None
    assert model.tuning.rows == 30
    assert np.isfinite(model.log_posterior(rows(5)[0])).all()
    log = naively.open(path).log()
    assert [entry.act for entry in log] == ["fit", "update", "update", "undo", "forget", "update", "tune"]
    assert (log[0].source, log[0].comment, log[2].is_current, log[6].note) == (
        "first", "début", False, "class prior uniform",
    )  # fmt: skip


def test_file_is_updated_and_corrected(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.update(*rows(9))
        ledger.forget(*rows(3, 4))
        with pytest.raises(InputError, match="never counted"):
            ledger.forget(*rows(2))
        ledger.undo(ledger.log()[6].id)
        assert ledger.model().prior == naively.ClassPrior()
        ledger.undo(ledger.log()[3].id)
        ledger.forget(*rows(2), weight=[0.5, 1.0, 2.0, 1.0, 1.0])
        expected = naively.fit(*rows(0, 30), columns=EVERYTHING, tune=False).update(*rows(9))
        assert same(ledger.model(), expected)
        ledger.compact()
    assert same(naively.load(path), expected)


if __name__ == "__main__":
    make(OLD_FILE)
