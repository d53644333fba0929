"""One column of a table: numbers, codes of values, or strings, not copied if possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from naively._kernels.row_hash import add_code_hashes, add_number_hashes, add_text_hashes, mix
from naively._kernels.text import Strings
from naively._kernels.types import Hashes
from naively.data.kinds import Kind, Use, refuse_infinite
from naively.data.plain import CellValue
from naively.data.row_hash import MISSING, hash_values
from naively.data.views import Piece, Texts, Value, Values
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowArray = pa.Array[Any]
    ArrowColumn = pa.Array[Any] | pa.ChunkedArray[Any]

Codes = NDArray[np.integer]
Positions = NDArray[np.intp]
Cells = Sequence[CellValue]  # of any type, or UNCHANGED

MIN_SORTED_STRINGS = 1000  # distinct strings of a column above which Arrow sorts them
MAX_ROWS_READ_AS_TEXT = 65_536  # rows by which a column is judged to be text, values or identifiers
MIN_UNCOUNTED_IDENTIFIERS = 10_000  # strings in these rows; columns with fewer are counted before they are judged
MAX_EXACT_INTEGER = 2**53  # all integers up to this are float64
CORE_TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")
WIDER_TYPES = {"int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}  # others become float64
FIRST_CODE = np.zeros(1, np.int32)  # the codes of one row
CODE_OF_MISSING = np.full(1, -1, np.int32)
FIRST_CODE.flags.writeable = CODE_OF_MISSING.flags.writeable = False
UNCHANGED = object()  # in `with_cells`: the cell stays as it is


class Column(ABC):
    """A column with its name and the kind of its values."""

    name: str
    kind: Kind

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, positions: Positions) -> Self:
        """Return the rows at these positions, in this order."""

    def with_name(self, name: str) -> Self:
        """Return the same values under another name."""
        column = copy(self)
        object.__setattr__(column, "name", name)
        return column

    @abstractmethod
    def is_present(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""

    @abstractmethod
    def numbers(self) -> NDArray[Any]:
        """Return the column as numbers, NaN where a value is missing."""

    @abstractmethod
    def codes(self) -> tuple[Codes, Values]:
        """Return the column as codes, −1 where a value is missing, and the values that they stand for."""

    @abstractmethod
    def texts(self) -> Sequence[str | None] | Strings:
        """Return the column as texts."""

    @abstractmethod
    def with_cells(self, row: int, cells: Cells) -> Column:
        """Return a copy of one row for each cell, with that cell unless it is UNCHANGED."""

    @abstractmethod
    def add_hashes(self, total: Hashes, salt: np.uint64) -> None:
        """Add the terms of this column in equation (1) of `row_hash` to `total`."""

    @abstractmethod
    def to_arrow(self) -> ArrowArray:
        """Return the values as an Arrow array of a type that keeps each of them; see `arrow_rows`."""

    def ranked(self) -> Column:
        """Return the column with the rank of each number in place of the number; other values stay."""
        return self

    def use(self, weight: NDArray[np.float64] | None = None) -> Use:
        """Return the kind by which the column is used by default."""
        return self.kind

    def has_lost_digits(self) -> bool:
        """Return whether different integers of this column are the same number."""
        return False


@dataclass(frozen=True, eq=False)
class NumberColumn(Column):
    """Numbers, or dates as seconds; NaN is a missing value. A column of kind "unknown" has missing values only.

    Integers are floats in `x` if one is missing, or if they need more than 64 bits with a sign. Then `exact` holds them
    as they were given, with any number where one is missing.
    """

    name: str
    kind: Kind
    x: NDArray[Any]
    exact: NDArray[Any] | None = None

    @classmethod
    def of(cls, name: str, x: NDArray[Any]) -> NumberColumn:
        """Return the column of an array of numbers, of which NaN are missing."""
        numbers = as_core_type(x)
        return NumberColumn(name, "number", numbers, x if x.dtype.kind == "u" and numbers.dtype.kind == "f" else None)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, positions: Positions) -> NumberColumn:
        """Return the rows at these positions, in this order."""
        exact = None if self.exact is None else self.exact[positions]
        return NumberColumn(self.name, self.kind, self.x[positions], exact)

    def is_present(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""
        return np.asarray(self.x == self.x)

    def numbers(self) -> NDArray[Any]:
        """Return the numbers."""
        return self.x

    def ranked(self) -> NumberColumn:
        """Return the column with the rank of each number in place of the number."""
        return NumberColumn(self.name, self.kind, ranks(self.x))

    def codes(self) -> tuple[Codes, Values]:
        """Return a code for each distinct number."""
        if np.isinf(self.x).any():
            refuse_infinite(self.name)
        return code_numbers(self.x) if self.exact is None else code_numbers(self.exact, self.is_present())

    def has_lost_digits(self) -> bool:
        """Return whether different integers of this column are the same number."""
        integers = self.x if self.exact is None else self.exact[self.is_present()]
        if integers.dtype.kind == "f" or are_exact_floats(integers):
            return False
        return len(np.unique(integers)) > len(np.unique(integers.astype(np.float64)))

    def texts(self) -> Sequence[str | None]:
        """Return missing texts for a column without a value; refuse numbers."""
        if self.kind != "unknown" and self.is_present().any():
            refuse_numbers(self.name)
        return [None] * len(self)

    def with_cells(self, row: int, cells: Cells) -> NumberColumn:
        """Return a copy of one row for each cell, with that cell unless it is UNCHANGED."""
        x = self.x[[row] * len(cells)]
        if any(cell is not UNCHANGED for cell in cells):
            x = np.array([old if new is UNCHANGED else new for old, new in zip(x, cells, strict=True)], np.float64)
        return NumberColumn(self.name, self.kind, x)

    def add_hashes(self, total: Hashes, salt: np.uint64) -> None:
        """Add the hashes of the numbers."""
        add_number_hashes(self.x[:, None], np.array([salt], np.uint64), int(MISSING), total)

    def to_arrow(self) -> ArrowArray:
        """Return the numbers, integers of which one is missing with nulls; those beyond 64 bits as strings."""
        import pyarrow as pa

        if self.kind == "unknown":
            return pa.nulls(len(self))
        if self.exact is None:
            return fixed_width_array(self.x)
        if self.exact.dtype != object:
            return fixed_width_array(self.exact, self.is_present())
        cells = zip(self.exact.tolist(), self.is_present().tolist(), strict=True)
        return pa.array([str(number) if is_present else None for number, is_present in cells], pa.string())


class AbsentColumn(NumberColumn):
    """A column that the data does not have: it says nothing, not even that a value is missing."""

    def __init__(self, name: str, n_rows: int) -> None:
        """Fill the column with missing values."""
        super().__init__(name, "unknown", np.full(n_rows, np.nan))

    def take(self, positions: Positions) -> AbsentColumn:
        """Return as many rows."""
        return AbsentColumn(self.name, len(positions))

    def is_present(self) -> NDArray[Any]:
        """Return NaN: whether there is a value is not known."""
        return self.x

    def with_cells(self, row: int, cells: Cells) -> NumberColumn:
        """Return as many rows; an absent column is not changed."""
        return AbsentColumn(self.name, len(cells))


@dataclass(frozen=True, eq=False)
class CodeColumn(Column):
    """Codes of categories or booleans, −1 where a value is missing, and the values that they stand for.

    The categories are strings, or numbers if the kind is "number".
    """

    name: str
    kind: Kind
    x: Codes
    values: Values

    def __len__(self) -> int:
        return len(self.x)

    def take(self, positions: Positions) -> CodeColumn:
        """Return the rows at these positions, in this order."""
        return CodeColumn(self.name, self.kind, self.x[positions], self.values)

    def is_present(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""
        return np.asarray(self.x >= 0)

    def numbers(self) -> NDArray[Any]:
        """Return booleans as 0 and 1, and numbers; refuse strings."""
        if self.kind == "string":
            refuse_strings(self.name)
        if self.kind == "number":
            return np.array([*map(float, self.values), np.nan])[self.x]  # the last entry is that of code −1
        return np.where(self.x < 0, np.nan, self.x.astype(np.float64)) if (self.x < 0).any() else self.x

    def codes(self) -> tuple[Codes, Values]:
        """Return the codes and their values."""
        return self.x, self.values

    def texts(self) -> Sequence[str | None]:
        """Return the values as strings; refuse numbers."""
        if self.kind == "number":
            refuse_numbers(self.name)
        return [None if code < 0 else str(self.values[code]) for code in self.x.tolist()]

    def with_cells(self, row: int, cells: Cells) -> CodeColumn:
        """Return a copy of one row for each cell, with that cell unless it is UNCHANGED."""
        values: dict[Value, int] = {value: code for code, value in enumerate(self.values)}
        codes = [self.x[row] if cell is UNCHANGED else values.setdefault(cell, len(values)) for cell in cells]
        return CodeColumn(self.name, self.kind, np.array(codes, dtype=np.int32), tuple(values))

    def use(self, weight: NDArray[np.float64] | None = None) -> Use:
        """Return the kind by which the column is used by default: numbers that were given as categories are values."""
        return "string" if self.kind == "number" else self.kind

    def add_hashes(self, total: Hashes, salt: np.uint64) -> None:
        """Add the hashes of the values."""
        add_hashes_of_codes(total, self.x, self.values, salt)

    def to_arrow(self) -> ArrowArray:
        """Return booleans, or a dictionary of the values that rows have."""
        import pyarrow as pa

        if self.kind == "boolean":
            return fixed_width_array(self.x == 1, self.x >= 0)
        used, codes = np.unique(self.x[self.x >= 0], return_inverse=True)
        places = np.zeros(len(self), np.int32)
        places[self.x >= 0] = codes
        values = pa.array([self.values[code] for code in used.tolist()])
        return pa.DictionaryArray.from_arrays(fixed_width_array(places, self.x >= 0), values)


class StringColumn(Column):
    """Strings that get codes only if they are counted by value."""

    kind: Kind = "string"

    @cached_property
    @abstractmethod
    def _codes(self) -> tuple[Codes, Values]: ...

    def codes(self) -> tuple[Codes, Values]:
        """Return a code for each distinct string."""
        return self._codes

    def is_present(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""
        return ~Texts.missing(self.texts())

    def numbers(self) -> NDArray[Any]:
        """Refuse strings."""
        refuse_strings(self.name)

    def add_hashes(self, total: Hashes, salt: np.uint64) -> None:
        """Add the hashes of the strings: once for each distinct string if they have codes, else of each."""
        if "_codes" in vars(self):
            add_hashes_of_codes(total, *self._codes, salt)
            return
        add_text_hashes(self.texts(), int(salt), int(MISSING), total)


@dataclass(frozen=True, eq=False)
class ArrowStrings(StringColumn):
    """An Arrow column of strings (utf8 or large utf8), read through its buffers."""

    name: str
    array: ArrowArray

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def _codes(self) -> tuple[Codes, Values]:
        import pyarrow.compute as pc

        encoded: Any = self.array.dictionary_encode()
        codes, dictionary = codes_of_dictionary(encoded), encoded.dictionary
        if len(dictionary) < MIN_SORTED_STRINGS:
            return codes, tuple(python_strings(self.name, dictionary))
        order: Any = pc.sort_indices(dictionary)
        position = np.full(len(dictionary) + 1, -1, dtype=np.int32)  # the last entry is that of code −1
        position[array_of_arrow(order, 0)] = np.arange(len(dictionary), dtype=np.int32)
        return position[codes], tuple(python_strings(self.name, dictionary.take(order)))

    def take(self, positions: Positions) -> ArrowStrings:
        """Return the rows at these positions, in this order."""
        return ArrowStrings(self.name, self.array.take(arrow_array(positions)))

    def texts(self) -> Strings:
        """Return the buffers, not copied."""
        import pyarrow as pa

        array: Any = self.array
        valid, offsets, data = array.buffers()
        dtype: Any = np.int64 if pa.types.is_large_string(array.type) else np.int32
        ends = np.frombuffer(offsets, dtype)[array.offset : array.offset + len(array) + 1]
        return Strings(
            ends if len(ends) else np.zeros(1, dtype),
            np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8),
            np.frombuffer(valid, dtype=np.uint8) if valid is not None and array.null_count else None,
            array.offset,
        )

    def to_arrow(self) -> ArrowArray:
        """Return the array."""
        return self.array

    def with_cells(self, row: int, cells: Cells) -> ListOfStrings:
        """Return a copy of one row for each cell, with that cell unless it is UNCHANGED."""
        return ListOfStrings(self.name, (self.array[row].as_py(),)).with_cells(0, cells)

    def use(self, weight: NDArray[np.float64] | None = None) -> Use:
        """Return "text" if the strings look like texts."""
        return _use_of_strings(python_strings(self.name, self.array[:MAX_ROWS_READ_AS_TEXT]), weight)


@dataclass(frozen=True, eq=False)
class ListOfStrings(StringColumn):
    """Python strings, None where one is missing; in a tuple, which the caller cannot change.

    `are_texts` says whether they are texts by default, whatever they look like.
    """

    name: str
    strings: tuple[str | None, ...]
    are_texts: bool = True

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def _codes(self) -> tuple[Codes, Values]:
        code: dict[str | None, int] = {None: -1}
        for text in self.strings:
            code.setdefault(text, len(code) - 1)
        codes = np.fromiter((code[text] for text in self.strings), dtype=np.int32, count=len(self.strings))
        return codes, tuple(text for text in code if text is not None)

    def codes(self) -> tuple[Codes, Values]:
        """Return a code for each distinct string."""
        if len(self.strings) != 1:
            return self._codes
        [text] = self.strings  # one row: several times as fast
        return (CODE_OF_MISSING, ()) if text is None else (FIRST_CODE, (text,))

    def take(self, positions: Positions) -> ListOfStrings:
        """Return the rows at these positions, in this order."""
        return replace(self, strings=tuple(self.strings[i] for i in positions.tolist()))

    def texts(self) -> tuple[str | None, ...]:
        """Return the strings."""
        return self.strings

    def to_arrow(self) -> ArrowArray:
        """Return the strings."""
        import pyarrow as pa

        return pa.array(self.strings, pa.large_string())

    def with_cells(self, row: int, cells: Cells) -> ListOfStrings:
        """Return a copy of one row for each cell, with that cell unless it is UNCHANGED."""
        return replace(self, strings=tuple(self.strings[row] if cell is UNCHANGED else cell for cell in cells))

    def use(self, weight: NDArray[np.float64] | None = None) -> Use:
        """Return "text" for a bare list of strings, which is a list of texts, or if the strings look like texts."""
        return "text" if self.are_texts else _use_of_strings(self.strings[:MAX_ROWS_READ_AS_TEXT], weight)


def _use_of_strings(column: Sequence[str | None], weight: NDArray[np.float64] | None) -> Use:
    """Return "text" if the distinct strings have 3 words or 50 characters on average, and are many.

    They are many if more than a third of the strings are distinct, or from 50 on if each occurs fewer than 30 times on
    average. So a column of texts that was copied stays one. Other strings of 65,536 rows are an "identifier" if 10,000
    or more rows have one, and 19 of 20 of them another one. A row counts as often as its weight says, at least once.
    """
    n_strings = len(column) - column.count(None)
    distinct = {string for string in column if string is not None}
    if weight is not None:
        has_string = np.array([string is not None for string in column], dtype=np.bool_)
        n_strings = max(n_strings, round(float(weight[: len(column)][has_string].sum())))
    are_many = 3 * len(distinct) > n_strings or (len(distinct) >= 50 and 30 * len(distinct) > n_strings)
    if not are_many:
        return "string"
    n_words, n_characters = sum(len(string.split()) for string in distinct), sum(map(len, distinct))
    if n_words >= 3 * len(distinct) or n_characters >= 50 * len(distinct):
        return "text"
    is_large = len(column) >= MAX_ROWS_READ_AS_TEXT and n_strings >= MIN_UNCOUNTED_IDENTIFIERS
    return "identifier" if is_large and 20 * len(distinct) >= 19 * n_strings else "string"


def as_core_type(x: Piece) -> Piece:
    """Return an array or sparse matrix in one of the types that the core reads."""
    name = x.dtype.name
    if name in CORE_TYPES:
        return x if x.dtype.isnative and _has_whole_strides(x) else x.astype(name)
    if name == "uint64" and 0 not in x.shape and x.max() < 2**63:
        return x.astype("int64")
    return x.astype(WIDER_TYPES.get(name, "float64"))


def _has_whole_strides(x: Piece) -> bool:
    """Return whether the items lie at multiples of their size, which fields of records need not do."""
    return not isinstance(x, np.ndarray) or (x.flags.aligned and not any(step % x.itemsize for step in x.strides))


def ranks(x: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rank of each number among the distinct ones, from 0; NaN where a number is missing.

    >>> ranks(np.array([10.0, -3.0, np.nan, 10.0])).tolist()
    [1.0, 0.0, nan, 1.0]
    """
    is_present = x == x
    result = np.full(len(x), np.nan)
    result[is_present] = np.unique(x[is_present], return_inverse=True)[1]
    return result


