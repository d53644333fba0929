"""Tuning and class prior of a file, changed in place; and entries that say something and count nothing."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.models import EVERYTHING, fitted, rows, same

import naively
from naively import InputError

TEXTS = [f"{'cheap' if i % 3 else 'lunch'} word{i % 7} {'pills' if i % 2 else 'today'}" for i in range(60)]
LABEL = ["spam" if i % 3 else "ham" for i in range(60)]


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """A model that is not tuned."""
    naively.fit(TEXTS[:40], LABEL[:40], tune=False).save(tmp_path / "mail.naively")
    with naively.open(tmp_path / "mail.naively") as live:
        live.update(TEXTS[40:], LABEL[40:])
    return tmp_path / "mail.naively"


def test_tuning_in_place_is_that_of_fitting(mail: Path) -> None:
    wanted = naively.fit(TEXTS, LABEL)
    live = naively.open(mail)
    other = naively.open(mail)
    other.model()
    entry = live.tune(TEXTS, LABEL, source="all", comment="at last")
    assert (entry.act, entry.sign, entry.rows, entry.source, entry.comment) == ("tune", 0, 0, "all", "at last")
    assert entry.note.startswith(f"tuned on {wanted.tuning.rows} rows, log-loss ")  # type: ignore[union-attr]
    for found in (live.model(), other.model(), naively.load(mail), naively.open(mail).model(since="2000-01-01")):
        assert found.tuning == wanted.tuning
        assert np.array_equal(found.posterior(TEXTS), wanted.posterior(TEXTS))
        assert same(found, wanted)
    live.update(["cheap one more"], ["spam"])
    assert live.model().tuning == other.model().tuning == naively.load(mail).tuning == wanted.tuning
    live.tune(textbook=True)
    assert naively.load(mail).tuning is None
    assert other.log()[-1].note == "not tuned: the textbook"


def test_tuning_by_a_file(mail: Path, tmp_path: Path) -> None:
    lines = ["text,class", *(f"{text},{label}" for text, label in zip(TEXTS, LABEL, strict=True))]
    (tmp_path / "all.csv").write_text("\n".join(lines) + "\n")
    naively.open(mail).tune(tmp_path / "all.csv")
    assert naively.load(mail).tuning == naively.fit(TEXTS, LABEL).tuning


def test_another_prior(mail: Path) -> None:
    live = naively.open(mail)
    assert live.tune(prior={"ham": 0.9, "spam": 0.1}).note == "class prior ham 0.9, spam 0.1"
    assert np.exp(naively.load(mail).log_prior).round(6).tolist() == [0.9, 0.1]
    with pytest.raises(InputError, match="no probability for 'news'"):
        live.update(["the news"], ["news"])
    live.tune(TEXTS, LABEL, prior="uniform")
    found = naively.load(mail)
    assert found.tuning is not None
    assert np.exp(found.log_prior).tolist() == [0.5, 0.5]
    live.tune(prior="empirical")
    live.update(["the news"], ["news"])
    assert naively.load(mail).classes == ("ham", "news", "spam")


@pytest.mark.parametrize("closed", [True, False])
def test_undo_of_a_tune(mail: Path, closed: bool) -> None:
    """The former settings come back, if nothing else has changed them since."""
    live = naively.open(mail)

    def act(do: Any) -> Any:
        nonlocal live
        done = do(live)
        if closed:
            live.close()
            live = naively.open(mail)
        return done

    one = act(lambda live: live.tune(TEXTS, LABEL))
    tuned = live.model().tuning
    act(lambda live: live.update(["more pills"], ["spam"]))
    two = act(lambda live: live.tune(prior="uniform"))
    with pytest.raises(InputError, match=f"changed again after entry {one.id[:8]}: undo the later tune first"):
        live.undo(one.id)
    assert len(live.log()) == 5
    back = act(lambda live: live.undo(two.id))
    assert live.model().prior == naively.ClassPrior()
    act(lambda live: live.undo(one.id))
    assert live.model().tuning is None
    assert naively.load(mail).tuning is None
    assert [entry.in_force for entry in live.log()] == [True, True, False, True, False, True, True]
    with pytest.raises(InputError, match="changed again"):
        live.undo(back.id)  # the prior is as it was, but the tuning is not
    again = act(lambda live: live.tune([*TEXTS, "more pills"], [*LABEL, "spam"]))
    gone = act(lambda live: live.undo(again.id))
    act(lambda live: live.undo(gone.id))
    assert live.model().tuning != tuned
    assert live.model().tuning == naively.load(mail).tuning is not None
    assert same(live.model(), naively.fit([*TEXTS, "more pills"], [*LABEL, "spam"], tune=False))


def test_wrong_tunes_change_nothing(mail: Path) -> None:
    live = naively.open(mail)
    for wrong, told in (
        ({}, "nothing to change"),
        ({"X": TEXTS, "y": LABEL, "textbook": True}, "not both"),
        ({"X": ["never seen this", "nor that"] * 4, "y": ["ham", "spam"] * 4}, "give rows that were counted"),
        ({"X": TEXTS[:1], "y": LABEL[:1]}, "two classes of two rows"),
        ({"X": ["cheap"], "y": ["news"]}, "'news' is not a class"),
        ({"prior": "loud"}, "is not known"),
        ({"prior": {"ham": 1.0}}, "must name every class"),
    ):
        with pytest.raises(InputError, match=told):
            live.tune(**wrong)
    assert len(live.log()) == 2


def test_forgotten_rows_among_those_to_tune_by(mail: Path) -> None:
    """An archive still has what the model has forgotten: a few such rows are left out, and that is said."""
    live = naively.open(mail)
    texts, label = [*TEXTS, *(f"cheap {i} pills number {i}" for i in range(40))], [*LABEL, *(["spam", "ham"] * 20)]
    live.update(texts[60:], label[60:])
    live.forget(texts[97:], label[97:])
    with pytest.warns(naively.LeftOutWarning, match="3 of the 68 sampled rows were never counted, or are forgotten"):
        live.tune(texts, label)
    assert live.model().tuning == naively.fit(texts[:97], label[:97]).tuning
    live.forget(texts[80:97], label[80:97])
    with pytest.raises(InputError, match="20 of the 68 sampled rows were never counted"):
        live.tune(texts, label)


def test_damaged_settings_in_an_entry(mail: Path) -> None:
    from tests.store.test_fuzz import _AnySchemas

    from naively.store.entries import COLUMNS, START, StoredEntry, append

    live = naively.open(mail)
    id_ = live.tune(prior="uniform").id
    live.close()
    for span in ('{"note": "x"}', '{"note": "x", "before": 3, "after": {}}'):
        connection = sqlite3.connect(mail)
        with connection:
            found = [StoredEntry(*row) for row in connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY number")]
            connection.execute("DELETE FROM entries")
            connection.execute("UPDATE head SET entries = ?, checksum = ?", START)
            for row in found:
                forged = row._replace(span=span) if row.act == "tune" else row
                append(connection, _AnySchemas(connection), forged)
        connection.close()
        with pytest.raises(InputError, match="the settings in entry 3 cannot be read"):
            naively.open(mail).undo(id_)


def test_comments_on_a_merge_and_a_copy(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    fitted().save(a)
    naively.copy(a, b, comment="for ben")
    assert [(e.act, e.source, e.comment) for e in naively.open(b).log()][1:] == [("copy", str(a), "for ben")]
    assert len(naively.open(a).log()) == 1
    with naively.open(b) as live:
        live.update(*rows(1))
    wanted = fitted().update(*rows(1))
    assert same(naively.merge([a, b], tmp_path / "ab", comment="together"), wanted)
    log = naively.open(tmp_path / "ab").log()
    assert [e.act for e in log] == ["fit", "copy", "update", "merge"]
    assert (log[3].source, log[3].comment, log[3].rows) == (f"{a} {b}", "together", 0)
    assert same(naively.load(tmp_path / "ab"), wanted)
    assert same(naively.merge([tmp_path / "ab", a], tmp_path / "again"), wanted)
    with naively.open(tmp_path / "ab") as live:
        with pytest.raises(InputError, match=r"is a note \(merge\): there is nothing to undo"):
            live.undo(log[3].id)
        with pytest.raises(InputError, match="does not count any rows"):
            live.forget(*rows(1), entry=log[3].id)
        live.forget(*rows(1))
        live.compact()
        assert live.log()[0].absorbed == 5
        assert same(live.model(), fitted())


def test_tunes_are_merged_as_history(tmp_path: Path) -> None:
    """The settings of a merged file are the first's; what the others' log says of theirs is kept, and only that."""
    a, b = tmp_path / "a", tmp_path / "b"
    naively.fit(*rows(0, 12), columns=EVERYTHING, tune=False).save(a)
    naively.copy(a, b)
    tune = naively.open(b).tune(prior="uniform")
    naively.merge([a, b], tmp_path / "ab")
    naively.merge([b, a], tmp_path / "ba")
    assert not naively.load(tmp_path / "ab").prior.uniform
    assert naively.load(tmp_path / "ba").prior.uniform
    with pytest.raises(InputError, match="changed again"):
        naively.open(tmp_path / "ab").undo(tune.id)
    naively.open(tmp_path / "ba").undo(tune.id)
    assert not naively.load(tmp_path / "ba").prior.uniform
