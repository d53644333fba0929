"""The model file: size, loading, updating and the cold start, beside joblib, SQLite and importing scikit-learn."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import naively
from benchmarks.measure import report
from naively.storage import Counts
from naively.storage.entries import Schemas, append, new_id, new_row

OURS = "import naively, sys; naively.load(sys.argv[1])"
THEIRS = "import joblib, sys; joblib.load(sys.argv[1])"  # brings scikit-learn with it


def texts(n_words: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts over a vocabulary of so many made-up words with Zipf's frequencies, every word at least once."""
    generator = np.random.default_rng(seed)
    letters = np.array(list("aaabcdeeeefghiijklmnnooprrssttuuvwxyz"))
    words: dict[str, None] = {}
    while len(words) < n_words:
        size = generator.integers(3, 14, 50_000)
        drawn = generator.choice(letters, (50_000, 14))
        words |= dict.fromkeys("".join(row[:n]) for row, n in zip(drawn, size.tolist(), strict=True))
    names = np.array(list(words)[:n_words])
    rank = np.minimum(generator.zipf(1.3, 1_000_000), n_words) - 1
    tokens = np.concatenate([names, names[rank]])
    generator.shuffle(tokens)
    parts = np.array_split(tokens, 10_000)
    return [" ".join(part) for part in parts], ["ham", "spam"] * 5_000


def main(arguments: Sequence[str] = ()) -> None:
    """Print one line for each measure; every line is one run, in turns."""
    entries = int(arguments[0]) if arguments else 100_000
    with tempfile.TemporaryDirectory(prefix="naively-") as folder:
        _loading(Path(folder))
        _updating(Path(folder))
        _many_entries(Path(folder), entries)
        _cold_start(Path(folder))


def _loading(folder: Path) -> None:
    import joblib
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    x, y = texts(100_000)
    naively.fit(x, y, tune=False).save(folder / "text.naively")
    vectoriser = CountVectorizer(token_pattern=r"\S+")
    classifier = MultinomialNB().fit(vectoriser.fit_transform(x), y)
    joblib.dump((vectoriser, classifier), folder / "text.joblib")
    sizes = [(folder / name).stat().st_size / 1e6 for name in ("text.naively", "text.joblib")]
    print(f"100,000 words, 2 classes: {sizes[0]:.2f} MB, joblib {sizes[1]:.2f} MB")
    report(
        "load, imports included",
        {
            "ours": lambda: _python(OURS, folder / "text.naively"),
            "joblib": lambda: _python(THEIRS, folder / "text.joblib"),
        },
        5,
    )
    report(
        "load, in a process that has the imports",
        {"ours": lambda: naively.load(folder / "text.naively"), "joblib": lambda: joblib.load(folder / "text.joblib")},
        10,
    )


def _python(code: str, path: Path) -> None:
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def _updating(folder: Path) -> None:
    """One durable text at a time, beside one small durable row of SQLite; a hundred of each in turn."""
    ledger = naively.open(folder / "text.naively")
    plain = sqlite3.connect(folder / "plain.db", isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        plain.execute(f"PRAGMA {setting}")
    plain.execute("CREATE TABLE t (x BLOB)")
    row = bytes(100)
    seconds: dict[str, list[float]] = {"ours": [], "sqlite": []}
    for _ in range(5):
        for name in seconds:
            start = time.perf_counter()
            for i in range(100):
                if name == "ours":
                    ledger.update([f"one more message number {i} about the lunch of today"], ["ham"])
                else:
                    plain.execute("INSERT INTO t VALUES (?)", (row,))
            seconds[name].append((time.perf_counter() - start) / 100)
    rates = np.array([np.divide(seconds["sqlite"], seconds["ours"])])
    print(
        f"update of one text, durable: {1e3 * float(np.median(seconds['ours'])):.2f} ms, "
        f"{float(np.median(rates)):.2f} of the rate of SQLite's own commits"
    )
    ledger.close()


def _many_entries(folder: Path, n: int) -> None:
    """So many one-text entries, written in one go, and the same file compacted."""
    many, one = folder / "many.naively", folder / "one.naively"
    x, y = texts(100_000, seed=1)
    model = naively.fit(x, y, tune=False)
    model.save(many)
    part = model.of_rows(["one more message about the lunch of today"], ["ham"])
    counts = Counts(part.schema, part.classes, part.seen, part.statistics)
    with naively.open(many) as ledger:
        ledger.update(["the first of many"], ["ham"])
    connection = sqlite3.connect(many, isolation_level=None)
    schemas = Schemas(connection)
    connection.execute("BEGIN")
    row = new_row(schemas, counts, "update", 1)
    for _ in range(n):
        append(connection, schemas, row._replace(id=new_id()))
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
        for told, text, label in (("the oldest update", "the first of many", "ham"), ("the fit", x[0], y[0])):
            start = time.perf_counter()
            ledger.forget([text], [label])
            print(f"forget a text of {told} among {n + 3:,} entries: {time.perf_counter() - start:.2f} s")


def _cold_start(folder: Path) -> None:
    (folder / "one.csv").write_text("text\nlunch today\n")
    model = str(folder / "text.naively")
    predict = [sys.executable, "-m", "naively.cli", "predict", model, str(folder / "one.csv")]
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


if __name__ == "__main__":
    main(sys.argv[1:])
