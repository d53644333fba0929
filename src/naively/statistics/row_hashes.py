"""Row hashes: which rows were counted, as far as a few thousand hashes can tell.

Of the hashes of all rows, content and class together, those up to a limit are held, with the number of their rows. The
limit is the largest that leaves at most `MAX_HASHES` different ones (a bottom-k sketch: Cohen & Kaplan, Summarizing
data using bottom-k sketches, PODC 2007):

    hashes(A + B) = those of A or B up to min(limit A, limit B), trimmed to the smallest MAX_HASHES        (1)
    hashes(A − B) = those of A that B does not have as often, up to limit A                                (2)

(1) does not depend on split or order: the k smallest hashes of all rows are among the k smallest of each part. After a
subtraction fewer than `MAX_HASHES` may be held, because what lies above the limit is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Bools, Wholes
from naively.statistics.arrays import check_array, require

MAX_HASHES = 2048  # at most 10 kB in a model file
HASH_BITS = 40
LARGEST = 2**HASH_BITS - 1
FIRST_GUESS = 4  # times the number of hashes that are held, so that not all are sorted


@dataclass(frozen=True, slots=True, eq=False)
class RowHashes:
    """The smallest hashes of rows in order, the number of rows of each, and the limit up to which all are held.

    >>> first, second = RowHashes.of(np.array([5, 9])), RowHashes.of(np.array([5]))
    >>> (first + second).rows.tolist(), (first - second).hashes.tolist()
    ([2, 1], [9])
    """

    hashes: Wholes
    rows: Wholes
    limit: int = LARGEST

    @classmethod
    def of(cls, hashes: Wholes) -> RowHashes:
        """Return the smallest of the hashes of rows, which have 40 bits."""
        bound = int(FIRST_GUESS * MAX_HASHES / max(len(hashes), 1) * LARGEST)
        if bound < LARGEST:
            low = _counted(hashes[hashes <= bound], None, bound)
            if low.limit < bound:  # there were enough
                return low
        return _counted(hashes, None, LARGEST)

    @classmethod
    def sum_of(cls, parts: Sequence[RowHashes]) -> RowHashes:
        """Return equation (1) for one or more parts."""
        limit = min(part.limit for part in parts)
        hashes, rows = (np.concatenate(arrays) for arrays in zip(*((p.hashes, p.rows) for p in parts), strict=True))
        keep = hashes <= limit
        return _counted(hashes[keep], rows[keep], limit)

    def __add__(self, other: RowHashes) -> RowHashes:
        return self.sum_of((self, other))

    def __sub__(self, other: RowHashes) -> RowHashes:
        """Return equation (2). A hash that is not held, or not as often, leaves none: other statistics refuse it."""
        position, is_held = self._search(other.hashes)
        rows = self.rows.copy()
        np.subtract.at(rows, position[is_held], other.rows[is_held])
        keep = rows > 0
        return RowHashes(self.hashes[keep], rows[keep], min(self.limit, other.limit))._below()

    def _below(self) -> RowHashes:
        """Return what lies within the limit."""
        n = int(np.searchsorted(self.hashes, self.limit, side="right"))
        return RowHashes(self.hashes[:n], self.rows[:n], self.limit)

    def _search(self, hashes: Wholes) -> tuple[NDArray[np.intp], Bools]:
        """Return the position of each hash, and whether it is held."""
        position = np.searchsorted(self.hashes, hashes)
        is_held = position < len(self.hashes)
        is_held[is_held] = self.hashes[position[is_held]] == hashes[is_held]
        return position, is_held

    def are_held(self, hashes: Wholes) -> Bools:
        """Return for each hash whether it is held. If it is not and lies within the limit, it was not counted."""
        return self._search(hashes)[1]

    def equals(self, other: RowHashes) -> bool:
        """Return whether both hold the same hashes of as many rows."""
        return (
            self.limit == other.limit
            and np.array_equal(self.hashes, other.hashes)
            and np.array_equal(self.rows, other.rows)
        )

    def export(self) -> tuple[Wholes, Wholes | None, int | None]:
        """Return what a model file holds: rows only if one is not 1, the limit only if hashes lie above it."""
        rows = None if (self.rows == 1).all() else self.rows
        return self.hashes, rows, None if self.limit == LARGEST else self.limit

    @classmethod
    def from_export(cls, hashes: Any, rows: Any = None, limit: Any = None) -> RowHashes:
        """Return what `export` gave; raise ValueError if it is not sound."""
        require(isinstance(hashes, np.ndarray) and hashes.ndim == 1 and hashes.dtype == np.int64, "hashes of rows")
        rows = np.ones(len(hashes), np.int64) if rows is None else rows
        limit = LARGEST if limit is None else limit
        check_array(rows, np.int64, hashes.shape, "numbers of rows")
        require(type(limit) is int and 0 <= limit <= LARGEST and len(hashes) <= MAX_HASHES, "limit of the hashes")
        if len(hashes):
            is_sound = hashes[0] >= 0 and int(hashes[-1]) <= limit and bool((np.diff(hashes) > 0).all())
            require(bool(is_sound and (rows > 0).all()), "order of the hashes")
        return cls(hashes, rows, limit)


def _counted(hashes: Wholes, rows: Wholes | None, limit: int) -> RowHashes:
    """Return hashes up to a limit with their numbers of rows, trimmed to `MAX_HASHES`."""
    if len(hashes) <= 1:
        return RowHashes(hashes, np.ones(len(hashes), np.int64) if rows is None else rows, limit)
    if rows is None:
        distinct, rows = np.unique(hashes, return_counts=True)
    else:
        order = np.argsort(hashes, kind="stable")  # merges the parts, which are sorted
        first = np.flatnonzero(np.diff(hashes[order], prepend=-1))
        distinct, rows = hashes[order[first]], np.add.reduceat(rows[order], first)
    if len(distinct) <= MAX_HASHES:
        return RowHashes(distinct, rows.astype(np.int64, copy=False), limit)
    return RowHashes(distinct[:MAX_HASHES], rows[:MAX_HASHES].astype(np.int64), int(distinct[MAX_HASHES - 1]))
