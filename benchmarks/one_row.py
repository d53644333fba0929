"""One row at a time: predict and partial_fit of the estimators, and predictions and explanations of a mixed table.

python -m benchmarks one_row --repeats 9
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import sklearn.naive_bayes as peer
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import naively
from benchmarks.measure import report


def repeat_100_times(act: Callable[[], object]) -> Callable[[], None]:
    """Return a function that repeats an act, so that the clock's resolution does not matter."""

    def repeat() -> None:
        for _ in range(100):
            act()

    return repeat


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    numbers, label = rng.normal(size=(2000, options.columns)), rng.integers(0, 10, 2000)
    counts = rng.integers(0, 5, numbers.shape)
    for name in ("GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"):
        x = numbers if name == "GaussianNB" else counts
        ours, theirs = (getattr(module, name)().fit(x, label) for module in (naively, peer))
        row, one = x[:1], label[:1]
        turns = {
            "ours": repeat_100_times(partial(ours.predict, row)),
            "scikit-learn": repeat_100_times(partial(theirs.predict, row)),
        }
        report(f"{name} predict, 100 times", turns, options.repeats)
        turns = {
            "ours": repeat_100_times(partial(ours.partial_fit, row, one)),
            "scikit-learn": repeat_100_times(partial(theirs.partial_fit, row, one)),
        }
        report(f"{name} partial_fit, 100 times", turns, options.repeats)
    mixed_table(rng, options.repeats)
    texts(rng, options.repeats)


def mixed_table(rng: np.random.Generator, repeats: int) -> None:
    """Predict and explain one row of a tuned model of 15 columns; the peer is a pipeline of scikit-learn."""
    n_rows = 5000
    label = rng.integers(0, 2, n_rows)
    numbers = {f"number{j}": rng.normal(size=n_rows) + 0.3 * label for j in range(7)}
    values = {f"value{j}": rng.choice(list("abcdefgh"), n_rows) for j in range(8)}
    table = pd.DataFrame(numbers | values)
    model = naively.fit(table, label)
    encoder = make_column_transformer(
        (StandardScaler(), list(numbers)), (OneHotEncoder(handle_unknown="ignore"), list(values))
    )
    pipeline = make_pipeline(encoder, LogisticRegression()).fit(table, label)
    row = table.iloc[:1]
    cells = {name: [value] for name, value in row.iloc[0].items()}
    turns = {
        "ours": repeat_100_times(partial(model.posterior, row)),
        "ours, a dict": repeat_100_times(partial(model.posterior, cells)),
        "a pipeline of scikit-learn": repeat_100_times(partial(pipeline.predict_proba, row)),
    }
    report("a row of 15 columns, 100 times", turns, repeats)
    turns = {
        "with what would change the answer": repeat_100_times(partial(model.explain, row)),
        "without": repeat_100_times(partial(model.explain, row, changes=False)),
    }
    report("explain a row of 15 columns, 100 times", turns, repeats)


def texts(rng: np.random.Generator, repeats: int) -> None:
    """Predict one text of 100 words; the peer is a pipeline of scikit-learn."""
    words = [f"word{k}" for k in range(20_000)]
    texts = [" ".join(rng.choice(words, 100)) for _ in range(2000)]
    label = rng.integers(0, 2, len(texts))
    model = naively.fit(texts, label)
    pipeline = make_pipeline(CountVectorizer(), peer.MultinomialNB()).fit(texts, label)
    turns = {
        "ours": repeat_100_times(partial(model.posterior, texts[:1])),
        "a pipeline of scikit-learn": repeat_100_times(partial(pipeline.predict_proba, texts[:1])),
    }
    report("a text of 100 words, 100 times", turns, repeats)
