"""A table: named columns of equal length, as the rest of the package reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from naively._kernels.cells import column_range
from naively._kernels.row_hash import add_number_hashes, mix
from naively._kernels.types import Hashes
from naively.data.columns import (
    FIRST_CODE,
    UNCHANGED,
    AbsentColumn,
    CodeColumn,
    Column,
    ListOfStrings,
    NumberColumn,
    Positions,
    are_exact_floats,
    code_numbers,
    concat_columns,
    ranks,
)
from naively.data.kinds import Kind, Use, refuse_infinite
from naively.data.names import (
    Names,
    Numbered,
    missing_names,
    positions_of,
    require_columns,
    require_same_width,
    similar_names,
)
from naively.data.plain import CellValue
from naively.data.row_hash import KEY, MISSING, hash_numbers, mixed_hashes
from naively.data.views import Codes, Numbers, Piece, Texts, is_sparse
from naively.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

    Matrix = NDArray[Any] | csr_array | csc_array

Edits = Sequence[Mapping[str, CellValue]]  # new values by column name

MAX_OWN_CODE = 2**16  # whole numbers below this are their own codes


class Table(ABC):
    """Named columns of equal length."""

    names: Names
    n_rows: int
    checked: bool = False  # whether the values are known to suit the family that will count them
    is_sparse: bool = False
    common_kind: Kind | None = None  # the kind of all columns if they are one array

    @abstractmethod
    def kind(self, position: int) -> Kind:
        """Return the kind of a column's values."""

    @abstractmethod
    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Return columns as numbers."""

    @abstractmethod
    def coded(self, positions: Sequence[int]) -> Codes:
        """Return columns as codes of their distinct values."""

    @abstractmethod
    def texts(self, positions: Sequence[int]) -> Texts:
        """Return columns as texts."""

    @abstractmethod
    def present(self, positions: Sequence[int]) -> Numbers:
        """Return 1 where columns have a value, 0 where it is missing, and NaN in an absent column."""

    @abstractmethod
    def take(self, positions: Positions) -> Table:
        """Return the rows at these positions, in this order."""

    def where(self, keep: NDArray[np.bool_]) -> Table:
        """Return the rows for which `keep` is true."""
        return self.take(np.flatnonzero(keep))

    @abstractmethod
    def with_cells(self, row: int, edits: Edits) -> Table:
        """Return a copy of one row for each edit, which gives new values for some columns."""

    def with_values(
        self, row: int, position: int, kind: Kind, values: Sequence[CellValue] | NDArray[np.float64]
    ) -> Table:
        """Return a copy of one row for each value of one column: numbers in an array, or distinct values."""
        return self.with_cells(row, [{self.names[position]: value} for value in values])

    @property
    def can_change_any_cell(self) -> bool:
        """Whether `with_cells` can change every cell of a row."""
        return True

    def with_absent_columns(self, names: Iterable[str]) -> tuple[Table, list[str]]:
        """Return the table with each named column that it does not have as absent, and the names of these columns.

        The columns of an array have no names of their own: a table of such columns is returned as it is.
        """
        return self, []

    def with_similar_names(self, names: Iterable[str]) -> tuple[Table, dict[str, str]]:
        """Return the table with these names where its own differ in case or blanks only, and the names that changed."""
        return self, {}

    def select(self, names: Names) -> Table:
        """Return these columns, in this order; refuse a column that the table does not have."""
        if names == self.names:
            return self
        require_same_width(self.names, names)
        require_columns(names, self.names)
        raise InputError("an array has its columns in one order only: give a table with names of columns.")

    def narrowed(self, names: Iterable[Names]) -> Table:
        """Return the table without columns that have none of these names, if it is made of single columns."""
        return self

    def without_column(self, name: str) -> Table:
        """Return the table without a column; an array has no columns of its own name."""
        raise InputError(f"an array has no column {name!r}: give a table with names of columns.")

    @abstractmethod
    def ranked(self) -> Table:
        """Return the table with the rank of each number in its column, so that units of measurement do not matter."""

    def use(self, position: int, weight: NDArray[np.float64] | None = None) -> Use:
        """Return the kind by which a column is used by default: some numbers are values, and some strings texts."""
        return self.kind(position)

    def columns_with_lost_digits(self, positions: Sequence[int]) -> list[int]:
        """Return the columns in which different integers are the same number, because float64 has 53 bits."""
        return []

    def row_hashes(self, names: Names | None = None) -> Hashes:
        """Return equation (1) of `row_hash` for each row; `names` are the columns that count, by default all.

        >>> from naively.data.read import read
        >>> one = read({"age": [30, 41], "job": ["cook", None]}).row_hashes()
        >>> two = read({"job": [None, "cook"], "age": [41.0, 30.0]}).row_hashes()
        >>> (one[::-1] == two).all()
        np.True_
        """
        return self._hashes if names is None or names == self.names else self._hash_rows(names)

    @cached_property
    def _hashes(self) -> Hashes:
        return self._hash_rows(self.names)

    def _hash_rows(self, names: Names) -> Hashes:
        return mix(self._sum_of_hashes(names, mixed_hashes(names)) + KEY)

    @abstractmethod
    def _sum_of_hashes(self, names: Names, salt: Hashes) -> Hashes:
        """Return the sum over columns in equation (1)."""

    @abstractmethod
    def concat(self, tables: Sequence[Self]) -> Self:
        """Return the rows of tables that have the same columns as this one, one below the other."""


@dataclass(frozen=True, eq=False)
class ColumnTable(Table):
    """Columns one by one: a frame, or an array of objects."""

    names: Names
    n_rows: int
    columns: tuple[Column, ...]

    def kind(self, position: int) -> Kind:
        """Return the kind of a column's values."""
        return self.columns[position].kind

    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Return columns as numbers."""
        return Numbers(tuple(self.columns[j].numbers()[:, None] for j in positions))

    def coded(self, positions: Sequence[int]) -> Codes:
        """Return columns as codes of their distinct values."""
        coded = [self.columns[j].codes() for j in positions]
        return Codes(tuple(codes[:, None] for codes, _ in coded), tuple(values for _, values in coded))

    def texts(self, positions: Sequence[int]) -> Texts:
        """Return columns as texts."""
        return Texts(tuple(self.columns[j].texts() for j in positions))

    def present(self, positions: Sequence[int]) -> Numbers:
        """Return 1 where columns have a value, and 0 where it is missing."""
        return Numbers(tuple(self.columns[j].is_present()[:, None] for j in positions))

    def take(self, positions: Positions) -> ColumnTable:
        """Return the rows at these positions, in this order."""
        return ColumnTable(self.names, len(positions), tuple(column.take(positions) for column in self.columns))

    def with_cells(self, row: int, edits: Edits) -> ColumnTable:
        """Return a copy of one row for each edit, which gives new values for some columns."""
        columns = (c.with_cells(row, [edit.get(c.name, UNCHANGED) for edit in edits]) for c in self.columns)
        return ColumnTable(self.names, len(edits), tuple(columns))

    def with_values(
        self, row: int, position: int, kind: Kind, values: Sequence[CellValue] | NDArray[np.float64]
    ) -> ColumnTable:
        """Return a copy of one row for each value of one column, which may have been absent."""
        columns = list(self.take(np.full(len(values), row)).columns)
        if isinstance(values, np.ndarray):
            columns[position] = NumberColumn(self.names[position], kind, values)
        else:
            codes = np.arange(len(values), dtype=np.int32)
            columns[position] = CodeColumn(self.names[position], kind, codes, tuple(values))
        return ColumnTable(self.names, len(values), tuple(columns))

    def with_absent_columns(self, names: Iterable[str]) -> tuple[ColumnTable, list[str]]:
        """Return the table with each named column that it does not have as absent, and the names of these columns."""
        if isinstance(self.names, Numbered):
            return self, []
        missing = missing_names(names, self.names)
        columns = (*self.columns, *(AbsentColumn(name, self.n_rows) for name in missing))
        return ColumnTable((*self.names, *missing), self.n_rows, columns), missing

    def with_similar_names(self, names: Iterable[str]) -> tuple[ColumnTable, dict[str, str]]:
        """Return the table with these names where its own differ in case or blanks only, and the names that changed."""
        renamed = similar_names(self.names, names)
        if not renamed:
            return self, {}
        columns = tuple(c.with_name(renamed[c.name]) if c.name in renamed else c for c in self.columns)
        return ColumnTable(tuple(renamed.get(n, n) for n in self.names), self.n_rows, columns), renamed

    def select(self, names: Names) -> ColumnTable:
        """Return these columns, in this order; refuse a column that the table does not have."""
        if names == self.names:
            return self
        require_columns(names, self.names)
        position = positions_of(self.names)
        return ColumnTable(names, self.n_rows, tuple(self.columns[position[name]] for name in names))

    def narrowed(self, names: Iterable[Names]) -> ColumnTable:
        """Return the table with these columns only."""
        chosen = set(chain.from_iterable(names))
        return self.select(tuple(name for name in self.names if name in chosen))

    def without_column(self, name: str) -> ColumnTable:
        """Return the table without a column."""
        positions = [j for j, other in enumerate(self.names) if other != name]
        return ColumnTable(
            tuple(self.names[j] for j in positions), self.n_rows, tuple(self.columns[j] for j in positions)
        )

    def ranked(self) -> ColumnTable:
        """Return the table with the rank of each number in its column."""
        return ColumnTable(self.names, self.n_rows, tuple(column.ranked() for column in self.columns))

    def use(self, position: int, weight: NDArray[np.float64] | None = None) -> Use:
        """Return the kind by which a column is used by default: some numbers are values, and some strings texts."""
        return self.columns[position].use(weight)

    def columns_with_lost_digits(self, positions: Sequence[int]) -> list[int]:
        """Return the columns in which different integers are the same number, because float64 has 53 bits."""
        return [position for position in positions if self.columns[position].has_lost_digits()]

    def _sum_of_hashes(self, names: Names, salt: Hashes) -> Hashes:
        total = np.zeros(self.n_rows, np.uint64)
        column = dict(zip(self.names, self.columns, strict=True))
        for name, salt_of_name in zip(names, salt, strict=True):
            column[name].add_hashes(total, salt_of_name)
        return total

    def concat(self, tables: Sequence[ColumnTable]) -> ColumnTable:
        """Return the rows of tables that have the same columns as this one, one below the other."""
        columns = (concat_columns(parts) for parts in zip(*(table.columns for table in tables), strict=True))
        return ColumnTable(self.names, sum(table.n_rows for table in tables), tuple(columns))


class RowTable(ColumnTable):
    """One row of floats and strings. Its columns are made only if needed: scoring takes half the time without them."""

    n_rows = 1
    row: Sequence[float | str]

    def __init__(self, names: Names, row: Sequence[float | str]) -> None:
        """Keep the value of each column; strings are valid Unicode."""
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "row", row)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns one by one."""
        return tuple(
            ListOfStrings(name, (value,), are_texts=False)
            if isinstance(value, str)
            else NumberColumn(name, "number", np.array([value]))
            for name, value in zip(self.names, self.row, strict=True)
        )

    def kind(self, position: int) -> Kind:
        """Return the kind of a column's value."""
        return "number" if type(self.row[position]) is float else "string"

    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Return columns as numbers."""
        values = [self.row[j] for j in positions]
        if str in map(type, values):
            return super().numbers(positions)
        return Numbers(tuple(np.array(values).reshape(-1, 1, 1)))

    def coded(self, positions: Sequence[int]) -> Codes:
        """Return columns as codes of their distinct values."""
        values = [self.row[j] for j in positions]
        if float in map(type, values):
            return super().coded(positions)
        return Codes((FIRST_CODE[:, None],) * len(values), tuple((value,) for value in values))

    def texts(self, positions: Sequence[int]) -> Texts:
        """Return columns as texts."""
        values = [self.row[j] for j in positions]
        texts = tuple((value,) for value in values if isinstance(value, str))
        return Texts(texts) if len(texts) == len(values) else super().texts(positions)


@dataclass(frozen=True, eq=False)
class MatrixTable(Table):
    """One dense array or sparse matrix; its columns are x0, x1, … unless they have names."""

    matrix: Matrix
    names: Names
    checked: bool = False
    strict: bool = False  # whether counting and scoring must refuse missing values; see `Numbers`
    binarize_above: float | None = None  # numbers above this stand for 1; see `Numbers`

    @classmethod
    def of(cls, matrix: Matrix) -> MatrixTable:
        """Name the columns of an array."""
        return cls(matrix, Numbered(matrix.shape[1]))

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Return the number of rows."""
        return int(self.matrix.shape[0])

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Return whether the matrix is a SciPy sparse array."""
        return is_sparse(self.matrix)

    @property
    def common_kind(self) -> Kind:  # type: ignore[override]
        """Return the kind of all columns."""
        return "boolean" if self.matrix.dtype == np.bool_ else "number"

    def kind(self, position: int) -> Kind:
        """Return the kind of a column's values."""
        return self.common_kind

    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Return columns as numbers: the matrix itself, or a view of each run of neighbouring columns."""
        pieces: tuple[Piece, ...] = (self.matrix,)  # a slice of a sparse matrix would be a copy
        if not (isinstance(positions, range) and positions == range(self.matrix.shape[1])):
            pieces = tuple(self.matrix[:, start:stop] for start, stop in _runs(positions))
        return Numbers(pieces, self.strict, self.binarize_above)

    def coded(self, positions: Sequence[int]) -> Codes:
        """Return columns as codes; small whole numbers are their own codes, other columns are coded one by one."""
        block = self.numbers(positions)
        if len(block.pieces) == 1 and isinstance(self.matrix, np.ndarray) and self.matrix.dtype != np.bool_:
            low, high, is_whole, _ = column_range(block.pieces[0])
            if (is_whole & (low >= 0) & (high < MAX_OWN_CODE)).all():
                return Codes(block.pieces, max_codes=tuple(np.maximum(high, -1.0).astype(np.int64).tolist()))
        for place, strip in block.dense():
            is_infinite = np.isinf(strip).any(axis=0)
            if is_infinite.any():
                refuse_infinite(self.names[positions[place.start + int(np.argmax(is_infinite))]])
        coded = [code_numbers(strip[:, j]) for _, strip in block.dense() for j in range(strip.shape[1])]
        return Codes(tuple(codes[:, None] for codes, _ in coded), tuple(values for _, values in coded))

    def ranked(self) -> MatrixTable:
        """Return the table with the rank of each number in its column; a sparse matrix stays: counts have no unit."""
        if self.is_sparse:
            return self
        return replace(self, matrix=np.stack([ranks(x) for x in np.asarray(self.matrix).T], axis=1))

    def texts(self, positions: Sequence[int]) -> Texts:
        """Refuse: an array of numbers has no texts."""
        raise InputError(f"column {self.names[positions[0]]!r} holds numbers, where text is needed.")

    def columns_with_lost_digits(self, positions: Sequence[int]) -> list[int]:
        """Return the columns in which different integers are the same number, because float64 has 53 bits."""
        matrix: Piece = self.matrix
        if self.is_sparse or matrix.dtype != np.int64 or are_exact_floats(matrix):
            return []
        return [j for j in positions if NumberColumn(self.names[j], "number", matrix[:, j]).has_lost_digits()]

    def present(self, positions: Sequence[int]) -> Numbers:
        """Return 1 where columns have a value, and 0 where it is missing."""
        return Numbers(tuple(strip == strip for _, strip in self.numbers(positions).dense()))

    def take(self, positions: Positions) -> MatrixTable:
        """Return the rows at these positions, in this order."""
        return replace(self, matrix=_by_rows(self.matrix)[positions])

    @property
    def can_change_any_cell(self) -> bool:
        """Whether the matrix is dense: of a sparse one, entries that are zero stay so."""
        return not self.is_sparse

    def with_cells(self, row: int, edits: Edits) -> MatrixTable:
        """Return a copy of one row for each edit; of a sparse matrix, only entries that are not zero are changed."""
        many = len(edits) * 4 > len(self.names)
        position = positions_of(self.names).__getitem__ if many else self.names.index
        copies: Piece = _by_rows(self.matrix)[[row] * len(edits)]
        if not self.is_sparse:
            is_whole = all(float(value).is_integer() for edit in edits for value in edit.values())
            copies = copies if is_whole and copies.dtype != np.bool_ else copies.astype(np.float64)
        for i, edit in enumerate(edits):
            for name, value in edit.items():
                if self.is_sparse:
                    entries = slice(copies.indptr[i], copies.indptr[i + 1])
                    copies.data[entries][copies.indices[entries] == position(name)] = value
                else:
                    copies[i, position(name)] = value
        return MatrixTable(copies, self.names, self.checked)

    def _sum_of_hashes(self, names: Names, salt: Hashes) -> Hashes:
        """Return the sum over columns; of a sparse matrix that of zeros, changed by the entries that are not zero."""
        matrix: Piece = self.matrix
        if names != self.names:
            position = positions_of(self.names)
            matrix = matrix[:, [position[name] for name in names]]
        if self.is_sparse:
            rows = matrix.tocsr()
            zeros = mix(salt)  # the bits of 0.0 are 0
            change = mix(hash_numbers(rows.data) + salt[rows.indices]) - zeros[rows.indices]
            running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(change, dtype=np.uint64)])
            return np.asarray(running[rows.indptr[1:]] - running[rows.indptr[:-1]] + zeros.sum(dtype=np.uint64))
        total = np.zeros(matrix.shape[0], np.uint64)
        add_number_hashes(matrix, salt, int(MISSING), total)
        return total

    def concat(self, tables: Sequence[Self]) -> Self:
        """Return the rows of tables that have the same columns as this one, one below the other."""
        matrices: list[Piece] = [table.matrix for table in tables]
        if not self.is_sparse:
            return replace(self, matrix=np.concatenate(matrices))
        from scipy.sparse import vstack

        return replace(self, matrix=vstack(matrices, format="csr"))


def concat_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of tables that have the same columns, one below the other."""
    return tables[0] if len(tables) == 1 else tables[0].concat(tables)


def _by_rows(matrix: Piece) -> Piece:
    return matrix.tocsr() if is_sparse(matrix) else matrix


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Return positions as runs of neighbours, in order."""
    if isinstance(positions, range) and positions.step == 1:
        return [(positions.start, positions.stop)]
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + 1)
        else:
            runs.append((position, position + 1))
    return runs


def table_of_texts(columns: Mapping[str, Sequence[str]]) -> ColumnTable:
    """Return a table of columns of texts. They are valid Unicode, and Arrow is not loaded to read them."""
    names, n_rows = tuple(columns), len(next(iter(columns.values())))
    return ColumnTable(names, n_rows, tuple(ListOfStrings(name, tuple(texts)) for name, texts in columns.items()))
