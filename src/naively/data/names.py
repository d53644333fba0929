"""Column names: a tuple of strings, or x0, x1, … for an array, which need no memory.

A sparse matrix may have a million columns; their names are a rule, not a million strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from naively.errors import InputError, LeftOutWarning, SchemaError, warn_user

DELIMITERS = (";", "\t", "|", ",")  # that a name may hold because the file was not split
MIN_SHARE_OF_COLUMNS = 0.1  # of the columns of a model that its data must have


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
        """Return the position of a name."""
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
    """Return a dictionary from name to position."""
    return {name: position for position, name in enumerate(names)}


def select(names: Names, positions: Sequence[int]) -> Names:
    """Return the names at these positions; the same object if these are all positions in order."""
    if len(positions) == len(names) and all(i == position for i, position in enumerate(positions)):
        return names
    return tuple(names[position] for position in positions)


def unique_names(names: Iterable[object], where: str = "") -> tuple[str, ...]:
    """Return names as strings; refuse a name that occurs twice, with an error that says where."""
    texts = tuple(map(str, names))
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where}a column name is not valid Unicode ({error.object!r}). Rename it.") from None
    if len(set(texts)) < len(texts):
        repeated = sorted({name or "'' (no name)" for name in texts if texts.count(name) > 1})
        raise InputError(f"{where}column names that occur more than once: {', '.join(repeated)}. Rename them.")
    return texts


def missing_names(names: Iterable[str], existing: Names) -> list[str]:
    """Return the names that do not exist, each once."""
    known = existing if isinstance(existing, Numbered) else set(existing)
    return [name for name in dict.fromkeys(names) if name not in known]


def require_columns(names: Iterable[str], existing: Names) -> None:
    """Raise SchemaError unless all names exist."""
    missing = missing_names(names, existing)
    if missing:
        raise SchemaError(
            f"{_not_in_the_data(missing)}, but the model was trained with {_it(missing)}. "
            f"The data has {listed(existing)}."
        )


def require_same_width(existing: Names, trained: Names) -> None:
    """Raise SchemaError if an array has another number of columns than the array that a model was trained with."""
    if len(existing) != len(trained) and isinstance(existing, Numbered) and isinstance(trained, Numbered):
        raise SchemaError(
            f"the array has {len(existing)} columns, but the model was trained with {len(trained)}: give an array of "
            f"{len(trained)} columns in the same order."
        )


def similar_names(given: Names, wanted: Iterable[str]) -> dict[str, str]:
    """Return the names that differ from wanted ones in case or surrounding blanks only, each with the wanted name.

    >>> similar_names((" Age", "job"), ["age", "job", "sex"])
    {' Age': 'age'}
    """
    wanted = list(wanted)
    absent = [] if isinstance(given, Numbered) else missing_names(wanted, given)
    if not absent:
        return {}
    exact, similar = set(wanted), dict[str, list[str]]()
    for name in given:
        if name not in exact:
            similar.setdefault(name.strip().casefold(), []).append(name)
    candidates = {name: similar.pop(name.strip().casefold(), []) for name in absent}
    return {names[0]: name for name, names in candidates.items() if len(names) == 1}


def warn_similar_names(renamed: Mapping[str, str]) -> None:
    """Warn that columns are read under a name that differs in case or blanks."""
    if renamed:
        pairs = [f"{name!r} as {wanted!r}" for name, wanted in renamed.items()]
        warn_user(f"names of columns are matched up to case and blanks: {listed(pairs)}.", LeftOutWarning)


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the name that is most like this one, up to case and surrounding blanks; None if none is like it.

    >>> nearest("alpah", ["missing", "alpha"]), nearest(" AGE", ["age", "sex"]), nearest("height", ["age", "sex"])
    ('alpha', 'age', None)
    """
    from difflib import get_close_matches  # for messages only

    folded = {known.strip().lower(): known for known in reversed(names)}
    near = get_close_matches(name.strip().lower(), folded, 1)
    return folded[near[0]] if near else None