def refuse_strings(name: str) -> NoReturn:
    """Raise InputError for a column of strings that should be numbers."""
    raise InputError(
        f"column {name!r} holds text, where numbers are needed: "
        "give it a family for values (Categorical), or turn it into numbers."
    )


def refuse_numbers(name: str) -> NoReturn:
    """Raise InputError for a column of numbers that should be texts."""
    raise InputError(f"column {name!r} holds numbers, where text is needed.")


def code_numbers(x: NDArray[Any], present: NDArray[np.bool_] | None = None) -> tuple[Codes, Values]:
    """Return a code for each distinct number; whole numbers become int, so that 1 and 1.0 are one value.

    Parameters
    ----------
    x
        The numbers.
    present
        Which of them are not missing, by default those that are not NaN.
    """
    codes = np.full(len(x), -1, dtype=np.int32)
    present = x == x if present is None else present
    distinct, inverse = np.unique(x[present], return_inverse=True)
    codes[present] = inverse
    if distinct.dtype == np.bool_:
        return codes, tuple(distinct.tolist())
    return codes, tuple(map(plain_number, distinct.tolist()))


def are_exact_floats(integers: NDArray[Any]) -> bool:
    """Return whether all integers are small enough for float64 to hold each of them."""
    return not integers.size or bool(integers.min() >= -MAX_EXACT_INTEGER and integers.max() <= MAX_EXACT_INTEGER)


