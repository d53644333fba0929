"""Token counts: how often each token occurs in each class, and in how many rows.

    N_kc = Σ w x_k     occurrences of token k in rows of class c            (1)
    D_kc = Σ w [x_k ≠ 0]     rows of class c that have token k              (2)

The tokens are the columns of a block (a document-term matrix, or a set of yes/no traits) and a row has a count for
each. The tables are sparse: only counts that are not zero have a cell. Missing entries have cells of their own, so
that "absent" is neither present nor missing. Multinomial, Bernoulli and complement models are estimated from this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from naively._kernels.cells import Cells, Counted, count_csc, count_csr, count_dense, merge_cells, renumber_cells
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names, Numbered, positions_of
from naively.data.views import Numbers, Piece, RefusedEntryError, is_sparse, without_duplicates
from naively.statistics.arrays import NegativeCountError, require
from naively.statistics.base import PLAN, CountPlan, Description, Statistic
from naively.statistics.cells import (
    are_integral,
    cells_of_table,
    check_cells,
    class_of_cells,
    join_columns,
    refuse_impossible_cells,
    table_of_cells,
)
from naively.statistics.class_weights import ClassWeights


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts(Statistic):
    """Tokens, their cells (channels: occurrences, rows' weight), the cells of missing entries, and all rows.

    >>> counts = TokenCounts.count(np.array([[2, 0], [1, 1], [0, 3]]), np.array([0, 0, 1]), None, n_classes=2)
    >>> counts.occurrences().tolist(), counts.documents().tolist()
    ([[3.0, 1.0], [0.0, 3.0]], [[2.0, 1.0], [0.0, 1.0]])
    """

    tokens: Names
    cells: Cells
    missing: Cells
    seen: ClassWeights

    matches_names = True

    @classmethod
    def count(
        cls, x: Numbers | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of numbers; equations (1) and (2)."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        block = Numbers.of(x)
        present, missing = [], []
        for _, piece in block.placed():
            cells, missing_cells, (negative, _) = _count_piece(piece, codes, weight, n_classes, block.binarize_above)
            if block.strict and (negative >= 0 or len(missing_cells.rows)):
                raise RefusedEntryError
            present.append((piece.shape[1], cells))
            missing.append((piece.shape[1], missing_cells))
        tokens = plan.names
        if tokens is None:
            tokens = Numbered(block.n_columns)
            if isinstance(plan.like, TokenCounts) and plan.like.n_tokens == block.n_columns:
                tokens = plan.like.tokens
        return cls(
            tokens,
            join_columns(present, n_classes),
            join_columns(missing, n_classes),
            ClassWeights.count(None, codes, weight, n_classes),
        )

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the counts of no tokens."""
        return cls((), Cells.empty(classes.n_classes, 2), Cells.empty(classes.n_classes, 1), classes)

    @classmethod
    def of_presence(cls, statistic: Statistic, classes: ClassWeights, names: Names) -> Self:
        """Return for each column of a statistic how many rows have a value, as tokens that a row has or not."""
        weight, rows = statistic.rows_present(classes)
        return cls(names, cells_of_table(rows, weight, weight), Cells.empty(classes.n_classes, 1), classes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.seen.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns, which are the tokens."""
        return len(self.tokens)

    @property
    def n_tokens(self) -> int:
        """The number of tokens, counted or not."""
        return len(self.tokens)

    def names_of(self, numbers: Index | Codes32) -> list[str]:
        """Return the tokens of these numbers."""
        return [self.tokens[number] for number in numbers.tolist()]

    def occurrences(self) -> Floats:
        """Return the dense (class, token) table of equation (1)."""
        return table_of_cells(self.cells, self.n_tokens, self.cells.sums[0])

    def documents(self) -> Floats:
        """Return the dense (class, token) table of equation (2)."""
        return table_of_cells(self.cells, self.n_tokens, self.cells.sums[1])

    def __add__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        return type(self)(
            a.tokens,
            merge_cells(a.cells, b.cells, 1),
            merge_cells(a.missing, b.missing, 1),
            a.seen + b.seen,
        )

    def __sub__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        cells = merge_cells(a.cells, b.cells, -1)
        missing = merge_cells(a.missing, b.missing, -1)
        cells = refuse_impossible_cells(a.cells, b.cells, cells, lambda k: (k, f"{a.tokens[k]!r} present"))
        missing = refuse_impossible_cells(a.missing, b.missing, missing, lambda k: (k, f"{a.tokens[k]!r} missing"))
        rest = type(self)(a.tokens, cells, missing, a.seen - b.seen)
        rest._refuse_excess()
        return rest

    def refuse_excess(self, classes: ClassWeights) -> None:
        """Accept all: the rows of each token were compared with all rows when they were subtracted."""

    def _refuse_excess(self) -> None:
        """Refuse a token that is present or missing in more rows than there are: some were never counted."""
        filled = self.cells._replace(sums=self.cells.sums[:1])
        if len(self.missing.rows):
            filled = merge_cells(filled, self.missing, 1)
        owner = class_of_cells(filled)
        excess = filled.rows > self.seen.rows[owner]
        if excess.any():
            first = int(np.argmax(excess))
            c, k = int(owner[first]), int(filled.index[first])
            left = f"{self.tokens[k]!r} present or missing in {filled.rows[first]} of {self.seen.rows[c]} rows"
            raise NegativeCountError(c, k, left)

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return (np.diff(self.cells.indptr) > 0) | (np.diff(self.missing.indptr) > 0)

    def take_columns(self, order: Index) -> Self:
        """Return the same counts with the tokens in another order; a new token is missing in every row so far."""
        places = np.full(self.n_tokens, -1, dtype=np.int32)
        known = np.flatnonzero(order >= 0)
        places[order[known]] = known
        tokens = tuple(self.tokens[k] if k >= 0 else "" for k in order.tolist())
        counts = self._renumbered(tokens, places)
        new = np.flatnonzero(order < 0).astype(np.int32)
        if not len(new):
            return counts
        present = self.seen.rows > 0
        missing_cells = Cells(
            np.concatenate([[0], np.cumsum(present * len(new))]).astype(np.int64),
            np.tile(new, int(present.sum())),
            np.repeat(self.seen.weight[present], len(new))[None, :],
            np.repeat(self.seen.rows[present], len(new)),
        )
        return replace(counts, missing=merge_cells(counts.missing, missing_cells, 1))

    def renamed(self, names: Names) -> Self:
        """Return the same counts with other names of the tokens."""
        return replace(self, tokens=names)

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows in which an entry is not missing, (class, token)."""
        counts = self.missing.sums[0], self.missing.rows
        weight, rows = (table_of_cells(self.missing, self.n_tokens, values) for values in counts)
        return classes.weight[:, None] - weight, classes.rows[:, None] - rows.astype(np.int64)

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless tokens, rows and cells are sound."""
        named = isinstance(self.tokens, Numbered) or (
            isinstance(self.tokens, tuple) and all(isinstance(token, str) for token in self.tokens)
        )
        require(named and self.tokens == names and isinstance(self.seen, ClassWeights), "names of tokens")
        self.seen.check(n_classes)
        check_cells(self.cells, n_classes, 2, self.n_tokens)
        check_cells(self.missing, n_classes, 1, self.n_tokens)

    def describe(self, column: int) -> list[Description]:
        """Return the occurrences of a token, the weight of the rows that have it, and of all rows, in each class."""
        here = self.cells.index == column
        sums = np.zeros((2, self.n_classes))
        sums[:, class_of_cells(self.cells)[here]] = self.cells.sums[:, here]
        return [
            {"occurrences": n, "rows_with": d, "weight": w}
            for n, d, w in zip(*sums.tolist(), self.seen.weight.tolist(), strict=True)
        ]

    def is_integral(self) -> bool:
        """Return whether all counts are whole numbers."""
        return self.seen.is_integral() and are_integral(self.cells, self.missing)

    def token_weight(self) -> float:
        """Return the weight of all pairs of a row and one of its tokens."""
        return float(self.cells.sums[1].sum())

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the union of their tokens: those of self in order, then the others."""
        if self.tokens == other.tokens:
            return self, other
        positions = positions_of(self.tokens)
        for token in other.tokens:
            positions.setdefault(token, len(positions))
        union = tuple(positions)
        places = np.array([positions[token] for token in other.tokens], dtype=np.int32)
        return replace(self, tokens=union), other._renumbered(union, places)

    def _renumbered(self, tokens: Names, places: Codes32) -> Self:
        classes = np.arange(self.n_classes, dtype=np.int32)
        return type(self)(
            tokens,
            renumber_cells(self.cells, classes, places, self.n_classes),
            renumber_cells(self.missing, classes, places, self.n_classes),
            self.seen,
        )


def _count_piece(piece: Piece, label: Codes32, weight: Floats | None, n_classes: int, above: float | None) -> Counted:
    """Return the cells of present and of missing entries in one piece, and the first entry that is negative."""
    if not is_sparse(piece):
        return count_dense(piece, label, weight, n_classes)
    try:
        return _count_sparse(piece, label, weight, n_classes, above)
    except ValueError:  # the drop-ins take matrices as they are, also with duplicate entries
        summed = without_duplicates(piece)
        if summed is piece:
            raise
        return _count_sparse(summed, label, weight, n_classes, above)


def _count_sparse(piece: Piece, label: Codes32, weight: Floats | None, n_classes: int, above: float | None) -> Counted:
    matrix = (piece.data, piece.indices, piece.indptr)
    if piece.format == "csc":
        return count_csc(matrix, label, weight, n_classes)
    return count_csr(matrix, piece.shape[1], label, weight, n_classes, above=above)
