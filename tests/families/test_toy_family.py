"""A family that defines its statistic, estimate and log_likelihood and nothing else works everywhere."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import naively
from naively.checks import check_family, draw_rows
from naively.families.base import Family, Leaving, NotCountedError, refit_without_each_row
from naively.families.evidence import RowView
from naively.statistics import Numbers, Sums

Floats = NDArray[np.float64]


@naively.register
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
        "compare": (stats, stats),
    }
    with pytest.raises(naively.InputError, match="Geometric"):
        getattr(Geometric(), method)(*given[method])


ROWS, LABELS = draw_rows(Geometric(), n_rows=90)
COLUMNS = dict.fromkeys(ROWS, Geometric())


def fitted(rows: slice = slice(None), tune: bool = False) -> naively.Model:
    part = {name: values[rows] for name, values in ROWS.items()}
    return naively.fit(part, LABELS[rows], columns=COLUMNS, tune=tune)


def log_joint(rows: slice) -> Floats:
    """log p(x, c) of all rows by the formulas, from the rows of a slice."""
    x = np.array([[np.nan if v is None else v for v in values] for values in ROWS.values()], np.float64).T
    y = np.array(LABELS)
    out = np.zeros((len(x), 3))
    for c, label in enumerate("abc"):
        known = x[rows][y[rows] == label]
        n, total = (~np.isnan(known)).sum(axis=0), np.nansum(known, axis=0)
        q = (n + 1) / (n + total + 2)
        out[:, c] = np.log(np.mean(y[rows] == label)) + np.nansum(np.log(q) + x * np.log1p(-q), axis=1)
    return out


def test_the_public_checks_pass() -> None:
    check_family(Geometric())


@pytest.mark.parametrize("tune", [False, True])
def test_fit_and_predict(tune: bool) -> None:
    model = fitted(tune=tune)
    np.testing.assert_allclose(model.log_joint(ROWS), log_joint(slice(None)), rtol=1e-12)
    assert model.evaluate(ROWS, LABELS).accuracy[0] > 0.5
    if tune:
        assert model.tuning is not None
        assert set(model.tuning.offsets) == {"a", "b", "c"}


def test_leave_one_out_of_a_model_equals_refitting() -> None:
    left_out = fitted().leave_one_out(ROWS, LABELS)
    for i in range(0, 90, 7):
        others = [j for j in range(90) if j != i]
        rest = naively.fit(
            {name: [values[j] for j in others] for name, values in ROWS.items()},
            [LABELS[j] for j in others],
            columns=COLUMNS,
            tune=False,
        )
        row = {name: values[i : i + 1] for name, values in ROWS.items()}
        np.testing.assert_allclose(left_out.log_joint[i], rest.log_joint(row)[0], rtol=1e-10)


def test_update_forget_add_and_subtract() -> None:
    first, second, both = fitted(slice(0, 45)), fitted(slice(45, None)), fitted()
    later = {name: values[45:] for name, values in ROWS.items()}
    for model in (first + second, first.update(later, LABELS[45:])):
        np.testing.assert_allclose(model.log_joint(ROWS), log_joint(slice(None)), rtol=1e-12)
    for model in (both - second, both.forget(later, LABELS[45:])):
        np.testing.assert_allclose(model.log_joint(ROWS), log_joint(slice(0, 45)), rtol=1e-12)


def test_explanations_have_a_line_per_column() -> None:
    model = fitted(tune=True)
    row = {name: [3.0] for name in ROWS}
    (explanation,) = model.explain(row)
    assert {line.column for line in explanation.contributions} == set(ROWS)
    total = explanation.prior + explanation.offset + sum(line.log_odds for line in explanation.contributions)
    total += explanation.floor
    assert total == pytest.approx(model.log_odds(row, explanation.of, explanation.against)[0])


def test_save_load_and_merge(tmp_path: Path) -> None:
    for name, rows in (("one", slice(0, 45)), ("two", slice(45, None))):
        fitted(rows).save(tmp_path / name)
    np.testing.assert_array_equal(naively.load(tmp_path / "one").log_joint(ROWS), fitted(slice(0, 45)).log_joint(ROWS))
    with naively.open(tmp_path / "one") as ledger:
        ledger.update({name: values[45:] for name, values in ROWS.items()}, LABELS[45:])
        np.testing.assert_allclose(ledger.model().log_joint(ROWS), log_joint(slice(None)), rtol=1e-12)
    merged = naively.merge([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert merged.class_counts.sum() == 135
    with sqlite3.connect(tmp_path / "both") as connection:
        (schema,) = connection.execute("SELECT json FROM schemas LIMIT 1").fetchone()
    assert '"Geometric"' in schema


def test_diff_and_sample_name_the_family() -> None:
    with pytest.raises(naively.InputError, match="Geometric"):
        fitted().sample(3)
    with pytest.raises(naively.InputError, match="Geometric"):
        naively.diff(fitted(slice(0, 45)), fitted(slice(45, None)))


def test_pictures() -> None:
    pytest.importorskip("matplotlib")
    from naively import plot

    figure = plot.distributions(fitted())
    assert sum(panel.get_visible() for panel in figure.axes) == len(ROWS)
    probabilities = [line.get_ydata() for line in figure.axes[0].get_lines()]
    assert all(sum(p) > 0.99 for p in probabilities)  # type: ignore[arg-type]
    assert plot.nomogram(fitted()).axes
