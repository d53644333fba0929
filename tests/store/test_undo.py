"""Undo entries, and undo undos."""

import sqlite3
from pathlib import Path

import pytest
from tests.support.models import fitted, rows, same

import naively
from naively import InputError
from naively.store import running_sum as sums


def test_undo_and_undo_of_undo(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        ledger.update(*rows(2))
        undo = ledger.undo(one.id, comment="wrong")
        assert same(ledger.model(), fitted().update(*rows(2)))
        assert [e.is_current for e in ledger.log()] == [True, False, True, True]
        with pytest.raises(InputError, match="undone already"):
            ledger.undo(one.id)
        ledger.undo(undo.id)
        assert same(ledger.model(), fitted().update(*rows(1)).update(*rows(2)))
        assert same(naively.load(path), ledger.model())
        (forget,) = ledger.forget(*rows(1), entry=one.id)
        with pytest.raises(InputError, match=f"partly forgotten by entry {forget.id[:8]}"):
            ledger.undo(one.id)
        ledger.undo(forget.id)
        ledger.undo(one.id)
        assert same(ledger.model(), fitted().update(*rows(2)))


def test_rows_that_were_forgotten_again_are_not_forgotten_by_undo_of_undo(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        (forget,) = ledger.forget(*rows(1), entry=one.id)
        undo = ledger.undo(forget.id)
        (again,) = ledger.forget(*rows(1), entry=one.id)
        with pytest.raises(InputError, match=f"entry {one.id[:8]} was partly forgotten by entry {again.id[:8]}"):
            ledger.undo(undo.id)
        ledger.undo(again.id)
        ledger.undo(undo.id)
        assert same(ledger.model(), fitted())


def test_rows_of_an_undone_entry_are_not_forgotten_by_undo_of_undo(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        (forget,) = ledger.forget(*rows(1), entry=one.id)
        undo = ledger.undo(forget.id)
        undone = ledger.undo(one.id)
        two = ledger.update(*rows(1))  # the same rows, which the forget would remove
        with pytest.raises(InputError, match=f"entry {one.id[:8]} is undone already"):
            ledger.undo(undo.id)
        ledger.undo(two.id)
        ledger.undo(undone.id)
        ledger.undo(undo.id)
        assert same(ledger.model(), fitted())


def test_an_entry_that_is_forgotten_is_not_removed_by_undo_of_undos(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        restored = ledger.undo(ledger.undo(one.id).id)
        (forget,) = ledger.forget(*rows(1), entry=one.id)
        with pytest.raises(InputError, match=f"entry {one.id[:8]} was partly forgotten by entry {forget.id[:8]}"):
            ledger.undo(restored.id)


def test_an_entry_is_undone_once(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        undo = ledger.undo(one.id)
        restored = ledger.undo(undo.id)
        undone = ledger.undo(restored.id)
        ledger.undo(undo.id)
        with pytest.raises(InputError, match=f"entry {undo.id[:8]} is undone already"):
            ledger.undo(undone.id)
        assert same(ledger.model(), fitted().update(*rows(1)))
        assert same(naively.load(path), ledger.model())


def test_undo_of_all_entries_leaves_an_empty_model(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.undo(ledger.log()[0].id)
        assert ledger.model().class_counts.tolist() == [0.0, 0.0]
        assert naively.load(path).classes == ("a", "b")


@pytest.mark.parametrize("wrong", ["zz", "12", "", "ffffffffffff", "g" * 32])
def test_invalid_ids(path: Path, wrong: str) -> None:
    with pytest.raises(InputError, match=r"no entry whose id|is not the id"):
        naively.open(path).undo(wrong)


def test_ambiguous_ids(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(bytes.fromhex(f"abcd{i:028x}") for i in range(9))
    monkeypatch.setattr("secrets.token_bytes", lambda _: next(ids))
    with naively.open(path) as ledger:
        one, two = ledger.update(*rows(1)), ledger.update(*rows(2))
        with pytest.raises(InputError, match=r"several entries .* begins with abcd \(abcd0000, abcd0000\)"):
            ledger.undo("abcd")
        ledger.undo(two.id.upper())
        assert [entry.is_current for entry in ledger.log()] == [True, True, False, True]
        assert one.id != two.id


def words(seed: int) -> tuple[list[str], list[str]]:
    data, label = rows(seed, 3)
    return data["text"], label


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 3.0], [0.1, 0.2, 0.7]])
@pytest.mark.parametrize("tail", [2, 1000])
def test_undo_of_texts_equals_the_sum_without_the_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: int, weight: list[float] | None
) -> None:
    """Subtracting the entry and summing all others again give the same result."""
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", tail)
    path = tmp_path / "m"
    naively.fit(*words(0), weight=weight, tune=False).save(path)
    ledger = naively.open(path)
    ids = {seed: ledger.update(*words(seed), weight=weight).id for seed in range(1, 10)}
    (forget,) = ledger.forget(*words(4), weight=weight)
    undos = {}
    for seed in (1, 9, 3, 5):
        undos[seed] = ledger.undo(ids[seed]).id
    ledger.undo(undos[3])
    ledger.undo(forget.id)
    expected = naively.fit(*words(0), weight=weight, tune=False)
    for seed in (2, 3, 4, 6, 7, 8):
        expected = expected.update(*words(seed), weight=weight)
    ledger.close()
    model = naively.load(path)
    assert model.classes == expected.classes
    if weight is None or weight[0] == 1:
        assert same(model, expected)
    assert model.class_counts == pytest.approx(expected.class_counts, rel=1e-12)
    assert model.log_joint(words(1)[0]) == pytest.approx(expected.log_joint(words(1)[0]), rel=1e-12)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM snapshot")
    connection.close()
    assert same(naively.load(path), model) or weight == [0.1, 0.2, 0.7]


def test_undo_of_the_only_texts_of_a_class(tmp_path: Path) -> None:
    path = tmp_path / "m"
    naively.fit(["a b", "c"], ["x", "y"], tune=False).save(path)
    ledger = naively.open(path)
    new = ledger.update(["d"], ["z"], new_classes=True)
    ledger.undo(new.id)
    assert ledger.model().classes == naively.load(path).classes == ("x", "y")
    ledger.undo(ledger.log()[0].id)
    assert ledger.model().class_counts.tolist() == naively.load(path).class_counts.tolist() == [0.0, 0.0]
    ledger.undo(ledger.log()[2].id)
    assert ledger.model().classes == naively.load(path).classes == ("z",)


def test_damaged_entries_cannot_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "m"
    naively.fit(["a b", "c"], ["x", "y"], tune=False).save(path)
    with naively.open(path) as ledger:
        id_ = ledger.update(["d"], ["x"]).id
    ledger = naively.open(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET rows = 7 WHERE number = 2")
    connection.close()
    with pytest.raises(InputError, match=r"entry 2 .* is damaged"):
        ledger.undo(id_)
