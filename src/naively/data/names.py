"""Column names: a tuple of strings, or x0, x1, … for an array, which need no memory.

A sparse matrix may have a million columns; their names are a rule, not a million strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, slots=True)
class Numbered(Sequence[str]):
    """The names x0, x1, … of the columns of an array.

    >>> names = Numbered(3)
    >>> list(names), names[1], names.index("x2"), "x3" in names
    (['x0', 'x1', 'x2'], 'x1', 2, False)
    """

    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, item: int) -> str: ...
    @overload
    def __getitem__(self, item: slice) -> tuple[str, ...]: ...
    def __getitem__(self, item: int | slice) -> str | tuple[str, ...]:
        if isinstance(item, slice):
            return tuple(f"x{i}" for i in range(self.length)[item])
        return f"x{range(self.length)[item]}"

    def __iter__(self) -> Iterator[str]:
        return (f"x{i}" for i in range(self.length))

    def __contains__(self, name: object) -> bool:
        return self._position(name) is not None

    def index(self, name: object, start: int = 0, stop: int | None = None) -> int:
        """Position of a name."""
        position = self._position(name)
        if position is None:
            raise ValueError(f"{name!r} is not one of {len(self)} numbered columns")
        return position

    def _position(self, name: object) -> int | None:
        if not (isinstance(name, str) and name[:1] == "x" and name[1:].isdecimal() and name.isascii()):
            return None
        position = int(name[1:])
        return position if position < self.length and name == f"x{position}" else None


Names = tuple[str, ...] | Numbered


def positions_of(names: Names) -> dict[str, int]:
    """A dictionary from name to position."""
    return {name: position for position, name in enumerate(names)}


def select(names: Names, chosen: Sequence[int]) -> Names:
    """The names at the chosen positions; all of them in order stay what they are."""
    if len(chosen) == len(names) and all(i == position for i, position in enumerate(chosen)):
        return names
    return tuple(names[position] for position in chosen)


def listed(names: Iterable[str], limit: int = 8, separator: str = ", ") -> str:
    """Return the first names as a phrase, and how many there are beyond these.

    >>> listed(["a", "b"]), listed("abcde", limit=2)
    ('a, b', 'a, b and 3 more')
    """
    all_names = names if isinstance(names, Sequence) else list(names)
    rest = len(all_names) - limit
    return separator.join(all_names[:limit]) + (f" and {rest} more" if rest > 0 else "")
