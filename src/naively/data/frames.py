"""Read frames (pandas, polars, pyarrow, anything narwhals or the Arrow PyCapsule interface reads) column by column."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.arrow import column_of_arrow
from naively.data.columns import Column
from naively.data.names import unique_names
from naively.data.plain import CellValue
from naively.data.table import ColumnTable
from naively.data.values import arrow_of_values, column_of_array, column_of_objects, column_of_values, is_single
from naively.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa


def is_spark_frame(frame: object) -> bool:
    """Return whether this is a Spark DataFrame, without importing Spark."""
    return type(frame).__module__.startswith("pyspark.sql.") and hasattr(frame, "mapInArrow")


def table_of_frame(frame: Any) -> ColumnTable:
    """Read a frame; each column stays in its memory if its type allows."""
    if is_spark_frame(frame):
        raise InputError(
            "a Spark frame is not collected: naively.fit counts it on the executors, naively.spark.predict predicts "
            "it there, and frame.toArrow() collects a small one."
        )
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
    columns = map(_column_of_series, names, native.iter_columns())
    return ColumnTable(names, len(native), tuple(columns))


def table_of_columns(columns: Mapping[Any, Any]) -> ColumnTable:
    """Read a mapping from name to a list of values, or from name to one value: one row."""
    names, values = _names_and_values(columns)
    read = tuple(map(column_of_values, names, values))
    return ColumnTable(names, _common_length(names, read), read)


def arrow_table(frame: Any) -> pa.Table:
    """Return a mapping from name to values, or a frame, as an Arrow table."""
    import pyarrow as pa

    if isinstance(frame, Mapping):
        names, values = _names_and_values(frame)
        arrays = list(map(arrow_of_values, names, values))
        _common_length(names, arrays)
        return pa.table(arrays, names=list(names))
    try:
        return pa.table(frame)
    except Exception as error:  # of Arrow, or of the library of the frame
        raise InputError(f"a batch mixes types or holds something that is not a plain value ({error}).") from None


def _names_and_values(columns: Mapping[Any, Any]) -> tuple[tuple[str, ...], list[CellValue]]:
    """Return the names and the sequences of values of a mapping; single values become sequences of one value."""
    names = unique_names(columns)
    values = list(columns.values())
    are_single = [is_single(value) for value in values]
    if any(are_single):
        if not all(are_single):
            name = names[are_single.index(True)]
            raise InputError(f"column {name!r} is one value, and others have a value for each row: give it as a list.")
        values = [[value.item() if isinstance(value, np.ndarray) else value] for value in values]
    return names, values


def _common_length(names: tuple[str, ...], columns: Sequence[Sized]) -> int:
    lengths = set(map(len, columns))
    if len(lengths) > 1:
        described = ", ".join(f"{name!r} has {len(column)}" for name, column in zip(names, columns, strict=True))
        raise InputError(f"columns of unequal length: {described} rows.")
    return lengths.pop() if lengths else 0


def _column_of_series(name: str, series: nw.Series[Any]) -> Column:
    import narwhals as nw

    dtype = series.dtype
    try:
        is_number = dtype.is_numeric() and not isinstance(dtype, nw.Decimal)
        if is_number or (isinstance(dtype, nw.Unknown) and series.implementation.is_pandas_like()):
            x = series.to_numpy()  # of pandas' unknown types: sparse, with swapped bytes, or long double
            column = None if dtype.is_integer() and x.dtype.kind == "f" else column_of_array(name, x)
            if column is not None:
                return column
        array = series.to_arrow()
    except InputError:
        raise
    except Exception as error:  # of Arrow, or of the library of the frame
        return column_of_objects(name, series.to_list(), error)
    return column_of_arrow(name, array)
