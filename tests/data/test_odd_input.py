"""Good input of odd kinds: nullable types, categories, dates, decimals, names that are not strings, no rows."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.support.strategies import assert_same_model

import naively as nb

LABEL = ["a", "a", "b", "b"]
DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3), None, datetime.date(2021, 6, 1)]
TIMES = [None if d is None else datetime.datetime(d.year, d.month, d.day) for d in DAYS]

# The same column in a plain list, and in other types.
SAME: dict[str, tuple[list[Any], list[Any]]] = {
    "whole numbers": (
        [1.0, None, 3.0, 5.0],
        [
            pd.array([1, None, 3, 5], dtype="Int64"),
            pd.array([1, None, 3, 5], dtype="Float32"),
            pd.Series([1, None, 3, 5], dtype="int32[pyarrow]"),
            pd.Series([decimal.Decimal(1), None, decimal.Decimal(3), decimal.Decimal(5)]),
            pl.Series([1, None, 3, 5], dtype=pl.UInt16),
            pl.Series([1, None, 3, 5], dtype=pl.Decimal(10, 2)),
            pa.array([1, None, 3, 5], type=pa.uint8()),
            pa.array([decimal.Decimal(1), None, decimal.Decimal(3), decimal.Decimal(5)]),
        ],
    ),
    "booleans": (
        [True, None, False, True],
        [
            pd.array([True, None, False, True], dtype="boolean"),
            pd.Series([True, None, False, True], dtype=object),
            pd.Series([True, pd.NA, False, True], dtype="bool[pyarrow]"),
            pl.Series([True, None, False, True]),
            pa.array([True, None, False, True]),
        ],
    ),
    "text": (
        ["u", None, "v", "ü"],
        [
            pd.array(["u", None, "v", "ü"], dtype="string"),
            pd.Series(["u", pd.NA, "v", "ü"], dtype=object),
            pd.Categorical(["u", None, "v", "ü"], categories=["z", "ü", "v", "u"]),
            pl.Series(["u", None, "v", "ü"]),
            pl.Series(["u", None, "v", "ü"], dtype=pl.Categorical),
            pl.Series(["u", None, "v", "ü"], dtype=pl.Enum(["ü", "v", "u", "never"])),
            pa.array(["u", None, "v", "ü"]).dictionary_encode(),
            pa.array(["u", None, "v", "ü"], type=pa.large_string()),
            pa.array(["u", None, "v", "ü"], type=pa.string_view()),
            pa.DictionaryArray.from_arrays([0, 1, 2, 3], pa.array(["u", None, "v", "ü"])),
        ],
    ),
    "dates": (
        DAYS,
        [
            TIMES,
            np.array(DAYS, dtype="M8[D]"),
            pd.Series(TIMES, dtype="datetime64[ns]"),
            pd.Series([pd.NaT if t is None else pd.Timestamp(t) for t in TIMES]),
            pl.Series(DAYS),
            pl.Series(TIMES, dtype=pl.Datetime("ms")),
            pa.array(DAYS, type=pa.date64()),
            pa.array(TIMES, type=pa.timestamp("ns", tz="UTC")),
        ],
    ),
}


@pytest.mark.parametrize("missing", [float("nan"), np.float64("nan"), np.float32("nan")])
def test_missing_texts_of_a_list(missing: Any) -> None:
    plain: list[Any] = ["a b", None, "b", "c a"]
    given: list[Any] = ["a b", missing, "b", "c a"]
    expected = nb.fit(plain, LABEL, tune=False).posterior(plain)
    for texts in (given, tuple(given), np.array(given, dtype=object)):
        assert (nb.fit(texts, LABEL, tune=False).posterior(texts) == expected).all()
        assert (nb.NaiveBayes(tune=False).fit(texts, LABEL).predict_proba(texts) == expected).all()


@pytest.mark.parametrize("nothing", [[], (), np.array([], dtype=str), np.array([], dtype=object)])
def test_no_texts_at_all(nothing: Any) -> None:
    model = nb.fit(["a b", "c"], ["x", "y"], tune=False)
    assert model.predict(nothing).tolist() == []
    assert model.posterior(nothing).shape == (0, 2)
    with pytest.raises(nb.InputError, match="no rows"):
        nb.fit(nothing, [], tune=False)


@pytest.mark.parametrize(
    ("plain", "column"),
    [(plain, column) for plain, others in SAME.values() for column in others],
    ids=[f"{kind} {i}" for kind, (_, others) in SAME.items() for i in range(len(others))],
)
def test_columns_of_other_types(plain: list[Any], column: Any) -> None:
    model = nb.fit({"x": plain}, LABEL, tune=False)
    tables: list[Any] = [{"x": column}]
    if isinstance(column, pl.Series):
        tables.append(pl.DataFrame({"x": column}))
    elif isinstance(column, (pa.Array, pa.ChunkedArray)):
        tables.append(pa.table([column], names=["x"]))
    else:
        tables.append(pd.DataFrame({"x": column}))
    for table in tables:
        assert_same_model(nb.fit(table, LABEL, tune=False), model)
        np.testing.assert_array_equal(model.log_joint(table), model.log_joint({"x": plain}))


def test_integers_beyond_2_to_53_are_categories_of_their_own() -> None:
    big = 2**60
    for table in ({"id": [big, big + 1, big, big + 1]}, np.array([[big], [big + 1], [big], [big + 1]])):
        model = nb.fit(table, ["a", "b", "a", "b"], columns=nb.Categorical(), tune=False)
        assert model.predict(table).tolist() == ["a", "b", "a", "b"]
        assert model.statistics[0].values == ((big, big + 1),)  # type: ignore[attr-defined]


@pytest.mark.parametrize("label", [["no", "yes"], [3, 7], [False, True], [0.5, 1.5]])
def test_labels_keep_their_type(label: list[Any]) -> None:
    for y in (label, np.array(label), pd.Series(label), pl.Series(label), pa.array(label)):
        model = nb.fit({"x": [1.0, 9.0]}, y, tune=False)
        assert model.classes == tuple(label)
        assert [type(c) for c in model.classes] == [type(c) for c in label]
        predicted = model.predict({"x": [0.0, 10.0, 9.0]})
        assert predicted.tolist() == [label[0], label[1], label[1]]
        assert predicted.dtype == np.array(label).dtype


def test_the_target_may_be_a_column() -> None:
    x = {"length": [1.0, 2.0, 8.0, 9.0]}
    named = nb.fit({**x, "kind": LABEL}, "kind", tune=False)
    assert_same_model(named, nb.fit(x, LABEL, tune=False))
    for frame in (pd.DataFrame({**x, "kind": LABEL}), pl.DataFrame({**x, "kind": LABEL})):
        assert_same_model(nb.fit(frame, "kind", tune=False), named)
    assert named.target == "kind"
    assert named.predict({**x, "kind": LABEL}).tolist() == LABEL


def test_names_of_any_kind() -> None:
    odd = {"größe": [1.0, 2.0, 8.0, 9.0], "": [1.0, 1.0, 2.0, 3.0], "a=b": ["u", "v", "u", "v"], "名前": [True] * 4}
    assert nb.fit(odd, LABEL, tune=False).schema.names == tuple(odd)
    numbered = pd.DataFrame({0: [1.0, 2.0, 8.0, 9.0], ("a", 1): [1.0, 1.0, 2.0, 3.0]})
    model = nb.fit(numbered, LABEL, tune=False)
    assert model.schema.names == ("0", "('a', 1)")
    assert model.predict(numbered).tolist() == LABEL


TABLE: dict[str, list[Any]] = {
    "n": [1.0, 2.0, 8.0, 9.0],
    "s": ["u", "v", "w", "w"],
    "b": [True, True, False, True],
    "d": DAYS,
}


@pytest.mark.parametrize("name", TABLE)
def test_a_column_empty_does_not_change_predictions(name: str) -> None:
    model = nb.fit(TABLE, LABEL, tune=False)
    rest = {other: values for other, values in TABLE.items() if other != name}
    empty = {**TABLE, name: [None] * 4}
    np.testing.assert_allclose(model.log_joint(empty), nb.fit(rest, LABEL, tune=False).log_joint(rest), rtol=1e-13)
    np.testing.assert_allclose(model.log_joint(pd.DataFrame(empty)), model.log_joint(empty), rtol=1e-13)


@pytest.mark.parametrize("container", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_no_rows_and_one_row(container: Any) -> None:
    model = nb.fit(container(TABLE), LABEL, tune=False)
    none = container(TABLE)[:0] if container is not dict else {name: [] for name in TABLE}
    one = container({name: values[:1] for name, values in TABLE.items()})
    assert model.predict(none).shape == (0,)
    assert model.predict(none).dtype == model.predict(one).dtype
    assert model.log_odds(none).shape == model.log_marginal(none).shape == (0,)
    for scores in (model.posterior, model.log_posterior, model.log_joint):
        assert scores(none).shape == (0, 2)
        assert scores(one).shape == (1, 2)
    assert model.predict(one).tolist() == ["a"]


def test_no_rows_of_an_array() -> None:
    model = nb.fit(np.array([[1.0, 2.0], [3.0, 4.0]]), [False, True], tune=False)
    assert model.predict(np.zeros((0, 2))).dtype == np.bool_
    assert model.posterior(np.zeros((0, 2))).shape == (0, 2)


def test_input_is_not_changed() -> None:
    x = np.array([[1.0, np.nan], [2.0, 0.0], [3.0, 7.0]])
    frame = pd.DataFrame(x, columns=["x0", "x1"])
    model = nb.fit(x, [0, 0, 1], tune=False)
    model.predict(x)
    model.posterior(frame)
    np.testing.assert_array_equal(x, [[1.0, np.nan], [2.0, 0.0], [3.0, 7.0]])
    pd.testing.assert_frame_equal(frame, pd.DataFrame(x, columns=["x0", "x1"]))
