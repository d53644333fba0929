"""Leave-one-out for numbers: moments and sums without a row, by the same exact arithmetic that counted them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively.families.base import Leaving, NotCountedError
from naively.families.leave_one_out.base import others
from naively.statistics import Moments, Sums
from naively.statistics.sums import add_pairs, two_product

__all__ = ["MomentsWithout", "SumsWithout"]

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MomentsWithout:
    """Rows, weight, mean and Σ w (x − mean)² of a group without each row in turn, (row, column)."""

    rows: Wholes
    weight: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def own_and_pooled(cls, stats: Moments, values: Floats, leaving: Leaving) -> tuple[MomentsWithout, MomentsWithout]:
        """The class of each row without it, and all classes together."""
        there = ~np.isnan(values) & (leaving.weight > 0)[:, None]
        taken = np.zeros((9, *values.shape))  # one value about itself: all sums are zero
        taken[0], taken[1] = np.where(there, leaving.weight[:, None], 0.0), np.where(there, values, 0.0)
        # A row may leave with part of its weight and as no row at all, which the core would take for nothing.
        away = np.where(there, np.maximum(leaving.rows[:, None], 1), 0)
        more = np.where(there, away - leaving.rows[:, None], 0)
        whole, label = stats.pooled(), leaving.label

        def without(rows: Wholes, state: Floats) -> MomentsWithout:
            left, rest = kernels.add_moments(rows + more, np.ascontiguousarray(state), away, taken, -1)
            bad = (left < 0) | (rest[0] < -1e-9 * (1.0 + taken[0]))
            if bad.any():
                i, j = (int(k) for k in np.argwhere(bad)[0])
                raise NotCountedError(i, int(label[i]), j, f"{left[i, j]} rows of weight {rest[0][i, j]:g}")
            return cls(left, rest[0], *kernels.describe_moments(left, rest))

        own = without(stats.rows[label], stats.state[:, label])
        return own, without(np.repeat(whole.rows, len(values), axis=0), np.repeat(whole.state, len(values), axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class SumsWithout:
    """Rows, weight and total of the own class, and weight and total of all, without each row in turn, (row, column)."""

    rows: Wholes
    weight: Floats
    total: Floats
    whole_weight: Floats
    whole_total: Floats

    @classmethod
    def of(cls, stats: Sums, values: Floats, leaving: Leaving) -> SumsWithout:
        """Take each row out of its class; the total as two doubles, so that a large one leaves no rounding behind."""
        label, there = leaving.label, ~np.isnan(values)
        away = np.where(there, leaving.weight[:, None], 0.0)
        rows = stats.rows[label] - np.where(there, leaving.rows[:, None], 0)
        weight = stats.weight[label] - away
        product = two_product(away, np.where(there, values, 0.0))
        parts = stats.parts[:, label]
        high, low = add_pairs((parts[0], parts[1]), (-product[0], -product[1]))
        bad = (rows < 0) | (weight < -1e-9 * (1.0 + away)) | (high < -1e-9 * (1.0 + product[0]))
        if bad.any():
            i, j = (int(k) for k in np.argwhere(bad)[0])
            found = f"{rows[i, j]} rows of weight {weight[i, j]:g} that add up to {high[i, j]:g}"
            raise NotCountedError(i, int(label[i]), j, found)
        weight, total = np.where(rows > 0, weight, 0.0), np.where(rows > 0, high + low, 0.0)
        return cls(rows, weight, total, others(stats.weight)[label] + weight, others(stats.total)[label] + total)
