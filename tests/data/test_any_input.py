"""Any input either works like its plain form, or is refused by an InputError that names the column."""

from __future__ import annotations

import array
import collections.abc
import contextlib
import datetime
import enum
import pathlib
import types
import uuid
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.support.strategies import assert_same_model

import naively as nb

LABEL = ["a", "a", "b", "b"]
UTC = datetime.UTC
DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]
NUMBERS = [1.0, 2.0, 3.0, 5.0]
WHOLE = [1, 2, 3, 5]
TEXTS = ["u", "v", "w", "u"]
BOOLEANS = [True, False, False, True]
SECONDS = [1.0, 2.0, 3.0, 5.0]
Colour = enum.StrEnum("Colour", "u v w")
Level = enum.IntEnum("Level", "low middle high top peak")


def arrow(values: list[Any], kind: Any = None) -> pa.Table:
    return pa.table({"c": pa.array(values, kind)})


def frame(values: Any, dtype: Any = None) -> pd.DataFrame:
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype)})


def polars(values: list[Any], dtype: Any = None) -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series(values, dtype=dtype, strict=False)})


def matrix(values: list[Any], dtype: Any = None) -> Any:
    return np.array(values, dtype=dtype)[:, None]


def extension(kind: Any, values: list[Any], storage: Any) -> pa.Table:
    return pa.table({"c": pa.ExtensionArray.from_storage(kind, pa.array(values, storage))})


def run_ends(values: list[Any]) -> Any:
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 4]), pa.array(values))


def packed(values: list[Any], kind: str) -> Any:
    return np.array([(1, v, True) for v in values], [("a", "i1"), ("c", kind), ("b", "?")])


