"""Tables that come one after the other, all with the columns and classes of the first, counted into one sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import ColumnTable, Table
from naively.families import Undecided
from naively.model.score import View, count_block, places, view_of
from naively.schema.schema import Block, Schema
from naively.statistics import ClassWeights, Measured, Statistic, ValueCounts
from naively.statistics.histogram import cap_for
from naively.statistics.running import RunningMeasured, RunningValues

__all__ = ["Running"]

# A histogram in the making has room for all its cells from the start, and a window of addresses for each column.
MOST_COLUMNS, MOST_CELLS = 256, 2**24


class Running:
    """Statistics in the making, one per block of a schema; what cannot be added to in place is a sum of statistics."""

    def __init__(
        self, schema: Schema, classes: tuple[Any, ...], weighted: bool, like: Sequence[Statistic] = ()
    ) -> None:
        """Nothing counted yet; `weighted`: all rows have weights. `like` are statistics that this will be added to."""
        self.schema = schema
        self.classes = classes
        self.weighted = weighted
        self.seen = ClassWeights(np.zeros(len(classes)), np.zeros(len(classes), np.int64))
        self._like: list[Statistic | None] = list(like) or [None] * len(schema.blocks)
        self._sums: list[Statistic | None] = [None] * len(schema.blocks)
        self._making: list[RunningMeasured | RunningValues | None] = []

    def takes(self, classes: tuple[Any, ...]) -> bool:
        """Whether rows of these classes can be added; columns without a value so far may yet get another schema."""
        settled = not any(isinstance(block.family, Undecided) for block in self.schema.blocks)
        return settled and (classes == self.classes or set(classes) <= set(self.classes))

    def add(
        self, table: Table, classes: tuple[Any, ...], label: NDArray[np.int32], weight: NDArray[np.float64] | None
    ) -> None:
        """Count a table whose labels are positions in `classes`."""
        assert isinstance(table, ColumnTable)  # batches have columns
        if classes != self.classes:
            label = np.array([self.classes.index(c) for c in classes], dtype=np.int32)[label]
        self.seen = self.seen + ClassWeights.count(None, label, weight, len(self.classes))
        found = places(table, self.schema)
        if not self._making:
            self._making = [self._made_for(*pair) for pair in zip(self.schema.blocks, found, strict=True)]
        for i, (block, positions, making) in enumerate(zip(self.schema.blocks, found, self._making, strict=True)):
            if isinstance(making, RunningMeasured):
                making.add([table.columns[j].numbers() for j in positions], label)
            elif isinstance(making, RunningValues):
                codes, listed = zip(*(table.columns[j].codes() for j in positions), strict=True)
                making.add(codes, listed, label)
            else:
                self._sum(i, block, view_of(block, table, positions), label, weight)

    def _sum(
        self, i: int, block: Block, view: View, label: NDArray[np.int32], weight: NDArray[np.float64] | None
    ) -> None:
        before, n_columns = self._sums[i], len(self.schema.names)
        like = self._like[i] if before is None else before
        counted = count_block(block, view, label, weight, len(self.classes), like, n_columns, to_add=True)
        self._sums[i] = counted if before is None else before + counted

    def statistics(self) -> tuple[Statistic, ...]:
        """What was counted, frozen."""
        found = [s if m is None else m.total() for s, m in zip(self._sums, self._making, strict=True)]
        return tuple(statistic for statistic in found if statistic is not None)

    def _made_for(self, block: Block, positions: Sequence[int]) -> RunningMeasured | RunningValues | None:
        kind: Any = block.family.statistic
        if self.weighted or not len(positions):
            return None
        if kind is Measured:
            cap, p = cap_for(len(self.schema.names)), len(positions)
            fits = p <= MOST_COLUMNS and p * cap * len(self.classes) <= MOST_CELLS
            return RunningMeasured(p, len(self.classes), cap) if fits else None
        return RunningValues(len(positions), len(self.classes)) if kind is ValueCounts else None
