"""Parts added by key compared with one sum; our fit on Spark compared with pyspark.ml on the same frame, alternating.

    python -m benchmarks engines [--rows N] [--repeats N] [--parts N]

Spark needs Java and pyspark. CPU time is that of this process, of the JVM and of all Python workers, because machines
that measure are seldom idle; wall time is kept too. Each figure is a ratio of two times, the median of all rounds and
the quartiles. The peers do not tune, so "ours" does not either; a tuned fit is measured next to it.

The frames are read from Parquet files and cached. A frame of a local table would have all its rows in its plan, and
Spark compares plans at each step.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import naively
from benchmarks.measure import ratios
from benchmarks.results import record
from naively._kernels.threads import use_threads
from naively.engines.by_key import n_keys, split_by_key

T = TypeVar("T")

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of all its descendants, ended ones if they were waited for."""
    parents, times = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
            times[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS
    total, family = 0.0, {os.getpid()}
    for pid in sorted(parents):
        ancestors, current = set(), pid
        while current and current not in ancestors and current not in family:
            ancestors.add(current)
            current = parents.get(current, 0)
        if current in family:
            family |= ancestors
    for pid in family:
        total += times.get(pid, 0.0)
    return total


def mixed_table(n_rows: int) -> pa.Table:
    """Draw numbers and strings of two classes."""
    random = np.random.default_rng(0)
    label = random.random(n_rows) < 0.4
    columns: dict[str, Any] = {f"x{j}": random.normal(size=n_rows) + 0.3 * j * label for j in range(4)}
    columns |= {f"s{j}": np.array([f"v{k}" for k in range(20)])[random.integers(0, 20 - 3 * label)] for j in range(4)}
    return pa.table({**columns, "label": label.astype(float).tolist()})


def text_table(n_rows: int) -> pa.Table:
    """Draw texts of 20 words of two classes, with a Zipf distribution."""
    random = np.random.default_rng(0)
    label = random.random(n_rows) < 0.4
    numbers = np.minimum(random.zipf(1.3, (n_rows, 20)), 100_000) + 7 * label[:, None]
    texts = [" ".join(f"word{k}" for k in row) for row in numbers.tolist()]
    return pa.table({"text": texts, "label": label.astype(float).tolist()})


@contextmanager
def cached_frame(session: Any, table: pa.Table, n_files: int = 4) -> Iterator[Any]:
    """Write a table to Parquet files, and keep the frame of them in memory."""
    with tempfile.TemporaryDirectory() as folder:
        n_rows = -(-table.num_rows // n_files)
        for i in range(n_files):
            pq.write_table(table.slice(i * n_rows, n_rows), f"{folder}/{i}.parquet")
        frame = session.read.parquet(folder).cache()
        frame.count()
        yield frame
        frame.unpersist()


def import_naively(batches: Any) -> Any:
    """Start a worker that can count: Spark ends idle ones after a minute, which a peer may take."""
    import naively.engines.parts

    for batch in batches:
        naively.engines.parts.count(iter(()), naively.infer_schema({"x": [1, 2]}, [0, 1]), "y")
        yield pa.RecordBatch.from_pydict({"n": pa.array([batch.num_rows], pa.int64())})


def mixed_works(frame: Any) -> dict[str, Callable[[], object]]:
    """Return ours, the bare transport of the same rows, and the pipeline of pyspark.ml."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, QuantileDiscretizer, StringIndexer, VectorAssembler

    strings, numbers = [f"s{j}" for j in range(4)], [f"x{j}" for j in range(4)]
    codes = [f"{name}_code" for name in (*strings, *numbers)]
    hot = [f"{name}_hot" for name in codes]
    stages = [
        StringIndexer(inputCols=strings, outputCols=codes[:4], handleInvalid="keep"),
        QuantileDiscretizer(inputCols=numbers, outputCols=codes[4:], numBuckets=20),
        OneHotEncoder(inputCols=codes, outputCols=hot),
        VectorAssembler(inputCols=hot, outputCol="features"),
        NaiveBayes(featuresCol="features", labelCol="label"),
    ]

    def nothing(batches: Any) -> Any:
        yield pa.RecordBatch.from_pydict({"n": pa.array([sum(batch.num_rows for batch in batches)], pa.int64())})

    return {
        "ours": lambda: naively.fit(frame, "label", tune=False),
        "mapInArrow alone": lambda: frame.mapInArrow(nothing, "n long").collect(),
        "pyspark.ml": lambda: Pipeline(stages=stages).fit(frame),
        "ours, tuned": lambda: naively.fit(frame, "label"),
    }


def number_works(frame: Any) -> dict[str, Callable[[], object]]:
    """Return ours and the Gaussian model of pyspark.ml, on four columns of numbers."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    names = [f"x{j}" for j in range(4)]
    stages = [VectorAssembler(inputCols=names, outputCol="features"), NaiveBayes(modelType="gaussian")]
    rows = frame.select(*names, "label")
    return {
        "ours": lambda: naively.fit(rows, "label", columns=naively.Gaussian(), tune=False),
        "pyspark.ml": lambda: Pipeline(stages=stages).fit(rows),
    }


def text_works(frame: Any) -> dict[str, Callable[[], object]]:
    """Return ours and two pipelines of pyspark.ml for texts."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import CountVectorizer, HashingTF, Tokenizer

    words = Tokenizer(inputCol="text", outputCol="words")
    counted = [words, CountVectorizer(inputCol="words", outputCol="features"), NaiveBayes()]
    hashed = [words, HashingTF(inputCol="words", outputCol="features"), NaiveBayes()]
    return {
        "ours": lambda: naively.fit(frame, "label", tune=False),
        "CountVectorizer": lambda: Pipeline(stages=counted).fit(frame),
        "HashingTF": lambda: Pipeline(stages=hashed).fit(frame),
        "ours, tuned": lambda: naively.fit(frame, "label"),
    }


def measure(title: str, works: Mapping[str, Callable[[], object]], frame: Any, repeats: int) -> None:
    """Run all works in turn, and print the ratios of their times to ours, without the start of Python workers."""
    for work in [*works.values()] * 2:
        work()  # warms the JVM
    cpu, wall = ({name: list[float]() for name in works} for _ in range(2))
    for _ in range(repeats):
        for name, work in works.items():
            frame.limit(4).repartition(4).mapInArrow(import_naively, "n long").collect()
            start, start_cpu = time.perf_counter(), cpu_seconds()
            work()
            wall[name].append(time.perf_counter() - start)
            cpu[name].append(cpu_seconds() - start_cpu)
    report(f"{title}, CPU time", cpu, "ours")
    report(f"{title}, wall time", wall, "ours")


def report(title: str, seconds: Mapping[str, list[float]], base: str) -> None:
    """Print and keep how many times the time of `base` the others take."""
    compared = ratios(seconds, base)
    line = "   ".join(f"{name} {ratio}" for name, ratio in compared.items())
    print(f"{title}: {base} {median(seconds[base]):.2f} s   {line}", flush=True)
    record(title, seconds, ratios={name: ratio.quartiles for name, ratio in compared.items()})


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU time of this process, and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def total_of(parts: Iterable[bytes]) -> naively.Part:
    """Return the sum of parts that were sent."""
    return naively.total(map(naively.Part.from_bytes, parts))


def add_shard(pieces: Iterable[bytes]) -> bytes:
    """Return the sum of the pieces of a shard, as it is sent."""
    return total_of(pieces).to_bytes()


def text_parts(n_parts: int) -> list[naively.Part]:
    """Count texts in parts of about 230,000 words each, most of which few parts have."""
    schema, parts = None, []
    for number in range(n_parts):
        random = np.random.default_rng(number)
        words = np.minimum(random.zipf(1.15, (34_500, 20)), 4_000_000)
        words = np.where(random.random(words.shape) < 0.25, random.integers(0, 2_000_000, words.shape), words)
        texts, labels = [" ".join(f"w{k:x}" for k in row) for row in words.tolist()], random.integers(0, 2, 34_500)
        schema = schema or naively.infer_schema(texts, labels)
        parts.append(naively.count(texts, schema, labels, tune=False, n_jobs=1))
    return parts


def measure_by_key(n_parts: int, repeats: int, n_shards: int = 8) -> None:
    """Compare the sum of parts on the driver with that in shards, one thread each, from bytes to the sum.

    A part is divided by its executor instead of being encoded as one, so that only the difference counts.
    """
    parts = text_parts(n_parts)
    names = ("driver", "shards in all", "each shard", "divide", "driver, shards")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    with use_threads(1):
        for _ in range(repeats):
            encode, data = timed(lambda: [part.to_bytes() for part in parts])
            driver, _ = timed(partial(total_of, data))
            divide, pieces = timed(lambda: [[s.to_bytes() for s in split_by_key(part, n_shards)] for part in parts])
            sums = [timed(partial(add_shard, shard)) for shard in zip(*pieces, strict=True)]
            last, _ = timed(partial(total_of, [data for _, data in sums]))
            each = [cpu for cpu, _ in sums]
            in_all = divide - encode + sum(each) + last
            for name, cpu in zip(names, (driver, in_all, max(each), divide, last), strict=True):
                seconds[name].append(cpu)
    n_words = int(median(map(n_keys, parts)))
    report(f"{n_parts} parts of {n_words:,} words, {n_shards} shards", seconds, "driver")


def measure_spark(n_rows: int, repeats: int) -> None:
    """Measure mixed columns, numbers and texts."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g"}
    builder = SparkSession.builder.master("local[2]").config(map=settings)
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    print(f"pyspark {session.version}")
    with cached_frame(session, mixed_table(n_rows)) as frame:
        measure(f"Spark, {n_rows:,} rows of mixed columns", mixed_works(frame), frame, repeats)
        measure(f"Spark, {n_rows:,} rows of 4 numbers", number_works(frame), frame, repeats)
    n_texts = n_rows * 3 // 20
    with cached_frame(session, text_table(n_texts)) as frame:
        measure(f"Spark, {n_texts:,} texts of 20 words", text_works(frame), frame, repeats)
    session.stop()


def main(arguments: list[str]) -> None:
    """Measure parts, and Spark if it is installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--parts", type=int, default=24)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.parts:
        measure_by_key(options.parts, options.repeats)
    if shutil.which("java") is None or find_spec("pyspark") is None:
        print("Spark is skipped: it needs Java and pyspark, which make engines installs")
    elif options.rows:
        measure_spark(options.rows, options.repeats)
