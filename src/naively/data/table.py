"""A table as the rest of the package sees it: named columns, as numbers or as coded values, where they lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Gapped
from naively._kernels.text import Strings
from naively.data.kinds import Kind
from naively.data.names import Names, Numbered
from naively.data.views import Codes, Numbers, Texts, Values, is_sparse
from naively.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

__all__ = ["Column", "ColumnTable", "MatrixTable", "Table", "countable"]

SMALL_CODES = 2**16  # whole numbers from 0 up to this are their own codes


_WIDER = {"int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "float64"}


def countable(x: Any) -> Any:
    """An array or sparse matrix in one of the types that the core reads: itself, or widened."""
    name = x.dtype.name
    if name in ("float64", "float32", "int64", "int32", "uint8", "bool"):
        return x
    return x.astype(_WIDER.get(name, "float64"))


class Table(ABC):
    """Named columns of equal length."""

    names: Names
    n_rows: int

    @abstractmethod
    def kind(self, position: int) -> Kind:
        """What sort of values a column holds."""

    @abstractmethod
    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Some columns as numbers."""

    @abstractmethod
    def coded(self, positions: Sequence[int]) -> Codes:
        """Some columns as codes of their distinct values."""

    @abstractmethod
    def texts(self, positions: Sequence[int]) -> Texts:
        """Some columns as texts."""

    @abstractmethod
    def present(self, positions: Sequence[int]) -> Numbers:
        """Where some columns have a value: 1, and 0 where it is missing."""

    @abstractmethod
    def where(self, keep: NDArray[np.bool_]) -> Table:
        """The rows that are to be kept."""

    @abstractmethod
    def take(self, order: NDArray[np.intp]) -> Table:
        """The rows at these places, in this order."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers (NaN = missing), or codes (−1 = missing) with the values that they stand for."""

    name: str
    kind: Kind
    x: NDArray[Any]
    values: Values | None = None

    def __len__(self) -> int:
        return len(self.x)

    def where(self, keep: NDArray[np.bool_]) -> Column:
        """The rows that are to be kept."""
        return Column(self.name, self.kind, self.x[keep], self.values)

    def take(self, order: NDArray[np.intp]) -> Column:
        """The rows at these places."""
        return Column(self.name, self.kind, self.x[order], self.values)

    def present(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return np.asarray(self.x == self.x) if self.values is None else np.asarray(self.x >= 0)

    @property
    def coded(self) -> tuple[NDArray[Any], Values]:
        """Codes and their values."""
        assert self.values is not None
        return self.x, self.values

    def numbers(self) -> Gapped:
        """The column as numbers, where they lie."""
        return Gapped(_as_number(self))

    def known_numbers(self) -> NDArray[Any]:
        """Return the numbers that are not missing, in their own type."""
        return self.x[self.x == self.x] if self.x.dtype.kind == "f" else self.x

    def codes(self) -> tuple[Gapped, Values]:
        """The column as codes, where they lie, and the values that they stand for."""
        codes, values = _as_codes(self)
        return Gapped(codes), values

    def texts(self) -> Sequence[str | None] | Strings:
        """The column as texts."""
        if self.kind == "unknown":
            return [None] * len(self)
        if self.values is None:
            raise InputError(f"column {self.name!r} holds numbers, where text is needed.")
        return [None if code < 0 else str(self.values[code]) for code in self.x.tolist()]


@dataclass(frozen=True, eq=False)
class ColumnTable(Table):
    """Columns one by one: a frame."""

    names: tuple[str, ...]
    n_rows: int
    columns: tuple[Column, ...]

    def kind(self, position: int) -> Kind:
        """What sort of values a column holds."""
        return self.columns[position].kind

    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Some columns as numbers, each where it lies."""
        return Numbers(tuple(_as_number(self.columns[j])[:, None] for j in positions))

    def coded(self, positions: Sequence[int]) -> Codes:
        """Some columns as codes of their distinct values."""
        coded = [_as_codes(self.columns[j]) for j in positions]
        return Codes(tuple(codes[:, None] for codes, _ in coded), tuple(values for _, values in coded))

    def present(self, positions: Sequence[int]) -> Numbers:
        """Where some columns have a value."""
        return Numbers(tuple(self.columns[j].present()[:, None] for j in positions))

    def where(self, keep: NDArray[np.bool_]) -> ColumnTable:
        """The rows that are to be kept."""
        return ColumnTable(self.names, int(keep.sum()), tuple(column.where(keep) for column in self.columns))

    def take(self, order: NDArray[np.intp]) -> ColumnTable:
        """The rows at these places, in this order."""
        return ColumnTable(self.names, len(order), tuple(column.take(order) for column in self.columns))

    def texts(self, positions: Sequence[int]) -> Texts:
        """Some columns as texts, each where it lies."""
        return Texts(tuple(self.columns[j].texts() for j in positions))


@dataclass(frozen=True, eq=False)
class MatrixTable(Table):
    """One dense array or sparse matrix; its columns are x0, x1, … unless they have names."""

    matrix: NDArray[Any] | csr_array | csc_array
    names: Names
    checked: bool = False  # whether the numbers are known to suit the family that will count them
    strict: bool = False  # whether counting and scoring must refuse gaps and the like; see `Numbers`
    binarize_above: float | None = None  # what numbers must be above to stand for 1; see `Numbers`

    @classmethod
    def of(cls, matrix: Any) -> MatrixTable:
        """Name the columns of an array."""
        return cls(matrix, Numbered(matrix.shape[1]))

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """How many rows there are."""
        return int(self.matrix.shape[0])

    def kind(self, position: int) -> Kind:
        """Numbers, unless the whole array is boolean."""
        return "boolean" if self.matrix.dtype == np.bool_ else "number"

    def numbers(self, positions: Sequence[int]) -> Numbers:
        """Runs of neighbouring columns as views; all of them are the matrix itself (a sparse one would be copied)."""
        if isinstance(positions, range) and positions == range(self.matrix.shape[1]):
            return Numbers((self.matrix,), self.strict, self.binarize_above)
        return Numbers(
            tuple(self.matrix[:, start:stop] for start, stop in _runs(positions)), self.strict, self.binarize_above
        )

    def coded(self, positions: Sequence[int]) -> Codes:
        """Small whole numbers are their own codes; other columns are coded one by one."""
        block = self.numbers(positions)
        if len(block.pieces) == 1 and isinstance(self.matrix, np.ndarray) and self.matrix.dtype != np.bool_:
            low, high, whole, _ = kernels.column_range(block.pieces[0])
            if (whole & (low >= 0) & (high < SMALL_CODES)).all():
                return Codes(block.pieces, max_codes=tuple(np.maximum(high, -1.0).astype(np.int64).tolist()))
        for place, strip in block.dense():
            infinite = np.isinf(strip).any(axis=0)
            if infinite.any():
                name = self.names[positions[place.start + int(np.argmax(infinite))]]
                raise InputError(f"column {name!r} holds an infinity: replace it, or mark it as missing.")
        coded = [_distinct(strip[:, j]) for _, strip in block.dense() for j in range(strip.shape[1])]
        return Codes(tuple(codes[:, None] for codes, _ in coded), tuple(values for _, values in coded))

    def texts(self, positions: Sequence[int]) -> Texts:
        """An array of numbers has no texts."""
        raise InputError(f"column {self.names[positions[0]]!r} holds numbers, where text is needed.")

    def present(self, positions: Sequence[int]) -> Numbers:
        """Where some columns have a value; a few columns at a time if the matrix is sparse."""
        return Numbers(tuple(strip == strip for _, strip in self.numbers(positions).dense()))

    def where(self, keep: NDArray[np.bool_]) -> MatrixTable:
        """The rows that are to be kept."""
        matrix = self.matrix.tocsr() if is_sparse(self.matrix) else self.matrix  # type: ignore[union-attr]
        return MatrixTable(matrix[keep], self.names, self.checked, self.strict, self.binarize_above)

    def take(self, order: NDArray[np.intp]) -> MatrixTable:
        """The rows at these places, in this order."""
        matrix = self.matrix.tocsr() if is_sparse(self.matrix) else self.matrix  # type: ignore[union-attr]
        return MatrixTable(matrix[order], self.names, self.checked, self.strict, self.binarize_above)


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Positions as runs of neighbours, in order."""
    if isinstance(positions, range) and positions.step == 1:
        return [(positions.start, positions.stop)]
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + 1)
        else:
            runs.append((position, position + 1))
    return runs


