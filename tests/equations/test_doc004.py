"""Document 004, (5.1)–(5.31): class priors, odds, log-odds, thresholds and the linear form of Bernoulli columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import oracle
from tests.support.labelled import Labelled, bits, labelled, quarters

import naively as nb

binary = labelled(bits)
smooth = quarters.filter(bool)
MLE = nb.Bernoulli(a=0, b=0)


def smoothed(data: Labelled[int], alpha: Fraction) -> tuple[nb.Model, list[list[Fraction]], Fraction]:
    """A model by (5.22), its θ̂_{j,k} as exact fractions, and θ̂_1."""
    family = nb.Bernoulli(a=float(alpha), b=float((data.width - 1) * alpha))
    theta = []
    for k in (0, 1):
        ones = [sum(column) for column in zip(*data.of(k), strict=True)]
        theta.append([(n + alpha) / (data.labels.count(k) + data.width * alpha) for n in ones])
    return (
        nb.fit(np.array(data.rows), data.labels, columns=family, tune=False),
        theta,
        Fraction(sum(data.labels), len(data.labels)),
    )


def odds_of(row: tuple[int, ...], theta: list[list[Fraction]], prior: Fraction) -> tuple[Fraction, Fraction]:
    """Numerator and denominator of (5.25)."""
    top, bottom = prior, 1 - prior
    for x, one, zero in zip(row, theta[1], theta[0], strict=True):
        top *= one**x * (1 - one) ** (1 - x)
        bottom *= zero**x * (1 - zero) ** (1 - x)
    return top, bottom


several = labelled(bits).filter(lambda data: data.width > 1)  # with m = 1, (5.22) gives probability 1 to every feature


@given(several, smooth)
def test_feature_likelihood_and_posterior(data: Labelled[int], alpha: Fraction) -> None:
    """(5.1), (5.4), (5.6), (5.7), (5.8), (5.10): P(y = 1 | x) from the product of the features' likelihoods."""
    model, theta, prior = smoothed(data, alpha)
    pairs = [odds_of(row, theta, prior) for row in data.new]
    oracle.assert_close(model.posterior(np.array(data.new))[:, 1], [top / (top + bottom) for top, bottom in pairs])
    oracle.assert_logs_close(
        model.log_marginal(np.array(data.new)), [oracle.log(top + bottom) for top, bottom in pairs]
    )


@given(several, smooth)
def test_more_than_half(data: Labelled[int], alpha: Fraction) -> None:
    """(5.2): 1 if P̂(y | x) > 0.5, else 0; and the most probable class is the same."""
    model, theta, prior = smoothed(data, alpha)
    new = np.array(data.new)
    for row, half, most in zip(data.new, model.predict(new, threshold=0.5), model.predict(new), strict=True):
        top, bottom = odds_of(row, theta, prior)
        if abs(top - bottom) > (top + bottom) / 10**12:
            assert half == most == int(top > bottom)


def test_spelling_errors() -> None:
    """(5.3), (5.5): likelier in spam than elsewhere, by estimates that need not add up to 1."""
    errors = np.array([[1], [1], [0], [1], [0], [0], [0]])
    model = nb.fit(errors, [1, 1, 1, 0, 0, 0, 0], columns=MLE, tune=False)
    ham, spam = np.exp(model.log_joint(np.array([[1]])) - model.log_prior)[0].tolist()
    oracle.assert_close([ham, spam], [Fraction(1, 4), Fraction(2, 3)])
    assert spam > ham
    assert ham != 1 - spam


@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(1, 2)])
def test_class_prior_of_another_mailbox(share: Fraction) -> None:
    """(5.9): the same features in an inbox with 1 % of spam, and in one with 50 %."""
    traits = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0], [0, 0], [0, 0]])
    model = nb.fit(traits, ["spam"] * 3 + ["ham"] * 5, columns="bernoulli", tune=False)
    shifted = model.with_prior({"spam": float(share), "ham": float(1 - share)})
    theta = [[Fraction(2, 7), Fraction(2, 7)], [Fraction(4, 5), Fraction(3, 5)]]
    top, bottom = odds_of((1, 1), theta, share)
    oracle.assert_close(shifted.posterior(np.array([[1, 1]])), [[bottom / (top + bottom), top / (top + bottom)]])
    assert shifted.predict(np.array([[1, 1]])).tolist() == ["spam" if share == Fraction(1, 2) else "ham"]
    top, bottom = odds_of((1, 1), theta, Fraction(3, 8))
    oracle.assert_close(model.posterior(np.array([[1, 1]]))[0, 1], top / (top + bottom))


