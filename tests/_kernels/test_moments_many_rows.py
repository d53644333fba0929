"""Moments of so many rows that all paths of the kernels are taken; and what is left when large values leave again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.exact_moments import Array, assert_exact

from naively._kernels import moments


def many(rng: np.random.Generator, n: int, kind: str) -> Array:
    noise = rng.normal(size=(n, 3))
    return {
        "normal": noise,
        "near 1e8": 1e8 + noise,
        "near 30": 30 + noise,
        "long tails": np.exp(4 * noise),
        "skewed": np.exp(noise),
        "tiny among": np.where(rng.random((n, 3)) < 0.01, 1e-7 * noise, noise),
        "mostly zero": np.where(rng.random((n, 3)) < 0.02, noise, 0.0),
        "missing": np.where(rng.random((n, 3)) < 0.3, np.nan, noise),
        "drifting": np.repeat([1.0, 1e8, 3.0, 1e-8], -(-n // 4))[:n, None] * (1 + noise),
        "constant": np.full((n, 3), 0.1),
    }[kind]


KINDS = ["normal", "near 1e8", "near 30", "long tails", "skewed", "tiny among"]
KINDS += ["mostly zero", "missing", "drifting", "constant"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows(kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(len(kind))
    x, label = many(rng, 2500, kind), rng.integers(0, 2, 2500).astype(np.int32)
    weight = rng.exponential(size=2500) + 1e-3 if weighted else None
    rows, state, _ = moments.count_moments(x, label, weight, 2)
    assert_exact((rows, state), x, label, weight, 2)
    order = rng.permutation(2500)
    again = moments.count_moments(x[order], label[order], None if weight is None else weight[order], 2)
    assert_exact(again[:2], x, label, weight, 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [1, 200, 1100, 2400])
def test_values_may_come_late(missing: int, weighted: bool) -> None:
    """A column whose first rows are all missing, in the first class only and in both."""
    rng = np.random.default_rng(missing)
    x, label = rng.normal(size=(2500, 5)), np.repeat([0, 1], 1250).astype(np.int32)
    x[:missing, 1], x[:1250, 3], x[1250 : 1250 + missing, 3] = np.nan, np.nan, np.nan
    weight = rng.exponential(size=2500) + 1e-3 if weighted else None
    for order in (np.arange(2500), np.argsort(np.isfinite(x[:, 3]), kind="stable")):
        ordered_weight = None if weight is None else weight[order]
        rows, state, _ = moments.count_moments(x[order], label[order], ordered_weight, 2)
        assert_exact((rows, state), x, label, weight, 2)


@pytest.mark.parametrize("outliers", [1, 7, 300])
def test_forgetting_outliers_leaves_no_trace(outliers: int) -> None:
    rng = np.random.default_rng(outliers)
    x, label = rng.normal(size=(1000, 2)), np.zeros(1000, np.int32)
    x[:outliers] *= 1e9
    total = moments.count_moments(x, label, None, 1)[:2]
    part = moments.count_moments(x[:outliers], label[:outliers], None, 1)[:2]
    rest = moments.add_moments(*total, *part, -1)
    assert_exact(rest, x[outliers:], label[outliers:], None, 1)
    assert (rest[1][8] >= 1e8).all()  # it is remembered how far the values once reached


@pytest.mark.parametrize("kind", ["normal", "skewed", "tiny among"])
@pytest.mark.parametrize("single", [False, True])
def test_forgetting_large_values_among_others(kind: str, single: bool) -> None:
    rng = np.random.default_rng(3)
    x, label = many(rng, 3000, kind), rng.integers(0, 2, 3000).astype(np.int32)
    large = rng.random(3000) < 0.5
    x[large] *= 1e9
    x = x.astype(np.float32) if single else x
    total, part = (moments.count_moments(x[r], label[r], None, 2)[:2] for r in (slice(None), large))
    assert_exact(moments.add_moments(*total, *part, -1), x[~large], label[~large], None, 2)


@pytest.mark.parametrize("single", [False, True])
def test_long_runs_of_near_values_are_exact(single: bool) -> None:
    """Rows in the thousands, so that all of `near_run.hpp` is used; 10⁹ times larger rows show what its sums lose."""
    rng = np.random.default_rng(11)
    x = np.concatenate([1e9 * rng.normal(size=(3000, 26)), rng.normal(size=(500, 26))])
    x = x.astype(np.float32) if single else x
    label = np.zeros(len(x), np.int32)
    order = rng.permutation(len(x))
    large, rest = (moments.count_moments(x[r], label[r], None, 1)[:2] for r in (slice(3000), slice(3000, None)))
    total = moments.count_moments(x[order], label, None, 1)[:2]
    left = moments.add_moments(*total, *large, -1)
    for got, wanted in zip(moments.describe_moments(*left), moments.describe_moments(*rest), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=5e-15, atol=1e-17)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("single", [False, True])
def test_extremes_of_long_runs(kind: str, single: bool) -> None:
    rng = np.random.default_rng(5)
    x, label = many(rng, 20_000, kind), rng.integers(0, 2, 20_000).astype(np.int32)
    x = np.concatenate([x, 7 - x], axis=1)
    x = x.astype(np.float32) if single else x
    _, state, largest = moments.count_moments(x, label, None, 2)
    np.testing.assert_array_equal(largest, np.nanmax(np.abs(x), axis=0))
    for c in range(2):
        true = np.nanmax(np.abs(x[label == c].astype(np.float64) - state[1, c]), axis=0)
        assert (state[8, c] >= true * (1 - 1e-15)).all()
        assert (state[8, c] <= 3 * true + 2 * np.abs(state[1, c])).all()


def test_forgetting_row_by_row() -> None:
    rng = np.random.default_rng(0)
    x, label = rng.normal(size=(200, 2)), np.zeros(200, np.int32)
    x[0] = 1e9
    total = moments.count_moments(x, label, None, 1)[:2]
    for i in rng.permutation(150):
        one = moments.count_moments(x[i : i + 1], label[:1], None, 1)[:2]
        total = moments.add_moments(*total, *one, -1)
    assert_exact(total, x[150:], label[150:], None, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 400])
def test_the_number_of_threads_changes_nothing(kind: str, n_classes: int) -> None:
    rng = np.random.default_rng(1)
    n = 60_000
    x, label = many(rng, n, kind), rng.integers(0, n_classes, n).astype(np.int32)
    one = moments.count_moments(x, label, None, n_classes, 1)
    for table in (x, np.asfortranarray(x)):
        two = moments.count_moments(table, label, None, n_classes, 2)
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)
    mean, squares = moments.describe_moments(*one[:2])
    for c in range(0, n_classes, 97):
        own_values = x[label == c]
        np.testing.assert_allclose(mean[c], np.nanmean(own_values, axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            squares[c], np.nanvar(own_values, axis=0) * (own_values == own_values).sum(0), rtol=1e-6, atol=1e-20
        )
