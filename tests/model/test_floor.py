"""The floor of a tuned model: no prediction is surer than the rows that were looked at can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import naively
from naively import Tuning
from naively.explanation.explanation import MIN_SHOWN_FLOOR


def separable(n: int = 400, n_classes: int = 2, seed: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Return classes that one number nearly separates, with a repeated column, so that tuning changes weights."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, n_classes, n)
    x = label * 3.0 + rng.normal(size=n)
    table = {"x": x.tolist(), "again": (x + 0.01 * rng.normal(size=n)).tolist(), "noise": rng.normal(size=n).tolist()}
    return table, [f"c{k}" for k in label.tolist()]


def without_floor(model: naively.Model) -> naively.Model:
    assert model.tuning is not None
    return model.with_tuning(replace(model.tuning, floor=0.0))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_posteriors_are_mixed_with_equal_probabilities(n_classes: int) -> None:
    table, labels = separable(n_classes=n_classes)
    model = naively.fit(table, labels)
    assert model.tuning is not None
    floor = model.tuning.floor
    assert floor == pytest.approx(0.5 / model.tuning.report["n_observations"])
    far = {"x": [-50.0, 2.0, None], "again": [-50.0, 2.0, None], "noise": [0.0, 0.0, None]}
    before = without_floor(model).posterior(far)
    np.testing.assert_allclose(model.posterior(far), (1 - floor) * before + floor / n_classes, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.log_posterior(far)), model.posterior(far), rtol=1e-12)
    np.testing.assert_allclose(model.posterior(far).sum(axis=1), 1.0, rtol=1e-12)
    assert model.posterior(far).min() >= floor / n_classes
    assert model.predict(far).tolist() == without_floor(model).predict(far).tolist()


def test_the_textbook_has_no_floor() -> None:
    table, labels = separable()
    plain = naively.fit(table, labels, tune=False)
    assert plain.floor == 0.0
    assert plain.with_tuning(Tuning(rows=100)).floor == 0.0
    kept = naively.fit({"x": ["a", "b"] * 10}, ["p", "q"] * 10)
    assert kept.tuning is not None
    assert kept.tuning.is_textbook
    assert kept.floor == 0.0


def test_a_class_whose_prior_is_zero_stays_impossible() -> None:
    table, labels = separable(n_classes=3)
    model = naively.fit(table, labels, prior={"c0": 0.5, "c1": 0.5, "c2": 0.0})
    far = {"x": [-50.0], "again": [-50.0], "noise": [0.0]}
    posterior = model.posterior(far)[0]
    assert posterior[2] == 0.0
    assert posterior[1] >= model.floor / 2
    assert posterior.sum() == pytest.approx(1.0)


def test_a_tuning_keeps_its_floor_in_json_and_a_file(tmp_path: Any) -> None:
    table, labels = separable()
    model = naively.fit(table, labels)
    assert model.tuning is not None
    assert Tuning.from_json(model.tuning.to_json()) == model.tuning
    model.save(tmp_path / "model.naively")
    loaded = naively.load(tmp_path / "model.naively")
    np.testing.assert_array_equal(loaded.posterior(table), model.posterior(table))
    assert "floor" not in Tuning({"a": 0.5}, rows=100).to_json()  # as written by earlier versions
    with pytest.raises(naively.InputError, match="floor"):
        Tuning.from_json(Tuning(floor=0.5).to_json().replace("0.5", "1.5"))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_explanation_adds_up_with_the_floor_as_its_last_line(n_classes: int) -> None:
    table, labels = separable(n_classes=n_classes)
    model = naively.fit(table, labels)
    rows: dict[str, Any] = {"x": [-30.0, 1.4, 4.0], "again": [-30.0, 1.5, 4.1], "noise": [0.1, 0.2, None]}
    explanations = model.explain(rows)
    for i, e in enumerate(explanations):
        total = e.prior + e.offset + sum(line.log_odds for line in e.contributions) + e.rest + e.floor
        wanted = model.log_odds({k: v[i : i + 1] for k, v in rows.items()}, e.of, e.against)[0]
        assert total == pytest.approx(wanted, abs=1e-9)
        assert total == pytest.approx(e.total, abs=1e-9)
        assert ("floor" in str(e)) == (abs(e.floor) > MIN_SHOWN_FLOOR)
        assert (">floor</td>" in e._repr_html_()) == (abs(e.floor) > MIN_SHOWN_FLOOR)
        assert e.posterior[e.of] == pytest.approx(model.posterior({k: v[i : i + 1] for k, v in rows.items()}).max())
    assert abs(explanations[0].floor) > 1
    assert explanations[0].to_dict()["floor"] == explanations[0].floor
    unsure = model.explain({"x": [1.5], "again": [1.5], "noise": [None]})[0]
    assert "floor" not in str(unsure)


def test_the_most_probable_other_class_is_that_before_the_floor() -> None:
    """All other classes are on the floor, equally improbable; the explanation compares with the nearest one."""
    table, labels = separable(n=800, n_classes=4)
    model = naively.fit(table, labels)
    far = {"x": [30.0], "again": [30.0], "noise": [0.0]}
    [explanation] = model.explain(far)
    order = np.argsort(-without_floor(model).log_posterior(far)[0])
    assert [explanation.of, explanation.against] == [model.classes[k] for k in order[:2]]


def test_contributions_add_up_to_the_log_odds_before_the_floor() -> None:
    table, labels = separable()
    model = naively.fit(table, labels)
    rows = {"x": [-30.0, 1.4], "again": [-30.0, 1.5], "noise": [0.1, None]}
    assert model.tuning is not None
    start = model.log_prior[1] - model.log_prior[0] + np.diff(model.tuning.offset(model.classes))[0]
    np.testing.assert_allclose(
        model.contributions(rows).sum(axis=1) + start, without_floor(model).log_odds(rows), rtol=1e-10
    )


def test_counterfactuals_have_the_probability_of_the_changed_row() -> None:
    table, labels = separable()
    model = naively.fit(table, labels)
    [explanation] = model.explain({"x": [-5.0], "again": [-5.0], "noise": [0.0]})
    change = explanation.counterfactual
    assert change is not None
    row = {"x": [-5.0], "again": [-5.0], "noise": [0.0]} | {c.column: [c.after] for c in change.changes}
    assert change.probability == pytest.approx(float(model.posterior(row).max()), rel=1e-6)


def test_the_report_of_a_fit_includes_the_floor() -> None:
    table, labels = separable()
    model = naively.fit(table, labels)
    assert model.tuning is not None
    evaluation = model.evaluate_training(table, labels)
    assert evaluation.log_loss[0] == pytest.approx(model.tuning.report["log_loss"], abs=1e-9)
