"""Undo: the sum without an entry, and undo of that."""

from pathlib import Path

import pytest

import naively
from ledger.models import fitted, rows, same
from naively import InputError


def test_undo_and_undo_of_undo(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        ledger.update(*rows(2))
        undo = ledger.undo(one.id, comment="wrong")
        assert same(ledger.model(), fitted().update(*rows(2)))
        assert [e.in_force for e in ledger.log()] == [True, False, True, True]
        with pytest.raises(InputError, match="undone already"):
            ledger.undo(one.id)
        ledger.undo(undo.id)
        assert same(ledger.model(), fitted().update(*rows(1)).update(*rows(2)))
        assert same(naively.load(path), ledger.model())
        (gone,) = ledger.forget(*rows(1))
        with pytest.raises(InputError, match=f"partly forgotten by entry {gone.id[:8]}"):
            ledger.undo(one.id)
        ledger.undo(gone.id)
        ledger.undo(one.id)
        assert same(ledger.model(), fitted().update(*rows(2)))


def test_undo_of_everything_leaves_a_model_of_nothing(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.undo(ledger.log()[0].id)
        assert ledger.model().class_counts.tolist() == [0.0, 0.0]
        assert naively.load(path).classes == ("a", "b")


@pytest.mark.parametrize("wrong", ["zz", "12", "", "ffffffffffff", "g" * 32])
def test_ids_that_are_none(path: Path, wrong: str) -> None:
    with pytest.raises(InputError, match=r"no entry whose id|is no id"):
        naively.open(path).undo(wrong)


def test_an_id_that_begins_as_another(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from naively.storage import entries

    ids = iter(bytes.fromhex(f"abcd{i:028x}") for i in range(9))
    monkeypatch.setattr(entries, "new_id", lambda: next(ids))
    with naively.open(path) as ledger:
        one, two = ledger.update(*rows(1)), ledger.update(*rows(2))
        with pytest.raises(InputError, match=r"several entries .* begins with abcd \(abcd0000, abcd0000\)"):
            ledger.undo("abcd")
        ledger.undo(two.id.upper())
        assert [entry.in_force for entry in ledger.log()] == [True, True, False, True]
        assert one.id != two.id
