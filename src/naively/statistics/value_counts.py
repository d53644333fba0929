"""Value counts: how often each value of each column was seen in each class.

    N_jkc = Σ w over rows of class c whose column j has value v_k           (1)

Kept sparse: a value that a class never showed has no cell there, and a value that no row shows any more is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells
from naively.data.views import Codes, Value, Values
from naively.statistics.base import Statistic
from naively.statistics.cells import class_of_cells, placed, refuse_negative_cells, side_by_side, table_of_cells
from naively.statistics.class_weights import ClassWeights

__all__ = ["ValueCounts", "in_order"]

DENSE_LIMIT = 2**22  # class × value tables up to this size are counted dense, 32 MB


def in_order(values: Values | set[Value]) -> Values:
    """Values sorted; booleans before numbers before strings, so that any mixture has an order."""
    if set(map(type, values)) <= {str}:
        return tuple(sorted(values))  # in half the time
    return tuple(sorted(values, key=lambda v: (isinstance(v, str), v)))


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts(Statistic):
    """For each column its values, sorted; and cells (class, slot), slots numbered through the columns' values.

    >>> colour = ValueCounts.count(np.array(["red", "blue", "red"]), np.array([0, 0, 1]), None, n_classes=2)
    >>> colour.values
    (('blue', 'red'),)
    >>> colour.table().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    values: tuple[Values, ...]
    cells: Cells

    view = Codes

    @classmethod
    def count(
        cls, x: Codes | NDArray[Any], label: NDArray[np.integer], weight: NDArray[np.float64] | None, n_classes: int
    ) -> Self:
        """Count rows of coded values; equation (1)."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        coded = Codes.of(x)
        parts = []
        for place, piece in coded.placed():
            sizes = coded.sizes[place]
            parts.append((int(sizes.sum()), _count_piece(piece, sizes, codes, weight, n_classes)))
        return cls(coded.values, side_by_side(parts, n_classes))._sorted()

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls((), Cells.empty(seen.n_classes, 1))

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return len(self.cells.indptr) - 1

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.values)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first slot of each column, and the number of slots."""
        return np.concatenate([[0], np.cumsum([len(values) for values in self.values], dtype=np.int64)])

    def table(self, rows: bool = False) -> NDArray[np.float64]:
        """Dense (class, slot) weights, or numbers of rows."""
        return table_of_cells(self.cells, int(self.offsets[-1]), self.cells.rows if rows else self.cells.sums[0])

    def column_weight(self) -> NDArray[np.float64]:
        """Weight of the rows that have a value, per class and column."""
        out = np.zeros((self.n_classes, len(self.values)))
        column = np.searchsorted(self.offsets, self.cells.index, side="right") - 1
        np.add.at(out, (class_of_cells(self.cells), column), self.cells.sums[0])
        return out

    def __add__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        return type(self)(mine.values, kernels.merge_cells(mine.cells, theirs.cells, 1))

    def __sub__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        cells = kernels.merge_cells(mine.cells, theirs.cells, -1)
        refuse_negative_cells(cells, theirs.cells, mine._column_of)
        return type(self)(mine.values, cells)._seen_only()

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return np.diff(self.cells.indptr) > 0

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(self.values, placed(self.cells, places, n_classes))

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the columns in another order."""
        values = tuple(self.values[j] if j >= 0 else () for j in order)
        start = np.concatenate([[0], np.cumsum([len(v) for v in values], dtype=np.int64)])
        slots = np.full(int(self.offsets[-1]), -1, dtype=np.int32)  # columns not asked for are gone
        offsets = self.offsets
        for place, j in enumerate(order):
            if j < 0:
                continue
            old = offsets[j]
            slots[old : old + len(values[place])] = np.arange(start[place], start[place + 1])
        return self._renumbered(values, slots)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        if self.values == other.values:
            return self, other
        columns = [_union(a, b) for a, b in zip(self.values, other.values, strict=True)]
        union = tuple(values for values, _, _ in columns)
        starts = np.cumsum([0, *map(len, union)], dtype=np.int64)
        mine, theirs = (
            np.concatenate([places + start for places, start in zip(found, starts, strict=False)]).astype(np.int32)
            for found in ([of_a for _, of_a, _ in columns], [of_b for _, _, of_b in columns])
        )
        return self._renumbered(union, mine), other._renumbered(union, theirs)

    def _laid_out(self, values: tuple[Values, ...]) -> Self:
        """The same counts among more values, or the same values in another order."""
        start = 0
        slots = []
        for mine, wanted in zip(self.values, values, strict=True):
            place = {value: start + k for k, value in enumerate(wanted)}
            slots.extend([place[value] for value in mine])
            start += len(wanted)
        return self._renumbered(values, np.array(slots, dtype=np.int32))

    def _renumbered(self, values: tuple[Values, ...], slots: NDArray[np.int32]) -> Self:
        identity = np.arange(self.n_classes, dtype=np.int32)
        return type(self)(values, kernels.renumber_cells(self.cells, identity, slots, self.n_classes))

    def _seen_only(self) -> Self:
        """Without the values that have no cell left."""
        seen = np.zeros(int(self.offsets[-1]), dtype=bool)
        seen[self.cells.index] = True
        if seen.all():
            return self
        kept = tuple(
            tuple(value for value, keep in zip(values, seen[start:], strict=False) if keep)
            for values, start in zip(self.values, self.offsets, strict=False)
        )
        slots = np.where(seen, np.cumsum(seen) - 1, -1).astype(np.int32)
        return self._renumbered(kept, slots)

    def _sorted(self) -> Self:
        seen = self._seen_only()
        ordered = tuple(in_order(values) for values in seen.values)
        return seen if ordered == seen.values else seen._laid_out(ordered)

    def _column_of(self, slot: int) -> tuple[int, str]:
        column = int(np.searchsorted(self.offsets, slot, side="right")) - 1
        return column, f"value {self.values[column][slot - int(self.offsets[column])]!r}"


def _union(a: Values, b: Values) -> tuple[Values, NDArray[np.int32], NDArray[np.int32]]:
    """The values of two columns, sorted, and where those of each are among them."""
    if a == b:
        return a, np.arange(len(a), dtype=np.int32), np.arange(len(a), dtype=np.int32)
    union = in_order({*a, *b})
    place = {value: k for k, value in enumerate(union)}
    return union, np.array([place[v] for v in a], np.int32), np.array([place[v] for v in b], np.int32)


def _count_piece(
    codes: NDArray[Any],
    sizes: NDArray[np.int64],
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
) -> Cells:
    """Cells of one piece: dense while the table is small, else column by column as a sparse matrix of ones."""
    if n_classes * int(sizes.sum()) <= DENSE_LIMIT:
        sums, rows = kernels.count_codes(codes, sizes, label, weight, n_classes)
        where = np.nonzero(rows)
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(rows, axis=1))]).astype(np.int64)
        return Cells(indptr, where[1].astype(np.int32), sums[where][None, :], rows[where])
    parts = []
    for j, size in enumerate(sizes.tolist()):
        known = np.flatnonzero((codes[:, j] >= 0) & (codes[:, j] < size))
        counted = kernels.count_csr(
            np.ones(len(known)),
            codes[known, j].astype(np.int64),
            np.arange(len(known) + 1, dtype=np.int64),
            size,
            label[known],
            None if weight is None else weight[known],
            n_classes,
        )[0]
        parts.append((size, counted._replace(sums=counted.sums[1:])))
    return side_by_side(parts, n_classes)
