"""Statistics as JSON and a list of arrays, and back. The JSON is written as text at once: an update has to be quick.

A statistic is a dataclass whose fields are arrays, cells, a vocabulary, other statistics, names or plain values; so a
new statistic needs nothing here but to be registered (`register_statistic`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells, HistogramCells
from naively._kernels.text import Vocabulary
from naively.data.names import Numbered
from naively.errors import InputError
from naively.statistics import Statistic, WordCounts, statistic_named
from naively.store.arrays import COMPACT, Arrays

__all__ = ["decode", "encode"]

STORED_NAMES: Mapping[str, str] = {"NumberSummary": "Measured", "EmptyStatistic": "Nothing"}  # class: name in files
CLASS_NAMES = {stored: name for name, stored in STORED_NAMES.items()}

PLAIN = (str, bool, int, float)


def encode(value: Any, arrays: Arrays) -> str:
    """A value as JSON; its arrays are appended to the list and named by their place.

    >>> arrays: Arrays = []
    >>> encode((np.zeros(3), "a", (1, True, None)), arrays), len(arrays)
    ('[{"array":0},"a",[1,true,null]]', 1)
    """
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value, arrays)
    if statistic_named(type(value).__name__) is type(value):
        return _statistic(value, arrays)
    if value is None or isinstance(value, PLAIN):
        return COMPACT.encode(value)
    raise InputError(f"a {type(value).__name__} cannot be written to a model file.")


def _array(value: NDArray[Any], arrays: Arrays) -> str:
    arrays.append(value)
    return f'{{"array":{len(arrays) - 1}}}'


def _arrays(value: Sequence[NDArray[Any]], arrays: Arrays) -> str:
    first = len(arrays)
    arrays.extend(value)
    return _places(first, len(value))


@cache
def _places(first: int, n: int) -> str:
    return ",".join([f'{{"array":{i}}}' for i in range(first, first + n)])


def _tuple(value: tuple[Any, ...], arrays: Arrays) -> str:
    if all(type(item) in PLAIN for item in value):
        return COMPACT.encode(value)
    return f"[{','.join([encode(item, arrays) for item in value])}]"


def _statistic(value: Statistic, arrays: Arrays) -> str:
    name = type(value).__name__
    found = ",".join([f'"{field}":{encode(getattr(value, field), arrays)}' for field in _fields(type(value))])
    return f'{{"statistic":"{STORED_NAMES.get(name, name)}","fields":{{{found}}}}}'


@cache
def _fields(statistic: type[Statistic]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(statistic))  # type: ignore[arg-type]


_WRITERS: Mapping[type, Callable[[Any, Arrays], str]] = {
    np.ndarray: _array,
    Cells: lambda value, arrays: f'{{"cells":[{_arrays(value, arrays)}]}}',
    HistogramCells: lambda value, arrays: f'{{"histogram":[{_arrays(value, arrays)}]}}',
    Vocabulary: lambda value, arrays: f'{{"vocabulary":[{_arrays(value.export(), arrays)}]}}',
    Numbered: lambda value, _: f'{{"numbered":{len(value)}}}',
    tuple: _tuple,
    WordCounts: lambda value, arrays: _statistic(_without_forgotten_words(value), arrays),
}


def _without_forgotten_words(counts: WordCounts) -> WordCounts:
    """The same counts with a vocabulary of the words in use: what was forgotten is not written down."""
    if counts.vocabulary is None or int(counts.base.indptr[1]) == len(counts.vocabulary):
        return counts  # the first class alone has all words, as the only class of a text has
    there = np.zeros(len(counts.vocabulary), dtype=np.bool_)
    there[counts.base.index] = there[counts.delta.index] = True
    if there.all():
        return counts
    used = np.flatnonzero(there).astype(np.int32)
    vocabulary = Vocabulary()
    vocabulary.add(counts.vocabulary.words(used))
    base, delta = (
        cells._replace(index=np.searchsorted(used, cells.index).astype(np.int32))  # rising: the order stays
        for cells in (counts.base, counts.delta)
    )
    return replace(counts, vocabulary=vocabulary, base=base, delta=delta)


def decode(found: Any, arrays: Arrays) -> Any:
    """The inverse of `encode`; what it makes is checked in `checks.py`."""
    if isinstance(found, list):
        return tuple(decode(item, arrays) for item in found)
    if not isinstance(found, dict):
        return found
    if set(found) == {"array"} and type(found["array"]) is int and found["array"] >= 0:
        return arrays[found["array"]]
    if set(found) == {"numbered"} and type(found["numbered"]) is int and 0 <= found["numbered"] < 2**31:
        return Numbered(found["numbered"])
    if set(found) == {"cells"}:
        return Cells(*decode(found["cells"], arrays))
    if set(found) == {"histogram"}:
        return HistogramCells(*decode(found["histogram"], arrays))
    if set(found) == {"vocabulary"}:
        return Vocabulary.from_arrays(*decode(found["vocabulary"], arrays))
    if set(found) == {"statistic", "fields"}:
        statistic = statistic_named(CLASS_NAMES.get(str(found["statistic"]), str(found["statistic"])))
        if statistic is not None:
            return statistic(**{name: decode(value, arrays) for name, value in found["fields"].items()})
    raise TypeError(f"{str(found)[:60]} is no part of a statistic")
