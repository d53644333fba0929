"""The rows that tuning looks at: those with the smallest hash of their content, so that their order does not matter.

Equal rows with equal labels are one row here, with the sum of their weights; so a weight of 2 is the row twice. The
hash also decides the fold of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import Label
from naively.data.row_hash import mix
from naively.data.table import Table, concat_tables

FOLDS = 5
MAX_HASH = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows, fold by fold: columns, class codes, and the weight and number of the rows equal to each."""

    table: Table
    label: NDArray[np.intp]
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]
    ends: tuple[int, ...]  # fold f is ends[f] … ends[f + 1]

    @property
    def fold(self) -> NDArray[np.intp]:
        """The fold of each row."""
        return np.repeat(np.arange(FOLDS), np.diff(self.ends))

    def where(self, keep: NDArray[np.bool_]) -> Sample:
        """Return some of the rows."""
        ends = np.concatenate([[0], np.cumsum(np.bincount(self.fold[keep], minlength=FOLDS))])
        return replace(
            self,
            table=self.table.where(keep),
            label=self.label[keep],
            weight=self.weight[keep],
            rows=self.rows[keep],
            ends=tuple(ends.tolist()),
        )


@dataclass
class Sampler:
    """Take tables one after the other, and keep the rows with the smallest hashes: `limit` distinct ones."""

    limit: int
    max_hash: int = MAX_HASH
    tables: list[Table] = field(default_factory=list)
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    labels: list[tuple[tuple[Any, ...], NDArray[np.integer]]] = field(default_factory=list)
    weights: list[NDArray[np.float64]] = field(default_factory=list)

    def add(
        self,
        table: Table,
        classes: tuple[Label, ...],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
    ) -> None:
        """Look at more rows."""
        hashes = table.row_hashes(classes, label)
        self._lower_max_hash(hashes)
        keep = np.flatnonzero(hashes <= np.uint64(self.max_hash))
        if not len(keep):
            return
        self.tables.append(table if len(keep) == len(hashes) else table.take(keep))
        self.hashes.append(hashes[keep])
        self.labels.append((classes, label[keep]))
        self.weights.append(np.ones(len(keep)) if weight is None else weight[keep])

    def _lower_max_hash(self, hashes: NDArray[np.uint64]) -> None:
        """Lower `max_hash` to the smallest value that admits `limit` distinct rows, the new ones included."""
        candidates = hashes if self.max_hash == MAX_HASH else hashes[hashes <= np.uint64(self.max_hash)]
        share = 2 * self.limit / max(len(candidates), 1)  # a first guess, so that not all are sorted
        if share < 0.5:
            lowest = candidates[candidates <= np.uint64(int(self.max_hash * share))]
            candidates = lowest if len(np.unique(lowest)) > self.limit else candidates
        distinct = np.unique(np.concatenate([*self.hashes, candidates]))
        if len(distinct) > self.limit:
            self.max_hash = int(distinct[self.limit - 1])

    def sample(self, classes: Sequence[Label], limit: int | None = None) -> Sample:
        """Return the rows, or `limit` of them, in the order of folds and hashes."""
        position = {label: code for code, label in enumerate(classes)}
        codes = [np.array([position[c] for c in known], dtype=np.intp)[label] for known, label in self.labels]
        hashes, label = np.concatenate(self.hashes), np.concatenate(codes)
        weight = np.concatenate(self.weights)
        table = concat_tables(self.tables)
        keep = np.flatnonzero(hashes <= np.uint64(self.max_hash))
        if limit is not None:
            lowest = np.unique(hashes[keep])[:limit]
            keep = keep[hashes[keep] <= lowest[-1]] if len(lowest) else keep
        distinct, first, inverse = np.unique(hashes[keep], return_index=True, return_inverse=True)
        n_copies = np.bincount(inverse, minlength=len(distinct))
        total_weight = np.bincount(inverse, weights=weight[keep], minlength=len(distinct))
        fold = (mix(distinct) % np.uint64(FOLDS)).astype(np.intp)
        order = np.lexsort((distinct, fold))
        rows = keep[first][order]
        ends = np.concatenate([[0], np.cumsum(np.bincount(fold, minlength=FOLDS))])
        return Sample(
            table=table.take(rows),
            label=label[rows],
            weight=total_weight[order].astype(np.float64),
            rows=n_copies[order].astype(np.int64),
            ends=tuple(ends.tolist()),
        )
