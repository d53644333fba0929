"""Change tuning and class prior of a file in place; entries that count no rows."""

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
    """Return a file that is not tuned."""
    naively.fit(TEXTS[:40], LABEL[:40], tune=False).save(tmp_path / "mail.naively")
    with naively.open(tmp_path / "mail.naively") as ledger:
        ledger.update(TEXTS[40:], LABEL[40:])
    return tmp_path / "mail.naively"


def test_tuning_in_place_equals_tuning_at_fit(mail: Path) -> None:
    expected = naively.fit(TEXTS, LABEL)
    ledger = naively.open(mail)
    other = naively.open(mail)
    other.model()
    entry = ledger.tune(TEXTS, LABEL, source="all", comment="at last")
    assert (entry.act, entry.sign, entry.rows, entry.source, entry.comment) == ("tune", 0, 0, "all", "at last")
    assert entry.note.startswith(f"tuned on {expected.tuning.rows} rows, log-loss ")  # type: ignore[union-attr]
    for model in (ledger.model(), other.model(), naively.load(mail), naively.open(mail).model(since="2000-01-01")):
        assert model.tuning == expected.tuning
        assert np.array_equal(model.posterior(TEXTS), expected.posterior(TEXTS))
        assert same(model, expected)
    ledger.update(["cheap one more"], ["spam"])
    assert ledger.model().tuning == other.model().tuning == naively.load(mail).tuning == expected.tuning
    ledger.tune(textbook=True)
    assert naively.load(mail).tuning is None
    assert other.log()[-1].note == "not tuned: the textbook"


def test_tuning_by_a_file(mail: Path, tmp_path: Path) -> None:
    lines = ["text,class", *(f"{text},{label}" for text, label in zip(TEXTS, LABEL, strict=True))]
    (tmp_path / "all.csv").write_text("\n".join(lines) + "\n")
    naively.open(mail).tune(tmp_path / "all.csv")
    assert naively.load(mail).tuning == naively.fit(TEXTS, LABEL).tuning


def test_another_prior(mail: Path) -> None:
    ledger = naively.open(mail)
    assert ledger.tune(prior={"ham": 0.9, "spam": 0.1}).note == "class prior ham 0.9, spam 0.1"
    assert np.exp(naively.load(mail).log_prior).round(6).tolist() == [0.9, 0.1]
    with pytest.raises(InputError, match="no probability for 'news'"):
        ledger.update(["the news"], ["news"])
    ledger.tune(TEXTS, LABEL, prior="uniform")
    model = naively.load(mail)
    assert model.tuning is not None
    assert np.exp(model.log_prior).tolist() == [0.5, 0.5]
    ledger.tune(prior="empirical")
    ledger.update(["the news"], ["news"], new_classes=True)
    assert naively.load(mail).classes == ("ham", "news", "spam")


@pytest.mark.parametrize("closed", [True, False])
def test_undo_of_a_tune(mail: Path, closed: bool) -> None:
    """The former settings are restored if they have not been changed again."""
    ledger = naively.open(mail)

    def act(do: Any) -> Any:
        nonlocal ledger
        done = do(ledger)
        if closed:
            ledger.close()
            ledger = naively.open(mail)
        return done

    one = act(lambda ledger: ledger.tune(TEXTS, LABEL))
    tuned = ledger.model().tuning
    act(lambda ledger: ledger.update(["more pills"], ["spam"]))
    two = act(lambda ledger: ledger.tune(prior="uniform"))
    with pytest.raises(InputError, match=f"changed again after entry {one.id[:8]}: undo the later tune first"):
        ledger.undo(one.id)
    assert len(ledger.log()) == 5
    back = act(lambda ledger: ledger.undo(two.id))
    assert ledger.model().prior == naively.ClassPrior()
    act(lambda ledger: ledger.undo(one.id))
    assert ledger.model().tuning is None
    assert naively.load(mail).tuning is None
    assert [entry.is_current for entry in ledger.log()] == [True, True, False, True, False, True, True]
    with pytest.raises(InputError, match="changed again"):
        ledger.undo(back.id)  # the prior is as it was, but the tuning is not
    again = act(lambda ledger: ledger.tune([*TEXTS, "more pills"], [*LABEL, "spam"]))
    undone = act(lambda ledger: ledger.undo(again.id))
    act(lambda ledger: ledger.undo(undone.id))
    assert ledger.model().tuning != tuned
    assert ledger.model().tuning == naively.load(mail).tuning is not None
    assert same(ledger.model(), naively.fit([*TEXTS, "more pills"], [*LABEL, "spam"], tune=False))


