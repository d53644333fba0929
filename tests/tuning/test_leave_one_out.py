"""Leave-one-out of a whole model: equal to forgetting the row and asking; groups and folds; refusals by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.support.strategies import Rows, rows

import naively as nb
from naively.data.read import read
from naively.model.calibrate import EvidenceKey
from naively.model.merge import with_classes
from naively.tuning.leave_one_out import evidence_columns

FEW: dict[str, list[Any]] = {
    "age": [31, 45, 31, 60, 22, 45, 39],
    "job": ["cook", "smith", None, "cook", "cook", "smith", "mayor"],
    "note": ["all is well", "not so well at all", "well well well", None, "the end of all", "", "all new words here"],
}
LABELS = ["no", "yes", "no", "yes", "no", "yes", "no"]
FAMILIES = {"age": nb.Gaussian(), "job": nb.Categorical(missing="value"), "note": nb.Text()}
WEIGHT = [1.0, 2.0, 0.5, 1.0, 1.0, 0.25, 1.0]


@pytest.mark.filterwarnings("ignore::naively.LostDigitsWarning")
@given(rows(groups=[("offer", "known"), ("colour", "taste"), ("w0", "w1", "w2"), ("height", "width"), ("visits",)]))
def test_equals_forgetting_the_row(drawn: Rows) -> None:
    model = drawn.fit()
    scores = model.leave_one_out(drawn.x, drawn.label, drawn.weight)
    assert scores.evidence.shape == (len(drawn), 8, len(model.classes))
    for i in range(len(drawn)):
        one = drawn.take([i])
        rest = model.forget(one.x, one.label, one.weight)
        wanted = with_classes(rest, model.classes).log_joint(one.x)[0]
        np.testing.assert_allclose(scores.log_joint[i], wanted, rtol=1e-10, atol=1e-10)


def test_a_mixture_with_texts_and_chosen_families() -> None:
    model = nb.fit(FEW, LABELS, columns=FAMILIES, weight=WEIGHT)
    scores = model.leave_one_out(FEW, LABELS, WEIGHT)
    assert scores.columns == ("age", "job", "note", "job present")
    for i in range(7):
        one = take(FEW, [i])
        rest = model.forget(one, [LABELS[i]], [WEIGHT[i]])
        np.testing.assert_allclose(scores.log_joint[i], rest.log_joint(one)[0], rtol=1e-10)


def test_groups_are_refits_without_them() -> None:
    model = nb.fit(FEW, LABELS, columns=FAMILIES, weight=WEIGHT)
    group = np.array(["a", "b", "a", "c", "b", "c", "c"])
    scores = model.leave_one_out(FEW, LABELS, WEIGHT, groups=group)
    for g in "abc":
        keep, away = np.flatnonzero(group != g), np.flatnonzero(group == g)
        others = take(FEW, keep), [LABELS[i] for i in keep]
        rest = nb.fit(*others, columns=FAMILIES, weight=[WEIGHT[i] for i in keep])
        wanted = with_classes(rest, model.classes).log_joint(take(FEW, away))
        np.testing.assert_allclose(scores.log_joint[away], wanted, rtol=1e-10)


def take(x: dict[str, list[Any]], rows: Any) -> dict[str, list[Any]]:
    return {name: [values[i] for i in rows] for name, values in x.items()}


def test_folds_do_not_depend_on_the_order_and_hold_equal_rows_together() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, (200, 3)).astype(float), rng.integers(0, 2, 200)
    model = nb.fit(x, y, columns=nb.Categorical())
    scores = model.leave_one_out(x, y, folds=5)
    order = rng.permutation(200)
    again = model.leave_one_out(x[order], y[order], folds=5)
    np.testing.assert_allclose(again.log_joint, scores.log_joint[order], rtol=1e-12)
    fold = read(x).row_hashes() % np.uint64(5)
    equal: dict[Any, int] = {}
    for key, k in zip(map(tuple, np.column_stack([x, y])), fold.tolist(), strict=True):
        assert equal.setdefault(key, k) == k


def test_a_sample_is_the_same_rows_in_any_order() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(500, 2)), rng.integers(0, 3, 500)
    model = nb.fit(x, y, columns=nb.Gaussian())
    all_scores, few_scores = model.leave_one_out(x, y), model.leave_one_out(x, y, sample=50)
    np.testing.assert_array_equal(few_scores.log_joint, all_scores.log_joint[few_scores.rows])
    order = rng.permutation(500)
    again = model.leave_one_out(x[order], y[order], sample=50)
    assert set(order[again.rows].tolist()) == set(few_scores.rows.tolist())


def test_rows_of_weight_zero_are_scored_as_new_ones() -> None:
    x, y = {"a": [1.0, 2.0, 5.0, 7.0, 3.0]}, [0, 0, 1, 1, 0]
    weight = [1.0, 1.0, 1.0, 1.0, 0.0]
    model = nb.fit(x, y, columns=nb.Gaussian(), weight=weight)
    scores = model.leave_one_out(x, y, weight)
    np.testing.assert_allclose(scores.log_joint[4], model.log_joint({"a": [3.0]})[0])


def test_a_class_alone() -> None:
    model = nb.fit({"a": [1, 2, 3]}, ["x", "x", "y"], columns=nb.Gaussian())
    scores = model.leave_one_out({"a": [1, 2, 3]}, ["x", "x", "y"])
    assert np.isneginf(scores.log_prior[2, 1])
    assert np.isfinite(scores.evidence).all()
    lone = nb.fit({"a": [1]}, ["x"], columns=nb.Gaussian())
    assert lone.leave_one_out({"a": [1]}, ["x"]).log_posterior.tolist() == [[0.0]]


def test_long_data_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    model = nb.fit(x, y)
    all_scores = model.leave_one_out(x, y)
    monkeypatch.setattr("naively.tuning.leave_one_out.MAX_NUMBERS_AT_A_TIME", 100)
    np.testing.assert_array_equal(model.leave_one_out(x, y).log_joint, all_scores.log_joint)


def test_names_of_the_evidence() -> None:
    x = {"w0": [1, 2], "w1": [0, 1], "age": [3, 4]}
    model = nb.fit(x, [0, 1], columns={("w0", "w1"): nb.Multinomial(), "age": nb.Gaussian()})
    assert evidence_columns(model) == (EvidenceKey(("w0",)), EvidenceKey(("age",)))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": [1, 9]}, ["x", "y"], "row 1 is not among the rows this model was fitted on: without it, class 'y'"),
        ({"a": [1, 2]}, ["x", "z"], "'z' is not a class of the model"),
        ({"a": [1, 2]}, ["x"], "2 rows but 1 labels"),
    ],
)
def test_refusals(x: Any, y: Any, message: str) -> None:
    model = nb.fit({"a": [1, 2]}, ["x", "y"], columns=nb.Categorical())
    with pytest.raises(nb.InputError, match=message):
        model.leave_one_out(x, y)


def test_refuses_odd_groups_and_folds() -> None:
    model = nb.fit({"a": [1, 2]}, ["x", "y"], columns=nb.Categorical())
    cases: list[tuple[dict[str, Any], str]] = [
        ({"groups": [1]}, "give one value for each of the 2 rows"),
        ({"folds": 1}, "a whole number of at least 2"),
        ({"folds": 2, "groups": [1, 2]}, "not both"),
    ]
    for options, message in cases:
        with pytest.raises(nb.InputError, match=message):
            model.leave_one_out({"a": [1, 2]}, ["x", "y"], **options)