def _hint_of_delimiter(names: Sequence[str]) -> str:
    """Return a hint for the only column of a file whose name may hold several names; else an empty string."""
    delimiter = next((sign for sign in DELIMITERS if sign in names[0]), None) if len(names) == 1 else None
    return "" if delimiter is None else f", one column: if it is several, give the delimiter {delimiter!r}"


def existing_columns(name: str, names: Sequence[str]) -> str:
    """Return how a message ends that there is no column of this name: with the nearest name, and those that exist.

    >>> existing_columns("aeg", ["age", "sex"])
    " (did you mean 'age'?); the data has age, sex."
    >>> existing_columns("age", ["age;sex"])
    "; the data has 'age;sex', one column: if it is several, give the delimiter ';'."
    """
    if hint := _hint_of_delimiter(names):
        return f"; the data has {names[0]!r}{hint}."
    shown = list(map(repr, names)) if any(n != n.strip() for n in names[:8]) else list(names)
    near = nearest(name, names)
    return f"{f' (did you mean {near!r}?)' if near else ''}; the data has {listed(shown)}."


def columns_named(wanted: Sequence[str], names: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the columns that an option names, up to case and surrounding blanks; refuse a name of none of them.

    >>> columns_named(["AGE"], ["age ", "sex"], "--keep")
    ('age ',)
    """
    of_similar = {new: name for name, new in similar_names(tuple(names), wanted).items()}
    columns = tuple(of_similar.get(name, name) for name in wanted)
    for name in columns:
        if name not in names:
            raise InputError(f"{option} {name}: there is no such column{existing_columns(name, names)}")
    return columns


def refuse_other_data(existing: Names, absent: Sequence[str], trained: Sequence[str], n_rows: int) -> None:
    """Raise SchemaError if hardly any column of a model is in the data: these are other data.

    One row may have few columns, but not none.
    """
    n_present = len(trained) - len(absent)
    if trained and (not n_present or (n_rows > 1 and n_present < MIN_SHARE_OF_COLUMNS * len(trained))):
        n_of_n = f"{n_present} of the {len(trained)} columns" if len(trained) > 1 else "not the column"
        raise SchemaError(
            f"the data has {n_of_n} that the model was trained with ({listed(trained, 4)}); its columns are "
            f"{listed(existing, 4)}: give data of the same kind{_hint_of_delimiter(existing)}."
        )


def warn_missing_columns(missing: Sequence[str]) -> None:
    """Warn that predictions are made without these columns."""
    if missing:
        warn_user(f"{_not_in_the_data(missing)}; predictions are made without {_it(missing)}.", LeftOutWarning)


def warn_counted_as_missing(missing: Sequence[str]) -> None:
    """Warn that rows are counted with missing values in these columns."""
    if missing:
        counted = "it is" if len(missing) == 1 else "they are"
        warn_user(f"{_not_in_the_data(missing)}; {counted} counted as missing in all rows.", LeftOutWarning)


def _not_in_the_data(missing: Sequence[str]) -> str:
    subject = f"column {missing[0]!r} is" if len(missing) == 1 else f"columns {listed(map(repr, missing))} are"
    return f"{subject} not in the data"


def _it(missing: Sequence[str]) -> str:
    return "it" if len(missing) == 1 else "them"


def listed(names: Iterable[str], limit: int = 8, separator: str = ", ") -> str:
    """Return the first names as a phrase, and how many there are beyond these.

    >>> listed(["a", "b"]), listed("abcde", limit=2)
    ('a, b', 'a, b and 3 more')
    """
    all_names = names if isinstance(names, Sequence) else list(names)
    rest = len(all_names) - limit
    return separator.join(all_names[:limit]) + (f" and {rest} more" if rest > 0 else "")


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number and its noun.

    >>> counted(1, "entry", "entries"), counted(1200, "row")
    ('1 entry', '1,200 rows')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
