"""Read a table in memory: an array, a sparse matrix, a frame, a mapping or a list. Tell files and single rows apart."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan
from operator import itemgetter
from types import NoneType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from naively.data.columns import MAX_EXACT_INTEGER, ListOfStrings, as_core_type
from naively.data.files.paths import Files, is_path
from naively.data.frames import table_of_columns, table_of_frame
from naively.data.names import Numbered, unique_names
from naively.data.plain import CellValue
from naively.data.table import ColumnTable, MatrixTable, Table
from naively.data.values import is_masked_array, is_missing, is_single
from naively.data.views import Piece, without_duplicates
from naively.errors import InputError

TableLike = Any  # anything that `read` takes; where files and batches are read, also paths and iterators of batches


def read(X: TableLike) -> Table:
    """Return a checked table.

    Parameters
    ----------
    X
        A NumPy array, a SciPy sparse matrix, a frame (pandas, polars, pyarrow, …), a mapping from column name to
        values (or to one value: one row), a list of texts, of mappings or of rows of values, a series of texts, or a
        row of a pandas frame.
    """
    if isinstance(X, (list, tuple)):
        return _read_list(X)
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if isinstance(X, Mapping):
        return table_of_columns(X)
    if hasattr(type(X), "columns"):
        return table_of_frame(X)
    scipy_sparse = sys.modules.get("scipy.sparse")
    if scipy_sparse is not None and scipy_sparse.issparse(X):
        return MatrixTable.of(_canonical(X))
    if _is_series(X):
        return _read_series(X)
    if hasattr(X, "__arrow_c_stream__"):
        return table_of_frame(X)
    if hasattr(X, "__array__"):
        return _read_array(np.asarray(X))
    raise InputError(
        f"data of type {type(X).__name__} cannot be read: give a NumPy array, a SciPy sparse matrix, a frame (pandas, "
        "polars, pyarrow, …) or a mapping from column name to values."
    )


def files_or_table(X: TableLike, text_column: str | None) -> Files | TableLike:
    """Return the files that X names (`is_path` has the rule), or X as `read` takes it; one text is a table of one row.

    Parameters
    ----------
    X
        Rows in memory, files, or one text.
    text_column
        The only text column of the model that reads X, if there is one: then a string may be a text.
    """
    if not is_path(X, is_text=text_column is not None):
        return {text_column: [X]} if isinstance(X, str) else X
    files = Files.of(X)
    if isinstance(X, str) and text_column is not None and not files.is_standard_input:
        try:
            files.data_files()
        except InputError as error:
            raise InputError(
                f"{error} A string that looks like a path is one: give a text as a list, [text]."
            ) from None
    return files


def is_one_row(X: TableLike) -> bool:
    """Return whether X is a single row: one text, a mapping from name to one value, or a row of a pandas frame."""
    if isinstance(X, Mapping):
        return len(X) > 0 and all(map(is_single, X.values()))
    return isinstance(X, str) or (_is_series(X) and hasattr(X, "iloc") and read(X).n_rows == 1 != len(X))


def _read_list(X: list[object] | tuple[object, ...]) -> Table:
    """Return the table of a list of texts, of mappings from name to value, or of rows of values."""
    texts = _as_texts(X)
    if texts is not None:
        return _table_of_texts(texts)
    if isinstance(X[0], Mapping):
        return _table_of_mappings(X)
    try:
        types = set(map(type, X)) if "numpy.ma" in sys.modules else ()
        is_masked = any(issubclass(kind, np.ma.MaskedArray) for kind in types)
        array = np.ma.array(X) if is_masked else np.asarray(X)
        if array.dtype.kind in "US" or (array.dtype.kind == "f" and _has_lost_digits(array)):
            array = np.asarray(X, dtype=object)  # each column has its own type
    except ValueError:
        raise InputError("the rows have different lengths: give every row the same number of values.") from None
    return _read_array(array)


def _has_lost_digits(array: NDArray[np.float64]) -> bool:
    """Return whether some of these numbers may have been integers that float64 cannot hold."""
    return bool(np.count_nonzero(np.abs(array) > MAX_EXACT_INTEGER))


def _table_of_mappings(rows: Sequence[CellValue]) -> ColumnTable:
    """Return the table of rows that are mappings; a name that a row does not have is missing there."""
    if any(not issubclass(kind, Mapping) for kind in set(map(type, rows))):
        position, row = next((i, row) for i, row in enumerate(rows) if not isinstance(row, Mapping))
        raise InputError(f"item {position} of the list is of type {type(row).__name__}, and others are mappings.")
    if set(map(len, rows)) == {len(rows[0])}:
        try:
            return table_of_columns({name: list(map(itemgetter(name), rows)) for name in rows[0]})
        except KeyError:
            pass  # the rows have different names
    names = dict.fromkeys(chain.from_iterable(rows))
    return table_of_columns({name: [row.get(name) for row in rows] for name in names})


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


def _is_series(X: object) -> bool:
    """Return whether X is one column: a pandas or polars series, an Arrow array."""
    is_frame = getattr(X, "ndim", 1) != 1 or hasattr(type(X), "schema")
    return not is_frame and (hasattr(X, "dtype") or hasattr(X, "type"))


def _read_series(X: Any) -> Table:
    """Return the table of a series of texts, or of a row of a pandas frame."""
    type_name = str(getattr(X, "dtype", getattr(X, "type", ""))).lower()
    is_text = any(word in type_name for word in ("str", "utf8"))
    is_object = "object" in type_name
    if is_text or (is_object and all(isinstance(item, (str, bytes)) or is_missing(item) for item in X)):
        return table_of_columns({getattr(X, "name", None) or "text": X})
    names = list(getattr(X, "index", ())) if hasattr(X, "iloc") else []
    if names and all(isinstance(name, str) for name in names):
        return table_of_columns({name: [item] for name, item in zip(unique_names(names), X.tolist(), strict=True)})
    raise InputError(
        f"a {type(X).__name__} of type {type_name} is one column: give a table, such as series.to_frame() or {{'name': "
        "series}."
    )


def _table_of_texts(texts: tuple[str | None, ...]) -> ColumnTable:
    return ColumnTable(("text",), len(texts), (ListOfStrings("text", texts),))


def _canonical(X: Piece) -> Piece:
    """Return a CSR or CSC array without duplicate entries; X is not changed."""
    _check_dimensions(X)
    if X.dtype.kind not in "fiub":
        raise InputError(f"a sparse matrix of type {X.dtype} cannot be counted: use numbers or booleans.")
    return without_duplicates(as_core_type(X if X.format in ("csr", "csc") else X.tocsr()))


def _check_dimensions(x: Piece) -> None:
    if x.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {x.ndim}D array of shape {x.shape} instead. Reshape your data: one column is "
            "x.reshape(-1, 1), one row x.reshape(1, -1)."
        )


def _read_array(x: NDArray[Any]) -> Table:
    if type(x) is not np.ndarray:
        is_masked = is_masked_array(x) and bool(np.ma.getmaskarray(x).any())
        x = _filled(x) if is_masked else np.asarray(x)
    if x.dtype.names is not None and x.ndim == 1:
        return table_of_columns({name: x[name] for name in x.dtype.names})
    if x.ndim == 1 and x.dtype.kind in "UTOS":
        texts = _as_texts(x.tolist())
        if texts is not None:
            return _table_of_texts(texts)
    _check_dimensions(x)
    kind = x.dtype.kind
    if kind in "fiub" and type(x) is np.ndarray:
        matrix = as_core_type(x)
        if kind != "u" or matrix.dtype.kind != "f":  # else an integer needs 64 bits without a sign
            return MatrixTable.of(matrix)
    if kind not in "fiubOUSTMm":
        raise InputError(f"an array of type {x.dtype} cannot be counted: use numbers, booleans or text.")
    names = Numbered(x.shape[1])
    columns = (x[:, j].tolist() if kind in "OUST" else x[:, j] for j in range(x.shape[1]))
    return replace(table_of_columns(dict(zip(names, columns, strict=True))), names=names, n_rows=len(x))


def _filled(x: Any) -> NDArray[Any]:
    """Return an array with NaN for masked numbers; other types, and integers that are not float64, stay masked."""
    if x.dtype.kind not in "fiu" or (x.dtype.kind != "f" and _has_lost_digits(x.filled(0).astype(np.float64))):
        return cast("NDArray[Any]", x)
    return np.asarray(x.astype(np.result_type(x.dtype, np.float32)).filled(np.nan))