@given(several, smooth)
def test_odds(data: Labelled[int], alpha: Fraction) -> None:
    """(5.11), (5.12), (5.13), (5.23), (5.24), (5.25): the ratio needs no P(x); both ways round."""
    model, theta, prior = smoothed(data, alpha)
    new = np.array(data.new)
    exact = [top / bottom for top, bottom in (odds_of(row, theta, prior) for row in data.new)]
    oracle.assert_close(model.odds(new), exact)
    oracle.assert_close(model.odds(new, of=0, against=1), [1 / ratio for ratio in exact])
    posterior = model.posterior(new)
    np.testing.assert_allclose(model.odds(new), posterior[:, 1] / posterior[:, 0], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::naively.ImpossibleRowsWarning")
@given(binary)
def test_likelihood_of_the_training_set(data: Labelled[int]) -> None:
    """(5.14), (5.15), (5.16), (5.17): ∏ P(y | x) · ∏ P(x) = ∏ P(y) ∏ P(x[j] | y), in logs."""
    model, rows = nb.fit(np.array(data.rows), data.labels, columns=MLE, tune=False), np.array(data.rows)
    own = (np.arange(len(rows)), data.labels)
    joint = Fraction(1)
    prior = oracle.class_prior(data.labels)
    for row, y in zip(data.rows, data.labels, strict=True):
        joint *= prior[y] * oracle.product(row, oracle.bernoulli(data.rows, data.labels, y))
    oracle.assert_logs_close(model.log_joint(rows)[own].sum(), oracle.log(joint), 1e-11)
    by_parts = model.log_posterior(rows)[own].sum() + model.log_marginal(rows).sum()
    oracle.assert_logs_close(by_parts, oracle.log(joint), 1e-11)


@given(binary)
def test_maximum_likelihood(data: Labelled[int]) -> None:
    """(5.18), (5.19), (5.20), (5.21): proportions, where the derivative of the log-likelihood is zero."""
    model = nb.fit(np.array(data.rows), data.labels, columns=MLE, tune=False)
    oracle.assert_close(np.exp(model.log_prior[1]), Fraction(sum(data.labels), len(data.labels)), 1e-14)
    for j in range(data.width):
        alone = nb.fit(np.array(data.column(j)).reshape(-1, 1), data.labels, columns=MLE, tune=False)
        computed = np.exp(alone.log_joint(np.array([[1]])) - alone.log_prior)[0]
        for k in (0, 1):
            ones, n = sum(row[j] for row in data.of(k)), data.labels.count(k)
            theta = Fraction(ones, n)
            oracle.assert_close(computed[k], theta, 1e-14)
            assert theta in (0, 1) or ones / theta - (n - ones) / (1 - theta) == 0


@given(several, smooth)
def test_smoothing_by_features(data: Labelled[int], alpha: Fraction) -> None:
    """(5.22): (n + α) / (N + mα) is a Beta(α, (m − 1)α) prior, m the number of features."""
    _, theta, _ = smoothed(data, alpha)
    family = nb.Bernoulli(a=float(alpha), b=float((data.width - 1) * alpha))
    for j in range(data.width):
        model = nb.fit(np.array(data.column(j)).reshape(-1, 1), data.labels, columns=family, tune=False)
        computed = np.exp(model.log_joint(np.array([[1]])) - model.log_prior)[0]
        oracle.assert_close(computed, [theta[0][j], theta[1][j]], 1e-14)


@given(binary, smooth, smooth)
def test_smoothing_by_a_beta_prior(data: Labelled[int], a: Fraction, b: Fraction) -> None:
    """The common form, (n + α) / (N + 2α), is Beta(α, α); any a and b will do."""
    for one, other in ((a, b), (a, a)):
        model = nb.fit(np.array(data.rows), data.labels, columns=nb.Bernoulli(a=float(one), b=float(other)), tune=False)
        prior = oracle.class_prior(data.labels)
        theta = [oracle.bernoulli(data.rows, data.labels, y, one, other) for y in (0, 1)]
        exact = [[oracle.log(prior[y] * oracle.product(row, theta[y])) for y in (0, 1)] for row in data.new]
        oracle.assert_logs_close(model.log_joint(np.array(data.new)), exact)


@given(several, smooth, st.sampled_from([Fraction(1, 9), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(99)]))
def test_threshold_on_the_odds(data: Labelled[int], alpha: Fraction, gamma: Fraction) -> None:
    """(5.26), (5.31): 1 if the odds are above γ, 0 if below; the same as the linear form against log γ."""
    model, theta, prior = smoothed(data, alpha)
    answers = model.predict(np.array(data.new), odds=float(gamma))
    weights, bias = model.linear()
    for row, answer in zip(data.new, answers, strict=True):
        top, bottom = odds_of(row, theta, prior)
        if abs(top / bottom - gamma) > gamma / 10**12:
            assert answer == int(top / bottom > gamma)
            assert answer == int(bias + weights @ np.array(row) > np.log(float(gamma)))


@given(several, smooth, st.sampled_from([-1, 1]), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_threshold_next_to_the_odds_of_a_row(data: Labelled[int], alpha: Fraction, side: int, distance: float) -> None:
    """(5.26): γ just below the exact odds of a row predicts 1, just above predicts 0; also as a probability."""
    model, theta, prior = smoothed(data, alpha)
    for row in data.new:
        top, bottom = odds_of(row, theta, prior)
        gamma = float(top / bottom) * (1 + side * distance)
        assert model.predict(np.array([row]), odds=gamma).tolist() == [int(side < 0)]
        assert model.predict(np.array([row]), threshold=gamma / (1 + gamma)).tolist() == [int(side < 0)]


def test_class_is_not_predicted_at_the_threshold() -> None:
    """(5.2), (5.26): odds that are exactly γ are not above it, for either class."""
    model = nb.fit(np.array([[1], [0], [1], [0]]), [0, 0, 1, 1], columns="bernoulli", tune=False)
    new = np.array([[0], [1]])
    assert model.log_odds(new).tolist() == [0.0, 0.0]
    assert model.predict(new).tolist() == [0, 0]
    assert model.predict(new, odds=1.0).tolist() == [0, 0]
    assert model.predict(new, threshold=0.5).tolist() == [0, 0]
    assert model.predict(new, odds=1.0, of=0).tolist() == [1, 1]
    assert model.predict(new, odds=0.999).tolist() == [1, 1]


def sum_of_logs(row: tuple[int, ...], theta: list[Fraction], prior: Fraction) -> Any:
    """One class's half of (5.27)."""
    terms = [x * oracle.log(p) + (1 - x) * oracle.log(1 - p) for x, p in zip(row, theta, strict=True)]
    return oracle.log(prior) + sum(terms)


@given(several, smooth)
def test_log_odds(data: Labelled[int], alpha: Fraction) -> None:
    """(5.27), and its sign."""
    model, theta, prior = smoothed(data, alpha)
    exact = [sum_of_logs(x, theta[1], prior) - sum_of_logs(x, theta[0], 1 - prior) for x in data.new]
    oracle.assert_logs_close(model.log_odds(np.array(data.new)), exact)
    oracle.assert_logs_close(model.log_odds(np.array(data.new), of=0), [-each for each in exact])


def test_log_odds_do_not_underflow() -> None:
    """(5.27) with 5,000 features: the products are below any float, the log-odds are not."""
    m = 5000
    rows = np.array([[1] * m, [1, 0] * (m // 2), [0] * m, [0, 0, 0, 1] * (m // 4)])
    model = nb.fit(rows, [1, 1, 0, 0], columns="bernoulli", tune=False)
    new = np.array([[1, 0, 0, 0] * (m // 4), [0, 1, 1, 0] * (m // 4)])
    assert (np.exp(model.log_joint(new)) == 0).all()
    # θ̂ = 3/4 at even and 1/2 at odd places in spam; 1/4 but for every fourth place, 1/2, in the rest
    spam, ham = [Fraction(3, 4), Fraction(1, 2)] * (m // 2), [Fraction(1, 4)] * 3 + [Fraction(1, 2)]
    exact = []
    for x in new.tolist():
        exact.append(sum_of_logs(x, spam, Fraction(1, 2)) - sum_of_logs(x, ham * (m // 4), Fraction(1, 2)))
    oracle.assert_close(model.log_odds(new), exact, 1e-11)
    assert np.isfinite(model.log_posterior(new)).all()


@given(several, smooth)
def test_linear_form(data: Labelled[int], alpha: Fraction) -> None:
    """(5.28), (5.29), (5.30): w_j, b, and b + Σ w_j x[j]."""
    model, theta, prior = smoothed(data, alpha)
    log = oracle.log
    exact_weights = [log(one) - log(1 - one) - log(zero) + log(1 - zero) for zero, one in zip(*theta, strict=True)]
    exact_bias = log(prior) - log(1 - prior) + sum(log(1 - p) for p in theta[1]) - sum(log(1 - p) for p in theta[0])
    weights, bias = model.linear()
    oracle.assert_logs_close(weights, exact_weights)
    oracle.assert_logs_close(bias, exact_bias)
    rows = np.array(data.new)
    np.testing.assert_allclose(bias + rows @ weights, model.log_odds(rows), rtol=1e-12, atol=1e-12)
