"""Fit in a Spark session of its own, and compare with the local engine: `python spark_script.py cluster|connect FLAG`.

cluster: two executors are processes, and one is killed with −9 during its first task. connect: through Spark Connect.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.support.engines import assert_same_counts, mixed_table, text_table

import naively

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def parent_of(pid: int) -> int:
    """Return the process that started another one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def killer(flag: Path) -> Any:
    """Return a function that kills the executor of the first task: the process that started the Python daemon."""

    def kill_once(batches: Any) -> Any:
        for batch in batches:
            if not flag.exists():
                flag.touch()
                os.kill(parent_of(os.getppid()), signal.SIGKILL)
            yield batch

    return kill_once


def main(mode: str, flag: Path) -> None:
    """Run one mode; an AssertionError or no output is a failure."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    builder = builder.master("local-cluster[2,1,1200]") if mode == "cluster" else builder.remote("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    if mode == "cluster":
        session.sparkContext.setLogLevel("OFF")
    for table in (mixed_table(600), text_table(300)) if mode == "connect" else (mixed_table(600),):
        df = session.createDataFrame(table).repartition(4)
        schema = naively.infer_schema(table, "y")
        rows = df.mapInArrow(killer(flag), df.schema) if mode == "cluster" else df
        model = naively.fit(rows, "y", schema=schema)
        expected = naively.fit(table, "y", schema=schema)
        assert_same_counts(model, expected)
        assert model.tuning == expected.tuning
        if mode == "connect":
            predicted = naively.spark.predict(model, df).toArrow()
            columns = predicted.select(list(model.schema.names))
            assert predicted["prediction"].to_pylist() == model.predict(columns).tolist()
            assert naively.fit(df, "y", tune=False).class_counts.tolist() == model.class_counts.tolist()
    assert mode == "connect" or flag.exists()
    print("the same statistics and tuning")
    session.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], Path(sys.argv[2]))
