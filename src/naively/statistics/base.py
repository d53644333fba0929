"""A statistic: a frozen value that is counted from rows, added and subtracted.

    count(rows A) + count(rows B) = count(rows A and B)                     (1)
    count(rows A and B) − count(rows B) = count(rows A)                     (2)
    count(row, weight w) = w · count(row)                                   (3)

Classes and columns are matched by position here (`model.py` matches them by name); values and tokens are part
of what was counted and are matched by what they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from naively.data.views import Codes, Numbers, Texts
from naively.errors import InputError

__all__ = ["NegativeCountError", "Statistic", "added_in_pairs", "moved", "refuse_negative", "taken"]

_T = TypeVar("_T", bound=np.generic)
_A = TypeVar("_A", bound="Addable")


class Addable(Protocol):
    """What has a sum."""

    def __add__(self, other: Self, /) -> Self: ...


class NegativeCountError(ValueError):
    """A subtraction took away what was never counted; `column` is a position, or None for the rows of a class."""

    def __init__(self, class_position: int, column: int | None, found: str) -> None:
        """Say where, and what would be left."""
        super().__init__(found)
        self.class_position = class_position
        self.column = column
        self.found = found


def refuse_negative(rows: NDArray[np.int64], weight: NDArray[np.float64], taken: NDArray[np.float64]) -> None:
    """Refuse (class,) or (class, column) counts below zero; `taken` bounds the rounding of the weights."""
    bad = (rows < 0) | (weight < -1e-9 * (1.0 + taken))
    if not bad.any():
        return
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    found = f"{rows[where]} rows of weight {weight[where]:g}"
    raise NegativeCountError(where[0], where[1] if len(where) > 1 else None, found)


_REGISTERED: dict[str, type[Statistic]] = {}


def register_statistic(statistic: type[Statistic]) -> None:
    """Make a statistic known by its name, so that it can be written to a model file and read back."""
    name = statistic.__name__
    if _REGISTERED.get(name, statistic) is not statistic:
        raise InputError(f"a statistic {name!r} is registered already ({_REGISTERED[name].__module__}): rename one.")
    _REGISTERED[name] = statistic


def statistic_named(name: str) -> type[Statistic] | None:
    """Return the statistic of this name, or None."""
    return _REGISTERED.get(name)


def added_in_pairs(parts: Sequence[_A]) -> _A:
    """The sum of one or more: of pairs, of pairs of pairs, …, so that a large sum is not copied for each small part."""
    left = list(parts)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [a + b for a, b in pairs] + (left[-1:] if len(left) % 2 else [])
    return left[0]


class Statistic(ABC):
    """What every statistic can do beside being counted."""

    __slots__ = ()

    view: ClassVar[type[Numbers] | type[Codes] | type[Texts]] = Numbers

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """How many classes it distinguishes."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The number of columns."""

    @classmethod
    @abstractmethod
    def count(cls, x: Any, label: Any, weight: NDArray[np.float64] | None, n_classes: int) -> Self:
        """Count rows: values, class codes, and weights (None: every row once)."""

    @classmethod
    @abstractmethod
    def empty(cls, seen: Any) -> Self:
        """The statistic of rows in which no column was looked at; `seen` is the weight of the classes."""

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """The sum of one or more; small ones with small ones first."""
        return added_in_pairs(parts)

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,): of one without rows, nothing may have been."""

    @abstractmethod
    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts where class c stands at places[c] (−1: an empty class, dropped) among n_classes."""

    @abstractmethod
    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The same counts with column order[j] at position j; −1 is a column in which nothing was seen."""


def taken(array: NDArray[_T], order: NDArray[np.intp]) -> NDArray[_T]:
    """An array with its last axis, the columns, in another order; zeros where the order says −1."""
    out = (
        np.ascontiguousarray(array[..., order])
        if array.shape[-1]
        else np.zeros((*array.shape[:-1], len(order)), array.dtype)
    )
    out[..., order < 0] = 0
    return out


def moved(array: NDArray[_T], places: NDArray[np.int32], n_classes: int, axis: int) -> NDArray[_T]:
    """An array whose class axis is laid out anew, zeros where a class is new."""
    shape = list(array.shape)
    shape[axis] = n_classes
    out = np.zeros(shape, dtype=array.dtype)
    keep = places >= 0
    index: list[slice | NDArray[np.intp]] = [slice(None)] * array.ndim
    source = index.copy()
    index[axis], source[axis] = places[keep].astype(np.intp), np.flatnonzero(keep)
    out[tuple(index)] = array[tuple(source)]
    return out
