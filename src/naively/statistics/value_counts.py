"""Value counts: how often each value of each column occurs in each class.

    N_jkc = Σ w over rows of class c whose column j has value v_k           (1)

The table is sparse: a value that no row of a class has, has no cell there. A value that no row has any more is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, compress, pairwise
from typing import Self

import numpy as np

from naively._kernels.cells import Cells, count_codes, count_csr, merge_cells, renumber_cells, seen_tokens
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.row_hash import hash_values
from naively.data.views import Codes, Value, Values
from naively.statistics.arrays import require, sum_rows
from naively.statistics.base import PLAN, CountPlan, Description, Statistic, ValueTable
from naively.statistics.cells import (
    are_integral,
    cells_of_table,
    check_cells,
    class_of_cells,
    join_columns,
    numbers_in_groups,
    refuse_impossible_cells,
    split_cells,
    table_of_cells,
)
from naively.statistics.class_weights import ClassWeights

MAX_DENSE_CELLS = 2**22  # class × value tables up to this size are counted dense, 32 MB
MAX_JOINED_ROWS = 64  # columns of so few rows are counted by one call, which costs more than the rows


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
        all_sizes, parts = codes.sizes, []
        if len(labels) <= MAX_JOINED_ROWS and len(codes.pieces) > 1:
            codes = replace(codes, pieces=(np.concatenate(codes.pieces, axis=1),))
        for columns, piece in codes.placed():
            sizes = all_sizes[columns]
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
    def n_slots(self) -> int:
        """The number of values of all columns."""
        return sum(map(len, self.values))

    @property
    def column(self) -> Index:
        """The column of each cell."""
        return np.searchsorted(self.offsets, self.cells.index, side="right") - 1

    def dense(self, rows: bool = False) -> Floats:
        """Return the dense (class, slot) weights, or numbers of rows."""
        return table_of_cells(self.cells, self.n_slots, self.cells.rows if rows else self.cells.sums[0])

    def __add__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        return type(self)(a.values, merge_cells(a.cells, b.cells, 1))

    def __sub__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        cells = refuse_impossible_cells(a.cells, b.cells, merge_cells(a.cells, b.cells, -1), a._column_and_value)
        return type(self)(a.values, cells)._sorted()

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.diff(self.cells.indptr) > 0

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

    @property
    def n_keys(self) -> int:
        """The number of values of all columns."""
        return sum(map(len, self.values))

    def split_by_key(self, n_shards: int) -> list[Self]:
        """Return statistics that add up to this one, the values of each column divided by their hash."""
        shard = [(hash_values(values) % np.uint64(n_shards)).astype(np.uint16) for values in self.values]
        shard_of_slot = np.concatenate([np.zeros(0, np.uint16), *shard])
        cells = self.cells._replace(index=numbers_in_groups(shard_of_slot)[self.cells.index])
        shards = []
        for i, part in enumerate(split_cells(cells, shard_of_slot[self.cells.index], n_shards)):
            pairs = zip(self.values, shard, strict=True)
            shards.append(type(self)(tuple(tuple(compress(v, (s == i).tolist())) for v, s in pairs), part))
        return shards

    def is_integral(self) -> bool:
        """Return whether all counts are whole numbers."""
        return are_integral(self.cells)

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the union of their values."""
        pairs = zip(self.values, other.values, strict=True)
        union = tuple(a if a == b else in_order({*a, *b}) for a, b in pairs)
        return self._over(union), other._over(union)

    def _sorted(self) -> Self:
        """Return the same counts without unused values, the others sorted in each column."""
        used, ends = seen_tokens(self.cells.index, self.n_slots), accumulate(map(len, self.values), initial=0)
        spans = zip(self.values, pairwise(ends), strict=True)
        return self._over(tuple(in_order(tuple(compress(values, used[a:b]))) for values, (a, b) in spans))

    def _over(self, values: tuple[Values, ...]) -> Self:
        """Return the same counts over other values of the columns, among which are all that a row has."""
        if values == self.values:
            return self
        start, slots = 0, []
        for before, after in zip(self.values, values, strict=True):
            position = {value: start + k for k, value in enumerate(after)}
            slots += [position.get(value, -1) for value in before]
            start += len(after)
        return self._renumbered(values, np.array(slots, dtype=np.int32))

    def _renumbered(self, values: tuple[Values, ...], slots: Codes32) -> Self:
        classes = np.arange(self.n_classes, dtype=np.int32)
        return type(self)(values, renumber_cells(self.cells, classes, slots, self.n_classes))

    def _column_and_value(self, slot: int) -> tuple[int, str]:
        column = int(np.searchsorted(self.offsets, slot, side="right")) - 1
        return column, f"value {self.values[column][slot - int(self.offsets[column])]!r}"


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
