"""Histogram: how often each value, or each bucket of neighbouring values, of a numeric column occurs in each class.

    key(x) = order(x) >> level,   order(x) = bits if x ≥ 0, else bits ^ (2⁶³ − 1)            (1)
    N_kc = Σ w over rows of class c whose value has key k                                    (2)
    level = the smallest at which the keys in use, over all classes, number at most `cap`    (3)

`bits` are those of the nearest float64 as an int64, so that order(x) grows with x (−0.0 is 0.0; NaN is missing).
Level 0 is the exact value. Each level joins neighbours in pairs, and the width of a bucket is a share of the value:
at level 44 a factor of 2 holds 2⁸ keys. Values close together and far from zero therefore share a bucket first.
±infinity have keys of their own at every level, which do not count towards the limit.

The keys of a part fit at the level of the whole. So the level of a sum is the smallest from both levels up at which
the union fits. Adding is therefore associative and equal to counting all rows at once, bit for bit. After a
subtraction the rest stays at the level of the whole, where whole − part = rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from naively._kernels.histogram import HistogramCells, count_histogram, key_values, merge_histograms
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.views import Numbers, is_sparse
from naively.statistics.arrays import NegativeCountError, check_array, require, rounding_slack, sum_rows, take
from naively.statistics.base import MAX_KEYS, PLAN, CountPlan, Statistic, ValueTable
from naively.statistics.class_weights import ClassWeights

NO_MAX_KEYS = 2**30 - 1  # of a histogram without columns, which takes the limit of whatever it is added to


def max_keys_for(n_columns: int) -> int:
    """Return the limit for a table of this many columns: about 4,096,000 keys in all, at least 256 in a column.

    >>> max_keys_for(20), max_keys_for(1001), max_keys_for(10_000), max_keys_for(1_000_000)
    (4096, 2048, 256, 256)
    """
    if n_columns <= 1000:
        return MAX_KEYS
    return max(256, 1 << ((4_096_000 // n_columns).bit_length() - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Histogram(Statistic):
    """Cells (column, key, class) with their weight and rows, and the level of each column.

    >>> age = Histogram.count(np.array([31.0, 40, 31, np.nan]), np.array([0, 0, 1, 1]), None, n_classes=2)
    >>> age.values.tolist(), age.cells.classes.tolist(), age.cells.weight.tolist()
    ([31.0, 31.0, 40.0], [0, 1, 0], [1.0, 1.0, 1.0])
    """

    cells: HistogramCells
    n_classes: int
    cap: int = MAX_KEYS  # the limit of the keys of a column; files have this name

    @classmethod
    def count(
        cls, x: Numbers | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of numbers; equations (1) to (3). Start at the levels of a histogram to be added to."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        numbers = Numbers.of(x)
        cap = plan.max_keys
        if not any(is_sparse(piece) for piece in numbers.pieces):
            like = plan.like.part(Histogram) if plan.only_to_add and plan.like is not None else None
            levels = like.cells.levels if like is not None and like.n_columns == numbers.n_columns else None
            cells = count_histogram(numbers.pieces, codes, weight, n_classes, cap, min_level=levels)
            return cls(cells, n_classes, cap)
        strips = [strip for _, strip in numbers.dense()]
        parts = [count_histogram([s], codes, weight, n_classes, cap) for s in strips]
        return cls(_join_columns(parts), n_classes, cap)

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the histogram of no columns."""
        return cls(HistogramCells.empty(0), classes.n_classes, NO_MAX_KEYS)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.cells.levels)

    @property
    def column(self) -> Index:
        """The column of each cell."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.cells.offsets))

    @property
    def values(self) -> Floats:
        """The smallest number that has each cell's key: at level 0 the value itself."""
        return key_values(self.cells.keys, self.cells.levels[self.column])[0]

    def first_of_keys(self) -> Bools:
        """Return for each cell whether it is the first of its key; the cells of a key are neighbours."""
        keys, starts = self.cells.keys, self.cells.offsets[:-1]
        is_first = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
        is_first[starts[starts < len(keys)]] = True
        return is_first

    def sums_by_column(self, x: Floats | Wholes) -> Floats:
        """Return the sum of a number for each cell over the cells of each column."""
        sums, has_cells = np.zeros(self.n_columns), np.diff(self.cells.offsets) > 0
        if has_cells.any():
            sums[has_cells] = np.add.reduceat(x, self.cells.offsets[:-1][has_cells])
        return sums

    def multiples_of(self, step: float) -> Bools:
        """Return for each column whether all values are multiples of a step, as far as they are exact.

        >>> numbers = Numbers.of(np.array([[1.0, 0.5], [4.0, 2.0]]))
        >>> Histogram.count(numbers, np.array([0, 0]), None, n_classes=1).multiples_of(1).tolist()
        [True, False]
        """
        values, _ = key_values(self.cells.keys, self.cells.levels[self.column])
        with np.errstate(invalid="ignore"):
            is_other = ~(np.isfinite(values) & (np.fmod(values, step) == 0))
        return np.asarray((self.cells.levels == 0) & (np.bincount(self.column, is_other, self.n_columns) == 0))

    def __add__(self, other: Self) -> Self:
        cap = min(self.cap, other.cap)
        return type(self)(merge_histograms(self.cells, other.cells, 1, cap), self.n_classes, cap)

    def __sub__(self, other: Self) -> Self:
        cap = min(self.cap, other.cap)
        rest = type(self)(merge_histograms(self.cells, other.cells, -1, cap), self.n_classes, cap)
        slack = rounding_slack(self.cells.weight, other.cells.weight)
        rest._refuse_negative(slack)
        self._refuse_leftovers(other, rest, slack)
        if (rest.cells.weight < 0).any():
            rest = replace(rest, cells=rest.cells._replace(weight=np.maximum(rest.cells.weight, 0.0)))
        return rest

    def with_max_keys(self, cap: int) -> Self:
        """Return the same counts with at most `cap` keys in a column."""
        return type(self)(
            merge_histograms(self.cells, HistogramCells.empty(self.n_columns), 1, cap), self.n_classes, cap
        )

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.bincount(self.cells.classes, minlength=self.n_classes) > 0

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the same counts in another layout of the classes; places ascend, so the cells keep their order."""
        classes = places[self.cells.classes] if len(places) else self.cells.classes
        return type(self)(self.cells._replace(classes=classes.astype(np.int32)), n_classes, self.cap)

    def take_columns(self, order: Index) -> Self:
        """Return the same counts with the columns in another order."""
        cells = self.cells
        starts, sizes, levels = (take(a, order) for a in (cells.offsets[:-1], np.diff(cells.offsets), cells.levels))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        positions = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
        moved = HistogramCells(levels, offsets, *(array[positions] for array in cells[2:]))
        return type(self)(moved, self.n_classes, self.cap)

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column)."""
        return self._weight_and_rows()

    def _weight_and_rows(self) -> tuple[Floats, Wholes]:
        slot = self.cells.classes * np.int64(self.n_columns) + self.column
        return sum_rows(slot, self.cells.weight, self.cells.rows, (self.n_classes, self.n_columns))

    def table(self, column: int) -> ValueTable:
        """Return the weight and rows of each key, by the smallest number that has it."""
        span = slice(int(self.cells.offsets[column]), int(self.cells.offsets[column + 1]))
        values, value = np.unique(self.values[span], return_inverse=True)
        slot = value * np.int64(self.n_classes) + self.cells.classes[span]
        tables = sum_rows(slot, self.cells.weight[span], self.cells.rows[span], (len(values), self.n_classes))
        return ValueTable(tuple(values.tolist()), *tables)

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the cells are sound, in order of column, key and class."""
        cells, p = self.cells, len(names)
        if not (isinstance(cells, HistogramCells) and isinstance(cells.keys, np.ndarray) and cells.keys.ndim == 1):
            raise ValueError("wrong: cells of histograms")
        n = len(cells.keys)
        check_array(cells.levels, np.int64, (p,), "levels of histograms")
        check_array(cells.offsets, np.int64, (p + 1,), "columns of histograms")
        for name, dtype in (("keys", np.int64), ("classes", np.int32), ("weight", np.float64), ("rows", np.int64)):
            check_array(getattr(cells, name), dtype, (n,), f"{name} of histograms")
        sizes = np.diff(cells.offsets)
        require(cells.offsets[0] == 0 and cells.offsets[-1] == n and bool((sizes >= 0).all()), "columns of histograms")
        require(bool(((cells.levels >= 0) & (cells.levels < 64)).all()), "levels of histograms")
        inside = (cells.classes >= 0) & (cells.classes < n_classes) & (cells.rows > 0)
        require(self.n_classes == n_classes and 2 <= self.cap <= 2**24 and bool(inside.all()), "cells of histograms")
        column = np.repeat(np.arange(p), sizes)
        order = np.lexsort((cells.classes, cells.keys, column))
        same = (np.diff(column) == 0) & (cells.keys[1:] == cells.keys[:-1]) & (np.diff(cells.classes) == 0)
        require(bool((order == np.arange(n)).all()) and not same.any(), "order of histograms")

    def _refuse_leftovers(self, subtracted: Self, rest: Self, slack: float) -> None:
        """Refuse to empty a cell of its rows but not of its weight: such a row was never counted."""
        before, taken, after = (part.cells.weight.sum() for part in (self, subtracted, rest))
        if abs(before - taken - after) <= slack:
            return
        tables = [part._weight_and_rows()[0] for part in (self, subtracted, rest)]
        lost = tables[0] - tables[1] - tables[2]
        excess = np.argwhere(np.abs(lost) > slack + 1e-12 * tables[0])
        for c, j in excess[:1].tolist():
            raise NegativeCountError(c, j, f"values of 0 rows and weight {lost[c, j]:g}")

    def _refuse_negative(self, slack: float) -> None:
        cells = self.cells
        negative = (cells.rows < 0) | (cells.weight < -slack)
        if not negative.any():
            return
        first = int(np.argmax(negative))
        left = f"value {self.values[first]:g}: {cells.rows[first]} rows of weight {cells.weight[first]:g}"
        raise NegativeCountError(int(cells.classes[first]), int(self.column[first]), left)


def _join_columns(parts: list[HistogramCells]) -> HistogramCells:
    """Return the columns of several parts, one part after the other."""
    if not parts:
        return HistogramCells.empty(0)
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, ends, strict=False)]
    arrays = (np.concatenate(arrays) for arrays in zip(*(part[2:] for part in parts), strict=True))
    levels = np.concatenate([part.levels for part in parts])
    return HistogramCells(levels, np.concatenate([np.zeros(1, np.int64), *offsets]), *arrays)