def _distinct(x: NDArray[Any]) -> tuple[NDArray[np.int32], Values]:
    """Codes of the distinct numbers of a column; whole numbers become int, so that 1 and 1.0 are one value."""
    codes = np.full(len(x), -1, dtype=np.int32)
    there = x == x
    distinct, inverse = np.unique(x[there], return_inverse=True)
    codes[there] = inverse
    if distinct.dtype == np.bool_:
        return codes, tuple(distinct.tolist())
    return codes, tuple(int(v) if v == v // 1 and abs(v) < 2**63 else v for v in distinct.tolist())


def _as_number(column: Column) -> NDArray[Any]:
    """A column as numbers; booleans are 0 and 1, a column of gaps is all missing."""
    if column.kind == "string":
        raise InputError(
            f"column {column.name!r} holds text, where numbers are needed: "
            "give it a family for values (Categorical), or turn it into numbers."
        )
    if column.kind == "boolean" and (column.x < 0).any():
        return np.where(column.x < 0, np.nan, column.x.astype(np.float64))
    return column.x


def _as_codes(column: Column) -> tuple[NDArray[Any], Values]:
    """A column as codes and their values."""
    if column.kind == "string" and column.values is None:
        return column.coded
    if column.values is not None:
        return column.x, column.values
    if column.kind == "unknown":
        return np.full(len(column), -1, dtype=np.int32), ()
    if np.isinf(column.x).any():
        raise InputError(f"column {column.name!r} holds an infinity: replace it, or mark it as missing.")
    return _distinct(column.x)
