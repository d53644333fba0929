"""Intervals of contributions: their ends against a million draws from the posterior."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naively as nb
from naively.families.evidence import beta_spread


@pytest.mark.parametrize(
    ("first", "second", "tolerance"),
    [
        ((3.0, 10.0), (8.0, 40.0), 0.03),
        ((40.0, 900.0), (5.0, 1200.0), 0.03),
        ((7.0, 9.0), (3.0, 5.0), 0.15),
        ((1.0, 30.0), (12.0, 50.0), 0.15),
        ((1.0, 3.0), (1.0, 2.0), 0.15),
        ((0.5, 20.0), (200.0, 900.0), 0.15),
    ],
)
def test_interval_of_shares_agrees_with_draws(
    first: tuple[float, float], second: tuple[float, float], tolerance: float
) -> None:
    generator = np.random.default_rng(5)
    draws = [np.log(generator.beta(a, every - a, 1_000_000)) for a, every in (first, second)]
    differences = draws[0] - draws[1]
    interval = np.array(beta_spread(np.array([[first[0], second[0]]]), np.array([[first[1], second[1]]]))).ravel()
    expected = np.quantile(differences, [0.025, 0.975])
    assert np.abs(interval - expected).max() < tolerance * differences.std()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0.01, 100.0), (50.0, 1000.0)),
        ((0.01, 100.0), (0.01, 1000.0)),
        ((0.3, 10.0), (2.3, 10.0)),
        ((200.0, 900.0), (0.4, 20.0)),
        ((0.02, 0.04), (5.02, 5.04)),
        ((1.015, 30_000.0), (0.015, 9000.0)),
        ((8.1, 8.2), (3.1, 3.2)),
        ((4.06, 4.12), (4.06, 4.12)),
        ((1.02, 1.04), (2.02, 3.04)),
    ],
)
def test_interval_of_small_counts_agrees_with_draws(first: tuple[float, float], second: tuple[float, float]) -> None:
    """Draw log θ by log Gamma(a) = log Gamma(a + 1) + log(U) / a, which does not underflow."""
    generator = np.random.default_rng(5)

    def log_gamma(a: float) -> np.ndarray:
        return np.asarray(np.log(generator.gamma(a + 1, size=1_000_000)) + np.log(generator.random(1_000_000)) / a)

    def log_beta(a: float, total: float) -> np.ndarray:
        one, other = log_gamma(a), log_gamma(total - a)
        return np.asarray(one - np.logaddexp(one, other))

    differences = log_beta(*first) - log_beta(*second)
    interval = np.array(beta_spread(np.array([[first[0], second[0]]]), np.array([[first[1], second[1]]]))).ravel()
    expected = np.quantile(differences, [0.025, 0.975])
    assert np.abs(interval - expected).max() < 0.015 * np.diff(expected)


@given(a=arrays(float, (4, 2), elements=st.floats(1e-4, 1e5)), rest=arrays(float, (4, 2), elements=st.floats(0.0, 1e6)))
def test_interval_includes_its_own_estimate(a: np.ndarray, rest: np.ndarray) -> None:
    total = a + rest
    low, high = beta_spread(a, total)
    estimate = np.log(a[:, 0] / total[:, 0]) - np.log(a[:, 1] / total[:, 1])
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    assert (low <= estimate).all()
    assert (estimate <= high).all()


def test_interval_of_certain_and_of_improper_shares() -> None:
    four = np.full((1, 2), 4.0)
    assert np.array(beta_spread(four, four)).ravel().tolist() == [0.0, 0.0]
    assert np.isnan(beta_spread(np.array([[0.0, 4.0]]), four)[0]).all()


def test_more_data_narrows_the_interval() -> None:
    widths = []
    for n in (10, 1000):
        model = nb.fit({"sky": ["sun", "sun", "rain", "rain", "sun"] * n}, ["a", "a", "a", "b", "b"] * n, tune=False)
        (line,) = model.explain({"sky": ["sun"]}, of="a")[0].contributions
        assert line.low is not None
        assert line.high is not None
        assert line.low < line.log_odds < line.high
        widths.append(line.high - line.low)
    assert widths[1] < widths[0] / 9


def test_gaussian_interval_agrees_with_refitted_samples() -> None:
    """Compare the delta method with the spread over 2,000 new training sets of the same size."""
    generator = np.random.default_rng(6)
    n = 400
    label = np.repeat([0, 1], n)
    family = nb.Gaussian()
    log_odds = []
    for _ in range(2000):
        x = np.concatenate([generator.normal(0, 1, n), generator.normal(1, 2, n)])[:, None]
        model = nb.fit(x, label, columns=family, n_jobs=1, tune=False)
        joint = model.log_joint(np.array([[1.5]]))[0]
        log_odds.append(joint[0] - joint[1])
    (line,) = model.explain(np.array([[1.5]]), of=0, changes=False)[0].contributions
    assert line.low is not None
    assert line.high is not None
    assert (line.high - line.low) / 3.92 == pytest.approx(np.std(log_odds), rel=0.15)


def test_no_interval_of_an_explanation_excludes_its_line() -> None:
    """Rounding must not do it either: zero counts and small pseudo-counts, times the number of occurrences."""
    generator = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(300)])
    texts = [" ".join(words[np.minimum(generator.zipf(1.4, 40), 300) - 1]) for _ in range(120)]
    label = generator.choice(["a", "b", "c"], 120)
    for alpha in (1e-9, 1e-5, 1e-3, 0.1):
        model = nb.fit(texts, label, columns=nb.Text(alpha=alpha), tune=False)
        for explanation in model.explain(texts[:30], leave_out=False):
            for line in explanation.contributions:
                if line.low is not None and line.high is not None:
                    assert line.low <= line.log_odds <= line.high
