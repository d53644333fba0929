"""Read one column from a list, an array, or any other sequence of values.

Numbers stay exact where they can: a decimal becomes the nearest float64, and integers that float64 cannot hold stay
integers (`NumberColumn.exact`). A masked value of NumPy is a missing value.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from naively.data.arrow import column_of_arrow, in_one_piece
from naively.data.columns import (
    ArrowStrings,
    CodeColumn,
    Column,
    ListOfStrings,
    NumberColumn,
    arrow_strings,
    refuse_encoding,
)
from naively.data.plain import CellValue
from naively.errors import InputError

if TYPE_CHECKING:
    from naively.data.columns import ArrowArray

SECONDS_PER_UNIT = {"W": 604_800.0, "D": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
MAX_SHORT_LIST = 64  # values that are read without Arrow
UNITS_PER_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12, "fs": 1e15, "as": 1e18}


def is_missing(value: object) -> bool:
    """Return whether a Python value stands for a missing one: None, NaN, pandas' NA and NaT, a masked value."""
    if value is None:
        return True
    if isinstance(value, (str, bool, int)):
        return False
    if is_masked_array(value):
        return value is np.ma.masked
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):  # the truth value of pandas' NA is not defined; a signalling NaN raises
        return True
    except ValueError:  # an array
        return False


