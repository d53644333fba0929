"""Frames (pandas, polars, pyarrow, anything narwhals or the Arrow PyCapsule interface reads) → a table of columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.arrow_arrays import filled_codes, filled_numbers
from naively.data.arrow_columns import ArrowCodes, ArrowNumbers
from naively.data.strings import ArrowStrings
from naively.data.table import Column, ColumnTable, countable
from naively.data.views import Values
from naively.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

__all__ = ["DictionaryCache", "column_of_arrow", "in_one", "table_of_batch", "table_of_columns", "table_of_frame"]


def table_of_frame(frame: Any) -> ColumnTable:
    """Read a frame; each column stays where it lies if its type allows."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(frame, arrow.Table):  # narwhals would only hand it on
        _unique(frame.column_names)
        return table_of_batch(frame)
    import narwhals as nw

    try:
        native = nw.from_native(frame, eager_only=False)
    except nw.exceptions.DuplicateError:
        _unique(list(getattr(frame, "column_names", frame.columns)))  # pyarrow has its names apart
        raise
    except TypeError:
        import pyarrow as pa

        native = nw.from_native(pa.table(frame))
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    names = _unique(list(native.columns))
    columns = tuple(
        _column(name, native[:, position])
        for position, name in enumerate(names)  # by position: names may be numbers
    )
    return ColumnTable(names, len(native), columns)


def table_of_batch(batch: pa.Table, cache: DictionaryCache | None = None) -> ColumnTable:
    """Read an Arrow table; `cache` keeps the values of dictionaries from one batch to the next."""
    names = tuple(batch.column_names)
    columns = (column_of_arrow(name, column, cache) for name, column in zip(names, batch.columns, strict=True))
    return ColumnTable(names, batch.num_rows, tuple(columns))


def table_of_columns(columns: dict[Any, Any]) -> ColumnTable:
    """Read a mapping from name to a list of values."""
    import pyarrow as pa

    names = _unique(list(columns))
    read = []
    for name, values in zip(names, columns.values(), strict=True):
        try:
            array = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError) as error:  # an ArrowTypeError is a TypeError
            raise _mixed(name, error) from None
        read.append(column_of_arrow(name, array))
    lengths = {len(column) for column in read}
    if len(lengths) > 1:
        described = ", ".join(f"{c.name!r} has {len(c)}" for c in read)
        raise InputError(f"columns of unequal length: {described} rows.")
    return ColumnTable(names, lengths.pop() if lengths else 0, tuple(read))


def _unique(names: list[Any]) -> tuple[str, ...]:
    """Column names as strings, each once."""
    found = [str(name) for name in names]
    double = sorted({name for name in found if found.count(name) > 1}) if len(set(found)) < len(found) else []
    if double:
        raise InputError(f"column names must be unique; found more than once: {', '.join(double)}. Rename them.")
    return tuple(found)


def _mixed(name: str, error: Exception) -> InputError:
    return InputError(
        f"column {name!r} mixes types or holds something that is no plain value ({error}): make it all numbers, "
        "all text or all booleans."
    )


def _column(name: str, series: nw.Series[Any]) -> Column:
    import narwhals as nw
    import pyarrow as pa

    dtype = series.dtype
    if dtype.is_numeric() and not isinstance(dtype, nw.Decimal):
        return Column(name, "number", countable(series.to_numpy()))
    try:
        array = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise _mixed(name, error) from None
    return column_of_arrow(name, array)


