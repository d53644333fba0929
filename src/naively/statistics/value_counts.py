"""Value counts: how often each value of each column occurs in each class.

    N_jkc = Σ w over rows of class c whose column j has value v_k           (1)

The table is sparse: a value that no row of a class has, has no cell there. A value that no row has any more is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from naively._kernels.cells import Cells, count_codes, count_csr, merge_cells, renumber_cells
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.views import Codes, Value, Values
from naively.statistics.arrays import require, sum_rows
from naively.statistics.base import PLAN, CountPlan, Description, Statistic, ValueTable
from naively.statistics.cells import (
    are_integral,
    cells_of_table,
    check_cells,
    class_of_cells,
    join_columns,
    place_cells,
    refuse_impossible_cells,
    table_of_cells,
)
from naively.statistics.class_weights import ClassWeights

MAX_DENSE_CELLS = 2**22  # class × value tables up to this size are counted dense, 32 MB


def in_order(values: Values | set[Value]) -> Values:
    """Return values sorted; booleans and numbers before strings, so that any mixture has an order."""
    if set(map(type, values)) <= {str}:
        return tuple(sorted(values))  # in half the time
    return tuple(sorted(values, key=lambda v: (isinstance(v, str), v)))


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts(Statistic):
    """For each column its values, sorted; and cells (class, slot), slots numbered through the columns' values.

    >>> colour = ValueCounts.count(np.array(["red", "blue", "red"]), np.array([0, 0, 1]), None, n_classes=2)
    >>> colour.values
    (('blue', 'red'),)
    >>> colour.dense().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    values: tuple[Values, ...]
    cells: Cells

    view = Codes

    @classmethod
    def count(
        cls, x: Codes | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of coded values; equation (1)."""
        labels = np.ascontiguousarray(label, dtype=np.int32)
        codes = Codes.of(x)
        parts = []
        for columns, piece in codes.placed():
            sizes = codes.sizes[columns]
            parts.append((int(sizes.sum()), _count_piece(piece, sizes, labels, weight, n_classes)))
        return cls(codes.values, join_columns(parts, n_classes))._sorted()

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the counts of no columns."""
        return cls((), Cells.empty(classes.n_classes, 1))

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.cells.indptr) - 1

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.values)

    @property
    def offsets(self) -> Wholes:
        """The first slot of each column, and the number of slots."""
        return np.concatenate([[0], np.cumsum([len(values) for values in self.values], dtype=np.int64)])

    @property
    def column(self) -> Index:
        """The column of each cell."""
        return np.searchsorted(self.offsets, self.cells.index, side="right") - 1

    def dense(self, rows: bool = False) -> Floats:
        """Return the dense (class, slot) weights, or numbers of rows."""
        return table_of_cells(self.cells, int(self.offsets[-1]), self.cells.rows if rows else self.cells.sums[0])

    def __add__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        return type(self)(a.values, merge_cells(a.cells, b.cells, 1))

    def __sub__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        cells = refuse_impossible_cells(a.cells, b.cells, merge_cells(a.cells, b.cells, -1), a._column_and_value)
        return type(self)(a.values, cells)._without_unused_values()

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.diff(self.cells.indptr) > 0

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the same counts in another layout of the classes."""
        return type(self)(self.values, place_cells(self.cells, places, n_classes))

    def take_columns(self, order: Index) -> Self:
        """Return the same counts with the columns in another order."""
        values = tuple(self.values[j] if j >= 0 else () for j in order)
        starts = np.concatenate([[0], np.cumsum([len(v) for v in values], dtype=np.int64)])
        offsets = self.offsets
        slots = np.full(int(offsets[-1]), -1, dtype=np.int32)  # of columns that are not taken
        for position, j in enumerate(order):
            if j >= 0:
                slots[offsets[j] : offsets[j + 1]] = np.arange(starts[position], starts[position + 1])
        return self._renumbered(values, slots)

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column)."""
        slot = class_of_cells(self.cells) * self.n_columns + self.column
        return sum_rows(slot, self.cells.sums[0], self.cells.rows, (self.n_classes, self.n_columns))

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless values and cells are sound."""
        require(isinstance(self.values, tuple) and len(self.values) == len(names), "values of columns")
        for values in self.values:
            plain = isinstance(values, tuple) and all(isinstance(v, (str, bool, int, float)) and v == v for v in values)
            require(plain and len(set(values)) == len(values) and in_order(values) == values, "values of a column")
        check_cells(self.cells, n_classes, 1, sum(len(values) for values in self.values))

    def describe(self, column: int) -> list[Description]:
        """Return the values of a column and their weight, in each class."""
        start, stop = self.offsets[column : column + 2].tolist()
        return [
            {"values": [[v, w] for v, w in zip(self.values[column], weights, strict=True) if w]}
            for weights in self.dense()[:, start:stop].tolist()
        ]

    def table(self, column: int) -> ValueTable:
        """Return how often each value of a column was counted."""
        start, stop = self.offsets[column : column + 2].tolist()
        weight, rows = (self.dense(rows)[:, start:stop].T for rows in (False, True))
        return ValueTable(self.values[column], weight, rows.astype(np.int64))

    def is_integral(self) -> bool:
        """Return whether all counts are whole numbers."""
        return are_integral(self.cells)

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the union of their values."""
        if self.values == other.values:
            return self, other
        columns = [_union(a, b) for a, b in zip(self.values, other.values, strict=True)]
        union = tuple(values for values, _, _ in columns)
        starts = np.cumsum([0, *map(len, union)], dtype=np.int64)
        slots = [
            np.concatenate([places + start for places, start in zip(of_columns, starts, strict=False)])
            for of_columns in ([of_a for _, of_a, _ in columns], [of_b for _, _, of_b in columns])
        ]
        a, b = (slot.astype(np.int32) for slot in slots)
        return self._renumbered(union, a), other._renumbered(union, b)

    def _renumbered(self, values: tuple[Values, ...], slots: Codes32) -> Self:
        classes = np.arange(self.n_classes, dtype=np.int32)
        return type(self)(values, renumber_cells(self.cells, classes, slots, self.n_classes))

    def _without_unused_values(self) -> Self:
        used = np.zeros(int(self.offsets[-1]), dtype=bool)
        used[self.cells.index] = True
        if used.all():
            return self
        values = tuple(
            tuple(value for value, keep in zip(values, used[start:], strict=False) if keep)
            for values, start in zip(self.values, self.offsets, strict=False)
        )
        slots = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        return self._renumbered(values, slots)

    def _sorted(self) -> Self:
        """Return the same counts without unused values, the others sorted in each column."""
        counts = self._without_unused_values()
        values = tuple(in_order(column) for column in counts.values)
        if values == counts.values:
            return counts
        start, slots = 0, []
        for before, after in zip(counts.values, values, strict=True):
            position = {value: start + k for k, value in enumerate(after)}
            slots.extend([position[value] for value in before])
            start += len(after)
        return counts._renumbered(values, np.array(slots, dtype=np.int32))

    def _column_and_value(self, slot: int) -> tuple[int, str]:
        column = int(np.searchsorted(self.offsets, slot, side="right")) - 1
        return column, f"value {self.values[column][slot - int(self.offsets[column])]!r}"


