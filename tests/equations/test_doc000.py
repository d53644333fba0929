"""Document 000: Bernoulli (1)–(17) and multinomial (18)–(23), by maximum likelihood."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support import oracle
from tests.support.labelled import Labelled, bits, counts, labelled

import naively as nb
from naively.families import bernoulli, linear_form

BERNOULLI = nb.Bernoulli(a=0, b=0)
MULTINOMIAL = nb.Multinomial(alpha=0)
STEP = Fraction(1, 10**6)

binary = labelled(bits)
mail = labelled(counts)

pytestmark = pytest.mark.filterwarnings("ignore::naively.ImpossibleRowsWarning")


def exact_joint(data: Labelled[int], rows: list[tuple[int, ...]]) -> list[list[Fraction]]:
    """(2), (4), (6), (17): ϕ^y (1 − ϕ)^{1−y} ∏_j ϕ_{j|y}, for y = 0 and 1."""
    prior = oracle.class_prior(data.labels)
    theta = {y: oracle.bernoulli(data.rows, data.labels, y) for y in (0, 1)}
    return [[prior[y] * oracle.product(row, theta[y]) for y in (0, 1)] for row in rows]


def exact_joint_of_words(data: Labelled[int], rows: list[tuple[int, ...]]) -> list[list[Fraction]]:
    """(20), times the prior."""
    prior = oracle.class_prior(data.labels)
    multinomial = {y: oracle.multinomial(data.rows, data.labels, y, [Fraction(0)] * data.width) for y in (0, 1)}
    return [[prior[y] * oracle.product_of_words(row, multinomial[y]) for y in (0, 1)] for row in rows]


def own_classes(joint: list[list[Fraction]], labels: list[int]) -> Fraction:
    """(7), (21): the product over the emails of the joint probability at their own class."""
    return prod((p[y] for p, y in zip(joint, labels, strict=True)), start=Fraction(1))


def logs(table: list[list[Fraction]]) -> list[list[object]]:
    return [[oracle.log(p) for p in row] for row in table]


@given(st.lists(bits, min_size=1, max_size=30).filter(lambda labels: len(set(labels)) == 2))
def test_prior_is_the_share_of_spam(labels: list[int]) -> None:
    """(3), (4), (11), (23)."""
    model = nb.fit(np.zeros((len(labels), 1)), labels, columns=BERNOULLI, tune=False)
    phi = Fraction(sum(labels), len(labels))
    oracle.assert_close(np.exp(model.log_prior), [1 - phi, phi], 1e-15 * 4)


@given(st.lists(bits, min_size=1, max_size=30).filter(lambda labels: len(set(labels)) == 2))
def test_prior_is_the_optimum(labels: list[int]) -> None:
    """(10): the derivative is zero there; and the likelihood is smaller on both sides of what was estimated."""
    spam, ham = sum(labels), len(labels) - sum(labels)
    phi = Fraction(spam, len(labels))
    assert spam / phi - ham / (1 - phi) == 0
    model = nb.fit(np.zeros((len(labels), 1)), labels, columns=BERNOULLI, tune=False)
    computed = Fraction(float(np.exp(model.log_prior[1])))

    def likelihood(p: Fraction) -> Fraction:
        return p**spam * (1 - p) ** ham

    assert likelihood(computed) > max(likelihood(computed - STEP), likelihood(computed + STEP))


@given(binary)
def test_bernoulli_estimates(data: Labelled[int]) -> None:
    """(5), (6), (13), (14): the share of the emails of a class that have the word, and its complement."""
    for j in range(data.width):
        model = nb.fit(np.array(data.column(j)).reshape(-1, 1), data.labels, columns=BERNOULLI, tune=False)
        computed = np.exp(model.log_joint(np.array([[0], [1]])) - model.log_prior)
        for y in (0, 1):
            heads = sum(x & (c == y) for x, c in zip(data.column(j), data.labels, strict=True))
            share = Fraction(heads, data.labels.count(y))
            oracle.assert_close(computed[:, y], [1 - share, share], 1e-14)


@given(binary)
def test_bernoulli_estimates_are_the_optimum(data: Labelled[int]) -> None:
    """(12): the derivative is zero there; the likelihood is smaller on both sides, or there is no other side."""
    for j in range(data.width):
        model = nb.fit(np.array(data.column(j)).reshape(-1, 1), data.labels, columns=BERNOULLI, tune=False)
        computed = np.exp(model.log_joint(np.array([[1]])) - model.log_prior)[0]
        for y in (0, 1):
            heads = sum(x & (c == y) for x, c in zip(data.column(j), data.labels, strict=True))
            tails = data.labels.count(y) - heads
            at = min(Fraction(float(computed[y])), Fraction(1))
            share = Fraction(heads, heads + tails)
            if 0 < share < 1:
                assert heads / share - tails / (1 - share) == 0

            def likelihood(p: Fraction, heads: int = heads, tails: int = tails) -> Fraction:
                return p**heads * (1 - p) ** tails

            for other in (at - STEP, at + STEP):
                assert not 0 <= other <= 1 or likelihood(at) > likelihood(other)


@given(binary)
def test_joint_is_prior_times_product(data: Labelled[int]) -> None:
    """(2), (17): what is to be maximised, for new emails."""
    model = nb.fit(np.array(data.rows), data.labels, columns=BERNOULLI, tune=False)
    oracle.assert_logs_close(model.log_joint(np.array(data.new)), logs(exact_joint(data, data.new)))


@given(binary)
def test_log_likelihood_of_the_training_set(data: Labelled[int]) -> None:
    """(7), (8), (9): the sum over the emails of the log joint at their own class."""
    model = nb.fit(np.array(data.rows), data.labels, columns=BERNOULLI, tune=False)
    computed = model.log_joint(np.array(data.rows))[np.arange(len(data.rows)), data.labels].sum()
    joint = exact_joint(data, data.rows)
    oracle.assert_logs_close(computed, oracle.log(own_classes(joint, data.labels)), 1e-11)


@given(binary)
def test_posterior_by_bayes_rule(data: Labelled[int]) -> None:
    """(1), (15); also for emails that are impossible under one class, or under both."""
    model = nb.fit(np.array(data.rows), data.labels, columns=BERNOULLI, tune=False)
    prior = list(oracle.class_prior(data.labels).values())
    exact = [oracle.normalised(joint, prior) for joint in exact_joint(data, data.new)]
    oracle.assert_close(model.posterior(np.array(data.new)), exact)
    oracle.assert_logs_close(model.log_posterior(np.array(data.new)), logs(exact))


@given(binary)
def test_class_is_the_argmax(data: Labelled[int]) -> None:
    """(16), (17); where the joint is zero for both classes, the prior decides."""
    model = nb.fit(np.array(data.rows), data.labels, columns=BERNOULLI, tune=False)
    prior = list(oracle.class_prior(data.labels).values())
    joint = [row if any(row) else prior for row in exact_joint(data, data.new)]
    oracle.assert_most_probable(model.predict(np.array(data.new)).tolist(), [0, 1], joint)


@given(mail)
def test_multinomial_estimates(data: Labelled[int]) -> None:
    """(18), (19): each word's share of the words of a class; the last one is 1 minus the others."""
    model = nb.fit(np.array(data.rows), data.labels, columns=MULTINOMIAL, tune=False)
    computed = np.exp(model.log_joint(np.eye(data.width, dtype=int)) - model.log_prior)
    for y in (0, 1):
        exact = oracle.multinomial(data.rows, data.labels, y, [Fraction(0)] * data.width)
        oracle.assert_close(computed[:, y], [exact.get(k, Fraction(1)) for k in range(data.width)], 1e-14)
        if exact:
            last = max(exact)
            rest = 1 - sum(computed[k, y] for k in exact if k != last)
            assert abs(rest - computed[last, y]) < 1e-14


