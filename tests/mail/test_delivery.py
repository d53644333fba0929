"""The words of Received lines differ when a mail comes back, and yet what is unlearnt is what was learnt."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.mails import make_mail, make_mails

import naively
from naively.errors import InputError
from naively.mail import Mail, MailModel, read
from naively.store.codec import encode_counts

N_EXAMPLES = 2_000 if os.environ.get("NAIVELY_SOAK") else 15
N_MAILS = 3
RECEIVED = (
    b"",
    b"Received: from relay.example.net (relay.example.net [198.51.100.4]) by mx.example.org; Mon, 1 Jan 2024\n",
    b"Received: from other.example.com (HELO pc) (203.0.113.9) by mx2.example.org with SMTP\n" * 3,
)


def arrived(number: int, way: int) -> Mail:
    """Return a mail with one of several deliveries."""
    return read(RECEIVED[way] + make_mail("spam", number).partition(b"\n")[2])


def counts_of(path: Path) -> bytes:
    """Return what a file has counted, as bytes."""
    with MailModel(path) as model:
        return encode_counts(model.ledger.model())


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of a few mails."""
    path = tmp_path_factory.mktemp("delivery") / "mail.naively"
    with MailModel(path) as model:
        for label in ("spam", "ham"):
            model.learn([read(mail) for mail in make_mails(label, 3, 100)], label)
    return path


numbers, ways = st.integers(0, N_MAILS - 1), st.integers(0, len(RECEIVED) - 1)
steps = st.one_of(
    st.tuples(st.sampled_from(["spam", "ham", "forget"]), numbers, ways),
    st.tuples(st.just("learn all"), ways, ways),
    st.tuples(st.just("undo"), st.integers(0, 20), st.just(0)),
    st.tuples(st.sampled_from(["compact", "copy"]), st.just(0), st.just(0)),
)


def apply(model: MailModel, step: tuple[str, int, int]) -> None:
    act, number, way = step
    if act in ("spam", "ham"):
        model.learn([arrived(number, way)], act, tune=False)
    elif act == "learn all":
        model.learn([arrived(i, (i + way) % len(RECEIVED)) for i in range(N_MAILS)], "ham", tune=False)
    elif act == "forget":
        model.forget([arrived(number, way)])
    elif act == "compact":
        model.ledger.compact()
    elif act == "undo":
        entries = model.ledger.log()[2:]  # not those of the first mails
        if entries:
            try:
                model.ledger.undo(entries[number % len(entries)].id)
            except InputError:  # it is undone already, partly forgotten, or was compacted
                return


@settings(max_examples=N_EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, max_size=12), ways)
def test_what_is_forgotten_is_what_was_counted(
    base: Path, tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int, int]], way: int
) -> None:
    """Learn, move, forget, undo and compact in any order: when the mails are forgotten, nothing of them is left."""
    folder = tmp_path_factory.mktemp("history")
    path = folder / "0.naively"
    naively.copy(base, path)
    for number, step in enumerate(history, 1):
        if step[0] == "copy":
            naively.copy(path, folder / f"{number}.naively")
            path = folder / f"{number}.naively"
            continue
        with MailModel(path) as model:
            apply(model, step)
    with MailModel(path) as model:
        model.forget([arrived(number, way) for number in range(N_MAILS)])
        assert model.positions([arrived(number, way) for number in range(N_MAILS)]) == [None] * N_MAILS
    assert counts_of(path) == counts_of(base)
    shutil.rmtree(folder)


def test_a_mail_that_is_moved_keeps_the_delivery_that_was_counted(base: Path, tmp_path: Path) -> None:
    """There and back again with other lines is nothing, as is a second learn."""
    path = tmp_path / "mail.naively"
    naively.copy(base, path)
    with MailModel(path) as model:
        model.learn([arrived(0, 1)], "spam")
    learnt = counts_of(path)
    with MailModel(path) as model:
        assert model.learn([arrived(0, 2)], "spam").n_known == 1
        assert model.learn([arrived(0, 2)], "ham").n_moved == 1
        assert model.learn([arrived(0, 0)], "spam").n_moved == 1
        assert model.ledger.remembered([arrived(0, 0).key, arrived(1, 0).key]) == [
            ("spam", arrived(0, 1).columns["delivery"]),
            None,
        ]
    assert counts_of(path) == learnt


def test_a_model_is_tuned_by_what_was_counted(model_path: Path) -> None:
    """The sample holds mails with other Received lines than those that were counted."""
    lines = RECEIVED[2]
    with MailModel(model_path) as model:
        mails = [read(lines + mail) for mail in make_mails("spam", 60)]
        assert model.learn(mails, "ham").n_moved == 60
        assert model.learn(mails, "spam").n_moved == 60
        assert model.tune() is not None


def test_copies_that_learnt_a_mail_from_different_folders_are_merged(base: Path, tmp_path: Path) -> None:
    """The mail counts twice then, and both are forgotten, compacted or not."""
    for way in (1, 2):
        naively.copy(base, tmp_path / f"{way}.naively")
        with MailModel(tmp_path / f"{way}.naively") as model:
            model.learn([arrived(0, way)], "spam", tune=False)
    for is_compacted in (False, True):
        both = tmp_path / f"both {is_compacted}.naively"
        naively.merge([tmp_path / "1.naively", tmp_path / "2.naively"], both)
        with MailModel(both) as model:
            if is_compacted:
                model.ledger.compact()
            assert model.ledger.model().class_counts.sum() == 8
            assert model.forget([arrived(0, 0)]).n_forgotten == 1
        assert counts_of(both) == counts_of(base)


def test_the_answer_uses_the_lines_of_the_mail_as_it_is(model_path: Path) -> None:
    with MailModel(model_path) as model:
        mails = [read(RECEIVED[1] + mail.partition(b"\n")[2]) for mail in make_mails("spam", 60, 1000)]
        model.learn(mails, "spam")
        new = make_mail("spam", 2000).partition(b"\n")[2]
        (reasons, without) = (model.reasons(read(lines + new), 500) for lines in (RECEIVED[1], b""))
        assert any(reason.words == "delivery: 198_51_100" and reason.log_odds > 0 for reason in reasons)
        assert not any(reason.words.startswith("delivery:") for reason in without)
