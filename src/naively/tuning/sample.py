"""The rows that tuning looks at: those with the smallest hash of their content, so that order does not matter.

Equal rows (with equal labels) are one row here, of their whole weight; so a row of weight 2 is the row twice. Rows fall
into folds by their content as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import data as sources
from naively.data.row_hash import mix, row_hashes
from naively.data.table import Table

__all__ = ["FOLDS", "Sample", "Sampler"]

FOLDS = 5
HIGHEST = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows, fold by fold: their columns, class codes, the weight and number of the rows like each."""

    table: Table
    label: NDArray[np.intp]
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]
    ends: tuple[int, ...]  # fold f is ends[f] … ends[f + 1]
    whole: bool  # whether these are all rows there are

    def __len__(self) -> int:
        return len(self.label)

    @property
    def fold(self) -> NDArray[np.intp]:
        """The fold of each row."""
        return np.repeat(np.arange(FOLDS), np.diff(self.ends))

    def where(self, chosen: NDArray[np.bool_]) -> Sample:
        """Some of the rows."""
        ends = np.concatenate([[0], np.cumsum(np.bincount(self.fold[chosen], minlength=FOLDS))])
        return replace(
            self,
            table=self.table.where(chosen),
            label=self.label[chosen],
            weight=self.weight[chosen],
            rows=self.rows[chosen],
            ends=tuple(ends.tolist()),
        )


@dataclass
class Sampler:
    """Takes in tables one after the other and keeps the rows of the smallest hashes, `limit` different ones."""

    limit: int
    ceiling: int = HIGHEST
    tables: list[Table] = field(default_factory=list)
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    labels: list[tuple[tuple[Any, ...], NDArray[np.integer]]] = field(default_factory=list)
    weights: list[NDArray[np.float64]] = field(default_factory=list)

    def add(
        self,
        table: Table,
        classes: tuple[Any, ...],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
    ) -> None:
        """Look at more rows."""
        hashes = row_hashes(table, classes, label)
        self._lower(hashes)
        kept = np.flatnonzero(hashes <= np.uint64(self.ceiling))
        if not len(kept):
            return
        self.tables.append(table if len(kept) == len(hashes) else table.take(kept))
        self.hashes.append(hashes[kept])
        self.labels.append((classes, label[kept]))
        self.weights.append(np.ones(len(kept)) if weight is None else weight[kept])

    def _lower(self, hashes: NDArray[np.uint64]) -> None:
        """Lower the ceiling to the smallest under which there are `limit` different rows, these ones included."""
        near = hashes if self.ceiling == HIGHEST else hashes[hashes <= np.uint64(self.ceiling)]
        share = 2 * self.limit / max(len(near), 1)  # a first guess, so that not all are sorted
        if share < 0.5:
            lowest = near[near <= np.uint64(int(self.ceiling * share))]
            near = lowest if len(np.unique(lowest)) >= self.limit else near
        different = np.unique(np.concatenate([*self.hashes, near]))
        if len(different) > self.limit:
            self.ceiling = int(different[self.limit - 1])

    def sample(self, classes: Sequence[Any], limit: int | None = None) -> Sample:
        """The rows kept, or `limit` of them, in the order of their folds and hashes."""
        place = {label: position for position, label in enumerate(classes)}
        codes = [np.array([place[c] for c in known], dtype=np.intp)[label] for known, label in self.labels]
        hashes, label = np.concatenate(self.hashes), np.concatenate(codes)
        weight = np.concatenate(self.weights)
        table = sources.concatenated(self.tables)
        kept = np.flatnonzero(hashes <= np.uint64(self.ceiling))
        if limit is not None:
            lowest = np.unique(hashes[kept])[:limit]
            kept = kept[hashes[kept] <= lowest[-1]] if len(lowest) else kept
        different, first, inverse = np.unique(hashes[kept], return_index=True, return_inverse=True)
        rows = np.bincount(inverse, minlength=len(different))
        whole = np.bincount(inverse, weights=weight[kept], minlength=len(different))
        fold = (mix(different) % np.uint64(FOLDS)).astype(np.intp)
        order = np.lexsort((different, fold))
        chosen = kept[first][order]
        ends = np.concatenate([[0], np.cumsum(np.bincount(fold, minlength=FOLDS))])
        return Sample(
            table.take(chosen),
            label[chosen],
            whole[order].astype(np.float64),
            rows[order].astype(np.int64),
            tuple(ends.tolist()),
            len(kept) == len(hashes) and self.ceiling == HIGHEST,
        )
