"""A statistic whose every row weighs a factor more or less: `count(row, weight w) = w · count(row)`, afterwards.

Numbers of rows stay what they are, so that cells live and vanish as they do without weights.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

from naively.errors import InputError
from naively.statistics.base import Statistic
from naively.statistics.class_weights import ClassWeights
from naively.statistics.empty import EmptyStatistic
from naively.statistics.histogram import Histogram
from naively.statistics.moments import Moments
from naively.statistics.sums import Sums
from naively.statistics.token_counts import TokenCounts
from naively.statistics.value_counts import ValueCounts
from naively.statistics.word_counts import WordCounts

__all__ = ["scaled"]

_T = TypeVar("_T", bound=Statistic)


def scaled(found: _T, factor: float) -> _T:
    """The same rows, each weighing `factor` times as much.

    >>> import numpy as np
    >>> halved = scaled(ClassWeights(np.array([4.0]), np.array([2])), 0.5)
    >>> halved.weight.tolist(), halved.rows.tolist()
    ([2.0], [2])
    """
    if isinstance(found, ClassWeights):
        return replace(found, weight=found.weight * factor)
    if isinstance(found, Moments):
        state = found.state * factor
        state[1], state[8] = found.state[1], found.state[8]  # the shift, and the largest |x − c|
        return replace(found, state=state)
    if isinstance(found, Sums):
        return replace(found, weight=found.weight * factor, parts=found.parts * factor)
    if isinstance(found, Histogram):
        return replace(found, cells=found.cells._replace(weight=found.cells.weight * factor))
    if isinstance(found, (ValueCounts, TokenCounts, WordCounts)):
        return _cells(found, factor)
    if isinstance(found, EmptyStatistic):
        return found
    parts = {f.name: getattr(found, f.name) for f in fields(found)}  # type: ignore[arg-type]
    if parts and all(isinstance(part, Statistic) for part in parts.values()):
        return replace(found, **{name: scaled(part, factor) for name, part in parts.items()})  # type: ignore[type-var]
    raise InputError(f"{type(found).__name__} cannot be weighed by age.")


def _cells(found: _T, factor: float) -> _T:
    """Every table of cells in a statistic, and the weights of its classes."""
    changed = {}
    for f in fields(found):  # type: ignore[arg-type]
        part = getattr(found, f.name)
        if isinstance(part, ClassWeights):
            changed[f.name] = scaled(part, factor)
        elif hasattr(part, "sums"):
            changed[f.name] = part._replace(sums=part.sums * factor)
    return replace(found, **changed)  # type: ignore[type-var]
