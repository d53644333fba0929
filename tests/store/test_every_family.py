"""Files with every family and every statistic, written by the code of November 2026 before it was reorganised.

`every_family.naively` holds one column or more of each family, remembered rows, weights, a tuning, two snapshots and
entries of the acts fit, update, forget, undo and tune. `numbered_columns.naively` holds a sparse matrix whose columns
have no names, `undecided_column.naively` a column without any value. `every_family.json` holds rows and what the models
predicted for them then. None of these files is to be written again: later versions must read what they hold.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively

HERE = Path(__file__).parent
EXPECTED: dict[str, Any] = json.loads((HERE / "every_family.json").read_text(encoding="utf-8"))
TOLERANCE = 1e-12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a copy of the file, which a test may change."""
    return Path(shutil.copy(HERE / "every_family.naively", tmp_path / "m.naively"))


def assert_close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_counts_and_settings_are_read() -> None:
    model = naively.load(HERE / "every_family.naively")
    assert list(model.classes) == EXPECTED["classes"]
    assert model.class_counts.tolist() == EXPECTED["class_counts"]
    assert_close(model.log_prior, EXPECTED["log_prior"])
    assert json.loads(model.schema.to_json()) == EXPECTED["schema"]
    assert model.tuning is not None
    assert json.loads(model.tuning.to_json()) == EXPECTED["tuning"]


def test_predictions_are_those_of_the_old_code() -> None:
    model, rows = naively.load(HERE / "every_family.naively"), EXPECTED["rows"]
    assert_close(model.log_joint(rows), EXPECTED["log_joint"])
    assert_close(model.posterior(rows), EXPECTED["posterior"])
    assert model.predict(rows).tolist() == EXPECTED["predict"]
    assert_close(model.with_tuning(None).posterior(rows), EXPECTED["without_tuning"])


def test_history_is_read() -> None:
    ledger = naively.open(HERE / "every_family.naively")
    log = [[e.act, e.rows, e.source, e.comment, e.is_current] for e in ledger.log()]
    assert log == EXPECTED["log"]
    selected = ledger.model(sources=["first", "anna"])
    assert selected.class_counts.tolist() == EXPECTED["until_anna"]["class_counts"]
    posterior = selected.with_prior("empirical").posterior(EXPECTED["rows"])
    assert_close(posterior, EXPECTED["until_anna"]["posterior"])


def test_sum_of_all_entries_equals_the_sum_of_the_snapshots(path: Path) -> None:
    """An undo of an early entry and of that undo sums again without the snapshots."""
    with naively.open(path) as ledger:
        early = next(entry for entry in ledger.log() if entry.source == "anna")
        ledger.undo(ledger.undo(early.id).id)
    assert_close(naively.load(path).posterior(EXPECTED["rows"]), EXPECTED["posterior"])


def test_rows_are_forgotten_by_their_fingerprints_and_taught_again(path: Path) -> None:
    rows, labels = EXPECTED["forgotten"]["rows"], EXPECTED["forgotten"]["labels"]
    with naively.open(path) as ledger:
        (entry,) = ledger.forget(rows, labels)
        assert (entry.rows, entry.source) == (len(labels), "carla")
        with pytest.raises(naively.InputError, match="never counted"):
            ledger.forget(rows, labels)
        ledger.update(rows, labels)
        ledger.compact()
    assert_close(naively.load(path).posterior(EXPECTED["rows"]), EXPECTED["posterior"])


def test_numbered_columns() -> None:
    model, expected = naively.load(HERE / "numbered_columns.naively"), EXPECTED["numbered"]
    assert model.class_counts.tolist() == expected["class_counts"]
    assert_close(model.posterior(np.array(expected["rows"])), expected["posterior"])


def test_column_without_values(tmp_path: Path) -> None:
    path = Path(shutil.copy(HERE / "undecided_column.naively", tmp_path / "m"))
    assert naively.load(path).classes == (False, True)
    with naively.open(path) as ledger:
        ledger.update({"x": [1.0], "empty": ["u"]}, [True])
    assert naively.load(path).class_counts.tolist() == [1.0, 3.0]
