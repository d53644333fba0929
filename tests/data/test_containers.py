"""The same rows in another container, memory layout or type of number give the same model."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from tests.support.strategies import Rows, assert_same_model, rows

import naively as nb
from naively.store.codec import encode_counts

TEXT = {"colour", "taste", "first", "second"}
FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda x: pd.DataFrame(x).convert_dtypes(),
    "pandas, Arrow": lambda x: pa.table(x).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, categories": lambda x: pd.DataFrame(x).astype(dict.fromkeys(set(x) & TEXT, "category")),
    "polars": lambda x: pl.DataFrame(x, strict=False),
    "polars, lazy": lambda x: pl.DataFrame(x, strict=False).lazy(),
    "pyarrow": pa.table,
    "pyarrow, in batches": lambda x: pa.Table.from_batches(pa.table(x).to_batches(max_chunksize=2)),
    "pyarrow, dictionaries": lambda x: _encoded(pa.table(x)),
    "a stream of batches": lambda x: pa.RecordBatchReader.from_batches(pa.table(x).schema, pa.table(x).to_batches()),
    "a list of rows": lambda x: [dict(zip(x, row, strict=True)) for row in zip(*x.values(), strict=True)],
}


def _encoded(table: pa.Table) -> pa.Table:
    for i, name in enumerate(table.column_names):
        if name in TEXT:
            table = table.set_column(i, name, table.column(name).dictionary_encode())
    return table


@pytest.mark.parametrize("frame", FRAMES)
@given(given_rows=rows())
def test_frames(frame: str, given_rows: Rows) -> None:
    columns = given_rows.columns
    read = nb.fit(FRAMES[frame](given_rows.x), given_rows.label, weight=given_rows.weight, columns=columns, tune=False)
    expected = given_rows.fit()
    assert_same_model(read, expected)
    np.testing.assert_array_equal(read.log_joint(FRAMES[frame](given_rows.x)), expected.log_joint(given_rows.x))


@pytest.mark.parametrize("frame", FRAMES)
@given(given_rows=rows())
def test_families_by_type(frame: str, given_rows: Rows) -> None:
    """Columns without a value are not compared: they have a type in a frame, and none in a list."""
    x = {name: values for name, values in given_rows.x.items() if any(v is not None for v in values)}
    if not x:
        return
    assert_same_model(nb.fit(FRAMES[frame](x), given_rows.label, tune=False), nb.fit(x, given_rows.label, tune=False))


@given(rows(groups=[("height", "width"), ("visits",), ("w0", "w1", "w2")]))
def test_an_array_of_numbers(given_rows: Rows) -> None:
    x = np.array([given_rows.x[name] for name in given_rows.x], dtype=np.float64).T
    families: dict[Any, Any] = {
        ("x0", "x1"): nb.Gaussian(),
        "x2": nb.Poisson(),
        ("x3", "x4", "x5"): nb.Multinomial(),
    }
    named = dict(zip([f"x{j}" for j in range(6)], x.T.tolist(), strict=True))
    array = nb.fit(x, given_rows.label, columns=families, weight=given_rows.weight, tune=False)
    assert_same_model(array, nb.fit(named, given_rows.label, columns=families, weight=given_rows.weight, tune=False))
    np.testing.assert_allclose(array.log_joint(x), array.log_joint(pd.DataFrame(named)), rtol=1e-14)


def test_an_array_of_objects() -> None:
    x = np.array([["red", True, 1.5], [None, False, None], ["blue", None, 2]], dtype=object)
    mapping = {"x0": ["red", None, "blue"], "x1": [True, False, None], "x2": [1.5, None, 2.0]}
    assert_same_model(nb.fit(x, list("aab"), tune=False), nb.fit(mapping, list("aab"), tune=False))


small = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.sampled_from([0.0, 0.0, 1, 2]))
NUMERIC = [
    nb.Multinomial(),
    nb.Complement(),
    nb.Gaussian(),
    nb.Poisson(),
    nb.Exponential(),
    nb.Categorical(),
    nb.Categorical(shared=True),
]
SPARSE: dict[str, Callable[[Any], Any]] = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr matrix": sparse.csr_matrix,
    "explicit zeros": lambda x: _with_explicit_zeros(x),
    "duplicates": lambda x: _with_duplicates(x),
}


def _with_explicit_zeros(x: Any) -> Any:
    column = np.tile(np.arange(x.shape[1]), x.shape[0])
    return sparse.csr_array((x.ravel(), column, np.arange(0, x.size + 1, x.shape[1])), shape=x.shape)


def _with_duplicates(x: Any) -> Any:
    row, column = np.indices(x.shape).reshape(2, -1)
    halves = np.concatenate([x.ravel() / 2, x.ravel() / 2])
    return sparse.coo_array((halves, (np.tile(row, 2), np.tile(column, 2))), shape=x.shape)


@pytest.mark.parametrize("form", SPARSE)
@given(x=small, family=st.sampled_from(NUMERIC), random=st.randoms(use_true_random=False))
def test_sparse_is_dense(form: str, x: Any, family: nb.Family, random: Any) -> None:
    label = [random.randrange(3) for _ in x]
    dense, sparse_model = (
        nb.fit(x, label, columns=family, tune=False),
        nb.fit(SPARSE[form](x), label, columns=family, tune=False),
    )
    assert_same_model(sparse_model, dense)
    np.testing.assert_allclose(sparse_model.log_joint(SPARSE[form](x)), dense.log_joint(x), rtol=1e-13)


@given(x=small.map(np.sign), missing=st.randoms(use_true_random=False))
def test_sparse_bernoulli_with_missing_values(x: Any, missing: Any) -> None:
    x = np.where([[missing.random() < 0.2 for _ in row] for row in x], np.nan, x)
    label = [missing.randrange(3) for _ in x]
    dense = nb.fit(x, label, columns=nb.Bernoulli(), tune=False)
    for form in (sparse.csr_array, sparse.csc_array):
        sparse_model = nb.fit(form(x), label, columns=nb.Bernoulli(), tune=False)
        assert_same_model(sparse_model, dense)
        np.testing.assert_allclose(sparse_model.log_joint(form(x)), dense.log_joint(x), rtol=1e-13)


@given(x=small, family=st.sampled_from(NUMERIC))
def test_memory_layout_does_not_matter(x: Any, family: nb.Family) -> None:
    label = ["a", "b", "a", "c", "b", "a", "b", "c"][: len(x)]
    model = nb.fit(x, label, columns=family, tune=False)
    strided = np.zeros((2 * len(x), 3 * x.shape[1]))[::2, ::3]
    strided[:] = x
    frozen = x.copy()
    frozen.setflags(write=False)
    for same in (np.asfortranarray(x), strided, x[::-1].copy()[::-1], frozen, x.tolist()):
        assert_same_model(nb.fit(same, label, columns=family, tune=False), model)
        np.testing.assert_allclose(model.log_joint(same), model.log_joint(x), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
@given(x=small, family=st.sampled_from(NUMERIC))
def test_narrow_numbers(dtype: str, x: Any, family: nb.Family) -> None:
    x = x.astype(dtype)
    label = ["a", "b", "a", "c", "b", "a", "b", "c"][: len(x)]
    narrow = nb.fit(x, label, columns=family, tune=False)
    wide = nb.fit(x if dtype == "?" and family.statistic is nb.Categorical.statistic else x.astype("f8"), label,
                  columns=family, tune=False)  # fmt: skip
    assert_same_model(narrow, wide)
    np.testing.assert_allclose(narrow.log_joint(x), wide.log_joint(x), rtol=1e-13)


def test_float32_keeps_its_own_values() -> None:
    """0.1f is not 0.1: sums are made in float64 from the float32 numbers as they are."""
    x = np.array([[0.1], [0.2], [0.7]], dtype=np.float32)
    assert_same_model(nb.fit(x, [0, 0, 1], tune=False), nb.fit(x.astype(np.float64), [0, 0, 1], tune=False))


numbers = st.none() | st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "number": numbers,
    "whole": st.integers(-(2**40), 2**40),
    "counts": st.none() | st.integers(0, 3),
    "decimal": st.none() | st.decimals(-1000, 1000, places=3),
    "flag": st.none() | st.booleans(),
    "word": st.none() | st.text(max_size=3).filter(lambda text: text.isprintable()),
    "day": st.none() | st.dates(datetime.date(1950, 1, 1), datetime.date(2100, 1, 1)),
}
MIXED_FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": lambda x: pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in x.items()}),
    "pandas, inferred": lambda x: pd.DataFrame(x),
    "pandas, Arrow": lambda x: pa.table(x).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda x: pl.DataFrame(x, strict=False),
    "pyarrow": pa.table,
    "a list of rows": lambda x: [dict(zip(x, row, strict=True)) for row in zip(*x.values(), strict=True)],
    "arrays of objects": lambda x: {name: np.array(values, dtype=object) for name, values in x.items()},
    "masked arrays": lambda x: {name: masked(values) for name, values in x.items()},
}


def masked(values: list[Any]) -> Any:
    """Return an array in which missing values are masked."""
    first = next(value for value in values if value is not None)
    filled = [first if value is None else value for value in values]
    dtype = object if isinstance(first, str) else np.array([first]).dtype
    return np.ma.array(filled, mask=[value is None for value in values], dtype=dtype)


def _has_value(values: list[Any]) -> bool:
    return any(value is not None for value in values)


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], list[str]]:
    """Draw columns of several kinds, each with at least one value, and labels."""
    n = draw(st.integers(2, 12))
    names = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True))
    x = {name: draw(st.lists(KINDS[name], min_size=n, max_size=n).filter(_has_value)) for name in names}
    return x, draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))


@pytest.mark.parametrize("container", MIXED_FRAMES)
@given(table=tables())
def test_every_container_gives_the_same_bits(container: str, table: tuple[dict[str, list[Any]], list[str]]) -> None:
    x, label = table
    model = nb.fit(x, label, tune=False)
    other = nb.fit(MIXED_FRAMES[container](x), label, tune=False)
    assert other.schema == model.schema
    assert encode_counts(other) == encode_counts(model)
    for reading in (x, MIXED_FRAMES[container](x)):
        np.testing.assert_array_equal(other.posterior(reading), model.posterior(x))


@given(
    arrays(
        np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.floats(-1e6, 1e6) | st.just(np.nan)
    )
    | arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-(2**53), 2**53)),
    st.data(),
)
def test_numbers_in_any_container_give_the_same_bits(x: Any, data: st.DataObject) -> None:
    label = data.draw(st.lists(st.sampled_from("ab"), min_size=len(x), max_size=len(x)))
    if np.isnan(x).all(axis=0).any():
        return  # a column without a value has a type in an array, and none in a list
    model = nb.fit(x, label, tune=False)
    names = list(model.schema.names)
    columns = {name: x[:, j] for j, name in enumerate(names)}
    forms: list[Any] = [
        x.astype(x.dtype.newbyteorder(">")),
        np.asfortranarray(x),
        np.ma.array(np.where(np.isnan(x), 7, x), mask=np.isnan(x), dtype=x.dtype),
        x.tolist(),
        x.astype(object),
        columns,
        pd.DataFrame(x, columns=names),
        pd.DataFrame(x, columns=names).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(columns),
        pa.table(columns),
        np.array(list(map(tuple, x.tolist())), dtype=[(name, x.dtype) for name in names]),
    ]
    for form in forms:
        other = nb.fit(form, label, tune=False)
        assert encode_counts(other) == encode_counts(model)
        np.testing.assert_allclose(
            other.posterior(form), model.posterior(x), rtol=1e-10
        )  # a frame is scored column by column
