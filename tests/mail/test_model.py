"""Learning that cannot go wrong: each mail once, under one class, unlearnt exactly."""

import multiprocessing
import stat
from pathlib import Path

import numpy as np
import pytest
from tests.mail.test_read import arrivals
from tests.support.mails import make_mail, make_mails

from naively.errors import InputError
from naively.mail import Mail, MailModel, read
from naively.mail import model as mail_model
from naively.mail.model import AUTOMATIC, spam_threshold
from naively.mail.service import learn_if_sure


def read_all(label: str, n: int, start: int = 0) -> list[Mail]:
    return [read(mail) for mail in make_mails(label, n, start)]


def counts_of(path: Path) -> list[bytes]:
    """Return what a file has counted, as bytes."""
    from naively.store.codec import encode_counts

    with MailModel(path) as model:
        return [encode_counts(model.ledger.model())]


def test_answers_for_new_mails(model_path: Path) -> None:
    with MailModel(model_path) as model:
        names = [answer.name for answer in model.answers(read_all("spam", 20, 1000) + read_all("ham", 20, 1000))]
        assert names == ["spam"] * 20 + ["ham"] * 20
        reasons = model.reasons(read(make_mail("spam", 1000)))
        assert len(reasons) == 5
        assert any(reason.log_odds > 0 for reason in reasons)


def test_the_reasons_are_the_contributions_of_the_explanation(model_path: Path) -> None:
    with MailModel(model_path) as model:
        for mail in read_all("spam", 3, 1000) + read_all("ham", 3, 1000):
            explained = {line.shown: line.log_odds for line in model.explain(mail, 10_000).contributions}
            reasons = model.reasons(mail, 20)
            assert len(reasons) == 20
            for reason in reasons:
                assert reason.log_odds == pytest.approx(explained[reason.words], abs=1e-9)


def test_the_tuning_is_an_entry_of_the_log(model_path: Path) -> None:
    with MailModel(model_path) as model:
        assert [entry.act for entry in model.ledger.log()] == ["fit", "update", "tune"]
        assert not model.is_tuning_due
        model.learn(read_all("spam", 30, 100), "spam")  # of 120 mails, 60 are spam
        assert not model.is_tuning_due
        model.learn(read_all("ham", 30, 100), "ham")  # half as many again
        assert [entry.act for entry in model.ledger.log()] == ["fit", "update", "tune", "update", "update", "tune"]


def test_a_class_with_few_mails_makes_a_tuning_due_when_it_has_grown_by_half(tmp_path: Path) -> None:
    with MailModel(tmp_path / "mail.naively") as model:
        model.learn(read_all("ham", 100), "ham")
        model.learn(read_all("spam", 20), "spam")
        model.learn(read_all("spam", 9, 100), "spam")
        assert [entry.act for entry in model.ledger.log()] == ["fit", "update", "tune", "update"]
        model.learn(read_all("spam", 1, 200), "spam")  # of 130 mails, 30 are spam
        assert [entry.act for entry in model.ledger.log()][-2:] == ["update", "tune"]


def test_the_length_exponent_is_fixed(tmp_path: Path) -> None:
    with MailModel(tmp_path / "mail.naively") as model:
        model.learn(read_all("ham", 40) + read_all("spam", 10, 100), "ham")  # not separable, so weights are needed
        model.learn(read_all("spam", 40), "spam")
        tuning = model.ledger.model().tuning
        assert tuning is not None
        assert list(tuning.exponents.values()) == [mail_model.LENGTH_EXPONENT] * 5


def test_without_a_sample_the_tuning_stays(model_path: Path) -> None:
    with MailModel(model_path) as model:
        model.sample.path.unlink()
        tuning = model.ledger.model().tuning
        model.sample.path.write_bytes(b"not a database" * 100)
        model.learn(read_all("spam", 200, 100), "spam")
        assert model.ledger.model().tuning == tuning


