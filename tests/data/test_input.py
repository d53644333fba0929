"""Bad input raises an error that names the problem and a remedy, and changes nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import sparse
from tests.support.strategies import assert_same_model

import naively as nb

INF, NAN = float("inf"), float("nan")
MAIL = {"length": [20.0, 35.0, 120.0], "colour": ["red", "red", "blue"]}
LABEL = ["ham", "ham", "spam"]
FAMILIES = ["Bernoulli", "Categorical", "Multinomial", "Complement", "Gaussian", "LogNormal", "Poisson", "Exponential"]


def numbers(values: list[Any]) -> dict[str, list[Any]]:
    return {"good": [1.0] * len(values), "bad": values}


def fit_numbers(values: list[Any], family: str) -> nb.Model:
    return nb.fit(numbers(values), list("aab")[: len(values)], columns=family, tune=False)


def refused(call: Callable[[], object], *words: str) -> None:
    """Check that a call raises an InputError whose message has all of these words."""
    with pytest.raises(nb.InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def containers(values: list[Any]) -> list[Any]:
    """Columns x0 (all 1) and x1 (the values), as an array and two sparse matrices."""
    x = np.column_stack([np.ones(len(values)), values])
    return [x, sparse.csr_array(x), sparse.csc_array(x)]


@pytest.mark.parametrize(
    ("family", "value", "result"),
    [
        *(
            (family, -1.0, "holds -1")
            for family in ("Multinomial", "Complement", "Poisson", "Exponential", "Bernoulli")
        ),
        *((family, 0.5, "a fraction") for family in ("Multinomial", "Complement", "Poisson", "Bernoulli")),
        *((family, 1.5e308, "1e300") for family in ("Multinomial", "Complement", "Poisson", "Exponential")),
        ("Bernoulli", 2.0, "holds 2"),
        ("LogNormal", 0.0, "holds 0"),
        ("LogNormal", -3.0, "holds -3"),
    ],
)
def test_numbers_that_a_family_has_no_probability_for(family: str, value: float, result: str) -> None:
    refused(lambda: fit_numbers([1.0, value, 1.0], family), "'bad'", result, family, "mark it as missing")
    refused(lambda: fit_numbers([1.0, 1.0, 1.0], family).predict(numbers([value])), "'bad'", result)
    for x in containers([1.0, value, 1.0]):
        refused(partial(nb.fit, x, list("aab"), columns=family), "'x1'", result)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("value", [INF, -INF])
def test_infinities(family: str, value: float) -> None:
    words = "infinity", "mark it as missing"
    refused(lambda: fit_numbers([1.0, value, 1.0], family), "'bad'", *words)
    model = fit_numbers([1.0, 1.0, 1.0], family)
    for act in (model.predict, model.posterior, model.log_joint):
        refused(partial(act, numbers([value])), "'bad'", *words)
    for x in containers([1.0, value, 1.0]):
        refused(partial(nb.fit, x, list("aab"), columns=family), "'x1'", *words)


@pytest.mark.parametrize("family", ["Gaussian", "Poisson", "Exponential"])
@pytest.mark.parametrize("value", [1.1e150, 1e300])
def test_numbers_too_large_to_square(family: str, value: float) -> None:
    refused(lambda: fit_numbers([1.0, value, 1.0], family), "'bad'", "1e150", "rescale")


MISSING_LABELS: list[Any] = [
    [0, None, 1],
    [0, NAN, 1],
    ["a", None, "b"],
    [0, pd.NaT, 1],
    [0, pd.NA, 1],
    np.array([0, NAN, 1]),
    np.array(["a", None, "b"], dtype=object),
    pd.Series([0, None, 1]),
    pd.Series([0, pd.NA, 1], dtype="Int64"),
    pd.Series(["a", pd.NA, "b"], dtype="string"),
    pd.Series(["a", None, "b"], dtype="category"),
    pd.Series(["2020-01-01", None, "2020-01-02"], dtype="datetime64[ns]"),
    pl.Series(["a", None, "b"]),
    pl.Series([1, None, 2]),
    pa.array([1, None, 2]),
    pa.chunked_array([["a", None], ["b"]]),
]


@pytest.mark.parametrize("label", MISSING_LABELS, ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', '')}")
def test_missing_labels(label: Any) -> None:
    with pytest.warns(nb.LeftOutWarning, match="1 of 3 rows have no .* and were left out"):
        model = nb.fit(MAIL, label, tune=False)
    assert model.class_weights.rows.sum() == 2
    refused(lambda: nb.NaiveBayes().fit(MAIL, label), "1 of 3 labels are missing", "row 1", "leave those rows out")


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ([0, "a", 1], ["int, str", "only one"]),
        ([True, 1, 0], ["bool, int", "only one"]),
        ([b"a", b"b", b"b"], ["bytes", "use strings"]),
        ([(1,), (2,), (3,)], ["tuple", "use strings"]),
        ([0, 1], ["3 rows but 2 labels", "one label per row"]),
        ([0, 1, 2, 3], ["3 rows but 4 labels", "one label per row"]),
        (np.zeros((3, 2)), ["shape (3, 2)", "one label per row"]),
        (None, ["one label per row"]),
        ("nosuch", ["no column 'nosuch'", "length, colour"]),
    ],
)
def test_labels_that_cannot_be_used(label: Any, words: list[str]) -> None:
    refused(lambda: nb.fit(MAIL, label, tune=False), *words)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.zeros(3), ["1D array", "reshape(-1, 1)"]),
        (np.zeros((3, 1, 1)), ["3D array", "reshape(-1, 1)"]),
        (np.zeros((3, 2), dtype=complex), ["complex128", "use numbers"]),
        ([[1, 2], [3], [4]], ["different lengths", "same number"]),
        (["a text", 2, None], ["item 1", "type int", "others are texts"]),
        ({"a": [1, 2, 3], "b": [1, 2]}, ["unequal length", "'a' has 3", "'b' has 2"]),
        ({"a": [1, "x", 2]}, ["'a'", "mixes types", "all text"]),
        ({"a": [True, 2, 3]}, ["'a'", "mixes types", "all booleans"]),
        ({"a": ["x", True, None]}, ["'a'", "mixes types"]),
        ({"a": [[1], [2], [3]]}, ["'a'", "list", "leave it out"]),
        ({"a": [object()] * 3}, ["'a'", "not a plain value"]),
        ({"a": 5}, ["1 rows but 3 labels"]),
        ({"a": "abc"}, ["1 rows but 3 labels"]),
        ({"a": "abc", "b": [1, 2, 3]}, ["'a'", "one value", "list"]),
        ({"a": {0: 1, 1: 2, 2: 3}}, ["'a'", "dict", "list"]),
        (pd.DataFrame({"a": [1, "x", 2]}), ["'a'", "mixes types", "all text"]),
        (np.array([[1, "x"], ["y", 2], [3, "z"]], dtype=object), ["'x0'", "mixes types"]),
        (pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"]), ["more than once: a", "Rename"]),
        (pd.DataFrame(np.zeros((3, 2)), columns=["1", 1]), ["more than once: 1", "Rename"]),
        (pa.table([pa.array([1, 2, 3])] * 2, names=["a", "a"]), ["more than once: a", "Rename"]),
        (np.zeros((0, 2)), ["0 rows but 3 labels"]),
        ({"a": []}, ["0 rows but 3 labels"]),
        (None, ["data of type NoneType cannot be read", "NumPy array"]),
        ("mail.csv", ["mail.csv: there is no such file"]),
    ],
)
def test_tables_that_cannot_be_used(x: Any, words: list[str]) -> None:
    refused(lambda: nb.fit(x, LABEL, tune=False), *words)


def test_no_rows_at_all() -> None:
    refused(lambda: nb.fit(np.zeros((0, 2)), [], tune=False), "no rows", "at least one row")


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ({"length": ["long"], "colour": ["red"]}, ["'length'", "type string", "number", "convert"]),
        ({"length": [1.0], "colour": [2.5]}, ["'colour'", "type number", "string", "convert"]),
        ({"length": [1.0], "colour": [True]}, ["'colour'", "type boolean", "string", "convert"]),
        (np.zeros((1, 2)), ["'length'", "x0, x1"]),
    ],
)
def test_columns_missing_or_of_another_type_at_prediction(x: Any, words: list[str]) -> None:
    model = nb.fit(MAIL, LABEL, tune=False)
    for act in (model.predict, model.posterior, model.log_joint, model.log_odds, model.log_marginal):
        refused(partial(act, x), *words)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"ham": -0.5, "spam": 1.5}, ["'ham' is -0.5", "zero or more"]),
        ({"ham": NAN, "spam": 1.0}, ["'ham' is nan"]),
        ({"ham": 0.5, "spam": 0.4}, ["sums to 0.9", "divide"]),
        ([0.5, 0.4], ["sums to 0.9", "divide"]),
        ({"ham": 0.5, "eggs": 0.5}, ["['spam']", "['eggs']", "every class once"]),
        ({"ham": 1.0}, ["['spam']", "every class once"]),
        ([1.0], ["2 classes", "one number each"]),
        ("flat", ["'flat'", "uniform"]),
    ],
)
def test_priors(prior: Any, words: list[str]) -> None:
    model = nb.fit(MAIL, LABEL, tune=False)
    refused(lambda: nb.fit(MAIL, LABEL, prior=prior, tune=False), *words)
    refused(lambda: model.with_prior(prior), *words)
    assert_same_model(model, nb.fit(MAIL, LABEL, tune=False))


@pytest.mark.parametrize("alpha", [-1, NAN, INF, [1.0, -2.0], {"red": -1}, "much", None, True])
def test_pseudo_counts(alpha: Any) -> None:
    for family in (nb.Categorical, nb.Multinomial, nb.Complement):
        refused(partial(family, alpha=alpha), "alpha", "zero or more")
    for act in (nb.Bernoulli, nb.Poisson, nb.Exponential):
        refused(partial(act, a=-1), "a=-1", "zero or more")
    refused(lambda: nb.Gaussian(floor=-1), "floor=-1", "zero or more")
    refused(lambda: nb.ClassPrior(alpha=-1), "alpha=-1", "zero or more")


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([0, 0, 0], ["all weights are zero", "at least one"]),
        ([1, -1, 1], ["row 1", "-1.0", "not negative"]),
        ([1, NAN, 1], ["row 1", "nan", "finite"]),
        ([1, INF, 1], ["row 1", "inf", "finite"]),
        ([1, 1], ["3 rows but 2 weights", "one weight per row"]),
        (["a", "b", "c"], ["must be numbers"]),
    ],
)
def test_weights(weight: Any, words: list[str]) -> None:
    refused(lambda: nb.fit(MAIL, LABEL, weight=weight, tune=False), *words)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("Gausian", ["'Gausian'", "Gaussian"]),
        ({"length": "Gausian"}, ["'Gausian'", "Gaussian"]),
        ("Family", ["'Family'", "Gaussian"]),
        ({"width": "Gaussian"}, ["'width'", "length, colour"]),
        ({"length": "Gaussian", ("length", "colour"): "Categorical"}, ["'length'", "twice", "once"]),
        ({("length", "length"): "Gaussian"}, ["'length'", "twice", "once"]),
        ({"colour": "Gaussian"}, ["'colour'", "text", "Categorical"]),
    ],
)
def test_families_named_wrongly(columns: Any, words: list[str]) -> None:
    refused(lambda: nb.fit(MAIL, LABEL, columns=columns, tune=False), *words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"odds": 2.0}, ["3", "of="]),
        ({"threshold": 0.5}, ["3", "of="]),
        ({"odds": 2.0, "of": "egg"}, ["'egg'", "'eggs'"]),
        ({"odds": -1.0, "of": "ham"}, ["odds=-1"]),
        ({"threshold": 2.0, "of": "ham"}, ["threshold=2", "between 0 and 1"]),
        ({"threshold": [0.5, 0.5]}, ["shape (2,)", "one probability per class"]),
        ({"costs": [[0, 1], [1, 0]]}, ["shape (2, 2)", "3 × 3"]),
        ({"costs": [[0, 1], [1]]}, ["square table"]),
        ({"costs": [[0.0, 1.0, NAN]] * 3}, ["finite"]),
        ({"costs": np.eye(3), "odds": 2.0}, ["one of"]),
    ],
)
def test_decisions(settings: dict[str, Any], words: list[str]) -> None:
    model = nb.fit(MAIL, ["ham", "spam", "eggs"], tune=False)
    refused(lambda: model.predict(MAIL, **settings), *words)
    refused(lambda: model.log_odds(MAIL), "3 classes")


@pytest.mark.parametrize(
    ("part", "label", "words"),
    [
        ({"length": [20.0], "colour": ["green"]}, ["ham"], ["'colour'", "'ham'", "'green'", "never counted"]),
        ({"length": [20.0], "colour": ["red"]}, ["eggs"], ["'eggs'", "never counted"]),
        ({"length": [1.0] * 3, "colour": ["red"] * 3}, ["ham"] * 3, ["'ham'", "never counted"]),
        ({"length": [20.0], "taste": ["red"]}, ["ham"], ["'taste'", "'colour'", "different columns"]),
        ({"length": ["x"], "colour": ["red"]}, ["ham"], ["'length'", "different columns"]),
        ({"length": [20.0], "colour": ["red"]}, [1], ["different types", "one type"]),
    ],
)
def test_subtracting_what_was_never_counted(part: Any, label: Any, words: list[str]) -> None:
    model, other = nb.fit(MAIL, LABEL, tune=False), nb.fit(part, label, tune=False)
    refused(lambda: model - other, *words)
    assert_same_model(model, nb.fit(MAIL, LABEL, tune=False))
    assert_same_model(other, nb.fit(part, label, tune=False))


@pytest.mark.parametrize("family", ["Multinomial", "Complement", "Poisson", "Exponential"])
@pytest.mark.parametrize("rows", [[5], [5, 0]])
def test_subtracting_more_than_was_counted(family: str, rows: list[int]) -> None:
    model = nb.fit({"words": [1, 2, 3]}, ["ham", "ham", "spam"], columns=family, tune=False)
    more = nb.fit({"words": rows}, ["ham"] * len(rows), columns=family, tune=False)
    refused(lambda: model - more, "'words'", "'ham'", "never counted")


def test_arrays_and_labels_stay_as_they_were() -> None:
    x: NDArray[np.float64] = np.array([[1.0, INF], [2.0, 1.0]])
    matrix, frame, label = sparse.csr_array(x), pd.DataFrame(x), np.array(["a", "b"])
    before = copy.deepcopy((x, matrix.toarray(), frame, label))
    for table in (x, matrix, frame):
        refused(partial(nb.fit, table, label, columns="Poisson"), "infinity")
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(matrix.toarray(), before[1])
    pd.testing.assert_frame_equal(frame, before[2])
    np.testing.assert_array_equal(label, before[3])
