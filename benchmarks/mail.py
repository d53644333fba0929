"""The mail filter compared with bogofilter and spamprobe in one run: quality, CPU time, and time to wait for one mail.

Each filter learns the same mails and answers for the others. CPU time is that of the process and its children, that of
naively without the start of Python. Good words: 200 of the best ham words of the training mails are appended to each
spam mail; pasted text is the body of a ham mail. Each filter also answers for the mails without their Received lines,
and with one line more. The model's own best words are 100 pairs of words, those with the best
weights for ham. Poison: 1 % of the mails that are learnt are spam that is learnt as ham; then that is undone. In the
order of dates, each batch of 100 mails is answered before it is learnt; answers count from the sixth batch on. At the
end, one process for each of 100 mails: `spamc` with `naively mail serve` and `bogofilter -p` in turns, then
`naively mail filter`. The corpus and Debian's bogofilter, spamprobe and spamc are not in the repository: what is
missing is left out.

    python -m benchmarks mail [--data FILE] [--folds 5] [--only 1] [--seed 0]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import record
from naively.mail import MailModel, read

DATA = Path("../shared/data/mail/spamassassin_half.tar.xz")
N_GOOD_WORDS = 200
BATCH, N_UNCOUNTED_BATCHES = 100, 5  # in the order of dates
N_SINGLE_MAILS = 100
_RECEIVED = re.compile(rb"^received:[^\n]*\n(?:[ \t][^\n]*\n)*", re.MULTILINE | re.IGNORECASE)
ONE_MORE = (
    b"Received: from mail.example.org (mail.example.org [192.0.2.25])\n"
    b"\tby imap.example.net (Postfix) with ESMTP id 4F1A2;\n\tMon, 1 Jan 2024 00:00:00 +0000\n"
)
_DATE = re.compile(rb"^(?:Received:[^;]*;|Date:)([^\r\n]*)", re.MULTILINE | re.IGNORECASE)
Floats = NDArray[np.float64]
Learn = Callable[[str, Sequence[Path]], None]
Score = Callable[[Sequence[Path]], Floats]


def naively_filter(folder: Path) -> tuple[Learn, Score]:
    """Return how to learn and to answer with naively."""
    path = folder / "mail.naively"

    def learn(label: str, mails: Sequence[Path]) -> None:
        with MailModel(path) as model:
            model.learn([read(mail.read_bytes()) for mail in mails], label)

    def score(mails: Sequence[Path]) -> Floats:
        with MailModel(path) as model:
            return np.array([a.probability for a in model.answers([read(mail.read_bytes()) for mail in mails])])

    return learn, score


def bogofilter(folder: Path) -> tuple[Learn, Score]:
    """Return the same with bogofilter."""

    def run(flags: Sequence[str], mails: Sequence[Path]) -> str:
        names = "\n".join(map(str, mails))
        command = ["bogofilter", "-d", str(folder), *flags, "-b"]
        return subprocess.run(command, input=names, capture_output=True, text=True, check=False).stdout

    def score(mails: Sequence[Path]) -> Floats:
        return np.array([float(line.split()[-1]) for line in run(["-T"], mails).splitlines()])

    return lambda label, mails: print(run(["-s" if label == "spam" else "-n"], mails), end=""), score


def spamprobe(folder: Path) -> tuple[Learn, Score]:
    """Return the same with spamprobe."""

    def run(command: str, mails: Sequence[Path]) -> str:
        arguments = ["spamprobe", "-d", str(folder), command, *map(str, mails)]
        return subprocess.run(arguments, capture_output=True, text=True, check=False, errors="replace").stdout

    run("create-db", [])

    def score(mails: Sequence[Path]) -> Floats:
        return np.array([float(line.split()[1]) for line in run("score", mails).splitlines()])

    return lambda label, mails: print(run("spam" if label == "spam" else "good", mails), end=""), score


FILTERS = {"naively": naively_filter, "bogofilter": bogofilter, "spamprobe": spamprobe}


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def quality(probability: Floats, is_spam: NDArray[np.bool_]) -> dict[str, float]:
    """Return error, log-loss, spam found at 1 and 10 false alarms, calibration error, and mistakes at p ≥ 0.99."""
    p = np.clip(probability, 1e-6, 1 - 1e-6)
    wrong = (p > 0.5) != is_spam
    ham = np.sort(p[~is_spam])[::-1]
    bins = np.minimum((10 * p).astype(int), 9)
    off = [abs(p[bins == b].sum() - is_spam[bins == b].sum()) for b in range(10)]
    sure = np.maximum(p, 1 - p) >= 0.99
    return {
        "error": float(wrong.mean()),
        "log_loss": float(-np.log(np.where(is_spam, p, 1 - p)).mean()),
        "found_at_1": float((p[is_spam] > ham[1]).mean()),
        "found_at_10": float((p[is_spam] > ham[10]).mean()),
        "calibration_error": float(np.sum(off) / len(p)),
        "wrong_of_sure": float(wrong[sure].mean()) if sure.any() else 0.0,
    }


def good_words(spam: Sequence[Path], ham: Sequence[Path]) -> list[str]:
    """Return the words that speak most for ham, by the mails that contain them."""
    counts = [
        Counter(w for mail in mails for w in set(read(mail.read_bytes())["body"].lower().split()))
        for mails in (spam, ham)
    ]
    weight = {
        w: np.log((n + 0.5) / len(ham)) - np.log((counts[0][w] + 0.5) / len(spam))
        for w, n in counts[1].items()
        if n >= 5
    }
    return sorted((w for w in weight if w.isalpha()), key=lambda w: -weight[w])[:N_GOOD_WORDS]


def own_words(path: Path, ham: Sequence[Path]) -> list[str]:
    """Return the 200 words of the 100 pairs of ham bodies that speak most for ham by the weights of the model."""
    weight: dict[str, float] = {}
    with MailModel(path) as model:
        counted = model.ledger.model()
        (block,), (parameters,) = zip(
            *(
                (block, parameters)
                for block, parameters in zip(counted.schema.blocks, counted.parameters, strict=True)
                if block.names[0].startswith("body")
            ),
            strict=True,
        )
        is_spam = list(counted.classes).index("spam")
        for mail in ham:
            pairs, scores = block.family.word_scores(read(mail.read_bytes()).columns["body"], parameters)
            weight.update(zip(pairs, (scores[:, is_spam] - scores[:, 1 - is_spam]).tolist(), strict=True))
    best = sorted(weight, key=lambda pair: weight[pair])[: N_GOOD_WORDS // 2]
    return [word for pair in best for word in pair.split(" … ")]


def poisoned(path: Path, spam: Sequence[Path], test: Sequence[Path]) -> tuple[Floats, bool]:
    """Learn copies of spam as ham; return the answers, and whether an undo brings the old ones back exactly."""
    mails = [read(mail.read_bytes()) for mail in test]
    with MailModel(path) as model:
        before = [answer.posterior for answer in model.answers(mails)]
        poison = [read(b"Message-ID: <poison@example.org>\n" + mail.read_bytes()) for mail in spam]
        model.learn(poison, "ham", source="poison", tune=False)
        probability = np.array([answer.probability for answer in model.answers(mails)])
        model.ledger.undo(model.ledger.log()[-1].id)
        return probability, before == [answer.posterior for answer in model.answers(mails)]


def arrival(mail: Path) -> float:
    """Return when a mail arrived, by the first of its Received and Date lines with a date from 2000 to 2006; else 0."""
    head = re.sub(rb"\r?\n[ \t]+", b" ", mail.read_bytes().partition(b"\n\n")[0])
    for text in _DATE.findall(head):
        try:
            date = parsedate_to_datetime(text.decode("latin-1").strip())
        except (ValueError, TypeError):
            continue
        if 2000 <= date.year <= 2006:
            return date.timestamp()
    return 0.0


def attacked(folder: Path, mails: Sequence[Path], texts: Sequence[str]) -> list[Path]:
    """Return copies of mails with a text appended to each."""
    folder.mkdir(exist_ok=True)
    copies = []
    for mail, text in zip(mails, texts, strict=True):
        copy = folder / mail.name
        copy.write_bytes(mail.read_bytes() + b"\n\n" + text.encode("utf-8", "replace") + b"\n")
        copies.append(copy)
    return copies


def without_received(mail: bytes) -> bytes:
    """Return a mail without its Received lines."""
    head, end, body = mail.partition(b"\n\n")
    return _RECEIVED.sub(b"", head + b"\n") + end[1:] + body


def with_one_more(mail: bytes) -> bytes:
    """Return a mail that another server has received."""
    postmark, end, rest = mail.partition(b"\n") if mail.startswith(b"From ") else (b"", b"", mail)
    return postmark + end + ONE_MORE + rest


def rewritten(folder: Path, mails: Sequence[Path], change: Callable[[bytes], bytes]) -> list[Path]:
    """Return changed copies of mails."""
    folder.mkdir(exist_ok=True)
    copies = [folder / mail.name for mail in mails]
    for mail, copy in zip(mails, copies, strict=True):
        copy.write_bytes(change(mail.read_bytes().replace(b"\r\n", b"\n")))
    return copies


DELIVERIES = {"without Received lines": without_received, "with one Received line more": with_one_more}


def main(arguments: Sequence[str]) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mail", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, help="run the first folds only")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which mails are divided into folds")
    options = parser.parse_args(list(arguments))
    if not options.data.exists():
        print(f"{options.data}: the corpus is not there; nothing is measured.")
        return
    names = [name for name in FILTERS if name == "naively" or shutil.which(name)]
    os.umask(0o077)
    with tempfile.TemporaryDirectory() as work, tarfile.open(options.data) as archive:
        archive.extractall(work, filter="data")
        mails = sorted(Path(work).rglob("*.eml"))
        random.Random(options.seed).shuffle(mails)
        _compare(Path(work), mails, names, options.folds, options.only or options.folds)
        _compare_by_date(Path(work), mails, names)
        _compare_single_mails(Path(work), mails)


def _compare(work: Path, mails: Sequence[Path], names: Sequence[str], n_folds: int, n_run: int) -> None:
    scores: dict[str, list[Floats]] = {name: [] for name in names}
    elsewhere: dict[tuple[str, str], list[Floats]] = {(name, way): [] for name in names for way in DELIVERIES}
    turned: dict[str, dict[str, list[float]]] = {name: {"good_words": [], "pasted": []} for name in names}
    learning, checking, sizes = ({name: [0.0] * n_run for name in names} for _ in range(3))
    truth: list[NDArray[np.bool_]] = []
    harm: dict[str, list[float]] = {key: [] for key in ("own_words", "error", "error_poisoned", "is_undone")}
    for fold in range(n_run):
        test = [mail for i, mail in enumerate(mails) if i % n_folds == fold]
        by_class = {
            label: [m for i, m in enumerate(mails) if i % n_folds != fold and m.parent.name == label]
            for label in ("spam", "ham")
        }
        is_spam = np.array([mail.parent.name == "spam" for mail in test])
        truth.append(is_spam)
        spam, ham = (
            [mail for mail, s in zip(test, is_spam, strict=True) if s is kind] for kind in (np.True_, np.False_)
        )
        words = " ".join(good_words(by_class["spam"], by_class["ham"]))
        bodies = [read(mail.read_bytes())["body"] for mail in ham]
        generator = random.Random(fold)
        attacks = {
            "good_words": attacked(work / "words", spam, [words] * len(spam)),
            "pasted": attacked(work / "pasted", spam, [generator.choice(bodies) for _ in spam]),
        }
        others = {way: rewritten(work / way, test, change) for way, change in DELIVERIES.items()}
        for name in names:
            folder = work / f"{name}{fold}"
            folder.mkdir()
            learn, score = FILTERS[name](folder)
            start = cpu_seconds()
            for label, group in by_class.items():
                learn(label, group)
            learning[name][fold] = cpu_seconds() - start
            start = cpu_seconds()
            scores[name].append(score(test))
            checking[name][fold] = cpu_seconds() - start
            for way, copies in others.items():
                elsewhere[name, way].append(score(copies))
            detected = score(spam) > 0.5
            for attack, copies in attacks.items():
                turned[name][attack].append(float((detected & (score(copies) <= 0.5)).sum() / max(1, detected.sum())))
            if name == "naively":
                best_words = " ".join(own_words(folder / "mail.naively", by_class["ham"]))
                copies = attacked(work / "own", spam, [best_words] * len(spam))
                harm["own_words"].append(float((detected & (score(copies) <= 0.5)).sum() / max(1, detected.sum())))
                poison = generator.sample(by_class["spam"], sum(map(len, by_class.values())) // 100)
                copy = work / "poisoned.naively"
                shutil.copy(folder / "mail.naively", copy)
                probability, is_undone = poisoned(copy, poison, test)
                harm["error"].append(float(((scores[name][-1] > 0.5) != is_spam).mean()))
                harm["error_poisoned"].append(float(((probability > 0.5) != is_spam).mean()))
                harm["is_undone"].append(float(is_undone))
            n_bytes = sizes[name][fold] = sum(file.stat().st_size for file in folder.iterdir())
            print(
                f"fold {fold}, {name}: {learning[name][fold]:.1f} + {checking[name][fold]:.1f} s, {n_bytes:,} bytes",
                flush=True,
            )
    for name in names:
        figures: dict[str, Any] = quality(np.concatenate(scores[name]), np.concatenate(truth))
        by_fold = [quality(p, y) for p, y in zip(scores[name], truth, strict=True)]
        figures["found_at_1_by_fold"] = float(np.mean([fold["found_at_1"] for fold in by_fold]))
        figures |= {attack: float(np.mean(shares)) for attack, shares in turned[name].items()}
        print(f"{name:<11}", "  ".join(f"{key} {value:.4f}" for key, value in figures.items()), flush=True)
        record(f"quality of {name}", **figures)
        for way in DELIVERIES:
            changed: dict[str, Any] = dict(quality(np.concatenate(elsewhere[name, way]), np.concatenate(truth)))
            print(f"{name} {way:<28}", "  ".join(f"{key} {value:.4f}" for key, value in changed.items()), flush=True)
            record(f"quality of {name} {way}", **changed)
    harm_means: dict[str, Any] = {key: float(np.mean(values)) for key, values in harm.items()}
    record("the model's own best words, and poison", **harm_means)
    print({key: [round(value, 4) for value in values] for key, values in harm.items()}, flush=True)
    record("CPU time to learn", learning)
    record("CPU time to check", checking)
    record("size of the files", bytes=sizes)


def _compare_by_date(work: Path, mails: Sequence[Path], names: Sequence[str]) -> None:
    """Answer for each batch of mails, and then learn it."""
    in_order = sorted(mails, key=lambda mail: (arrival(mail), mail.name))
    batches = [in_order[i : i + BATCH] for i in range(0, len(in_order), BATCH)]
    is_spam = np.array([mail.parent.name == "spam" for mail in in_order[BATCH * N_UNCOUNTED_BATCHES :]])
    for name in names:
        folder = work / f"{name}-by-date"
        folder.mkdir()
        learn, score = FILTERS[name](folder)
        scores = []
        for number, batch in enumerate(batches):
            if number >= N_UNCOUNTED_BATCHES:
                scores.append(score(batch))
            for label in ("spam", "ham"):
                if group := [mail for mail in batch if mail.parent.name == label]:
                    learn(label, group)
        figures: dict[str, Any] = quality(np.concatenate(scores), is_spam)
        print(f"by date, {name:<11}", "  ".join(f"{key} {value:.4f}" for key, value in figures.items()), flush=True)
        record(f"quality of {name} in the order of dates", **figures)


def _compare_single_mails(work: Path, mails: Sequence[Path]) -> None:
    """Time one process for each mail, and a mail that is learnt by the server; the models are those of the first fold.

    Python may keep compiled modules, as it does in an installed package.
    """
    if not (shutil.which("bogofilter") and shutil.which("spamc")):
        return
    model, socket = work / "naively0" / "mail.naively", work / "socket"
    environment = dict(os.environ) | {"PYTHONPYCACHEPREFIX": str(work / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    naively = [sys.executable, "-m", "naively", "mail"]
    commands = {
        "bogofilter -p": ["bogofilter", "-d", str(work / "bogofilter0"), "-p"],
        "naively mail filter": [*naively, "filter", "-m", str(model)],
        "spamc": ["spamc", "-U", str(socket)],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    tells: dict[str, list[float]] = {"TELL": [], "next answer": []}
    serve = [*naively, "serve", "--socket", str(socket), "-m", str(model)]
    with subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            while not socket.exists():
                time.sleep(0.1)
            # A process of Python leaves cold caches to the next one, so it takes no turns with the other two.
            for contenders in (("bogofilter -p", "spamc"), ("naively mail filter",)):
                for number, mail in enumerate(mails[: N_SINGLE_MAILS + 1]):
                    for name in contenders:
                        timed = _timed(commands[name], mail.read_bytes(), environment)
                        if number:  # the first mail compiles modules and loads the model
                            seconds[name].append(timed[0])
                            cpu[name].append(timed[1])
            with MailModel(model) as learnt:
                positions = learnt.positions([read(mail.read_bytes()) for mail in mails])
            for mail in [mail for mail, position in zip(mails, positions, strict=True) if position is None][:10]:
                tell = [*commands["spamc"], "-L", mail.parent.name]
                tells["TELL"].append(_timed(tell, mail.read_bytes(), environment)[0])
                tells["next answer"].append(_timed(commands["spamc"], mail.read_bytes(), environment)[0])
        finally:
            server.terminate()
    start = time.process_time()
    with MailModel(model) as learnt:
        learnt.answers([read(mails[0].read_bytes())])
    loading = time.process_time() - start
    record("time to wait for one mail", seconds)
    record("CPU time for one mail", cpu)
    record("time to wait when a mail is learnt by the server", tells)
    record("CPU time to load a model and to answer", {"naively": [loading]})
    for title, times in (("wait", seconds), ("CPU", cpu), ("learn", tells)):
        medians = (f"{name} {np.median(values):.3f}" for name, values in times.items())
        print(f"one mail, {title}, medians in s:", "  ".join(medians), flush=True)
    print(f"load and answer: {loading:.3f} s of CPU", flush=True)


def _timed(command: Sequence[str], data: bytes, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds to wait for a command, and its CPU seconds."""
    start, cpu_start = time.perf_counter(), cpu_seconds()
    subprocess.run(command, input=data, capture_output=True, check=False, env=environment)
    return time.perf_counter() - start, cpu_seconds() - cpu_start
