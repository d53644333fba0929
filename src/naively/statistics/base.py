"""The interface of a statistic: a frozen value that is counted from rows, added and subtracted.

    count(rows A) + count(rows B) = count(rows A and B)                     (1)
    count(rows A and B) − count(rows B) = count(rows A)                     (2)
    count(row, weight w) = w · count(row)                                   (3)

Classes and columns are matched by position here (`model/merge.py` matches them by name). Values and tokens are part
of what was counted and are matched by equality.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from naively.data.names import Names
from naively.data.table import Table
from naively.data.views import Codes, Numbers, Texts, Values
from naively.errors import InputError
from naively.statistics.tokeniser import WORDS, Tokeniser

if TYPE_CHECKING:
    from naively.statistics.class_weights import ClassWeights

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Bools = NDArray[np.bool_]
Index = NDArray[np.intp]
Positions = NDArray[np.int32]
View = Numbers | Codes | Texts
Description = Mapping[str, object]  # what was counted in one class, as plain data

MAX_KEYS = 4096  # of a column in a histogram: bins end at 1 part in 4,096 of the rows or finer, where values differ

_T = TypeVar("_T", bound=np.generic)
_A = TypeVar("_A", bound="Addable")
_S = TypeVar("_S", bound="Statistic")


class Addable(Protocol):
    """What has a sum."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True)
class CountPlan:
    """Settings of counting, beyond the rows themselves; a statistic reads those that concern it.

    Parameters
    ----------
    max_keys
        The number of keys that a column of a histogram may have.
    tokeniser
        What a token of a text is.
    like
        A statistic of earlier rows of the same columns: tokens get the names and numbers that they have there.
    only_to_add
        Whether the result will be added to `like` and used for nothing else.
    """

    max_keys: int = MAX_KEYS
    tokeniser: Tokeniser = WORDS
    like: Statistic | None = None
    only_to_add: bool = False


DEFAULT_PLAN = CountPlan()


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """The values of a column, with the weight and the number of the rows that have each, (value, class)."""

    values: Values
    weight: Floats
    rows: Wholes


class Statistic(ABC):
    """Counts of some columns by class; a frozen dataclass of arrays, cells and other statistics.

    Attributes
    ----------
    view
        How a table presents the columns that are counted: `Numbers`, `Codes` or `Texts`.
    matches_names
        Whether adding matches the columns by their names, so that they need not be in the same positions.
    """

    __slots__ = ()

    view: ClassVar[type[Numbers] | type[Codes] | type[Texts]] = Numbers
    matches_names: ClassVar[bool] = False

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """The number of classes."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The number of columns."""

    @classmethod
    @abstractmethod
    def count(
        cls, x: Any, label: NDArray[np.integer], weight: Floats | None, n_classes: int, plan: CountPlan = DEFAULT_PLAN
    ) -> Self:
        """Count rows.

        Parameters
        ----------
        x
            The columns, as the table presents them for `view`.
        label
            The class code of each row.
        weight
            The weight of each row; None is 1.
        n_classes
            The number of classes.
        plan
            Settings of counting.
        """

    @classmethod
    @abstractmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the statistic of these rows with no columns."""

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """Return the sum of one or more statistics."""
        return added_in_pairs(parts)

    @classmethod
    def read_columns(cls, table: Table, positions: Sequence[int]) -> View:
        """Return columns of a table as they are counted."""
        if cls.view is Texts:
            return table.texts(positions)
        return table.coded(positions) if cls.view is Codes else table.numbers(positions)

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""

    @abstractmethod
    def place_classes(self, places: Positions, n_classes: int) -> Self:
        """Return the same counts with class c at places[c] among n_classes; −1 drops an empty class."""

    @abstractmethod
    def take_columns(self, order: Index) -> Self:
        """Return the same counts with column order[j] at position j; −1 is a column in which no row has a value."""

    @abstractmethod
    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column); `classes` are all rows."""

    # What follows has a default.

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the statistic, read from a file, is sound for these classes and columns."""
        require(self.n_classes == n_classes and self.n_columns == len(names), type(self).__name__)

    def part(self, kind: type[_S]) -> _S:
        """Return the statistic of this kind that this one holds; itself, as a rule."""
        if isinstance(self, kind):
            return self
        raise TypeError(f"{type(self).__name__} has no {kind.__name__}")

    def renamed(self, names: Names) -> Self:
        """Return the same counts with other names of the columns, if they have any."""
        return self

    def scaled(self, factor: float) -> Self:
        """Return the statistic of the same rows, each with `factor` times its weight; numbers of rows stay."""
        return replace(self, **{name: _scaled(part, factor) for name, part in _parts(self).items()})  # type: ignore[type-var]

    def describe(self, column: int) -> list[Description]:
        """Return what was counted of a column, one description for each class."""
        return [{} for _ in range(self.n_classes)]

    def table(self, column: int) -> ValueTable | None:
        """Return how often each value of a column was counted; None if the values are not kept."""
        return None

    def lost_precision(self) -> Bools:
        """Return for each column whether a subtraction has left too few digits for an exact result."""
        return np.zeros(self.n_columns, dtype=np.bool_)

    def is_integral(self) -> bool:
        """Return whether all counts are whole numbers that add and subtract exactly, in any order."""
        return False

    def without_unused(self) -> Self:
        """Return the same counts without names of what was counted once and is forgotten, to be written to a file."""
        return self

    def token_weight(self) -> float:
        """Return the weight of all pairs of a row and one of its different tokens; 0 without tokens."""
        return 0.0


class NegativeCountError(ValueError):
    """A subtraction took away what was never counted; `column` is a position, or None for the rows of a class."""

    def __init__(self, class_position: int, column: int | None, found: str) -> None:
        """Store the position and the counts that would be left."""
        super().__init__(found)
        self.class_position = class_position
        self.column = column
        self.found = found


def refuse_negative(rows: Wholes, weight: Floats, subtracted: Floats) -> None:
    """Refuse (class,) or (class, column) counts below zero; the subtracted weights bound the rounding error."""
    negative = (rows < 0) | (weight < -1e-9 * (1.0 + subtracted))
    if not negative.any():
        return
    where = tuple(int(i) for i in np.argwhere(negative)[0])
    left = f"{rows[where]} rows of weight {weight[where]:g}"
    raise NegativeCountError(where[0], where[1] if len(where) > 1 else None, left)


def require(condition: bool, what: str) -> None:
    """Raise ValueError for a part of a statistic from a file that is not sound."""
    if not condition:
        raise ValueError(f"wrong: {what}")


def check_array(array: object, dtype: type[np.generic], shape: tuple[int, ...], what: str) -> None:
    """Require an array of this type and shape, with finite numbers."""
    sound = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    require(sound, f"type or size of {what}")
    require(bool(np.isfinite(array).all()), f"finite numbers in {what}")  # type: ignore[call-overload]


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


def place(array: NDArray[_T], places: Positions, n_classes: int, axis: int) -> NDArray[_T]:
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


def _parts(value: Statistic) -> dict[str, Any]:
    return {f.name: getattr(value, f.name) for f in fields(value)}  # type: ignore[arg-type]  # statistics are dataclasses


def _scaled(value: Any, factor: float) -> Any:
    """Multiply every array of floats in a part of a statistic; leave all else."""
    if isinstance(value, Statistic):
        return value.scaled(factor)
    if hasattr(value, "_asdict"):  # cells
        return value._replace(**{name: _scaled(part, factor) for name, part in value._asdict().items()})
    return value * factor if isinstance(value, np.ndarray) and value.dtype == np.float64 else value