def test_below_20_mails_of_a_class_every_answer_is_unsure(tmp_path: Path) -> None:
    with MailModel(tmp_path / "mail.naively") as model:
        model.learn(read_all("spam", 40), "spam")
        assert model.answers(read_all("spam", 1, 100))[0].label is None
        model.learn(read_all("ham", 19), "ham")
        answers = model.answers(read_all("spam", 5, 100) + read_all("ham", 5, 100))
        assert [answer.label for answer in answers] == [None] * 10
        model.learn(read_all("ham", 1, 19), "ham")
        answers = model.answers(read_all("spam", 5, 100) + read_all("ham", 5, 100))
        assert [answer.label for answer in answers] == ["spam"] * 5 + ["ham"] * 5


def test_learnt_twice_counts_once(model_path: Path) -> None:
    before = counts_of(model_path)
    with MailModel(model_path) as model:
        taught = model.learn(read_all("spam", 60), "spam")
        assert (taught.entries, taught.n_known) == ((), 60)
        twice = read_all("spam", 1, 500) * 3
        assert model.learn(twice, "spam")[1:3] == (1, 2)
        model.forget(twice)
    assert counts_of(model_path) == before


def test_the_first_learning_counts_a_mail_once_too(tmp_path: Path) -> None:
    with MailModel(tmp_path / "mail.naively") as model:
        assert model.learn(read_all("spam", 3) * 2, "spam").n_new == 3
        assert model.ledger.model().class_counts.tolist() == [3.0]


@pytest.mark.parametrize("way", range(7))
def test_learn_then_forget_is_nothing_however_the_mail_comes_back(model_path: Path, way: int) -> None:
    before = counts_of(model_path)
    mail = make_mail("spam", 999) + b"\nFrom here on\n"
    with MailModel(model_path) as model:
        assert model.learn([read(mail)], "spam").n_new == 1
        assert counts_of(model_path) != before
        assert model.forget([read(arrivals(mail)[way])]).n_forgotten == 1
    assert counts_of(model_path) == before


def test_another_class_is_one_entry_and_one_undo(model_path: Path) -> None:
    before = counts_of(model_path)
    with MailModel(model_path) as model:
        taught = model.learn(read_all("spam", 1), "ham")
        assert [(entry.act, entry.rows, entry.note) for entry in taught.entries] == [("relabel", 1, "spam → ham")]
        assert model.ledger.model().class_counts.tolist() == [61.0, 59.0]
        (position,) = model.positions(read_all("spam", 1))
        assert position is not None
        assert position.label == "ham"
        back = model.learn([*read_all("spam", 1), *read_all("spam", 2, 700)], "spam", source="corrected")
        assert [(entry.act, entry.rows, entry.note) for entry in back.entries] == [
            ("relabel", 3, "ham → spam: 1, new: 2")
        ]
        assert (back.n_new, back.n_moved) == (2, 1)
        assert model.ledger.model().class_counts.tolist() == [60.0, 62.0]
        model.ledger.undo(back.entries[0].id)
        model.ledger.undo(taught.entries[0].id)
    assert counts_of(model_path) == before


def test_a_moved_mail_can_be_moved_and_forgotten_again(model_path: Path) -> None:
    before = counts_of(model_path)
    mail = read_all("spam", 1, 700)
    with MailModel(model_path) as model:
        model.learn(mail, "spam", by_person=False)
        assert model.learn(mail, "spam", source="anna").entries[0].note == "spam"  # a person has confirmed it
        model.learn(mail, "ham", source="ben")
        (position,) = model.positions(mail)
        assert position is not None
        assert (position.label, position.source) == ("ham", "ben")
    with MailModel(model_path) as again:
        assert again.positions(mail) == [position]
        assert again.forget(mail).n_forgotten == 1
    assert counts_of(model_path) == before


@pytest.mark.parametrize("label", ["", " ", "unsure", "spam\nX-Evil: 1"])
def test_a_class_has_a_name_that_an_answer_can_show(tmp_path: Path, label: str) -> None:
    with MailModel(tmp_path / "mail.naively") as model, pytest.raises(InputError, match="name of a class"):
        model.learn(read_all("spam", 1), label)


