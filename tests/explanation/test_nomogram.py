"""The points of a nomogram add up to the probability of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.families.test_toy_family import Geometric

import naively as nb
from naively.explanation.nomogram import Nomogram, make_nomogram
from naively.families.binned import format_interval, shown_cuts
from naively.model.calibrate import EvidenceKey

GENERATOR = np.random.default_rng(8)
CODE = GENERATOR.integers(0, 3, 300)
LABEL = np.array(["a", "b", "c"])[CODE]
TABLE: dict[str, Any] = {
    "kind": np.array(["x", "y", "z", "w"])[(CODE + GENERATOR.integers(0, 2, 300)) % 4].tolist(),
    "bins": GENERATOR.normal(CODE, 1),
    "coin": GENERATOR.random(300) < 0.2 + CODE / 4,
    "normal": np.round(GENERATOR.normal(CODE, 2)),
    "visits": GENERATOR.poisson(1 + CODE),
    "tea": GENERATOR.poisson(CODE + 0.1),
    "milk": GENERATOR.poisson(1, 300),
}
FAMILIES = {
    "bins": nb.Binned(),
    "normal": nb.Gaussian(),
    "visits": nb.Poisson(),
    ("tea", "milk"): nb.Multinomial(),
    "kind": nb.Categorical(missing="value"),
}
KIND_IS_PRESENT = EvidenceKey(("kind",), "presence")
TUNING = nb.Tuning({"a": 0.5}, {"kind": 0.5, "coin": 2.0, "tea": 0.7, KIND_IS_PRESENT: 0.3}, default_weight=0.8)


def read_off(nomogram: Nomogram, model: nb.Model, row: dict[str, Any]) -> float:
    """Return the sum of the points of a row, each read off its axis."""
    binned = next(
        fitted
        for block, fitted in zip(model.chosen.schema.blocks, model.parameters, strict=True)
        if block.names == ("bins",)
    )
    total = 0.0
    for axis in nomogram.axes:
        if axis.column == "kind present":
            value: Any = row["kind"] is not None
        elif axis.column == "bins":
            b = int(np.searchsorted(binned.column_cuts(0), row["bins"], side="right"))
            value = format_interval(shown_cuts(binned, 0, "number"), b, "number")
        else:
            value = row[axis.column]
        total += nomogram.points(axis, value)
    return total


@pytest.mark.parametrize("tuning", [None, TUNING], ids=["untuned", "tuned"])
def test_points_add_up_to_the_posterior(tuning: nb.Tuning | None) -> None:
    model = nb.fit(TABLE, LABEL, columns=FAMILIES).with_tuning(tuning)
    nomogram = make_nomogram(model, "c", "a")
    assert not nomogram.hidden
    assert {axis.column for axis in nomogram.axes} >= {"kind", "bins", "coin", "normal", "visits", "tea", "milk"}
    marks = {axis.column: axis.values for axis in nomogram.axes}
    read = 0
    for i in range(300):
        row = {name: values[i] for name, values in TABLE.items()} | {"kind": None if i % 9 == 0 else TABLE["kind"][i]}
        row["coin"] = bool(row["coin"])
        off = any(row[name] not in marks[name] for name in ("normal", "visits", "tea", "milk"))
        if off:
            continue  # between two marks, or beyond the last
        read += 1
        p = model.posterior({name: [value] for name, value in row.items()})[0]
        assert nomogram.probability(read_off(nomogram, model, row)) == pytest.approx(p[2] / (p[0] + p[2]), rel=1e-9)
    assert read > 50


def test_widest_axes_come_first_and_others_are_hidden() -> None:
    nomogram = make_nomogram(nb.fit(TABLE, LABEL, columns=FAMILIES), top=3)
    assert [axis.range for axis in nomogram.axes] == sorted((axis.range for axis in nomogram.axes), reverse=True)
    assert len(nomogram.axes) == 3
    assert nomogram.axes[0].range * nomogram.unit == pytest.approx(100)
    assert len(nomogram.hidden) >= 4


def test_frequent_words_have_axes() -> None:
    texts = ["tea tea milk", "milk milk tea", "sugar tea tea", "salt milk milk"] * 3
    model = nb.fit(texts, ["a", "b"] * 6)
    nomogram = make_nomogram(model)
    assert {axis.column for axis in nomogram.axes} == {"text: tea", "text: milk"}  # the others occur 3 times
    hidden = make_nomogram(model.with_tuning(nb.Tuning(exponents={"text": 0.5}))).hidden
    assert hidden == ("text (its weight depends on its length)",)


@pytest.mark.parametrize("tuning", [None, nb.Tuning({"a": 0.5}, {"text": 0.3})], ids=["untuned", "tuned"])
def test_absent_words_are_evidence_in_a_bernoulli_model(tuning: nb.Tuning | None) -> None:
    texts = ["tea milk", "milk", "sugar tea", "salt milk", "tea", "milk salt"] * 5
    model = nb.fit(texts, ["a", "b"] * 15, columns=nb.Text(model="bernoulli"), tune=False).with_tuning(tuning)
    nomogram = make_nomogram(model, "b", "a")
    for text in ("", "tea", "milk salt", "sugar tea milk", "tea salt sugar milk"):
        words = text.split()
        points = sum(nomogram.points(axis, int(axis.column.removeprefix("text: ") in words)) for axis in nomogram.axes)
        assert nomogram.probability(points) == pytest.approx(model.posterior([text])[0, 1], rel=1e-9)


@pytest.mark.parametrize("weights", [{}, {"x0": 3.0, "x7": 0.0}], ids=["one weight", "two weights"])
def test_columns_of_a_wide_bernoulli_block(weights: Any) -> None:
    x, label = GENERATOR.integers(0, 2, (60, 300)), GENERATOR.integers(0, 2, 60)
    model = nb.fit(x, label, columns=nb.Bernoulli(), tune=False).with_tuning(
        nb.Tuning(weights=weights, default_weight=0.1)
    )
    nomogram = make_nomogram(model, top=300)
    for row in x[:5]:
        points = sum(nomogram.points(axis, int(row[int(axis.column[1:])])) for axis in nomogram.axes)
        p = model.posterior(row[None])[0, 1]
        assert nomogram.probability(points) == pytest.approx(p, rel=1e-9)


def test_axis_of_any_family_follows_its_likelihood() -> None:
    """A family over `Sums` that is not a Poisson is not drawn as one."""
    label = np.repeat(["a", "b"], 200)
    x = np.concatenate([GENERATOR.geometric(0.5, 200), GENERATOR.geometric(0.2, 200)]) - 1
    model = nb.fit({"x": x}, label, columns={"x": Geometric()}, tune=False)
    nomogram = make_nomogram(model)
    (axis,) = nomogram.axes
    assert len(axis.values) > 4
    for value in axis.values:
        p = model.posterior({"x": [value]})[0, 1]
        assert nomogram.probability(nomogram.points(axis, value)) == pytest.approx(p, rel=1e-9)


def test_a_nomogram_needs_two_classes() -> None:
    with pytest.raises(nb.InputError, match="compares two classes"):
        make_nomogram(nb.fit({"x": ["a", "b"]}, [0, 0]))
    with pytest.raises(nb.InputError, match="the same class"):
        make_nomogram(nb.fit({"x": ["a", "b"]}, [0, 1]), 0, 0)


def test_the_default_of_many_classes_are_the_two_most_common_ones() -> None:
    labels = ["a"] * 5 + ["b"] * 10 + ["c"] * 20 + ["d"] * 2
    model = nb.fit({"x": [str(i % 3) for i in range(len(labels))]}, labels, tune=False)
    nomogram = make_nomogram(model)
    assert (nomogram.of, nomogram.against) == ("c", "b")
    assert (make_nomogram(model, "a").of, make_nomogram(model, "a").against) == ("a", "c")


def test_marks_of_dates_are_whole_days() -> None:
    import datetime

    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 50 + 100 * (i % 2)) for i in range(80)]
    model = nb.fit({"when": days}, ["early", "late"] * 40, columns={"when": nb.Gaussian()}, tune=False)
    marks = make_nomogram(model).axes[0].marks
    assert len(marks) > 2
    assert all(len(mark) == len("2024-01-01") for mark in marks)


def test_scales_stay_within_the_counted_numbers() -> None:
    """A Gaussian has tails beyond them: below zero children, or one and a half of them."""
    random = np.random.default_rng(3)
    label = np.repeat(["a", "b"], 300)
    X = {"children": np.minimum(random.poisson(0.5, 600) + (label == "b"), 4), "age": 0.4 + random.gamma(2, 15, 600)}
    gaussians = nb.Tuning(families={name: nb.Gaussian() for name in X})
    axes = {axis.column: axis for axis in make_nomogram(nb.fit(X, label, tune=False).with_tuning(gaussians)).axes}
    assert list(axes["children"].values) == list(range(5))
    assert axes["age"].values[0] == 0.0
    assert axes["age"].values[-1] >= np.quantile(X["age"], 0.95)


def test_a_model_that_reads_columns_together_says_so() -> None:
    random = np.random.default_rng(0)
    sun, dry = random.random((2, 400)) < 0.5
    y = np.where(sun == dry, "grows", "dies")
    X = {"sun": sun, "dry": dry, "soil": np.where((y == "grows") ^ (random.random(400) < 0.2), "good", "bad")}
    model, plain = nb.fit(X, y, together=True), nb.fit(X, y)
    note = make_nomogram(model).note
    assert "columns together" in note
    assert not make_nomogram(plain).note
    assert note in nb.report(model).html
    assert note not in nb.report(plain).html
    title = nb.plot.nomogram(model)._suptitle  # type: ignore[attr-defined]
    assert note in title.get_text().replace("\n", " ")
