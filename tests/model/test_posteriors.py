"""Posteriors are finite and sum to 1 for any finite input; `predict` is their argmax."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strategies import Rows, rows

import naively as nb
from naively.model.decide import log_odds_against, log_odds_of_row

MAX_FLOAT = sys.float_info.max
TINY_NUMBERS = [5e-324, 1e-310, sys.float_info.min, 1e-160]
USUAL_NUMBERS = [0.0, 1.0, 1.0 + sys.float_info.epsilon, 3.0, 1e8]

REALS_TO_TRAIN = [*TINY_NUMBERS, *USUAL_NUMBERS, 1e150, *(-x for x in (*TINY_NUMBERS, *USUAL_NUMBERS, 1e150))]
REALS_TO_PREDICT = [*REALS_TO_TRAIN, 1e160, 1e300, MAX_FLOAT, -1e160, -1e300, -MAX_FLOAT]
POSITIVE = [*TINY_NUMBERS, *USUAL_NUMBERS[1:], 1e150, 1e300, MAX_FLOAT]
COUNTS_TO_TRAIN = [0.0, 1.0, 3.0, 1e8, 2.0**60, 1e149]
COUNTS_TO_PREDICT = [*COUNTS_TO_TRAIN, 1e160, 1e300]
NONNEGATIVE = [0.0, *TINY_NUMBERS, *USUAL_NUMBERS, 1e149]

EXTREMES: list[tuple[nb.Family, list[float], list[float]]] = [
    (nb.Gaussian(), REALS_TO_TRAIN, REALS_TO_PREDICT),
    (nb.Gaussian(floor=0.0, pool_zero_variance=False), REALS_TO_TRAIN, REALS_TO_PREDICT),
    (nb.LogNormal(), POSITIVE, POSITIVE),
    (nb.Poisson(), COUNTS_TO_TRAIN, COUNTS_TO_PREDICT),
    (nb.Exponential(), NONNEGATIVE, [*NONNEGATIVE, 1e160, 1e300]),
    (nb.Multinomial(), COUNTS_TO_TRAIN, COUNTS_TO_PREDICT),
    (nb.Multinomial(alpha=1e-100, coefficient=True), COUNTS_TO_TRAIN, COUNTS_TO_PREDICT),
    (nb.Complement(), COUNTS_TO_TRAIN, COUNTS_TO_PREDICT),
    (nb.Complement(norm=True), COUNTS_TO_TRAIN, COUNTS_TO_PREDICT),
    (nb.Bernoulli(), [0.0, 1.0], [0.0, 1.0]),
    (nb.Bernoulli(a=1e-100, b=1e-100), [0.0, 1.0], [0.0, 1.0]),
    (nb.Categorical(), REALS_TO_TRAIN, REALS_TO_PREDICT),
    (nb.Categorical(alpha=1e-100, shared=True), REALS_TO_TRAIN, REALS_TO_PREDICT),
]


def assert_proper(model: nb.Model, x: Any) -> None:
    posterior = model.posterior(x)
    assert np.isfinite(posterior).all()
    assert (posterior >= 0).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    predicted = [model.classes.index(label) for label in model.predict(x).tolist()]
    of_prediction = posterior[np.arange(len(posterior)), predicted]
    np.testing.assert_array_equal(of_prediction, posterior.max(axis=1))
    np.testing.assert_allclose(np.exp(model.log_posterior(x)), posterior, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("family", "train", "new"), EXTREMES, ids=lambda part: str(part) * isinstance(part, nb.Family))
@given(data=st.data())
def test_extreme_numbers(family: nb.Family, train: list[float], new: list[float], data: st.DataObject) -> None:
    def table(values: list[float], n: int) -> Any:
        cell = st.sampled_from([*values, float("nan")])
        return np.array(data.draw(st.lists(cell, min_size=2 * n, max_size=2 * n))).reshape(n, 2)

    n = data.draw(st.integers(1, 5))
    label = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    model = nb.fit(table(train, n), label, columns=family, n_jobs=1, tune=False)
    x = table(new, 4)
    assert np.isfinite(model.log_joint(x)).all()
    assert_proper(model, x)


@given(rows(), st.data())
def test_mixtures(train: Rows, data: st.DataObject) -> None:
    new = data.draw(rows(groups=list(train.columns)))
    assert_proper(train.fit(), new.x)


@given(rows())
def test_rows_of_missing_values_get_the_prior(train: Rows) -> None:
    missing = {name: [None, None] for name in train.x}
    model = train.fit(prior=nb.ClassPrior(alpha=1))
    np.testing.assert_allclose(model.log_joint(missing), np.tile(model.log_prior, (2, 1)), rtol=1e-13, atol=1e-13)


@given(rows())
def test_one_class_is_certain(train: Rows) -> None:
    model = Rows(train.x, ["only"] * len(train), train.weight, train.columns).fit()
    np.testing.assert_array_equal(model.posterior(train.x), np.ones((len(train), 1)))
    assert set(model.predict(train.x).tolist()) == {"only"}


@pytest.mark.parametrize("constant", [0.0, -0.0, 7.0, 1e-320, 1e150])
def test_a_constant_column_is_no_evidence(constant: float) -> None:
    model = nb.fit(np.full((6, 1), constant), list("aabbbb"), tune=False)
    new = [[constant], [constant + 1], [1e300], [-1e300]]
    np.testing.assert_allclose(model.posterior(new), np.tile([1 / 3, 2 / 3], (4, 1)), rtol=1e-12)


def test_a_class_without_variance_gets_the_pooled_one() -> None:
    model = nb.fit(np.array([[1.0], [1.0], [2.0], [4.0]]), list("aabb"), tune=False)
    assert_proper(model, np.array([[1.0], [1.0 + 1e-9], [3.0], [1e9]]))
    assert model.predict([[1.01], [3.0]]).tolist() == ["a", "b"]


def test_impossible_rows_get_the_prior_and_a_warning() -> None:
    model = nb.fit(
        {"x": ["u", "v", "v"]}, ["a", "b", "b"], columns=nb.Categorical(alpha=0, values=("u", "v", "w")), tune=False
    )
    with pytest.warns(nb.ImpossibleRowsWarning, match=r"1 of 2 rows are impossible .* Smooth"):
        posterior = model.posterior({"x": ["w", "u"]})
    np.testing.assert_allclose(posterior, [[1 / 3, 2 / 3], [1.0, 0.0]])
    with pytest.warns(nb.ImpossibleRowsWarning):
        assert model.predict({"x": ["w", "u"]}).tolist() == ["b", "a"]


def test_a_model_without_rows_predicts_the_uniform_prior() -> None:
    rows = {"a": [1.0, 2.0, 3.0], "c": ["u", "v", "u"], "w": [True, False, None]}
    model = nb.fit(rows, ["p", "q", "q"], tune=False)
    empty = model - model
    assert empty.class_counts.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(empty.posterior(rows), 0.5)
    np.testing.assert_array_equal((empty + model).posterior(rows), model.posterior(rows))


LOGS = st.one_of(st.floats(-700, 0), st.just(-np.inf))


@given(posterior=st.lists(LOGS, min_size=3, max_size=3), prior=st.lists(LOGS, min_size=3, max_size=3))
def test_log_odds_of_one_row_are_those_of_many(posterior: list[float], prior: list[float]) -> None:
    [expected] = log_odds_against(np.array([posterior]), np.array(prior), 2, 0)
    assert log_odds_of_row(posterior, prior, 2, 0) == expected
