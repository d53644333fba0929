"""Read Arrow columns of any supported type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from naively.data.columns import (
    ArrowStrings,
    CodeColumn,
    Column,
    NumberColumn,
    array_of_arrow,
    codes_of_dictionary,
    python_strings,
)
from naively.data.views import Value
from naively.errors import InputError

if TYPE_CHECKING:
    from naively.data.columns import ArrowArray, ArrowColumn

MAX_EXACT_POWER_OF_TEN = 22  # of which float64 holds 10 to the power exactly
PLAIN_EXTENSIONS = ("arrow.json", "arrow.bool8")


def column_of_arrow(name: str, array: ArrowColumn) -> Column:
    """Read an Arrow column of any supported type."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_integer(kind):
        return _integers(name, array)
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return NumberColumn(name, "number", array_of_arrow(array, np.nan))
    if pa.types.is_dictionary(kind):
        return _coded(name, array)
    if pa.types.is_null(kind):
        return NumberColumn(name, "unknown", np.full(len(array), np.nan))
    if pa.types.is_boolean(kind):
        codes = array_of_arrow(array.cast(pa.int8()), np.int8(-1))
        return CodeColumn(name, "boolean", codes, (False, True))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ArrowStrings(name, in_one_piece(array))
    return _rare_type(name, array)


def _rare_type(name: str, array: ArrowColumn) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_string_view(kind):
        return ArrowStrings(name, in_one_piece(array).cast(pa.large_string()))
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return NumberColumn(name, "date", _seconds(array))
    if pa.types.is_decimal(kind):
        return NumberColumn(name, "number", _nearest_doubles(in_one_piece(array)))
    if pa.types.is_floating(kind):
        return NumberColumn(name, "number", array_of_arrow(array.cast(pa.float64()), np.nan))
    if pa.types.is_run_end_encoded(kind):
        compute: Any = pc  # whose stubs do not know this function
        return column_of_arrow(name, compute.run_end_decode(in_one_piece(array)))
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name in PLAIN_EXTENSIONS:
        storage = in_one_piece(array).storage  # type: ignore[attr-defined]
        return column_of_arrow(name, storage.cast(pa.bool_()) if kind.extension_name == "arrow.bool8" else storage)
    shown = f"{kind.type_name} of {kind.vendor_name}" if isinstance(kind, pa.OpaqueType) else kind
    raise InputError(f"column {name!r} has type {shown}, which cannot be counted: leave it out, or convert it.")


def in_one_piece(array: ArrowColumn) -> ArrowArray:
    """Return an Arrow column in one piece."""
    import pyarrow as pa

    if not isinstance(array, pa.ChunkedArray):
        return array
    piece: Any = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()  # which would copy one chunk
    return cast("ArrowArray", piece)


def _integers(name: str, array: ArrowColumn) -> NumberColumn:
    integers = array_of_arrow(array, None)
    if not array.null_count:
        return NumberColumn.of(name, integers)
    return NumberColumn(name, "number", array_of_arrow(array, np.nan).astype(np.float64, copy=False), integers)


def _nearest_doubles(array: ArrowArray) -> NDArray[np.float64]:
    """Return decimals as the nearest float64; Arrow's own cast misses it for one decimal in seven.

    The quotient of an integer up to 2⁵³ and a power of ten up to 10²² is the nearest float64. Other decimals are
    read from their digits.
    """
    import pyarrow as pa

    kind: Any = array.type
    is_null = array_of_arrow(array.is_null().cast(pa.int8()), 0) > 0
    if pa.types.is_decimal128(kind) and 0 <= kind.scale <= MAX_EXACT_POWER_OF_TEN and len(array):
        data: Any = array.buffers()[1]
        low, high = np.frombuffer(data, np.int64, 2 * len(array), 16 * array.offset).reshape(-1, 2).T
        if (is_null | ((high == low >> 63) & (low <= 2**53) & (low >= -(2**53)))).all():
            return np.where(is_null, np.nan, low / 10.0**kind.scale)
    return np.asarray(array_of_arrow(array.cast(pa.string()).cast(pa.float64()), np.nan))


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


def _coded(name: str, array: ArrowColumn) -> Column:
    """Return codes and values of a dictionary column; other values than strings and numbers are decoded.

    A value that the dictionary repeats has one code. A null or NaN among the values is a missing value.
    """
    import pyarrow as pa

    kind: Any = array.type.value_type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if pa.types.is_boolean(kind) or pa.types.is_temporal(kind) or pa.types.is_null(kind):
        return column_of_arrow(name, array.cast(kind))
    if not (is_number or is_text):
        raise InputError(f"column {name!r} has categories of type {kind}: use text or numbers.")
    code_of: dict[Value, int] = {}
    parts = []
    for chunk in getattr(array, "chunks", [array]):  # each with a dictionary of its own
        codes, dictionary = codes_of_dictionary(chunk), chunk.dictionary
        values = python_strings(name, dictionary) if is_text else _python_numbers(name, dictionary)
        code = [-1 if value is None else code_of.setdefault(value, len(code_of)) for value in values]
        if code != list(range(len(code))):
            codes = np.array([*code, -1], dtype=np.int32)[codes]  # the last entry is that of code −1
        parts.append(codes)
    codes = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int32), *parts])
    return CodeColumn(name, "number" if is_number else "string", codes, tuple(code_of))


def _python_numbers(name: str, dictionary: ArrowArray) -> list[Value | None]:
    """Return the numbers of a dictionary, None where one is missing."""
    column = column_of_arrow(name, dictionary)
    codes, values = column.codes()
    return [None if code < 0 else values[code] for code in codes.tolist()]
