"""The model file: size, loading, updating and the cold start, compared with joblib, SQLite and importing scikit-learn.

python -m benchmarks ledger [--parts load update many cold] [--entries 100000]
"""

from __future__ import annotations

import argparse
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import naively
from benchmarks.measure import report
from benchmarks.results import record
from naively.model.count import count_rows
from naively.store.entries import ID_BYTES, Log

OURS = "import naively, sys; naively.load(sys.argv[1])"
THEIRS = "import joblib, sys; joblib.load(sys.argv[1])"  # brings scikit-learn with it


def texts(n_words: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Make texts of invented words with Zipf's frequencies; every word of the vocabulary occurs."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("aaabcdeeeefghiijklmnnooprrssttuuvwxyz"))
    words: dict[str, None] = {}
    while len(words) < n_words:
        size = rng.integers(3, 14, 50_000)
        drawn = rng.choice(letters, (50_000, 14))
        words |= dict.fromkeys("".join(row[:n]) for row, n in zip(drawn, size.tolist(), strict=True))
    names = np.array(list(words)[:n_words])
    rank = np.minimum(rng.zipf(1.3, 1_000_000), n_words) - 1
    tokens = np.concatenate([names, names[rank]])
    rng.shuffle(tokens)
    parts = np.array_split(tokens, 10_000)
    return [" ".join(part) for part in parts], ["ham", "spam"] * 5_000


def main(arguments: Sequence[str]) -> None:
    """Print and record the figures of the parts that are named, or of all."""
    parts: dict[str, Callable[[Path, int], None]] = {
        "load": lambda folder, _: _measure_load(folder),
        "update": lambda folder, _: _measure_updates(folder),
        "many": _measure_many_entries,
        "cold": lambda folder, _: _measure_cold_start(folder),
    }
    parser = argparse.ArgumentParser(prog="python -m benchmarks ledger", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--entries", type=int, default=100_000, help="of the file that part `many` makes")
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory(prefix="naively-") as folder:
        x, y = texts(100_000)
        naively.fit(x, y, tune=False).save(Path(folder) / "text.naively")
        for name in options.parts:
            parts[name](Path(folder), options.entries)


def _measure_load(folder: Path) -> None:
    import joblib
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    x, y = texts(100_000)
    vectoriser = CountVectorizer(token_pattern=r"\S+")
    classifier = MultinomialNB().fit(vectoriser.fit_transform(x), y)
    joblib.dump((vectoriser, classifier), folder / "text.joblib")
    sizes = [(folder / name).stat().st_size / 1e6 for name in ("text.naively", "text.joblib")]
    print(f"100,000 words, 2 classes: {sizes[0]:.2f} MB, joblib {sizes[1]:.2f} MB")
    record("size, 100,000 words, 2 classes", megabytes={"ours": sizes[0], "joblib": sizes[1]})
    report(
        "load, imports included",
        {
            "ours": lambda: _python(OURS, folder / "text.naively"),
            "joblib": lambda: _python(THEIRS, folder / "text.joblib"),
        },
        5,
    )
    report(
        "load, imports done",
        {"ours": lambda: naively.load(folder / "text.naively"), "joblib": lambda: joblib.load(folder / "text.joblib")},
        10,
    )


def _python(code: str, path: Path) -> None:
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def _measure_updates(folder: Path) -> None:
    """Measure updates by one text, for a model of many words and for one of few."""
    _update_rate("a model of 100,000 words", folder / "text.naively", folder)
    naively.fit(["lunch today", "cheap pills"], ["ham", "spam"], tune=False).save(folder / "few.naively")
    _update_rate("a model of 4 words", folder / "few.naively", folder)


def _update_rate(title: str, path: Path, folder: Path, rounds: int = 12) -> None:
    """Compare with one small durable row of SQLite: a hundred of each in turn, snapshots of the model included."""
    plain = sqlite3.connect(folder / f"{path.stem}.db", isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        plain.execute(f"PRAGMA {setting}")
    plain.execute("CREATE TABLE t (x BLOB)")
    row = bytes(100)
    seconds: dict[str, list[float]] = {"ours": [], "sqlite": []}
    with naively.open(path) as ledger:
        for _ in range(rounds):
            for name in seconds:
                start = time.perf_counter()
                for i in range(100):
                    if name == "ours":
                        ledger.update([f"one more message number {i} about the lunch of today"], ["ham"])
                    else:
                        plain.execute("INSERT INTO t VALUES (?)", (row,))
                seconds[name].append((time.perf_counter() - start) / 100)
    plain.close()
    low, median, high = np.quantile(np.divide(seconds["sqlite"], seconds["ours"]), [0.25, 0.5, 0.75])
    ours, theirs = (1e3 * float(np.median(seconds[name])) for name in seconds)
    print(
        f"update by one text, durable, {title}: {ours:.2f} ms, SQLite's own commit {theirs:.2f} ms: {median:.2f} "
        f"({low:.2f}–{high:.2f}) of its rate; of all {100 * rounds} together "
        f"{sum(seconds['sqlite']) / sum(seconds['ours']):.2f}",
        flush=True,
    )
    record(f"update by one text, {title}", seconds, rate_of_sqlite=(median, low, high))


def _measure_many_entries(folder: Path, n: int) -> None:
    """Measure a file of many entries of one text each, and the same file compacted."""
    many, one = folder / "many.naively", folder / "one.naively"
    x, y = texts(100_000, seed=1)
    model = naively.fit(x, y, tune=False)
    model.save(many)
    part = count_rows(model, ["one more message about the lunch of today"], ["ham"])
    with naively.open(many) as ledger:
        ledger.update(["the first of many"], ["ham"])
    connection = sqlite3.connect(many, isolation_level=None)
    log = Log(many, connection)
    connection.execute("BEGIN")
    entry = log.new_entry("update", part)
    for _ in range(n):
        log.append(entry._replace(id=secrets.token_bytes(ID_BYTES)))
    connection.execute("COMMIT")
    connection.close()
    with naively.open(many) as ledger:
        ledger.update(["the last"], ["ham"])
        ledger.copy(one)
    with naively.open(one) as ledger:
        ledger.compact()
    print(f"{n + 3:,} entries: {many.stat().st_size / 1e6:.1f} MB; compacted {one.stat().st_size / 1e6:.1f} MB")
    report("load compacted", {"compacted": lambda: naively.load(one), "entries": lambda: naively.load(many)}, 10)
    with naively.open(many) as ledger:
        for title, text, label in (("the oldest update", "the first of many", "ham"), ("the fit", x[0], y[0])):
            start = time.perf_counter()
            ledger.forget([text], [label])
            _report_seconds(f"forget a text of {title} among {n + 3:,} entries", time.perf_counter() - start)
        entries = ledger.log()
        for title, logged in (("the oldest update", entries[2]), ("the last update", entries[-3])):
            start = time.perf_counter()
            ledger.undo(logged.id)
            _report_seconds(f"undo {title} among {len(entries):,} entries", time.perf_counter() - start)
    _update_rate(f"a file of {len(entries):,} entries", many, folder)


def _report_seconds(work: str, seconds: float) -> None:
    print(f"{work}: {seconds:.2f} s")
    record(work, {"ours": [seconds]})


def _measure_cold_start(folder: Path) -> None:
    (folder / "one.csv").write_text("text\nlunch today\n")
    model = str(folder / "text.naively")
    predict = [sys.executable, "-m", "naively", "predict", model, str(folder / "one.csv")]
    report(
        "naively predict of one text, cold",
        {
            "ours": lambda: subprocess.run(predict, check=True, capture_output=True),
            "import sklearn.naive_bayes": lambda: subprocess.run(
                [sys.executable, "-c", "import sklearn.naive_bayes"], check=True
            ),
        },
        5,
    )
