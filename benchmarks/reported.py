"""What `fit` reports, compared with new rows: the log-loss of its report minus that of rows that were not counted.

Both are means over rows, so the difference has a standard error in each split: √(variance of the report + variance of
the test rows). Splits are drawn at random, two thirds to one third, without regard to classes: if every split had the
rows of a rare class in its training part, the report would have to predict them and the test would not. For the mean
over splits, which overlap, the standard error is √((1/J + 1/2) s²) with the variance s² over J splits (Nadeau & Bengio,
Inference for the generalization error, Machine Learning 2003). Test rows of a class that the model does not know are
not scored.

    python -m benchmarks reported [--data FOLDER] [--sets adult,iris] [--splits 10]
"""

from __future__ import annotations

import warnings

import numpy as np

import naively
from benchmarks.quality import Task, parse_options, tasks
from benchmarks.results import record


def compare(task: Task) -> tuple[float, float, float]:
    """Return the reported log-loss, that of the test rows, and the standard error of their difference."""
    x, test = (task.x.tolist(), task.test_x.tolist()) if task.text else (task.x, task.test_x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = naively.fit(x, task.y)
        log_posterior = model.log_posterior(test)
    assert model.tuning is not None
    report = model.tuning.report
    position = {label: c for c, label in enumerate(model.classes)}
    known = [(row, position[label]) for row, label in enumerate(task.test_y.tolist()) if label in position]
    losses = -log_posterior[tuple(np.transpose(known))]
    error = np.hypot(report["log_loss_error"], losses.std(ddof=1) / np.sqrt(len(losses)))
    return report["log_loss"], float(losses.mean()), float(error)


def main(arguments: list[str]) -> None:
    """Print and record the table."""
    options = parse_options("reported", arguments)
    heads = ("set", "reported", "new rows", "difference", "se of one split", "se of the mean", "splits beyond 2 se")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for name in filter(None, options.sets.split(",")):
        rows = np.array([compare(task) for task in tasks(name, options.data, options.splits, at_random=True)])
        difference = rows[:, 0] - rows[:, 1]
        error = np.sqrt((1 / len(rows) + 1 / 2) * difference.var(ddof=1))
        beyond = int((np.abs(difference) > 2 * rows[:, 2]).sum())
        reported, held_out, of_split = rows.mean(axis=0)
        figures = f"{reported:.4f} | {held_out:.4f} | {difference.mean():+.4f} | {of_split:.4f} | {error:.4f}"
        print(f"| {name} | {figures} | {beyond} of {len(rows)} |", flush=True)
        record(name, splits=rows.tolist(), difference=difference.mean(), error_of_split=of_split, error_of_mean=error)
