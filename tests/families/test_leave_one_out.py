"""Leaving a row out equals refitting without it, for every class's score. The oracle subtracts, estimates, scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naively as nb
from naively.data.read import read
from naively.families.base import Leaving
from naively.model.count import views_of
from naively.schema.infer import infer
from naively.statistics import CountPlan, Numbers

CLASSES = ("a", "b", "c")
eighths = st.integers(-40, 40).map(lambda k: k / 8)
counts = st.integers(0, 3)
WORDS = ["spam", "ham", "eggs", "toast", "tea", "jam"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)

NUMBERS: dict[nb.Family, st.SearchStrategy[Any]] = {
    nb.Bernoulli(): st.integers(0, 1),
    nb.Bernoulli(a=0.0, b=0.0): st.integers(0, 1),
    nb.Bernoulli(a=(0.5, 0.0, 2.0), b=(1.0, 0.25, 0.0)): st.integers(0, 1),
    nb.Categorical(): st.integers(0, 4),
    nb.Categorical(alpha=0.0): st.integers(0, 4),
    nb.Categorical(alpha=0.3, values=(0, 1, 2, 9)): st.integers(0, 4),
    nb.Categorical(alpha=0.3, sizes=(3, 5, 7)): st.integers(0, 2),
    nb.Categorical(alpha={"a": {0: 2.0}, "b": {1: 0.5}}): st.integers(0, 4),
    nb.Categorical(shared=True): st.integers(0, 4),
    nb.Categorical(shared=True, alpha=0.0): st.integers(0, 4),
    nb.Categorical(shared=True, alpha={0: 3.0}, values=(1, 8)): st.integers(0, 4),
    nb.Categorical(shared=True, alpha={"a": {0: 2.0}, "b": {1: 0.5}}): st.integers(0, 4),
    nb.Multinomial(): counts,
    nb.Multinomial(alpha=0.0): counts,
    nb.Multinomial(alpha=(0.5, 0.0, 2.0), coefficient=True): counts,
    nb.Multinomial(alpha={"a": {"x0": 2.0}, "b": {"x1": 0.5}}): counts,
    nb.Multinomial(unseen="smooth", fractional=True): st.integers(0, 9).map(lambda k: k / 4),
    nb.Multinomial(unseen="smooth", alpha=0.0): counts,
    nb.Complement(): counts,
    nb.Complement(alpha=0.0): counts,
    nb.Complement(alpha=0.5, unseen="smooth"): counts,
    nb.Complement(alpha=0.0, unseen="smooth"): counts,
    nb.Complement(norm=True): counts,
    nb.Complement(norm=True, alpha=0.1, unseen="smooth"): counts,
    nb.Gaussian(): eighths,
    nb.Gaussian(ddof=1.0, floor=0.5): eighths,
    nb.Gaussian(pool_zero_variance=False, var_smoothing=1e-3): eighths,
    nb.Gaussian(pool_zero_variance=False, floor=0.0): eighths,
    nb.LogNormal(): eighths.map(lambda x: abs(x) + 0.125),
    nb.Poisson(): counts,
    nb.Poisson(a=0.0, b=0.0): counts,
    nb.Exponential(): eighths.map(abs),
    nb.Exponential(a=0.0): eighths.map(abs),
    nb.Exponential(a=1.0, b=2.0): eighths.map(abs),
    nb.Binned(): eighths | st.sampled_from([-np.inf, np.inf]),
    nb.Binned(alpha=0.0): eighths,
}
TEXTS = [
    nb.Text(),
    nb.Text(alpha=0.0),
    nb.Text(alpha={"spam": 3.0}),
    nb.Text(alpha={"a": {"spam": 2.0}, "b": {"ham": 0.5}}),
    nb.Text(binary=True, ngrams=(1, 2)),
    nb.Text(min_count=2, max_share=0.7),
    nb.Text(max_tokens=3, vocabulary=tuple(WORDS[:5])),
    nb.Text(hash_bits=3),
    nb.Text(model="bernoulli"),
    nb.Text(model="bernoulli", alpha=0.0),
    nb.Text(model="bernoulli", hash_bits=3, min_count=2),
    nb.Text(model="complement"),
    nb.Text(model="complement", alpha=0.0),
    nb.Text(model="complement", binary=True, ngrams=(2, 2)),
    nb.Text(model="complement", max_tokens=2),
    nb.Text(ngrams=(2, 2), window=3),
    nb.Text(ngrams=(2, 2), window=4, hash_bits=31, min_count=2),
    nb.Text(hash_bits=31),
    nb.Text(window=3, binary=True).counted_as(),
    nb.Text(window=5, hash_bits=31, model="complement", max_tokens=4).counted_as(),
]


def width(family: nb.Family, n_columns: int) -> int:
    return 1 if family.joint or family.own_block else n_columns


def check(table: Any, family: nb.Family, columns: Any, label: Any, weight: Any, rows: Any) -> None:
    """Compare with the plain way, row by row.

    rows[i] = 2 was counted twice at half the weight and leaves whole; rows[i] = 0 was counted once at twice the weight
    and leaves with half of it, while the row stays.
    """
    label, weight, rows = np.array(label, np.int32), np.array(weight), np.array(rows)
    times = np.maximum(rows, 1)
    single = np.where(rows == 0, 2 * weight, weight / times)
    data = read(table)
    schema = infer(data, columns)
    [block] = schema.blocks
    [view] = views_of(data, schema)
    parts = [at(view, i) for i in range(len(label))]
    stats = None
    for i in np.repeat(np.arange(len(label)), times).tolist():
        one = count(family, parts[i], label[i], single[i], stats)
        stats = one if stats is None else stats + one
    assert stats is not None
    structure = family.structure(stats)
    out = np.zeros((len(label), width(family, len(block.names)), 3))
    family.leave_one_out(view, stats, CLASSES, structure, Leaving.of(label, weight, rows), out)
    for i in range(len(label)):
        rest = stats
        for _ in range(times[i]):
            rest = rest - count(family, parts[i], label[i], single[i], stats)
        if rows[i] == 0:
            rest = rest + count(family, parts[i], label[i], weight[i], stats)
        wanted = np.zeros((1, 3))
        family.log_likelihood(parts[i], family.estimate(rest, CLASSES, structure), wanted)
        np.testing.assert_allclose(out[i].sum(axis=0), wanted[0], rtol=1e-10, atol=1e-10, err_msg=f"row {i}")


def at(view: Any, i: int) -> Any:
    return view.rows(i, i + 1)


def count(family: nb.Family, part: Any, label: Any, weight: float, like: Any) -> Any:
    stats = family.count(part, np.array([label], np.int32), np.array([weight]), 3, CountPlan(like=like))
    names = tuple(f"x{j}" for j in range(part.n_columns)) if isinstance(part, Numbers) else ()
    return stats.renamed(names)


@st.composite
def leaving(draw: st.DrawFn, n: int) -> tuple[list[int], list[float], list[int]]:
    label = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 16).map(lambda k: k / 8), min_size=n, max_size=n))
    rows = draw(st.lists(st.sampled_from([1, 1, 1, 2, 0]), min_size=n, max_size=n))
    return label, weight, rows


@pytest.mark.parametrize("family", list(NUMBERS), ids=str)
@settings(max_examples=40)
@given(data=st.data())
def test_columns_of_numbers(family: nb.Family, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    gap = st.just(np.nan) | NUMBERS[family] | NUMBERS[family] | NUMBERS[family]
    if family.joint and not isinstance(family, nb.Categorical):
        gap = NUMBERS[family]
    x = np.array(data.draw(st.lists(st.tuples(gap, gap, gap), min_size=n, max_size=n)), dtype=np.float64)
    check(x, family, family, *data.draw(leaving(n)))


@pytest.mark.parametrize("family", [nb.Bernoulli(), nb.Multinomial(), nb.Complement(), nb.Poisson(), nb.Gaussian()])
@given(data=st.data())
def test_sparse_equals_dense(family: nb.Family, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    x = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=n, max_size=n)), dtype=np.float64)
    check(sp.csr_array(x), family, family, *data.draw(leaving(n)))


@given(data=st.data())
def test_values_of_a_frame(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    value = st.none() | st.sampled_from(["red", "green", ""])
    table = {name: data.draw(st.lists(value, min_size=n, max_size=n)) for name in ("one", "two")}
    family = nb.Categorical()
    check(table, family, {("one", "two"): family}, *data.draw(leaving(n)))


@pytest.mark.parametrize("family", TEXTS, ids=str)
@settings(max_examples=40)
@given(data=st.data())
def test_texts(family: nb.Text, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    column = data.draw(st.lists(st.none() | texts | texts | texts, min_size=n, max_size=n))
    if all(text is None for text in column):
        column[0] = "spam"
    check({"text": column}, family, {"text": family}, *data.draw(leaving(n)))


@pytest.mark.parametrize("family", [*NUMBERS, *TEXTS], ids=str)
@settings(max_examples=25)
@given(data=st.data())
def test_where_nothing_leaves_it_is_the_score(family: nb.Family, data: st.DataObject) -> None:
    """Rows that were never counted, with weight 0 and as 0 rows: the score under all counts, column by column."""
    n = data.draw(st.integers(2, 8))
    if family in TEXTS:
        table: Any = {"text": data.draw(st.lists(texts, min_size=n, max_size=n))}
        columns: Any = {"text": family}
    else:
        value = NUMBERS[family]
        table, columns = np.array(data.draw(st.lists(st.tuples(*[value] * 3), min_size=n, max_size=n)), float), family
    content = read(table)
    [view] = views_of(content, infer(content, columns))
    label = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    counted = data.draw(st.integers(1, n))
    stats = count(family, at(view, 0), label[0], 1.0, None)
    for i in range(1, counted):
        stats = stats + count(family, at(view, i), label[i], 1.0, stats)
    nothing = np.zeros(n)
    out, wanted = np.zeros((n, width(family, 3), 3)), np.zeros((n, 3))
    structure = family.structure(stats)
    family.leave_one_out(view, stats, CLASSES, structure, Leaving.of(label, nothing, nothing), out)
    family.log_likelihood(view, family.estimate(stats, CLASSES, structure), wanted)
    np.testing.assert_allclose(out.sum(axis=1), wanted, rtol=1e-10, atol=1e-10)