def test_without_the_class_spam_no_mail_has_a_score_of_spam(tmp_path: Path) -> None:
    with MailModel(tmp_path / "mail.naively") as model:
        for label, name in (("spam", "offers"), ("ham", "work")):
            model.learn(read_all(label, 20), name)
        for answer in model.answers(read_all("spam", 20, 1000)):
            assert (answer.name, answer.score) == ("offers", 0.0)


def test_a_mail_that_was_never_learnt_is_not_unlearnt(model_path: Path) -> None:
    before = counts_of(model_path)
    with MailModel(model_path) as model:
        taught = model.forget(read_all("spam", 2, 700))
        assert (taught.entries, taught.n_unknown) == ((), 2)
    assert counts_of(model_path) == before


def test_a_folder_is_one_entry_and_one_undo(model_path: Path) -> None:
    before = counts_of(model_path)
    with MailModel(model_path) as model:
        taught = model.learn(read_all("spam", 30, 300), "ham", source="a bad day", tune=False)
        (entry,) = taught.entries
        model.ledger.undo(entry.id)
        assert model.positions(read_all("spam", 1, 300)) == [None]
        assert counts_of(model_path) == before
        assert model.learn(read_all("spam", 1, 300), "spam").n_new == 1


def test_what_the_filter_learns_by_itself_never_overrules_a_person(model_path: Path) -> None:
    new, known = read_all("spam", 1, 800)[0], read_all("spam", 1)[0]
    with MailModel(model_path) as model:
        model.learn([known], "ham")
        for mail in (new, known):
            (answer,) = model.answers([mail])
            learn_if_sure(model, mail, answer)
        positions = model.positions([new, known])
        assert [(p.label, p.source) for p in positions if p] == [("spam", AUTOMATIC), ("ham", "")]
        taught = model.learn([new], "spam", source="anna")  # a person confirms it
        assert taught.n_moved == 1
        assert [p.source for p in model.positions([new]) if p] == ["anna"]


def test_unsure_answers_are_not_learnt(model_path: Path) -> None:
    mail = read(b"Subject: hello\n\nnothing known\n")
    with MailModel(model_path) as model:
        (answer,) = model.answers([mail])
        assert not learn_if_sure(model, mail, answer)
        assert model.positions([mail]) == [None]


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    with MailModel(tmp_path / "new" / "mail.naively") as model:
        model.learn(read_all("spam", 2), "spam")
    files = list((tmp_path / "new").iterdir())
    assert len(files) == 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_model_of_another_extractor_is_refused(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {name: f"{name} (extractor 99)" for name in ("addresses", "content", "form", "body", "delivery")}
    monkeypatch.setattr(mail_model, "COLUMNS", columns)
    with pytest.raises(InputError, match="another extractor"):
        MailModel(model_path).forget(read_all("spam", 1))


def test_a_model_of_something_else_is_refused(tmp_path: Path) -> None:
    import naively

    naively.fit(["a b", "c d"], ["x", "y"]).save(tmp_path / "other.naively")
    with pytest.raises(InputError, match="not of mails"):
        MailModel(tmp_path / "other.naively").answers(read_all("spam", 1))


def test_the_threshold_allows_one_ham_in_1000() -> None:
    generator = np.random.default_rng(0)
    log_odds = np.concatenate([generator.normal(-6, 3, 4000), generator.normal(6, 3, 4000)])
    probability, is_spam = 1 / (1 + np.exp(-log_odds)), np.arange(8000) >= 4000
    threshold = spam_threshold(probability, is_spam)
    assert (probability[~is_spam] >= threshold).mean() <= 0.001
    assert spam_threshold(np.array([0.2, 0.3]), np.array([False, False])) == 0.99


def learn_from_a_process(path: Path, start: int) -> None:
    with MailModel(path) as model:
        for number in range(start, start + 6):
            model.learn(read_all("spam", 2, number), "spam")


def test_processes_that_learn_at_once_count_each_mail_once(tmp_path: Path) -> None:
    path = tmp_path / "mail.naively"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=learn_from_a_process, args=(path, 3 * i)) for i in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    with MailModel(path) as model:
        assert model.ledger.model().class_counts.tolist() == [16.0]
