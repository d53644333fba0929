"""Tools for the arrays of statistics: checks, sums, and layouts of classes and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Codes32, Floats, Index, Wholes

EXACT_UNITS = 2.0**20  # per 1: weights that are whole numbers of such units, up to 2³², add and subtract exactly
ROUNDED_WEIGHT = 1e-3  # what rounding may leave in a cell whose rows had weights up to 10⁹, most of them forgotten

_T = TypeVar("_T", bound=np.generic)
_A = TypeVar("_A", bound="Addable")


class Addable(Protocol):
    """What has a sum."""

    def __add__(self, other: Self, /) -> Self: ...


class NegativeCountError(ValueError):
    """A subtraction took away what was never counted; `column` is a position, or None for the rows of a class."""

    def __init__(self, class_position: int, column: int | None, remainder: str) -> None:
        """Store the position and the counts that would be left."""
        super().__init__(remainder)
        self.class_position = class_position
        self.column = column
        self.remainder = remainder


def refuse_negative(rows: Wholes, weight: Floats, subtracted: Floats) -> None:
    """Refuse (class,) or (class, column) counts below zero, and weight without rows.

    The subtracted weights bound the rounding error. Rows without weight may be left: two rows leave as one of weight 2.
    """
    slack = 1e-9 * (1.0 + subtracted)
    impossible = (rows < 0) | (weight < -slack) | ((rows == 0) & (weight > slack))
    if not impossible.any():
        return
    where = tuple(int(i) for i in np.argwhere(impossible)[0])
    left = f"{rows[where]} rows of weight {weight[where]:g}"
    raise NegativeCountError(where[0], where[1] if len(where) > 1 else None, left)


def rounding_slack(before: Floats, subtracted: Floats) -> float:
    """Return by how much rounding alone may change the weight of a cell, which is one double.

    Whole numbers and binary fractions are exact. Of other weights, a double does not show what was added to it and
    subtracted again.
    """
    largest = float(subtracted.max(initial=0.0))
    units = [weight * EXACT_UNITS for weight in (subtracted, before)]
    if all(bool((n == np.rint(n)).all()) for n in units):
        return 1e-9 * (1.0 + largest)
    return ROUNDED_WEIGHT + 1e-9 * largest + 1e-12 * float(before.max(initial=0.0))


def rows_written_out(rows: Wholes | Floats, weight: Floats) -> Floats:
    """Return how many rows there are in cells when a row of weight 3 is written three times; of less than 1, once.

    >>> rows_written_out(np.array([1, 4]), np.array([3.0, 0.4])).tolist()
    [3.0, 4.0]
    """
    return np.maximum(rows, np.rint(weight))


def require(condition: bool, what: str) -> None:
    """Raise ValueError for a part of a statistic from a file that is not sound."""
    if not condition:
        raise ValueError(f"wrong: {what}")


def check_array(array: object, dtype: type[np.generic], shape: tuple[int, ...], what: str) -> None:
    """Require an array of this type and shape, with finite numbers."""
    sound = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    require(sound, f"type or size of {what}")
    if issubclass(dtype, np.floating):
        require(bool(np.isfinite(array).all()), f"finite numbers in {what}")  # type: ignore[call-overload]


def added_in_pairs(parts: Sequence[_A]) -> _A:
    """Return the sum of one or more: of pairs, then of pairs of pairs, so that no large sum is copied often."""
    sums = list(parts)
    while len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=False)
        sums = [a + b for a, b in pairs] + (sums[-1:] if len(sums) % 2 else [])
    return sums[0]


def take(array: NDArray[_T], order: Index) -> NDArray[_T]:
    """Return an array with its last axis, the columns, in another order; zeros where the order is −1."""
    out = (
        np.ascontiguousarray(array[..., order])
        if array.shape[-1]
        else np.zeros((*array.shape[:-1], len(order)), array.dtype)
    )
    out[..., order < 0] = 0
    return out


def place(array: NDArray[_T], places: Codes32, n_classes: int, axis: int) -> NDArray[_T]:
    """Return an array with its class axis in another layout, zeros where a class is new."""
    shape = list(array.shape)
    shape[axis] = n_classes
    out = np.zeros(shape, dtype=array.dtype)
    keep = places >= 0
    index: list[slice | Index] = [slice(None)] * array.ndim
    source = index.copy()
    index[axis], source[axis] = places[keep].astype(np.intp), np.flatnonzero(keep)
    out[tuple(index)] = array[tuple(source)]
    return out


def sum_rows(slot: Index, weight: Floats, rows: Wholes, shape: tuple[int, int]) -> tuple[Floats, Wholes]:
    """Add weights and rows by slot into tables of this shape."""
    n = shape[0] * shape[1]
    n_rows = np.bincount(slot, rows, n).astype(np.int64)  # exact up to 2^53 rows
    return np.bincount(slot, weight, n).reshape(shape).astype(np.float64), n_rows.reshape(shape)
