"""Document 004, (5.32)–(5.39): Gaussian and mixed features, and more than two classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support import oracle
from tests.support.labelled import Labelled, bits, labelled, quarters

import naively as nb

numbers = st.integers(-64_000, 64_000).map(lambda n: n / 64)
spread = labelled(numbers, per_class=2).filter(
    lambda data: all(len({row[j] for row in data.of(c)}) > 1 for c in (0, 1) for j in range(data.width))
)
EXACT = nb.Gaussian(floor=0)


def moments(data: Labelled[float], label: int) -> list[tuple[Fraction, Fraction]]:
    return [oracle.mean_and_variance(column) for column in zip(*data.of(label), strict=True)]


def exact_log_joint(data: Labelled[float], rows: list[tuple[float, ...]]) -> list[list[Any]]:
    prior = oracle.class_prior(data.labels)
    of = {c: moments(data, c) for c in data.classes}
    return [
        [oracle.log(prior[c]) + sum(oracle.gaussian(x, *p) for x, p in zip(row, of[c], strict=True)) for c in of]
        for row in rows
    ]


@given(spread, st.sampled_from([0.0, 1e6, -(2.0**33)]))
def test_mean_and_variance(data: Labelled[float], offset: float) -> None:
    """(5.35), (5.36): of numbers that may lie far from zero; the model stores σ̂²."""
    rows = [tuple(x + offset for x in row) for row in data.rows]
    model = nb.fit(np.array(rows), data.labels, columns=EXACT, tune=False)
    moved = Labelled(rows, data.labels, [])
    for c in (0, 1):
        exact = moments(moved, c)
        oracle.assert_close(model.parameters[0].mean[c], [mean for mean, _ in exact], 1e-15 * 4, least=1e-12)
        oracle.assert_close(model.parameters[0].variance[c], [variance for _, variance in exact], 1e-14)


@given(spread)
def test_gaussian_density(data: Labelled[float]) -> None:
    """(5.32): exp(−(x − μ)² / 2σ²) / √(2π)σ, times the other features and the prior, in logs."""
    model = nb.fit(np.array(data.rows), data.labels, columns=EXACT, tune=False)
    oracle.assert_logs_close(model.log_joint(np.array(data.new)), exact_log_joint(data, data.new), 1e-10)


@given(spread)
def test_gaussian_log_likelihood(data: Labelled[float]) -> None:
    """(5.33), and (5.34) with its missing logarithm."""
    model = nb.fit(np.array(data.rows), data.labels, columns=EXACT, tune=False)
    computed = model.log_joint(np.array(data.rows))[np.arange(len(data.rows)), data.labels].sum()
    exact = exact_log_joint(data, data.rows)
    oracle.assert_logs_close(computed, sum(row[y] for row, y in zip(exact, data.labels, strict=True)), 1e-10)


@given(spread)
def test_gaussian_estimate_is_the_optimum(data: Labelled[float]) -> None:
    """(5.33)–(5.36): the log-likelihood falls when the mean or the variance moves, to either side."""
    fitted = nb.fit(np.array(data.rows), data.labels, columns=EXACT, tune=False).parameters[0]
    for c in (0, 1):
        for j, column in enumerate(zip(*data.of(c), strict=True)):
            mean, variance = Fraction(float(fitted.mean[c, j])), Fraction(float(fitted.variance[c, j]))

            def total(mean: Fraction, variance: Fraction, column: tuple[float, ...] = column) -> Any:
                return sum(oracle.gaussian(x, mean, variance) for x in column)

            most, step = total(mean, variance), Fraction(1, 10**4)
            deviation = Fraction(float(fitted.variance[c, j] ** 0.5))
            for sign in (-1, 1):
                assert total(mean + sign * step * deviation, variance) < most
                assert total(mean, variance * (1 + sign * step)) < most


def test_gaussian_by_hand() -> None:
    """μ = 2 and 12, σ² = 2/3 and 4, at x = 5; far away, where the densities underflow, in logs."""
    x = np.array([[1.0], [2.0], [3.0], [10.0], [14.0]])
    model = nb.fit(x, [0, 0, 0, 1, 1], columns=nb.Gaussian(), tune=False)
    of = {0: (Fraction(2), Fraction(2, 3)), 1: (Fraction(12), Fraction(4))}
    prior = (Fraction(3, 5), Fraction(2, 5))
    exact = [[oracle.log(prior[c]) + oracle.gaussian(x, *of[c]) for c in (0, 1)] for x in (5.0, 1e4, -1e9)]
    oracle.assert_logs_close(model.log_joint(np.array([[5.0], [1e4], [-1e9]])), exact)
    odds = [one - zero for zero, one in exact]
    oracle.assert_close(model.log_odds(np.array([[5.0], [1e4], [-1e9]])), odds)
    assert model.posterior(np.array([[1e4], [-1e9]])).tolist() == [[0.0, 1.0], [0.0, 1.0]]


Row = tuple[float, int, str, int, int]
mixed_row = st.tuples(numbers, bits, st.sampled_from(["blue", "red"]), st.integers(0, 3), st.integers(0, 3))


@given(st.lists(mixed_row, min_size=4, max_size=10), st.lists(mixed_row, min_size=1, max_size=3), quarters.filter(bool))
def test_mixed_features(rows: list[Row], new: list[Row], alpha: Fraction) -> None:
    """Gaussian, Bernoulli, categorical and multinomial columns in one model: the log joint is a sum."""
    rows = [(-1000.5, 0, "blue", 1, 1), (1.0, 1, "red", 1, 1), (1000.5, 1, "red", 2, 1), (0.0, 0, "red", 1, 0), *rows]
    labels = [i % 2 for i in range(len(rows))]
    names = ("height", "tall", "colour", "dear", "sir")

    def table(rows: list[Row]) -> dict[str, list[Any]]:
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    smooth = float(alpha)
    families = {
        "height": EXACT,
        "tall": nb.Bernoulli(a=smooth, b=smooth),
        "colour": nb.Categorical(alpha=smooth),
        ("dear", "sir"): nb.Multinomial(alpha=smooth, coefficient=True),
    }
    model = nb.fit(table(rows), labels, columns=families, tune=False)
    without = nb.fit(
        table(rows), labels, columns={**families, ("dear", "sir"): nb.Multinomial(alpha=smooth)}, tune=False
    )
    prior, words, exact = oracle.class_prior(labels), [row[3:] for row in rows], []
    for c in (0, 1):
        own = [row for row, label in zip(rows, labels, strict=True) if label == c]
        height = oracle.mean_and_variance([row[0] for row in own])
        tall = oracle.distribution([row[1] for row in own], {0: alpha, 1: alpha})
        colour = oracle.distribution([row[2] for row in own], {"blue": alpha, "red": alpha})
        multinomial = oracle.multinomial(words, labels, c, [alpha, alpha])
        counted = [prior[c] * tall[x[1]] * colour[x[2]] * oracle.product_of_words(x[3:], multinomial) for x in new]
        exact.append([oracle.gaussian(x[0], *height) + oracle.log(p) for x, p in zip(new, counted, strict=True)])
    by_row = [list(pair) for pair in zip(*exact, strict=True)]
    oracle.assert_logs_close(without.log_joint(table(new)), by_row, 1e-10)
    np.testing.assert_allclose(model.posterior(table(new)), without.posterior(table(new)), rtol=1e-9)


@given(labelled(bits, classes=4), quarters.filter(bool))
def test_many_classes(data: Labelled[int], alpha: Fraction) -> None:
    """(5.37), (5.38), (5.39); (5.38) is the log joint, and log P(y = k | x) once log P(x) is taken from it."""
    family = nb.Bernoulli(a=float(alpha), b=float(alpha))
    model, new = nb.fit(np.array(data.rows), data.labels, columns=family, tune=False), np.array(data.new)
    prior = oracle.class_prior(data.labels)
    oracle.assert_close(np.exp(model.log_prior), list(prior.values()), 1e-14)
    theta = {k: oracle.bernoulli(data.rows, data.labels, k, alpha, alpha) for k in data.classes}
    joint = [[prior[k] * oracle.product(row, theta[k]) for k in data.classes] for row in data.new]
    oracle.assert_logs_close(model.log_joint(new), [[oracle.log(p) for p in row] for row in joint])
    exact = [oracle.normalised(row, []) for row in joint]
    oracle.assert_logs_close(model.log_posterior(new), [[oracle.log(p) for p in row] for row in exact])
    oracle.assert_most_probable(model.predict(new).tolist(), data.classes, joint)


@given(labelled(bits, classes=3), quarters.filter(bool), st.sampled_from([0, 1, 2]))
def test_odds_among_many_classes(data: Labelled[int], alpha: Fraction, of: int) -> None:
    """(5.23) with more classes: one against another, and one against all others together; (5.28)–(5.30) for a pair."""
    family = nb.Bernoulli(a=float(alpha), b=float(alpha))
    model, new = nb.fit(np.array(data.rows), data.labels, columns=family, tune=False), np.array(data.new)
    prior = oracle.class_prior(data.labels)
    theta = {k: oracle.bernoulli(data.rows, data.labels, k, alpha, alpha) for k in data.classes}
    joint = [[prior[k] * oracle.product(row, theta[k]) for k in data.classes] for row in data.new]
    against = (of + 1) % 3
    pair = [oracle.log(row[of] / row[against]) for row in joint]
    oracle.assert_logs_close(model.log_odds(new, of=of, against=against), pair)
    oracle.assert_logs_close(model.log_odds(new, of=of), [oracle.log(row[of] / (sum(row) - row[of])) for row in joint])
    weights, bias = model.linear(of=of, against=against)
    oracle.assert_logs_close(bias + new @ weights, pair)
