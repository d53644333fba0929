"""Raw text to a fitted model, and to predictions, beside the peers and beside the limits of the machine.

python -m benchmarks.text --megabytes 20 --classes 2 20 --repeats 3

The corpus is text that any machine has: the sources and documentation of Python and of the system, in documents of
about 4 kB, labelled by the folder they come from. Peers take turns with ours, on one thread each (set
POLARS_MAX_THREADS=1). Those that are not installed are passed over: scikit-learn is needed; polars, duckdb, fastText
and Vowpal Wabbit are not (`pip install --group peers`).
"""

from __future__ import annotations

import argparse
import hashlib
import mmap
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from threadpoolctl import threadpool_limits

from benchmarks.measure import alternate, extra_memory, ratios
from naively.kernels import text as kernels
from naively.kernels.text import Options, Strings, Vocabulary

ROOTS = [
    *(Path(p) for p in {sys.prefix, sys.base_prefix, *site.getsitepackages()}),
    Path("/usr/share/doc"),
    Path("/usr/lib/python3"),
]
ENDINGS = {".py", ".txt", ".rst", ".md", ".html", ".pyi", ".h", ".hpp"}
SAME_WORDS = r"(?u)\w+(?:['\u2019]\w+)*"  # our words as a pattern, but for combining marks
DOCUMENT = 4096

Labels = NDArray[np.int32]


def corpus(megabytes: int, n_classes: int) -> tuple[list[str], Labels]:
    """Documents and their classes."""
    texts: list[str] = []
    label: list[int] = []
    left, seen = megabytes * 1_000_000, set()
    for path in (p for root in ROOTS if root.is_dir() for p in sorted(root.rglob("*")) if p.suffix in ENDINGS):
        if left <= 0:
            break
        if not path.is_file():
            continue
        data = path.read_bytes()
        if (digest := hashlib.sha1(data).digest()) in seen:
            continue
        seen.add(digest)
        text = data.decode("utf-8", "replace")
        pieces = [text[i : i + DOCUMENT] for i in range(0, len(text), DOCUMENT)]
        texts += pieces
        label += [int.from_bytes(hashlib.sha1(str(path.parent).encode()).digest()[:4]) % n_classes] * len(pieces)
        left -= len(data)
    return texts, np.array(label, np.int32)


def fit(
    texts: Any, label: Labels, n_classes: int, options: Options, n_jobs: int = 1
) -> tuple[Vocabulary, NDArray[np.float64]]:
    """Ours: count, then the multinomial with alpha = 1 as a dense table (word, class)."""
    vocabulary = Vocabulary()
    cells, _ = kernels.count_text(texts, label, None, n_classes, vocabulary, options, n_jobs)
    table = np.ones((len(vocabulary), n_classes))
    table[cells.index, np.repeat(np.arange(n_classes), np.diff(cells.indptr))] += cells.sums[0]
    total = table.sum(0)
    np.log(table, out=table)
    table -= np.log(total)
    return vocabulary, table


def predict(
    texts: Any, model: tuple[Vocabulary, NDArray[np.float64]], options: Options, n_jobs: int = 1
) -> NDArray[np.intp]:
    """Ours: score and take the best class (equal priors)."""
    vocabulary, table = model
    out = np.zeros((len(kernels.prepare(texts)), table.shape[1]))
    kernels.score_text_table(texts, vocabulary, options, table, np.zeros(table.shape[1]), False, out, n_jobs)
    best: NDArray[np.intp] = out.argmax(1)
    return best


def fit_sklearn(texts: list[str], label: Labels, ngrams: tuple[int, int]) -> tuple[CountVectorizer, MultinomialNB]:
    """The required peer, with the same words."""
    vectorizer = CountVectorizer(token_pattern=SAME_WORDS, ngram_range=ngrams)
    return vectorizer, MultinomialNB().fit(vectorizer.fit_transform(texts), label)


def group_by_polars(texts: list[str], label: Labels) -> Any:
    """Words per class by a group-by; polars chooses its own threads (POLARS_MAX_THREADS)."""
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(SAME_WORDS.removeprefix("(?u)"))
    frame = pl.LazyFrame({"text": texts, "label": label}).select("label", words).explode("text")
    return frame.group_by("label", "text").len().collect()


def group_by_duckdb(texts: list[str], label: Labels) -> Any:
    """The same in SQL."""
    import duckdb
    import pyarrow as pa

    table = pa.table({"text": pa.array(texts), "label": pa.array(label)})
    connection = duckdb.connect(config={"threads": 1})
    connection.register("documents", table)
    pattern = "[\\p{L}\\p{M}\\p{N}_]+(['\u2019][\\p{L}\\p{M}\\p{N}_]+)*"
    words = f"unnest(regexp_extract_all(lower(text), '{pattern.replace(chr(39), chr(39) * 2)}'))"
    query = f"select label, word, count(*) from (select label, {words} as word from documents) group by all"
    return connection.sql(query).to_arrow_table()


def fasttext_of(texts: list[str], label: Labels, folder: Path) -> Callable[[], Any]:
    """One epoch of fastText on its own format, written beforehand."""
    import fasttext

    path = folder / "fasttext.txt"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"__label__{c} {' '.join(t.split())}\n" for t, c in zip(texts, label, strict=True))
    return partial(fasttext.train_supervised, str(path), epoch=1, thread=1, verbose=0)


