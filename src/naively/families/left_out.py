"""A row scored as if it had not been counted: what the leave-one-out forms of the families share.

    score_c(x) given the counts without the row = score_c(x) of the model refitted without it          (1)

Nothing may leave, too: with weight 0 and as 0 rows, (1) is the score under all counts, column by column.

Counts without the row are counts minus the row, in its own class and in whatever is pooled over the classes. Three
things need care: what only this row had is no longer known; a class that loses its last row in a column takes the
counts of all classes, themselves without the row; and a cell whose last row leaves is zero, not a rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.statistics import Numbers

__all__ = ["FOREVER", "Leaving", "NotCountedError", "Slots", "dense_numbers", "log_of", "others"]

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
FOREVER = np.int64(2**62)  # rows of a value that stays known though no row has it


@dataclass(frozen=True, slots=True, eq=False)
class Leaving:
    """The rows that leave, each alone: their class codes, the weight taken out, and the number of rows it was."""

    label: NDArray[np.intp]
    weight: Floats
    rows: Wholes

    @classmethod
    def of(cls, label: NDArray[Any], weight: NDArray[Any], rows: NDArray[Any]) -> Leaving:
        """As the families are given them."""
        return cls(label.astype(np.intp), weight.astype(np.float64), rows.astype(np.int64))

    @property
    def arrays(self) -> tuple[NDArray[np.int32], Floats, Wholes]:
        """As the core wants them."""
        return self.label.astype(np.int32), self.weight, self.rows


class NotCountedError(ValueError):
    """A row is to leave that was never counted; `row` and `column` are positions, `found` says what would be left."""

    def __init__(self, row: int, class_position: int, column: int | None, found: str) -> None:
        """Say where, and what would be left."""
        super().__init__(found)
        self.row, self.class_position, self.column, self.found = row, class_position, column, found


def dense_numbers(x: Numbers) -> Floats:
    """A block as one (row, column) array of float64; callers bound the rows."""
    strips = [strip.astype(np.float64) for _, strip in x.dense()]
    return strips[0] if len(strips) == 1 else np.concatenate(strips, axis=1)


def others(table: Floats) -> Floats:
    """For each class (first axis) the sum over all other classes: never as a difference, which would cancel."""
    before, after = np.zeros_like(table), np.zeros_like(table)
    before[1:] = np.cumsum(table[:-1], axis=0)
    after[:-1] = np.cumsum(table[:0:-1], axis=0)[::-1]
    return before + after


def log_of(x: Floats) -> Floats:
    """The logarithm, −∞ of zero and of what rounding left below it."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(x, 0.0)))


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """Columns of one value each out of several: counts of every value of every column, and their pseudo-counts.

        θ_kc = (N_kc + α_kc) / (N_c + A_c)      k a value of the column, N_c and A_c sums over the column   (2)

    Slots are numbered through the values of all columns; `lasting` is the number of rows whose leaving makes a slot no
    evidence: those that have the value, or `FOREVER` if it was declared.
    """

    weight: Floats  # (slot, class): N
    rows: Wholes  # (slot, class)
    alpha: Floats  # (slot, class)
    whole_alpha: Floats  # (column, class): A
    starts: NDArray[np.intp]  # (column,): its first slot
    lasting: Wholes  # (slot,)

    def leave_one_out(self, slot: NDArray[np.intp], leaving: Leaving, out: Floats) -> None:
        """Add (2) in logs to `out` (row, column, class), for the slots (row, column); −1 is a missing value."""
        there, at = slot >= 0, np.maximum(slot, 0)
        if not there.any():
            return
        label, taken_rows = leaving.label[:, None], leaving.rows[:, None]
        columns = np.arange(len(self.starts))
        totals, row_totals = self._column_sums(self.weight), self._column_sums(self.rows)
        own, own_rows = self.weight[at, label], self.rows[at, label] - taken_rows
        self._refuse(there, own_rows, own - leaving.weight[:, None], leaving)
        left = np.where(own_rows > 0, np.maximum(own - leaving.weight[:, None], 0.0), 0.0)
        pooled = others(self.weight.T)[label, at] + left
        pooled_total = others(totals.T)[label, columns] + totals[columns, label] - own + left
        empty = (row_totals[columns, label] - taken_rows <= 0) | (totals[columns, label] - own + left <= 0)
        lent = ~(totals > 0)  # (column, class)
        score = self._static(totals, lent)[at]
        for c in np.flatnonzero(lent.any(axis=0)):
            j = np.flatnonzero(lent[:, c])
            score[:, j, c] = self._log(pooled[:, j], pooled_total[:, j], at[:, j], j, np.full((1, 1), c))
        mine = np.where(empty, pooled, left)
        mine_total = np.where(empty, pooled_total, totals[columns, label] - own + left)
        score[np.arange(len(at))[:, None], columns, label] = self._log(mine, mine_total, at, columns, label)
        known = there & (self.lasting[at] - taken_rows > 0)
        out += np.where(known[:, :, None], score, 0.0)

    def _column_sums(self, table: NDArray[Any]) -> NDArray[Any]:
        """Sums over the slots of each column; a column without a slot has none."""
        ends = np.append(self.starts[1:], len(table))
        running = np.concatenate([np.zeros((1, table.shape[1]), table.dtype), np.cumsum(table, axis=0)])
        if table.dtype == np.int64:
            return np.asarray(running[ends] - running[self.starts])
        some = ends > self.starts
        sums = np.zeros((len(ends), table.shape[1]))
        if some.any():  # a column without a slot begins where the next one does
            sums[some] = np.add.reduceat(table, self.starts[some], axis=0)
        return sums

    def _static(self, totals: Floats, lent: NDArray[np.bool_]) -> Floats:
        """Equation (2) in logs of all counts, (slot, class)."""
        column = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.weight))))
        pooled = self.weight.sum(axis=1, keepdims=True)
        counts = np.where(lent[column], pooled, self.weight)
        whole = np.where(lent, totals.sum(axis=1, keepdims=True), totals) + self.whole_alpha
        return log_of(counts + self.alpha) - np.log(np.where(whole > 0, whole, 1.0))[column]

    def _log(
        self, count: Floats, total: Floats, slot: NDArray[np.intp], column: NDArray[np.intp], label: NDArray[np.intp]
    ) -> Floats:
        whole = total + self.whole_alpha[column, label]
        return log_of(count + self.alpha[slot, label]) - np.log(np.where(whole > 0, whole, 1.0))

    def _refuse(self, there: NDArray[np.bool_], rows: Wholes, weight: Floats, leaving: Leaving) -> None:
        """Refuse a row that was never counted, where that can be seen."""
        bad = there & ((rows < 0) | (weight < -1e-9 * (1.0 + leaving.weight[:, None])))
        if bad.any():
            i, j = (int(k) for k in np.argwhere(bad)[0])
            found = f"{rows[i, j]} rows of weight {weight[i, j]:g} with this value"
            raise NotCountedError(i, int(leaving.label[i]), j, found)
