"""Filters, learners and a watcher at work on one model at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.mails import make_mail, make_mails

from naively.mail import MailModel
from naively.mail.folders import FolderState

IS_SOAK = bool(os.environ.get("NAIVELY_SOAK"))
N_FILTERS, N_LEARNERS, N_ROUNDS = (20, 5, 3) if IS_SOAK else (2, 2, 1)
N_MAILS = 10  # that each learner learns in a round
NAIVELY = [sys.executable, "-c", "from naively.cli.main import main; main()", "mail"]


def run(arguments: list[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*NAIVELY, *arguments], input=data, capture_output=True, check=False)


def learn(model: Path, folder: Path, learner: int) -> None:
    """Learn mails that other learners learn too, and mails of its own."""
    for number in range(N_ROUNDS):
        source = folder / f"{learner}-{number}"
        source.mkdir()
        own = make_mails("ham", N_MAILS // 2, 1000 * (learner + 1) + 100 * number)
        shared = make_mails("ham", N_MAILS // 2, 100_000 + 100 * number)
        for i, mail in enumerate([*own, *shared]):
            (source / f"{i}.eml").write_bytes(mail)
        result = run(["learn", "ham", str(source), "-m", str(model)])
        assert result.returncode == 0, result.stderr


def wait_for_first_look(model: Path) -> None:
    """Wait until a watcher has looked at all folders once; what is there then is not learnt."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with FolderState(model).connect() as connection:
            if connection.execute("SELECT count(*) FROM seen WHERE file = ''").fetchone()[0]:
                return
        time.sleep(0.1)
    raise TimeoutError("the watcher has not looked at the folders")


def test_filters_learners_and_a_watcher_at_once_count_exactly(model_path: Path, tmp_path: Path) -> None:
    """Each mail is counted once, whoever learns it, and each mail that is filtered comes out with our header."""
    maildir = tmp_path / "Maildir"
    for box in (maildir, maildir / ".Junk"):
        for part in ("cur", "new", "tmp"):
            (box / part).mkdir(parents=True)
    with MailModel(model_path) as model:
        n_before = int(model.ledger.model().class_counts.sum())
    watch = [*NAIVELY, "watch", str(maildir), "-m", str(model_path), "--seconds", "0.1"]
    watcher = subprocess.Popen(watch, stdout=subprocess.PIPE)
    try:
        wait_for_first_look(model_path)
        sources = tmp_path / "sources"
        sources.mkdir()
        mail = make_mail("spam", 77_777)
        with ThreadPoolExecutor(N_FILTERS + N_LEARNERS) as pool:
            learners = [pool.submit(learn, model_path, sources, number) for number in range(N_LEARNERS)]
            n_filtered = N_FILTERS * N_ROUNDS
            filters = [pool.submit(run, ["filter", "-m", str(model_path)], mail) for _ in range(n_filtered)]
            for number in range(N_MAILS):
                (maildir / ".Junk" / "new" / str(number)).write_bytes(make_mail("spam", 50_000 + number))
            results = [future.result() for future in filters]
            for learner in learners:
                learner.result()
        n_expected = n_before + N_ROUNDS * (N_LEARNERS + 1) * (N_MAILS // 2) + N_MAILS
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with MailModel(model_path) as model:
                n_counted = int(model.ledger.model().class_counts.sum())
            if n_counted >= n_expected:
                break
            time.sleep(0.2)
        assert n_counted == n_expected
    finally:
        watcher.terminate()
        watcher.communicate()
    for result in results:
        assert result.returncode in (0, 1, 2), result.stderr
        assert result.stdout.count(b"X-Naively: ") == 1
        assert result.stdout.endswith(mail.partition(b"\n\n")[2])


LEARN_EACH = """
import sys
from pathlib import Path
from naively.mail import MailModel, read
model, folder = Path(sys.argv[1]), Path(sys.argv[2])
for file in sorted(folder.iterdir()):
    with MailModel(model, wait=1.0) as opened:
        assert opened.learn([read(file.read_bytes())], "ham", tune=False).n_new == 1
"""


def test_no_learner_waits_for_a_second(model_path: Path, tmp_path: Path) -> None:
    """Several processes learn mail after mail. Each gives up after a second without the lock, and none does."""
    with MailModel(model_path) as model:
        n_before = int(model.ledger.model().class_counts.sum())
    learners = []
    for learner in range(N_LEARNERS):
        folder = tmp_path / f"mails-{learner}"
        folder.mkdir()
        for number, mail in enumerate(make_mails("ham", N_MAILS, 1000 * (learner + 1))):
            (folder / f"{number}.eml").write_bytes(mail)
        learners.append(subprocess.Popen([sys.executable, "-c", LEARN_EACH, str(model_path), str(folder)]))
    assert [learner.wait() for learner in learners] == [0] * N_LEARNERS
    with MailModel(model_path) as model:
        assert int(model.ledger.model().class_counts.sum()) == n_before + N_LEARNERS * N_MAILS
