"""The points of a nomogram, added up by hand, give the probability that the model gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import naively as nb
from naively.explanation.nomogram import Nomogram, make_nomogram
from naively.families.binned import format_interval
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


def read_off(found: Nomogram, model: nb.Model, row: dict[str, Any]) -> float:
    """The sum of the points of a row, each read off its axis."""
    cuts = next(
        fitted.column_cuts(0)
        for block, fitted in zip(model.chosen.schema.blocks, model.parameters, strict=True)
        if block.names == ("bins",)
    )
    total = 0.0
    for axis in found.axes:
        if axis.column == "kind present":
            value: Any = row["kind"] is not None
        elif axis.column == "bins":
            value = format_interval(cuts, int(np.searchsorted(cuts, row["bins"], side="right")), "number")
        else:
            value = row[axis.column]
        total += found.points(axis, value)
    return total


@pytest.mark.parametrize("tuning", [None, TUNING], ids=["textbook", "tuned"])
def test_totals_are_those_of_predict(tuning: nb.Tuning | None) -> None:
    model = nb.fit(TABLE, LABEL, columns=FAMILIES).with_tuning(tuning)
    found = make_nomogram(model, "c", "a")
    assert not found.hidden
    assert {axis.column for axis in found.axes} >= {"kind", "bins", "coin", "normal", "visits", "tea", "milk"}
    marks = {axis.column: axis.values for axis in found.axes}
    read = 0
    for i in range(300):
        row = {name: values[i] for name, values in TABLE.items()} | {"kind": None if i % 9 == 0 else TABLE["kind"][i]}
        row["coin"] = bool(row["coin"])
        off = any(row[name] not in marks[name] for name in ("normal", "visits", "tea", "milk"))
        if off:
            continue  # between two marks, or beyond the last
        read += 1
        p = model.posterior({name: [value] for name, value in row.items()})[0]
        assert found.probability(read_off(found, model, row)) == pytest.approx(p[2] / (p[0] + p[2]), rel=1e-9)
    assert read > 50


def test_widest_first_and_the_rest_hidden() -> None:
    found = make_nomogram(nb.fit(TABLE, LABEL, columns=FAMILIES), top=3)
    assert [axis.range for axis in found.axes] == sorted((axis.range for axis in found.axes), reverse=True)
    assert len(found.axes) == 3
    assert found.axes[0].range * found.unit == pytest.approx(100)
    assert len(found.hidden) >= 4


def test_words_have_axes_and_long_texts_say_why_not() -> None:
    texts = ["tea tea milk", "milk milk tea", "sugar tea tea", "salt milk milk"] * 3
    model = nb.fit(texts, ["a", "b"] * 6)
    found = make_nomogram(model)
    assert {axis.column for axis in found.axes} == {"text: tea", "text: milk"}  # the others occur 3 times
    hidden = make_nomogram(model.with_tuning(nb.Tuning(exponents={"text": 0.5}))).hidden
    assert hidden == ("text (its weight depends on its length)",)


@pytest.mark.parametrize("tuning", [None, nb.Tuning({"a": 0.5}, {"text": 0.3})], ids=["textbook", "tuned"])
def test_words_that_are_not_there_speak_in_a_bernoulli_model(tuning: nb.Tuning | None) -> None:
    texts = ["tea milk", "milk", "sugar tea", "salt milk", "tea", "milk salt"] * 5
    model = nb.fit(texts, ["a", "b"] * 15, columns=nb.Text(model="bernoulli"), tune=False).with_tuning(tuning)
    found = make_nomogram(model, "b", "a")
    for text in ("", "tea", "milk salt", "sugar tea milk", "tea salt sugar milk"):
        words = text.split()
        points = sum(found.points(axis, int(axis.column.removeprefix("text: ") in words)) for axis in found.axes)
        assert found.probability(points) == pytest.approx(model.posterior([text])[0, 1], rel=1e-9)


def test_one_class_or_the_same_twice() -> None:
    with pytest.raises(nb.InputError, match="compares two classes"):
        make_nomogram(nb.fit({"x": ["a", "b"]}, [0, 0]))
    with pytest.raises(nb.InputError, match="the same class"):
        make_nomogram(nb.fit({"x": ["a", "b"]}, [0, 1]), 0, 0)
