"""Choices that the documents leave open: see "Choices" in docs/equations.md."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import oracle
from tests.support.labelled import quarters

import naively as nb

labels_of_three = st.lists(st.integers(0, 2), max_size=20).map(lambda more: [0, 1, 2, *more])


@given(labels_of_three, quarters)
def test_class_priors(labels: list[int], alpha: Fraction) -> None:
    """Counted, smoothed by (N_c + α) / (N + αC), uniform, or given in two ways; all from one model."""
    model = nb.fit(np.zeros((len(labels), 1)), labels, columns="bernoulli", tune=False)
    exact = oracle.class_prior(labels, alpha)
    oracle.assert_close(
        np.exp(model.with_prior(nb.ClassPrior(alpha=float(alpha))).log_prior), list(exact.values()), 1e-14
    )
    oracle.assert_close(np.exp(model.with_prior("uniform").log_prior), [Fraction(1, 3)] * 3, 1e-14)
    shares = [Fraction(1, 8), Fraction(5, 8), Fraction(1, 4)]
    for form in (dict(zip((0, 1, 2), map(float, shares), strict=True)), [float(p) for p in shares]):
        oracle.assert_close(np.exp(model.with_prior(form).log_prior), shares, 1e-14)
    oracle.assert_close(
        np.exp(model.with_prior("empirical").log_prior), list(oracle.class_prior(labels).values()), 1e-14
    )


def test_class_with_prior_zero_is_never_predicted() -> None:
    model = nb.fit(np.array([[1], [0]]), ["a", "b"], columns="bernoulli", prior={"a": 0.0, "b": 1.0}, tune=False)
    assert model.posterior(np.array([[1]])).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("shared", [False, True])
def test_unseen_value_adds_nothing(shared: bool) -> None:
    """A value that was never counted and not declared leaves the prior; a declared one is smoothed."""
    colour = {"colour": ["red", "red", "blue"]}
    model = nb.fit(colour, ["a", "a", "b"], columns=nb.Categorical(shared=shared), tune=False)
    assert model.log_joint({"colour": ["green"]}).tolist() == [model.log_prior.tolist()]
    declared = nb.Categorical(values=("blue", "green", "red"), shared=shared)
    computed = nb.fit(colour, ["a", "a", "b"], columns=declared, tune=False).log_joint({"colour": ["green"]})
    oracle.assert_close(np.exp(computed), [Fraction(2, 3) * Fraction(1, 5), Fraction(1, 3) * Fraction(1, 4)])


def test_unseen_word_adds_nothing() -> None:
    """A word that no training row had is left out, unless `unseen="smooth"`; it is one of the V words either way."""
    words = np.array([[2, 1, 0], [0, 1, 0]])
    new = np.array([[0, 0, 5]])
    ignored = nb.fit(words, ["a", "b"], columns=nb.Multinomial(), tune=False)
    assert ignored.log_joint(new).tolist() == [ignored.log_prior.tolist()]
    smoothed = nb.fit(words, ["a", "b"], columns=nb.Multinomial(unseen="smooth"), tune=False)
    oracle.assert_close(
        np.exp(smoothed.log_joint(new)), [Fraction(1, 2) * Fraction(1, 6) ** 5, Fraction(1, 2) * Fraction(1, 4) ** 5]
    )


def test_missing_value_adds_nothing() -> None:
    """Not counted at training, no factor at prediction, for each family."""
    table = {
        "flag": [True, None, False, True],
        "value": ["x", "y", None, "x"],
        "number": [1.0, 2.0, 5.0, None],
    }
    model = nb.fit(table, ["a", "a", "b", "b"], tune=False)
    nothing = {"flag": [None], "value": [None], "number": [None]}
    oracle.assert_close(model.posterior(nothing), [[Fraction(1, 2), Fraction(1, 2)]])
    only_flag = np.exp(model.log_joint({"flag": [True], "value": [None], "number": [None]}) - model.log_prior)
    oracle.assert_close(only_flag, [Fraction(1 + 1, 1 + 2), Fraction(1 + 1, 2 + 2)])
    only_value = np.exp(model.log_joint({"flag": [None], "value": ["x"], "number": [None]}) - model.log_prior)
    oracle.assert_close(only_value, [Fraction(1 + 1, 2 + 2), Fraction(1 + 1, 1 + 2)])


def test_class_without_data_uses_the_pooled_counts() -> None:
    """Class b has no value in any column: it is given those of all classes, under the same prior."""
    table = {"flag": [True, True, False, None], "value": ["x", "x", "y", None], "number": [1.0, 2.0, 6.0, None]}
    model = nb.fit(table, ["a", "a", "c", "b"], tune=False)
    flag = np.exp(model.log_joint({"flag": [True], "value": [None], "number": [None]}) - model.log_prior)
    oracle.assert_close(flag, [Fraction(3, 4), Fraction(2 + 1, 3 + 2), Fraction(1, 3)])
    value = np.exp(model.log_joint({"flag": [None], "value": ["x"], "number": [None]}) - model.log_prior)
    oracle.assert_close(value, [Fraction(3, 4), Fraction(2 + 1, 3 + 2), Fraction(1, 3)])
    number = model.log_joint({"flag": [None], "value": [None], "number": [4.0]}) - model.log_prior
    oracle.assert_logs_close(number[0, 1], oracle.gaussian(4.0, *oracle.mean_and_variance([1.0, 2.0, 6.0])))


def test_class_without_words_uses_the_pooled_counts() -> None:
    model = nb.fit(np.array([[2, 1], [0, 0], [1, 2]]), ["a", "b", "c"], columns=nb.Multinomial(), tune=False)
    computed = np.exp(model.log_joint(np.eye(2, dtype=int)) - model.log_prior)
    oracle.assert_close(
        computed, [[Fraction(3, 5), Fraction(1, 2), Fraction(2, 5)], [Fraction(2, 5), Fraction(1, 2), Fraction(3, 5)]]
    )


def test_class_without_spread_uses_the_pooled_variance() -> None:
    """(5.36) is zero for a class of one row, or of equal rows: it takes the variance within the classes."""
    model = nb.fit(np.array([[1.0], [3.0], [7.0], [7.0]]), [0, 0, 1, 1], columns=nb.Gaussian(), tune=False)
    fitted = model.parameters[0]
    oracle.assert_close(fitted.mean, [[Fraction(2)], [Fraction(7)]])
    oracle.assert_close(fitted.variance, [[Fraction(1)], [Fraction(1, 2)]])
    constant = nb.fit(np.array([[3.0], [3.0]]), [0, 1], tune=False)
    oracle.assert_close(constant.posterior(np.array([[3.0], [99.0]])), [[Fraction(1, 2)] * 2] * 2)


def test_variance_is_not_below_the_floor() -> None:
    """No variance is below a billionth of the column's, unless floor=0."""
    x = np.array([[0.0], [2.0**-20], [2.0**20], [2.0**20 + 4]])
    _, narrow = oracle.mean_and_variance([0.0, 2.0**-20])
    _, variance_of_column = oracle.mean_and_variance(x.ravel().tolist())
    plain, with_floor = (
        nb.fit(x, [0, 0, 1, 1], columns=family, tune=False).parameters[0]
        for family in (nb.Gaussian(floor=0), nb.Gaussian())
    )
    oracle.assert_close(plain.variance, [[narrow], [Fraction(4)]])
    oracle.assert_close(with_floor.variance, [[variance_of_column / 10**9]] * 2)


