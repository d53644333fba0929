"""Test that compaction leaves one entry, and no bytes of the others."""

import sqlite3
from pathlib import Path

import pytest
from tests.support.models import EVERYTHING, files_next_to, rows, same

import naively
from naively import InputError


def test_compact_replaces_and_erases_entries(path: Path) -> None:
    with naively.open(path) as ledger:
        secret = ledger.update(
            {k: v[:1] for k, v in rows(1)[0].items()} | {"text": ["geheimnis"]}, ["a"], source="anna"
        )
        ledger.forget({k: v[:1] for k, v in rows(1)[0].items()} | {"text": ["geheimnis"]}, ["a"])
        before = ledger.model()
        entry = ledger.compact(comment="tidy")
        assert (entry.act, entry.absorbed, entry.sources) == ("compact", 3, ("first", "anna"))
        assert same(ledger.model(), before)
        with pytest.raises(InputError, match="was absorbed when the file was compacted"):
            ledger.undo(secret.id)
        with pytest.raises(InputError, match="cannot be undone"):
            ledger.undo(entry.id)
        with pytest.raises(InputError, match="cannot be divided"):
            ledger.model(sources="anna")
        with pytest.raises(InputError, match="no single age"):
            ledger.model(half_life=1)
        ledger.update(*rows(5), source="ben")
        assert same(ledger.model(since=entry.written), naively.fit(*rows(5), columns=EVERYTHING, tune=False))
        (corrected,) = ledger.forget(*rows(0, 12), entry=entry.id)
        assert corrected.corrects == entry.id
    assert files_next_to(path) == ["m.naively"]
    assert b"geheimnis" not in path.read_bytes()
    naively.open(path).compact()
    assert same(naively.load(path), naively.fit(*rows(5), columns=EVERYTHING, tune=False))


def test_forgotten_words_are_erased(tmp_path: Path) -> None:
    """The words of a large payload are not compressed, so they would be visible in the file."""
    texts = [f"wort{i} geheim{i}" for i in range(3000)]
    naively.fit(texts, ["a", "b"] * 1500).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        ledger.forget(texts[:1500], (["a", "b"] * 1500)[:1500])
        ledger.compact()
    payloads = sqlite3.connect(tmp_path / "m").execute("SELECT statistics FROM entries").fetchall()
    assert len(payloads) == 1
    assert (tmp_path / "m").stat().st_size < 100_000
    assert naively.load(tmp_path / "m").evidence("text") is not None


def test_compact_of_a_file_without_rows(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.undo(ledger.log()[0].id)
        entry = ledger.compact()
        assert (entry.rows, entry.absorbed, entry.sources) == (0, 2, ("",))
    assert naively.load(path).class_counts.tolist() == [0.0, 0.0]
    naively.open(path).update(*rows(1))
    assert naively.load(path).class_counts.sum() == 5.0


def test_the_last_text_of_a_class_is_forgotten(tmp_path: Path) -> None:
    """The words of the text are few compared with the others, and are erased as well."""
    texts = [" ".join(f"w{i * j % 97}" for i in range(20)) for j in range(50)]
    labels = ["spam", "eggs"] * 25
    model = naively.fit([*texts, "lunch noon"], [*labels, "ham"], tune=False)
    model.save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        ledger.forget(["lunch noon"], ["ham"])
        ledger.compact()
    model.forget(["lunch noon"], ["ham"]).save(tmp_path / "saved")
    expected = naively.fit(texts, labels, tune=False)
    for path in (tmp_path / "m", tmp_path / "saved"):
        assert same(naively.load(path), expected)
        assert naively.load(path).posterior(["w1 w2"]).tolist() == expected.posterior(["w1 w2"]).tolist()
        assert "lunch" not in naively.load(path).statistics[0].words()  # type: ignore[attr-defined]
