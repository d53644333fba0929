"""A relabelled row counts as if it had been learnt with its new label."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.test_fuzz import alter
from tests.support.models import EVERYTHING, rows, same

import naively
from naively import InputError
from naively.cli.main import main
from naively.errors import ConflictError
from naively.store.compare import disjoint_models
from naively.store.entries import Log

TEXTS = ["cheap pills", "lunch at noon", "cheap offer", "see you at noon", "pills and lunch"]
LABELS = ["spam", "ham", "spam", "ham", "ham"]


@given(st.lists(st.booleans(), min_size=5, max_size=5).filter(any), st.data())
def test_relabelled_rows_equal_rows_with_the_new_label(chosen: list[bool], data: Any) -> None:
    table: dict[str, list[Any]] = {"text": TEXTS, "x": [1.0, 2.5, -3.0, 4.0, 0.5], "k": ["a", "b", "a", None, "b"]}
    columns = {"text": naively.Text(), "x": naively.Gaussian(), "k": naively.Categorical()}
    new = [data.draw(st.sampled_from(["spam", "ham", "other"])) for _ in range(sum(chosen))]
    rows = {name: [v for v, c in zip(values, chosen, strict=True) if c] for name, values in table.items()}
    old = [label for label, c in zip(LABELS, chosen, strict=True) if c]
    corrected = iter(new)
    labels = [next(corrected) if c else label for label, c in zip(LABELS, chosen, strict=True)]
    model = naively.fit(table, LABELS, columns=columns, tune=False).relabel(rows, old, to=new, new_classes=True)
    expected = naively.fit(table, labels, columns=columns, tune=False)
    assert model.classes == expected.classes
    assert model.class_counts.tolist() == expected.class_counts.tolist()
    assert np.allclose(model.posterior(table), expected.posterior(table), rtol=1e-9)


@pytest.mark.parametrize("remember", [False, True])
def test_a_file_relabels_by_one_entry_that_one_undo_takes_back(tmp_path: Path, remember: bool) -> None:
    ledger = naively.Ledger.fit(tmp_path / "m", TEXTS, LABELS, remember_rows=remember, tune=False, source="a")
    first = ledger.log()[0]
    entry = ledger.relabel("pills and lunch", "ham", to="spam", entry=first.id, comment="wrong")
    assert (entry.act, entry.sign, entry.rows, entry.source, entry.time, entry.comment, entry.note) == (
        "relabel", 0, 1, "a", first.time, "wrong", "ham → spam",
    )  # fmt: skip
    assert entry.corrects == first.id
    expected = naively.fit(TEXTS, [*LABELS[:4], "spam"], tune=False)
    for model in (ledger.model(), ledger.model(sources="a"), ledger.at(2), naively.load(tmp_path / "m")):
        assert np.array_equal(model.posterior(TEXTS), expected.posterior(TEXTS))
    with pytest.raises(InputError, match=r"never counted|not among"):
        ledger.relabel(["pills and lunch"], ["ham"], to="spam")
    with pytest.raises(InputError, match="rows but 3 labels"):
        ledger.relabel(TEXTS[:2], LABELS[:2], to=["spam"] * 3)
    with pytest.raises(InputError, match="type"):
        ledger.relabel(TEXTS[:1], LABELS[:1], to=1)
    with pytest.raises(InputError, match="labels already"):
        ledger.relabel(TEXTS[:2], LABELS[:2], to=LABELS[:2])
    with pytest.raises(ConflictError, match=f"relabelled by entry {entry.id[:8]}"):
        ledger.undo(first.id)
    assert ledger.log() == (first, entry)
    ledger.undo(entry.id)
    before = naively.fit(TEXTS, LABELS, tune=False).posterior(TEXTS)
    assert np.array_equal(ledger.model().posterior(TEXTS), before)
    ledger.undo(ledger.log()[-1].id)
    assert np.array_equal(ledger.model().posterior(TEXTS), expected.posterior(TEXTS))
    assert np.array_equal(ledger.at(3).posterior(TEXTS), before)


def test_rows_of_several_entries_keep_their_times_and_sources(tmp_path: Path) -> None:
    ledger = naively.Ledger.fit(tmp_path / "m", *rows(0, 12), columns=EVERYTHING, remember_rows=True, tune=False)
    anna, ben = (ledger.update(*rows(1, 6), source=source) for source in ("anna", "ben"))
    X, y = rows(1, 6)
    twice = {name: values * 2 for name, values in X.items()}
    labels = ["b" if label == "a" else "a" for label in y * 2]
    entry = ledger.relabel(twice, y * 2, to=labels)
    pairs = sorted([f"a → b: {2 * y.count('a')}", f"b → a: {2 * y.count('b')}"])
    assert (entry.rows, entry.source, entry.corrects, sorted(entry.note.split(", "))) == (12, "", None, pairs)
    alone = naively.fit(X, labels[:6], columns=EVERYTHING, tune=False)
    everything = naively.fit(*rows(0, 12), columns=EVERYTHING, tune=False).update(twice, labels)
    assert same(ledger.model(), everything)
    for source, of_source in (("anna", anna), ("ben", ben)):
        assert same(ledger.model(sources=source), alone)
        assert same(ledger.model(since=of_source.time, sources=source), alone)
    forgets = ledger.forget(X, labels[:6])  # each row once, of the last that counted it
    assert sum(forget.rows for forget in forgets) == 6
    more = ledger.relabel(X, labels[:6], to=y)
    assert more.corrects == entry.id
    with pytest.raises(InputError, match="never counted"):
        ledger.forget(X, labels[:6])
    assert same(ledger.model(), naively.fit(*rows(0, 12), columns=EVERYTHING, tune=False).update(X, y))


@given(st.lists(st.tuples(st.sampled_from("urfbcm"), st.integers(0, 10**6)), max_size=8), st.booleans())
@settings(deadline=None, max_examples=30)
def test_any_history_counts_what_is_left(acts: list[tuple[str, int]], remember: bool) -> None:
    """Update, relabel, forget, undo, compact and merge in any order: the sum is that of the labels at the end."""
    X, _ = rows(5, 12)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        one = [{name: values[i : i + 1] for name, values in X.items()} for i in range(12)]
        labels: list[str | None] = ["a", "b", "a", "b", *[None] * 8]
        first = {name: values[:4] for name, values in X.items()}
        ledger = naively.Ledger.fit(path, first, labels[:4], columns=EVERYTHING, remember_rows=remember, tune=False)
        before: list[tuple[str, list[str | None]]] = []  # entries that can be undone, and the labels before them
        for act, number in acts:
            counted = [i for i in range(12) if labels[i]]
            i, state, label = counted[number % len(counted)], labels.copy(), "abc"[number % 3]
            if act == "u" and None in labels:
                i = labels.index(None)
                entry = ledger.update(one[i], [label], new_classes=True)
            elif act == "r" and labels[i] != label:
                entry = ledger.relabel(one[i], [labels[i]], to=label, new_classes=True)
            elif act == "f" and len(counted) > 1:
                (entry,), label = ledger.forget(one[i], [labels[i]]), ""
            else:
                if act == "b" and before:
                    id_, labels = before.pop()
                    ledger.undo(id_)
                elif act == "c":
                    ledger.compact()
                    before = []
                elif act == "m":
                    naively.merge([path, path], Path(folder) / "both", overwrite=True)
                    assert same(naively.load(Path(folder) / "both"), ledger.model())
                continue
            labels[i] = label or None
            before.append((entry.id, state))
        left = [i for i in range(12) if labels[i]]
        rest = {name: [values[i] for i in left] for name, values in X.items()}
        expected = naively.fit(rest, [labels[i] for i in left], columns=EVERYTHING, tune=False)
        assert same(ledger.model(), expected)
        assert same(naively.load(path), expected)


def test_a_request_is_relabelled_once(tmp_path: Path) -> None:
    ledger = naively.Ledger.fit(tmp_path / "m", TEXTS, LABELS, tune=False)
    entries = [ledger.relabel(TEXTS[4], "ham", to="spam", request_id="r1") for _ in range(2)]
    assert entries[0].id == entries[1].id
    assert len(ledger.log()) == 2


def test_only_files_with_relabels_have_format_2(tmp_path: Path) -> None:
    """Earlier versions read the other files, and refuse these with a message."""
    with naively.Ledger.fit(tmp_path / "m", TEXTS, LABELS, tune=False) as ledger:
        ledger.update(TEXTS[:1], LABELS[:1])
        assert format_of(tmp_path / "m") == 1
        ledger.relabel(TEXTS[4], "ham", to="spam")
        assert format_of(tmp_path / "m") == 2
    naively.merge([tmp_path / "m", tmp_path / "m"], tmp_path / "merged")
    assert format_of(tmp_path / "merged") == 2
    with naively.open(tmp_path / "m") as ledger:
        ledger.compact()
    assert format_of(tmp_path / "m") == 1


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_differences_of_files_have_relabelled_rows(tmp_path: Path) -> None:
    ledger = naively.Ledger.fit(tmp_path / "old", TEXTS, LABELS, tune=False)
    ledger.copy(tmp_path / "new")
    with naively.open(tmp_path / "new") as new:
        new.relabel(TEXTS[4], "ham", to="spam", entry=ledger.log()[0].id)
    _, added, _ = disjoint_models(tmp_path / "old", tmp_path / "new")
    assert (added.classes, added.class_counts.tolist()) == (("spam",), [1.0])


@pytest.mark.parametrize("attributed", [False, True])
def test_salvage_keeps_a_relabel_and_loses_it_with_its_rows(tmp_path: Path, attributed: bool) -> None:
    with naively.Ledger.fit(tmp_path / "m", TEXTS[:3], LABELS[:3], tune=False) as ledger:
        second = ledger.update(TEXTS[3:], LABELS[3:])
        ledger.relabel(TEXTS[4], "ham", to="spam", entry=second.id if attributed else None)
    naively.salvage(tmp_path / "m", tmp_path / "intact")
    assert same(naively.load(tmp_path / "intact"), naively.load(tmp_path / "m"))
    with closing(sqlite3.connect(tmp_path / "m")) as connection, connection:
        connection.execute("UPDATE entries SET rows = 99 WHERE number = 2")
    salvaged = naively.salvage(tmp_path / "m", tmp_path / "rest")
    assert [number for number, _ in salvaged.lost] == [2, 3]
    assert same(naively.load(tmp_path / "rest"), naively.fit(TEXTS[:3], LABELS[:3], tune=False))


@pytest.fixture(scope="module")
def relabelled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relabelled") / "m"
    with naively.Ledger.fit(path, TEXTS, LABELS, remember_rows=True, tune=False) as ledger:
        ledger.relabel(TEXTS[4], "ham", to="spam")
    return path


@given(seed=st.integers(0, 10**9))
@settings(deadline=None, max_examples=100)
def test_forged_parts_give_a_model_or_an_error(relabelled_file: Path, seed: int) -> None:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(relabelled_file, Path(folder) / "m"))
        with closing(sqlite3.connect(path)) as connection, connection:
            log = Log(path, connection)
            entry = log.read(2)
            connection.execute("DELETE FROM entries WHERE number = 2")
            span = alter(json.loads(entry.span or ""), rng)
            log.append(entry._replace(span=json.dumps(span)), log.read(1).head)
        try:
            ledger = naively.open(path)
            ledger.log()
            ledger.relabel(TEXTS[4], "spam", to="ham")
            assert np.isfinite(ledger.model().log_posterior(TEXTS)).all()
        except InputError:
            pass


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    naively.fit(TEXTS, LABELS, tune=False).save("m")
    one = CliRunner().invoke(
        main, ["relabel", "m", "--text", "pills and lunch", "--label", "ham", "--to", "spam", "--json"]
    )
    assert one.exit_code == 0, one.output
    (entry,) = json.loads(one.stdout)
    assert (entry["act"], entry["rows"], entry["note"]) == ("relabel", 1, "ham → spam")
    log = CliRunner().invoke(main, ["log", "m"])
    assert log.stdout.splitlines()[1].split("Z  ")[1].split() == ["relabel", "1", "(ham", "→", "spam)"]
    Path("d.csv").write_text("text,class\npills and lunch,spam\ncheap offer,spam\n")
    many = CliRunner().invoke(main, ["relabel", "m", "d.csv", "--to", "ham"])
    assert many.exit_code == 0, many.output
    expected = naively.fit(TEXTS, ["spam", "ham", "ham", "ham", "ham"], tune=False)
    assert np.array_equal(naively.load("m").posterior(TEXTS), expected.posterior(TEXTS))
    wrong = CliRunner().invoke(main, ["relabel", "m", "--text", "x", "--to", "ham"])
    assert wrong.exit_code == 2
    last = naively.open("m").log()[-1]
    assert CliRunner().invoke(main, ["undo", "m", last.id[:8]]).exit_code == 0
    back = naively.fit(TEXTS, [*LABELS[:4], "spam"], tune=False)
    assert np.array_equal(naively.load("m").posterior(TEXTS), back.posterior(TEXTS))
