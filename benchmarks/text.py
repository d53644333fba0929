"""Raw text to a fitted model and to predictions, compared with the peers and with the limits of the machine.

POLARS_MAX_THREADS=1 python -m benchmarks text --parts fit predict --megabytes 20 --classes 2 20 --repeats 5

Parts: limits, fit, peers, predict, pairs, threads, memory, many_words. The corpus is text that any machine has, in
documents of about 4 kB, labelled by the folder they come from; see text_corpus.py. Ours is
`naively.fit(texts, label, tune=False)` with its parameters, and `predict`. Peers take turns with ours, on one thread
each. Ratios say how many times as long as ours each peer takes: the median over the rounds, and the quartiles.
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
from benchmarks.results import record
from benchmarks.text_corpus import Corpus
from benchmarks.text_peers import Run, fit_sklearn, installed_peers
from benchmarks.text_processes import Workers
from naively._kernels import text as kernels
from naively._kernels.text import Options, Vocabulary

PARTS = ("limits", "fit", "peers", "predict", "pairs", "threads", "memory", "many_words")
MAX_WARM_UP_BYTES = 50_000_000  # of larger corpora, peers do no round that does not count


def fit(texts: Any, label: Any, n_jobs: int = 1, longest: int = 1) -> naively.Model:
    """Fit ours: the counts, and the parameters computed from them."""
    words = naively.Text(ngrams=(1, longest))
    model = naively.fit(texts, label, columns=words, tune=False, n_jobs=n_jobs)
    _ = model.parameters
    return model


def clock() -> tuple[float, float]:
    """Return the time, and the processor time of this process and its children, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), time.process_time() + children.ru_utime + children.ru_stime


def cpu_seconds_of_all() -> float:
    """Return the processor time of all processes of the machine; Linux only, else 0."""
    try:
        fields = Path("/proc/stat").read_text().split(maxsplit=4)
    except OSError:
        return 0.0
    return sum(map(int, fields[1:4])) / os.sysconf("SC_CLK_TCK")


def show(
    title: str, corpus: Corpus, functions: dict[str, Run], repeats: int, elsewhere: Callable[[], float] = lambda: 0.0
) -> None:
    """Print and record, for each function, MB/s, seconds, and how many times as long as the first it takes.

    Every round starts with another function, because each leaves the caches in another state. `elsewhere` is the
    processor time that our own work took in other processes. The last line says how many processors were busy with
    other work: if all were, two threads cannot gain anything.
    """
    names = list(functions)
    start_of_all, start_of_own = cpu_seconds_of_all(), clock()
    wall: dict[str, list[float]] = {name: [] for name in functions}
    cpu: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeats + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if turn == 0 and corpus.size > MAX_WARM_UP_BYTES and not name.startswith("naively"):
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
        print(f"  {name:32} {corpus.size / 1e6 / seconds:8.0f} {seconds:9.4f} {spent:9.4f}   {compared}", flush=True)
    record(
        f"{title}, {corpus.size / 1e6:.0f} MB, {corpus.n_classes} classes",
        wall,
        cpu_seconds=cpu,
        ratios={name: ratio.quartiles for name, ratio in by_wall.items()},
        cpu_ratios={name: ratio.quartiles for name, ratio in by_cpu.items()},
    )
    own = clock()
    spent = own[1] - start_of_own[1] + elsewhere()
    others = (cpu_seconds_of_all() - start_of_all - spent) / (own[0] - start_of_own[0])
    print(f"  (other processes kept {max(others, 0.0):.1f} processors busy)", flush=True)


def mapped(corpus: Corpus) -> Any:
    """Map the file as an Arrow column, without a copy."""
    with pa.memory_map(str(corpus.path)) as file:
        offsets = pa.py_buffer(corpus.offsets.data)
        return pa.LargeStringArray.from_buffers(len(corpus.label), offsets, file.read_buffer())


