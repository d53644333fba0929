"""A family that defines its statistic, estimate and log_likelihood and nothing else works everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import naively
from naively.families.base import Family, Leaving, NotCountedError, refit_without_each_row
from naively.families.evidence import RowView
from naively.statistics import Numbers, Sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Geometric(Family[Sums, Floats]):
    """The number of failures before a success: p(x | c) = q_c (1 − q_c)^x, with q_c = (n + 1) / (n + s + 2)."""

    statistic = Sums
    support = "count"

    def estimate(self, stats: Sums, classes: Any, structure: Any = None) -> Floats:
        return (stats.weight + 1) / (stats.weight + stats.total + 2)

    def log_likelihood(self, x: Any, parameters: Floats, out: Floats, length: Floats | None = None) -> None:
        for place, values in x.dense():
            scores = np.log(parameters[:, place]) + values[:, None] * np.log1p(-parameters[:, place])
            out += np.nansum(scores, axis=2)


X = np.array([[0, 3], [1, 0], [5, np.nan], [2, 2], [9, 4], [0, 0]])
LABEL = np.array([0, 1, 1, 0, 1, 0])


def test_leave_one_out_equals_refitting() -> None:
    family, stats = Geometric(), Sums.count(X, LABEL, None, n_classes=2)
    out = np.zeros((6, 2, 2))
    leaving = Leaving.of(LABEL, np.ones(6), np.ones(6))
    family.leave_one_out(Numbers.of(X), stats, ("a", "b"), None, leaving, out)
    for i in range(6):
        rest = np.arange(6) != i
        fitted = family.estimate(Sums.count(X[rest], LABEL[rest], None, n_classes=2), ("a", "b"))
        expected = np.log(fitted) + X[i] * np.log1p(-fitted)
        np.testing.assert_allclose(out[i], np.nan_to_num(expected).T, rtol=1e-12)


@pytest.mark.parametrize("family", [naively.Poisson(), naively.Exponential(), naively.Gaussian()])
def test_the_default_is_what_the_family_does_itself(family: Family) -> None:
    weight = np.array([1.0, 3.0, 0.5, 1.0, 0.0, 2.0])
    rows = np.array([1, 0, 1, 1, 0, 2])
    label = np.repeat(LABEL, 3)
    numbers = np.concatenate([X, X[::-1], 2 * X])
    label = np.concatenate([LABEL, LABEL[::-1], LABEL])
    stats = family.statistic.count(numbers, label, 4 * np.ones(18), n_classes=2)
    leaving = Leaving.of(LABEL, weight, rows)
    own, default = np.zeros((2, 6, 2, 2))
    family.leave_one_out(Numbers.of(X), stats, (0, 1), None, leaving, own)
    refit_without_each_row(family, Numbers.of(X), stats, (0, 1), None, leaving, default)
    np.testing.assert_allclose(own, default, rtol=1e-9)


def test_a_row_that_was_never_counted_is_refused() -> None:
    stats = Sums.count(X[:2], LABEL[:2], None, n_classes=2)
    with pytest.raises(NotCountedError):
        Geometric().leave_one_out(
            Numbers.of(X[2:]), stats, (0, 1), None, Leaving.of(LABEL[2:], np.ones(4), np.ones(4)), np.zeros((4, 2, 2))
        )


def test_terms_add_up_to_the_log_odds() -> None:
    family, stats = Geometric(), Sums.count(X, LABEL, None, n_classes=2)
    fitted, scores = family.estimate(stats, ("a", "b")), np.zeros((6, 2))
    family.log_likelihood(Numbers.of(X), fitted, scores)
    for i in range(6):
        row = RowView(Numbers.of(X[i : i + 1]), ("x", "y"), "number", ("a", "b"))
        terms = family.terms(row, stats, fitted, (0, 1))
        assert sum(term.log_odds for term in terms) == pytest.approx(scores[i, 0] - scores[i, 1])
        assert [term.value for term in terms] == [None if v != v else int(v) for v in X[i]]


def test_the_grid_holds_nearly_all_of_the_probability() -> None:
    family, stats = Geometric(), Sums.count(X, LABEL, None, n_classes=2)
    fitted = family.estimate(stats, ("a", "b"))
    grid = family.grid(stats, fitted, 1)
    assert grid is not None
    mass = (fitted[:, 1] * (1 - fitted[:, 1]) ** np.array(grid.values)[:, None]).sum(axis=0)
    assert (mass >= 0.995).all()
    assert grid.values[0] == 0


@pytest.mark.parametrize("method", ["linear", "sample", "compare"])
def test_what_cannot_be_derived_is_refused_by_name(method: str) -> None:
    stats = Sums.count(X, LABEL, None, n_classes=2)
    given: dict[str, tuple[Any, ...]] = {
        "linear": (None, ("x", "y"), 0, 1),
        "sample": (None, LABEL, np.random.default_rng(0)),
        "compare": (stats, stats, 0),
    }
    with pytest.raises(naively.InputError, match="Geometric"):
        getattr(Geometric(), method)(*given[method])
