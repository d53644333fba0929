"""ONNX graphs return the posteriors of the model under onnxruntime."""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.support.exported import (
    BIG,
    N_ROWS,
    N_ROWS_OF_MANY_CLASSES,
    assert_same_posterior,
    draw_labels,
    draw_model,
    draw_table,
)

import naively
from naively import Categorical, Gaussian, Poisson, Tuning

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model: naively.Model, table: dict[str, list[Any]]) -> Any:
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {}
    for one in session.get_inputs():
        values = table[one.name]
        if one.type == "tensor(string)":
            feed[one.name] = np.array([["" if v is None else v] for v in values], dtype=object)
        else:
            feed[one.name] = np.array([[_number(v)] for v in values])
    return session.run(None, feed)


def _number(value: Any) -> float:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=datetime.UTC).timestamp()
    return math.nan if value is None else float(value)


def assert_same(model: naively.Model, table: dict[str, list[Any]]) -> None:
    label, probabilities, log_probabilities = run(model, table)
    expected = model.log_posterior(table)
    assert_same_posterior(log_probabilities, expected)
    with np.errstate(divide="ignore"):
        assert_same_posterior(np.log(probabilities), expected)
    is_clear = np.diff(np.sort(expected)[:, -2:])[:, 0] > 1e-9
    assert label[is_clear].tolist() == model.predict(table)[is_clear].tolist()


@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.parametrize(
    "classes", [("no", "yes"), ("it's", "größe", "c"), (False, True), (1, 2, 30), (0.5, 1.5)], ids=str
)
def test_posteriors_are_those_of_the_model(classes: tuple[Any, ...], tune: bool) -> None:
    assert_same(draw_model(classes, tune), draw_table(draw_labels(N_ROWS, classes, 5), classes, 6, unseen=True))


def test_a_hundred_classes() -> None:
    classes = tuple(f"class {k}" for k in range(100))
    assert_same(
        draw_model(classes, tune=False),
        draw_table(draw_labels(N_ROWS_OF_MANY_CLASSES, classes, 5), classes, 6, unseen=True),
    )


def test_weights_offsets_and_the_length_of_a_row() -> None:
    classes = ("no", "yes")
    tuning = Tuning({"yes": 0.7}, {"word1": 0.8, "few": 0.0}, {"word1": 0.6}, default_weight=0.5)
    model = draw_model(classes, tune=False).with_tuning(tuning)
    assert_same(model, draw_table(draw_labels(300, classes, 5), classes, 6))


def test_impossible_rows_get_the_prior() -> None:
    train = {"a": ["u", "v", "w", "u"], "n": [0, 0, 3, 4]}
    families = {"a": Categorical(alpha=0), "n": Poisson(a=0, b=0)}
    model = naively.fit(train, ["x", "x", "y", "y"], columns=families, tune=False, prior={"x": 0.25, "y": 0.75})
    table: dict[str, list[Any]] = {"a": ["u", "v", "w", None], "n": [0, 5, 2, 1]}
    label, probabilities, _ = run(model, table)
    with pytest.warns(naively.ImpossibleRowsWarning):
        np.testing.assert_allclose(probabilities, model.posterior(table), atol=1e-12)
    np.testing.assert_allclose(probabilities[1], [0.25, 0.75], atol=1e-12)
    assert label.tolist() == ["x", "y", "y", "y"]


def test_refused_values_have_no_posterior() -> None:
    train = {
        "g": [1.0, 2.0, 3.0, 5.0],
        "p": [1, 2, 0, 4],
        "b": [0, 0, 0, 1],
        "c": [0.5, 0.5, 0.5, 1.5],
        "l": [1.0, 2.0, 3.0, 1.0],
    }
    families = {"g": Gaussian(), "p": Poisson(), "b": naively.Bernoulli(), "c": Categorical(), "l": naively.LogNormal()}
    good = {"g": 2.0, "p": 1.0, "b": 1.0, "c": 0.5, "l": 2.0}
    bad = [
        ("g", math.inf),
        ("p", -1.0),
        ("p", 0.5),
        ("p", math.inf),
        ("b", 2.0),
        ("c", math.inf),
        ("l", 0.0),
        ("l", -3.0),
    ]
    table = {name: [value, math.nan, *(x if at == name else value for at, x in bad)] for name, value in good.items()}
    for classes, missing in ((("x", "y"), ""), ((1, 2), -(2**63)), ((0.5, 1.5), math.nan)):
        model = naively.fit(train, [classes[0]] * 2 + [classes[1]] * 2, columns=families, tune=False)
        label, probabilities, log_probabilities = run(model, table)
        assert not np.isnan(probabilities[:2]).any()
        assert np.isnan(probabilities[2:]).all()
        assert np.isnan(log_probabilities[2:]).all()
        np.testing.assert_array_equal(label[2:], [missing] * len(bad))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("c", ["", "b"], "column 'c' .Categorical. has the empty string"),
        ("c", list(BIG[:2]), r"column 'c' .Categorical. has integers beyond 2\*\*53"),
        ("label", ["a", "b"], "column 'label'"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(name: str, values: list[Any], message: str) -> None:
    model = naively.fit({name: values}, ["x", "y"], columns={name: Categorical()}, tune=False)
    with pytest.raises(naively.InputError, match=message):
        model.to_onnx()


def test_without_the_package_one_sentence_names_it() -> None:
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import naively\n"
        "model = naively.fit({'c': ['a', 'b']}, ['x', 'y'], columns={'c': naively.Categorical()}, tune=False)\n"
        "try:\n    model.to_onnx()\n"
        "except naively.InputError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'ONNX needs the package onnx: pip install "naively[onnx]".\n'