def search(path: Path) -> int:
    """Look for a byte that UTF-8 does not have, in the mapped file: memchr."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"\xff")


def limits(corpus: Corpus, repeats: int) -> None:
    """Compare training with reading the file, searching a byte in it, and wc -w; and show where the time goes."""
    functions: dict[str, Run] = {
        "naively, from the mapped file": lambda: fit(mapped(corpus), corpus.label),
        "read the file": corpus.path.read_bytes,
        "memchr over it": partial(search, corpus.path),
    }
    if shutil.which("wc"):
        command, environment = ["wc", "-w", str(corpus.path)], {**os.environ, "LC_ALL": "C.UTF-8"}
        functions["wc -w"] = partial(subprocess.run, command, env=environment, capture_output=True, check=True)
    show("Limits of the machine", corpus, functions, repeats)
    prepared, options = kernels.prepare(corpus.texts), Options()
    count = partial(kernels.count_text, prepared, corpus.label, None, corpus.n_classes)
    functions = {
        "naively, all of a fit": lambda: fit(corpus.texts, corpus.label),
        "cutting and hashing words": lambda: kernels.token_rows(prepared, Vocabulary(), options),
        "plus counting their hashes": lambda: count(None, Options(hash_bits=18)),
        "plus the vocabulary and counting": lambda: count(Vocabulary(), options),
        "all except the parameters": lambda: naively.fit(corpus.texts, corpus.label, tune=False, n_jobs=1),
    }
    show("Where the time goes", corpus, functions, repeats)


def fits(corpus: Corpus, repeats: int) -> None:
    """Compare fits with scikit-learn."""
    ours = partial(fit, corpus.texts, corpus.label)
    show("Fit", corpus, {"naively": ours, "scikit-learn": partial(fit_sklearn, corpus)}, repeats)


def peers(corpus: Corpus, repeats: int) -> None:
    """Compare fits with the other peers."""
    functions: dict[str, Run] = {"naively": partial(fit, corpus.texts, corpus.label)}
    show("Fit, other peers", corpus, functions | installed_peers(corpus), repeats)


def predict(corpus: Corpus, repeats: int) -> None:
    """Compare predictions from raw text."""
    model = fit(corpus.texts, corpus.label)
    vectorizer, classifier = fit_sklearn(corpus)
    functions: dict[str, Run] = {
        "naively": lambda: model.predict(corpus.texts),
        "scikit-learn": lambda: classifier.predict(vectorizer.transform(corpus.texts)),
    }
    show("Predict", corpus, functions, repeats)


def pairs(corpus: Corpus, repeats: int) -> None:
    """Compare fits on words and pairs of words."""
    functions: dict[str, Run] = {
        "naively": partial(fit, corpus.texts, corpus.label, longest=2),
        "scikit-learn": partial(fit_sklearn, corpus, longest=2),
    }
    show("Fit, words and pairs of words", corpus, functions, repeats)


def threads(corpus: Corpus, repeats: int) -> None:
    """Compare one thread with two, and with two independent processes, which show the most that two cores can gain."""
    half = len(corpus.texts) // 2
    halves = [(corpus.texts[:half], corpus.label[:half]), (corpus.texts[half:], corpus.label[half:])]
    processes = Workers([partial(fit, *part) for part in halves])
    one, two = fit(corpus.texts, corpus.label), fit(corpus.texts, corpus.label, 2)
    functions: dict[str, Run] = {
        "naively, two threads": partial(fit, corpus.texts, corpus.label, 2),
        "one thread": partial(fit, corpus.texts, corpus.label),
        "two processes, half each": processes.run,
        "one of these processes": lambda: processes.run(1),
    }
    show("Fit on two threads", corpus, functions, repeats, lambda: processes.cpu_seconds)
    processes.end()
    functions = {
        "naively, two threads": lambda: two.predict(corpus.texts),
        "one thread": lambda: one.predict(corpus.texts),
    }
    show("Predict on two threads", corpus, functions, repeats)


def memory(corpus: Corpus, repeats: int) -> None:
    """Measure the peak memory of a fit, each in a separate process."""
    path = str(corpus.save())
    print("\nPeak memory without the texts: after the fit; after the parameters and a prediction")
    for name, who, n_jobs in [
        ("naively", "naively", 1),
        ("naively, two threads", "naively", 2),
        ("scikit-learn",) * 2 + (1,),
    ]:
        report_memory(name, who, path, corpus.n_classes, n_jobs)


def many_words(corpus: Corpus, repeats: int) -> None:
    """Measure the peak memory of 1,000,000 words in 1,000 classes, 5,000,000 nonzeros."""
    print("\n1,000 classes x 1,000,000 words, 5,000,000 nonzeros: peak memory without the texts")
    for n_jobs in (1, 2):
        report_memory(f"naively, {n_jobs} thread(s)", "naively", "many-words", 1000, n_jobs)


def report_memory(name: str, who: str, path: str, n_classes: int, n_jobs: int) -> None:
    """Print and record the memory of one fit."""
    command = [sys.executable, "-m", "benchmarks.text_memory", who, path, str(n_classes), str(n_jobs)]
    fitted, used = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    print(f"  {name:32} {fitted:>6} MB {used:>6} MB", flush=True)
    work = f"peak memory of {name}, {Path(path).stem}, {n_classes} classes"
    record(work, megabytes={"fit": float(fitted), "with a prediction": float(used)})


def main(arguments: list[str]) -> None:
    """Print and record a table per part and number of classes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[p for p in PARTS if p != "many_words"])
    parser.add_argument("--megabytes", type=int, default=20)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 20])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
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
        for n_classes in options.classes:
            corpus = Corpus.gather(options.megabytes, n_classes, Path(folder))
            print(f"\n=== {len(corpus.texts):,} documents, {corpus.size / 1e6:.1f} MB, {n_classes} classes", flush=True)
            for part in options.parts:
                work[part](corpus, options.repeats)