def test_wrong_tunes_change_nothing(mail: Path) -> None:
    ledger = naively.open(mail)
    for wrong, message in (
        ({}, "nothing to change"),
        ({"X": TEXTS, "y": LABEL, "textbook": True}, "not both"),
        ({"X": ["never seen this", "nor that"] * 4, "y": ["ham", "spam"] * 4}, "give rows that were counted"),
        ({"X": TEXTS[:1], "y": LABEL[:1]}, "two classes of two rows"),
        ({"X": ["cheap"], "y": ["news"]}, "'news' is not a class"),
        ({"prior": "loud"}, "is not known"),
        ({"prior": {"ham": 1.0}}, "must name every class"),
    ):
        with pytest.raises(InputError, match=message):
            ledger.tune(**wrong)
    assert len(ledger.log()) == 2


def test_tuning_by_rows_of_which_some_are_forgotten(mail: Path) -> None:
    """A few forgotten rows are left out with a warning, many are refused."""
    ledger = naively.open(mail)
    texts, label = [*TEXTS, *(f"cheap {i} pills number {i}" for i in range(40))], [*LABEL, *(["spam", "ham"] * 20)]
    ledger.update(texts[60:], label[60:])
    ledger.forget(texts[97:], label[97:])
    with pytest.warns(naively.LeftOutWarning, match="3 of the 68 sampled rows were never counted, or are forgotten"):
        ledger.tune(texts, label)
    assert ledger.model().tuning == naively.fit(texts[:97], label[:97]).tuning
    ledger.forget(texts[80:97], label[80:97])
    with pytest.raises(InputError, match="20 of the 68 sampled rows were never counted"):
        ledger.tune(texts, label)


def test_damaged_settings_in_an_entry(mail: Path) -> None:
    from tests.store.test_fuzz import AnyLog

    from naively.store.entries import COLUMNS, START, StoredEntry

    ledger = naively.open(mail)
    id_ = ledger.tune(prior="uniform").id
    ledger.close()
    for span in ('{"note": "x"}', '{"note": "x", "before": 3, "after": {}}'):
        connection = sqlite3.connect(mail)
        with connection:
            entries = [
                StoredEntry(*entry) for entry in connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY number")
            ]
            connection.execute("DELETE FROM entries")
            connection.execute("UPDATE head SET entries = ?, checksum = ?", START)
            for entry in entries:
                forged = entry._replace(span=span) if entry.act == "tune" else entry
                AnyLog(mail, connection).append(forged)
        connection.close()
        with pytest.raises(InputError, match="the settings in entry 3 cannot be read"):
            naively.open(mail).undo(id_)


def add_comment(path: Path, act: str, source: str, comment: str) -> None:
    """Append an entry that is only a comment, as earlier versions did for a copy or a merge."""
    with naively.open(path)._change() as log:
        log.append(log.new_entry(act, schema=1, source=source, comment=comment))


def test_comments_of_merges_and_copies_in_older_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    fitted().save(a)
    naively.copy(a, b)
    add_comment(b, "copy", str(a), "for ben")
    assert [(e.act, e.source, e.comment) for e in naively.open(b).log()][1:] == [("copy", str(a), "for ben")]
    assert len(naively.open(a).log()) == 1
    with naively.open(b) as ledger:
        ledger.update(*rows(1))
    expected = fitted().update(*rows(1))
    assert same(naively.merge([a, b], tmp_path / "ab"), expected)
    add_comment(tmp_path / "ab", "merge", f"{a} {b}", "together")
    log = naively.open(tmp_path / "ab").log()
    assert [e.act for e in log] == ["fit", "copy", "update", "merge"]
    assert (log[3].source, log[3].comment, log[3].rows) == (f"{a} {b}", "together", 0)
    assert same(naively.load(tmp_path / "ab"), expected)
    assert same(naively.merge([tmp_path / "ab", a], tmp_path / "again"), expected)
    with naively.open(tmp_path / "ab") as ledger:
        with pytest.raises(InputError, match=r"is a note \(merge\): there is nothing to undo"):
            ledger.undo(log[3].id)
        with pytest.raises(InputError, match="does not count any rows"):
            ledger.forget(*rows(1), entry=log[3].id)
        ledger.forget(*rows(1))
        ledger.compact()
        assert ledger.log()[0].absorbed == 5
        assert same(ledger.model(), fitted())


def test_tune_entries_are_merged_as_history(tmp_path: Path) -> None:
    """The settings are those of the first file; entries of the others are only history."""
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
