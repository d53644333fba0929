"""A file of format 1 as it was once written, which every later version has to read, teach, correct and undo.

It was made by `python -m ledger.test_version1` in tests/, and is not to be made again.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.support.models import EVERYTHING, rows, same

import naively
from naively import InputError, Ledger, Model

KEPT = Path(__file__).with_name("version1.naively")


def make(path: Path) -> None:
    """Every kind of column, tuned, with remembered rows; every act but compact."""
    live = Ledger.fit(path, *rows(0, 30), columns=EVERYTHING, remember_rows=True, source="first", comment="début")
    live.update(*rows(1, 6, "abc"), source="anna")
    wrong = live.update(*rows(2), source="ben", weight=[0.5, 1.0, 2.0, 1.0, 1.0])
    live.undo(wrong.id)
    live.forget(*rows(1, 6, "abc"))
    live.update(*rows(3, 4))
    live.tune(prior="uniform", comment="settled")
    live.close()


def wanted() -> Model:
    """What the file counts."""
    return naively.fit(*rows(0, 30), columns=EVERYTHING, tune=False).update(*rows(3, 4))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy to be changed."""
    return Path(shutil.copy(KEPT, tmp_path / "old"))


def test_it_is_read(old: Path) -> None:
    model = naively.load(old)
    assert same(model, wanted())
    assert model.prior == naively.ClassPrior(uniform=True)
    assert model.tuning is not None
    assert model.tuning.rows == 30
    assert np.isfinite(model.log_posterior(rows(5)[0])).all()
    log = naively.open(old).log()
    assert [entry.act for entry in log] == ["fit", "update", "update", "undo", "forget", "update", "tune"]
    assert (log[0].source, log[0].comment, log[2].in_force, log[6].note) == (
        "first", "début", False, "class prior uniform",
    )  # fmt: skip


def test_it_is_taught_and_corrected(old: Path) -> None:
    with naively.open(old) as live:
        live.update(*rows(9))
        live.forget(*rows(3, 4))
        with pytest.raises(InputError, match="never counted"):
            live.forget(*rows(2))
        live.undo(live.log()[6].id)
        assert live.model().prior == naively.ClassPrior()
        live.undo(live.log()[3].id)
        live.forget(*rows(2), weight=[0.5, 1.0, 2.0, 1.0, 1.0])
        found = naively.fit(*rows(0, 30), columns=EVERYTHING, tune=False).update(*rows(9))
        assert same(live.model(), found)
        live.compact()
    assert same(naively.load(old), found)


if __name__ == "__main__":
    make(KEPT)