# Tables that work, each with its plain form: a list of the values of its column.
WORKS: dict[str, tuple[list[Any], Callable[[], Any]]] = {
    "big-endian floats": (NUMBERS, lambda: matrix(NUMBERS, ">f8")),
    "big-endian integers": (WHOLE, lambda: matrix(WHOLE, ">i4")),
    "big-endian short integers": (WHOLE, lambda: matrix(WHOLE, ">u2")),
    "big-endian pandas integers": (WHOLE, lambda: frame(np.array(WHOLE, ">i8"))),
    "big-endian pandas floats": (NUMBERS, lambda: frame(np.array(NUMBERS, ">f4"))),
    "big-endian in a mapping": (NUMBERS, lambda: {"c": np.array(NUMBERS, ">f8")}),
    "big-endian texts": (TEXTS, lambda: matrix(TEXTS, ">U1")),
    "big-endian dates": (DAYS, lambda: matrix(DAYS, ">M8[D]")),
    "a big-endian series": (NUMBERS, lambda: {"c": pd.Series(np.array(NUMBERS, ">f8"))}),
    "pandas sparse": ([0.0, 1.0, 0.0, 2.0], lambda: frame(pd.arrays.SparseArray([0, 1.0, 0, 2]))),
    "pandas sparse integers": ([0, 1, 0, 2], lambda: frame(pd.arrays.SparseArray([0, 1, 0, 2]))),
    "pandas sparse with missing": ([None, 1.0, 0, 2], lambda: frame(pd.arrays.SparseArray([np.nan, 1.0, 0, 2]))),
    "pandas sparse booleans": (BOOLEANS, lambda: frame(pd.arrays.SparseArray(BOOLEANS))),
    "a sparse series": ([0, 1, 0, 2], lambda: {"c": pd.arrays.SparseArray([0, 1, 0, 2])}),
    "a structured array": (WHOLE, lambda: np.array([(n,) for n in WHOLE], [("c", "i4")])),
    "a field between others": (NUMBERS, lambda: {"c": packed(NUMBERS, "f8")["c"]}),
    "whole numbers between others": (WHOLE, lambda: {"c": packed(WHOLE, "i4")["c"]}),
    "a matrix at an odd address": (
        NUMBERS,
        lambda: np.frombuffer(b"-" + np.array(NUMBERS).tobytes(), "f8", offset=1)[:, None],
    ),
    "a record array": (TEXTS, lambda: np.rec.array([(t,) for t in TEXTS], dtype=[("c", "U1")])),
    "half precision": (NUMBERS, lambda: matrix(NUMBERS, "f2")),
    "half precision in a mapping": (NUMBERS, lambda: {"c": np.array(NUMBERS, "f2")}),
    "half precision in Arrow": (NUMBERS, lambda: arrow(list(np.array(NUMBERS, "f2")), pa.float16())),
    "half precision in polars": (NUMBERS, lambda: polars(NUMBERS, pl.Float16)),
    "long double": (NUMBERS, lambda: matrix(NUMBERS, np.longdouble)),
    "long double in a mapping": (NUMBERS, lambda: {"c": np.array(NUMBERS, np.longdouble)}),
    "long double in pandas": (NUMBERS, lambda: frame(np.array(NUMBERS, np.longdouble))),
    "a NumPy matrix": (NUMBERS, lambda: _matrix_class(NUMBERS)),
    "polars Int128": (WHOLE, lambda: polars(WHOLE, pl.Int128)),
    "polars Int128 with missing": ([1, None, 3, 5], lambda: polars([1, None, 3, 5], pl.Int128)),
    "polars UInt128": (WHOLE, lambda: polars(WHOLE, pl.UInt128)),
    "polars Enum": (TEXTS, lambda: polars(TEXTS, pl.Enum(["w", "v", "u"]))),
    "polars Categorical": (TEXTS, lambda: polars(TEXTS, pl.Categorical)),
    "polars Null": ([None] * 4, lambda: polars([None] * 4, pl.Null)),
    "polars Decimal": (NUMBERS, lambda: polars([Decimal(n) for n in WHOLE], pl.Decimal(10, 2))),
    "polars, lazy": (WHOLE, lambda: polars(WHOLE).lazy()),
    "large strings": (TEXTS, lambda: arrow(TEXTS, pa.large_string())),
    "string views": (TEXTS, lambda: arrow(TEXTS, pa.string_view())),
    "a dictionary of string views": (TEXTS, lambda: pa.table({"c": _dictionary(TEXTS, pa.string_view())})),
    "a dictionary with 64-bit codes": (TEXTS, lambda: pa.table({"c": _dictionary(TEXTS, pa.string(), pa.int64())})),
    "a dictionary with unsigned codes": (TEXTS, lambda: pa.table({"c": _dictionary(TEXTS, pa.string(), pa.uint8())})),
    "a dictionary of booleans": (BOOLEANS, lambda: pa.table({"c": _dictionary(BOOLEANS, pa.bool_())})),
    "a dictionary of dates": (DAYS, lambda: pa.table({"c": _dictionary(DAYS, pa.date32())})),
    "a category of booleans": (BOOLEANS, lambda: frame(pd.Categorical(BOOLEANS))),
    "a category of dates": (DAYS, lambda: frame(pd.Categorical(pd.to_datetime(DAYS)))),
    "run-end encoded": ([1, 1, 2, 2], lambda: pa.table({"c": run_ends([1, 2])})),
    "run-end encoded texts": (
        ["u", "u", None, None],
        lambda: pa.table({"c": run_ends(["u", None])}),
    ),
    "Arrow bool8": ([False, True, None, True], lambda: extension(pa.bool8(), [0, 1, None, 1], pa.int8())),
    "Arrow JSON": (TEXTS, lambda: extension(pa.json_(), TEXTS, pa.string())),
    "an Arrow batch": (WHOLE, lambda: pa.record_batch({"c": pa.array(WHOLE)})),
    "Arrow nulls": ([None] * 4, lambda: arrow([None] * 4)),
    "decimals and floats": ([3.8, 1.0, 2.5, None], lambda: {"c": [Decimal("3.8"), 1, 2.5, None]}),
    "decimals of many digits": ([1e100, 1.0, 2.0, 1e-9], lambda: {"c": [Decimal("1e100"), 1, 2, Decimal("1e-9")]}),
    "a missing decimal": ([None, 1.0, 2.0, 3.0], lambda: {"c": [Decimal("nan"), Decimal(1), Decimal(2), Decimal(3)]}),
    "fractions": ([1 / 3, 0.5, 1.0, 2.0], lambda: {"c": [Fraction(1, 3), Fraction(1, 2), 1, 2]}),
    "NumPy scalars": (NUMBERS, lambda: {"c": [np.float64(1), np.int8(2), np.float32(3), 5]}),
    "NumPy booleans": (BOOLEANS, lambda: {"c": list(map(np.bool_, BOOLEANS))}),
    "NumPy strings": (TEXTS, lambda: {"c": list(map(np.str_, TEXTS))}),
    "enumerated strings": (TEXTS, lambda: {"c": [Colour[text] for text in TEXTS]}),
    "enumerated integers": (WHOLE, lambda: {"c": list(map(Level, WHOLE))}),
    "pandas' NA": ([1, None, 3, 5], lambda: {"c": [1, pd.NA, 3, 5]}),
    "pandas' NaT": (
        [DAYS[0], None, *DAYS[2:]],
        lambda: {"c": [pd.Timestamp(DAYS[0]), pd.NaT, *map(pd.Timestamp, DAYS[2:])]},
    ),
    "a masked item": ([1, None, 3, 5], lambda: {"c": [1, np.ma.masked, 3, 5]}),
    "NumPy's variable strings": (TEXTS, lambda: matrix(TEXTS, np.dtypes.StringDType())),
    "variable strings in a mapping": (TEXTS, lambda: {"c": np.array(TEXTS, np.dtypes.StringDType())}),
    "a range": ([0, 1, 2, 3], lambda: {"c": range(4)}),
    "a generator in a mapping": (WHOLE, lambda: {"c": (n for n in WHOLE)}),
    "an odd generator in a mapping": (NUMBERS, lambda: {"c": (Fraction(n) for n in WHOLE)}),
    "a deque": (WHOLE, lambda: {"c": collections.deque(WHOLE)}),
    "Python's array": (WHOLE, lambda: {"c": array.array("i", WHOLE)}),
    "a pandas index": (WHOLE, lambda: {"c": pd.Index(WHOLE)}),
    "a polars series in a mapping": (WHOLE, lambda: {"c": pl.Series(WHOLE)}),
    "a user's mapping": (WHOLE, lambda: collections.UserDict({"c": WHOLE})),
    "a read-only mapping": (WHOLE, lambda: types.MappingProxyType({"c": WHOLE})),
    "rows as mappings": (WHOLE, lambda: [collections.OrderedDict(c=n) for n in WHOLE]),
    "rows of which some lack a name": ([None, 2, 3, 5], lambda: [{}, *({"c": n} for n in WHOLE[1:])]),
    "rows as tuples": (TEXTS, lambda: [(text,) for text in TEXTS]),
    "rows as masked arrays": (
        [1.0, None, 3.0, 5.0],
        lambda: [np.ma.array([n], mask=[n == 2]) for n in NUMBERS],
    ),
    "a list of NumPy days": (DAYS, lambda: {"c": [np.datetime64(d) for d in DAYS]}),
    "a list of NumPy seconds and days": (
        DAYS,
        lambda: {"c": [np.datetime64(DAYS[0], "s"), *map(np.datetime64, DAYS[1:3]), np.datetime64(DAYS[3], "h")]},
    ),
    "objects that are NumPy days": (DAYS, lambda: frame(np.array([np.datetime64(d) for d in DAYS], dtype=object))),
    "a list of NumPy durations": (
        [datetime.timedelta(n) for n in WHOLE],
        lambda: {"c": [np.timedelta64(n, "D") for n in WHOLE]},
    ),
    "timestamps with a zone": (DAYS, lambda: {"c": [datetime.datetime(2020, 1, d.day, tzinfo=UTC) for d in DAYS]}),
    "pandas with a zone": (DAYS, lambda: frame(pd.to_datetime(DAYS).tz_localize("UTC"))),
    "years": ([datetime.date(2000 + n, 1, 1) for n in WHOLE], lambda: matrix([f"{2000 + n}" for n in WHOLE], "M8[Y]")),
    "months": (
        [datetime.date(2000, n, 1) for n in WHOLE],
        lambda: {"c": np.array([f"2000-0{n}" for n in WHOLE], "M8[M]")},
    ),
    "hours": (DAYS, lambda: {"c": np.array(DAYS, "M8[h]")}),
    "pairs of seconds": (DAYS, lambda: {"c": np.array(DAYS, "M8[2s]")}),
    "picoseconds": (
        [datetime.timedelta(seconds=s) for s in SECONDS],
        lambda: matrix([int(s * 1e12) for s in SECONDS], "m8[ps]"),
    ),
    "days as durations": ([datetime.timedelta(n) for n in WHOLE], lambda: {"c": np.array(WHOLE, "m8[D]")}),
    "durations of pandas": ([datetime.timedelta(n) for n in WHOLE], lambda: frame(pd.to_timedelta(WHOLE, unit="D"))),
    "durations of polars": (
        [datetime.timedelta(n) for n in WHOLE],
        lambda: polars(list(map(datetime.timedelta, WHOLE))),
    ),
    "times of day": ([datetime.time(n) for n in WHOLE], lambda: arrow([3600 * n for n in WHOLE], pa.time32("s"))),
    "the first and the last day": (
        [datetime.date.min, datetime.date.max, None, DAYS[0]],
        lambda: {"c": np.array([datetime.date.min, datetime.date.max, None, DAYS[0]], "M8[us]")},
    ),
    "levels of names": (
        NUMBERS,
        lambda: pd.DataFrame(matrix(NUMBERS), columns=pd.MultiIndex.from_tuples([("c", "d")])),
    ),
}


