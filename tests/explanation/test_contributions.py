"""The matrix of contributions, column by column, against log-likelihoods of one column each.

That rows add up to `log_odds`, for every family, mixture and tuning, is tested in `test_sums.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.support.strange_rows import mixed_rows, quiet
from tests.support.strategies import SINGLE, Rows, rows

import naively as nb
from naively.families.base import Family
from naively.model.calibrate import Tuning


@given(rows(), st.integers(0, 2**32))
def test_a_column_alone_has_the_same_contribution(drawn: Rows, seed: int) -> None:
    model = drawn.fit()
    if len(model.classes) < 2:
        return
    x = mixed_rows(drawn, seed)
    of, against = model.classes[0], model.classes[1]
    matrix = quiet(lambda: model.contributions(x, of, against))
    assert matrix.shape == (6, len(model.schema.names))
    prior = model.log_prior[0] - model.log_prior[1]
    for j, name in enumerate(model.schema.names):
        alone = {other: values if other == name else [None] * 6 for other, values in x.items()}
        expected = quiet(lambda alone=alone: model.log_odds(alone, of, against)) - prior
        np.testing.assert_allclose(matrix[:, j], expected, rtol=1e-9, atol=1e-9)


@given(st.data())
def test_the_default_of_a_family_is_its_own(data: st.DataObject) -> None:
    """Score each column with all others missing; families that do it faster have the same scores."""
    drawn = data.draw(rows(groups=[data.draw(st.sampled_from(SINGLE))]))
    model = drawn.fit()
    from naively.data.read import read
    from naively.model.count import views_of

    table = read(mixed_rows(drawn, data.draw(st.integers(0, 2**32))))
    for block, view, parameters in zip(
        model.chosen.schema.blocks, views_of(table, model.chosen.schema), model.parameters, strict=True
    ):
        own = np.zeros((len(block.names), table.n_rows, len(model.classes)))
        default = np.zeros_like(own)
        block.family.score_columns(view, parameters, own)
        Family.score_columns(block.family, view, parameters, default)
        if block.family.joint:
            own, default = own.sum(axis=0), default.sum(axis=0)
        np.testing.assert_allclose(own, default, rtol=1e-9, atol=1e-9)


def test_order_of_columns_and_default_classes() -> None:
    table = {"sky": ["sun", "rain", "sun", "rain"], "same": [1.0] * 4, "wind": [1.0, 8.0, 2.0, 9.0]}
    model = nb.fit(table, ["a", "b", "a", "b"], columns={"sky": nb.Categorical(), "wind": nb.Gaussian()}, tune=False)
    matrix = model.contributions(table)
    np.testing.assert_array_equal(matrix[:, model.schema.names.index("same")], 0.0)
    np.testing.assert_allclose(matrix[:, 0], [-math.log(3), math.log(3)] * 2)
    np.testing.assert_array_equal(matrix, model.contributions(table, "b", "a"))
    np.testing.assert_array_equal(matrix, model.contributions(table, against="a"))
    np.testing.assert_array_equal(matrix, -model.contributions(table, of="a"))


def test_weights_and_many_rows() -> None:
    generator = np.random.default_rng(5)
    table = {f"x{j}": generator.normal(size=40_000) for j in range(4)}
    label = np.where(table["x0"] + generator.normal(size=40_000) > 0, "yes", "no")
    model = nb.fit(table, label, tune=False).with_tuning(Tuning({"yes": 0.5}, {"x0": 0.25, "x1": 0.0}))
    matrix = model.contributions(table)
    assert not matrix[:, 1].any()
    start = model.log_prior[1] - model.log_prior[0] + 0.5
    np.testing.assert_allclose(matrix.sum(axis=1) + start, model.log_odds(table), rtol=1e-10, atol=1e-10)


def test_a_sparse_matrix_is_scored_like_a_dense_one() -> None:
    x = np.random.default_rng(6).poisson(0.5, (30, 90))
    for family in (nb.Multinomial(), nb.Complement(), nb.Bernoulli()):
        numbers = x if not isinstance(family, nb.Bernoulli) else (x > 0).astype(int)
        model = nb.fit(numbers, [0, 1, 2] * 10, columns=family, tune=False)
        dense = model.contributions(numbers, of=2, against=0)
        np.testing.assert_allclose(model.contributions(csr_array(numbers), of=2, against=0), dense, rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "name the two"), ({"of": "a"}, "name the two"), ({"of": "a", "against": "a"}, "the same class")],
)
def test_classes_must_be_named(arguments: dict[str, Any], message: str) -> None:
    model = nb.fit({"sky": ["sun", "rain", "fog"]}, ["a", "b", "c"], tune=False)
    with pytest.raises(nb.InputError, match=message):
        model.contributions({"sky": ["sun"]}, **arguments)
