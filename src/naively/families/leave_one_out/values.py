"""Leave-one-out for columns of one value out of several: categories, bins, and the two sides of a Bernoulli column.

    θ_kc = (N_kc + α_kc) / (N_c + A_c)      k a value of the column, N_c and A_c sums over the column   (1)

Without a row, N_kc of its value and class is less by its weight, and so is N_c. Columns that share one distribution
are a multinomial over the values: each value of the row is a draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from naively._kernels.leave_one_out import ValueArrays, leave_values_out
from naively._kernels.types import Bools, Floats, Index, Wholes
from naively.data.views import Codes, Values
from naively.families.base import Leaving, NotCountedError
from naively.families.leave_one_out.tokens import CountedTokens, TokenRows, leave_rows_out
from naively.statistics.cells import cells_of_table

NEVER_VANISHES = np.int64(2**62)  # rows of a value that stays known though no row has it


@dataclass(frozen=True, slots=True, eq=False)
class ValueCells:
    """Counts and pseudo-counts of every value of every column, in slots numbered through the columns."""

    weight: Floats  # (slot, class): N
    rows: Wholes  # (slot, class)
    alpha: Floats  # (slot, class)
    column_alpha: Floats  # (column, class): A
    starts: Index  # (column,): its first slot
    rows_until_unknown: Wholes  # (slot,): when this many rows leave, the value is no evidence any more

    def leave_one_out(self, slot: Index, leaving: Leaving, out: Floats) -> None:
        """Add the logarithm of (1) to `out` (row, column, class), for slots (row, column); −1 is a missing value."""
        slots = ValueArrays(self.weight, self.rows, self.alpha, self.column_alpha, self.starts, self.rows_until_unknown)
        uncounted = leave_values_out(slots, slot, leaving.arrays, out)
        if uncounted is not None:
            i, j, rows, weight = uncounted
            raise NotCountedError(i, int(leaving.label[i]), j, f"{rows} rows of weight {weight:g} with this value")


@dataclass(frozen=True, slots=True, eq=False)
class CountedValues:
    """The values of a column, counted and declared, with weight and rows (value, class) and their pseudo-counts."""

    values: Values
    weight: Floats
    rows: Wholes
    alpha: Floats  # (), (value,) or (value, class)
    declared: frozenset[object]

    @property
    def full_alpha(self) -> Floats:
        """Pseudo-counts as (value, class)."""
        alpha = self.alpha[:, None] if self.alpha.ndim == 1 else self.alpha
        return np.broadcast_to(alpha, self.weight.shape)

    @property
    def vanishes(self) -> Bools:
        """Which values are known only while some row has them."""
        return np.array([value not in self.declared for value in self.values], dtype=np.bool_)


def slots_of(x: Codes, columns: Sequence[CountedValues], leaving: Leaving) -> Index:
    """Return the slot of each value (row, column), −1 where it is missing; columns that share one list share slots."""
    starts = np.cumsum([0, *(len(column.values) for column in columns)])
    parts, values = [], x.values
    for columns_of_piece, codes in x.placed():
        slot = np.full(codes.shape, -1, dtype=np.intp)
        for i, j in enumerate(range(columns_of_piece.start, columns_of_piece.stop)):
            k = j if len(columns) > 1 else 0
            number = {value: int(starts[k]) + n for n, value in enumerate(columns[k].values)}
            slot_of_code = np.array([number.get(value, -1) for value in values[j]], dtype=np.intp)
            present = np.flatnonzero((codes[:, i] >= 0) & (codes[:, i] < len(slot_of_code)))  # NaN is neither
            slot[present, i] = slot_of_code[codes[present, i].astype(np.intp)]
            unknown = present[(slot[present, i] < 0) & (leaving.rows[present] + leaving.weight[present] > 0)]
            if len(unknown):
                first = int(unknown[0])
                left = f"-1 rows with the value {values[j][int(codes[first, i])]!r}"
                raise NotCountedError(first, int(leaving.label[first]), j, left)
        parts.append(slot)
    return np.concatenate(parts, axis=1)


def value_cells(columns: Sequence[CountedValues]) -> ValueCells:
    """Return the cells of columns with a distribution each."""
    starts = np.cumsum([0, *(len(column.values) for column in columns)])[:-1]
    rows = np.concatenate([column.rows for column in columns])
    vanishes = np.concatenate([column.vanishes for column in columns])
    return ValueCells(
        weight=np.concatenate([column.weight for column in columns]),
        rows=rows,
        alpha=np.concatenate([column.full_alpha for column in columns]),
        column_alpha=np.stack([column.full_alpha.sum(axis=0) for column in columns]),
        starts=starts.astype(np.intp),
        rows_until_unknown=np.where(vanishes, rows.sum(axis=1), NEVER_VANISHES),
    )


def leave_shared_values_out(values: CountedValues, slot: Index, leaving: Leaving) -> Floats:
    """Return scores (row, class) of columns with one distribution: a row has a value as often as columns have it."""
    n_values = max(len(values.weight), 1)
    row, column = np.nonzero(slot >= 0)
    pair, times = np.unique(row * np.int64(n_values) + slot[row, column], return_counts=True)
    row, value = np.divmod(pair, n_values)
    rows = TokenRows.of(row, value, times.astype(np.float64), len(slot), times.astype(np.int64))
    alpha = values.alpha if values.alpha.ndim == 2 else np.broadcast_to(values.alpha, (len(values.weight),))
    known = np.ones(len(values.weight), dtype=np.bool_)
    cells = cells_of_table(values.rows.T, values.weight.T)
    return leave_rows_out(rows, CountedTokens(cells, alpha, known, values.vanishes, alpha_vanishes_too=True), leaving)
