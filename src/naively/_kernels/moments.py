"""Dense numeric columns: count moments, add them, and score a Gaussian.

A cell belongs to one class and one column and holds n = Σ w, s1 = Σ w(x − shift) and s2 = Σ w(x − shift)². The sums are
three doubles each (triple-double), so that an outlier that is counted first and forgotten later leaves the variance of
the rest correct to the last digit. The cells are two arrays:

    rows   int64    (classes, columns)        values counted; a cell without any is all zeros
    state  float64  (12, classes, columns)    n, shift, s1 (3), s2 (3), reach, the lower parts of n (2), error

`reach` is the largest |x − shift| counted so far (after a change of shift, a bound on it). `error` bounds the rounding
of n, error · reach that of s1, and error · reach² that of s2. NaN is a missing value and
not counted. The equations are in `tests.twins.moments`. Every result is the same, bit for bit, for any number of
threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from naively import _core
from naively._kernels.threads import thread_count
from naively._kernels.types import Array, Codes32, Floats, Wholes


def count_moments(
    x: Array, label: Codes32, weight: Floats | None, n_classes: int, n_jobs: int | None = None
) -> tuple[Wholes, Floats, Floats]:
    """Count a table of float64 or float32 of any strides, in place: return rows, state and the largest |x| per column.

    An infinity is not refused but makes `largest` infinite, and the state of its column meaningless; so does |x| >
    1e150, whose square overflows.

    >>> import numpy as np
    >>> x, label = np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1], np.int32)
    >>> rows, state, largest = count_moments(x, label, None, 2)
    >>> rows.ravel().tolist(), largest.tolist()
    ([2, 1], [7.0])
    >>> mean, squares = describe_moments(rows, state)
    >>> mean.ravel().tolist(), squares.ravel().tolist()
    ([2.0, 7.0], [2.0, 0.0])
    """
    (rows, state), largest = _core.count_moments(x, label, weight, n_classes, thread_count(n_jobs))
    return rows, state, largest


def add_moments(rows_a: Wholes, state_a: Floats, rows_b: Wholes, state_b: Floats, sign: int) -> tuple[Wholes, Floats]:
    """Return a + b (sign 1) or a − b (sign −1), cell by cell; a cell without rows is all zeros."""
    return _core.add_moments((rows_a, state_a), (rows_b, state_b), sign)


def pool_moments(rows: Wholes, state: Floats) -> tuple[Wholes, Floats]:
    """Return the moments of all classes together, as those of a single class."""
    return _core.pool_moments((rows, state))


def describe_moments(rows: Wholes, state: Floats) -> tuple[Floats, Floats]:
    """Return the mean, and the weighted sum of squares about it; zeros for an empty cell.

    The sum of squares is 0 if and only if all values are equal, as far as the errors of the sums allow to see it.
    """
    return _core.describe_moments((rows, state))


def score_gaussian(
    pieces: Sequence[Array], mean: Floats, variance: Floats, out: Floats, n_jobs: int | None = None
) -> tuple[int, bool]:
    """Add the log density of every row under every class to `out` (row, class); missing values are left out.

    `pieces` are the columns, in arrays (row, column) side by side; the sums of the pieces are added in their order.
    mean and variance are (class, column), variance > 0. Finite values of any size give finite scores: x is kept within
    1e150 times the smallest deviation of the outermost means. Return −1, or the first column with an infinity (`out` is
    then of no use), and whether any value is missing.

    >>> import numpy as np
    >>> out = np.zeros((1, 2))
    >>> score_gaussian([np.array([[0.0, np.nan]])], np.zeros((2, 2)), np.array([[1.0, 1.0], [4.0, 1.0]]), out)
    (-1, True)
    >>> out.round(4).tolist()
    [[-0.9189, -1.6121]]
    """
    return _core.score_gaussian(pieces, mean, variance, out, thread_count(n_jobs))


def score_gaussian_columns(
    pieces: Sequence[Array], mean: Floats, variance: Floats, out: Floats, n_jobs: int | None = None
) -> int:
    """Do `score_gaussian` for each column alone: `out` is (column, row, class).

    Return −1, or the first column with an infinity; `out` is then of no use.
    """
    return _core.score_gaussian_columns(pieces, mean, variance, out, thread_count(n_jobs))