def is_masked_array(x: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Return whether this is a masked array. There is none before `numpy.ma` is imported, which takes 7 ms."""
    return "numpy.ma" in sys.modules and isinstance(x, np.ma.MaskedArray)


def is_single(value: object) -> bool:
    """Return whether this is one value, not a sequence of values."""
    return isinstance(value, (str, bytes)) or getattr(value, "ndim", 1) == 0 or not hasattr(value, "__iter__")


def column_of_values(name: str, values: Any) -> Column:
    """Return the column of a list, an array or another sequence."""
    if type(values) is list and len(values) <= MAX_SHORT_LIST:
        column = _column_of_short_list(name, values, _type_of_short_list(values))
        if column is not None:
            return column
    values = _sequence(name, values)
    column = column_of_array(name, values) if isinstance(values, np.ndarray) else None
    if column is not None:
        return column
    try:
        array = _arrow_array(values)
    except Exception as error:  # of pyarrow, NumPy or the library whose object this is
        return column_of_objects(name, values, error)
    return column_of_arrow(name, array)


def column_of_type(name: str, values: list[CellValue], kind: type) -> Column:
    """Return the column of a list whose values are all None or of this type; strings are valid Unicode.

    It is that of `column_of_values`, which looks at each value.
    """
    column = _column_of_short_list(name, values, kind) if len(values) <= MAX_SHORT_LIST else None
    return column_of_values(name, values) if column is None else column


def _type_of_short_list(values: list[CellValue]) -> type | None:
    """Return the type of all values but None; None if they have several, or if a string is not valid Unicode."""
    types = set(map(type, values))
    types.discard(type(None))
    if len(types) != 1:
        return None
    [kind] = types
    if kind is str:
        try:
            "".join(filter(None, values)).encode()
        except UnicodeEncodeError:
            return None
    return kind


def _column_of_short_list(name: str, values: list[CellValue], kind: type | None) -> Column | None:
    """Return the column of a few floats, integers, booleans or strings; None for other lists, which Arrow reads.

    One row is read in a tenth of the time that Arrow takes.
    """
    if kind in (float, np.float64):
        return NumberColumn(name, "number", np.array(values, dtype=np.float64))
    if kind is np.int64 and None not in values:  # as a row of a pandas frame has them
        return NumberColumn(name, "number", np.array(values))
    if kind is str:
        return ListOfStrings(name, tuple(values), are_texts=False)
    if kind is bool:
        codes = np.array([-1 if value is None else value for value in values], dtype=np.int8)
        return CodeColumn(name, "boolean", codes, (False, True))
    if kind is int and None not in values:
        integers = integer_array(values)
        return NumberColumn(name, "number", integers) if integers.dtype == np.int64 else None
    return None


def arrow_of_values(name: str, values: Any) -> ArrowArray:
    """Return a list, an array or another sequence as an Arrow array."""
    values = _sequence(name, values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        seconds_of_array(name, values)  # refuses a unit without a length
        values = values.astype(f"{values.dtype.kind}8[us]")
    try:
        return _arrow_array(values)
    except Exception as error:  # of pyarrow, NumPy or the library whose object this is
        dates = _array_of_dates(list(values))
        if dates is not None:
            return arrow_of_values(name, dates)
        column = column_of_objects(name, values, error)
    return column.array if isinstance(column, ArrowStrings) else _arrow_array(column.numbers())


def _arrow_array(values: Any) -> ArrowArray:
    import pyarrow as pa

    if type(values) is list and set(map(type, values)) == {str}:
        return arrow_strings(values)  # `pa.array` would import pandas
    return in_one_piece(pa.array(values, from_pandas=True))


def _sequence(name: str, values: Any) -> Any:
    """Return values that can be read more than once; refuse what has no order or more than one dimension."""
    if isinstance(values, (Mapping, AbstractSet)) or getattr(values, "ndim", 1) != 1:
        what = f"an array of shape {values.shape}" if isinstance(values, np.ndarray) else f"a {type(values).__name__}"
        raise InputError(f"column {name!r} is {what}: give a list or an array of one dimension.")
    if isinstance(values, np.ndarray) and not values.dtype.isnative:
        return values.astype(values.dtype.newbyteorder("="))
    return values if hasattr(values, "__len__") else list(values)  # a generator can be read once


def column_of_array(name: str, x: NDArray[Any]) -> Column | None:
    """Return the column of a NumPy array of numbers, booleans or dates, None for other types.

    Masked arrays are left to Arrow.
    """
    if is_masked_array(x):
        return None
    if x.dtype.kind in "iuf":
        return NumberColumn.of(name, x)
    if x.dtype.kind == "b":
        return CodeColumn(name, "boolean", x.astype(np.int8), (False, True))
    return NumberColumn(name, "date", seconds_of_array(name, x)) if x.dtype.kind in "mM" else None


def seconds_of_array(name: str, x: NDArray[Any]) -> NDArray[np.float64]:
    """Return dates (since 1970) or durations as seconds, NaN where one is missing."""
    unit, n_units = np.datetime_data(x.dtype)
    if x.dtype.kind == "M" and unit in "YM":
        x, unit, n_units = x.astype("M8[D]"), "D", 1
    if unit not in SECONDS_PER_UNIT and unit not in UNITS_PER_SECOND:
        raise InputError(f"column {name!r} has type {x.dtype}, whose length in seconds is not known: convert it.")
    numbers = x.astype(np.int64).astype(np.float64) * n_units
    seconds = numbers / UNITS_PER_SECOND[unit] if unit in UNITS_PER_SECOND else numbers * SECONDS_PER_UNIT[unit]
    return np.where(np.isnat(x), np.nan, seconds)


def column_of_objects(name: str, values: Any, error: Exception) -> Column:
    """Return the column of Python objects that Arrow could not read: numbers of several types, or with masked values.

    Parameters
    ----------
    name
        The name of the column.
    values
        The objects.
    error
        The error of Arrow.
    """
    import pyarrow as pa

    try:
        items = [None if is_missing(value) else value for value in values]
        dates = _array_of_dates(items)
        if dates is not None:
            return NumberColumn(name, "date", seconds_of_array(name, dates))
        if _are_numbers(items):  # NumPy takes its durations for integers
            return column_of_numbers(name, items)
        array = pa.array(items)
    except InputError:
        raise
    except UnicodeEncodeError:
        refuse_encoding(name)
    except Exception:  # a column of anything
        raise InputError(
            f"column {name!r} mixes types or holds something that is not a plain value ({error}): make it all "
            "numbers, all text or all booleans."
        ) from None
    return column_of_arrow(name, array)


def _array_of_dates(items: Sequence[object]) -> NDArray[Any] | None:
    """Return NumPy dates or durations of any unit, such as days, which Arrow does not read; None for other objects."""
    for kind in (np.datetime64, np.timedelta64):
        if any(isinstance(item, kind) for item in items):
            missing = kind("NaT")
            items = [missing if is_missing(item) else item for item in items]
            return np.array(items) if all(isinstance(item, kind) for item in items) else None
    return None


def _are_numbers(items: Sequence[object]) -> bool:
    types = set(map(type, items)) - {type(None)}
    return all(issubclass(kind, (Real, Decimal)) and not issubclass(kind, bool) for kind in types)


def column_of_numbers(name: str, items: Sequence[CellValue]) -> NumberColumn:
    """Return the column of Python numbers of any type and size, None where one is missing."""
    try:
        x = np.array([np.nan if item is None else float(item) for item in items], dtype=np.float64)
    except OverflowError:
        raise InputError(
            f"column {name!r} holds a number beyond 1.8e308: rescale it, or give the column as text."
        ) from None
    integers = [int(item) if isinstance(item, (int, np.integer)) else None for item in items]
    if all(n is not None or item is None for n, item in zip(integers, items, strict=True)):
        exact = integer_array([n or 0 for n in integers])
        if None not in integers and exact.dtype != object:
            return NumberColumn.of(name, exact)
        return NumberColumn(name, "number", x, exact)
    if all(n is None or n == number for n, number in zip(integers, x.tolist(), strict=True)):
        return NumberColumn(name, "number", x)
    mixed = [number if n is None else n for n, number in zip(integers, x.tolist(), strict=True)]
    return NumberColumn(name, "number", x, object_array(mixed))


def integer_array(integers: Sequence[int]) -> NDArray[Any]:
    """Return integers as int64, else as uint64, else as Python objects."""
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(integers, dtype=dtype)
        except OverflowError:
            continue
    return object_array(integers)


def object_array(values: Sequence[object]) -> NDArray[Any]:
    """Return values of any type in an array of one dimension."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
