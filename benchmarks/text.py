"""Raw text to a fitted model, and to predictions, beside the peers and beside the limits of the machine.

POLARS_MAX_THREADS=1 python -m benchmarks.text --parts fit predict --megabytes 20 --classes 2 20 --repeats 5

Parts: limits, fit, peers, predict, pairs, threads, memory, many_words. The corpus is text that any machine has, in
documents of about 4 kB, labelled by the folder they come from; see text_corpus.py. Ours is the public face,
`naively.fit(texts, label, tune=False)` with its parameters, and `predict`. Peers take turns with ours, on one thread
each. Ratios are how many times as long as ours: the median over the rounds, and the middle half of them.
"""

from __future__ import annotations

import argparse
import gc
import mmap
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

import naively
from benchmarks.measure import ratios
from benchmarks.text_corpus import Corpus
from benchmarks.text_peers import Run, fit_sklearn, those_installed
from benchmarks.text_processes import Standing
from naively._kernels import text as kernels
from naively._kernels.text import Options, Vocabulary

PARTS = ("limits", "fit", "peers", "predict", "pairs", "threads", "memory", "many_words")
LARGE = 50_000_000  # bytes from which peers are not run once beforehand, for time's sake


def fit(texts: Any, label: Any, n_jobs: int = 1, longest: int = 1) -> naively.Model:
    """Ours: the counts, and the parameters computed from them."""
    words = naively.Text(ngrams=(1, longest))
    model = naively.fit(texts, label, columns=words, tune=False, n_jobs=n_jobs)
    _ = model.parameters
    return model


def clock() -> tuple[float, float]:
    """Seconds on the wall, and of processors in this process and its children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), time.process_time() + children.ru_utime + children.ru_stime


def spent_by_all() -> float:
    """Seconds of all processors spent by any process; Linux only, else 0."""
    try:
        fields = Path("/proc/stat").read_text().split(maxsplit=4)
    except OSError:
        return 0.0
    return sum(map(int, fields[1:4])) / os.sysconf("SC_CLK_TCK")


def show(
    title: str, size: int, functions: dict[str, Run], repeats: int, elsewhere: Callable[[], float] = lambda: 0.0
) -> None:
    """Take turns; a line for each with MB/s, seconds, and how many times as long as the first it takes.

    Every turn starts with another one, as what runs before can leave the caches colder. `elsewhere` is processor time
    that was spent for us in other processes. Last, how many processors others kept busy meanwhile: with as many as
    there are, two threads can gain nothing.
    """
    names = list(functions)
    start_of_all, start_of_own = spent_by_all(), clock()
    wall: dict[str, list[float]] = {name: [] for name in functions}
    cpu: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeats + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if turn == 0 and size > LARGE and not name.startswith("naively"):
                continue
            gc.collect()
            start, start_elsewhere = clock(), elsewhere()
            functions[name]()
            end = clock()
            if turn:
                wall[name].append(end[0] - start[0])
                cpu[name].append(max(end[1] - start[1] + elsewhere() - start_elsewhere, 1e-6))
    by_wall, by_cpu = ratios(wall, next(iter(wall))), ratios(cpu, next(iter(cpu)))
    print(f"\n{title}\n  {'':32} {'MB/s':>8} {'wall s':>9} {'CPU s':>9}   {'wall':20} CPU")
    for name in functions:
        seconds, spent = float(np.median(wall[name])), float(np.median(cpu[name]))
        compared = f"{by_wall.get(name, '')!s:20} {by_cpu.get(name, '')}"
        print(f"  {name:32} {size / 1e6 / seconds:8.0f} {seconds:9.4f} {spent:9.4f}   {compared}", flush=True)
    own = clock()
    spent = own[1] - start_of_own[1] + elsewhere()
    others = (spent_by_all() - start_of_all - spent) / (own[0] - start_of_own[0])
    print(f"  (other processes kept {max(others, 0.0):.1f} processors busy meanwhile)", flush=True)


def mapped(corpus: Corpus) -> Any:
    """The file as an Arrow column, mapped and not copied."""
    with pa.memory_map(str(corpus.path)) as file:
        offsets = pa.py_buffer(corpus.offsets.data)
        return pa.LargeStringArray.from_buffers(len(corpus.label), offsets, file.read_buffer())


def search(path: Path) -> int:
    """Look for a byte that UTF-8 does not have, in the mapped file: memchr."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"\xff")


def limits(corpus: Corpus, repeats: int) -> None:
    """Training on a file beside reading it, looking for a byte in it, and wc -w; and where the time goes."""
    functions: dict[str, Run] = {
        "naively, from the mapped file": lambda: fit(mapped(corpus), corpus.label),
        "read the file": corpus.path.read_bytes,
        "memchr over it": partial(search, corpus.path),
    }
    if shutil.which("wc"):
        command, environment = ["wc", "-w", str(corpus.path)], {**os.environ, "LC_ALL": "C.UTF-8"}
        functions["wc -w"] = partial(subprocess.run, command, env=environment, capture_output=True, check=True)
    show("Limits of the machine", corpus.size, functions, repeats)
    prepared, options = kernels.prepare(corpus.texts), Options()
    count = partial(kernels.count_text, prepared, corpus.label, None, corpus.n_classes)
    functions = {
        "naively, all of a fit": lambda: fit(corpus.texts, corpus.label),
        "cutting and hashing words": lambda: kernels.token_rows(prepared, Vocabulary(), options),
        "... and counting their hashes": lambda: count(None, Options(hash_bits=18)),
        "... and finding and counting them": lambda: count(Vocabulary(), options),
        "all but the parameters": lambda: naively.fit(corpus.texts, corpus.label, tune=False, n_jobs=1),
    }
    show("Where the time goes", corpus.size, functions, repeats)


