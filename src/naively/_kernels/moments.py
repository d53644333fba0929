"""Dense numeric columns: count moments, add them, and score a Gaussian. The door to the compiled kernels.

A cell belongs to one class and one column and keeps n = Σ w, s1 = Σ w(x − shift) and s2 = Σ w(x − shift)²,
the sums as three doubles each (triple-double), so that an outlier counted first and forgotten later leaves
the variance of the rest correct to the last digit. Packed over all cells:

    rows   int64    (classes, columns)       values counted; a cell without any is all zeros
    state  float64  (9, classes, columns)    n, shift, s1 (3), s2 (3), reach

where `reach` is the largest |x − shift| ever counted (after a change of shift, a bound on it). NaN is a
missing value and not counted. The equations are in `tests.twins.moments`. Every result is the same,
bit for bit, for any `n_jobs`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from naively import _core
from naively._kernels.threads import thread_count

Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]


def count_moments(
    x: Table, label: Labels, weight: Floats | None, n_classes: int, n_jobs: int | None = None
) -> tuple[Rows, Floats, Floats]:
    """Count the table x (any strides, never copied): rows, state, and the largest |x| of every column.

    Infinities are not refused here but make `largest` infinite, and the state of their column meaningless; so
    does |x| > 1e150, whose square overflows.

    >>> x, label = np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1], np.int32)
    >>> rows, state, largest = count_moments(x, label, None, 2)
    >>> rows.ravel().tolist(), largest.tolist()
    ([2, 1], [7.0])
    >>> mean, squares = describe_moments(rows, state)
    >>> mean.ravel().tolist(), squares.ravel().tolist()
    ([2.0, 7.0], [2.0, 0.0])
    """
    p = x.shape[1]
    rows, state, largest = np.empty((n_classes, p), np.int64), np.empty((9, n_classes, p)), np.empty(p)
    weight = None if weight is None else np.ascontiguousarray(weight)
    _core.count_moments(x, np.ascontiguousarray(label), weight, rows, state, largest, thread_count(n_jobs))
    return rows, state, largest


def add_moments(rows_a: Rows, state_a: Floats, rows_b: Rows, state_b: Floats, sign: int) -> tuple[Rows, Floats]:
    """a + b (sign 1) or a − b (sign −1), cell by cell; a cell left without rows is all zeros."""
    rows, state = np.empty(rows_a.shape, np.int64), np.empty(state_a.shape)
    a, b = _contiguous(rows_a, state_a), _contiguous(rows_b, state_b)
    _core.add_moments(*a, *b, sign, rows, state)
    return rows, state


def pool_moments(rows: Rows, state: Floats) -> tuple[Rows, Floats]:
    """The moments of all classes together, as those of a single class."""
    p = rows.shape[1]
    pooled_rows, pooled_state = np.empty((1, p), np.int64), np.empty((9, 1, p))
    _core.pool_moments(*_contiguous(rows, state), pooled_rows, pooled_state)
    return pooled_rows, pooled_state


def describe_moments(rows: Rows, state: Floats) -> tuple[Floats, Floats]:
    """The mean, and the weighted sum of squares about it (≥ 0); zeros where nothing was counted."""
    mean, squares = np.empty(rows.shape), np.empty(rows.shape)
    _core.describe_moments(*_contiguous(rows, state), mean, squares)
    return mean, squares


def score_gaussian(
    x: Table, mean: Floats, variance: Floats, out: Floats, n_jobs: int | None = None
) -> tuple[int, bool]:
    """Add the log density of every row under every class to `out` (row, class); missing values are left out.

    mean and variance are (class, column), variance > 0. Finite values of any size give finite scores: x is
    held within 1e150 times the smallest deviation of the outermost means. Returns −1, or the first column that
    holds an infinity, and `out` is then not to be used; and whether any value is missing.

    >>> out = np.zeros((1, 2))
    >>> score_gaussian(np.array([[0.0, np.nan]]), np.zeros((2, 2)), np.array([[1.0, 1.0], [4.0, 1.0]]), out)
    (-1, True)
    >>> out.round(4).tolist()
    [[-0.9189, -1.6121]]
    """
    return _core.score_gaussian(
        x, np.ascontiguousarray(mean), np.ascontiguousarray(variance), out, thread_count(n_jobs)
    )


def normalise(log_joint: Floats, log_prior: Floats, kind: int, n_jobs: int | None = None) -> int:
    """Turn log joints (row, class), in place, into log posteriors (kind 0) or posteriors (kind 1).

    A row without a possible class (all −inf) gets the prior, which must be normalised; returns their number.
    """
    return _core.normalise(log_joint, log_prior, kind, thread_count(n_jobs))


def best_class(log_joint: Floats, log_prior: Floats, out: Labels, n_jobs: int | None = None) -> int:
    """Write the first most probable class of every row into `out`; the prior's where no class is possible.

    Returns the number of rows of the latter kind.
    """
    return _core.best_class(log_joint, log_prior, out, thread_count(n_jobs))


def _contiguous(rows: Rows, state: Floats) -> tuple[Rows, Floats]:
    return np.ascontiguousarray(rows), np.ascontiguousarray(state)
