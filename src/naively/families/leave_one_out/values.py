"""Leave-one-out for values: a column of them as slots, columns that share a distribution as rolls of one die."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively.families.base import Leaving, NotCountedError
from naively.families.leave_one_out.base import FOREVER, Slots
from naively.families.leave_one_out.tokens import Entries, Tokens, multinomial_left_out
from naively.families.multinomial import multinomial_form
from naively.statistics import Codes, Values

__all__ = ["CountedValues", "shared_left_out", "slots_of", "values_as_slots"]


@dataclass(frozen=True, slots=True, eq=False)
class CountedValues:
    """The values of a column, seen and declared, with weight and rows (value, class) and their pseudo-counts."""

    values: Values
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]
    alpha: NDArray[np.float64]  # (), (value,) or (value, class)
    declared: frozenset[object]

    @property
    def full_alpha(self) -> NDArray[np.float64]:
        """Pseudo-counts as (value, class)."""
        alpha = self.alpha[:, None] if self.alpha.ndim == 1 else self.alpha
        return np.broadcast_to(alpha, self.weight.shape)

    @property
    def fades(self) -> NDArray[np.bool_]:
        """Which values are known only while some row has them."""
        return np.array([value not in self.declared for value in self.values], dtype=np.bool_)


def slots_of(x: Codes, columns: Sequence[CountedValues], leaving: Leaving) -> NDArray[np.intp]:
    """The slot of each value (row, column), −1 where it is missing; columns that share one list share its slots."""
    starts = np.cumsum([0, *(len(column.values) for column in columns)])
    parts, names = [], x.values
    for place, codes in x.placed():
        slot = np.full(codes.shape, -1, dtype=np.intp)
        for i, j in enumerate(range(place.start, place.stop)):
            k = j if len(columns) > 1 else 0
            number = {value: int(starts[k]) + n for n, value in enumerate(columns[k].values)}
            to_slot = np.array([number.get(value, -1) for value in names[j]], dtype=np.intp)
            there = np.flatnonzero((codes[:, i] >= 0) & (codes[:, i] < len(to_slot)))  # NaN is neither
            slot[there, i] = to_slot[codes[there, i].astype(np.intp)]
            strange = there[(slot[there, i] < 0) & (leaving.rows[there] + leaving.weight[there] > 0)]
            if len(strange):
                first = int(strange[0])
                found = f"-1 rows with the value {names[j][int(codes[first, i])]!r}"
                raise NotCountedError(first, int(leaving.label[first]), j, found)
        parts.append(slot)
    return np.concatenate(parts, axis=1)


def values_as_slots(columns: Sequence[CountedValues]) -> Slots:
    """Columns with a distribution each."""
    starts = np.cumsum([0, *(len(column.values) for column in columns)])[:-1]
    rows = np.concatenate([column.rows for column in columns])
    fades = np.concatenate([column.fades for column in columns])
    return Slots(
        weight=np.concatenate([column.weight for column in columns]),
        rows=rows,
        alpha=np.concatenate([column.full_alpha for column in columns]),
        whole_alpha=np.stack([column.full_alpha.sum(axis=0) for column in columns]),
        starts=starts.astype(np.intp),
        lasting=np.where(fades, rows.sum(axis=1), FOREVER),
    )


def shared_left_out(values: CountedValues, slot: NDArray[np.intp], leaving: Leaving) -> NDArray[np.float64]:
    """Columns with one distribution: a row has each value as often as columns show it."""
    n_values, n_classes = values.weight.shape
    row, column = np.nonzero(slot >= 0)
    pair, times = np.unique(row * np.int64(max(n_values, 1)) + slot[row, column], return_counts=True)
    entry_row, entry_value = np.divmod(pair, max(n_values, 1))
    entries = Entries(entry_row, entry_value, times.astype(np.float64), len(slot), times.astype(np.int64))
    label, value = np.nonzero(values.rows.T)
    ends = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=n_classes))]).astype(np.int64)
    weight = np.ascontiguousarray(values.weight[value, label][None, :])
    cells = Cells(ends, value.astype(np.int32), weight, values.rows[value, label])
    alpha = np.broadcast_to(values.alpha, (n_values,)) if values.alpha.ndim < 2 else values.alpha
    every = np.ones(n_values, dtype=np.bool_)
    tokens = Tokens(cells, alpha, values.full_alpha.sum(axis=0), every, fades=values.fades, shrinks=True)
    return multinomial_left_out(entries, tokens, lambda: multinomial_form(cells, alpha, every, every), leaving)
