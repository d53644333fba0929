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
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from naively._kernels.cells import Cells
from naively._kernels.text import WORDS, Tokeniser
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.views import Codes, Numbers, Texts, Values
from naively.errors import InputError
from naively.statistics.arrays import NegativeCountError, added_in_pairs, check_array, place, require, take
from naively.statistics.cells import place_cells

if TYPE_CHECKING:
    from naively.statistics.class_weights import ClassWeights

View = Numbers | Codes | Texts
Description = Mapping[str, object]  # what was counted in one class, as plain data

MAX_KEYS = 4096  # of a column in a histogram: bins end at 1 part in 4,096 of the rows or finer, where values differ

_S = TypeVar("_S", bound="Statistic")


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
    names
        The names of the columns, if they are tokens.
    """

    max_keys: int = MAX_KEYS
    tokeniser: Tokeniser = WORDS
    like: Statistic | None = None
    only_to_add: bool = False
    names: Names | None = None


PLAN = CountPlan()


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
    def count(cls, x: Any, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN) -> Self:
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

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""

    def multiples_of(self, step: float) -> Bools | None:
        """Return for each column whether all values are multiples of a step; None if the values are not known."""
        return None

    @abstractmethod
    def take_columns(self, order: Index) -> Self:
        """Return the same counts with column order[j] at position j; −1 is a column in which no row has a value."""

    @abstractmethod
    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column); `classes` are all rows."""

    # What follows has a default.

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the same counts with class c at places[c] among n_classes; −1 drops an empty class.

        By default this is done for each cell, statistic and array of (…, class, column) of which the statistic is made.
        """
        placed = {name: _placed(part, places, n_classes) for name, part in _parts(self).items()}
        return replace(self, **placed)  # type: ignore[type-var]

    def refuse_excess(self, classes: ClassWeights) -> None:
        """Raise NegativeCountError if more rows have a value in a column than there are; `classes` are all rows."""
        _, rows = self.rows_present(classes)
        excess = np.argwhere(rows > classes.rows[:, None])
        if len(excess):
            c, j = (int(i) for i in excess[0])
            raise NegativeCountError(c, j, f"{classes.rows[c]} rows, but {rows[c, j]} values")

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the statistic, read from a file, is sound for these classes and columns."""
        require(self.n_classes == n_classes and self.n_columns == len(names), type(self).__name__)

    def part(self, kind: type[_S]) -> _S:
        """Return the statistic of this kind that this one holds; itself, as a rule."""
        if isinstance(self, kind):
            return self
        raise TypeError(f"{type(self).__name__} has no {kind.__name__}")

    def with_max_keys(self, cap: int) -> Self:
        """Return the same counts with at most `cap` keys in a column, where keys are those of a histogram."""
        return self

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

    def repaired(self) -> Self:
        """Return the counts, just read from a file and not checked yet, without a known fault of an earlier version."""
        return self

    @property
    def n_keys(self) -> int:
        """The number of words or values that were counted, if each has counts of its own; else 0."""
        return 0

    def split_by_key(self, n_shards: int) -> list[Self]:
        """Return up to `n_shards` statistics that add up to this one, words and values divided by their hash."""
        return [self]

    def token_weight(self) -> float:
        """Return the weight of all pairs of a row and one of its different tokens; 0 without tokens."""
        return 0.0


class ArrayStatistic(Statistic):
    """A statistic of arrays whose last axes are (class, column): `rows` is one of integers, the others of floats.

    Attributes
    ----------
    leading
        The fields, and for each the shape of its other axes.
    """

    __slots__ = ()

    rows: Wholes
    weight: Any  # (class, column): a field or a property
    leading: ClassVar[Mapping[str, tuple[int, ...]]]

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the statistic of no columns."""
        n = classes.n_classes
        return cls(**{name: np.zeros((*shape, n, 0), _dtype(name)) for name, shape in cls.leading.items()})

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return np.asarray((self.rows > 0).any(axis=1))

    def take_columns(self, order: Index) -> Self:
        """Return the same counts with the columns in another order."""
        return type(self)(**{name: take(array, order) for name, array in _parts(self).items()})

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a value, (class, column)."""
        return self.weight, self.rows

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the arrays are sound."""
        for name, shape in self.leading.items():
            what = f"{name} of {type(self).__name__}"
            check_array(getattr(self, name), _dtype(name), (*shape, n_classes, len(names)), what)
        require(bool((self.rows >= 0).all()), f"rows of {type(self).__name__}")


def _dtype(field: str) -> type[np.generic]:
    return np.int64 if field == "rows" else np.float64


_REGISTERED: dict[str, type[Statistic]] = {}


def register_statistic(statistic: type[Statistic]) -> None:
    """Make a statistic known by its name, so that it can be written to a model file and read back."""
    name = statistic.__name__
    if _REGISTERED.get(name, statistic) is not statistic:
        raise InputError(f"a statistic {name!r} is registered already ({_REGISTERED[name].__module__}): rename one.")
    _REGISTERED[name] = statistic


def statistic_names() -> list[str]:
    """Return the names of all statistics that are registered."""
    return sorted(_REGISTERED)


def statistic_named(name: str) -> type[Statistic] | None:
    """Return the statistic of this name, or None."""
    return _REGISTERED.get(name)


def _parts(value: Statistic) -> dict[str, Any]:
    return {f.name: getattr(value, f.name) for f in fields(value)}  # type: ignore[arg-type]  # statistics are dataclasses


def _placed(value: Any, places: Codes32, n_classes: int) -> Any:
    """Move the classes of a part of a statistic; leave what has none."""
    if isinstance(value, Statistic):
        return value.place_classes(places, n_classes)
    if isinstance(value, Cells):
        return place_cells(value, places, n_classes)
    if isinstance(value, tuple):
        return tuple(_placed(part, places, n_classes) for part in value)
    return place(value, places, n_classes, -2) if isinstance(value, np.ndarray) else value


def _scaled(value: Any, factor: float) -> Any:
    """Multiply every array of floats in a part of a statistic; leave all else."""
    if isinstance(value, Statistic):
        return value.scaled(factor)
    if hasattr(value, "_asdict"):  # cells
        return value._replace(**{name: _scaled(part, factor) for name, part in value._asdict().items()})
    if isinstance(value, tuple):
        return tuple(_scaled(part, factor) for part in value)
    return value * factor if isinstance(value, np.ndarray) and value.dtype == np.float64 else value
