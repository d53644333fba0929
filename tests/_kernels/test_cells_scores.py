"""Scores of cells and codes at their edges: precision, every width of table, minus infinity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from naively._kernels import cells as core


def test_long_rows_are_scored_precisely() -> None:
    """A row of a million entries, against exact sums."""
    rng = np.random.default_rng(1)
    n = 1_000_000
    table = rng.lognormal(0, 3, (n, 3)) * rng.choice([-1, 1], (n, 3))
    x, index, indptr = rng.random(n), np.arange(n), np.array([0, n])
    constant = np.array([0.1, -2.0, 3.0])
    a, b, c = np.zeros((3, 1, 3))
    core.score_csr((x, index, indptr), table, constant, a)
    core.score_dense(x[None], table, constant, b)
    classes, values = np.tile(np.arange(3, dtype=np.int32), n), (table - table[:, :1]).ravel()
    core.score_csr((x, index, indptr), (table[:, 0], np.arange(n + 1) * 3, classes, values), constant, c)
    for k in range(3):
        terms = x * table[:, k]
        exact = math.fsum(terms) + constant[k] * math.fsum(x)
        size = np.abs(terms).sum() + abs(constant[k]) * x.sum()
        assert abs(a[0, k] - exact) < 1e-14 * size
        assert abs(b[0, k] - exact) < 1e-14 * size
        assert abs(c[0, k] - exact) < 1e-14 * (size + 2 * np.abs(x * table[:, 0]).sum())


@pytest.mark.parametrize("n_classes", [*range(1, 40), 64, 65, 100])
def test_every_width_of_table(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    x = rng.integers(0, 3, (7, 20))
    table, constant = rng.normal(size=(20, n_classes)), rng.normal(size=n_classes)
    table[4] = np.nan
    out = np.zeros((7, n_classes))
    core.score_dense(x, table, constant, out)
    known = np.delete(np.arange(20), 4)
    np.testing.assert_allclose(out, x[:, known] @ (table[known] + constant), rtol=1e-12, atol=1e-12)


def test_minus_infinity_never_becomes_nan() -> None:
    out = np.full((2, 2), -np.inf)
    table = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
    core.score_codes([np.array([[0, 0], [0, 9]])], np.array([1, 1]), table, out)
    assert (out == -np.inf).all()
