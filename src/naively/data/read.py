"""Arrays and frames → tables of columns. Input is checked here, once."""

from __future__ import annotations

import sys
from math import isnan
from types import NoneType
from typing import Any

import numpy as np

from naively.data.frames import table_of_columns, table_of_frame
from naively.data.names import Numbered
from naively.data.strings import ListOfStrings
from naively.data.table import ColumnTable, MatrixTable, Table, countable
from naively.errors import InputError

__all__ = ["read"]


def read(X: Any) -> Table:
    """A table from an array, a sparse matrix, a frame, or a mapping from name to values."""
    if isinstance(X, (list, tuple)):
        return _of_list(X)
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        texts = _texts_of(X.tolist()) if X.ndim == 1 and X.dtype.kind in "UTO" else None
        return _of_array(X) if texts is None else _of_texts(texts)
    if _is_series_of_texts(X):
        return table_of_columns({getattr(X, "name", None) or "text": X})
    if _is_sparse(X):
        return MatrixTable.of(_canonical(X))
    if isinstance(X, dict):
        return table_of_columns(X)
    if hasattr(X, "__arrow_c_stream__") or _is_frame(X):
        return table_of_frame(X)
    if hasattr(X, "__array__"):
        return _of_array(np.asarray(X))
    raise InputError(
        f"cannot read a {type(X).__name__}: give a NumPy array, a SciPy sparse matrix, a frame (pandas, polars, "
        "pyarrow, …) or a mapping from column name to values."
    )


def _of_list(X: Any) -> Table:
    """A list of texts, of mappings from name to value, or of rows of numbers."""
    texts = _texts_of(X)
    if texts is not None:
        return _of_texts(texts)
    if X and isinstance(X[0], dict):
        import pyarrow as pa

        return table_of_frame(pa.Table.from_pylist(list(X)))
    return _of_array(_array_of_rows(X))


def _texts_of(items: list[Any] | tuple[Any, ...]) -> tuple[str | None, ...] | None:
    """The items if all are texts and gaps, None or NaN; None if no text is among them. No items are no texts."""
    kinds = set(map(type, items))
    some_texts = any(issubclass(kind, (str, bytes)) for kind in kinds)
    if some_texts and any(issubclass(kind, (float, np.floating)) for kind in kinds):  # as pandas has its gaps
        items = tuple(None if isinstance(item, (float, np.floating)) and isnan(item) else item for item in items)
        kinds = set(map(type, items))
    if all(issubclass(kind, (str, bytes, NoneType)) for kind in kinds):
        return tuple(items)
    if not some_texts:
        return None
    place, item = next((i, item) for i, item in enumerate(items) if not isinstance(item, (str, bytes, NoneType)))
    raise InputError(
        f"item {place} of the list is of type {type(item).__name__}, and others are texts: give str, bytes or None "
        "throughout, or columns by name."
    )


def _is_series_of_texts(X: Any) -> bool:
    """Whether X is one column of strings: a pandas or polars series, an Arrow array."""
    if isinstance(X, (list, tuple, dict)) or getattr(X, "ndim", 1) != 1 or hasattr(type(X), "columns"):
        return False
    name = str(getattr(X, "dtype", getattr(X, "type", ""))).lower()
    return any(word in name for word in ("str", "utf8", "object")) and not hasattr(type(X), "schema")


def _of_texts(texts: tuple[str | None, ...]) -> ColumnTable:
    """A list of strings: one column, named text."""
    column = ListOfStrings("text", "string", np.zeros(0), None, texts)
    return ColumnTable(("text",), len(texts), (column,))


def _is_sparse(X: Any) -> bool:
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def _is_frame(X: Any) -> bool:
    return hasattr(type(X), "columns") and not isinstance(X, (list, tuple))


def _canonical(X: Any) -> Any:
    """A CSR or CSC array without duplicate entries; the matrix given is not changed."""
    matrix = X if X.format in ("csr", "csc") else X.tocsr()
    matrix = countable(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _array_of_rows(rows: Any) -> Any:
    try:
        return np.asarray(rows)
    except ValueError:
        raise InputError("the rows have different lengths: give every row the same number of values.") from None


def _of_array(x: Any) -> Table:
    if x.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {x.ndim}D array of shape {x.shape} instead. Reshape your data: one column is "
            "x.reshape(-1, 1), one row x.reshape(1, -1)."
        )
    if x.dtype.kind in "fiub":
        return MatrixTable.of(countable(x))
    if x.dtype.kind in "OUSTM" or x.dtype.kind == "m":
        names = tuple(Numbered(x.shape[1]))
        return table_of_columns({name: _plain(x[:, j]) for j, name in enumerate(names)})
    raise InputError(f"an array of type {x.dtype} cannot be counted: use numbers, booleans or text.")


def _plain(column: Any) -> Any:
    """A column of an object array as a list, of dates as it is."""
    return column.tolist() if column.dtype.kind in "OUST" else column
