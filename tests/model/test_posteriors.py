"""Posteriors are numbers that add up to 1, whatever finite numbers went in; predict is their argmax."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strategies import Rows, rows

import naively as nb

HUGE = sys.float_info.max
TINY = [5e-324, 1e-310, sys.float_info.min, 1e-160]
MIDDLE = [0.0, 1.0, 1.0 + sys.float_info.epsilon, 3.0, 1e8]

real_to_train = [*TINY, *MIDDLE, 1e150, *(-x for x in (*TINY, *MIDDLE, 1e150))]
real_to_ask = [*real_to_train, 1e160, 1e300, HUGE, -1e160, -1e300, -HUGE]
positive = [*TINY, *MIDDLE[1:], 1e150, 1e300, HUGE]
counts_to_train = [0.0, 1.0, 3.0, 1e8, 2.0**60, 1e149]
counts_to_ask = [*counts_to_train, 1e160, 1e300]
not_negative = [0.0, *TINY, *MIDDLE, 1e149]

EXTREMES: list[tuple[nb.Family, list[float], list[float]]] = [
    (nb.Gaussian(), real_to_train, real_to_ask),
    (nb.Gaussian(floor=0.0, pool_zero_variance=False), real_to_train, real_to_ask),
    (nb.LogNormal(), positive, positive),
    (nb.Poisson(), counts_to_train, counts_to_ask),
    (nb.Exponential(), not_negative, [*not_negative, 1e160, 1e300]),
    (nb.Multinomial(), counts_to_train, counts_to_ask),
    (nb.Multinomial(alpha=1e-100, coefficient=True), counts_to_train, counts_to_ask),
    (nb.Complement(), counts_to_train, counts_to_ask),
    (nb.Complement(norm=True), counts_to_train, counts_to_ask),
    (nb.Bernoulli(), [0.0, 1.0], [0.0, 1.0]),
    (nb.Bernoulli(a=1e-100, b=1e-100), [0.0, 1.0], [0.0, 1.0]),
    (nb.Categorical(), real_to_train, real_to_ask),
    (nb.Categorical(alpha=1e-100, shared=True), real_to_train, real_to_ask),
]


def assert_proper(model: nb.Model, x: Any) -> None:
    posterior = model.posterior(x)
    assert np.isfinite(posterior).all()
    assert (posterior >= 0).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    predicted = [model.classes.index(label) for label in model.predict(x).tolist()]
    chosen = posterior[np.arange(len(posterior)), predicted]
    np.testing.assert_array_equal(chosen, posterior.max(axis=1))
    np.testing.assert_allclose(np.exp(model.log_posterior(x)), posterior, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("family", "train", "ask"), EXTREMES, ids=lambda part: str(part) * isinstance(part, nb.Family))
@given(data=st.data())
def test_extreme_numbers(family: nb.Family, train: list[float], ask: list[float], data: st.DataObject) -> None:
    def table(values: list[float], n: int) -> Any:
        cell = st.sampled_from([*values, float("nan")])
        return np.array(data.draw(st.lists(cell, min_size=2 * n, max_size=2 * n))).reshape(n, 2)

    n = data.draw(st.integers(1, 5))
    label = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    model = nb.fit(table(train, n), label, columns=family, n_jobs=1, tune=False)
    x = table(ask, 4)
    assert np.isfinite(model.log_joint(x)).all()
    assert_proper(model, x)


@given(rows(), st.data())
def test_mixtures(train: Rows, data: st.DataObject) -> None:
    ask = data.draw(rows(groups=list(train.columns)))
    assert_proper(train.fit(), ask.x)


@given(rows())
def test_the_prior_alone_where_all_is_missing(train: Rows) -> None:
    nothing = {name: [None, None] for name in train.x}
    model = train.fit(prior=nb.ClassPrior(alpha=1))
    np.testing.assert_allclose(model.log_joint(nothing), np.tile(model.log_prior, (2, 1)), rtol=1e-13, atol=1e-13)


@given(rows())
def test_one_class_is_certain(train: Rows) -> None:
    model = Rows(train.x, ["only"] * len(train), train.weight, train.columns).fit()
    np.testing.assert_array_equal(model.posterior(train.x), np.ones((len(train), 1)))
    assert set(model.predict(train.x).tolist()) == {"only"}


@pytest.mark.parametrize("constant", [0.0, -0.0, 7.0, 1e-320, 1e150])
def test_a_constant_column_says_nothing(constant: float) -> None:
    model = nb.fit(np.full((6, 1), constant), list("aabbbb"), tune=False)
    asked = [[constant], [constant + 1], [1e300], [-1e300]]
    np.testing.assert_allclose(model.posterior(asked), np.tile([1 / 3, 2 / 3], (4, 1)), rtol=1e-12)


def test_a_class_without_spread_borrows_it() -> None:
    model = nb.fit(np.array([[1.0], [1.0], [2.0], [4.0]]), list("aabb"), tune=False)
    assert_proper(model, np.array([[1.0], [1.0 + 1e-9], [3.0], [1e9]]))
    assert model.predict([[1.01], [3.0]]).tolist() == ["a", "b"]


def test_rows_that_no_class_allows_get_the_prior_and_a_warning() -> None:
    model = nb.fit(
        {"x": ["u", "v", "v"]}, ["a", "b", "b"], columns=nb.Categorical(alpha=0, values=("u", "v", "w")), tune=False
    )
    with pytest.warns(nb.ImpossibleRowsWarning, match=r"1 of 2 rows are impossible .* Smooth"):
        posterior = model.posterior({"x": ["w", "u"]})
    np.testing.assert_allclose(posterior, [[1 / 3, 2 / 3], [1.0, 0.0]])
    with pytest.warns(nb.ImpossibleRowsWarning):
        assert model.predict({"x": ["w", "u"]}).tolist() == ["b", "a"]


def test_a_model_that_forgot_every_row_knows_nothing() -> None:
    rows = {"a": [1.0, 2.0, 3.0], "c": ["u", "v", "u"], "w": [True, False, None]}
    model = nb.fit(rows, ["p", "q", "q"], tune=False)
    empty = model - model
    assert empty.class_counts.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(empty.posterior(rows), 0.5)
    np.testing.assert_array_equal((empty + model).posterior(rows), model.posterior(rows))
