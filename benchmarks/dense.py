"""Dense numbers: `naively.GaussianNB` compared with scikit-learn's, and with reading the array once. One thread each.

python -m benchmarks dense --rows 2000000 --columns 50 --repeats 5 --kinds float64 --classes 2 10 100
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sklearn.naive_bayes as peer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import naively
from benchmarks.measure import extra_memory, report
from benchmarks.results import record

KINDS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "float64": np.asarray,
    "float32": lambda x: x.astype(np.float32),
    "by-column": np.asfortranarray,
}


def compare(x: NDArray[Any], label: NDArray[Any], n_predict: int, repeats: int, title: str) -> None:
    """Compare fit and predict_proba on one table."""
    ours, theirs = naively.GaussianNB(), peer.GaussianNB()
    fits: dict[str, Callable[[], object]] = {
        "ours": partial(ours.fit, x, label),
        "scikit-learn": partial(theirs.fit, x, label),
        "reading once": x.sum,
    }
    report(f"fit, {title}", fits, repeats)
    part = x[:n_predict]
    scores = {"ours": partial(ours.predict_proba, part), "scikit-learn": partial(theirs.predict_proba, part)}
    report(f"predict_proba of {len(part)} rows, {title}", scores, repeats)
    memory = [extra_memory(partial(e.fit, x, label)) for e in (ours, theirs)]
    result = len(part) * len(np.unique(label)) * 8 / 2**20
    more = [extra_memory(partial(e.predict_proba, part)) - result for e in (ours, theirs)]
    print(
        f"{'':8}extra memory: fit {memory[0]:.0f} MB (scikit-learn {memory[1]:.0f}), "
        f"predict_proba without the result {more[0]:.0f} MB ({more[1]:.0f})",
        flush=True,
    )
    names = ("ours", "scikit-learn")
    record(f"extra memory of fit, {title}", megabytes=dict(zip(names, memory, strict=True)))
    record(f"extra memory of predict_proba, {title}", megabytes=dict(zip(names, more, strict=True)))


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 10, 100])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--predict", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(options.rows, options.columns))
    with threadpool_limits(1):
        for kind in options.kinds:
            table = KINDS[kind](x)
            for n_classes in options.classes:
                label = rng.integers(0, n_classes, options.rows)
                compare(table, label, options.predict, options.repeats, f"{n_classes} classes, {kind}")
