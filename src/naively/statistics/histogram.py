"""Histogram: how often each value, or each bucket of neighbouring values, of a numeric column was seen in each class.

    key(x) = order(x) >> level,   order(x) = bits if x ≥ 0, else bits ^ (2⁶³ − 1)            (1)
    N_kc = Σ w over rows of class c whose value has key k                                    (2)
    level = the smallest at which the keys in use, over all classes, number at most `cap`    (3)

`bits` are those of the nearest float64 as an int64, so that order(x) grows with x (−0.0 is 0.0; NaN is missing).
Level 0 is the exact value; each level joins neighbours in pairs, and buckets are as wide as a share of the value:
at level 44 a factor of 2 holds 2⁸ keys. Values packed far from zero therefore share a bucket sooner than others.
±infinity have keys of their own at every level, and do not fill the cap.

The keys of a part fit at the level of the whole. So the level of a sum is the smallest from both levels up at which
the union fits, and adding is associative and equal to counting all rows at once, bit for bit. What remains after a
subtraction stays at the level of the whole: there, whole − part = rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import HistogramCells
from naively.data.views import Numbers, is_sparse
from naively.statistics.base import NegativeCountError, Statistic
from naively.statistics.class_weights import ClassWeights

__all__ = ["CAP", "Histogram", "cap_for"]

CAP = 4096  # keys of a column: bins are cut at 1 part in 4,096 of the rows or finer, where values differ at all
NO_CAP = 2**30 - 1  # of a histogram without columns, which takes the cap of whatever it is added to


def cap_for(n_columns: int) -> int:
    """The cap for a table of so many numeric columns: about 4,096,000 keys in all, at least 256 in a column.

    >>> cap_for(20), cap_for(1001), cap_for(10_000), cap_for(1_000_000)
    (4096, 2048, 256, 256)
    """
    if n_columns <= 1000:
        return CAP
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
    cap: int = CAP

    @classmethod
    def count(
        cls,
        x: Numbers | NDArray[Any],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
        n_classes: int,
        cap: int = CAP,
        like: Statistic | None = None,
    ) -> Self:
        """Count rows of numbers; equations (1) to (3), from the levels of a histogram on that they will be added to."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        numbers = Numbers.of(x)
        if not any(is_sparse(piece) for piece in numbers.pieces):
            levels = like.cells.levels if isinstance(like, Histogram) and like.n_columns == numbers.n_columns else None
            cells = kernels.count_histogram(numbers.pieces, codes, weight, n_classes, cap, at_least=levels)
            return cls(cells, n_classes, cap)
        strips = [strip for _, strip in numbers.dense()]
        parts = [kernels.count_histogram([s], codes, weight, n_classes, cap) for s in strips]
        return cls(_side_by_side(parts), n_classes, cap)

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls(HistogramCells.empty(0), seen.n_classes, NO_CAP)

    @property
    def n_columns(self) -> int:
        """How many columns it has."""
        return len(self.cells.levels)

    @property
    def column(self) -> NDArray[np.intp]:
        """The column of each cell."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.cells.offsets))

    @property
    def values(self) -> NDArray[np.float64]:
        """The smallest number that each cell's key stands for: at level 0 the value itself."""
        return kernels.key_values(self.cells.keys, self.cells.levels[self.column])[0]

    def column_weight(self) -> NDArray[np.float64]:
        """Weight of the rows that have a value, per class and column."""
        place = self.cells.classes * np.int64(self.n_columns) + self.column
        counted = np.bincount(place, self.cells.weight, minlength=self.n_classes * self.n_columns)
        return counted.reshape(self.n_classes, self.n_columns).astype(np.float64)

    def __add__(self, other: Self) -> Self:
        cap = min(self.cap, other.cap)
        return type(self)(kernels.merge_histograms(self.cells, other.cells, 1, cap), self.n_classes, cap)

    def __sub__(self, other: Self) -> Self:
        cap = min(self.cap, other.cap)
        left = type(self)(kernels.merge_histograms(self.cells, other.cells, -1, cap), self.n_classes, cap)
        left._refuse_negative(other)
        return left

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return np.bincount(self.cells.classes, minlength=self.n_classes) > 0

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew; places rise, so the cells stay in their order."""
        classes = places[self.cells.classes] if len(places) else self.cells.classes
        return type(self)(self.cells._replace(classes=classes.astype(np.int32)), n_classes, self.cap)

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the columns in another order."""
        known, at = order >= 0, np.maximum(order, 0)
        cells = self.cells
        starts = cells.offsets[at] if self.n_columns else np.zeros(len(order), np.int64)
        sizes = np.where(known, np.diff(cells.offsets)[at], 0) if self.n_columns else np.zeros(len(order), np.int64)
        levels = np.where(known, cells.levels[at], 0) if self.n_columns else np.zeros(len(order), np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        chosen = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
        moved = HistogramCells(levels, offsets, *(array[chosen] for array in cells[2:]))
        return type(self)(moved, self.n_classes, self.cap)

    def _refuse_negative(self, taken: Self) -> None:
        cells = self.cells
        slack = 1e-9 * (1.0 + float(taken.cells.weight.max(initial=0.0)))
        bad = (cells.rows < 0) | (cells.weight < -slack)
        if not bad.any():
            return
        first = int(np.argmax(bad))
        found = f"value {self.values[first]:g}: {cells.rows[first]} rows of weight {cells.weight[first]:g}"
        raise NegativeCountError(int(cells.classes[first]), int(self.column[first]), found)


def _side_by_side(parts: list[HistogramCells]) -> HistogramCells:
    """The columns of several parts, one after the other."""
    if not parts:
        return HistogramCells.empty(0)
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, ends, strict=False)]
    arrays = (np.concatenate(arrays) for arrays in zip(*(part[2:] for part in parts), strict=True))
    levels = np.concatenate([part.levels for part in parts])
    return HistogramCells(levels, np.concatenate([np.zeros(1, np.int64), *offsets]), *arrays)
