"""Document 002: Bayes' rule for any number of classes, and word counts with their multinomial coefficient."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import oracle
from tests.support.labelled import Labelled, counts, labelled

import naively as nb

papers = labelled(counts, classes=3)
pytestmark = pytest.mark.filterwarnings("ignore::naively.ImpossibleRowsWarning")


def thetas(data: Labelled[int], alpha: int = 1) -> dict[int, dict[int, Fraction]]:
    """(Σ w_k,d + 1) / (Σ N_d + V), for each class."""
    return {c: oracle.multinomial(data.rows, data.labels, c, [Fraction(alpha)] * data.width) for c in data.classes}


def dmultinom(row: tuple[int, ...], theta: dict[int, Fraction]) -> Fraction:
    """N! / (w_1! … w_K!) θ_1^{w_1} … θ_K^{w_K}."""
    return Fraction(factorial(sum(row)), prod(factorial(n) for n in row)) * oracle.product_of_words(row, theta)


@given(papers)
def test_add_one(data: Labelled[int]) -> None:
    """θ_k,j = (Σ_d w_k,d + 1) / (Σ_d N_d + V), V the number of columns."""
    model = nb.fit(np.array(data.rows), data.labels, columns=nb.Multinomial(), tune=False)
    computed = np.exp(model.log_joint(np.eye(data.width, dtype=int)) - model.log_prior)
    exact = thetas(data)
    for c in data.classes:
        oracle.assert_close(computed[:, c], [exact[c].get(k, Fraction(1)) for k in range(data.width)], 1e-14)


@given(labelled(st.integers(1, 4)))
def test_add_one_is_the_mode_under_dirichlet_2(data: Labelled[int]) -> None:
    """The document's "maximum a posteriori": no neighbour has a larger ∏ θ_k · ∏ θ_k^{N_k}."""
    model = nb.fit(np.array(data.rows), data.labels, columns=nb.Multinomial(), tune=False)
    computed = np.exp(model.log_joint(np.eye(data.width, dtype=int)) - model.log_prior)
    step = Fraction(1, 10**6)
    for c in data.classes:
        words = [sum(column) for column in zip(*data.of(c), strict=True)]
        theta = [Fraction(p) for p in computed[:, c].tolist()]
        most = prod(p ** (n + 1) for p, n in zip(theta, words, strict=True))
        for k in range(data.width):
            moved = [p - step * (j == k) + step * (j == (k + 1) % data.width) for j, p in enumerate(theta)]
            assert data.width == 1 or prod(p ** (n + 1) for p, n in zip(moved, words, strict=True)) < most


@given(papers, st.booleans())
def test_multinomial_coefficient(data: Labelled[int], coefficient: bool) -> None:
    """p(d | y) with N_d! / ∏ w_k!, as dmultinom gives it, and without."""
    family = nb.Multinomial(coefficient=coefficient, unseen="smooth")
    model = nb.fit(np.array(data.rows), data.labels, columns=family, tune=False)
    computed = model.log_joint(np.array(data.new)) - model.log_prior
    ones = [Fraction(1)] * data.width
    theta = {c: oracle.multinomial(data.rows, data.labels, c, ones, unseen=True) for c in data.classes}
    density = dmultinom if coefficient else oracle.product_of_words
    exact = [[oracle.log(density(row, theta[c])) for c in data.classes] for row in data.new]
    oracle.assert_logs_close(computed, exact)


def test_coefficient_of_a_long_paper() -> None:
    """2,000 words: N_d! has 5,700 digits, its logarithm is right in the last ones."""
    rows = [(900, 700, 400), (500, 500, 1000)]
    model = nb.fit(np.array(rows), ["Hamilton", "Madison"], columns=nb.Multinomial(coefficient=True), tune=False)
    theta = [oracle.multinomial(rows, [0, 1], c, [Fraction(1)] * 3) for c in (0, 1)]
    new = (800, 650, 550)
    exact = [oracle.log(dmultinom(new, theta[c])) for c in (0, 1)]
    oracle.assert_close(model.log_joint(np.array([new])) - model.log_prior, exact, 1e-12)


@given(papers, st.booleans())
def test_posterior_of_each_paper(data: Labelled[int], coefficient: bool) -> None:
    """p(y | d) = p(d | y) p(y) / Σ_y p(d | y) p(y); the coefficient cancels."""
    model = nb.fit(np.array(data.rows), data.labels, columns=nb.Multinomial(coefficient=coefficient), tune=False)
    prior, theta = oracle.class_prior(data.labels), thetas(data)
    joint = [[prior[c] * dmultinom(row, theta[c]) for c in data.classes] for row in data.new]
    exact = [oracle.normalised(row, list(prior.values())) for row in joint]
    oracle.assert_close(model.posterior(np.array(data.new)), exact)
    oracle.assert_most_probable(model.predict(np.array(data.new)).tolist(), data.classes, joint)


def test_prior_of_the_authors() -> None:
    """γ_j = D_j / D: 51 and 14 papers are 0.785 and 0.215, in logs −0.243 and −1.54."""
    model = nb.fit(np.ones((65, 1)), ["Hamilton"] * 51 + ["Madison"] * 14, columns="multinomial", tune=False)
    oracle.assert_close(np.exp(model.log_prior), [Fraction(51, 65), Fraction(14, 65)], 1e-15 * 4)
    assert np.exp(model.log_prior).round(3).tolist() == [0.785, 0.215]
    assert model.log_prior.round(3).tolist() == [-0.243, -1.535]


def test_workflow() -> None:
    """Train, calculate p(y | x), take the largest: two authors by hand; a word that neither used changes nothing."""
    words = {"upon": [3, 2, 0], "whilst": [0, 1, 2], "while": [0, 0, 0]}
    model = nb.fit(words, ["Hamilton", "Hamilton", "Madison"], columns=nb.Multinomial(), tune=False)
    # V = 3 words; Hamilton (5+1)/9, (1+1)/9; Madison (0+1)/5, (2+1)/5
    hamilton = Fraction(2, 3) * Fraction(6, 9) * Fraction(2, 9)
    madison = Fraction(1, 3) * Fraction(1, 5) * Fraction(3, 5)
    disputed = {"upon": [1, 1], "whilst": [1, 1], "while": [0, 7]}
    exact = [hamilton / (hamilton + madison), madison / (hamilton + madison)]
    oracle.assert_close(model.posterior(disputed), [exact, exact])
    assert model.predict(disputed).tolist() == ["Hamilton", "Hamilton"]


@given(papers)
def test_bayes_rule_for_j_classes(data: Labelled[int]) -> None:
    """p(y | x) = p(y) ∏_k p(x_k | y) / Σ_j p(y = j) ∏_k p(x_k | y = j), one distribution for each feature."""
    model = nb.fit(np.array(data.rows), data.labels, columns=nb.Categorical(), tune=False)
    prior = oracle.class_prior(data.labels)
    alphas = [dict.fromkeys(data.column(j), Fraction(1)) for j in range(data.width)]
    theta = {c: oracle.columns(data.rows, data.labels, c, alphas) for c in data.classes}
    joint = [[prior[c] * oracle.product(row, theta[c]) for c in data.classes] for row in data.new]
    oracle.assert_close(model.posterior(np.array(data.new)), [oracle.normalised(row, []) for row in joint])
    oracle.assert_logs_close(
        model.log_marginal(np.array(data.new)), [oracle.log(sum(row, Fraction(0))) for row in joint]
    )
    oracle.assert_most_probable(model.predict(np.array(data.new)).tolist(), data.classes, joint)
