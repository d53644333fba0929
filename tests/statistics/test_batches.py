"""Statistics of batches, counted one after the other and added, equal those of all rows at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naively.statistics import Codes, CountPlan, NumberSummary, ValueCounts, WordCounts

N = 9000
KINDS = ["exact", "exact at first", "not exact", "large", "infinite", "missing at first"]


def column(kind: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return numbers whose histogram is exact for all rows, for some or for none, and some that cannot be squared."""
    integers = rng.integers(0, 9, N).astype(np.float64)
    values = {
        "exact": integers,
        "exact at first": np.where(np.arange(N) < 5000, integers, rng.normal(size=N)),
        "not exact": rng.normal(1e6, 1.0, N),
        "large": np.where(np.arange(N) % 50 == 3, 1e200, rng.normal(size=N)),
        "infinite": np.where(np.arange(N) % 50 == 3, -np.inf, integers),
        "missing at first": np.where(np.arange(N) < 5000, np.nan, rng.normal(size=N)),
    }[kind]
    values[rng.random(N) < 0.03] = np.nan
    return values


@pytest.mark.parametrize("only_to_add", [False, True])
@pytest.mark.parametrize("size", [1, 700, 2048, N])
def test_numbers(size: int, only_to_add: bool) -> None:
    rng = np.random.default_rng(3)
    x = np.stack([column(kind, rng) for kind in KINDS]).T
    label = np.sort(rng.integers(0, 3, N)).astype(np.int32)
    rows = slice(None) if size > 1 else slice(4900, 5100)
    x, label = x[rows], label[rows]
    total: NumberSummary | None = None
    for start in range(0, len(x), size):
        batch = slice(start, start + size)
        plan = CountPlan(256, like=total, only_to_add=only_to_add)
        counted = NumberSummary.count(x[batch], label[batch], None, 3, plan)
        total = counted if total is None else total + counted
    assert total is not None
    at_once = NumberSummary.count(x, label, None, 3, CountPlan(256))
    for one, two in zip(total.histogram.cells, at_once.histogram.cells, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(total.moments.rows, at_once.moments.rows)
    np.testing.assert_allclose(total.moments.mean, at_once.moments.mean, rtol=1e-15)
    np.testing.assert_allclose(total.moments.squares, at_once.moments.squares, rtol=1e-14)


cells = st.tuples(st.sampled_from(["a", "b", "é", "", None]), st.integers(0, 2))


@given(st.lists(st.lists(cells, max_size=9), min_size=1, max_size=6))
def test_values(batches: list[list[tuple[str | None, int]]]) -> None:
    """Each batch lists its values in order of appearance, one of them twice."""

    def count(rows: list[tuple[str | None, int]], values: tuple[str, ...]) -> ValueCounts:
        codes = [[-1 if value is None else values.index(value)] for value, _ in rows]
        label = np.array([c for _, c in rows], np.int32)
        return ValueCounts.count(Codes((np.array(codes, np.int32).reshape(-1, 1),), (values,)), label, None, 3)

    total = ValueCounts.sum_of(
        [count(rows, (*dict.fromkeys(value for value, _ in rows if value is not None), "a")) for rows in batches]
    )
    every_row = [row for rows in batches for row in rows]
    known = tuple(sorted({value for value, _ in every_row if value is not None}))
    assert total.values == (known,)
    for one, two in zip(total.cells, count(every_row, known).cells, strict=True):
        np.testing.assert_array_equal(one, two)


words = st.sampled_from(["cheap", "lunch", "noon", "pills"])
texts = st.tuples(st.lists(words, max_size=4).map(" ".join), st.integers(0, 2))


@given(st.lists(texts, min_size=3, max_size=8))
def test_words_of_parts_whose_vocabularies_have_grown(rows: list[tuple[str, int]]) -> None:
    """Adding two parts appends the words of one to the vocabulary of the other; the sum stays the same."""
    parts = [WordCounts.count([text], np.array([c], np.int32), None, 3) for text, c in rows]
    for one, two in pairwise(parts):
        one + two

    def counts(statistic: WordCounts) -> dict[tuple[str, int], tuple[float, ...]]:
        cells = statistic.cells
        owner = np.repeat(np.arange(3), np.diff(cells.indptr)).tolist()
        values = zip(*cells.sums.tolist(), cells.rows.tolist(), strict=True)
        return dict(zip(zip(statistic.names_of(cells.index), owner, strict=True), values, strict=True))

    label = np.array([c for _, c in rows], np.int32)
    at_once = WordCounts.count([text for text, _ in rows], label, None, 3)
    assert counts(WordCounts.sum_of(parts)) == counts(at_once)