def _matrix_class(values: list[float]) -> Any:
    return np.array(values)[:, None].view(np.matrix)


def _dictionary(values: list[Any], kind: Any, codes: Any = None) -> Any:
    distinct = list(dict.fromkeys(values))
    indices = pa.array([distinct.index(value) for value in values], codes or pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(distinct, kind))


@pytest.mark.parametrize("name", WORKS)
def test_input_that_works_like_its_plain_form(name: str) -> None:
    values, table = WORKS[name]
    model = nb.fit(table(), LABEL, tune=False)
    [column] = model.schema.names
    plain = nb.fit({column: values}, LABEL, tune=False)
    assert_same_model(model, plain)
    assert list(model.schema.kinds().values()) == list(plain.schema.kinds().values())
    np.testing.assert_array_equal(plain.log_joint(table()), plain.log_joint({column: values}))


SURROGATE = ["u\ud800", "v", "w", "u"]

# Tables that are refused, and a word of the message: the column, or what is wrong with the table as a whole.
REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "a lone surrogate": ("'c'.*surrogate", lambda: {"c": SURROGATE}),
    "a lone surrogate in pandas": ("'c'.*surrogate", lambda: frame(SURROGATE, object)),
    "a lone surrogate in an array": ("'x0'.*surrogate", lambda: matrix(SURROGATE)),
    "a lone surrogate in rows": ("'c'.*surrogate", lambda: [{"c": text} for text in SURROGATE]),
    "a lone surrogate in a series": ("'t'.*surrogate", lambda: pd.Series(SURROGATE, dtype=object, name="t")),
    "a lone surrogate in a name": ("name.*Unicode", lambda: {"c\ud800": WHOLE}),
    "bytes that are not UTF-8": (
        "'c'.*UTF-8",
        lambda: pa.table({"c": pa.array([b"\xff", b"u", b"v", b"w"]).view(pa.string())}),
    ),
    "an interval": ("'c'.*interval", lambda: arrow([(1, 2, 3)] * 4, pa.month_day_nano_interval())),
    "a series of numbers": ("Series.*to_frame", lambda: pd.Series(NUMBERS)),
    "a series of categories": ("Series.*to_frame", lambda: pd.Series(TEXTS, dtype="category")),
    "a polars series of numbers": ("Series.*to_frame", lambda: pl.Series(NUMBERS)),
    "an Arrow array of numbers": ("one column", lambda: pa.array(NUMBERS)),
    "an Arrow chunked array": ("one column", lambda: pa.chunked_array([NUMBERS])),
    "a pandas index": ("one column", lambda: pd.Index(NUMBERS)),
    "nested lists": ("'c'.*list", lambda: {"c": [[1], [2], [3], [4]]}),
    "lists of two lengths": ("'c'.*list", lambda: {"c": [[1, 2], [2], [3], [4]]}),
    "three dimensions": ("3D", lambda: [[[1]], [[2]], [[3]], [[4]]]),
    "no dimension": ("0D", lambda: np.array(5.0)),
    "no dimension, a text": ("0D", lambda: np.array("text")),
    "nested objects": ("'x0'.*list", lambda: np.array([[[1], 2], [[2], 3], [[3], 4], [[4], 5]], dtype=object)),
    "mixed types": ("'c' mixes types", lambda: {"c": [1, "u", 2.0, None]}),
    "mixed types of pandas": ("'c' mixes types", lambda: frame([1, "u", 2.0, None], object)),
    "mixed types of polars": ("'c'", lambda: pl.DataFrame({"c": pl.Series([1, "u", b"", {}], dtype=pl.Object)})),
    "mixed types of rows": ("'c' mixes types", lambda: [{"c": 1}, {"c": "u"}, {"c": 3}, {"c": 4}]),
    "mixed types of a generator": ("'c' mixes types", lambda: {"c": iter([1, "u", 2.0, None])}),
    "rows and a missing row": ("item 1", lambda: [{"c": 1}, None, {"c": 3}, {"c": 4}]),
    "complex numbers": ("'c'", lambda: {"c": [1j, 2, 3, 4]}),
    "complex arrays": ("'c'", lambda: {"c": np.array([1j, 2, 3, 4])}),
    "a complex matrix": ("complex", lambda: matrix([1j, 2, 3, 4])),
    "a sparse complex matrix": ("complex", lambda: sparse.csr_array(matrix([1j, 2, 3, 4]))),
    "complex pandas": ("'c'", lambda: frame([1j, 2, 3, 4])),
    "bytes": ("'c'.*binary", lambda: {"c": [b"u", b"v", b"w", b"u"]}),
    "bytes in an array": ("'x0'.*binary", lambda: matrix([b"u", b"v", b"w", b"u"])),
    "bytes in pandas": ("'c'.*binary", lambda: frame([b"u", b"v", b"w", b"u"], object)),
    "bytes in polars": ("'c'.*binary", lambda: polars([b"u", b"v", b"w", b"u"])),
    "fixed-size bytes": ("'c'.*binary", lambda: arrow([b"u", b"v", None, b"u"], pa.binary(1))),
    "binary views": ("'c'.*binary", lambda: arrow([b"u", b"v", None, b"u"], pa.binary_view())),
    "one bytes": ("'c'.*binary", lambda: {"c": b"uvwu"}),
    "a void array": ("V1", lambda: matrix([b"u", b"v", b"w", b"u"], "V1")),
    "months as durations": ("'c'.*seconds", lambda: {"c": np.array(WHOLE, "m8[M]")}),
    "durations without a unit": ("'c'.*seconds", lambda: {"c": np.array(WHOLE, "m8")}),
    "an empty frame": ("0 rows", pd.DataFrame),
    "an empty polars frame": ("0 rows", pl.DataFrame),
    "an empty Arrow table": ("0 rows", lambda: pa.table({})),
    "an empty mapping": ("0 rows", dict),
    "an empty list": ("0 rows", list),
    "rows without a name": ("0 rows", lambda: [{}] * 4),
    "a name twice": ("more than once: a", lambda: pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"])),
    "a level of names twice": (
        "more than once",
        lambda: pd.DataFrame(np.zeros((4, 2)), columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "b")])),
    ),
    "a generator of numbers": ("a stream of int", lambda: iter(WHOLE)),
    "a generator of texts": ("a stream of str", lambda: iter(TEXTS)),
    "a set": ("'c' is a set", lambda: {"c": {1, 2, 3, 4}}),
    "a dict of dicts": ("'c' is a dict", lambda: {"c": dict(enumerate(NUMBERS))}),
    "a dict of frames": ("'c' is a DataFrame", lambda: {"c": frame(NUMBERS)}),
    "two dimensions in a mapping": ("'c'.*shape", lambda: {"c": np.zeros((4, 2))}),
    "a sparse matrix in a mapping": ("'c' is a csr", lambda: {"c": sparse.csr_array(np.eye(4))}),
    "a sparse vector": ("1D", lambda: sparse.coo_array(np.ones(4))),
    "lists of polars": ("'c'.*list", lambda: polars([[1], [2], [3], [4]])),
    "arrays of polars": ("'c'.*list", lambda: polars([[1], [2], [3], [4]], pl.Array(pl.Int8, 1))),
    "structs of polars": ("'c'.*struct", lambda: polars([{"a": 1}] * 4)),
    "lists of Arrow": ("'c'.*list", lambda: arrow([[1]] * 4, pa.large_list(pa.int8()))),
    "structs of Arrow": ("'c'.*struct", lambda: arrow([{"a": 1}] * 4)),
    "maps of Arrow": ("'c'.*map", lambda: arrow([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int8()))),
    "unions of Arrow": (
        "'c'.*union",
        lambda: pa.table({"c": pa.UnionArray.from_sparse(pa.array([0] * 4, pa.int8()), [pa.array(WHOLE)])}),
    ),
    "identifiers of Arrow": ("'c'.*uuid", lambda: extension(pa.uuid(), [bytes(16)] * 4, pa.binary(16))),
    "an unknown extension": (
        "'c' has type shape of v,",
        lambda: extension(pa.opaque(pa.int8(), "shape", "v"), WHOLE, pa.int8()),
    ),
    "a dictionary of bytes": ("'c'.*categories of type binary", lambda: pa.table({"c": _dictionary([b"u"] * 4, None)})),
    "a dictionary of lists": (
        "'c'.*categories of type list",
        lambda: pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0] * 4), pa.array([[1], [2]]))}),
    ),
    "intervals of pandas": ("'c'.*interval", lambda: frame(pd.interval_range(0, 4))),
    "a category of intervals": ("'c'.*interval", lambda: frame(pd.cut(pd.Series(NUMBERS), 2))),
    "periods of pandas": ("'c'.*period", lambda: frame(pd.period_range("2020-01", periods=4, freq="M"))),
    "identifiers": ("'c'.*uuid", lambda: {"c": [uuid.UUID(int=n) for n in WHOLE]}),
    "enumerations": ("'c'", lambda: {"c": [enum.Enum("E", "u v").u] * 4}),  # type: ignore[attr-defined]
    "paths": ("'c'", lambda: {"c": [pathlib.Path("x")] * 4}),
    "objects": ("'c'", lambda: {"c": [object()] * 4}),
    "functions": ("'c'", lambda: {"c": [len] * 4}),
    "nested structures": ("'c'", lambda: np.array([((1, 2.0),)] * 4, [("c", [("a", "i4"), ("b", "f8")])])),
    "structures in two dimensions": ("'c'", lambda: np.array([[(1,)]] * 4, [("c", "i4")])),
    "a number of 400 digits": ("'c'.*1.8e308", lambda: {"c": [10**400, 1, 2, 3]}),
    "an object": ("data of type object cannot be read", object),
    "a number": ("data of type int cannot be read", lambda: 5),
    "bytes alone": ("data of type bytes cannot be read", lambda: b"uvwu"),
    "a set alone": ("data of type set cannot be read", lambda: {1, 2, 3, 4}),
    "one string in a mapping": ("1 rows but 4 labels", lambda: {"c": "uvwu"}),
    "one string among lists": ("'c' is one value", lambda: {"c": "uvwu", "d": WHOLE}),
    "one number among lists": ("'c' is one value", lambda: {"d": WHOLE, "c": 5}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_input_that_is_refused(name: str) -> None:
    words, table = REFUSED[name]
    with pytest.raises(nb.InputError, match=words):
        nb.fit(table(), LABEL, tune=False)
    if "rows" not in words and "stream" not in words:
        model = nb.fit({"c": WHOLE}, LABEL, tune=False)
        with pytest.raises(nb.InputError, match=words.partition(".*")[0]):
            model.predict(table())


ODD_LABELS: list[Callable[[], Any]] = [
    lambda: DAYS,
    lambda: [Decimal(1)] * 4,
    lambda: np.array(LABEL)[:, None],
    lambda: np.array(5),
    lambda: iter(LABEL),
    lambda: set(LABEL),
    lambda: {"y": LABEL},
    lambda: pd.DataFrame({"y": LABEL}),
    lambda: [1j, 2, 3, 4],
    lambda: [[1], [2], [3], [4]],
    lambda: [np.array([1, 2])] * 4,
    lambda: np.array([(1,)] * 4, [("y", "i4")]),
    lambda: pd.Series(pd.period_range("2020-01", periods=4, freq="M")),
    lambda: pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()),
    lambda: pl.Series([[1]] * 4),
    lambda: pl.Series([object()] * 4, dtype=pl.Object),
    lambda: ["a\ud800", "a", "b", "b"],
    lambda: b"abcd",
]


