"""The rows that tuning looks at: those with the smallest hash of their content, so that their order does not matter.

Rows of one class with equal content are one *kind*, with the sum of their weights; so a weight of 2 is the row twice.
The hash also decides the fold. It does not know the class, so the names of classes do not matter. If all rows fit into
the sample, it is a hash of the ranks of numbers, so that units of measurement do not matter either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import Label
from naively.data.row_hash import hash_values, mix
from naively.data.table import Table, concat_tables
from naively.families.base import Leaving

FOLDS = 5
MAX_HASH = 2**64 - 1
MIN_KINDS_TO_JUDGE = 9  # of a class; with fewer, `count_copies` cannot tell copies from chance
MIN_COPIED_DEVIATIONS = 3.0  # of the number of kinds in multiples of k, above half of the kinds


@dataclass(frozen=True, eq=False)
class Sample:
    """Kinds of rows, fold by fold: columns, class codes, the weight and number of rows of each kind, and its hash."""

    table: Table
    label: NDArray[np.intp]
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    given_fold: NDArray[np.intp] | None = None  # the fold of each kind, if groups of rows decide it

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def fold(self) -> NDArray[np.intp]:
        """The fold of each kind."""
        if self.given_fold is not None:
            return self.given_fold
        return (mix(self.hashes) % np.uint64(FOLDS)).astype(np.intp)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The first kind of each fold, and the end of the last."""
        return tuple(np.searchsorted(self.fold, np.arange(FOLDS + 1)).tolist())

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """How often the table of each kind's class was copied: 1 if it was not, or if its weights are no counts."""
        is_count = self.weight == np.floor(self.weight)
        copies = np.ones(len(self), np.int64)
        for c in np.unique(self.label):
            own = self.label == c
            if is_count[own].all():
                copies[own] = count_copies(self.weight[own if own.sum() >= MIN_KINDS_TO_JUDGE else is_count])
        return copies

    @cached_property
    def leaving(self) -> Leaving:
        """What leaves the model when a row of each kind is left out: one row, and its copies."""
        unit = np.where(self.weight == np.floor(self.weight), self.copies, self.weight / self.rows)
        leaves_whole = unit >= self.weight
        return Leaving.of(self.label, np.where(leaves_whole, self.weight, unit), np.where(leaves_whole, self.rows, 0))

    @cached_property
    def n_parts(self) -> NDArray[np.intp]:
        """Among how many folds a kind can be divided: as many as can leave one after the other; one of groups."""
        if self.given_fold is not None:
            return np.ones(len(self), np.intp)
        return np.clip(self.weight // self.leaving.weight, 1, FOLDS).astype(np.intp)

    def where(self, keep: NDArray[np.bool_]) -> Sample:
        """Return some of the kinds."""
        fold = None if self.given_fold is None else self.given_fold[keep]
        return Sample(
            self.table.where(keep), self.label[keep], self.weight[keep], self.rows[keep], self.hashes[keep], fold
        )

    def smallest(self, limit: int) -> Sample:
        """Return at most `limit` kinds, those with the smallest hashes; all kinds of one content."""
        return self if len(self) <= limit else self.where(self.is_among_smallest(limit))

    def is_among_smallest(self, limit: int) -> NDArray[np.bool_]:
        """Return which kinds these are."""
        highest = max_hash(self.hashes, limit) if len(self) > limit else MAX_HASH
        return np.asarray(self.hashes <= np.uint64(highest))


def join_folds(samples: Mapping[int, Sample]) -> Sample:
    """Return samples of which each is a fold, by the number of the fold, as one sample."""
    folds = sorted(samples)
    parts = [samples[f] for f in folds]
    table, fold = concat_tables([part.table for part in parts]), np.repeat(folds, [len(part) for part in parts])
    label, weight, rows, hashes = (
        np.concatenate(arrays) for arrays in zip(*((p.label, p.weight, p.rows, p.hashes) for p in parts), strict=True)
    )
    return Sample(table, label, weight, rows, hashes, fold)


def count_copies(weight: NDArray[np.float64]) -> int:
    """Return k if kinds of rows come in multiples of k, as in a table that was copied k times; else 1.

    Of rows drawn one by one, a kind that occurs does so an even number of times with probability (1 − e^−λ)/2 < ½, and
    a multiple of 3 or more times at most ⅓ of the time. In a table copied k times every kind comes in multiples of k.

    >>> count_copies(np.array([2.0, 4, 2, 2, 6, 2, 2, 2, 4])), count_copies(np.array([2.0, 4, 1, 2, 6, 2, 2, 2, 4]))
    (2, 1)
    """
    counts = np.sort(weight).astype(np.int64)
    enough = 0.5 * (len(counts) + MIN_COPIED_DEVIATIONS * np.sqrt(len(counts)))
    factors = np.unique([*np.gcd(counts[1:], counts[:-1]), np.gcd.reduce(counts)])
    return int(max((k for k in factors.tolist() if (counts % k == 0).sum() >= enough), default=1)) if len(counts) else 1


def max_hash(hashes: NDArray[np.uint64], limit: int) -> int:
    """Return the largest hash to keep, so that at most `limit` hashes of more remain, or the smallest one."""
    lowest = np.partition(hashes, (0, limit))
    return max(int(lowest[0]), int(lowest[limit]) - 1)


@dataclass
class Sampler:
    """Take tables one after the other, and keep the rows with the smallest hashes: `limit` kinds."""

    limit: int
    max_hash: int = MAX_HASH
    tables: list[Table] = field(default_factory=list)
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    kinds: list[NDArray[np.uint64]] = field(default_factory=list)  # hashes of content and class
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
        all_hashes = table.row_hashes()
        keep = np.flatnonzero(all_hashes <= np.uint64(self.max_hash))
        hashes = all_hashes[keep]
        kinds = mix(hashes + hash_values(classes)[label[keep]])
        share = min(4 * self.limit / max(len(keep), 1), 1.0)  # a first guess, so that not all are sorted
        is_low = hashes <= np.uint64(min(int(self.max_hash * share), self.max_hash))
        if not self._lower_max_hash(hashes[is_low], kinds[is_low]):
            self._lower_max_hash(hashes, kinds)
        is_low = hashes <= np.uint64(self.max_hash)
        keep = keep[is_low]
        if not len(keep):
            return
        self.tables.append(table if len(keep) == len(all_hashes) else table.take(keep))
        self.hashes.append(hashes[is_low])
        self.kinds.append(kinds[is_low])
        self.labels.append((classes, label[keep]))
        self.weights.append(np.ones(len(keep)) if weight is None else weight[keep])

    def _lower_max_hash(self, hashes: NDArray[np.uint64], kinds: NDArray[np.uint64]) -> bool:
        """Lower `max_hash` to what admits `limit` kinds, the new ones included; return whether there are more."""
        first_of_kinds = np.unique(np.concatenate([*self.kinds, kinds]), return_index=True)[1]
        hash_of_kind = np.concatenate([*self.hashes, hashes])[first_of_kinds]
        hash_of_kind = hash_of_kind[hash_of_kind <= np.uint64(self.max_hash)]
        if len(hash_of_kind) <= self.limit:
            return False
        self.max_hash = max_hash(hash_of_kind, self.limit)
        return True

    def sample(self, classes: Sequence[Label]) -> Sample:
        """Return the kinds in the order of folds and hashes."""
        position = {label: code for code, label in enumerate(classes)}
        codes = [np.array([position[c] for c in known], dtype=np.intp)[label] for known, label in self.labels]
        hashes, label, weight = (np.concatenate(parts) for parts in (self.hashes, codes, self.weights))
        table = concat_tables(self.tables)
        if self.max_hash == MAX_HASH and len(table.names):  # all rows: their ranks are those of the data
            hashes = table.ranked().row_hashes()
        order = np.lexsort((label, hashes, mix(hashes) % np.uint64(FOLDS)))
        order = order[hashes[order] <= np.uint64(self.max_hash)]
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (np.diff(hashes[order]) != 0) | (np.diff(label[order]) != 0)
        first, kind = order[is_first], np.cumsum(is_first) - 1
        return Sample(
            table=table.take(first),
            label=label[first],
            weight=np.bincount(kind, weights=weight[order], minlength=len(first)).astype(np.float64),
            rows=np.bincount(kind, minlength=len(first)).astype(np.int64),
            hashes=hashes[first],
        )