def test_unbiased_variance() -> None:
    """ddof=1 divides by N − 1, where the document divides by N."""
    model = nb.fit(np.array([[1.0], [2.0], [6.0]]), [0, 0, 0], columns=nb.Gaussian(ddof=1), tune=False)
    oracle.assert_close(model.parameters[0].variance, [[Fraction(7)]])


def test_weight_counts_as_copies_of_the_row() -> None:
    rows, labels = np.array([[1, 0], [0, 1], [1, 1]]), [0, 1, 1]
    weighted = nb.fit(rows, labels, columns="bernoulli", weight=[2, 1, 3], tune=False)
    repeated = nb.fit(rows[[0, 0, 1, 2, 2, 2]], [0, 0, 1, 1, 1, 1], columns="bernoulli", tune=False)
    assert weighted.log_joint(rows).tolist() == repeated.log_joint(rows).tolist()


@pytest.mark.parametrize("alpha", [[[1.0, 2.0]], np.ones((2, 2)), None, -1.0, float("nan"), True, "1"])
def test_invalid_pseudo_counts_are_refused(alpha: object) -> None:
    """Numbers per value and class come as a mapping, by name; anything else is refused in words."""
    with pytest.raises(nb.InputError, match="a pseudo-count is a finite number"):
        nb.Categorical(alpha=alpha)