@pytest.mark.parametrize("labels", ODD_LABELS)
def test_labels_that_are_refused(labels: Callable[[], Any]) -> None:
    with pytest.raises(nb.InputError, match="label"):
        nb.fit({"c": WHOLE}, labels(), tune=False)


@pytest.mark.parametrize(
    "labels",
    [
        lambda: np.array([1, 1, 2, 2], ">i4"),
        lambda: np.array([1, 1, 2, 2], ">u8"),
        lambda: pd.Series(np.array([1, 1, 2, 2], ">i8")),
        lambda: pd.arrays.SparseArray([1, 1, 2, 2]),
        lambda: pl.Series([1, 1, 2, 2], dtype=pl.Int128),
        lambda: pd.Categorical([1, 1, 2, 2]),
        lambda: pa.array([1, 1, 2, 2]).dictionary_encode(),
        lambda: range(1, 5),
        lambda: pd.Index([1, 1, 2, 2]),
        lambda: [np.int8(1), np.int64(1), 2, 2],
    ],
)
def test_labels_of_odd_types_are_integers(labels: Callable[[], Any]) -> None:
    model = nb.fit({"c": WHOLE}, labels(), tune=False)
    assert model.classes in ((1, 2), (1, 2, 3, 4))
    assert set(map(type, model.classes)) == {int}


