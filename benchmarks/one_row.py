"""One row at a time through the estimators: predict and partial_fit compared with scikit-learn's.

python -m benchmarks one_row --repeats 9
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
import sklearn.naive_bayes as peer

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
