"""Read a table in memory: an array, a sparse matrix, a frame, a mapping or a list."""

from __future__ import annotations

import sys
from math import isnan
from types import NoneType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from naively.data.columns import ListOfStrings
from naively.data.frames import table_of_columns, table_of_frame
from naively.data.names import Numbered
from naively.data.table import ColumnTable, MatrixTable, Table, as_core_type
from naively.data.views import Piece
from naively.errors import InputError

TableLike = Any  # anything that `read` takes; where files and batches are read, also paths and iterators of batches


def read(X: TableLike) -> Table:
    """Return a checked table.

    Parameters
    ----------
    X
        A NumPy array, a SciPy sparse matrix, a frame (pandas, polars, pyarrow, …), a mapping from column name to
        values, a list of texts, of mappings or of rows of numbers, or a series of texts.
    """
    if isinstance(X, (list, tuple)):
        return _read_list(X)
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        texts = _as_texts(X.tolist()) if X.ndim == 1 and X.dtype.kind in "UTO" else None
        return _read_array(X) if texts is None else _table_of_texts(texts)
    if isinstance(X, dict):
        return table_of_columns(X)
    if hasattr(type(X), "columns"):
        return table_of_frame(X)
    if _is_series_of_texts(X):
        return table_of_columns({getattr(X, "name", None) or "text": X})
    scipy_sparse = sys.modules.get("scipy.sparse")
    if scipy_sparse is not None and scipy_sparse.issparse(X):
        return MatrixTable.of(_canonical(X))
    if hasattr(X, "__arrow_c_stream__"):
        return table_of_frame(X)
    if hasattr(X, "__array__"):
        return _read_array(np.asarray(X))
    raise InputError(
        f"cannot read a {type(X).__name__}: give a NumPy array, a SciPy sparse matrix, a frame (pandas, polars, "
        "pyarrow, …) or a mapping from column name to values."
    )


def _read_list(X: list[object] | tuple[object, ...]) -> Table:
    """Return the table of a list of texts, of mappings from name to value, or of rows of numbers."""
    texts = _as_texts(X)
    if texts is not None:
        return _table_of_texts(texts)
    if isinstance(X[0], dict):
        import pyarrow as pa

        return table_of_frame(pa.Table.from_pylist(cast("list[dict[str, object]]", list(X))))
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError("the rows have different lengths: give every row the same number of values.") from None
    return _read_array(array)


def _as_texts(items: list[object] | tuple[object, ...]) -> tuple[str | None, ...] | None:
    """Return the items if all are texts or missing (None or NaN), an empty list among them; None if none is a text."""
    types = set(map(type, items))
    has_texts = any(issubclass(kind, (str, bytes)) for kind in types)
    if has_texts and any(issubclass(kind, (float, np.floating)) for kind in types):  # pandas has NaN among texts
        items = tuple(None if isinstance(item, (float, np.floating)) and isnan(item) else item for item in items)
        types = set(map(type, items))
    if all(issubclass(kind, (str, bytes, NoneType)) for kind in types):
        return cast("tuple[str | None, ...]", tuple(items))
    if not has_texts:
        return None
    position, item = next((i, item) for i, item in enumerate(items) if not isinstance(item, (str, bytes, NoneType)))
    raise InputError(
        f"item {position} of the list is of type {type(item).__name__}, and others are texts: give str, bytes or None "
        "throughout, or columns by name."
    )


def _is_series_of_texts(X: object) -> bool:
    """Return whether X is one column of strings: a pandas or polars series, an Arrow array."""
    if getattr(X, "ndim", 1) != 1 or hasattr(type(X), "schema"):
        return False
    type_name = str(getattr(X, "dtype", getattr(X, "type", ""))).lower()
    return any(word in type_name for word in ("str", "utf8", "object"))


def _table_of_texts(texts: tuple[str | None, ...]) -> ColumnTable:
    return ColumnTable(("text",), len(texts), (ListOfStrings("text", texts),))


def _canonical(X: Piece) -> Piece:
    """Return a CSR or CSC array without duplicate entries; X is not changed."""
    matrix = as_core_type(X if X.format in ("csr", "csc") else X.tocsr())
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _read_array(x: NDArray[Any]) -> Table:
    if x.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {x.ndim}D array of shape {x.shape} instead. Reshape your data: one column is "
            "x.reshape(-1, 1), one row x.reshape(1, -1)."
        )
    if x.dtype.kind in "fiub":
        return MatrixTable.of(as_core_type(x))
    if x.dtype.kind in "OUSTMm":
        columns = (x[:, j].tolist() if x.dtype.kind in "OUST" else x[:, j] for j in range(x.shape[1]))
        return table_of_columns(dict(zip(Numbered(x.shape[1]), columns, strict=True)))
    raise InputError(f"an array of type {x.dtype} cannot be counted: use numbers, booleans or text.")
