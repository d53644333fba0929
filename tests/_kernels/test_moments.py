"""The dense numeric kernels against exact arithmetic, against their twins, and on numbers worked by hand."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.support.exact_moments import DIGITS, Array, assert_exact
from tests.twins import moments as twin

from naively._kernels import moments

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
examples = settings(max_examples=2000 if SOAK else 60, deadline=None)


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
    total, first, second = (
        moments.count_moments(x[part], label[part], None, 2)[:2] for part in (slice(None), slice(cut), slice(cut, None))
    )
    assert_exact(moments.add_moments(*first, *second, +1), x, label, None, 2)
    rest = moments.add_moments(*total, *first, -1)
    np.testing.assert_array_equal(rest[0], second[0])
    nothing = moments.add_moments(*total, *total, -1)
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
    actual, expected = moments.add_moments(*a, *b, sign), twin.add_moments(*a, *b, sign)
    np.testing.assert_array_equal(actual[0], expected[0])
    np.testing.assert_array_equal(actual[1][0], expected[1][0])
    if weight is None:
        np.testing.assert_array_equal(actual[1][[1, 8]], expected[1][[1, 8]])
        scale = np.abs(a[1][5]) + np.abs(b[1][5]) + actual[1][8] ** 2 * (a[1][0] + b[1][0])
        tiny = 2.0**-140 * np.minimum(scale, 1e300) + 1e-290
        for cell in np.ndindex(scale.shape):  # three doubles may stand for the same sum in more than one way
            parts = [*actual[1][5:8, *cell].tolist(), *(-expected[1][5:8, *cell]).tolist()]
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
    for actual, expected in zip(moments.describe_moments(*counted), twin.describe_moments(*counted), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=DIGITS)


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
def test_values_to_refuse_are_reported(bad: float) -> None:
    x = np.ones((50, 3))
    x[7, 1] = bad
    assert moments.count_moments(x, np.zeros(50, np.int32), None, 1)[2].tolist() == [1.0, abs(bad), 1.0]


def test_wrong_arguments() -> None:
    x, label = np.ones((3, 2)), np.array([0, 1, 2], np.int32)
    with pytest.raises(ValueError, match="label of row 2 is 2"):
        moments.count_moments(x, label, None, 2)
    with pytest.raises(ValueError, match="label of row 0 is -1"):
        moments.count_moments(x, label - 1, None, 3)
    with pytest.raises(ValueError, match="label has 2 entries, but 3"):
        moments.count_moments(x, label[:2], None, 3)
    with pytest.raises(ValueError, match="weight has 2 entries, but 3"):
        moments.count_moments(x, label, np.ones(2), 3)
    a, b = (moments.count_moments(x, label, None, k)[:2] for k in (3, 4))
    with pytest.raises(ValueError, match="differ in shape"):
        moments.add_moments(*a, *b, 1)
    with pytest.raises(ValueError, match="sign"):
        moments.add_moments(*a, *a, 2)
