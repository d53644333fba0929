"""Independent oracles: scikit-learn's five classifiers and SciPy's densities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import naive_bayes

import naively as nb

SEEDS = range(5)


def random_data(seed: int) -> tuple[np.random.Generator, Any, Any]:
    """Counts 0…4 in six columns, every count seen in every column; labels of three classes."""
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 5, (60, 6))
    x[:5] = np.arange(5)[:, None]
    label = generator.integers(0, 3, 60)
    label[:3] = range(3)
    return generator, x, label


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [1.0, 0.3, 1e-3])
def test_scikit_learn_on_counts(seed: int, alpha: float) -> None:
    generator, x, label = random_data(seed)
    weight = generator.random(60) + 0.1
    pairs: list[tuple[Any, nb.Family, Any]] = [
        (naive_bayes.BernoulliNB(alpha=alpha), nb.Bernoulli(a=alpha, b=alpha), (x > 2).astype(float)),
        (naive_bayes.CategoricalNB(alpha=alpha), nb.Categorical(alpha=alpha), x),
        (naive_bayes.MultinomialNB(alpha=alpha), nb.Multinomial(alpha=alpha), x),
    ]
    for reference, family, table in pairs:
        reference.fit(table, label, sample_weight=weight)
        ours = nb.fit(table, label, columns=family, weight=weight, tune=False)
        np.testing.assert_allclose(ours.log_joint(table), reference.predict_joint_log_proba(table), rtol=1e-10)
        np.testing.assert_allclose(ours.posterior(table), reference.predict_proba(table), rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("norm", [False, True])
def test_scikit_learn_complement(seed: int, norm: bool) -> None:
    """scikit-learn leaves the class prior out of the complement; ours is a prior like any other."""
    _, x, label = random_data(seed)
    reference = naive_bayes.ComplementNB(norm=norm).fit(x, label)
    ours = nb.fit(x, label, columns=nb.Complement(norm=norm), tune=False)
    np.testing.assert_allclose(ours.log_joint(x) - ours.log_prior, reference.predict_joint_log_proba(x), rtol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn_on_numbers(seed: int) -> None:
    generator, x, label = random_data(seed)
    numbers = x + generator.normal(size=x.shape)
    weight = generator.random(60) + 0.1
    reference = naive_bayes.GaussianNB(var_smoothing=0).fit(numbers, label, sample_weight=weight)
    ours = nb.fit(numbers, label, columns="gaussian", weight=weight, tune=False)
    np.testing.assert_allclose(ours.log_joint(numbers), reference.predict_joint_log_proba(numbers), rtol=1e-10)


def log_likelihood(family: nb.Family, train: Any, ask: Any) -> Any:
    """Of one class, so that the log joint is the log-likelihood."""
    return nb.fit(train, ["only"] * len(train), columns=family, tune=False).log_joint(ask)[:, 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_scipy_densities(seed: int) -> None:
    generator = np.random.default_rng(seed)
    train, ask = generator.gamma(2.0, 3.0, (2, 40, 1))
    logs = np.log(train)
    counts_of_events = generator.poisson(4.0, (2, 40, 1))
    rate = (counts_of_events[0].sum() + 0.5) / 41
    wait = (40 + 1) / (train.sum() + train.mean())
    pairs = [
        (log_likelihood(nb.Gaussian(), train, ask), stats.norm.logpdf(ask, train.mean(), train.std())),
        (log_likelihood(nb.LogNormal(), train, ask), stats.lognorm.logpdf(ask, logs.std(), 0, np.exp(logs.mean()))),
        (
            log_likelihood(nb.Poisson(), counts_of_events[0], counts_of_events[1]),
            stats.poisson.logpmf(counts_of_events[1], rate),
        ),
        (log_likelihood(nb.Exponential(), train, ask), stats.expon.logpdf(ask, scale=1 / wait)),
    ]
    for ours, reference in pairs:
        np.testing.assert_allclose(ours, reference.ravel(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_scipy_multinomial(seed: int) -> None:
    train, ask = np.random.default_rng(seed).integers(0, 6, (2, 30, 5))
    theta = (train.sum(axis=0) + 1) / (train.sum() + 5)
    ours = log_likelihood(nb.Multinomial(coefficient=True), train, ask)
    np.testing.assert_allclose(ours, [stats.multinomial.logpmf(row, row.sum(), theta) for row in ask], rtol=1e-11)