def plain_number(x: float) -> float:
    """Return a number as int if it is whole and fits 64 bits.

    >>> plain_number(2.0), plain_number(2.5), plain_number(1e30)
    (2, 2.5, 1e+30)
    """
    return int(x) if x == x // 1 and abs(x) < 2**63 else x


def concat_columns(columns: Sequence[Column]) -> Column:
    """Return the rows of columns one below the other; a column of unknown kind takes the kind of the others."""
    first = next((column for column in columns if column.kind != "unknown"), columns[0])
    if all(isinstance(column, AbsentColumn) for column in columns):
        return AbsentColumn(first.name, sum(map(len, columns)))
    lists = [column for column in columns if isinstance(column, ListOfStrings)]
    if len(lists) == len(columns):
        return replace(lists[0], strings=tuple(chain.from_iterable(column.strings for column in lists)))
    if first.kind == "string":
        import pyarrow as pa

        large = pa.large_string()
        arrays = [c.array.cast(large) if isinstance(c, ArrowStrings) else pa.array(c.texts(), large) for c in columns]
        return ArrowStrings(first.name, pa.concat_arrays(arrays))
    if isinstance(first, CodeColumn):
        return _concat_codes(first.name, first.kind, [column.codes() for column in columns])
    numbers = np.concatenate([column.numbers() for column in columns])
    return NumberColumn(first.name, first.kind, numbers, _concat_exact(columns))


