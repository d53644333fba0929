"""Sparse counts and codes: our kernels beside scikit-learn's estimators, in the same process, in turn.

    python -m benchmarks.counts --rows 200000 --columns 100000 --entries 20000000 --classes 2 20 1000

`fit` is counting alone: our statistics are the model, and parameters are computed from them when asked for.
`predict_proba` is scoring and normalising. A ratio of 2 means that we take half the time; beside the median
stand the smallest and the largest ratio of neighbouring runs.
"""

from __future__ import annotations

import argparse
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from benchmarks.measure import alternate
from sklearn.naive_bayes import (  # type: ignore[import-untyped]
    BernoulliNB,
    CategoricalNB,
    MultinomialNB,
)
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from naively.kernels import cells, moments

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def report(task: str, ours: Callable[[], Any], peer: Callable[[], Any], repeats: int) -> None:
    """Print one line: both medians, and the ratio with its spread."""
    seconds = alternate({"ours": ours, "peer": peer}, repeats)
    ratio = [b / a for a, b in zip(seconds["ours"], seconds["peer"], strict=True)]
    ms = {name: 1000 * statistics.median(s) for name, s in seconds.items()}
    print(
        f"{task:52} {ms['ours']:9.1f} ms {ms['peer']:9.1f} ms   "
        f"{statistics.median(ratio):6.2f} × [{min(ratio):.2f}, {max(ratio):.2f}]",
        flush=True,
    )


def sparse_counts(n: int, p: int, entries: int, zipf: bool, rng: np.random.Generator) -> sp.csr_matrix:
    """Tokens as likely as 1 / rank, as in text, or all alike, the hardest case for caches; mostly ones."""
    u = rng.random((n, max(1, entries // n)))
    index = np.sort((p**u - 1 if zipf else p * u).astype(np.int32), axis=1)
    del u
    again = np.zeros(index.shape, dtype=bool)
    again[:, 1:] = index[:, 1:] == index[:, :-1]
    indptr = np.concatenate(([0], np.cumsum((~again).sum(axis=1)))).astype(np.int32)
    index = index[~again]
    data = rng.integers(1, 10, index.size).clip(5) - 4.0
    return sp.csr_matrix((data, index, indptr), shape=(n, p))


def scorer(x: sp.csr_matrix, label: NDArray[Any], n_classes: int, n_jobs: int) -> Callable[[], Any]:
    """A multinomial with alpha = 1, scored through a dense table if that is small, else a sparse one."""
    n, p = x.shape
    counted = cells.count_csr(x.data, x.indices, x.indptr, p, label, None, n_classes, n_jobs)[0]
    indptr, classes, order = cells.by_token(counted, p)
    value = np.log1p(counted.sums[0, order])
    total = np.bincount(np.repeat(np.arange(n_classes), np.diff(counted.indptr)), counted.sums[0], minlength=n_classes)
    constant = -np.log(total + p)
    log_prior = np.log(np.bincount(label, minlength=n_classes) / n)
    base = np.zeros(p)
    table = None
    if n_classes <= 100:
        table = np.zeros((p, n_classes))
        table[np.repeat(np.arange(p), np.diff(indptr)), classes] = value

    def predict_proba() -> NDArray[np.float64]:
        out = np.empty((n, n_classes))
        out[:] = log_prior
        if table is None:
            cells.score_csr_sparse(x.data, x.indices, x.indptr, base, indptr, classes, value, constant, out, n_jobs)
        else:
            cells.score_csr(x.data, x.indices, x.indptr, table, constant, out, n_jobs)
        moments.normalise(out, log_prior, 1, n_jobs)
        return out

    return predict_proba


def measure_sparse(options: argparse.Namespace, rng: np.random.Generator) -> None:
    """CSR counts: fit and predict_proba, for each number of classes and threads."""
    x = sparse_counts(options.rows, options.columns, options.entries, options.zipf, rng)
    for n_classes in options.classes:
        label = rng.integers(0, n_classes, options.rows).astype(np.int32)
        repeats = options.repeats if n_classes < 100 else max(1, options.repeats // 3)
        for n_jobs in options.threads:
            title = f"{n_classes} classes, {n_jobs} thread(s)"

            def count(label: NDArray[Any] = label, n_classes: int = n_classes, n_jobs: int = n_jobs) -> None:
                cells.count_csr(x.data, x.indices, x.indptr, x.shape[1], label, None, n_classes, n_jobs)

            with threadpool_limits(n_jobs):
                for peer in (MultinomialNB, BernoulliNB):
                    name = peer.__name__
                    report(f"{name} fit, {title}", count, lambda: peer().fit(x, label), repeats)  # noqa: B023
                fitted = MultinomialNB().fit(x, label)
                ours = scorer(x, label, n_classes, n_jobs)
                report(
                    f"MultinomialNB predict_proba, {title}",
                    ours,
                    lambda: fitted.predict_proba(x),  # noqa: B023
                    repeats,
                )


def measure_codes(options: argparse.Namespace, rng: np.random.Generator) -> None:
    """Integer codes: fit and joint log-likelihood beside CategoricalNB."""
    n, p, size = options.code_rows, options.code_columns, options.code_values
    codes = rng.integers(0, size, (n, p), dtype=np.int32)
    sizes = np.full(p, size)
    label = rng.integers(0, 2, n).astype(np.int32)
    for n_jobs in options.threads:
        with threadpool_limits(n_jobs):
            report(
                f"CategoricalNB fit, {n_jobs} thread(s)",
                lambda: cells.count_codes(codes, sizes, label, None, 2, n_jobs),  # noqa: B023
                lambda: CategoricalNB().fit(codes, label),
                max(1, options.repeats // 3),
            )
            fitted = CategoricalNB().fit(codes, label)
            table = np.ascontiguousarray(np.concatenate(fitted.feature_log_prob_, axis=1).T)
            report(
                f"CategoricalNB predict_joint_log_proba, {n_jobs} thread(s)",
                lambda: cells.score_codes(codes, sizes, table, np.zeros((n, 2)), n_jobs),  # noqa: B023
                lambda: fitted.predict_joint_log_proba(codes),  # noqa: B023
                max(1, options.repeats // 3),
            )


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--zipf", action="store_true", help="tokens as likely as 1 / rank, not all alike")
    parser.add_argument("--classes", type=int, nargs="*", default=[2, 20, 1000])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--code-rows", type=int, default=2_000_000)
    parser.add_argument("--code-columns", type=int, default=20)
    parser.add_argument("--code-values", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    print(f"{'':52} {'ours':>12} {'peer':>12}   ratio (median [smallest, largest])")
    measure_sparse(options, rng)
    if options.code_rows:
        measure_codes(options, rng)


if __name__ == "__main__":
    main()
