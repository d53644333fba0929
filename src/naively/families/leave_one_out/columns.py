"""Leave-one-out for columns: of one value out of several, or of numbers that are summed.

A category, a bin and the two sides of a Bernoulli column are values:

    θ_kc = (N_kc + α_kc) / (N_c + A_c)      k a value of the column, N_c and A_c sums over the column   (1)

Without a row, N_kc of its value and class is less by its weight, and so is N_c. Moments and sums without a row are
computed by the same exact arithmetic that counted them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively._kernels import leave_one_out as kernels
from naively._kernels.moments import add_moments, describe_moments
from naively._kernels.types import Codes32, Floats, Index, Wholes
from naively.data.views import Numbers
from naively.families.base import Leaving, NotCountedError
from naively.statistics.moments import STATE_SIZE, Moments
from naively.statistics.sums import ROUNDING, Sums
from naively.statistics.triples import add_triples, as_triple, rounded, two_product


def leave_values_out(cells: kernels.ValueArrays, value: Index, leaving: Leaving, out: Floats) -> None:
    """Add the logarithm of (1) to `out`, (row, column, class); `value` is (row, column), −1 where it is missing."""
    uncounted = kernels.leave_values_out(cells, value, leaving, out)
    if uncounted is not None:
        i, j, rows, weight = uncounted
        raise NotCountedError(i, int(leaving.label[i]), j, f"{rows} rows of weight {weight:g} with this value")


def dense_numbers(x: Numbers) -> Floats:
    """Return a block as one (row, column) array of float64; callers bound the number of rows."""
    pieces = [piece.astype(np.float64) for _, piece in x.dense()]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


def sum_of_others(table: Floats) -> Floats:
    """Return for each class (first axis) the sum over all other classes, without a subtraction that would cancel."""
    before, after = np.zeros_like(table), np.zeros_like(table)
    before[1:] = np.cumsum(table[:-1], axis=0)
    after[:-1] = np.cumsum(table[:0:-1], axis=0)[::-1]
    return before + after


@dataclass(frozen=True, slots=True, eq=False)
class MomentsWithout:
    """Rows, weight, mean and Σ w (x − mean)² of a group and column, without one number each."""

    rows: Wholes
    weight: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(
        cls, stats: Moments, group: Index | Codes32, column: Index, values: Floats, leaving: Leaving
    ) -> MomentsWithout:
        """Take each number out of its group and column by exact arithmetic; missing ones and those of weight 0 stay."""
        leaves = ~np.isnan(values) & (leaving.weight > 0)
        before, taken = stats.weight[group, column], np.where(leaves, leaving.weight, 0.0)
        mean, squares = (table[group, column] for table in stats.mean_and_squares())
        rows, weight = stats.rows[group, column] - np.where(leaves, leaving.rows, 0), before - taken
        i = np.flatnonzero(leaves)
        if len(i):
            state = np.zeros((STATE_SIZE, 1, len(i)))  # of one value about itself: all sums are zero
            state[0], state[1] = taken[i], values[i]
            # A row may leave with part of its weight and as zero rows, which the core would take for nothing.
            n_taken = np.maximum(leaving.rows[i], 1)[None]
            own = np.ascontiguousarray(stats.state[:, group[i], column[i]][:, None])
            n_own = stats.rows[group[i], column[i]][None] + n_taken - leaving.rows[i]
            n_rest, rest = add_moments(n_own, own, n_taken, state, -1)
            rows[i], weight[i] = n_rest[0], rest[0, 0]
            mean[i], squares[i] = (table[0] for table in describe_moments(n_rest, rest))
        negative = (rows < 0) | (weight < -1e-9 * (1.0 + taken))
        if negative.any():
            first = int(np.argmax(negative))
            left = f"{rows[first]} rows of weight {weight[first]:g}"
            raise NotCountedError(first, int(leaving.label[first]), int(column[first]), left)
        return cls(rows, weight, mean, squares)


@dataclass(frozen=True, slots=True, eq=False)
class SumsWithout:
    """Rows, weight and total of each row's class, and weight and total of all, without the row, (row, column)."""

    rows: Wholes
    weight: Floats
    total: Floats
    pooled_weight: Floats
    pooled_total: Floats

    @classmethod
    def of(cls, stats: Sums, values: Floats, leaving: Leaving) -> SumsWithout:
        """Take each row out of its class; in three doubles, so that a large value leaves no rounding error."""
        label, is_present = leaving.label, ~np.isnan(values)
        taken = np.where(is_present, leaving.weight[:, None], 0.0)
        rows = stats.rows[label] - np.where(is_present, leaving.rows[:, None], 0)
        weight = rounded(add_triples(stats.exact_weight[:, label], -as_triple(taken)))
        product, error = two_product(taken, np.where(is_present, values, 0.0))
        parts = stats.parts[:, label]
        rest = add_triples(parts[:3], -np.stack([product, error, np.zeros_like(error)]))
        negative = (rows < 0) | (weight < -1e-9 * (1.0 + taken)) | (rest[0] < -1e-9 * (1.0 + product))
        if negative.any():
            i, j = (int(k) for k in np.argwhere(negative)[0])
            left = f"{rows[i, j]} rows of weight {weight[i, j]:g} that add up to {rest[0][i, j]:g}"
            raise NotCountedError(i, int(label[i]), j, left)
        is_left = (rows > 0) & (np.abs(rest[0]) > ROUNDING * (parts[5] + product))
        weight, total = np.where(rows > 0, weight, 0.0), np.where(is_left, rounded(rest), 0.0)
        others = sum_of_others(stats.weight)[label], sum_of_others(stats.total)[label]
        return cls(rows, weight, total, others[0] + weight, others[1] + total)

    def of_class(self, stats: Sums, leaving: Leaving, c: int) -> tuple[Floats, Floats, Wholes]:
        """Return weight, total and rows of class c without each row, (row, column)."""
        own = (leaving.label == c)[:, None]
        return (
            np.where(own, self.weight, stats.weight[c]),
            np.where(own, self.total, stats.total[c]),
            np.where(own, self.rows, stats.rows[c]),
        )