def _concat_codes(name: str, kind: Kind, parts: Sequence[tuple[Codes, Values]]) -> CodeColumn:
    """Return codes one below the other, each with values of its own, as codes of all values."""
    code_of: dict[Value, int] = dict.fromkeys(chain.from_iterable(values for _, values in parts), 0)
    for code, value in enumerate(code_of):
        code_of[value] = code
    codes = [np.array([*map(code_of.__getitem__, values), -1], np.int32)[part] for part, values in parts]
    return CodeColumn(name, kind, np.concatenate(codes), tuple(code_of))


def _concat_exact(columns: Sequence[Column]) -> NDArray[Any] | None:
    """Return the exact integers of columns of numbers, None if no column has them or floats are among them."""
    exact = [getattr(column, "exact", None) for column in columns]
    if all(part is None for part in exact):
        return None
    parts = [column.numbers() if part is None else part for column, part in zip(columns, exact, strict=True)]
    if any(part.dtype == np.uint64 or part.dtype == object for part in parts):
        return np.concatenate([part.astype(object) for part in parts])
    return np.concatenate(parts) if all(part.dtype.kind in "iu" for part in parts) else None


def add_hashes_of_codes(total: Hashes, codes: Codes, values: Values, salt: np.uint64) -> None:
    """Add the hash of the value of each code to `total`; each value is hashed once."""
    add_code_hashes(codes, mix(np.append(hash_values(values), MISSING) + salt), total)  # the last is that of code −1