def fits(corpus: Corpus, repeats: int) -> None:
    """Beside scikit-learn."""
    ours = partial(fit, corpus.texts, corpus.label)
    show("Fit", corpus.size, {"naively": ours, "scikit-learn": partial(fit_sklearn, corpus)}, repeats)


def peers(corpus: Corpus, repeats: int) -> None:
    """Beside the others."""
    functions: dict[str, Run] = {"naively": partial(fit, corpus.texts, corpus.label)}
    show("Fit, beside others", corpus.size, functions | those_installed(corpus), repeats)


def predict(corpus: Corpus, repeats: int) -> None:
    """Raw text to classes by fitted models."""
    model = fit(corpus.texts, corpus.label)
    vectorizer, classifier = fit_sklearn(corpus)
    functions: dict[str, Run] = {
        "naively": lambda: model.predict(corpus.texts),
        "scikit-learn": lambda: classifier.predict(vectorizer.transform(corpus.texts)),
    }
    show("Predict", corpus.size, functions, repeats)


def pairs(corpus: Corpus, repeats: int) -> None:
    """Words and pairs of words."""
    functions: dict[str, Run] = {
        "naively": partial(fit, corpus.texts, corpus.label, longest=2),
        "scikit-learn": partial(fit_sklearn, corpus, longest=2),
    }
    show("Fit, words and pairs of words", corpus.size, functions, repeats)


def threads(corpus: Corpus, repeats: int) -> None:
    """One thread beside two, and beside two processes that know nothing of each other: what the machine could give."""
    half = len(corpus.texts) // 2
    halves = [(corpus.texts[:half], corpus.label[:half]), (corpus.texts[half:], corpus.label[half:])]
    processes = Standing([partial(fit, *part) for part in halves])
    one, two = fit(corpus.texts, corpus.label), fit(corpus.texts, corpus.label, 2)
    functions: dict[str, Run] = {
        "naively, two threads": partial(fit, corpus.texts, corpus.label, 2),
        "one thread": partial(fit, corpus.texts, corpus.label),
        "two processes, half each": processes.run,
        "one of these processes": lambda: processes.run(1),
    }
    show("Fit on two threads", corpus.size, functions, repeats, lambda: processes.spent)
    processes.end()
    functions = {
        "naively, two threads": lambda: two.predict(corpus.texts),
        "one thread": lambda: one.predict(corpus.texts),
    }
    show("Predict on two threads", corpus.size, functions, repeats)


def memory(corpus: Corpus, repeats: int) -> None:
    """Peak memory of a fit, each in a process of its own."""
    path = str(corpus.save())
    print("\nPeak memory beyond the texts: after the fit; with parameters and a prediction")
    for name, who, n_jobs in [
        ("naively", "naively", 1),
        ("naively, two threads", "naively", 2),
        ("scikit-learn",) * 2 + (1,),
    ]:
        report_memory(name, who, path, corpus.n_classes, n_jobs)


def many_words(corpus: Corpus, repeats: int) -> None:
    """1,000,000 words in 1,000 classes, 5,000,000 nonzeros."""
    print("\n1,000 classes x 1,000,000 words, 5,000,000 nonzeros: peak memory beyond the texts")
    for n_jobs in (1, 2):
        report_memory(f"naively, {n_jobs} thread(s)", "naively", "many-words", 1000, n_jobs)


def report_memory(name: str, who: str, path: str, n_classes: int, n_jobs: int) -> None:
    """A line of the table of memory."""
    command = [sys.executable, "-m", "benchmarks.text_memory", who, path, str(n_classes), str(n_jobs)]
    fitted, used = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    print(f"  {name:32} {fitted:>6} MB {used:>6} MB", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print a table per part and number of classes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[p for p in PARTS if p != "many_words"])
    parser.add_argument("--megabytes", type=int, default=20)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 20])
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args(arguments)
    work: dict[str, Callable[[Corpus, int], None]] = {
        "limits": limits,
        "fit": fits,
        "peers": peers,
        "predict": predict,
        "pairs": pairs,
        "threads": threads,
        "memory": memory,
        "many_words": many_words,
    }
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for n_classes in given.classes:
            corpus = Corpus.gather(given.megabytes, n_classes, Path(folder))
            print(f"\n=== {len(corpus.texts):,} documents, {corpus.size / 1e6:.1f} MB, {n_classes} classes", flush=True)
            for part in given.parts:
                work[part](corpus, given.repeats)


if __name__ == "__main__":
    main()
