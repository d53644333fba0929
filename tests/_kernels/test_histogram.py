"""The histogram kernels: against their twins, at the edges of float64, and for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.twins import histogram as twin

from naively._kernels.histogram import (
    HistogramCells,
    count_histogram,
    cut_histogram,
    find_bins,
    key_values,
    merge_histograms,
    score_bin_columns,
    score_bins,
)

TYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]

few = st.integers(-3, 3).map(float)
any_number = st.floats(allow_nan=True, allow_infinity=True)
near = st.integers(0, 40).map(lambda k: 1.7e9 + k / 1024)
tiny = st.integers(-8, 8).map(lambda k: k * 5e-324)
values = st.one_of(few, any_number, near, tiny, st.sampled_from([np.nan, np.inf, -np.inf, -0.0]))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[NDArray[Any]], NDArray[np.int32], NDArray[np.float64] | None, int, int]:
    """Pieces of some columns each, labels, dyadic weights, the number of classes, and a small cap."""
    n, n_classes = draw(st.integers(0, 40)), draw(st.sampled_from([1, 2, 3, 200]))
    pieces = []
    for width in draw(st.lists(st.integers(0, 10), min_size=0, max_size=3)):
        rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), min_size=n, max_size=n))
        pieces.append(strided(np.array(rows, np.float64).reshape(n, width), draw(st.integers(0, 4))))
    label = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)), np.int32)
    weight = draw(st.none() | st.lists(st.integers(1, 32).map(lambda k: k / 8), min_size=n, max_size=n).map(np.array))
    return pieces, label, None if weight is None else weight.astype(np.float64), n_classes, draw(st.integers(2, 20))


def strided(x: NDArray[Any], how: int) -> NDArray[Any]:
    """The same array lying otherwise in memory."""
    if how == 1:
        return np.asfortranarray(x)
    if how == 2:
        return np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3]
    if how == 3:
        return np.ascontiguousarray(x[::-1])[::-1]
    return np.ascontiguousarray(x[:, ::-1])[:, ::-1] if how == 4 else x


def same(a: HistogramCells, b: HistogramCells) -> None:
    for name in a._fields:
        one, two = getattr(a, name), getattr(b, name)
        np.testing.assert_array_equal(one, two, err_msg=name)
        assert one.dtype == two.dtype


@given(tables())
def test_counting_is_counting_all_values_exactly_and_then_joining(drawn: Any) -> None:
    pieces, label, weight, n_classes, cap = drawn
    counted = count_histogram(pieces, label, weight, n_classes, cap)
    same(counted, twin.count_histogram(pieces, label, weight, n_classes, cap))


@given(tables(), st.integers(0, 40), st.sampled_from([1, -1]))
def test_merging_agrees_with_its_twin(drawn: Any, cut: int, sign: int) -> None:
    pieces, label, weight, n_classes, cap = drawn
    halves = []
    for rows in (slice(cut), slice(cut, None)):
        part_weight = None if weight is None else weight[rows]
        halves.append(count_histogram([x[rows] for x in pieces], label[rows], part_weight, n_classes, cap))
    merged = merge_histograms(halves[0], halves[1], sign, cap)
    same(merged, twin.merge_histograms(halves[0], halves[1], sign, cap))
    if sign > 0:
        same(merged, count_histogram(pieces, label, weight, n_classes, cap))


@given(tables(), st.integers(0, 40))
def test_rows_to_be_added_may_begin_at_the_levels_of_the_others(drawn: Any, cut: int) -> None:
    pieces, label, weight, n_classes, cap = drawn
    first = count_histogram(
        [x[:cut] for x in pieces], label[:cut], None if weight is None else weight[:cut], n_classes, cap
    )
    more = [x[cut:] for x in pieces], label[cut:], None if weight is None else weight[cut:], n_classes, cap, 1
    at_level = count_histogram(*more, first.levels)
    same(at_level, twin.count_histogram(*more, first.levels))
    assert (at_level.levels >= first.levels).all()
    same(
        merge_histograms(first, at_level, 1, cap),
        merge_histograms(first, count_histogram(*more), 1, cap),
    )


NANS = np.array([0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 5, 0x7FF0000000000001, 0xFFFDEADBEEF5EED5], np.uint64)


@pytest.mark.parametrize("cap", [4, 300, 4096])
@pytest.mark.parametrize("kind", ["whole", "near", "wide"])
def test_nan_and_infinities_are_distinct_at_every_level(cap: int, kind: str) -> None:
    """Any NaN is missing and an infinity is not, also where keys of numbers are close to theirs."""
    rng = np.random.default_rng(7)
    x = {
        "whole": rng.integers(-9, 9, 20_000) * 1.0,
        "near": 1.7e9 + rng.random(20_000),
        "wide": rng.choice([-1, 1], 20_000) * 2.0 ** rng.uniform(-1074, 1024, 20_000),
    }[kind]
    special = np.concatenate(
        [NANS.view(np.float64), [np.uint64(0x7FFDEADBEEF5EED5).view(np.float64)], [np.inf, -np.inf]]
    )
    x[::7] = rng.choice([*special, -0.0, 0.0], len(x[::7]))
    label = rng.integers(0, 2, len(x)).astype(np.int32)
    counted = count_histogram([x[:, None]], label, None, 2, cap)
    same(counted, twin.count_histogram([x[:, None]], label, None, 2, cap))


@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.lists(values, min_size=5, max_size=5), st.lists(any_number.filter(lambda v: v == v)))),
    st.sampled_from([0, 1, 30, 52, 60, 63]),
    st.sampled_from(TYPES[:2]),
)
def test_bins_equal_those_of_the_twin(
    n: int, columns: list[tuple[list[float], list[float]]], level: int, kind: str
) -> None:
    with np.errstate(over="ignore"):
        pieces = [np.array(numbers[:n])[:, None].astype(kind) for numbers, _ in columns]
    cuts = np.concatenate([np.zeros(0), *(np.sort(of_column) for _, of_column in columns)])
    offsets = np.cumsum([0, *(len(of_column) for _, of_column in columns)])
    levels = np.array([level if j % 2 else 0 for j in range(len(columns))], np.int64)
    given_to_both = pieces, n, levels, cuts, offsets
    np.testing.assert_array_equal(find_bins(*given_to_both), twin.find_bins(*given_to_both))


def test_bins_refuse_other_shapes() -> None:
    one = np.zeros((2, 1))
    with pytest.raises(ValueError, match="a piece has the shape"):
        find_bins([one], 3, np.zeros(1, np.int64), np.zeros(0), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="levels has 2 entries"):
        find_bins([one], 2, np.zeros(2, np.int64), np.zeros(0), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="a level lies outside"):
        find_bins([one], 2, np.full(1, 64), np.zeros(0), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="offsets must rise"):
        find_bins([one], 2, np.zeros(1, np.int64), np.zeros(1), np.zeros(2, np.int64))


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_read_as_the_nearest_float64(kind: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 100, (50, 3)).astype(kind)
    if kind in ("i8", "u8"):
        x[0] = 2**53 + 1  # its nearest float64 is 2^53
    label = rng.integers(0, 3, 50).astype(np.int32)
    counted = count_histogram([x], label, None, 3, 4096)
    same(counted, count_histogram([x.astype(np.float64)], label, None, 3, 4096))
    same(counted, twin.count_histogram([x], label, None, 3, 4096))


@pytest.mark.parametrize("n_classes", [2, 70_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(n_classes: int, weighted: bool) -> None:
    """300,000 rows are three chunks; two columns rise, one stays exact, and weights are not dyadic."""
    rng = np.random.default_rng(5)
    n = 300_000
    x = np.stack([rng.normal(size=n), rng.integers(0, 9, n), 1.7e9 + np.arange(n) / 7], axis=1)
    x[rng.random(x.shape) < 0.01] = np.nan
    label = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.random(n) + 0.5 if weighted else None
    one, two, five = (count_histogram([x], label, weight, n_classes, 1000, jobs) for jobs in (1, 2, 5))
    same(one, two)
    same(one, five)
    same(one, count_histogram([x[:, :1], np.asfortranarray(x[:, 1:])], label, weight, n_classes, 1000))
    assert one.levels[1] == 0
    assert (np.array([len(set(k)) for k in np.split(one.keys, one.offsets[1:-1])]) <= 1000).all()


@pytest.mark.parametrize("order", ["as it comes", "sorted", "outlier first"])
def test_the_level_is_the_smallest_that_fits_in_any_order(order: str) -> None:
    rng = np.random.default_rng(6)
    x = rng.lognormal(0, 3, 200_000) * rng.choice([-1, 1], 200_000)
    x = np.sort(x) if order == "sorted" else x
    if order == "outlier first":
        x[0] = 1e300
    label = np.zeros(len(x), np.int32)
    cells = count_histogram([x[:, None]], label, None, 1, 4096)
    codes = np.unique([twin.order(v) for v in x.tolist()])
    level = int(cells.levels[0])
    assert len(np.unique(codes >> level)) <= 4096 < len(np.unique(codes >> (level - 1)))
    np.testing.assert_array_equal(cells.keys, np.unique(codes >> level))


def test_values_of_keys() -> None:
    x = np.array([-np.inf, -1e308, -1.5, -5e-324, 0.0, 5e-324, 1.0, 1e308, np.inf])
    cells = count_histogram([x[:, None]], np.zeros(9, np.int32), None, 1, 4096)
    low, high = key_values(cells.keys, np.zeros(9, np.int64))
    np.testing.assert_array_equal(low, x)
    np.testing.assert_array_equal(high, x)
    for level in range(64):
        keys = np.array([twin.order(v) >> level for v in x[1:-1].tolist()])
        low, high = key_values(keys, np.full(len(keys), level))
        assert (low <= x[1:-1]).all()
        assert (x[1:-1] <= high).all()


@st.composite
def small_tables(draw: st.DrawFn) -> NDArray[np.float64]:
    """Counts (key, class) in which every key and class is seen."""
    k, j = draw(st.integers(2, 12)), draw(st.integers(2, 4))
    cells = st.integers(0, 6) if draw(st.booleans()) else st.integers(0, 48).map(lambda n: n / 8)
    table = np.array(draw(st.lists(st.lists(cells, min_size=j, max_size=j), min_size=k, max_size=k)), np.float64)
    return np.asarray(table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0])


def bounds_of(table: NDArray[np.float64]) -> list[int]:
    key, label = np.nonzero(table)
    cells = HistogramCells(
        np.zeros(1, np.int64),
        np.array([0, len(key)]),
        key.astype(np.int64),
        label.astype(np.int32),
        table[key, label],
        np.ones(len(key), np.int64),
    )
    starts, _ = cut_histogram(cells, table.shape[1])
    return [0, *(int(key[start]) for start in starts), len(table)]


@given(small_tables())
def test_the_bins_are_nearly_the_best_of_all(table: NDArray[np.float64]) -> None:
    """The search is greedy and then local; it may miss the best by a little, never by a row's worth of evidence."""
    if table.shape[0] < 2 or table.shape[1] < 2:
        return
    cost = twin.discretisation_cost(table, bounds_of(table))
    best, bounds = twin.best_bounds(table)
    assert cost <= twin.discretisation_cost(table, [0, len(table)]) + 1e-6
    assert best - 1e-6 <= cost <= best + 2.0, bounds


