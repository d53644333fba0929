"""Laws of the histogram where its level rises: a small cap, and numbers of every size."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.strategies import assert_same_statistic
from tests.twins.histogram import order

from naively.statistics import ClassWeights, CountPlan, Histogram, NegativeCountError, Numbers

numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(0, 60).map(lambda k: 1.7e9 + k / 4096),
    st.integers(-9, 9).map(lambda k: k * 5e-324),
)


@st.composite
def drawn_parts(draw: st.DrawFn, most: int = 4) -> tuple[list[tuple[Any, ...]], int]:
    """Rows in up to `most` parts, (x, label, weight) each, with dyadic weights; and a cap."""
    parts = []
    for _ in range(draw(st.integers(1, most))):
        n = draw(st.integers(0, 15))
        x = np.array(draw(st.lists(st.tuples(numbers, numbers), min_size=n, max_size=n)), np.float64).reshape(n, 2)
        label = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
        weight = np.array(draw(st.lists(st.integers(1, 32).map(lambda k: k / 8), min_size=n, max_size=n)), np.float64)
        parts.append((x, label, weight))
    return parts, draw(st.sampled_from([2, 3, 5, 8]))


def counted(part: tuple[Any, ...], cap: int) -> Histogram:
    x, label, weight = part
    return Histogram.count(x, label, weight, n_classes=3, plan=CountPlan(cap))


def together(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


@given(drawn_parts(), st.randoms(use_true_random=False))
def test_parts_add_up_to_the_total_in_any_order(drawn: Any, random: Any) -> None:
    parts, cap = drawn
    total = counted(together(parts), cap)
    shuffled = random.sample(parts, len(parts))
    assert_same_statistic(functools.reduce(operator.add, (counted(p, cap) for p in shuffled)), total)


@given(drawn_parts(), drawn_parts(), drawn_parts())
def test_addition_is_associative(one: Any, two: Any, three: Any) -> None:
    """On any triple, of different caps too: the sum has the smallest."""
    a, b, c = (counted(together(parts), cap) for parts, cap in (one, two, three))
    assert_same_statistic((a + b) + c, a + (b + c))
    assert_same_statistic(a + b, b + a)


@given(drawn_parts())
def test_total_minus_part_is_the_rest_at_the_level_of_the_total(drawn: Any) -> None:
    parts, cap = drawn
    total = counted(together(parts), cap)
    rest = total - counted(parts[0], cap)
    np.testing.assert_array_equal(rest.cells.levels, total.cells.levels)
    others = counted(together([*parts[1:], tuple(array[:0] for array in parts[0])]), cap)
    at_level = total + others - total  # adding and taking the total away only lifts the level
    if (at_level.cells.levels == total.cells.levels).all():
        assert_same_statistic(rest, at_level)
    assert_same_statistic(rest + counted(parts[0], cap), total)
    none = functools.reduce(operator.sub, (counted(p, cap) for p in parts), total)
    assert len(none.cells.keys) == 0


@given(drawn_parts(most=1))
def test_weight_two_is_the_row_twice(drawn: Any) -> None:
    [part], cap = drawn
    x, label, weight = part
    assert_same_statistic(counted((x, label, 2 * weight), cap), counted(together([part, part]), cap), row_counts=False)


@given(drawn_parts(most=2))
def test_what_was_not_counted_cannot_be_taken_away(drawn: Any) -> None:
    parts, cap = drawn
    total = counted(parts[0], cap)
    more = total + counted((np.array([[0.0, 7.0]]), np.array([1], np.int32), np.ones(1)), cap)
    with pytest.raises(NegativeCountError) as refused:
        _ = total - more
    assert refused.value.class_position == 1
    assert refused.value.column in (0, 1)


@given(drawn_parts(most=1))
def test_columns_and_classes_in_another_order(drawn: Any) -> None:
    [part], cap = drawn
    x, label, weight = part
    stats = counted(part, cap)
    turned = stats.take_columns(np.array([1, -1, 0]))
    gap = np.full(len(x), np.nan)
    assert_same_statistic(turned, counted((np.stack([x[:, 1], gap, x[:, 0]], axis=1), label, weight), cap))
    moved = stats.place_classes(np.array([0, 2, 4], np.int32), 5)
    assert_same_statistic(moved, Histogram.count(x, label * 2, weight, n_classes=5, plan=CountPlan(cap)))
    present, _ = stats.rows_present(ClassWeights.count(None, label, weight, 3))
    np.testing.assert_allclose(present.sum(axis=0), weight @ ~np.isnan(x), rtol=1e-15)


def test_no_columns_take_the_cap_of_the_others() -> None:
    seen = ClassWeights.count(None, np.array([0, 1]), None, 2)
    none = Histogram.empty(seen).take_columns(np.array([-1, -1]))
    counts = Histogram.count(np.arange(20.0).reshape(10, 2), np.zeros(10, int), None, 2, plan=CountPlan(300))
    assert_same_statistic(none + counts, counts)


def one_column(x: Any, cap: int = 4096) -> Histogram:
    x = np.asarray(x)
    return Histogram.count(x, np.zeros(len(x), np.int32), None, n_classes=1, plan=CountPlan(cap))


def test_ties_zeros_infinities_and_missing_values() -> None:
    stats = one_column([0.0, -0.0, 1.0, 1.0, np.inf, -np.inf, np.inf, np.nan])
    assert stats.values.tolist() == [-np.inf, 0.0, 1.0, np.inf]
    assert stats.cells.rows.tolist() == [1, 2, 2, 2]
    assert not np.signbit(stats.values[1])


def test_infinities_never_join_and_do_not_fill_the_cap() -> None:
    big = np.finfo(np.float64).max
    stats = one_column([-np.inf, -big, -1.0, 0.0, 1.0, big, np.inf], cap=2)
    assert stats.cells.levels.tolist() == [63]
    assert stats.cells.keys[1:-1].tolist() == [-1, 0]
    assert stats.cells.rows.tolist() == [1, 2, 3, 1]


def test_subnormals_are_distinct() -> None:
    assert one_column(np.arange(-5, 6) * 5e-324).cells.rows.tolist() == [1] * 11


def test_integers_beyond_53_bits_are_the_nearest_float() -> None:
    stats = one_column(np.array([2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1]))
    assert stats.values.tolist() == [-(2.0**53), 2.0**53, 2.0**53 + 2]
    assert stats.cells.rows.tolist() == [1, 2, 1]


def test_timestamps_with_a_large_offset_keep_their_order() -> None:
    """A million seconds from 1.7e9 on: 4,096 buckets of neighbours, none of them twice as full as need be."""
    stats = one_column(1.7e9 + np.arange(1_000_000))
    assert 2048 < len(stats.cells.keys) <= 4096
    assert stats.cells.rows.max() == 256  # the power of two above 1,000,000 / 4,096
    assert (np.diff(stats.values) > 0).all()


@pytest.mark.parametrize("x", [np.full(9, 4.5), np.full(9, np.nan), np.zeros((0,)), np.array([3.0])])
def test_columns_with_little_in_them(x: NDArray[Any]) -> None:
    stats = one_column(x)
    assert stats.cells.levels.tolist() == [0]
    assert stats.cells.rows.sum() == np.isfinite(x).sum()
    assert len(stats.cells.keys) == min(1, np.isfinite(x).sum())


def test_sparse_columns_count_their_zeros() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-1, 2, (30, 100)) * (rng.random((30, 100)) < 0.2)
    label = rng.integers(0, 2, 30)
    dense = Histogram.count(x.astype(np.float64), label, None, 2)
    mixed = Numbers((sp.csr_array(x[:, :90]), x[:, 90:]))
    assert_same_statistic(Histogram.count(mixed, label, None, 2), dense)


def test_ten_thousand_columns() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 10_000)).astype(np.float32)
    label = rng.integers(0, 2, 600)
    total = Histogram.count(x, label, None, 2, plan=CountPlan(256))
    assert np.diff(total.cells.offsets).max() <= 512
    assert_same_statistic(
        Histogram.count(x[:300], label[:300], None, 2, plan=CountPlan(256))
        + Histogram.count(x[300:], label[300:], None, 2, plan=CountPlan(256)),
        total,
    )
    level = int(total.cells.levels[77])
    keys = np.unique([order(v) >> level for v in x[:, 77].tolist()])
    np.testing.assert_array_equal(np.unique(total.cells.keys[slice(*total.cells.offsets[77:79])]), keys)