def column_of_arrow(name: str, array: Any, cache: DictionaryCache | None = None) -> Column:
    """A column from an Arrow array of any supported type; `cache` remembers the values of dictionaries."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_float64(kind) or pa.types.is_float32(kind) or pa.types.is_integer(kind):
        return _plain_numbers(name, array)
    if isinstance(array, pa.ChunkedArray):
        if pa.types.is_dictionary(kind) and array.num_chunks > 1 and _one_dictionary(array):
            first: Any = array.chunk(0)
            return _coded(name, array, first.dictionary, cache)
        array = in_one(array)
    if pa.types.is_null(kind):
        return Column(name, "unknown", np.full(len(array), np.nan))
    if pa.types.is_boolean(kind):
        codes = array.cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False)
        return Column(name, "boolean", codes, (False, True))
    if pa.types.is_dictionary(kind):
        return _coded(name, array, array.dictionary, cache)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        text = array.cast(pa.large_string()) if pa.types.is_string_view(kind) else array
        return ArrowStrings(name, "string", np.zeros(0), None, text)
    if pa.types.is_temporal(kind):
        return Column(name, "date", _seconds(array))
    if pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
        kind = array.type
    if pa.types.is_floating(kind):
        return Column(name, "number", countable(_numbers(array.cast(pa.float64()))))
    raise InputError(f"column {name!r} has type {kind}, which cannot be counted: leave it out, or convert it.")


def _plain_numbers(name: str, array: Any) -> Column:
    """Numbers: where they lie, if they are in one piece."""
    import pyarrow as pa

    if not array.null_count:
        return Column(name, "number", countable(_numbers(array)))
    if isinstance(array, pa.ChunkedArray) and array.num_chunks > 1:
        return Column(name, "number", filled_numbers(array))
    return ArrowNumbers(name, in_one(array))


def in_one(array: Any) -> Any:
    """An Arrow column in one piece."""
    import pyarrow as pa

    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    whole = array.combine_chunks()
    return pa.array([], type=array.type) if isinstance(whole, pa.ChunkedArray) else whole  # no chunk at all


def _numbers(array: Any) -> Any:
    """Numbers as NumPy has them, none of them missing; Arrow copies them only if it must."""
    import pyarrow as pa

    return array.to_numpy() if isinstance(array, pa.ChunkedArray) else array.to_numpy(zero_copy_only=False)


def _one_dictionary(array: Any) -> bool:
    return all(c.dictionary.equals(array.chunk(0).dictionary) for c in array.chunks[1:])


def _coded(name: str, array: Any, dictionary: Any, cache: DictionaryCache | None) -> Column:
    """Codes and values of a dictionary; a null inside the dictionary is a missing value."""
    import pyarrow as pa

    if dictionary.null_count:
        values: list[Any] = dictionary.to_pylist()
        codes = filled_codes(array)
        codes = np.where(codes == values.index(None), -1, codes).astype(np.int32)
        return Column(name, "string", codes, _listed(name, dictionary.type, values))
    kept = (cache or DictionaryCache()).values(name, dictionary)
    if isinstance(array, pa.ChunkedArray):
        return Column(name, "string", filled_codes(array), kept)
    return ArrowCodes(name, array, kept)


def _listed(name: str, kind: Any, values: list[Any]) -> Values:
    """The values of a dictionary."""
    import pyarrow as pa

    kept: Values = tuple("" if value is None else value for value in values)
    strings = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not strings and any(not isinstance(value, (str, int, float, bool)) for value in kept):
        raise InputError(f"column {name!r} has categories of type {kind}: use text or numbers.")
    return kept


class DictionaryCache:
    """The values of the last dictionary of each column: those of the next batch are mostly the same."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._last: dict[str, tuple[Any, Values]] = {}

    def values(self, name: str, dictionary: Any) -> Values:
        """The values of a dictionary, the same object for the same values."""
        if name not in self._last or not self._last[name][0].equals(dictionary):
            self._last[name] = dictionary, _listed(name, dictionary.type, dictionary.to_pylist())
        return self._last[name][1]


def _seconds(array: Any) -> Any:
    """A date, a time or a duration as seconds (since 1970 for dates); NaN if missing."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date(kind):
        array = array.cast(pa.timestamp("s"))
    elif pa.types.is_time(kind):
        array = array.cast(pa.time64("us")).cast(pa.int64())
        return _float(array) / 1e6
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
    return _float(array.cast(pa.int64())) / unit


def _float(array: Any) -> Any:
    import pyarrow as pa

    x = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    if array.null_count:
        x[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    assert pa.types.is_integer(array.type)
    return x