def test_the_bins_are_mostly_the_best_of_all() -> None:
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(100):
        share = np.repeat(rng.dirichlet([0.5, 0.5], 3), 5, axis=0)
        table = np.array([rng.multinomial(12, p) for p in share], np.float64)
        missed += twin.discretisation_cost(table, bounds_of(table)) > twin.best_bounds(table)[0] + 1e-6
    assert missed <= 3


@given(tables(), st.integers(0, 6), st.integers(0, 2**32))
def test_scores_of_bins(drawn: Any, most: int, seed: int) -> None:
    pieces, label, *_ = drawn
    rng = np.random.default_rng(seed)
    p = sum(x.shape[1] for x in pieces)
    columns = [np.sort(rng.choice([-np.inf, -1.7e308, -2, 0, 1, 1.7e9, np.inf], most)) for _ in range(p)]
    offsets = np.arange(p + 1, dtype=np.int64) * most
    cuts = np.concatenate([*columns, np.zeros(0)])
    table = rng.normal(size=(p * (most + 1), 3))
    one, two, three = (np.ones((len(label), 3)) for _ in range(3))
    score_bins(pieces, cuts, offsets, table, one)
    score_bins(pieces, cuts, offsets, table, two, n_jobs=3)
    twin.score_bins(pieces, cuts, offsets, table, three)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, three, rtol=1e-14, atol=1e-14)
    apart = np.zeros((p, *one.shape))
    score_bin_columns([x[:, j : j + 1] for x in pieces for j in range(x.shape[1])], cuts, offsets, table, apart)
    np.testing.assert_allclose(1.0 + apart.sum(axis=0), one, rtol=1e-14, atol=1e-14)


