"""This version compared with another one that is installed elsewhere: what became slower, what faster?

    git worktree add ../before COMMIT && python -m venv ../before/.venv
    ../before/.venv/bin/pip install ../before pandas polars
    python -m benchmarks versions --old ../before/.venv/bin/python --data FOLDER --repeats 7

Each version runs in a process of its own (version_worker.py), which prepares a piece of work, repeats it on request
and returns the CPU seconds. The versions take turns. A ratio says how many times as long this version takes: the median
over the rounds, the quartiles in brackets. Work that the other version cannot do is left out with a note.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.results import record
from benchmarks.tables import write
from benchmarks.text_corpus import Corpus

WORKER = Path(__file__).with_name("version_worker.py")


class Worker:
    """A process with one version."""

    def __init__(self, version: str, python: Path, folder: Path, data: Path | None) -> None:
        """Start the process in a folder of its own files."""
        command = [str(python), str(WORKER), version, str(folder), str(data or "")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)

    def ask(self, request: str) -> object:
        """Return what the worker answers to one line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self.process.communicate()


def main(arguments: Sequence[str] = ()) -> None:
    """Print and record a line for each piece of work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="the Python of the other version; without it, nothing is measured")
    parser.add_argument("--data", type=Path, help="folder with tables/adult.csv and text/20news_bydate.parquet")
    parser.add_argument("--work", nargs="*", help="only work whose name contains one of these")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rows", type=int, default=300_000, help="of the files of tables")
    options = parser.parse_args(arguments)
    if options.old is None:
        print("Name the Python of another version: --old PYTHON.")
        return
    with tempfile.TemporaryDirectory(prefix="naively-") as name:
        folder = Path(name)
        write(folder, options.rows)
        Corpus.gather(20, 1000, folder).save()
        data = None if options.data is None else options.data.resolve()
        pythons = {"new": Path(sys.executable), "old": options.old.absolute()}
        workers = {version: Worker(version, python, folder, data) for version, python in pythons.items()}
        names = workers["new"].ask("list")
        assert isinstance(names, list)
        for work in names:
            if not options.work or any(part in work for part in options.work):
                _compare(work, workers, options.repeats)
        for worker in workers.values():
            worker.end()


def _compare(work: str, workers: dict[str, Worker], repeats: int) -> None:
    """Print and record one piece of work."""
    problems = {version: worker.ask(f"prepare {work}") for version, worker in workers.items()}
    if any(problems.values()):
        print(f"{work:<52} left out: {problems}", flush=True)
        return
    seconds: dict[str, list[float]] = {version: [] for version in workers}
    for turn in range(repeats):
        order = list(workers) if turn % 2 else list(workers)[::-1]
        for version in order:
            taken = workers[version].ask("run")
            assert isinstance(taken, float)
            seconds[version].append(taken)
    low, median, high = np.quantile(np.divide(seconds["new"], seconds["old"]), [0.25, 0.5, 0.75])
    old, new = (1e3 * float(np.median(seconds[version])) for version in ("old", "new"))
    print(f"{work:<52} {old:9.2f} → {new:9.2f} ms   {median:.2f} ({low:.2f}–{high:.2f})", flush=True)
    record(work, seconds, clock="CPU", ratios={"new": (median, low, high)})
