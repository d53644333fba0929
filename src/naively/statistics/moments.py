"""Moments: number, sum and sum of squares of each column in each class, about a shift, in triple-double.

    n = Σ w,    s₁ = Σ w (x − c),    s₂ = Σ w (x − c)²                      (1)
    mean = c + s₁/n                                                         (2)
    Σ w (x − mean)² = s₂ − s₁²/n                                            (3)
    about c′ = c + δ:   s₁′ = s₁ − nδ,   s₂′ = s₂ − 2δs₁ + nδ²              (4)

x − c and its square are split into doubles without error and summed as three doubles each, so that moments can be
added and subtracted like counts: no split or order of the rows changes the variance by more than a rounding,
and an outlier of 10⁹ can be counted and forgotten. (Two doubles are not enough for that: 10¹⁸ · 2⁻¹⁰⁶ ≈ 10⁻¹⁴.)
Source: Ogita, Rump & Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005) 1955–1988;
Chan, Golub & LeVeque, Algorithms for computing the sample variance, Am. Stat. 37 (1983) 242–247.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively.data.views import Numbers
from naively.statistics.base import Statistic, moved, refuse_negative, taken
from naively.statistics.class_weights import ClassWeights

__all__ = ["LARGEST", "Moments", "TooLargeError"]

TOGETHER = 8  # columns that are laid side by side at a time, which bounds the memory
LARGEST = 1e150  # the square of anything larger is close to overflow


class TooLargeError(ValueError):
    """A column holds an infinity, or a value beyond `LARGEST`."""

    def __init__(self, column: int, found: float) -> None:
        """Say where, and what was found."""
        super().__init__(f"found {found}")
        self.column = column
        self.found = found


@dataclass(frozen=True, slots=True, eq=False)
class Moments(Statistic):
    """Moments per class and column; `state` holds n, c, s₁ (three), s₂ (three) and the largest |x − c| counted.

    >>> m = Moments.count(np.array([1e9 + 1, 1e9 + 2, 1e9 + 4]), np.array([0, 0, 1]), None, n_classes=2)
    >>> m.mean.ravel().tolist(), m.squares.ravel().tolist()
    ([1000000001.5, 1000000004.0], [0.5, 0.0])
    """

    rows: NDArray[np.int64]
    state: NDArray[np.float64]

    @classmethod
    def count(
        cls, x: Numbers | NDArray[Any], label: NDArray[np.integer], weight: NDArray[np.float64] | None, n_classes: int
    ) -> Self:
        """Count rows of numbers; equation (1)."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        parts = []
        for place, piece in _side_by_side(Numbers.of(x)):
            array = piece if piece.dtype in (np.float64, np.float32) else piece.astype(np.float64)
            rows, state, largest = kernels.count_moments(array, codes, weight, n_classes)
            if not (largest <= LARGEST).all():
                column = int(np.argmax(~(largest <= LARGEST)))
                raise TooLargeError(place.start + column, float(largest[column]))
            parts.append((rows, state))
        if len(parts) == 1:
            return cls(*parts[0])
        if not parts:
            return cls(np.zeros((n_classes, 0), np.int64), np.zeros((9, n_classes, 0)))
        return cls(np.concatenate([r for r, _ in parts], axis=1), np.concatenate([s for _, s in parts], axis=2))

    @classmethod
    def empty(cls, seen: ClassWeights) -> Self:
        """Of rows in which no column was looked at."""
        return cls(np.zeros((seen.n_classes, 0), np.int64), np.zeros((9, seen.n_classes, 0)))

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])

    @property
    def weight(self) -> NDArray[np.float64]:
        """Sum of weights, per class and column."""
        return np.asarray(self.state[0])

    @property
    def mean(self) -> NDArray[np.float64]:
        """Equation (2), per class and column; 0 where there are no rows."""
        return self.describe()[0]

    @property
    def squares(self) -> NDArray[np.float64]:
        """Equation (3), per class and column."""
        return self.describe()[1]

    def describe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equations (2) and (3) at once."""
        return kernels.describe_moments(self.rows, self.state)

    def pooled(self) -> Self:
        """The moments of all classes together, as one class."""
        return type(self)(*kernels.pool_moments(self.rows, self.state))

    def unrecoverable(self) -> NDArray[np.bool_]:
        """Columns in which more was once counted than the digits kept can tell from what is left.

        The triple-double sums are good to 2⁻¹⁵⁰ of the largest square ever in them.
        """
        mean, squares = self.describe()
        error = 2.0**-150 * np.square(np.minimum(self.state[8], 1e150)) * np.maximum(self.weight, 1.0)
        lost = (error > 1e-8 * squares) & (error > 1e-16 * self.weight * np.square(mean)) & (self.rows > 0)
        lost &= (squares > 0) | (mean != 0) | (error > 1e-30)  # what is left may be zeros, and exactly so
        return np.asarray(lost.any(axis=0), dtype=np.bool_)

    def __add__(self, other: Self) -> Self:
        return type(self)(*kernels.add_moments(self.rows, self.state, other.rows, other.state, 1))

    def __sub__(self, other: Self) -> Self:
        rows, state = kernels.add_moments(self.rows, self.state, other.rows, other.state, -1)
        refuse_negative(rows, state[0], other.weight)
        return type(self)(rows, state)

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return np.asarray((self.rows > 0).any(axis=1))

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return type(self)(moved(self.rows, places, n_classes, 0), moved(self.state, places, n_classes, 1))

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with the columns in another order."""
        return type(self)(taken(self.rows, order), taken(self.state, order))


def _side_by_side(numbers: Numbers) -> Iterator[tuple[slice, NDArray[Any]]]:
    """The pieces, dense; single columns some at a time, because the core counts four columns as fast as one."""
    waiting: list[NDArray[Any]] = []
    start = 0
    for place, piece in numbers.dense():
        if waiting and (piece.shape[1] > 1 or len(waiting) == TOGETHER):
            yield slice(start, place.start), _joined(waiting)
            waiting = []
        if piece.shape[1] > 1:
            yield place, piece
            continue
        start = start if waiting else place.start
        waiting.append(piece[:, 0])
    if waiting:
        yield slice(start, start + len(waiting)), _joined(waiting)


def _joined(columns: list[NDArray[Any]]) -> NDArray[Any]:
    return columns[0][:, None] if len(columns) == 1 else np.stack(columns).T
