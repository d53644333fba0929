"""Sparse counts and codes: `MultinomialNB`, `BernoulliNB` and `CategoricalNB` compared with scikit-learn's. One thread.

    python -m benchmarks counts --rows 200000 --columns 100000 --entries 20000000 --classes 2 20 1000

Tokens are all equally likely unless `--zipf`: that is the hardest case for caches.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import scipy.sparse as sp
import sklearn.naive_bayes as peer
from threadpoolctl import threadpool_limits

import naively
from benchmarks.measure import extra_memory, report
from benchmarks.results import record


def sparse_counts(n: int, p: int, entries: int, zipf: bool, rng: np.random.Generator) -> sp.csr_matrix:
    """Make rows of counts, mostly ones. The frequency of a token is 1 / rank, as in text, or the same for all."""
    u = rng.random((n, max(1, entries // n)))
    index = np.sort((p**u - 1 if zipf else p * u).astype(np.int32), axis=1)
    is_repeated = np.zeros(index.shape, dtype=bool)
    is_repeated[:, 1:] = index[:, 1:] == index[:, :-1]
    indptr = np.concatenate(([0], np.cumsum((~is_repeated).sum(axis=1)))).astype(np.int32)
    index = index[~is_repeated]
    data = rng.integers(1, 10, index.size).clip(5) - 4.0
    return sp.csr_matrix((data, index, indptr), shape=(n, p))


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--zipf", action="store_true")
    parser.add_argument("--classes", type=int, nargs="*", default=[2, 20, 1000])
    parser.add_argument("--code-rows", type=int, default=2_000_000)
    parser.add_argument("--predict", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    x = sparse_counts(options.rows, options.columns, options.entries, options.zipf, rng)
    part = x[: options.predict]
    with threadpool_limits(1):
        for n_classes in options.classes:
            label = rng.integers(0, n_classes, options.rows)
            repeats = options.repeats if n_classes < 100 else 1
            for name in ("MultinomialNB", "BernoulliNB"):
                ours, theirs = getattr(naively, name)(), getattr(peer, name)()
                fits = {"ours": partial(ours.fit, x, label), "scikit-learn": partial(theirs.fit, x, label)}
                report(f"{name} fit, {n_classes} classes", fits, repeats)
                scores = {
                    "ours": partial(ours.predict_proba, part),
                    "scikit-learn": partial(theirs.predict_proba, part),
                }
                report(f"{name} predict_proba, {n_classes} classes", scores, repeats)
                del theirs, scores, fits
            memory = extra_memory(partial(ours.fit, x, label))
            print(f"{'':8}extra memory to fit: {memory:.0f} MB", flush=True)
            record(f"extra memory of BernoulliNB fit, {n_classes} classes", megabytes={"ours": memory})
        codes, label = rng.integers(0, 20, (options.code_rows, 20)), rng.integers(0, 2, options.code_rows)
        ours, theirs = naively.CategoricalNB(), peer.CategoricalNB()
        fits = {"ours": partial(ours.fit, codes, label), "scikit-learn": partial(theirs.fit, codes, label)}
        report(f"CategoricalNB fit, {options.code_rows} × 20 codes", fits, max(1, options.repeats // 3))
        scores = {"ours": partial(ours.predict_proba, codes), "scikit-learn": partial(theirs.predict_proba, codes)}
        report("CategoricalNB predict_proba", scores, max(1, options.repeats // 3))
