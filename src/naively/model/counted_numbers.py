"""The numbers that a model has counted: whether they are whole, and from where to where they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from naively.data.kinds import SECONDS_OF_A_DAY

if TYPE_CHECKING:
    from naively.model.model import Model


def integer_columns(model: Model) -> set[str]:
    """Return the columns of which all numbers that were counted are whole, or all dates are days."""
    names: set[str] = set()
    for block, statistic in zip(model.schema.blocks, model.statistics, strict=True):
        numbers, days = statistic.multiples_of(1), statistic.multiples_of(SECONDS_OF_A_DAY)
        if numbers is not None and days is not None:
            is_whole = [days[i] if block.kind(i) == "date" else numbers[i] for i in range(len(block.names))]
            names.update(name for name, yes in zip(block.names, is_whole, strict=True) if yes)
    return names


def counted_range(model: Model, column: str) -> tuple[float, float]:
    """Return the smallest and the largest counted number of a column, as far as they are known, else −∞ and ∞."""
    for block, statistic in zip(model.schema.blocks, model.statistics, strict=True):
        table = statistic.table(block.names.index(column)) if column in block.names else None
        finite = [] if table is None else [x for x in table.values if isinstance(x, float) and np.isfinite(x)]
        if finite:
            return min(finite), max(finite)
    return -np.inf, np.inf
