"""Spark: our fit compared with pyspark.ml on the same frame, alternating, as CPU time of the driver, JVM and workers.

    python -m benchmarks.engines [ROWS] [RUNS]

Needs Java and pyspark. CPU time is that of this process, of the JVM and of all Python workers, because machines that
measure are seldom idle. Each figure is a ratio of the peer's CPU time to ours, the median of all runs and their range.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import naively

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of all its descendants, also those that have ended."""
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


def mixed_frame(session: Any, n_rows: int) -> Any:
    """Make numbers, counts and strings of two classes, in memory."""
    random = np.random.default_rng(0)
    label = random.random(n_rows) < 0.4
    columns: dict[str, Any] = {f"x{j}": random.normal(size=n_rows) + 0.3 * j * label for j in range(4)}
    columns |= {f"s{j}": np.array([f"v{k}" for k in range(20)])[random.integers(0, 20 - 3 * label)] for j in range(4)}
    frame = session.createDataFrame(pa.table({**columns, "label": label.astype(float).tolist()})).repartition(4).cache()
    frame.count()
    return frame


def text_frame(session: Any, n_rows: int) -> Any:
    """Make texts of 20 words of two classes, with a Zipf distribution."""
    random = np.random.default_rng(0)
    label = random.random(n_rows) < 0.4
    numbers = np.minimum(random.zipf(1.3, (n_rows, 20)), 100_000) + 7 * label[:, None]
    texts = [" ".join(f"word{k}" for k in row) for row in numbers.tolist()]
    frame = session.createDataFrame(pa.table({"text": texts, "label": label.astype(float).tolist()}))
    frame = frame.repartition(4).cache()
    frame.count()
    return frame


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
    }


def measure(title: str, works: dict[str, Callable[[], object]], n_runs: int) -> None:
    """Run all works in turn, and print the ratios of CPU time to ours."""
    for work in works.values():
        work()  # warms the JVM and the workers
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(n_runs):
        for name, work in works.items():
            start = cpu_seconds()
            work()
            seconds[name].append(cpu_seconds() - start)
    print(f"{title}: ours {median(seconds['ours']):.2f} s of CPU")
    for name in works:
        if name != "ours":
            ratios = [peer / ours for peer, ours in zip(seconds[name], seconds["ours"], strict=True)]
            print(f"  {name}: {median(ratios):.2f} times ours ({min(ratios):.2f} – {max(ratios):.2f})")


def main(n_rows: int = 2_000_000, n_runs: int = 5) -> None:
    """Measure mixed columns, numbers and texts."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g"}
    builder = SparkSession.builder.master("local[2]").config(map=settings)
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    print(f"pyspark {session.version}, {n_rows:,} rows, {n_runs} runs")
    frame = mixed_frame(session, n_rows)
    measure("mixed columns", mixed_works(frame), n_runs)
    measure("4 numbers", number_works(frame), n_runs)
    frame.unpersist()
    measure("texts", text_works(text_frame(session, n_rows * 3 // 20)), n_runs)
    session.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:]))