def _union(a: Values, b: Values) -> tuple[Values, Codes32, Codes32]:
    """Return the values of two columns, sorted, and the positions of both among them."""
    if a == b:
        return a, np.arange(len(a), dtype=np.int32), np.arange(len(a), dtype=np.int32)
    union = in_order({*a, *b})
    position = {value: k for k, value in enumerate(union)}
    return union, np.array([position[v] for v in a], np.int32), np.array([position[v] for v in b], np.int32)


def _count_piece(codes: Array, sizes: Wholes, label: Codes32, weight: Floats | None, n_classes: int) -> Cells:
    """Count one piece: dense while the table is small, else column by column as a sparse matrix of ones."""
    if n_classes * int(sizes.sum()) <= MAX_DENSE_CELLS:
        sums, rows = count_codes(codes, sizes, label, weight, n_classes)
        return cells_of_table(rows, sums)
    parts = []
    for j, size in enumerate(sizes.tolist()):
        known = np.flatnonzero((codes[:, j] >= 0) & (codes[:, j] < size))
        ones = (np.ones(len(known)), codes[known, j].astype(np.int64), np.arange(len(known) + 1, dtype=np.int64))
        cells = count_csr(ones, size, label[known], None if weight is None else weight[known], n_classes)[0]
        parts.append((size, cells._replace(sums=cells.sums[1:])))
    return join_columns(parts, n_classes)
