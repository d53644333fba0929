"""The distribution of each column in each class, as plain data for pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from naively._kernels.types import Floats
from naively.data.kinds import Kind
from naively.explanation.explain import scored_blocks
from naively.families.base import score_column
from naively.families.evidence import Grid
from naively.model.model import Model


@dataclass(frozen=True, eq=False)
class ColumnCurve:
    """A column with the values of its grid, and the probability or density of each value in each class."""

    name: str
    kind: Kind
    grid: Grid
    density: Floats  # (value, class)
    is_count: bool


def column_curves(model: Model) -> Iterator[ColumnCurve]:
    """Yield the columns that have a distribution of their own."""
    for block, statistic, parameters in scored_blocks(model):
        family = block.family
        if family.role == "presence" or family.joint or family.own_block:
            continue
        for j, name in enumerate(block.names):
            grid = family.grid(statistic, parameters, j, block.kind(j))
            if grid is not None:
                density = np.exp(score_column(family, statistic, parameters, j, grid.values))
                yield ColumnCurve(name, block.kind(j), grid, density, family.support == "count")