def test_refusals() -> None:
    x, label = np.zeros((2, 1)), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="labels must lie in"):
        count_histogram([x], label + 5, None, 2, 10)
    with pytest.raises(ValueError, match=r"a piece has the shape \(1, 1\), but \(2, any\)"):
        count_histogram([x[:1]], label, None, 2, 10)
    with pytest.raises(ValueError, match="cap must lie in"):
        count_histogram([x], label, None, 2, 1)
    with pytest.raises(ValueError, match="min_level has 2 entries, but 1"):
        count_histogram([x], label, None, 2, 10, 1, np.zeros(x.shape[1] + 1, np.int64))
    with pytest.raises(ValueError, match="level lies outside"):
        count_histogram([x], label, None, 2, 10, 1, np.full(x.shape[1], 64))
    with pytest.raises(ValueError, match="numbers are needed"):
        count_histogram([x.astype(str)], label, None, 2, 10)
    cells = count_histogram([x], label, None, 2, 10)
    with pytest.raises(ValueError, match="1 and 0 columns"):
        merge_histograms(cells, HistogramCells.empty(0), 1, 10)
    with pytest.raises(ValueError, match="a class lies outside"):
        cut_histogram(cells, 0)
    with pytest.raises(ValueError, match=r"table has the shape \(1, 2\), but \(2, 2\)"):
        score_bins([x], np.zeros(1), np.array([0, 1]), np.zeros((1, 2)), np.zeros((2, 2)))
