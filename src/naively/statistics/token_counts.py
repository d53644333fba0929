"""Token counts: how often each token occurs in each class, and in how many rows.

    N_kc = Σ w x_k     occurrences of token k in rows of class c            (1)
    D_kc = Σ w [x_k ≠ 0]     rows of class c that have token k              (2)

The tokens are the columns of a block (a document-term matrix, or a set of yes/no traits) and the row gives a count
for each. Kept sparse: only what is not zero has a cell. A missing entry is counted apart, so that "absent" is what
is neither present nor missing. Multinomial, Bernoulli and complement models are all estimated from this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells
from naively.data.names import Names, Numbered, positions_of
from naively.data.views import Numbers, RefusedEntryError, is_sparse
from naively.statistics.base import NegativeCountError, Statistic
from naively.statistics.cells import class_sums, placed, refuse_negative_cells, side_by_side, table_of_cells
from naively.statistics.class_weights import ClassWeights

__all__ = ["TokenCounts"]


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts(Statistic):
    """Tokens, their cells (channels: occurrences, rows' weight), the cells of missing entries, and the rows.

    >>> counts = TokenCounts.count(np.array([[2, 0], [1, 1], [0, 3]]), np.array([0, 0, 1]), None, n_classes=2)
    >>> counts.occurrences().tolist(), counts.documents().tolist()
    ([[3.0, 1.0], [0.0, 3.0]], [[2.0, 1.0], [0.0, 1.0]])
    """

    tokens: Names
    cells: Cells
    missing: Cells
    seen: ClassWeights

    @classmethod
    def count(
        cls,
        x: Numbers | NDArray[Any],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
        n_classes: int,
        tokens: Names | None = None,
    ) -> Self:
        """Count rows of numbers; equations (1) and (2)."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        block = Numbers.of(x)
        present, missing = [], []
        for _, piece in block.placed():
            cells, gaps, (negative, _) = _count_piece(piece, codes, weight, n_classes, block.binarize_above)
            if block.strict and (negative >= 0 or len(gaps.rows)):
                raise RefusedEntryError
            present.append((piece.shape[1], cells))
            missing.append((piece.shape[1], gaps))
        seen = ClassWeights.count(None, codes, weight, n_classes)
        names = Numbered(block.n_columns) if tokens is None else tokens
        return cls(names, side_by_side(present, n_classes), side_by_side(missing, n_classes), seen)

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls((), Cells.empty(seen.n_classes, 2), Cells.empty(seen.n_classes, 1), seen)

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return self.seen.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.tokens)

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, seen or not."""
        return len(self.tokens)

    def occurrences(self) -> NDArray[np.float64]:
        """Dense (class, token) table of equation (1)."""
        return table_of_cells(self.cells, self.n_tokens, self.cells.sums[0])

    def documents(self) -> NDArray[np.float64]:
        """Dense (class, token) table of equation (2)."""
        return table_of_cells(self.cells, self.n_tokens, self.cells.sums[1])

    def known(self) -> NDArray[np.bool_]:
        """Which tokens any row had."""
        out = np.zeros(self.n_tokens, dtype=np.bool_)
        out[self.cells.index] = True
        return out

    def __add__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        return type(self)(
            mine.tokens,
            kernels.merge_cells(mine.cells, theirs.cells, 1),
            kernels.merge_cells(mine.missing, theirs.missing, 1),
            mine.seen + theirs.seen,
        )

    def __sub__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        cells = kernels.merge_cells(mine.cells, theirs.cells, -1)
        missing = kernels.merge_cells(mine.missing, theirs.missing, -1)
        refuse_negative_cells(cells, theirs.cells, lambda k: (k, f"{mine.tokens[k]!r} present"))
        refuse_negative_cells(missing, theirs.missing, lambda k: (k, f"{mine.tokens[k]!r} missing"))
        self._refuse_leftovers(mine, theirs, cells)
        return type(self)(mine.tokens, cells, missing, mine.seen - theirs.seen)

    @staticmethod
    def _refuse_leftovers(mine: TokenCounts, theirs: TokenCounts, left: Cells) -> None:
        """Refuse a cell whose last row went, but not all of its occurrences: that row was never counted."""
        before, away, after = (class_sums(cells, 0) for cells in (mine.cells, theirs.cells, left))
        if (np.abs(before - away - after) <= 1e-9 * (1.0 + away)).all():
            return
        c = int(np.argmax(np.abs(before - away - after)))
        rest = (mine.occurrences() - theirs.occurrences() - table_of_cells(left, mine.n_tokens, left.sums[0]))[c]
        k = int(np.argmax(np.abs(rest)))
        raise NegativeCountError(c, k, f"{mine.tokens[k]!r} present: 0 rows with {rest[k]:g} occurrences")

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return (np.diff(self.cells.indptr) > 0) | (np.diff(self.missing.indptr) > 0)

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(
            self.tokens,
            placed(self.cells, places, n_classes),
            placed(self.missing, places, n_classes),
            self.seen.place_classes(places, n_classes),
        )

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the tokens in another order; a new token is missing in every row so far."""
        places = np.full(self.n_tokens, -1, dtype=np.int32)
        kept = np.flatnonzero(order >= 0)
        places[order[kept]] = kept
        tokens = tuple(self.tokens[k] if k >= 0 else "" for k in order.tolist())
        moved = self._renumbered(tokens, places)
        new = np.flatnonzero(order < 0).astype(np.int32)
        if not len(new):
            return moved
        there = self.seen.rows > 0
        gaps = Cells(
            np.concatenate([[0], np.cumsum(there * len(new))]).astype(np.int64),
            np.tile(new, int(there.sum())),
            np.repeat(self.seen.weight[there], len(new))[None, :],
            np.repeat(self.seen.rows[there], len(new)),
        )
        return replace(moved, missing=kernels.merge_cells(moved.missing, gaps, 1))

    def renamed(self, tokens: Names) -> Self:
        """The same counts with other names for the tokens."""
        return replace(self, tokens=tokens)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        """Both over the union of their tokens: mine in my order, then what only the other has."""
        if self.tokens == other.tokens:
            return self, other
        place = positions_of(self.tokens)
        for token in other.tokens:
            place.setdefault(token, len(place))
        union = tuple(place)
        theirs = np.array([place[token] for token in other.tokens], dtype=np.int32)
        return (
            type(self)(union, self.cells, self.missing, self.seen),
            other._renumbered(union, theirs),
        )

    def _renumbered(self, tokens: Names, places: NDArray[np.int32]) -> Self:
        classes = np.arange(self.n_classes, dtype=np.int32)
        return type(self)(
            tokens,
            kernels.renumber_cells(self.cells, classes, places, self.n_classes),
            kernels.renumber_cells(self.missing, classes, places, self.n_classes),
            self.seen,
        )


def _count_piece(
    piece: Any, label: NDArray[np.int32], weight: NDArray[np.float64] | None, n_classes: int, above: float | None
) -> kernels.Counted:
    """Cells of present and of missing entries in one piece, and what is odd about it."""
    if not is_sparse(piece):
        return kernels.count_dense(piece, label, weight, n_classes)
    arrays = (piece.data, piece.indices, piece.indptr)
    if piece.format == "csc":
        return kernels.count_csc(*arrays, label, weight, n_classes)
    return kernels.count_csr(*arrays, piece.shape[1], label, weight, n_classes, above=above)
