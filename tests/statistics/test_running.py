"""Statistics in the making: batch after batch comes to what counting all rows at once does."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naively
from naively._kernels import Gapped, HistogramCells
from naively.data import labelled as stream
from naively.statistics import Coded, Measured, ValueCounts, running
from naively.statistics.running import RunningMeasured, RunningValues

N = 9000


def columns_of(kind: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Numbers that are exact for long, for a while, for no time; and some that cannot be squared."""
    whole = rng.integers(0, 9, N).astype(np.float64)
    some = {
        "exact": whole,
        "then not": np.where(np.arange(N) < 5000, whole, rng.normal(size=N)),
        "not": rng.normal(1e6, 1.0, N),
        "large": np.where(np.arange(N) % 50 == 3, 1e200, rng.normal(size=N)),
        "infinite": np.where(np.arange(N) % 50 == 3, -np.inf, whole),
        "one class": np.where(np.arange(N) < 5000, np.nan, rng.normal(size=N)),
    }[kind]
    some[rng.random(N) < 0.03] = np.nan
    return some


KINDS = ["exact", "then not", "not", "large", "infinite", "one class"]


@pytest.mark.parametrize("size", [1, 700, 2048, N])
def test_numbers(size: int) -> None:
    rng = np.random.default_rng(3)
    x = np.stack([columns_of(kind, rng) for kind in KINDS]).T
    label = np.sort(rng.integers(0, 3, N)).astype(np.int32)
    rows = slice(None) if size > 1 else slice(4900, 5100)
    x, label = x[rows], label[rows]
    making = RunningMeasured(len(KINDS), 3, 256)
    for start in range(0, len(x), size):
        some = slice(start, start + size)
        making.add([Gapped(x[some, j]) for j in range(len(KINDS))], label[some])
    found, whole = making.total(), Measured.count(x, label, None, 3, cap=256)
    same(found.histogram.cells, whole.histogram.cells)
    np.testing.assert_array_equal(found.moments.rows, whole.moments.rows)
    np.testing.assert_allclose(found.moments.mean, whole.moments.mean, rtol=1e-15)
    np.testing.assert_allclose(found.moments.squares, whole.moments.squares, rtol=1e-14)


def same(a: HistogramCells, b: HistogramCells) -> None:
    for one, two in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, two)


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["a", "b", "é", "", None]), st.integers(0, 2)), max_size=9), max_size=6
    ),
    st.booleans(),
)
def test_values(batches: list[list[tuple[str | None, int]]], often_folded: bool) -> None:
    """Each batch lists its values in the order in which they come, one of them twice."""
    making = RunningValues(1, 3)
    rows = [row for batch in batches for row in batch]
    before = running.MOST_CELLS
    running.MOST_CELLS = 3 if often_folded else before
    try:
        for batch in batches:
            listed = (*dict.fromkeys(value for value, _ in batch if value is not None), "a")
            codes = np.array([[-1 if value is None else listed.index(value)] for value, _ in batch], np.int32)
            making.add([Gapped(codes.ravel())], [listed], np.array([c for _, c in batch], np.int32))
    finally:
        running.MOST_CELLS = before
    known = sorted({value for value, _ in rows if value is not None})
    found = making.total()
    assert found.values == (tuple(known),)
    codes = np.array([[known.index(value) if value is not None else -1] for value, _ in rows], np.int32).reshape(-1, 1)
    whole = ValueCounts.count(Coded((codes,), (tuple(known),)), np.array([c for _, c in rows], np.int32), None, 3)
    for one, two in zip(found.cells, whole.cells, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sorted_by_class", [False, True])
def test_a_stream_is_counted_like_a_table(weighted: bool, sorted_by_class: bool, monkeypatch: Any) -> None:
    """Also where classes come late, lists of values change, a column has no value for long, and another is text."""
    monkeypatch.setattr(stream, "MOST", 50)
    rng = np.random.default_rng(11)
    n = 600
    label = np.sort(rng.integers(0, 4, n)) if sorted_by_class else rng.integers(0, 4, n)
    words = np.array(["rain falls on the plain again", "the sun is out and it is warm", "snow will come tonight, late"])
    table = pa.table(
        {
            "number": pa.array(np.round(rng.normal(size=n), 1), mask=rng.random(n) < 0.1),
            "late": pa.array(rng.normal(size=n), mask=np.arange(n) < 400),
            "value": pa.array(np.array(["x", "y", "z"])[rng.integers(0, 3, n)]),
            "yes": pa.array(rng.random(n) < 0.5),
            "text": pa.array([f"{words[k]} {i}" for i, k in enumerate(rng.integers(0, 3, n).tolist())]),
            "weight": pa.array(rng.integers(1, 9, n) / 8),
            "label": pa.array(np.array(["a", "b", "c", "d"])[label]),
        }
    )
    given_table = table if weighted else table.drop_columns(["weight"])
    weight = "weight" if weighted else None
    bounds = [*range(0, n, 37), n]
    parts = (given_table.slice(a, b - a) for a, b in itertools.pairwise(bounds))
    found = naively.fit(parts, "label", weight=weight, tune=False)
    whole = naively.fit(iter([given_table]), "label", weight=weight, tune=False)
    rest = found - whole
    assert rest.seen.rows.sum() == 0
    np.testing.assert_allclose(found.posterior(table), whole.posterior(table), rtol=1e-12)
