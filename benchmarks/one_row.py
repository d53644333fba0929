"""One row at a time through the estimators: predict and partial_fit beside scikit-learn's.

python -m benchmarks.one_row --repeats 9
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
import sklearn.naive_bayes as peer

import naively
from benchmarks.measure import report


def many(act: Callable[[], object]) -> Callable[[], None]:
    """The same act a hundred times, so that the clock and the caches do not decide."""

    def repeat() -> None:
        for _ in range(100):
            act()

    return repeat


def main(arguments: list[str] | None = None) -> None:
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
        turns = {"ours": many(partial(ours.predict, row)), "scikit-learn": many(partial(theirs.predict, row))}
        report(f"{name} predict, 100 times", turns, options.repeats)
        turns = {
            "ours": many(partial(ours.partial_fit, row, one)),
            "scikit-learn": many(partial(theirs.partial_fit, row, one)),
        }
        report(f"{name} partial_fit, 100 times", turns, options.repeats)


if __name__ == "__main__":
    main()
