"""naively computes every number of the table worked by hand."""

import subprocess
import sys
from fractions import Fraction
from itertools import product
from math import exp

import pytest

import naively
from naively.demos import play

SKIES, WINDS = ("cloud", "rain", "sun"), ("calm", "gusty")
ROWS = [{"sky": sky, "wind": wind} for sky, wind in product(SKIES, WINDS)]
ROWS += [{"sky": sky} for sky in SKIES] + [{"wind": wind} for wind in WINDS] + [{}]


@pytest.fixture(scope="module")
def model() -> naively.Model:
    return naively.fit(dict(play.DAYS), "play", tune=False)


def test_the_table_has_twelve_rows() -> None:
    assert {len(values) for values in play.DAYS.values()} == {12}


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_prior_and_likelihoods(model: naively.Model, answer: str) -> None:
    log_prior = model.log_prior[model.classes.index(answer)]
    assert exp(log_prior) == pytest.approx(float(play.prior(play.DAYS, answer)), rel=1e-14)
    for column, values in {"sky": SKIES, "wind": WINDS}.items():
        thetas = [Fraction(*play.likelihood(play.DAYS, column, value, answer)) for value in values]
        assert sum(thetas) == 1
        for value, theta in zip(values, thetas, strict=True):
            likelihood = play.p_joint(model, {column: value}, answer) / exp(log_prior)
            assert likelihood == pytest.approx(float(theta), rel=1e-14)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row.values()) or "nothing")
def test_joint_and_posterior(model: naively.Model, row: dict[str, str]) -> None:
    for answer in ("yes", "no"):
        assert play.p_joint(model, row, answer) == pytest.approx(float(play.joint(play.DAYS, row, answer)), rel=1e-14)
    p = play.posterior(play.DAYS, row)
    assert play.p_yes(model, row) == pytest.approx(float(p), rel=1e-14)
    assert model.predict(play.row_of(row))[0] == ("yes" if p > Fraction(1, 2) else "no")


def test_todays_numbers(model: naively.Model) -> None:
    assert play.joint(play.DAYS, play.TODAY, "yes") == Fraction(7, 12) * Fraction(4, 10) * Fraction(2, 9)
    assert play.joint(play.DAYS, play.TODAY, "no") == Fraction(5, 12) * Fraction(2, 8) * Fraction(5, 7)
    assert play.posterior(play.DAYS, play.TODAY) == Fraction(784, 1909)
    assert exp(play.log_odds(model, play.TODAY)) == pytest.approx(784 / 1125, rel=1e-13)


@pytest.mark.parametrize("day", range(12))
def test_forgetting_a_day_equals_counting_the_others(model: naively.Model, day: int) -> None:
    others = {name: [*values[:day], *values[day + 1 :]] for name, values in play.DAYS.items()}
    row = {column: [play.DAYS[column][day]] for column in play.COLUMNS}
    rest = model.forget(row, [play.DAYS["play"][day]])
    for values in ROWS:
        assert play.p_yes(rest, values) == pytest.approx(float(play.posterior(others, values)), rel=1e-13)


def test_demo_prints_the_figures() -> None:
    code = "from naively.demos import play; play.main()"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert "yes  7/12 x 4/10 x 2/9 = 7/135 = 0.051852   naively 0.051852" in run.stdout
    assert "no   5/12 x 2/8 x 5/7 = 25/336 = 0.074405   naively 0.074405" in run.stdout
    assert "p(yes) = 784/1909 = 0.410686" in run.stdout
    assert "p(yes) = 56/81 = 0.691358   naively 0.691358" in run.stdout
    assert "p(yes) = 49/109 = 0.449541   naively 0.449541" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 100
