"""Random tables for the laws: any mixture of families, with missing values, weights and up to three classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import naively as nb
from naively.statistics import (
    ClassWeights,
    EmptyStatistic,
    Histogram,
    Moments,
    NumberSummary,
    Statistic,
    Sums,
    TokenCounts,
    ValueCounts,
    WordBlocks,
    WordCounts,
)

Columns = dict[str, list[Any]]

counts = st.integers(0, 5)
eighths = st.integers(-800, 800).map(lambda k: k / 8)
wild = st.floats(-1e9, 1e9).map(lambda x: 0.0 if abs(x) < 1e-9 else x)

# Columns that go together, the family they get, and what they hold.
GROUPS: Mapping[tuple[str, ...], tuple[nb.Family, st.SearchStrategy[Any]]] = {
    ("offer", "known"): (nb.Bernoulli(), st.booleans()),
    ("colour", "taste"): (nb.Categorical(), st.sampled_from(["red", "green", "", "ß"])),
    ("first", "second"): (nb.Categorical(shared=True), st.sampled_from(["north", "south", "west"])),
    ("w0", "w1", "w2"): (nb.Multinomial(), counts),
    ("v0", "v1"): (nb.Complement(), counts),
    ("height", "width"): (nb.Gaussian(), eighths),
    ("age", "hours"): (nb.Binned(), eighths | st.just(-0.0)),
    ("income",): (nb.LogNormal(), eighths.map(lambda x: abs(x) + 0.125)),
    ("visits",): (nb.Poisson(), counts),
    ("wait",): (nb.Exponential(), eighths.map(abs)),
}
SINGLE = sorted(GROUPS)


@dataclass(frozen=True)
class Rows:
    """A table, its labels and weights, and the family of each column."""

    x: Columns
    label: list[str]
    weight: list[float]
    columns: Mapping[Any, nb.Family]

    def __len__(self) -> int:
        return len(self.label)

    def take(self, rows: Sequence[int]) -> Rows:
        return replace(
            self,
            x={name: [values[i] for i in rows] for name, values in self.x.items()},
            label=[self.label[i] for i in rows],
            weight=[self.weight[i] for i in rows],
        )

    def fit(self, **settings: Any) -> nb.Model:
        return nb.fit(
            self.x, self.label, weight=self.weight, columns=self.columns, n_jobs=1, **{"tune": False, **settings}
        )


@st.composite
def rows(
    draw: st.DrawFn,
    groups: Sequence[tuple[str, ...]] | None = None,
    max_size: int = 10,
    numbers: st.SearchStrategy[float] | None = None,
) -> Rows:
    """Some rows; the columns of the groups named, or of a random choice of them. `numbers` replace the Gaussian's."""
    if groups is None:
        groups = draw(st.lists(st.sampled_from(SINGLE), min_size=1, max_size=4, unique=True))
    n = draw(st.integers(1, max_size))
    x: Columns = {}
    families: dict[Any, nb.Family] = {}
    for names in groups:
        family, value = GROUPS[names]
        if numbers is not None and family == nb.Gaussian():
            value = numbers
        families[names] = family
        for name in names:
            x[name] = draw(st.lists(st.none() | value | value, min_size=n, max_size=n))
    label = draw(st.lists(st.sampled_from(["ham", "spam", "tofu"]), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 32).map(lambda k: k / 8), min_size=n, max_size=n))
    return Rows(x, label, weight, families)


@st.composite
def parted_rows(draw: st.DrawFn, /, **settings: Any) -> tuple[Rows, list[Rows]]:
    """Some rows, and the same rows in up to four parts, in any order."""
    all_rows = draw(rows(**settings))
    part = draw(st.lists(st.integers(0, 3), min_size=len(all_rows), max_size=len(all_rows)))
    order = draw(st.permutations(range(len(all_rows))))
    parts = [[i for i in order if part[i] == p] for p in draw(st.permutations(range(4)))]
    return all_rows, [all_rows.take(p) for p in parts if p]


def assert_same_model(a: nb.Model, b: nb.Model, *, row_counts: bool = True) -> None:
    """The same classes, columns, families and statistics; counts bit for bit, moments to 1e-15."""
    assert a.classes == b.classes
    assert sorted(map(repr, a.schema.families())) == sorted(map(repr, b.schema.families()))
    assert_same_statistic(a.class_weights, b.class_weights, row_counts)
    first, second = (_by_columns(model) for model in (a, b))
    assert first.keys() == second.keys()
    for names, (statistic, order) in first.items():
        other, other_order = second[names]
        if not isinstance(statistic, TokenCounts):
            statistic, other = statistic.take_columns(order), other.take_columns(other_order)
        assert_same_statistic(statistic, other, row_counts)