FRAMES = (dict, pd.DataFrame, pl.DataFrame, pa.Table)


@pytest.mark.parametrize(
    "name",
    [name for name, (words, table) in REFUSED.items() if words.startswith("'c'") and isinstance(table(), FRAMES)],
)
def test_batches_that_are_refused(name: str) -> None:
    batch = REFUSED[name][1]()
    if isinstance(batch, dict):
        batch = {**batch, "y": LABEL}
    elif isinstance(batch, pd.DataFrame):
        batch["y"] = LABEL
    elif isinstance(batch, pl.DataFrame):
        batch = batch.with_columns(pl.Series("y", LABEL))
    else:
        batch = batch.append_column("y", pa.array(LABEL))
    with pytest.raises(nb.InputError, match=r"column|mixes types"):
        nb.fit(iter([batch]), "y", tune=False)


@pytest.mark.parametrize("name", [name for name, (_, table) in WORKS.items() if isinstance(table(), dict)])
def test_batches_that_work_like_their_plain_form(name: str) -> None:
    values, table = WORKS[name]
    model = nb.fit(iter([{**table(), "y": LABEL}]), "y", tune=False)
    assert_same_model(model, nb.fit(iter([{"c": values, "y": LABEL}]), "y", tune=False))


def test_batches_that_disagree() -> None:
    with pytest.raises(nb.InputError, match=r"different types in different batches.* c "):
        nb.fit(iter([{"c": [1, 2], "y": ["a", "b"]}, {"c": ["u", "v"], "y": ["a", "b"]}]), "y", tune=False)
    with pytest.raises(nb.InputError, match="'c' has 2, 'y' has 1"):
        nb.fit(iter([{"c": [1, 2], "y": ["a"]}]), "y", tune=False)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(), max_size=3),
    st.binary(max_size=3),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.times(),
    st.uuids(),
    st.sampled_from([pd.NA, pd.NaT, np.ma.masked, np.float32(1), np.int8(1), np.datetime64("NaT"), object(), len, {}]),
)
anything = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=1), scalars, max_size=2)


