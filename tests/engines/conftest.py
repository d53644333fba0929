"""One Spark session for all tests of a process, with a low limit on results; skipped without Java and pyspark."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = "1m"  # of the bytes that one query may return to the driver


def why_not_spark() -> str | None:
    """Return why Spark cannot run here, None if it can."""
    if shutil.which("java") is None:
        return "Spark needs Java, which is not installed (make engines installs it)"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed (make engines installs it)"
    return None


def worker_environment() -> dict[str, str]:
    """Return the environment in which Spark's workers import naively and these tests."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # A worker reads no warnings: that of pyspark about pandas 3 would be an error under pytest's filters.
    return {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": path}


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start Spark with two threads and three attempts of each task."""
    reason = why_not_spark()
    if reason is not None:
        pytest.skip(reason)
    os.environ.update(worker_environment())
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.driver.maxResultSize": LIMIT,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2,3]").appName("naively")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
