"""Statistics as JSON and a list of arrays, and back.

A statistic is a dataclass whose fields are arrays, cells, a vocabulary, other statistics, names or plain values; so a
new statistic needs nothing here but its name in `statistics/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np

from naively import statistics
from naively.errors import InputError
from naively.kernels import Cells, HistogramCells
from naively.kernels.text import Vocabulary
from naively.names import Numbered
from naively.statistics import Statistic, WordCounts
from naively.storage.arrays import Arrays

__all__ = ["decode", "encode"]

STATISTICS: Mapping[str, type[Statistic]] = {
    name: found
    for name in statistics.__all__
    if isinstance(found := getattr(statistics, name), type) and issubclass(found, Statistic) and found is not Statistic
}

PLAIN = (str, bool, int, float)


def encode(value: Any, arrays: Arrays) -> Any:
    """A value as JSON; its arrays are appended to the list and named by their place."""
    if type(value) is np.ndarray:  # most are, and an update has to be quick
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if value is None or type(value) in PLAIN:
        return value
    if isinstance(value, Statistic):
        whole = _without_forgotten_words(value) if isinstance(value, WordCounts) else value
        found = {name: encode(getattr(whole, name), arrays) for name in _field_names(type(whole))}
        return {"statistic": type(value).__name__, "fields": found}
    if isinstance(value, HistogramCells):
        return {"histogram": [encode(part, arrays) for part in value]}
    if isinstance(value, Cells):
        return {"cells": [encode(part, arrays) for part in value]}
    if isinstance(value, Vocabulary):
        return {"vocabulary": [encode(part, arrays) for part in value.export()]}
    if isinstance(value, Numbered):
        return {"numbered": len(value)}
    if isinstance(value, tuple):
        return [encode(item, arrays) for item in value]
    if isinstance(value, PLAIN):
        return value
    raise InputError(f"a {type(value).__name__} cannot be written to a model file.")


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _without_forgotten_words(counts: WordCounts) -> WordCounts:
    """The same counts with a vocabulary of the words in use: what was forgotten is not written down."""
    if counts.vocabulary is None:
        return counts
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