@given(
    st.lists(scalars, min_size=2, max_size=4) | st.lists(anything, min_size=2, max_size=4),
    st.lists(scalars, min_size=2, max_size=4) | st.just(LABEL),
)
def test_objects_of_any_type_work_or_raise_an_input_error(values: list[Any], labels: list[Any]) -> None:
    tables: list[Callable[[], Any]] = [
        lambda: {"c": values},
        lambda: [{"c": value} for value in values],
        lambda: [[value] for value in values],
        lambda: values,
        lambda: tuple(values),
        lambda: _objects(values),
        lambda: _objects(values)[:, None],
        lambda: {"c": _objects(values)},
        lambda: pd.DataFrame({"c": pd.Series(values, dtype=object)}),
        lambda: pd.Series(values, dtype=object),
        lambda: pd.Series(values, dtype=object, index=[f"n{i}" for i in range(len(values))]),
        lambda: {"c": values[0], "d": values[1]},
        lambda: iter([{"c": values}]),
    ]
    known = nb.fit({"c": NUMBERS}, LABEL, tune=False)
    for table in tables:
        for y in (labels, (LABEL * 2)[: len(values)]):
            with warnings.catch_warnings(), contextlib.suppress(nb.InputError):
                warnings.simplefilter("ignore")
                model = nb.fit(table(), y, tune=False)
                if not isinstance(table(), collections.abc.Iterator):
                    model.predict(table())
        with warnings.catch_warnings(), contextlib.suppress(nb.InputError):
            warnings.simplefilter("ignore")
            known.predict(table())


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
