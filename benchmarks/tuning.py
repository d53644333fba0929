"""Tuning compared with counting alone, and leave-one-out compared with predicting.

    python -m benchmarks tuning [--data FOLDER] [--rounds 15]

Both on the training rows of adult and of 20 Newsgroups, with one thread, then on ten times as many rows: the same rows
with small changes. The data is not in the repository: give its folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import naively
from benchmarks.measure import report
from benchmarks.quality import tasks


def main(arguments: list[str]) -> None:
    """Print and record the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tuning")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"The folder {options.data} does not exist. Give the folder of the data with --data.")
        return
    for name in ("adult", "20news_bydate"):
        task = next(iter(tasks(name, options.data, 1)))
        x: Any = task.x.tolist() if task.text else task.x
        fits(name, x, task.y, options.rounds)
        fits(f"{name}, ten times as many rows", *ten_times(task), max(5, options.rounds // 2))
        if task.text:
            model = naively.fit(x, task.y, tune=False, n_jobs=1)
            leave_one_out(name, model, x, task.y, options.rounds)


def fits(name: str, x: Any, y: Any, rounds: int) -> None:
    """Compare counting alone with counting and tuning."""
    alone, tuned = (lambda tune=tune: naively.fit(x, y, tune=tune, n_jobs=1) for tune in (False, True))
    report(name, {"counting": alone, "with tuning": tuned}, rounds)


def leave_one_out(name: str, model: naively.Model, x: Any, y: Any, rounds: int) -> None:
    """Compare predicting the training rows with scoring each of them by leave-one-out."""
    work = {"predict": lambda: model.predict(x), "leave_one_out": lambda: model.leave_one_out(x, y)}
    report(f"{name}, its own rows", work, rounds)


def ten_times(task: Any) -> tuple[Any, Any]:
    """Repeat the rows ten times: texts with another last word, numbers with noise."""
    if task.text:
        return [f"{text} {k}" for k in range(10) for text in task.x], np.tile(task.y, 10)
    random = np.random.default_rng(0)
    x = task.x.iloc[np.tile(np.arange(len(task.y)), 10)].reset_index(drop=True)
    for column in x.select_dtypes("number").columns:
        x[column] = x[column] + random.integers(0, 3, len(x))
    return x, np.tile(task.y, 10)
