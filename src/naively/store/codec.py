"""Statistics as JSON and a list of arrays, and back. The JSON is written as text at once: an update has to be quick.

A statistic is a dataclass whose fields are arrays, cells, a vocabulary, other statistics, names or plain values; so a
new statistic needs nothing here but its name in `statistics/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import statistics
from naively._kernels import Cells, HistogramCells
from naively._kernels.text import Vocabulary
from naively.data.names import Numbered
from naively.errors import InputError
from naively.statistics import Statistic, WordCounts
from naively.store.arrays import COMPACT, Arrays

__all__ = ["decode", "encode"]

STATISTICS: Mapping[str, type[Statistic]] = {
    name: found
    for name in statistics.__all__
    if isinstance(found := getattr(statistics, name), type) and issubclass(found, Statistic) and found is not Statistic
}

PLAIN = (str, bool, int, float)
FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in STATISTICS.values()}  # type: ignore[arg-type]


def encode(value: Any, arrays: Arrays) -> str:
    """A value as JSON; its arrays are appended to the list and named by their place.

    >>> arrays: Arrays = []
    >>> encode((np.zeros(3), "a", (1, True, None)), arrays), len(arrays)
    ('[{"array":0},"a",[1,true,null]]', 1)
    """
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value, arrays)
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
    kind = type(value)
    found = ",".join([f'"{name}":{encode(getattr(value, name), arrays)}' for name in FIELDS[kind]])
    return f'{{"statistic":"{kind.__name__}","fields":{{{found}}}}}'


_WRITERS: Mapping[type, Callable[[Any, Arrays], str]] = {
    np.ndarray: _array,
    Cells: lambda value, arrays: f'{{"cells":[{_arrays(value, arrays)}]}}',
    HistogramCells: lambda value, arrays: f'{{"histogram":[{_arrays(value, arrays)}]}}',
    Vocabulary: lambda value, arrays: f'{{"vocabulary":[{_arrays(value.export(), arrays)}]}}',
    Numbered: lambda value, _: f'{{"numbered":{len(value)}}}',
    tuple: _tuple,
    **dict.fromkeys(STATISTICS.values(), _statistic),
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
    if set(found) == {"statistic", "fields"} and found["statistic"] in STATISTICS:
        made = STATISTICS[found["statistic"]]
        return made(**{name: decode(value, arrays) for name, value in found["fields"].items()})
    raise TypeError(f"{str(found)[:60]} is no part of a statistic")
