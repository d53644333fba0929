"""Values stay what they are: decimals, large integers, masked values, dictionaries, and labels of any kind."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv
from tests.support.strategies import assert_same_model

import naively as nb
from naively.data.read import read
from naively.data.table import ColumnTable

decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**18), max_value=10**18, places=6)
short_decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=2)
any_decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300)
large_integers = st.integers(-(2**63), 2**63 - 1) | st.integers(2**60, 2**60 + 3)


def numbers_of(table: Any) -> list[float]:
    """Return the first column as the families read it."""
    return [float(x) for x in read(table).numbers([0]).pieces[0][:, 0]]


def assert_equal_or_both_missing(given: list[float], expected: list[float | None]) -> None:
    assert [None if math.isnan(x) else x for x in given] == expected


@given(st.lists(st.none() | decimals, min_size=1) | st.lists(st.none() | short_decimals, min_size=1))
def test_decimals_are_the_nearest_doubles(items: list[Decimal | None]) -> None:
    expected = [None if item is None else float(item) for item in items]
    tables: list[Any] = [
        {"x": items},
        {"x": pd.Series(items, dtype=object)},
        pd.DataFrame({"x": pd.Series(items, dtype=object)}),
        pd.DataFrame({"x": pd.Series(items, dtype=pd.ArrowDtype(pa.decimal128(38, 6)))}),
        pl.DataFrame({"x": pl.Series(items, dtype=pl.Decimal(38, 6))}),
        [{"x": item} for item in items],
        np.array([[item] for item in items], dtype=object),
        *(pa.table({"x": pa.array(items, kind)}) for kind in (pa.decimal128(38, 6), pa.decimal256(70, 20))),
        pa.table({"x": pa.array([None, *items], pa.decimal128(38, 6))[1:]}),
        pa.table([pa.chunked_array([pa.array(part, pa.decimal128(38, 6)) for part in (items[:1], items[1:])])], ["x"]),
    ]
    for table in tables:
        if any(item is not None for item in items):
            assert_equal_or_both_missing(numbers_of(table), expected)


@given(st.lists(st.none() | any_decimals | st.integers(-(10**30), 10**30) | st.floats(-1e9, 1e9), min_size=1))
def test_numbers_of_any_type_together(items: list[Any]) -> None:
    if any(item is not None for item in items):
        expected = [None if item is None else float(item) for item in items]
        assert_equal_or_both_missing(numbers_of({"x": items}), expected)
        assert_equal_or_both_missing(numbers_of(pd.DataFrame({"x": pd.Series(items, dtype=object)})), expected)


def test_decimals_of_files(tmp_path: Path) -> None:
    items = [Decimal(n) / 10 for n in range(-500, 500)]
    label = ["a", "b"] * 500
    table = pa.table({"x": pa.array(items, pa.decimal128(10, 1)), "y": label})
    expected = nb.fit({"x": [float(item) for item in items]}, label, tune=False)
    pq.write_table(table, tmp_path / "x.parquet")
    assert_same_model(nb.fit(tmp_path / "x.parquet", "y", tune=False), expected)
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.register("rows", table)
        database.execute("create table data as select * from rows")
    assert_same_model(nb.fit(tmp_path / "x.duckdb", "y", tune=False), expected)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i1", "u8", "u2", "?", "U3", "O", "M8[s]", "m8[ms]"])
@given(values=st.lists(st.tuples(st.integers(0, 1), st.booleans()), min_size=2, max_size=12), data=st.data())
def test_masked_values_are_missing(dtype: str, values: list[tuple[int, bool]], data: st.DataObject) -> None:
    label = data.draw(st.lists(st.sampled_from("ab"), min_size=len(values), max_size=len(values)))
    array = np.array([n for n, _ in values]).astype(dtype)
    masked = np.ma.array(array, mask=[is_masked for _, is_masked in values])
    plain = [None if is_masked else array[i : i + 1] for i, (_, is_masked) in enumerate(values)]
    if all(value is None for value in plain):
        return
    column = pa.array([None if value is None else value.tolist()[0] for value in plain])
    expected = nb.fit({"x0": column}, label, columns=nb.Categorical(), tune=False)
    tables: list[Any] = [{"x0": masked}, np.ma.array([masked, masked]).T[:, :1], masked[:, None]]
    if dtype not in ("O", "f2"):  # NumPy has no default to fill float16
        fields: Any = np.ma.array(list(zip(array)), mask=[(m,) for _, m in values], dtype=[("x0", dtype)])
        tables.append(fields)
    for table in tables:
        if dtype in ("M8[s]", "m8[ms]"):
            assert_equal_or_both_missing(
                numbers_of(table), [None if math.isnan(x) else x for x in numbers_of({"x0": column})]
            )
        else:
            model = nb.fit(table, label, columns=nb.Categorical(), tune=False)
            assert_same_model(model, expected)
            np.testing.assert_array_equal(model.log_joint(table), expected.log_joint({"x0": column}))


@pytest.mark.parametrize(
    "labels",
    [
        [3, 7, 9, 3],
        [2**63, 2**63, 2**64 - 1, 2**63],
        ["u", "v", "w", "u"],
        [True, False, True, True],
        [1.5, 2.0, 2.0, 1.5],
    ],
)
def test_masked_labels_are_missing_labels(labels: list[Any]) -> None:
    x = {"x": [1.0, 2.0, 3.0, 4.0]}
    masked = np.ma.array(labels, mask=[False, True, False, False])
    expected = nb.fit({"x": [1.0, 3.0, 4.0]}, [labels[0], *labels[2:]], tune=False)
    for y in (masked, [labels[0], np.ma.masked, *labels[2:]]):
        with pytest.warns(nb.LeftOutWarning, match="1 of 4 rows"):
            model = nb.fit(x, y, tune=False)
        assert_same_model(model, expected)
        assert list(map(type, model.classes)) == list(map(type, expected.classes))
    with pytest.raises(nb.InputError, match="1 of 4 labels are missing"):
        nb.NaiveBayes(tune=False).fit(x, masked)


def test_a_masked_weight_is_refused() -> None:
    weight = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    with pytest.raises(nb.InputError, match="the weight of row 1 is nan"):
        nb.fit({"x": [1.0, 2.0, 3.0]}, list("aab"), weight=weight, tune=False)


@given(
    st.lists(st.none() | st.sampled_from(["u", "v", ""]), min_size=1, max_size=6),
    st.lists(st.none() | st.integers(0, 5), min_size=1, max_size=12),
    st.data(),
)
def test_dictionaries_with_repeated_and_missing_values(
    dictionary: list[Any], codes: list[Any], data: st.DataObject
) -> None:
    as_numbers = {"u": 1.0, "v": float("nan"), "": 2.5, None: None}
    codes = [None if code is None else code % len(dictionary) for code in codes]
    label = data.draw(st.lists(st.sampled_from("ab"), min_size=len(codes), max_size=len(codes)))
    for values in (dictionary, [as_numbers[value] for value in dictionary]):
        kind = pa.string() if values is dictionary else pa.float64()
        array = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(values, kind))
        decoded = [None if code is None else values[code] for code in codes]
        plain = {"x": pa.array(decoded, kind)}
        expected = nb.fit(plain, label, columns=nb.Categorical(), tune=False)
        for table in (
            pa.table({"x": array}),
            {"x": array},
            pa.table([pa.chunked_array([array[:2], array[2:]])], ["x"]),
        ):
            model = nb.fit(table, label, columns=nb.Categorical(), tune=False)
            assert_same_model(model, expected)
            np.testing.assert_array_equal(model.log_joint(table), expected.log_joint(plain))


@given(st.lists(st.none() | large_integers, min_size=2, max_size=12), st.data())
def test_large_integers_stay_apart_as_categories(items: list[int | None], data: st.DataObject) -> None:
    label = data.draw(st.lists(st.sampled_from("ab"), min_size=len(items), max_size=len(items)))
    present = sorted({item for item in items if item is not None})
    if not present:
        return
    tables: list[Any] = [
        {"x": items},
        [{"x": item} for item in items],
        np.array([[item] for item in items], dtype=object),
        pa.table({"x": pa.array(items, pa.int64())}),
        pd.DataFrame({"x": pd.array(items, dtype="Int64")}),
        pl.DataFrame({"x": pl.Series(items, dtype=pl.Int64)}),
        {"x": np.ma.array([item or 0 for item in items], mask=[item is None for item in items])},
        np.ma.array([[item or 0] for item in items], mask=[[item is None] for item in items]),
    ]
    if len(present) == len(items):
        tables += [np.array(items)[:, None], pd.DataFrame({"x": items}), [[item] for item in items]]
    for table in tables:
        model = nb.fit(table, label, columns=nb.Categorical(), tune=False)
        assert model.statistics[0].values == (tuple(present),)  # type: ignore[attr-defined]
        assert set(map(type, model.statistics[0].values[0])) == {int}  # type: ignore[attr-defined]


@pytest.mark.parametrize("shift", [0, 2**62, 2**63, 2**63 + 2**62, 2**64, -(2**64)])
def test_integers_of_any_size_are_read(shift: int) -> None:
    items = [shift + 2**61 + k for k in (0, 1, 2, 5)] * 3
    label = list("aabb") * 3
    tables: list[Any] = [{"x": items}, [[item] for item in items], pd.DataFrame({"x": items})]
    if 0 <= items[0] < 2**63:
        tables.append(np.array(items)[:, None])
    elif 0 <= items[0] < 2**64:
        tables += [np.array(items, np.uint64)[:, None], pl.DataFrame({"x": pl.Series(items, dtype=pl.UInt64)})]
    for table in tables:
        with pytest.warns(nb.LostDigitsWarning, match="'x0?' holds integers beyond .*Categorical"):
            model = nb.fit(table, label, tune=False)
        assert model.posterior(table).shape == (12, 2)
        exact = nb.fit(table, label, columns=nb.Categorical(), tune=False)
        assert exact.predict(table).tolist() == label
        assert exact.predict([dict.fromkeys(exact.schema.names, item) for item in items]).tolist() == label


def test_large_integers_that_stay_apart_give_no_warning() -> None:
    nanoseconds = [1_700_000_000_000_000_000 + 10**9 * k for k in range(40)]
    nb.fit({"time": nanoseconds}, list("ab") * 20, tune=False)
    nb.fit(np.array(nanoseconds)[:, None], list("ab") * 20, tune=False)


def test_two_large_integers_are_scored_as_they_were_counted() -> None:
    ids = [2**60 + 2**20 * k for k in (0, 1)] * 10
    model = nb.fit({"id": ids}, list("ab") * 10, tune=False)
    assert model.predict({"id": ids}).tolist() == list("ab") * 10


def test_large_integers_are_saved(tmp_path: Path) -> None:
    items, label = [2**63, 2**63 + 1, 2**64 + 1, 5], ["a", "b", "a", "b"]
    model = nb.fit({"x": items}, label, columns=nb.Categorical(), tune=False)
    model.save(tmp_path / "m.naively")
    assert nb.load(tmp_path / "m.naively").predict({"x": items}).tolist() == label


LABELS: list[list[Any]] = [
    [1, None, 2, 1],
    [2**53 + 1, None, 2**53 + 2, 2**53 + 1],
    [2**63, None, 2**64 - 1, 1],
    ["a", None, "a\0", "b"],
    [True, None, False, True],
]


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_labels_come_back_as_they_were_given(label: list[Any]) -> None:
    kind = {int: "uint64", str: "string", bool: "boolean"}[type(label[0])]
    pandas_kind: Any = {"uint64": "UInt64"}.get(kind, kind)
    forms: dict[str, Any] = {
        "list": label,
        "objects": np.array(label, dtype=object),
        "pandas": pd.Series(label, dtype=pandas_kind),
        "pandas array": pd.array(label, dtype=pandas_kind),
        "pandas index": pd.Index(label, dtype=pandas_kind),
        "pandas array of categories": pd.Categorical(label),
        "pandas, Arrow": pd.Series(label, dtype=f"{kind.replace('boolean', 'bool')}[pyarrow]"),
        "pandas, categories": pd.Series(pd.Categorical(label)),
        "polars": pl.Series(label, dtype={"uint64": pl.UInt64, "string": pl.String, "boolean": pl.Boolean}[kind]),
        "Arrow": pa.array(label, {"uint64": pa.uint64(), "string": pa.string(), "boolean": pa.bool_()}[kind]),
    }
    x = [1.0, 2.0, 3.0, 4.0]
    tables: dict[str, Any] = {name: ({"x": x}, y) for name, y in forms.items()}
    for name in ("pandas", "pandas, Arrow", "pandas, categories"):
        tables[f"{name}, by name"] = (pd.DataFrame({"x": x, "y": forms[name]}), "y")
    tables["polars, by name"] = (pl.DataFrame({"x": x, "y": forms["polars"]}), "y")
    tables["Arrow, by name"] = (pa.table({"x": x, "y": forms["Arrow"]}), "y")
    tables["a mapping, by name"] = ({"x": x, "y": label}, "y")
    expected = sorted({c for c in label if c is not None})
    for name, (table, y) in tables.items():
        with pytest.warns(nb.LeftOutWarning):
            model = nb.fit(table, y, columns={"x": "Categorical"}, tune=False)
        assert list(model.classes) == expected, name
        assert [type(c) for c in model.classes] == [type(c) for c in expected], name
        predicted = model.predict({"x": [x[i] for i in (0, 2, 3)]}).tolist()
        assert predicted == [label[0], *label[2:]], name
        assert [type(c) for c in predicted] == [type(c) for c in expected[:1]] * 3, name


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), min_size=2, max_size=6, unique=True))
def test_any_string_is_a_label(labels: list[str]) -> None:
    x = {"x": [str(i) for i in range(len(labels))]}
    model = nb.fit(x, labels, columns=nb.Categorical(alpha=1e-3), tune=False)
    assert model.predict(x).tolist() == labels
    [rows] = nb.predict_batches(model, [x])
    assert rows.column("prediction").to_pylist() == labels


@pytest.mark.parametrize("label", [["a\ud800", "b"], [2**64, 1], [-1, 2**63]])
def test_labels_that_no_file_can_hold(label: list[Any]) -> None:
    with pytest.raises(nb.InputError, match="label"):
        nb.fit({"x": [1.0, 2.0]}, label, tune=False)


INTEGERS = [1, 2, 2, 3, 1, 2]


@pytest.mark.parametrize("trained", ["categories", "integers", "nullable", "floats"])
@pytest.mark.parametrize("kind", ["categories", "integers", "nullable", "floats", "dictionary"])
def test_categories_of_integers_are_integers(trained: str, kind: str) -> None:
    forms: dict[str, Any] = {
        "categories": pd.DataFrame({"x": pd.Categorical(INTEGERS)}),
        "integers": pd.DataFrame({"x": INTEGERS}),
        "nullable": pd.DataFrame({"x": pd.array(INTEGERS, dtype="Int64")}),
        "floats": pd.DataFrame({"x": list(map(float, INTEGERS))}),
        "dictionary": pa.table({"x": pa.array(INTEGERS).dictionary_encode()}),
    }
    label = list("ababaa")
    model = nb.fit(forms[trained], label, tune=False)
    assert isinstance(read(forms[kind]), ColumnTable)
    np.testing.assert_array_equal(model.log_joint(forms[kind]), model.log_joint(forms[trained]))
    assert_same_model(model.update(forms[kind], label), model.update(forms[trained], label))
    np.testing.assert_array_equal(read(forms[kind]).row_hashes(), read(forms[trained]).row_hashes())


def test_one_row() -> None:
    table = {"length": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "blue"]}
    model = nb.fit(table, list("aabb"), tune=False)
    expected = model.posterior({"length": [8.0], "colour": ["blue"]})
    rows: list[Any] = [
        {"length": 8.0, "colour": "blue"},
        {"length": np.float64(8), "colour": np.str_("blue")},
        {"length": np.array(8.0), "colour": "blue"},
        pd.DataFrame(table).iloc[2],
        [{"length": 8.0, "colour": "blue"}],
    ]
    for row in rows:
        np.testing.assert_array_equal(model.posterior(row), expected)
    numbers = nb.fit({"a": [1.0, 9.0], "b": [2.0, 7.0]}, ["x", "y"], tune=False)
    assert numbers.predict(pd.DataFrame({"a": [9.0], "b": [7.0]}).iloc[0]).tolist() == ["y"]


def test_scikit_learn_keeps_labels_apart() -> None:
    label = ["a", "a\0", "a", "a\0"]
    for estimator in (nb.NaiveBayes(tune=False), nb.GaussianNB()):
        x = np.array([[1.0], [9.0], [2.0], [8.0]])
        assert estimator.fit(x, label).predict(x).tolist() == label
        assert estimator.classes_.tolist() == ["a", "a\0"]


@pytest.mark.parametrize("labels", [["a", "b", "b", "a"], [2**60, 2**60 + 1, 2**60 + 1, 2**60]])
@pytest.mark.parametrize("trained", ["csv", "parquet", "memory"])
def test_large_integers_of_files(trained: str, labels: list[Any], tmp_path: Path) -> None:
    table = pa.table({"id": [2**60 + k for k in range(4)] * 5, "y": labels * 5})
    paths = {"csv": tmp_path / "x.csv", "parquet": tmp_path / "x.parquet"}
    csv.write_csv(table, paths["csv"])
    pq.write_table(table, paths["parquet"])
    model = nb.fit(paths.get(trained, table), "y", columns={"id": "Categorical"}, tune=False)
    for path in paths.values():
        assert model.evaluate(path, "y").accuracy.value == 1
        assert_same_model(model.update(path, "y"), model + model)
    cells = pa.table([table.column("id").cast(pa.string())], ["id"])  # as the command line reads CSV
    [rows] = nb.predict_batches(model, [cells])
    assert rows.column("prediction").to_pylist() == labels * 5


def test_models_of_old_files_read_categories_of_integers() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(INTEGERS)})
    model = nb.fit(frame, list("ababaa"), tune=False)
    [block] = model.schema.blocks
    old = replace(model, schema=replace(model.schema, blocks=(replace(block, kinds=("string",)),)))  # as it was stored
    np.testing.assert_array_equal(old.posterior(frame), model.posterior(frame))
    assert_same_model(old.update(frame, list("ababaa")), model.update(frame, list("ababaa")))