@given(mail)
def test_emails_of_several_words(data: Labelled[int]) -> None:
    """(20): one factor for each word of the email, each time it occurs."""
    model = nb.fit(np.array(data.rows), data.labels, columns=MULTINOMIAL, tune=False)
    oracle.assert_logs_close(model.log_joint(np.array(data.new)), logs(exact_joint_of_words(data, data.new)))


@given(mail)
def test_log_likelihood_of_the_words(data: Labelled[int]) -> None:
    """(21), (22)."""
    model = nb.fit(np.array(data.rows), data.labels, columns=MULTINOMIAL, tune=False)
    computed = model.log_joint(np.array(data.rows))[np.arange(len(data.rows)), data.labels].sum()
    joint = exact_joint_of_words(data, data.rows)
    oracle.assert_logs_close(computed, oracle.log(own_classes(joint, data.labels)), 1e-11)


@given(labelled(st.integers(1, 4)))
def test_multinomial_estimates_are_the_optimum(data: Labelled[int]) -> None:
    """(22): moving a little probability from one word to another makes the training set less likely."""
    model = nb.fit(np.array(data.rows), data.labels, columns=MULTINOMIAL, tune=False)
    computed = np.exp(model.log_joint(np.eye(data.width, dtype=int)) - model.log_prior)
    for y in (0, 1):
        words = [sum(column) for column in zip(*data.of(y), strict=True)]
        theta = [Fraction(p) for p in computed[:, y].tolist()]
        most = prod(p**n for p, n in zip(theta, words, strict=True))
        for giver in range(data.width):
            for taker in set(range(data.width)) - {giver}:
                moved = [p - STEP * (k == giver) + STEP * (k == taker) for k, p in enumerate(theta)]
                assert prod(p**n for p, n in zip(moved, words, strict=True)) < most


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("stored", ["dense", "sparse"])
@given(binary, mail)
def test_any_storage_gives_the_same_scores(
    form: Any, stored: str, features: Labelled[int], words: Labelled[int]
) -> None:
    """(17) and (20) from arrays and sparse matrices, with the table of estimates written out or only its cells."""
    with pytest.MonkeyPatch.context() as patch:
        if stored == "sparse":
            patch.setattr(bernoulli, "MAX_DENSE_CELLS", 0)
            patch.setattr(linear_form, "MAX_DENSE_CELLS", -1)
        model = nb.fit(form(np.array(features.rows)), features.labels, columns=BERNOULLI, tune=False)
        oracle.assert_logs_close(
            model.log_joint(form(np.array(features.new))), logs(exact_joint(features, features.new))
        )
        model = nb.fit(form(np.array(words.rows)), words.labels, columns=MULTINOMIAL, tune=False)
        oracle.assert_logs_close(
            model.log_joint(form(np.array(words.new))), logs(exact_joint_of_words(words, words.new))
        )


def test_spam_by_hand() -> None:
    """(11), (13)–(17) on six emails and three words, every number by hand."""
    words = ["insurance", "running", "alice"]
    spam, ham = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1, 1], [0, 0, 1]]
    emails = dict(zip(words, np.array(spam + ham).T.tolist(), strict=True))
    model = nb.fit(emails, ["spam"] * 4 + ["ham"] * 2, columns=BERNOULLI, tune=False)
    new = {"insurance": [0, 1], "running": [1, 0], "alice": [1, 0]}
    ham_joint = Fraction(1, 3) * 1 * Fraction(1, 2) * 1
    spam_joint = Fraction(2, 3) * Fraction(1, 4) * Fraction(1, 2) * Fraction(1, 4)
    second = Fraction(2, 3) * Fraction(3, 4) * Fraction(1, 2) * Fraction(3, 4)
    oracle.assert_close(np.exp(model.log_joint(new)), [[ham_joint, spam_joint], [Fraction(0), second]])
    oracle.assert_close(model.posterior(new), [[Fraction(8, 9), Fraction(1, 9)], [Fraction(0), Fraction(1)]])
    assert model.predict(new).tolist() == ["ham", "spam"]
