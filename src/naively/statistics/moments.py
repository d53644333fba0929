"""Moments: weight, sum and sum of squares of each column in each class, about a shift, in triple-double.

    n = Σ w,    s₁ = Σ w (x − c),    s₂ = Σ w (x − c)²                      (1)
    mean = c + s₁/n                                                         (2)
    Σ w (x − mean)² = s₂ − s₁²/n                                            (3)
    about c′ = c + δ:   s₁′ = s₁ − nδ,   s₂′ = s₂ − 2δs₁ + nδ²              (4)

x − c and its square are split into doubles without error. All sums are three doubles each, so that moments can be
added and subtracted like counts. No split or order of the rows changes the variance by more than a rounding, and an
outlier of 10⁹ can be counted and forgotten. (Two doubles are not enough for that: 10¹⁸ · 2⁻¹⁰⁶ ≈ 10⁻¹⁴.)
Source: Ogita, Rump & Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005) 1955–1988;
Chan, Golub & LeVeque, Algorithms for computing the sample variance, Am. Stat. 37 (1983) 242–247.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from naively._kernels.moments import add_moments, count_moments, describe_moments, pool_moments
from naively._kernels.types import Array, Bools, Floats, Wholes
from naively.data.views import Numbers
from naively.statistics.arrays import NegativeCountError, refuse_negative
from naively.statistics.base import PLAN, ArrayStatistic, CountPlan, Description
from naively.statistics.triples import scale_triple

COLUMNS_AT_A_TIME = 8  # single columns that are copied side by side, which bounds the memory
MAX_MAGNITUDE = 1e150  # the square of anything larger is close to overflow
STATE_SIZE = 12
WEIGHT_PARTS = [0, 9, 10]  # positions in the state
COUNT_ERROR = 2.0**-90  # of the weight: the bound of the error of a count without weights, see core/moments/moments.hpp


class TooLargeError(ValueError):
    """A column holds an infinity, or a number beyond `MAX_MAGNITUDE`."""

    def __init__(self, column: int, value: float) -> None:
        """Store the position of the column and the number."""
        super().__init__(f"value {value}")
        self.column = column
        self.value = value


@dataclass(frozen=True, slots=True, eq=False)
class Moments(ArrayStatistic):
    """Moments per class and column; `state` holds n, c, s₁ (three), s₂ (three), the largest |x − c| and more.

    The last three are the lower parts of n (two) and a bound of the error of n. Times the largest |x − c|, and times
    its square, it bounds the errors of s₁ and s₂. So a spread of zero is known from what rounding leaves.

    >>> m = Moments.count(np.array([1e9 + 1, 1e9 + 2, 1e9 + 4]), np.array([0, 0, 1]), None, n_classes=2)
    >>> m.mean.ravel().tolist(), m.squares.ravel().tolist()
    ([1000000001.5, 1000000004.0], [0.5, 0.0])
    """

    rows: Wholes
    state: Floats

    leading: ClassVar[Mapping[str, tuple[int, ...]]] = {"rows": (), "state": (STATE_SIZE,)}

    @classmethod
    def count(
        cls, x: Numbers | Array, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count rows of numbers; equation (1)."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        parts = []
        for columns, piece in _several_columns(Numbers.of(x)):
            array = piece if piece.dtype in (np.float64, np.float32) else piece.astype(np.float64)
            rows, state, largest = count_moments(array, codes, weight, n_classes)
            if not (largest <= MAX_MAGNITUDE).all():
                column = int(np.argmax(~(largest <= MAX_MAGNITUDE)))
                raise TooLargeError(columns.start + column, float(largest[column]))
            parts.append((rows, state))
        if len(parts) == 1:
            return cls(*parts[0])
        if not parts:
            return cls(np.zeros((n_classes, 0), np.int64), np.zeros((STATE_SIZE, n_classes, 0)))
        return cls(np.concatenate([r for r, _ in parts], axis=1), np.concatenate([s for _, s in parts], axis=2))

    @property
    def weight(self) -> Floats:
        """The sum of weights, per class and column."""
        return np.asarray(self.state[0])

    @property
    def exact_weight(self) -> Floats:
        """The sum of weights as three doubles, (3, class, column)."""
        return self.state[WEIGHT_PARTS]

    @property
    def mean(self) -> Floats:
        """Equation (2), per class and column; 0 where there are no rows."""
        return self.mean_and_squares()[0]

    @property
    def squares(self) -> Floats:
        """Equation (3), per class and column."""
        return self.mean_and_squares()[1]

    def mean_and_squares(self) -> tuple[Floats, Floats]:
        """Return equations (2) and (3), per class and column."""
        return describe_moments(self.rows, self.state)

    def pooled(self) -> Self:
        """Return the moments of all classes together, as one class."""
        return type(self)(*pool_moments(self.rows, self.state))

    def __add__(self, other: Self) -> Self:
        return type(self)(*add_moments(self.rows, self.state, other.rows, other.state, 1))

    def __sub__(self, other: Self) -> Self:
        rows, state = add_moments(self.rows, self.state, other.rows, other.state, -1)
        is_empty = rows == 0
        refuse_negative(rows, np.where(is_empty, self.weight - other.weight, state[0]), other.weight)
        self._refuse_impossible(other, rows, state)
        return type(self)(rows, state)

    def _refuse_impossible(self, subtracted: Self, rows: Wholes, rest: Floats) -> None:
        """Refuse to leave moments that no numbers within the reach have: those that are subtracted were never counted.

        |s₁| ≤ n·r,   s₁²/n ≤ s₂ ≤ n·r²,   with equality on the left for one row, and no difference for none   (5)
        """
        shift, reach = self.state[1], self.state[8]
        reach = reach + 1e-9 * (reach + np.abs(shift))  # a logarithm may differ in its last digit
        n, s1, s2 = rest[0], rest[2], rest[5]
        other_mean, other_squares = subtracted.mean_and_squares()
        is_last = (rows == 0) & (subtracted.rows > 0)
        with np.errstate(all="ignore"):
            slack = 1e-12 * self.weight  # two rows may leave as one with the rounded sum of their weights
            most, spread = n + slack, (s2 - s1 * s1 / np.maximum(n, slack)) / np.square(reach)
            outside = other_squares > subtracted.weight * (reach + other_mean - shift) * (reach - other_mean + shift)
            beyond = (np.abs(s1) > most * reach) | (s2 > most * reach * reach) | (spread < -slack)
            beyond |= (rows == 1) & (spread > slack)
            if is_last.any():
                mean, squares = self.mean_and_squares()
                differs = (np.abs(mean - other_mean) > 1e-9 * reach) | (
                    np.abs(squares - other_squares) > 1e-9 * self.weight * reach * reach
                )
                beyond = np.where(is_last, differs, beyond)
        impossible = (subtracted.rows > 0) & (outside | beyond)
        if impossible.any():
            c, j = np.argwhere(impossible)[0]
            at = (int(c), int(j))
            if rows[at] == 0:
                left = f"0 rows, but numbers of mean {self.mean[at]:g} are not those of mean {other_mean[at]:g}"
            else:
                weight = max(n[at], slack[at])
                variance = (s2[at] - s1[at] ** 2 / weight) / weight
                left = f"{rows[at]} rows of mean {shift[at] + s1[at] / weight:g} and variance {variance:g}"
            raise NegativeCountError(*at, left)

    def scaled(self, factor: float) -> Self:
        """Return the moments with all weights multiplied; the shift and the largest |x − c| stay."""
        state = self.state.copy()
        for parts in (WEIGHT_PARTS, [2, 3, 4], [5, 6, 7]):
            state[parts] = scale_triple(self.state[parts], factor)
        state[11] *= factor
        return replace(self, state=state)

    def without_unused(self) -> Self:
        """Return the same moments, without the last three of the state if they are those of a count without weights."""
        is_plain = (self.state[9:11] == 0).all() and (self.state[11] <= 2 * COUNT_ERROR * self.state[0]).all()
        return replace(self, state=self.state[:9]) if is_plain else self

    def repaired(self) -> Self:
        """Return the moments with what `without_unused` left out, as early versions did."""
        if not (isinstance(self.state, np.ndarray) and self.state.ndim == 3 and len(self.state) == 9):
            return self
        rest = np.zeros((3, *self.state.shape[1:]))
        rest[2] = COUNT_ERROR * self.state[0]
        return replace(self, state=np.concatenate([self.state, rest]))

    def describe(self, column: int) -> list[Description]:
        """Return weight, mean and standard deviation of a column in each class."""
        weight, mean, squares = (table[:, column].tolist() for table in (self.weight, self.mean, self.squares))
        return [
            {"weight": n, "mean": m, "deviation": float(np.sqrt(max(s, 0.0) / n)) if n else None}
            for n, m, s in zip(weight, mean, squares, strict=True)
        ]

    def lost_precision(self) -> Bools:
        """Return for each column whether larger numbers were once counted than the digits of the rest allow.

        The triple-double sums are good to 2⁻¹⁵⁰ of the largest square ever in them, unless weights were larger.
        """
        mean, squares = self.mean_and_squares()
        error = np.where(self.weight == self.rows, 2.0**-150 * self.weight, self.state[11])
        error = error * np.square(np.minimum(self.state[8], 1e150))
        lost = (error > 1e-8 * squares) & (error > 1e-16 * self.weight * np.square(mean)) & (self.rows > 0)
        lost &= (squares > 0) | (error > 1e-30)  # what is left may be zeros, and exactly so
        return np.asarray(lost.any(axis=0), dtype=np.bool_)


def _several_columns(numbers: Numbers) -> Iterator[tuple[slice, Array]]:
    """Yield dense pieces; copy single columns side by side, because the core counts four as fast as one."""
    waiting: list[Array] = []
    start = 0
    for columns, piece in numbers.dense():
        if waiting and (piece.shape[1] > 1 or len(waiting) == COLUMNS_AT_A_TIME):
            yield slice(start, columns.start), _joined(waiting)
            waiting = []
        if piece.shape[1] > 1:
            yield columns, piece
            continue
        start = start if waiting else columns.start
        waiting.append(piece[:, 0])
    if waiting:
        yield slice(start, start + len(waiting)), _joined(waiting)


def _joined(columns: list[Array]) -> Array:
    return columns[0][:, None] if len(columns) == 1 else np.stack(columns).T
