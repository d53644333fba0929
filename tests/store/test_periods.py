"""Models of a period, of some sources, or with a decay of old rows."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.support.models import COLUMNS, EVERYTHING, fitted, rows, same

import naively
from naively import InputError
from naively.store.entries import COLUMNS as TABLE


def test_periods_sources_and_decay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import naively.store.entries as entries

    day = iter(range(100))
    monkeypatch.setattr(entries, "now", lambda: f"2026-01-{next(day) + 1:02}T00:00:00.000000Z")
    path = tmp_path / "m"
    fitted().save(path, source="first")  # on the 1st
    ledger = naively.open(path)
    for seed, source in ((1, "anna"), (2, "ben"), (3, "anna")):  # on the 2nd, 3rd, 4th
        ledger.update(*rows(seed), source=source)
    ledger.forget(*rows(2, 5), entry=ledger.log()[2].id)  # on the 5th, of the 3rd
    first, parts = fitted(), [naively.fit(*rows(seed), columns=EVERYTHING, tune=False) for seed in (1, 2, 3)]
    assert same(ledger.model(until="2026-01-03"), first + parts[0])
    assert same(ledger.model(since="2026-01-02", until=datetime(2026, 1, 5, tzinfo=UTC)), parts[0] + parts[2])
    assert same(ledger.model(sources=["first", "ben"]), first)
    assert same(ledger.model(without="anna"), first)
    with pytest.raises(InputError, match="no entry is selected"):
        ledger.model(sources="carl")
    decayed = ledger.model(until="2026-01-05", half_life=timedelta(days=1))
    expected = first.class_counts / 16 + (parts[0].class_counts / 8) + parts[2].class_counts / 2
    np.testing.assert_allclose(decayed.class_counts, expected, rtol=1e-15)
    assert np.isfinite(decayed.log_joint(rows(1)[0])).all()
    for bad in ({"since": "soon"}, {"half_life": 0}, {"until": 3}):
        with pytest.raises(InputError):
            ledger.model(**bad)


def test_decay_equals_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with decay is the model of the same rows with weights."""
    import naively.store.entries as entries

    day = iter(range(100))
    monkeypatch.setattr(entries, "now", lambda: f"2026-01-{next(day) + 1:02}T00:00:00.000000Z")
    columns = {**COLUMNS, "text": naively.Text(), "number": naively.Gaussian()}
    path = tmp_path / "m"
    naively.fit(*rows(0, 6), columns=columns, tune=False).save(path)
    ledger = naively.open(path)
    ledger.update(*rows(1, 6))
    decayed = ledger.model(until="2026-01-03", half_life=1)
    expected = naively.fit(*rows(0, 6), columns=columns, tune=False, weight=np.full(6, 0.25)) + naively.fit(
        *rows(1, 6), columns=columns, tune=False, weight=np.full(6, 0.5)
    )
    np.testing.assert_allclose(decayed.log_joint(rows(2)[0]), expected.log_joint(rows(2)[0]), rtol=1e-12)


def test_selection_below_zero_names_the_forgets(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.update(*rows(1), source="anna")
        (forget,) = ledger.forget(*rows(1))
    with sqlite3.connect(path) as connection:  # attribute the forget to another source
        connection.execute("UPDATE entries SET source = 'ben' WHERE number = 3")
        _write_chain_again(connection)
    connection.close()
    with pytest.raises(InputError, match=f"do not make a model: .* Forgets among them: {forget.id[:8]}"):
        naively.open(path).model(sources=["first", "ben"])


def _write_chain_again(connection: sqlite3.Connection) -> None:
    from naively.store.entries import START, Log, StoredEntry

    entries = [StoredEntry(*values) for values in connection.execute(f"SELECT {TABLE} FROM entries ORDER BY number")]
    connection.execute("DELETE FROM entries")
    connection.execute("UPDATE head SET entries = ?, checksum = ?", START)
    for entry in entries:
        Log(Path(), connection).append(entry)
