"""`watch` learns from what people move; `sort` moves mails; a kill at any time loses none."""

import mailbox
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.support.mails import make_mail, make_mails

from naively.mail import MailModel, read
from naively.mail.folders import Watcher, mailboxes, move_all, move_back, plan_sort
from naively.mail.sources import files_of_maildir

N_KILLS = 100 if os.environ.get("NAIVELY_SOAK") else 10


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    box = mailbox.Maildir(tmp_path / "Maildir")
    for name in ("Junk", "Trash", "work"):
        box.add_folder(name)
    for mail in [*make_mails("spam", 5, 900), *make_mails("ham", 5, 900)]:
        box.add(mail)
    return tmp_path / "Maildir"


def move(maildir: Path, mail: bytes, target: str, name: str) -> None:
    """Move a mail as an IMAP server does: the file gets another name."""
    key = read(mail).key
    for box in mailboxes(maildir):
        for file in files_of_maildir(box.path):
            if read(file.read_bytes()).key == key:
                file.rename(maildir / target / "cur" / f"{name}:2,S")
                return
    raise AssertionError("the mail is not there")


def labels(model: MailModel, *mails: bytes) -> list[str | None]:
    return [None if p is None else str(p.label) for p in model.positions([read(mail) for mail in mails])]


def test_into_junk_is_spam_out_of_junk_is_ham_and_trash_is_nothing(model_path: Path, maildir: Path) -> None:
    spam, ham = make_mails("spam", 3, 900), make_mails("ham", 3, 900)
    with MailModel(model_path) as model:
        watcher = Watcher(model, maildir)
        assert watcher.scan() == []
        move(maildir, spam[0], ".Junk", "a")
        move(maildir, ham[0], ".Junk", "b")
        move(maildir, spam[1], ".Trash", "c")
        assert [(learnt.label, learnt.taught.n_new) for learnt in watcher.scan()] == [("spam", 2)]
        assert labels(model, spam[0], ham[0], spam[1]) == ["spam", "spam", None]
        move(maildir, ham[0], ".", "d")
        move(maildir, spam[0], ".Trash", "e")
        assert [(learnt.label, learnt.taught.n_moved) for learnt in watcher.scan()] == [("ham", 1)]
        assert labels(model, spam[0], ham[0]) == ["spam", "ham"]
        assert watcher.scan() == []
        assert Watcher(model, maildir).scan() == []  # after a restart


def test_what_the_filter_puts_into_junk_is_not_learnt(model_path: Path, maildir: Path) -> None:
    with MailModel(model_path) as model:
        watcher = Watcher(model, maildir)
        watcher.scan()
        (maildir / ".Junk" / "new" / "1").write_bytes(b"X-Naively: spam, p=1.0\n" + make_mail("spam", 950))
        (maildir / ".Junk" / "new" / "2").write_bytes(make_mail("spam", 951))
        watcher.scan()
        assert labels(model, make_mail("spam", 950), make_mail("spam", 951)) == [None, "spam"]


def test_sort_shows_moves_and_moves_back(model_path: Path, maildir: Path) -> None:
    with MailModel(model_path) as model:
        moves = plan_sort(model, maildir)
        assert [(move.answer.label, move.folder.name) for move in moves] == [("spam", ".Junk")] * 5
        before = {file.name for file in files_of_maildir(maildir)}
        assert len(before) == 10
        assert move_all(model_path, moves) == 5
        assert len(list(files_of_maildir(maildir / ".Junk"))) == 5
        assert move_back(model_path) == 5
        assert move_back(model_path) == 0
        assert {file.name for file in files_of_maildir(maildir)} == before
        moves = plan_sort(model, maildir, {"ham": "work", "spam": "Junk"})
        assert Counter(move.folder.name for move in moves) == {".Junk": 5, ".work": 5}


def test_a_mail_of_the_same_name_is_not_replaced(model_path: Path, maildir: Path) -> None:
    with MailModel(model_path) as model:
        moves = plan_sort(model, maildir)
        for planned in moves:
            (maildir / ".Junk" / "cur" / f"{planned.source.name}:2,").write_bytes(b"Subject: another\n\n")
        move_all(model_path, moves)
    assert len(list(files_of_maildir(maildir / ".Junk"))) == 10


SORT_AND_BACK = """
import sys
from pathlib import Path
from naively.mail import MailModel
from naively.mail.folders import Move, Watcher, move_all, move_back
from naively.mail.sources import files_of_maildir
path, maildir = Path(sys.argv[1]), Path(sys.argv[2])
with MailModel(path) as model:
    (answer,) = model.answers([__import__("naively.mail", fromlist=["read"]).read(b"")])
    watcher = Watcher(model, maildir)
    print("ready", flush=True)
    while True:
        move_all(path, [Move(file, maildir / ".Junk", answer) for file in files_of_maildir(maildir)])
        watcher.scan()
        move_back(path)
        watcher.scan()
"""


def test_a_kill_at_any_time_leaves_each_mail_in_one_folder(model_path: Path, maildir: Path) -> None:
    """Sort and watch are killed again and again; each mail is in exactly one folder, and is counted at most once."""
    expected = Counter(read(file.read_bytes()).key for file in files_of_maildir(maildir))
    generator = random.Random(1)
    for _ in range(N_KILLS):
        command = [sys.executable, "-c", SORT_AND_BACK, str(model_path), str(maildir)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(generator.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        keys = Counter(read(file.read_bytes()).key for box in mailboxes(maildir) for file in files_of_maildir(box.path))
        assert keys == expected
    with MailModel(model_path) as model:
        n_learnt = sum(
            label is not None for label in labels(model, *make_mails("spam", 5, 900), *make_mails("ham", 5, 900))
        )
        assert model.ledger.model().class_counts.sum() == 120 + n_learnt