def vowpal_wabbit_of(texts: list[str], label: Labels, folder: Path) -> Callable[[], Any]:
    """Vowpal Wabbit on its own format, written beforehand; two classes."""
    import vowpalwabbit

    path = folder / "vw.txt"
    clean = str.maketrans(":|\n", "   ")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{2 * c - 1} | {t.translate(clean)}\n" for t, c in zip(texts, label % 2, strict=True))

    def train() -> None:  # a workspace with a data file reads it to its end
        vowpalwabbit.Workspace(f"-d {path} --quiet --loss_function logistic --no_stdin").finish()

    return train


def show(title: str, size: int, functions: dict[str, Callable[[], Any]], repeats: int) -> None:
    """MB/s of each, and how many times as long as the first it takes."""
    seconds = alternate(functions, repeats)
    compared = ratios(seconds, next(iter(seconds)))
    print(f"\n{title}")
    for name, times in seconds.items():
        speed, middle = size / 1e6 / float(np.median(times)), float(np.median(times))
        print(f"  {name:32} {speed:9.1f} MB/s {middle:9.3f} s   {compared.get(name, '')}", flush=True)


def optional(
    functions: dict[str, Callable[[], Any]], name: str, make: Callable[[], Callable[[], Any]], module: str
) -> None:
    """Add a peer if it is there."""
    try:
        __import__(module)
        functions[name] = make()
    except ImportError as missing:
        print(f"  (passed over: {name}: {missing})")


def search(path: Path) -> int:
    """Look for a byte that UTF-8 does not have, in the mapped file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"\xff")


def limits(texts: list[str], label: Labels, n_classes: int, folder: Path, repeats: int) -> None:
    """Training on a file beside reading it, looking for a byte in it, and wc -w."""
    path = folder / "corpus.txt"
    encoded = [t.encode() for t in texts]
    path.write_bytes(b"".join(encoded))
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)

    def train() -> Any:
        data = np.memmap(path, np.uint8, mode="r")
        return fit(Strings(offsets, np.asarray(data)), label, n_classes, Options())

    functions: dict[str, Callable[[], Any]] = {
        "naively, from the mapped file": train,
        "read the file": path.read_bytes,
        "memchr over it": partial(search, path),
    }
    if shutil.which("wc"):
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        functions["wc -w"] = partial(
            subprocess.run, ["wc", "-w", str(path)], env=environment, capture_output=True, check=True
        )
    show("Limits of the machine (ratios: how many times as long)", int(offsets[-1]), functions, repeats)


def main(arguments: list[str] | None = None) -> None:
    """Print a table per kind of work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=20)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 20])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true", help="ours and the limits only")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for n_classes in given.classes:
            run(given.megabytes, n_classes, given.repeats, not given.no_peers, Path(folder))


def run(megabytes: int, n_classes: int, repeats: int, peers: bool, folder: Path) -> None:
    """All tables for one number of classes."""
    texts, label = corpus(megabytes, n_classes)
    size = sum(len(t.encode()) for t in texts)
    words, pairs = Options(), Options(ngrams=(1, 2))
    print(f"\n=== {len(texts):,} documents, {size / 1e6:.1f} MB, {n_classes} classes")
    if peers:  # first of all, while the heap has no free room
        ours, theirs = partial(fit, texts, label, n_classes, words), partial(fit_sklearn, texts, label, (1, 1))
        print(f"\nMemory to fit: naively {extra_memory(ours):.0f} MB, scikit-learn {extra_memory(theirs):.0f} MB")
    limits(texts, label, n_classes, folder, repeats)
    functions: dict[str, Callable[[], Any]] = {
        "naively": partial(fit, texts, label, n_classes, words),
        "naively, two threads": partial(fit, texts, label, n_classes, words, 2),
        "naively, hash_bits=20": lambda: kernels.count_text(texts, label, None, n_classes, None, Options(hash_bits=20)),
    }
    if peers:
        functions["scikit-learn"] = partial(fit_sklearn, texts, label, (1, 1))
        optional(functions, "polars group-by", lambda: partial(group_by_polars, texts, label), "polars")
        optional(functions, "DuckDB group-by", lambda: partial(group_by_duckdb, texts, label), "duckdb")
        optional(functions, "fastText, one epoch", lambda: fasttext_of(texts, label, folder), "fasttext")
        optional(functions, "Vowpal Wabbit", lambda: vowpal_wabbit_of(texts, label, folder), "vowpalwabbit")
    show("Fit", size, functions, repeats)
    model = fit(texts, label, n_classes, words)
    functions = {
        "naively": partial(predict, texts, model, words),
        "naively, two threads": partial(predict, texts, model, words, 2),
    }
    if peers:
        vectorizer, classifier = fit_sklearn(texts, label, (1, 1))
        functions["scikit-learn"] = lambda: classifier.predict(vectorizer.transform(texts))
    show("Predict", size, functions, repeats)
    functions = {"naively": partial(fit, texts, label, n_classes, pairs)}
    if peers:
        functions["scikit-learn"] = partial(fit_sklearn, texts, label, (1, 2))
    show("Fit, words and pairs of words", size, functions, repeats)


if __name__ == "__main__":
    main()
