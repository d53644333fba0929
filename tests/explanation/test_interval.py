"""Intervals of contributions: Cornish–Fisher points against a million draws from the posterior."""

import numpy as np
import pytest

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