def python_strings(name: str, array: ArrowArray) -> list[CellValue]:
    """Return an Arrow array of strings as Python strings, None where one is missing."""
    try:
        strings: list[CellValue] = array.to_pylist()
    except UnicodeDecodeError:
        refuse_encoding(name)
    return strings


def refuse_encoding(name: str) -> NoReturn:
    """Raise InputError for a column with a string that has no UTF-8 encoding."""
    raise InputError(
        f"column {name!r} holds a string that is not valid Unicode (a lone surrogate, or bytes that are not UTF-8): "
        'replace it, as text.encode("utf-8", "replace").decode() does.'
    )


def array_of_arrow(array: ArrowColumn, null: float | np.integer | None) -> NDArray[Any]:
    """Return a fixed-width Arrow column as a NumPy array, with `null` where a value is missing; copied only if needed.

    If `null` is None, any value stands where one is missing.

    Arrow's own `to_numpy` imports pandas where that is installed, which takes most of a second.

    >>> import pyarrow as pa
    >>> array_of_arrow(pa.chunked_array([[1, None], [3]]), np.nan).tolist()
    [1.0, nan, 3.0]
    """
    parts = []
    for chunk in getattr(array, "chunks", [array]):
        valid, data = chunk.buffers()
        start, n = chunk.offset, len(chunk)
        dtype = chunk.type.to_pandas_dtype()
        values = np.frombuffer(data, dtype, n, start * (chunk.type.bit_width // 8)) if n else np.zeros(0, dtype)
        if chunk.null_count and null is not None:
            bits = np.unpackbits(np.frombuffer(valid, np.uint8), count=start + n, bitorder="little")
            values = np.where(bits[start:], values, null)
        parts.append(values)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, array.type.to_pandas_dtype())


def codes_of_dictionary(array: Any) -> Codes:
    """Return the codes of an Arrow dictionary array, −1 where a value is missing."""
    codes: Codes = array_of_arrow(array.indices, np.int32(-1)).astype(np.int32, copy=False)
    return codes


def is_string(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is that of strings."""
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def arrow_array(x: NDArray[Any]) -> ArrowArray:
    """Return numbers, booleans or strings, none of them missing, as an Arrow array.

    `pyarrow.array` would import pandas where that is installed, which takes most of a second.

    >>> arrow_array(np.array(["no", "yes"])).to_pylist(), arrow_array(np.array([True, False])).to_pylist()
    (['no', 'yes'], [True, False])
    """
    import pyarrow as pa

    kind = x.dtype.kind
    if kind in "UO" and all(isinstance(value, str) for value in x.tolist()):
        return arrow_strings(x.tolist())
    if kind == "b":
        return arrow_array(x.astype(np.int64)).cast(pa.bool_())
    if kind in "if" and x.dtype.itemsize == 8:
        number = pa.float64() if kind == "f" else pa.int64()
        return pa.Array.from_buffers(number, len(x), [None, pa.py_buffer(x.tobytes())])
    array: ArrowArray = pa.array(x)
    return array


def fixed_width_array(x: NDArray[Any], is_present: NDArray[np.bool_] | None = None) -> ArrowArray:
    """Return numbers or booleans as an Arrow array of their type, null where `is_present` is false.

    >>> fixed_width_array(np.array([1, 2], np.uint8), np.array([True, False])).to_pylist()
    [1, None]
    """
    import pyarrow as pa

    valid = None if is_present is None else pa.py_buffer(np.packbits(is_present, bitorder="little").tobytes())
    if x.dtype == np.bool_:
        data = pa.py_buffer(np.packbits(x, bitorder="little").tobytes())
        return pa.Array.from_buffers(pa.bool_(), len(x), [valid, data])
    return pa.Array.from_buffers(pa.from_numpy_dtype(x.dtype), len(x), [valid, pa.py_buffer(x.tobytes())])


def arrow_strings(values: Sequence[str]) -> ArrowArray:
    """Return strings as an Arrow array, with 64-bit offsets only if needed."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)])
    is_short = int(ends[-1]) < 2**31
    offsets = ends.astype(np.int32 if is_short else np.int64).tobytes()
    kind = pa.string() if is_short else pa.large_string()
    return pa.Array.from_buffers(kind, len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])
