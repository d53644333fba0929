"""The dense numeric kernels against exact arithmetic, against their twins, and on numbers worked by hand."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from naively.kernels import moments
from naively.kernels.twins import moments as twin

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
examples = settings(max_examples=2000 if SOAK else 60, deadline=None)

Array = npt.NDArray[Any]
DIGITS = 10**-15.5

# Values whose squares are normal numbers, of very different size and nearness.
values = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e150, 1e150).filter(lambda v: v == 0 or abs(v) > 1e-100),
    st.floats(-1, 1).map(lambda v: 1e8 + v),
    st.floats(-1, 1).map(lambda v: 1e15 + v),
    st.just(float("nan")),
)


@st.composite
def tables(draw: st.DrawFn, elements: st.SearchStrategy[float] = values) -> Array:
    """A table of either type in any layout: by row, by column, sliced, reversed or repeated."""
    dtype = draw(st.sampled_from([np.float64, np.float64, np.float32]))
    if dtype == np.float32:
        elements = st.floats(-(2.0**60), 2.0**60, width=32).filter(lambda v: v == 0 or abs(v) > 1e-15) | st.just(np.nan)
    shape = draw(st.tuples(st.integers(0, 40), st.integers(0, 9)))
    x = draw(hnp.arrays(dtype, shape, elements=elements, fill=elements))
    layout = draw(st.sampled_from(["C", "F", "sliced", "reversed", "repeated row", "repeated column"]))
    if layout == "F":
        x = np.asfortranarray(x)
    elif layout == "sliced":
        wide = np.full((2 * x.shape[0], 3 * x.shape[1]), np.inf, dtype)
        wide[::2, ::3] = x
        x = wide[::2, ::3]
    elif layout == "reversed":
        x = np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    elif layout == "repeated row" and len(x):
        x = np.broadcast_to(x[0], x.shape)
    elif layout == "repeated column" and x.shape[1]:
        x = np.broadcast_to(x[:, :1], x.shape)
    return x


def labels(n: int, n_classes: int) -> st.SearchStrategy[Array]:
    return hnp.arrays(np.int32, n, elements=st.integers(0, n_classes - 1))


def weights(n: int) -> st.SearchStrategy[Array | None]:
    return st.none() | hnp.arrays(np.float64, n, elements=st.floats(1e-3, 1e3))


def exact(x: Array, label: Array, weight: Array | None, n_classes: int) -> tuple[Array, Array]:
    """Mean and squares of every cell in rational arithmetic, rounded once."""
    mean, squares = np.zeros((n_classes, x.shape[1])), np.zeros((n_classes, x.shape[1]))
    weight = np.ones(len(x)) if weight is None else weight
    for c, j in np.ndindex(*mean.shape):
        cell = [
            (Fraction(w), Fraction(float(v)))
            for v, w, k in zip(x[:, j].tolist(), weight.tolist(), label.tolist(), strict=True)
            if k == c and v == v
        ]
        if cell:
            n = sum((w for w, _ in cell), Fraction(0))
            centre = sum((w * v for w, v in cell), Fraction(0)) / n
            mean[c, j] = float(centre)
            squares[c, j] = float(sum((w * (v - centre) ** 2 for w, v in cell), Fraction(0)))
    return mean, squares


def assert_exact(counted: tuple[Array, Array], x: Array, label: Array, weight: Array | None, n_classes: int) -> None:
    mean, squares = moments.describe_moments(*counted)
    true_mean, true_squares = exact(x, label, weight, n_classes)
    # A rounded n moves the mean by a unit of its distance from the shift, at most the reach.
    scale = np.abs(true_mean) if weight is None else np.abs(true_mean) + np.minimum(counted[1][8], 1e300)
    assert (np.abs(mean - true_mean) <= DIGITS * scale).all()
    slack = 1 if weight is None else 40  # (mean − shift)² / variance, see core/moments.hpp
    assert (np.abs(squares - true_squares) <= slack * DIGITS * true_squares).all()


@examples
@given(st.data())
def test_counts_exactly(data: st.DataObject) -> None:
    x = data.draw(tables())
    label, weight = data.draw(labels(len(x), 3)), data.draw(weights(len(x)))
    rows, state, largest = moments.count_moments(x, label, weight, 3)
    twin_rows, twin_state, twin_largest = twin.count_moments(x, label, weight, 3)
    np.testing.assert_array_equal(rows, twin_rows)
    np.testing.assert_array_equal(largest, twin_largest)
    np.testing.assert_allclose(state[0], twin_state[0], rtol=DIGITS)
    assert (state[:, rows == 0] == 0).all()
    assert_exact((rows, state), x, label, weight, 3)


@examples
@given(st.data())
def test_parts_add_up_and_subtract(data: st.DataObject) -> None:
    x = data.draw(tables())
    label = data.draw(labels(len(x), 2))
    cut = data.draw(st.integers(0, len(x)))
    whole, first, second = (
        moments.count_moments(x[part], label[part], None, 2)[:2] for part in (slice(None), slice(cut), slice(cut, None))
    )
    assert_exact(moments.add_moments(*first, *second, +1), x, label, None, 2)
    rest = moments.add_moments(*whole, *first, -1)
    np.testing.assert_array_equal(rest[0], second[0])
    nothing = moments.add_moments(*whole, *whole, -1)
    assert not nothing[0].any()
    assert not nothing[1].any()


@examples
@given(st.data())
def test_adds_as_its_twin(data: st.DataObject) -> None:
    x = data.draw(tables())
    label, weight = data.draw(labels(len(x), 2)), data.draw(weights(len(x)))
    cut, sign = data.draw(st.integers(0, len(x))), data.draw(st.sampled_from([1, -1]))
    a, b = (
        moments.count_moments(x[part], label[part], None if weight is None else weight[part], 2)[:2]
        for part in (slice(cut), slice(cut, None))
    )
    if sign == -1:  # what is taken away must be part of what there is
        a = moments.add_moments(*a, *b, +1)
    ours, theirs = moments.add_moments(*a, *b, sign), twin.add_moments(*a, *b, sign)
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1][0], theirs[1][0])
    if weight is None:
        np.testing.assert_array_equal(ours[1][[1, 8]], theirs[1][[1, 8]])
        scale = np.abs(a[1][5]) + np.abs(b[1][5]) + ours[1][8] ** 2 * (a[1][0] + b[1][0])
        tiny = 2.0**-140 * np.minimum(scale, 1e300) + 1e-290
        for cell in np.ndindex(scale.shape):  # three doubles may stand for the same sum in more than one way
            parts = [*ours[1][5:8, *cell].tolist(), *(-theirs[1][5:8, *cell]).tolist()]
            assert abs(math.fsum(parts)) < tiny[cell]


@examples
@given(st.data())
def test_pools_as_its_twin(data: st.DataObject) -> None:
    x = data.draw(tables())
    label = data.draw(labels(len(x), 3))
    counted = moments.count_moments(x, label, None, 3)[:2]
    assert_exact(moments.pool_moments(*counted), x, np.zeros_like(label), None, 1)
    np.testing.assert_array_equal(moments.pool_moments(*counted)[0], twin.pool_moments(*counted)[0])


@examples
@given(st.data())
def test_describes_as_its_twin(data: st.DataObject) -> None:
    x = data.draw(tables())
    label, weight = data.draw(labels(len(x), 2)), data.draw(weights(len(x)))
    counted = moments.count_moments(x, label, weight, 2)[:2]
    for ours, theirs in zip(moments.describe_moments(*counted), twin.describe_moments(*counted), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=DIGITS)


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
        some = None if weight is None else weight[order]
        rows, state, _ = moments.count_moments(x[order], label[order], some, 2)
        assert_exact((rows, state), x, label, weight, 2)


@pytest.mark.parametrize("outliers", [1, 7, 300])
def test_forgetting_outliers_leaves_no_trace(outliers: int) -> None:
    rng = np.random.default_rng(outliers)
    x, label = rng.normal(size=(1000, 2)), np.zeros(1000, np.int32)
    x[:outliers] *= 1e9
    whole = moments.count_moments(x, label, None, 1)[:2]
    part = moments.count_moments(x[:outliers], label[:outliers], None, 1)[:2]
    rest = moments.add_moments(*whole, *part, -1)
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
    whole, part = (moments.count_moments(x[r], label[r], None, 2)[:2] for r in (slice(None), large))
    assert_exact(moments.add_moments(*whole, *part, -1), x[~large], label[~large], None, 2)


@pytest.mark.parametrize("single", [False, True])
def test_long_runs_of_near_values_are_exact(single: bool) -> None:
    """Rows in the thousands, so that all of `near_run.hpp` is used; 10⁹ times larger rows show what its sums lose."""
    rng = np.random.default_rng(11)
    x = np.concatenate([1e9 * rng.normal(size=(3000, 26)), rng.normal(size=(500, 26))])
    x = x.astype(np.float32) if single else x
    label = np.zeros(len(x), np.int32)
    order = rng.permutation(len(x))
    large, rest = (moments.count_moments(x[r], label[r], None, 1)[:2] for r in (slice(3000), slice(3000, None)))
    whole = moments.count_moments(x[order], label, None, 1)[:2]
    left = moments.add_moments(*whole, *large, -1)
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
        mine = x[label == c]
        np.testing.assert_allclose(mean[c], np.nanmean(mine, axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(squares[c], np.nanvar(mine, axis=0) * (mine == mine).sum(0), rtol=1e-6, atol=1e-20)


def test_worked_by_hand() -> None:
    x = np.array([[1.0, np.nan], [3.0, 5.0], [8.0, np.nan]])
    rows, state, largest = moments.count_moments(x, np.array([0, 0, 1], np.int32), np.array([1.0, 3.0, 2.0]), 2)
    assert rows.tolist() == [[2, 1], [1, 0]]
    assert largest.tolist() == [8.0, 5.0]
    assert state[0].tolist() == [[4.0, 3.0], [2.0, 0.0]]
    mean, squares = moments.describe_moments(rows, state)
    assert mean.tolist() == [[2.5, 5.0], [8.0, 0.0]]
    assert squares.tolist() == [[3.0, 0.0], [0.0, 0.0]]  # 1 · 1.5² + 3 · 0.5²
    pooled_mean, pooled_squares = moments.describe_moments(*moments.pool_moments(rows, state))
    assert pooled_mean.tolist() == [[26 / 6, 5.0]]
    np.testing.assert_allclose(pooled_squares, [[156 - 26**2 / 6, 0.0]], rtol=1e-15)  # Σwx² − (Σwx)²/n


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e200, -1.7e308])
def test_values_to_refuse_are_told(bad: float) -> None:
    x = np.ones((50, 3))
    x[7, 1] = bad
    assert moments.count_moments(x, np.zeros(50, np.int32), None, 1)[2].tolist() == [1.0, abs(bad), 1.0]


def test_wrong_arguments() -> None:
    x, label = np.ones((3, 2)), np.array([0, 1, 2], np.int32)
    with pytest.raises(ValueError, match="label holds 2 in row 2"):
        moments.count_moments(x, label, None, 2)
    with pytest.raises(ValueError, match="label holds -1"):
        moments.count_moments(x, label - 1, None, 3)
    with pytest.raises(ValueError, match="one label per row"):
        moments.count_moments(x, label[:2], None, 3)
    with pytest.raises(ValueError, match="one weight per row"):
        moments.count_moments(x, label, np.ones(2), 3)
    a, b = (moments.count_moments(x, label, None, k)[:2] for k in (3, 4))
    with pytest.raises(ValueError, match="differ in shape"):
        moments.add_moments(*a, *b, 1)
    with pytest.raises(ValueError, match="sign"):
        moments.add_moments(*a, *a, 2)
