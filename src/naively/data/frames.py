"""Read frames (pandas, polars, pyarrow, anything narwhals or the Arrow PyCapsule interface reads) column by column."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.columns import ArrowStrings, CodeColumn, Column, NumberColumn, array_of_arrow, codes_of_dictionary
from naively.data.names import unique_names
from naively.data.table import ColumnTable, as_core_type
from naively.data.views import Values
from naively.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

    from naively.data.columns import ArrowArray, ArrowColumn


def table_of_frame(frame: Any) -> ColumnTable:
    """Read a frame; each column stays in its memory if its type allows."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(frame, arrow.Table):  # narwhals would only hand it on
        names = unique_names(frame.column_names)
        return ColumnTable(names, frame.num_rows, tuple(map(column_of_arrow, names, frame.columns)))
    import narwhals as nw

    try:
        native = nw.from_native(frame, eager_only=False)
    except nw.exceptions.DuplicateError:
        unique_names(getattr(frame, "column_names", frame.columns))
        raise
    except TypeError:
        import pyarrow as pa

        native = nw.from_native(pa.table(frame))
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    names = unique_names(native.columns)
    columns = (_column_of_series(name, native[:, j]) for j, name in enumerate(names))  # names may be numbers
    return ColumnTable(names, len(native), tuple(columns))


def table_of_columns(columns: Mapping[object, Any]) -> ColumnTable:
    """Read a mapping from name to a list of values."""
    import pyarrow as pa

    names = unique_names(columns)
    read = []
    for name, values in zip(names, columns.values(), strict=True):
        try:
            array = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError) as error:  # an ArrowTypeError is a TypeError
            raise _mixed_types(name, error) from None
        read.append(column_of_arrow(name, array))
    lengths = {len(column) for column in read}
    if len(lengths) > 1:
        described = ", ".join(f"{column.name!r} has {len(column)}" for column in read)
        raise InputError(f"columns of unequal length: {described} rows.")
    return ColumnTable(names, lengths.pop() if lengths else 0, tuple(read))


def _mixed_types(name: str, error: Exception) -> InputError:
    return InputError(
        f"column {name!r} mixes types or holds something that is not a plain value ({error}): make it all numbers, "
        "all text or all booleans."
    )


def _column_of_series(name: str, series: nw.Series[Any]) -> Column:
    import narwhals as nw
    import pyarrow as pa

    dtype = series.dtype
    if dtype.is_numeric() and not isinstance(dtype, nw.Decimal):
        return NumberColumn(name, "number", as_core_type(series.to_numpy()))
    try:
        array = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise _mixed_types(name, error) from None
    return column_of_arrow(name, array)


def column_of_arrow(name: str, array: ArrowColumn) -> Column:
    """Read an Arrow column of any supported type."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind):
        is_integer = pa.types.is_integer(kind) and array.null_count > 0
        return NumberColumn(name, "number", as_core_type(array_of_arrow(array, np.nan)), is_integer)
    if pa.types.is_dictionary(kind):
        return _coded(name, array)
    if pa.types.is_null(kind):
        return NumberColumn(name, "unknown", np.full(len(array), np.nan))
    if pa.types.is_boolean(kind):
        codes = array_of_arrow(array.cast(pa.int8()), np.int8(-1))
        return CodeColumn(name, "boolean", codes, (False, True))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ArrowStrings(name, in_one_piece(array))
    if pa.types.is_string_view(kind):
        return ArrowStrings(name, in_one_piece(array).cast(pa.large_string()))
    if pa.types.is_temporal(kind):
        return NumberColumn(name, "date", _seconds(array))
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return NumberColumn(name, "number", array_of_arrow(array.cast(pa.float64()), np.nan))
    raise InputError(f"column {name!r} has type {kind}, which cannot be counted: leave it out, or convert it.")


def in_one_piece(array: ArrowColumn) -> ArrowArray:
    """Return an Arrow column in one piece."""
    import pyarrow as pa

    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)  # type: ignore[return-value]  # the stubs say ChunkedArray
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, array.type)


def _seconds(array: ArrowColumn) -> NDArray[np.float64]:
    """Return a date, a time or a duration as seconds (since 1970 for dates); NaN if missing."""
    import pyarrow as pa

    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s"))
    elif pa.types.is_time(array.type):
        array = array.cast(pa.time64("us"))
    unit: str = array.type.unit
    units_per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    return np.asarray(array_of_arrow(array.cast(pa.int64()), np.nan).astype(np.float64) / units_per_second)


def _coded(name: str, array: ArrowColumn) -> CodeColumn:
    """Return codes and values of a dictionary column; a null among the values is a missing value."""
    encoded: Any = in_one_piece(array)
    codes, dictionary = codes_of_dictionary(encoded), encoded.dictionary
    if dictionary.null_count:
        null = dictionary.to_pylist().index(None)
        codes = np.where(codes == null, -1, codes).astype(np.int32)
    values: Values = tuple("" if value is None else value for value in dictionary.to_pylist())
    if not all(isinstance(value, (str, int, float, bool)) for value in values):
        raise InputError(f"column {name!r} has categories of type {dictionary.type}: use text or numbers.")
    return CodeColumn(name, "string", codes, values)
