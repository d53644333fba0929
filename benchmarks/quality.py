"""The quality of default probabilities compared with scikit-learn's: log-loss, accuracy and calibration error.

Ours is `NaiveBayes()` with default settings. It is compared with the best of scikit-learn's five classes of Naive Bayes
on the test rows, each with its smoothing chosen by 5-fold grid search for log-loss and the encoders and imputers it
needs; and with logistic regression with default settings (one-hot, scaled; texts by tf-idf). Splits are the published
ones, by time for streams, else seeded and stratified, two thirds to one third. The data is not in the repository.

    python -m benchmarks quality [--data FOLDER] [--sets adult,iris] [--splits 10]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import naively
from benchmarks.results import record

TABLES = ("adult", "vote", "mushroom", "credit.g", "heart.c", "hypothyroid", "iris", "car", "pendigits", "segment")
OTHERS = ("penguins", "titanic_kaggle_train", "stream_elec")
TEXTS = ("sms_spam", "mr_rt_polarity", "trec_qc", "20news_bydate")
ALPHAS = [0.001, 0.01, 0.1, 1.0, 10.0]


@dataclass(frozen=True)
class Task:
    """Rows to train on and rows to test on."""

    x: Any
    y: NDArray[Any]
    test_x: Any
    test_y: NDArray[Any]
    text: bool


def tasks(name: str, folder: Path, splits: int, at_random: bool = False) -> Iterator[Task]:
    """Yield the splits of a data set: as published, by time, or at random with a seed and the same class shares.

    With `at_random`, rows are drawn without regard to order, published splits or classes.
    """
    import pandas as pd
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    text = name in TEXTS
    path = folder / ("text" if text else "tables") / (name + (".parquet" if name.startswith("20") else ".csv"))
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    target = {"adult": "income", "penguins": "species", "titanic_kaggle_train": "survived"}.get(name)
    target = target or ("label" if text else frame.columns[-1])
    frame = frame[frame[target].notna()]
    published = frame.pop("split") if "split" in frame else None
    y = frame.pop(target).to_numpy()
    x: Any = frame["text"] if text else frame
    if at_random:
        trains = list(ShuffleSplit(splits, test_size=1 / 3, random_state=0).split(np.zeros(len(y))))
    elif published is not None:
        trains = [(np.flatnonzero(published == "train"), np.flatnonzero(published != "train"))]
    elif name.startswith("stream"):
        trains = [(np.arange(2 * len(y) // 3), np.arange(2 * len(y) // 3, len(y)))]
    else:
        trains = list(StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=0).split(np.zeros(len(y)), y))
    for train, test in trains:
        yield Task(x.iloc[train], y[train], x.iloc[test], y[test], text)


def ours(task: Task, **settings: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return our probabilities, and the classes."""
    x, test = (task.x.tolist(), task.test_x.tolist()) if task.text else (task.x, task.test_x)
    model = naively.NaiveBayes(n_jobs=1, **settings).fit(x, task.y)
    return model.predict_proba(test), model.classes_