def _by_columns(model: nb.Model) -> dict[frozenset[str], tuple[Statistic, Any]]:
    """Each block's statistic by the names of its columns, with the order that sorts them."""
    return {
        frozenset(block.names): (statistic, np.argsort(np.array(block.names)))
        for block, statistic in zip(model.schema.blocks, model.statistics, strict=True)
    }


def assert_same_statistic(a: Statistic, b: Statistic, row_counts: bool = True) -> None:
    """Counts bit for bit, mean and variance to 1e-15."""
    assert type(a) is type(b)
    if isinstance(a, (ClassWeights, Sums, Moments)):
        assert isinstance(b, (ClassWeights, Sums, Moments))
        np.testing.assert_array_equal(a.weight, b.weight)
        if row_counts:
            np.testing.assert_array_equal(a.rows, b.rows)
    if isinstance(a, Sums) and isinstance(b, Sums):
        np.testing.assert_allclose(a.total, b.total, rtol=1e-15, atol=0)
    elif isinstance(a, Moments) and isinstance(b, Moments):
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-15, atol=1e-30)
        np.testing.assert_allclose(a.squares, b.squares, rtol=1e-15, atol=1e-30)
    elif isinstance(a, Histogram) and isinstance(b, Histogram):
        for field in a.cells._fields[: 6 if row_counts else 5]:
            np.testing.assert_array_equal(getattr(a.cells, field), getattr(b.cells, field), err_msg=field)
        assert (a.n_classes, a.cap) == (b.n_classes, b.cap)
    elif isinstance(a, ValueCounts) and isinstance(b, ValueCounts):
        assert a.values == b.values
        assert [list(map(type, column)) for column in a.values] == [list(map(type, column)) for column in b.values]
        np.testing.assert_array_equal(a.dense(), b.dense())
        if row_counts:
            np.testing.assert_array_equal(a.dense(rows=True), b.dense(rows=True))
    elif isinstance(a, TokenCounts) and isinstance(b, TokenCounts):
        assert _tokens(a, row_counts) == _tokens(b, row_counts)
        assert_same_statistic(a.seen, b.seen, row_counts)
    elif not isinstance(a, (ClassWeights, EmptyStatistic)):
        assert_same_parts(a, b, row_counts)


def assert_same_parts(a: Statistic, b: Statistic, row_counts: bool) -> None:
    """Compare the parts of statistics that have several; an unknown statistic is an error."""
    if isinstance(a, NumberSummary) and isinstance(b, NumberSummary):
        assert_same_statistic(a.histogram, b.histogram, row_counts)
        assert_same_statistic(a.moments, b.moments, row_counts)
    elif isinstance(a, WordCounts) and isinstance(b, WordCounts):
        assert words_by_class(a, row_counts) == words_by_class(b, row_counts)
        for field in a.lengths._fields[: None if row_counts else -1]:
            np.testing.assert_array_equal(getattr(a.lengths, field), getattr(b.lengths, field), err_msg=field)
        assert_same_statistic(a.seen, b.seen, row_counts)
    else:
        assert isinstance(a, WordBlocks), f"{type(a).__name__} is not compared"
        assert isinstance(b, WordBlocks)
        for one, other in zip(a.blocks, b.blocks, strict=True):
            assert_same_statistic(one, other, row_counts)


def words_by_class(stats: WordCounts, row_counts: bool = True) -> dict[tuple[str, int], tuple[float, ...]]:
    """Return occurrences, texts and rows of each word in each class that has it."""
    cells = stats.cells
    classes = np.repeat(np.arange(stats.n_classes), np.diff(cells.indptr)).tolist()
    counted = zip(*cells.sums.tolist(), *([cells.rows.tolist()] if row_counts else []), strict=True)
    return dict(zip(zip(stats.names_of(cells.index), classes, strict=True), counted, strict=True))


def _tokens(stats: TokenCounts, row_counts: bool) -> dict[str, Any]:
    """Return everything counted, by token and class."""
    tokens: dict[str, Any] = {name: {} for name in stats.tokens}
    for what, cells in (("present", stats.cells), ("missing", stats.missing)):
        for c in range(stats.n_classes):
            for at in range(cells.indptr[c], cells.indptr[c + 1]):
                counted = [*cells.sums[:, at].tolist(), *([int(cells.rows[at])] if row_counts else [])]
                tokens[stats.tokens[cells.index[at]]][what, c] = counted
    return tokens
