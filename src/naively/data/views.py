"""Views of a table's columns: as numbers, as codes of values, or as texts. Statistics count them.

A view is a tuple of pieces, so that the columns of a frame, slices of an array and a sparse matrix are not copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import is_
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively._kernels.text import Strings

Piece = Any  # an array (row, column), or a CSR or CSC matrix; see `is_sparse`
Value = str | int | float | bool
Values = tuple[Value, ...]


def is_sparse(piece: Piece) -> bool:
    """Return whether a piece is a SciPy sparse array (an implicit zero is the value 0)."""
    return not isinstance(piece, np.ndarray)


def without_duplicates(matrix: Piece) -> Piece:
    """Return a CSR or CSC matrix whose duplicate entries are added up; the matrix itself is not changed."""
    if matrix.has_canonical_format:
        return matrix
    summed = matrix.copy()
    summed.sum_duplicates()
    return summed


def place_columns(pieces: Sequence[Piece], start: int = 0) -> Iterator[tuple[slice, Piece]]:
    """Yield each piece with the positions of its columns, from `start` on."""
    for piece in pieces:
        yield slice(start, start + piece.shape[1]), piece
        start += piece.shape[1]


def single_columns(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the columns of dense pieces, each (row, 1)."""
    return [piece if piece.shape[1] == 1 else piece[:, j : j + 1] for piece in pieces for j in range(piece.shape[1])]


class RefusedEntryError(ValueError):
    """A missing, infinite or (if it would be counted) negative entry of strict numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Columns in pieces (row, column)."""

    pieces: tuple[Piece, ...]

    def placed(self) -> Iterator[tuple[slice, Piece]]:
        """Yield each piece with the positions of its columns."""
        return place_columns(self.pieces)

    @property
    def n_columns(self) -> int:
        """Return the number of columns."""
        return sum(piece.shape[1] for piece in self.pieces)

    def rows(self, start: int, stop: int) -> Self:
        """Return the rows from start to stop."""
        return replace(self, pieces=tuple(piece[start:stop] for piece in self.pieces))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Pieces):
    """Columns of numbers; NaN is a missing value. Each piece is (row, column), dense or sparse.

    `strict` numbers are not checked yet: counting and scoring of tokens raise `RefusedEntryError` at an entry that
    scikit-learn would refuse, because a pass of its own would take half as long as counting. So would binarizing: if
    `binarize_above` is given, the pieces are CSR matrices of strict numbers, which stand for 1 where they are above it.
    """

    strict: bool = False
    binarize_above: float | None = None

    @classmethod
    def of(cls, x: Numbers | NDArray[Any]) -> Numbers:
        """Return a view of one array; a single column may have one axis only."""
        if isinstance(x, Numbers):
            return x
        x = np.asarray(x)
        return cls((x[:, None] if x.ndim == 1 else x,))

    def dense(self, width: int = 64) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield each piece as a dense array; a sparse one a few columns at a time, to bound the memory."""
        assert self.binarize_above is None  # for tokens only
        for place, piece in self.placed():
            if isinstance(piece, np.ndarray):
                yield place, piece
                continue
            by_column = piece.tocsc()
            for start in range(0, piece.shape[1], width):
                strip = by_column[:, start : start + width].toarray()
                yield slice(place.start + start, place.start + start + strip.shape[1]), strip

    def dense_groups(self) -> Iterator[tuple[slice, Sequence[NDArray[Any]]]]:
        """Yield dense arrays and the positions of their columns: all at once, unless a piece is sparse."""
        if any(map(is_sparse, self.pieces)):
            for place, piece in self.dense():
                yield place, (piece,)
        else:
            yield slice(0, self.n_columns), self.pieces

    def columns(self, order: NDArray[np.intp]) -> Numbers:
        """Return columns, each a piece of its own."""
        owner = [(piece, j) for piece in self.pieces for j in range(piece.shape[1])]
        return replace(self, pieces=tuple(piece[:, j : j + 1] for piece, j in (owner[k] for k in order)))


@dataclass(frozen=True, slots=True, eq=False)
class Codes(Pieces):
    """Columns of values: pieces (row, column) of codes, and for each column the value that each code stands for.

    If `max_codes` is given, the codes are the values: whole numbers from 0 to the largest code of their column.
    A code that is negative, NaN or beyond the list is a missing value.
    """

    listed: tuple[Values, ...] = ()
    max_codes: tuple[int, ...] | None = None

    @property
    def values(self) -> tuple[Values, ...]:
        """Return the values of each column's codes."""
        return self.listed if self.max_codes is None else tuple(tuple(range(top + 1)) for top in self.max_codes)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of each column's codes."""
        if self.max_codes is not None:
            return np.array(self.max_codes, dtype=np.int64) + 1
        return np.array([len(values) for values in self.listed], dtype=np.int64)

    @classmethod
    def of(cls, x: Codes | NDArray[Any]) -> Codes:
        """Return a view of one column, with a code for each distinct value."""
        if isinstance(x, Codes):
            return x
        values, codes = np.unique(np.asarray(x), return_inverse=True)
        return cls((codes.astype(np.int32)[:, None],), (tuple(values.tolist()),))


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Columns of texts, each a list of strings (None = missing) or the buffers of an Arrow column."""

    columns: tuple[Sequence[str | None] | Strings, ...]

    @classmethod
    def of(cls, x: Texts | Sequence[str | None]) -> Texts:
        """Return a view of one column."""
        return x if isinstance(x, Texts) else cls((tuple(x),))

    @staticmethod
    def missing(texts: Sequence[str | None] | Strings) -> NDArray[np.bool_]:
        """Return which texts are missing."""
        if isinstance(texts, Strings):
            return texts.missing()
        return np.fromiter(map(is_, texts, repeat(None)), dtype=np.bool_, count=len(texts))

    @staticmethod
    def as_strings(texts: Sequence[str | None] | Strings) -> Sequence[str | None]:
        """Return texts as Python strings."""
        return texts.to_list() if isinstance(texts, Strings) else texts

    def rows(self, start: int, stop: int) -> Texts:
        """Return the rows from start to stop."""
        return Texts(
            tuple(
                texts._replace(offsets=texts.offsets[start : stop + 1], bit_offset=texts.bit_offset + start)
                if isinstance(texts, Strings)
                else texts[start:stop]
                for texts in self.columns
            )
        )