def peers(task: Task) -> dict[str, Any]:
    """Return scikit-learn's five classes and logistic regression, as pipelines."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        KBinsDiscretizer,
        OneHotEncoder,
        OrdinalEncoder,
        StandardScaler,
    )

    alpha = {"alpha": ALPHAS}
    counted = {"MultinomialNB": alpha, "ComplementNB": alpha, "BernoulliNB": alpha}
    if task.text:
        words = {name: (make_pipeline(CountVectorizer(), _grid_search(name, grid))) for name, grid in counted.items()}
        return words | {"logistic": make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))}
    numbers = list(task.x.select_dtypes("number").columns)
    numbers = [name for name in numbers if task.x[name].notna().any()]
    values = [name for name in task.x.columns if name not in task.x.select_dtypes("number").columns]
    most = max(12, *(task.x[name].nunique() + 2 for name in values)) if values else 12
    median = SimpleImputer(strategy="median")
    bins = {"n_bins": 10, "quantile_method": "averaged_inverted_cdf"}
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    codes = make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1),
        FunctionTransformer(lambda codes: np.asarray(codes) + 1),
    )

    def columns(of_numbers: Any, of_values: Any) -> Any:
        return ColumnTransformer([("n", of_numbers, numbers), ("v", of_values, values)], sparse_threshold=0)

    binned = columns(make_pipeline(median, KBinsDiscretizer(**bins, encode="onehot-dense")), hot)
    coded = columns(make_pipeline(median, KBinsDiscretizer(**bins, encode="ordinal")), codes)
    pipelines = {name: make_pipeline(binned, _grid_search(name, grid)) for name, grid in counted.items()}
    pipelines["CategoricalNB"] = make_pipeline(coded, _grid_search("CategoricalNB", alpha, min_categories=most))
    smoothing = {"var_smoothing": [1e-9, 1e-6, 1e-3, 1e-2, 1e-1]}
    pipelines["GaussianNB"] = make_pipeline(columns(median, hot), _grid_search("GaussianNB", smoothing))
    pipelines["logistic"] = make_pipeline(
        columns(make_pipeline(median, StandardScaler()), hot), LogisticRegression(max_iter=1000)
    )
    return pipelines


def _grid_search(name: str, grid: dict[str, list[float]], **settings: Any) -> Any:
    from sklearn import naive_bayes
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(getattr(naive_bayes, name)(**settings), grid, scoring="neg_log_loss", cv=folds)


def measure_quality(
    posterior: NDArray[np.float64], classes: NDArray[Any], y: NDArray[Any]
) -> tuple[float, float, float]:
    """Return log-loss, accuracy, and the calibration error of the prediction in 15 bins of equal mass."""
    class_index = {label: k for k, label in enumerate(classes.tolist())}
    code = np.array([class_index[label] for label in y.tolist()])
    p = np.clip(posterior, 1e-15, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    is_right = posterior.argmax(axis=1) == code
    confidence = posterior.max(axis=1)
    order = np.argsort(confidence, kind="stable")
    error = sum(abs(is_right[b].sum() - confidence[b].sum()) for b in np.array_split(order, 15)) / len(y)
    return float(-np.log(p[np.arange(len(y)), code]).mean()), float(is_right.mean()), float(error)


def compare(name: str, folder: Path, splits: int) -> dict[str, NDArray[np.float64]]:
    """Return the figures of every contender, as arrays (split, figure)."""
    figures_of: dict[str, list[tuple[float, float, float]]] = {}
    for task in tasks(name, folder, splits):
        contenders: dict[str, Callable[[], tuple[Any, Any]]] = {
            "ours": lambda task=task: ours(task),  # type: ignore[misc]
            "textbook": lambda task=task: ours(task, tune=False),  # type: ignore[misc]
        }
        for peer, pipeline in peers(task).items():
            contenders[peer] = lambda p=pipeline, task=task: (  # type: ignore[misc]
                p.fit(task.x, task.y).predict_proba(task.test_x),
                p.classes_,
            )
        for contender, run in contenders.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    posterior, classes = run()
                    figures = measure_quality(posterior, np.asarray(classes), task.test_y)
                except ValueError as error:  # such as GaussianNB with NaN where a column is constant
                    print(f"  {name}: {contender} fails: {str(error)[:80]}")
                    figures = (np.inf, 0.0, 1.0)
            figures_of.setdefault(contender, []).append(figures)
    return {contender: np.array(rows) for contender, rows in figures_of.items()}


def parse_options(name: str, arguments: list[str]) -> argparse.Namespace:
    """Return the options of a benchmark of quality; no sets if the folder of the data does not exist."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", default=",".join((*TABLES, *OTHERS, *TEXTS)))
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"The folder {options.data} does not exist. Give the folder of the data with --data.")
        options.sets = ""
    return options


def main(arguments: list[str]) -> None:
    """Print and record the table."""
    options = parse_options("quality", arguments)
    heads = ("set", "ours", "textbook", "best NB", "", "logistic", "±2se", "accuracy", "best NB", "ECE", "")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for name in filter(None, options.sets.split(",")):
        start = time.perf_counter()
        figures = compare(name, options.data, options.splits)
        mean = {contender: rows.mean(axis=0) for contender, rows in figures.items()}
        five = [contender for contender in mean if contender.endswith("NB")]
        best = min(five, key=lambda c: mean[c][0])
        most_accurate = max(five, key=lambda c: mean[c][1])
        difference = figures["ours"][:, 0] - figures[best][:, 0]
        error = 2 * difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
        cells = [
            name,
            f"{mean['ours'][0]:.4f}",
            f"{mean['textbook'][0]:.4f}",
            f"{mean[best][0]:.4f}",
            best,
            f"{mean['logistic'][0]:.4f}",
            f"{error:.4f}",
            f"{mean['ours'][1]:.4f}",
            f"{mean[most_accurate][1]:.4f} {most_accurate}",
            f"{mean['ours'][2]:.4f}",
            f"{time.perf_counter() - start:.0f} s",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)
        record(
            name,
            log_loss={contender: row[0] for contender, row in mean.items()},
            accuracy={contender: row[1] for contender, row in mean.items()},
            calibration_error={contender: row[2] for contender, row in mean.items()},
            two_standard_errors=error,
            splits={contender: rows.tolist() for contender, rows in figures.items()},
        )
