"""Spark in sessions of their own: an executor that is killed, and Spark Connect."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engines.conftest import ROOT, why_not_spark, worker_environment

SCRIPT = Path(__file__).with_name("spark_script.py")


def run(mode: str, tmp_path: Path) -> str:
    reason = why_not_spark()
    if reason is not None:
        pytest.skip(reason)
    environment = {**os.environ, **worker_environment(), "SPARK_LOCAL_DIRS": str(tmp_path)}
    command = [sys.executable, str(SCRIPT), mode, str(tmp_path / "flag")]
    output = tmp_path / "output"
    with output.open("w") as file:  # not a pipe, which a server that outlives the script would hold open
        subprocess.run(command, cwd=ROOT, env=environment, stdout=file, stderr=file, timeout=300, check=False)
    return output.read_text()[-3000:]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the executor is found through /proc")
def test_an_executor_killed_in_its_first_task(tmp_path: Path) -> None:
    assert "the same statistics and tuning" in run("cluster", tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="Spark Connect needs grpcio")
def test_spark_connect(tmp_path: Path) -> None:
    assert "the same statistics and tuning" in run("connect", tmp_path)
