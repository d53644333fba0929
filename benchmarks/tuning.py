"""Tuning compared with counting alone, and leave-one-out compared with predicting.

    python -m benchmarks tuning [--data FOLDER] [--rounds 15] [--grid-rounds 3]

Both on the training rows of adult and of 20 Newsgroups, with one thread, then on ten times as many rows: the same rows
with small changes. The data is not in the repository: give its folder.

Then the grid: a tuned fit compared with scaler, one-hot and LogisticRegressionCV(Cs=5, cv=5) of scikit-learn, on drawn
tables of many shapes, whose classes overlap or are nearly separable. These are seconds of CPU, in turns, and the
log-loss on new rows. Both have one thread; scikit-learn is also measured with the threads that NumPy takes by default,
which wait for each other.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import naively
from benchmarks.measure import report
from benchmarks.quality import tasks
from benchmarks.results import record

SHAPES = (  # rows, columns, classes
    (1000, 16, 2),
    (10_000, 16, 2),
    (1000, 256, 2),
    (10_000, 256, 2),
    (20_000, 100, 2),
    (100_000, 16, 2),
    (1000, 4, 3),
    (100_000, 32, 5),
    (4000, 64, 10),
    (5000, 100, 10),
    (1000, 256, 20),
    (30_000, 41, 23),
    (10_000, 16, 26),
    (2000, 8, 100),
    (1000, 256, 100),
    (3000, 2, 1000),
)
MIXED_SHAPES = ((1000, 16, 2), (20_000, 20, 5))  # every fourth column holds strings
DISTANCES = {"overlapping": 1.5, "separable": 6.0}  # of the centres of the classes, in standard deviations
N_TEST_ROWS = 2000
MAX_SECONDS = 20.0  # of one round, beyond which a shape has one round only
SECONDS_UNTIL_THREADS_REST = 0.5  # those of the BLAS wait busily after their work, which would count for the next one


def main(arguments: list[str]) -> None:
    """Print and record the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tuning")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--grid-rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    grid(options.grid_rounds)
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


def grid(rounds: int) -> None:
    """Compare a tuned fit with a cross-validated logistic regression on tables of many shapes."""
    shapes = [(shape, False) for shape in SHAPES] + [(shape, True) for shape in MIXED_SHAPES]
    tuned_fit(*drawn_table(100, 4, 3, 1.5, mixed=False))  # imports and caches do not count
    cross_validated(*drawn_table(100, 4, 3, 1.5, mixed=True))
    for (n_rows, n_columns, n_classes), mixed in shapes:
        for kind, distance in DISTANCES.items():
            data = drawn_table(n_rows, n_columns, n_classes, distance, mixed)
            contenders: dict[str, Callable[..., tuple[float, float]]] = {"tuned fit": tuned_fit}
            if n_rows >= 5 * n_classes:  # or scikit-learn refuses
                contenders["cross-validated"] = cross_validated
                contenders["cross-validated on all cores"] = cross_validated_on_all_cores
            seconds: dict[str, list[float]] = {name: [] for name in contenders}
            log_loss: dict[str, float] = {}
            for turn in range(rounds):
                if turn and sum(times[0] for times in seconds.values()) > MAX_SECONDS:
                    break
                for name, contender in contenders.items():
                    taken, log_loss[name] = contender(*data)
                    seconds[name].append(taken)
            work = f"{n_rows:,} × {n_columns} × {n_classes}{' mixed' if mixed else ''}, {kind}"
            figures = [
                f"{name} {np.median(times):.3f} s ({min(times):.3f}–{max(times):.3f})"
                for name, times in seconds.items()
            ]
            losses = ", ".join(f"{loss:.4f}" for loss in log_loss.values())
            print(f"{work:<36} {'   '.join(figures)}   log-loss {losses}", flush=True)
            record(work, seconds, clock="CPU", log_loss=log_loss)


def drawn_table(n_rows: int, n_columns: int, n_classes: int, distance: float, mixed: bool) -> tuple[Any, Any, Any, Any]:
    """Draw rows and new rows: a quarter of the columns repeats others with noise, another quarter has long tails."""
    import pandas as pd

    random = np.random.default_rng(0)
    n, quarter = n_rows + N_TEST_ROWS, max(1, n_columns // 4)
    y = np.concatenate([random.permutation(np.arange(size) % n_classes) for size in (n_rows, N_TEST_ROWS)])
    x = random.normal(size=(n_classes, n_columns))[y] * distance / np.sqrt(n_columns) + random.normal(
        size=(n, n_columns)
    )
    x[:, :quarter] += 0.8 * x[:, n_columns - quarter :]
    x[:, quarter : 2 * quarter] = np.exp(0.7 * x[:, quarter : 2 * quarter])
    if not mixed:
        return x[:n_rows], y[:n_rows], x[n_rows:], y[n_rows:]
    frame = pd.DataFrame(x, columns=[f"c{j}" for j in range(n_columns)])
    for j in range(0, n_columns, 4):
        frame[f"c{j}"] = np.array(list("abcde"))[np.digitize(x[:, j], [-1, -0.3, 0.3, 1])]
    return frame[:n_rows], y[:n_rows], frame[n_rows:], y[n_rows:]


def tuned_fit(x: Any, y: Any, test_x: Any, test_y: Any) -> tuple[float, float]:
    """Return the CPU seconds of a tuned fit, and its log-loss on new rows."""
    start = time.process_time()
    model = naively.fit(x, y, n_jobs=1)
    return time.process_time() - start, new_log_loss(model.posterior(test_x), model.classes, test_y)


def cross_validated_on_all_cores(x: Any, y: Any, test_x: Any, test_y: Any) -> tuple[float, float]:
    """Return the same of scikit-learn, with the threads that it takes by default."""
    result = cross_validated(x, y, test_x, test_y, n_threads=None)
    time.sleep(SECONDS_UNTIL_THREADS_REST)
    return result


def cross_validated(x: Any, y: Any, test_x: Any, test_y: Any, n_threads: int | None = 1) -> tuple[float, float]:
    """Return the same of scikit-learn."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from threadpoolctl import threadpool_limits

    encoder: Any = StandardScaler()
    if hasattr(x, "columns"):
        encoder = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include=[object, "string"])),
            remainder=StandardScaler(),
        )
    model = make_pipeline(encoder, LogisticRegressionCV(Cs=5, cv=5))
    with warnings.catch_warnings(), threadpool_limits(n_threads):
        warnings.simplefilter("ignore")  # of steps that were not enough, and of classes with fewer rows than folds
        start = time.process_time()
        model.fit(x, y)
        seconds = time.process_time() - start
    return seconds, new_log_loss(model.predict_proba(test_x), model.classes_, test_y)


def new_log_loss(posterior: Any, classes: Any, label: Any) -> float:
    """Return the mean −log p of the classes of new rows, at most 36 for a row."""
    position = {c: i for i, c in enumerate(classes)}
    own = np.array([position[c] for c in label.tolist()])
    return float(-np.log(np.maximum(posterior[np.arange(len(own)), own], 2.0**-52)).mean())
