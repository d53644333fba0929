"""A row scored as if it had not been counted: what the leave-one-out forms of the families share.

    score_c(x) given the counts without the row = score_c(x) of the model refitted without it          (1)

Nothing may leave, too: with weight 0 and as 0 rows, (1) is the score under all counts, column by column.

Counts without the row are counts minus the row, in its own class and in whatever is pooled over the classes. Three
things need care: what only this row had is no longer known; a class that loses its last row in a column takes the
counts of all classes, themselves without the row; and a cell whose last row leaves is zero, not a rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import ValueSlots
from naively.families.base import Leaving, NotCountedError
from naively.statistics import Numbers

__all__ = ["FOREVER", "Slots", "dense_numbers", "log_of", "others"]

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
FOREVER = np.int64(2**62)  # rows of a value that stays known though no row has it


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
    starts: Wholes  # (column,): its first slot
    lasting: Wholes  # (slot,)

    def leave_one_out(self, slot: NDArray[np.intp], leaving: Leaving, out: Floats) -> None:
        """Add (2) in logs to `out` (row, column, class), for the slots (row, column); −1 is a missing value."""
        counted = ValueSlots(self.weight, self.rows, self.alpha, self.whole_alpha, self.starts, self.lasting)
        bad = kernels.leave_values_out(counted, slot, leaving.arrays, out)
        if bad is not None:
            i, j, rows, weight = bad
            raise NotCountedError(i, int(leaving.label[i]), j, f"{rows} rows of weight {weight:g} with this value")
