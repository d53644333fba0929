"""Rows that a model has counted are explained by the model without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strange_rows import quiet
from tests.support.strategies import Rows, rows

import naively as nb
from naively.data.read import read
from naively.families.base import Family
from naively.families.evidence import RowView
from naively.model.count import views_of
from naively.statistics import NegativeCountError


def tickets() -> tuple[dict[str, list[Any]], list[str]]:
    n = 60
    table: dict[str, list[Any]] = {
        "ticket": [f"T{i}" for i in range(n)],
        "sex": ["male", "female"] * (n // 2),
        "age": [20.0 + i for i in range(n)],
    }
    return table, ["no" if i % 2 == 0 or i % 5 == 0 else "yes" for i in range(n)]


def families() -> dict[str, nb.Family]:
    return {"ticket": nb.Categorical(alpha=0.1), "sex": nb.Categorical(), "age": nb.Gaussian()}


def test_a_counted_row_is_explained_as_if_it_had_not_been_counted() -> None:
    table, label = tickets()
    model = nb.fit(table, label, columns=families(), tune=False)
    row = {name: [values[7]] for name, values in table.items()}
    (with_row,) = model.explain(row, leave_out=False)
    (explanation,) = model.explain(row)
    assert with_row.contributions[0].column == "ticket"
    assert not with_row.is_left_out
    assert explanation.is_left_out
    assert explanation.contributions[0].column == "sex"
    others = model.forget(row, [label[7]])
    (expected,) = others.explain(row, of=explanation.of, against=explanation.against)
    assert not expected.is_left_out
    assert explanation.total == pytest.approx(expected.total, rel=1e-12)
    assert explanation.prior == pytest.approx(expected.prior, rel=1e-12)
    lines = {line.column: line for line in expected.contributions}
    for line in explanation.contributions:
        assert line.log_odds == pytest.approx(lines[line.column].log_odds, rel=1e-9, abs=1e-12)
        assert (line.counts, line.note) == (lines[line.column].counts, lines[line.column].note)
    assert "without it" in str(explanation)
    assert "without it" in explanation._repr_html_()
    assert explanation.to_dict()["is_left_out"]


def test_new_rows_and_counted_rows_stay_in_order() -> None:
    table, label = tickets()
    model = nb.fit(table, label, columns=families(), tune=False)
    mixed = {"ticket": ["T3", "new", "T8"], "sex": ["female", "male", "male"], "age": [23.0, 40.0, 28.0]}
    explanations = model.explain(mixed)
    assert [explanation.is_left_out for explanation in explanations] == [True, False, True]
    values = [next(c.shown for c in e.contributions if c.column == "ticket") for e in explanations]
    assert values == ["T3", "new", "T8"]


def test_a_row_of_several_classes_and_the_last_of_a_class_stay() -> None:
    model = nb.fit({"sky": ["sun", "sun", "rain", "fog", "fog"]}, ["a", "b", "c", "a", "a"], tune=False)
    assert [e.is_left_out for e in model.explain({"sky": ["sun", "rain", "fog"]})] == [False, False, True]


@given(rows(), st.data())
def test_the_sum_is_the_log_odds_of_the_other_rows(drawn: Rows, data: st.DataObject) -> None:
    """Fit without the row, under the families of the model: the same log-odds, wherever nothing is chosen by rows."""
    structured = any(isinstance(family, nb.Binned) for family in drawn.columns.values())
    if structured or len(drawn) < 3 or len(set(drawn.weight)) > 1 or drawn.weight[0] != 1.0:
        return
    model = drawn.fit()
    if len(model.classes) < 2:
        return
    i = data.draw(st.integers(0, len(drawn) - 1))
    row = {name: [values[i]] for name, values in drawn.x.items()}
    (explanation,) = quiet(lambda: model.explain(row, changes=False))
    if not explanation.is_left_out:
        return
    others = model.forget(row, [drawn.label[i]])
    if set(others.classes) != set(model.classes) or others.chosen.families() != model.chosen.families():
        return
    expected = quiet(lambda: others.log_odds(row, explanation.of, explanation.against))[0]
    assert np.isclose(explanation.total, expected, rtol=1e-8, atol=1e-8) or explanation.total == expected


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    "family",
    [
        nb.Categorical(),
        nb.Categorical(alpha=0.0),
        nb.Categorical(min_rows=2),
        nb.Categorical(min_rows=3, values=("red",)),
        nb.Categorical(values=("red", "blue")),
    ],
    ids=str,
)
@given(drawn=rows(), data=st.data())
def test_tables_of_values_give_the_estimates_of_the_other_rows(
    family: nb.Family, is_weighted: bool, drawn: Rows, data: st.DataObject
) -> None:
    """A family with tables of values need not subtract a row: the same scores and terms as if it did."""
    columns = {names: family if given == nb.Categorical() else given for names, given in drawn.columns.items()}
    drawn = replace(drawn, columns=columns, weight=drawn.weight if is_weighted else [1.0] * len(drawn))
    model = drawn.fit()
    i = data.draw(st.integers(0, len(drawn) - 1))
    table, c = read({name: [values[i]] for name, values in drawn.x.items()}), model.classes.index(drawn.label[i])
    pair = (c, (c + 1) % len(model.classes))
    views, views_of_all = (views_of(rows, model.chosen.schema) for rows in (table, read(drawn.x)))
    for block, counted, structure, x, x_of_all in zip(
        model.chosen.schema.blocks, model.estimates, model.structures, views, views_of_all, strict=True
    ):
        if not counted.tables:
            continue
        try:
            expected = Family.estimate_without(block.family, x, counted, c, model.classes, structure)
        except NegativeCountError:
            continue
        estimate = block.family.estimate_without(x, counted, c, model.classes, structure)
        scores, terms = [], []
        for statistic, parameters, tables, _ in (estimate, expected):
            scores.append(np.zeros((len(block.names), len(drawn), len(model.classes))))
            block.family.score_columns(x_of_all, parameters, scores[-1])
            row = RowView(x, block.names, block.kinds, model.classes, tables=tables)
            terms.append(block.family.terms(row, statistic, parameters, pair))
        if estimate.scores is not None:
            np.testing.assert_allclose(estimate.scores, scores[1][:, i], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12, atol=1e-12)
        for one, two in zip(*terms, strict=True):
            assert (one.value, one.note, one.counts) == (two.value, two.note, two.counts)
            np.testing.assert_allclose(one.scores, two.scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "family",
    [
        nb.Text(),
        nb.Text(binary=True),
        nb.Text(alpha=0.3, min_count=2),
        nb.Text(hash_bits=31),
        nb.Text(model="bernoulli"),
    ],
    ids=str,
)
@given(
    texts=st.lists(st.none() | st.lists(st.sampled_from("abcdef"), max_size=5).map(" ".join), min_size=4, max_size=9)
)
def test_the_words_of_a_text_leave_its_class(family: nb.Family, texts: list[str | None]) -> None:
    """The same scores of all texts as if all words were estimated again, and the same terms of the text itself."""
    labels = ["ham", "spam"] * len(texts)
    model = nb.fit({"text": texts}, labels[: len(texts)], columns={"text": family}, tune=False)
    if not model.chosen.schema.blocks:
        return
    (block,), (counted,), (structure,) = model.chosen.schema.blocks, model.estimates, model.structures
    (of_all,) = views_of(read({"text": texts}), model.chosen.schema)
    for i in range(len(texts)):
        x, c = of_all.rows(i, i + 1), i % 2
        scores, terms = [], []
        for estimate in (
            block.family.estimate_without(x, counted, c, model.classes, structure),
            Family.estimate_without(block.family, x, counted, c, model.classes, structure),
        ):
            scores.append(np.zeros((len(texts), 2)))
            block.family.log_likelihood(of_all, estimate.parameters, scores[-1])
            row = RowView(x, block.names, block.kinds, model.classes)
            terms.append(block.family.terms(row, estimate.statistic, estimate.parameters, (0, 1)))
        np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12, atol=1e-12)
        for one, two in zip(*terms, strict=True):
            assert (one.value, one.note, one.counts) == (two.value, two.note, two.counts)
            np.testing.assert_allclose(one.scores, two.scores, rtol=1e-12, atol=1e-12)
