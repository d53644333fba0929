"""The rows that tuning looks at: those with the smallest hash of their content, so that their order does not matter.

Rows of one class with equal content are one *kind*, with the sum of their weights; so a weight of 2 is the row twice.
The hash also decides the fold. It does not know the class, so the names of classes do not matter. If all rows fit into
the sample, it is a hash of the ranks of numbers, so that units of measurement do not matter either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.row_hash import mix
from naively.data.arrow_rows import arrow_of_table, table_of_arrow
from naively.data.columns import array_of_arrow, fixed_width_array
from naively.data.labelled import Label
from naively.data.row_hash import hash_values
from naively.data.table import Table, concat_tables
from naively.errors import InputError
from naively.families.base import Leaving
from naively.statistics.arrays import check_array, require

FOLDS = 5
MAX_HASH = 2**64 - 1
MAX_ROWS_AT_ONCE = 2**18  # of a table that are looked at together
HEAD = b"naively sample"  # in the metadata of a sample as an Arrow stream
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
    def counts(self) -> NDArray[np.float64]:
        """How often each kind occurs: its weight if all weights of its class are whole numbers, else its rows."""
        n_classes = int(self.label.max(initial=0)) + 1
        is_fraction = (self.weight != np.floor(self.weight)) | (self.weight < self.rows)  # 2 rows of ½ have weight 1
        has_fraction = np.bincount(self.label, is_fraction, n_classes) > 0
        return np.where(has_fraction[self.label], self.rows, self.weight)

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """How often the table of each kind's class was copied; 1 if it was not."""
        copies = np.ones(len(self), np.int64)
        for c in np.flatnonzero(np.bincount(self.label)):
            own = self.label == c
            copies[own] = count_copies(self.counts[own] if own.sum() >= MIN_KINDS_TO_JUDGE else self.counts)
        return copies

    @cached_property
    def leaving(self) -> Leaving:
        """What leaves the model when a row of each kind is left out: one row, and its copies."""
        leaves_whole = self.copies >= self.counts
        unit = np.where(self.counts == self.weight, self.copies, self.weight * (self.copies / self.counts))
        rows = self.rows * self.copies // self.counts  # none of a row of weight 3, of which a third leaves
        return Leaving.of(
            self.label, np.where(leaves_whole, self.weight, unit), np.where(leaves_whole, self.rows, rows)
        )

    @cached_property
    def n_parts(self) -> NDArray[np.intp]:
        """Among how many folds a kind can be divided: as many as can leave one after the other; one of groups."""
        if self.given_fold is not None:
            return np.ones(len(self), np.intp)
        return np.clip(self.counts // self.copies, 1, FOLDS).astype(np.intp)

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
    factors = np.array(sorted({*np.gcd(counts[1:], counts[:-1]).tolist(), int(np.gcd.reduce(counts))}))
    return int(max((k for k in factors.tolist() if (counts % k == 0).sum() >= enough), default=1)) if len(counts) else 1


def max_hash(hashes: NDArray[np.uint64], limit: int) -> int:
    """Return the largest hash to keep, so that at most `limit` hashes of more remain, or the smallest one."""
    lowest = np.partition(hashes, (0, limit))
    return max(int(lowest[0]), int(lowest[limit]) - 1)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """The kinds of rows with the smallest hashes, each once, with its weight and number of rows: an additive value.

        sample(A + B) = kinds of A or B up to min(max_hash A, max_hash B), trimmed to `limit` kinds         (1)

    Equation (1) depends neither on split nor on order: the smallest hashes of all rows are among those of each part.
    The kinds are sorted by a hash of content and class.

    >>> from naively.data.read import read
    >>> sky = read({"sky": ["sun", "rain", "sun"]})
    >>> rows = SampledRows.count(sky, ("no", "yes"), np.array([1, 0, 1]), None, limit=10)
    >>> len(rows), sorted((rows + rows).rows.tolist())
    (2, [2, 4])
    """

    limit: int
    max_hash: int
    table: Table
    classes: tuple[Label, ...]
    label: NDArray[np.intp]
    hashes: NDArray[np.uint64]
    kinds: NDArray[np.uint64]  # hashes of content and class, in order
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kinds)

    @classmethod
    def count(
        cls,
        table: Table,
        classes: tuple[Label, ...],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
        limit: int,
    ) -> SampledRows:
        """Return the sample of a table.

        Parameters
        ----------
        table
            The rows.
        classes, label
            The classes, and the position of each row's class among them.
        weight
            The weight of each row; None is 1.
        limit
            The number of kinds to keep.
        """
        sampler = Sampler(limit)
        sampler.add(table, classes, label, weight)
        return sampler.sampled if sampler.sampled is not None else cls.none(table, limit)

    @classmethod
    def none(cls, table: Table, limit: int) -> SampledRows:
        """Return the sample of no rows, with the columns of a table."""
        none = np.zeros(0, np.uint64)
        counts = np.zeros(0), np.zeros(0, np.int64)
        return cls(limit, MAX_HASH, table.take(np.zeros(0, np.intp)), (), np.zeros(0, np.intp), none, none, *counts)

    @classmethod
    def sum_of(cls, parts: Sequence[SampledRows]) -> SampledRows:
        """Return equation (1) for one or more samples of the same columns."""
        if len(parts) == 1:
            return parts[0]
        limit, highest = min(part.limit for part in parts), min(part.max_hash for part in parts)
        parts = [part for part in parts if len(part)] or parts[:1]
        classes = tuple(sorted({label for part in parts for label in part.classes}))
        position = {label: code for code, label in enumerate(classes)}
        codes = [np.array([position[c] for c in part.classes], np.intp)[part.label] for part in parts]
        hashes, kinds, weight, rows = (
            np.concatenate(arrays)
            for arrays in zip(*((p.hashes, p.kinds, p.weight, p.rows) for p in parts), strict=True)
        )
        _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
        keep = hashes[first] <= np.uint64(highest)
        if keep.sum() > limit:
            highest = min(highest, max_hash(hashes[first][keep], limit))
            keep = hashes[first] <= np.uint64(highest)
        weight = np.bincount(kind, weights=weight, minlength=len(first)).astype(np.float64)[keep]
        rows = np.bincount(kind, weights=rows, minlength=len(first)).astype(np.int64)[keep]
        first = first[keep]
        return cls(
            limit,
            highest,
            concat_tables([part.table for part in parts]).take(first),
            classes,
            np.concatenate(codes)[first],
            hashes[first],
            kinds[first],
            weight,
            rows,
        )

    def __add__(self, other: SampledRows) -> SampledRows:
        return self.sum_of((self, other))

    def to_bytes(self) -> bytes:
        """Return the sample as an Arrow stream, which `from_bytes` reads; the hashes are computed again there."""
        import pyarrow as pa

        arrow = arrow_of_table(self.table)
        for name, array in (("label", self.label.astype(np.int32)), ("weight", self.weight), ("rows", self.rows)):
            arrow = arrow.append_column(name, fixed_width_array(array))
        sum_of_kinds = int(self.kinds.sum(dtype=np.uint64))
        head = {"limit": self.limit, "max_hash": self.max_hash, "classes": self.classes, "kinds": sum_of_kinds}
        arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), HEAD: json.dumps(head).encode()})
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, arrow.schema) as writer:
            writer.write_table(arrow)
        return bytes(out.getvalue())

    @classmethod
    def from_bytes(cls, data: bytes) -> SampledRows:
        """Return the sample of an Arrow stream; InputError if the bytes are not one that `to_bytes` wrote."""
        import pyarrow as pa

        try:
            arrow = pa.ipc.open_stream(data).read_all()
            arrow.validate(full=True)
            head = json.loads((arrow.schema.metadata or {})[HEAD])
            n = arrow.num_columns - 3
            label, weight, rows = (array_of_arrow(column, None) for column in arrow.columns[n:])
            table = table_of_arrow(arrow.select(list(range(n))))
            sampled = cls._checked(table, head, label, weight, rows)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, InputError, pa.ArrowException) as error:
            raise InputError(f"these bytes are not a sample of rows ({error}).") from None
        return sampled

    @classmethod
    def _checked(cls, table: Table, head: Any, label: Any, weight: Any, rows: Any) -> SampledRows:
        """Return a sample that was read; ValueError unless it is sound."""
        classes, limit, highest = tuple(head["classes"]), head["limit"], head["max_hash"]
        require(all(isinstance(c, (str, bool, int, float)) for c in classes), "classes of a sample")
        require(type(limit) is int and limit > 0, "limit of a sample")
        require(type(highest) is int and 0 <= highest <= MAX_HASH, "largest hash of a sample")
        check_array(label, np.int32, (table.n_rows,), "classes of a sample")
        check_array(weight, np.float64, (table.n_rows,), "weights of a sample")
        check_array(rows, np.int64, (table.n_rows,), "numbers of rows of a sample")
        has_class = bool(((label >= 0) & (label < len(classes))).all())
        require(has_class and bool(((weight > 0) & (rows > 0)).all()), "counts of a sample")
        hashes = table.row_hashes()
        kinds = mix(hashes + hash_values(classes)[label])
        is_same = head["kinds"] == int(kinds.sum(dtype=np.uint64)) and bool((kinds[1:] > kinds[:-1]).all())
        require(is_same and bool((hashes <= np.uint64(highest)).all()), "hashes of the rows of a sample")
        return cls(limit, highest, table, classes, label.astype(np.intp), hashes, kinds, weight, rows)

    def sample(self, classes: Sequence[Label]) -> Sample:
        """Return the kinds in the order of folds and hashes, with codes of these classes."""
        position = {label: code for code, label in enumerate(classes)}
        label = np.array([position[c] for c in self.classes], dtype=np.intp)[self.label]
        hashes = self.hashes
        if self.max_hash == MAX_HASH and len(self.table.names):  # all rows: their ranks are those of the data
            hashes = self.table.ranked().row_hashes()
        order = np.lexsort((label, hashes, mix(hashes) % np.uint64(FOLDS)))
        return Sample(
            table=self.table.take(order),
            label=label[order],
            weight=self.weight[order],
            rows=self.rows[order],
            hashes=hashes[order],
        )


@dataclass
class Sampler:
    """Take tables one after the other, and sum the samples of their rows."""

    limit: int
    sampled: SampledRows | None = None

    @property
    def max_hash(self) -> int:
        """The largest hash of a row that is kept."""
        return MAX_HASH if self.sampled is None else self.sampled.max_hash

    def add(
        self,
        table: Table,
        classes: tuple[Label, ...],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
    ) -> None:
        """Look at more rows: part by part, so that a large table needs little memory."""
        all_hashes, of_class = table.row_hashes(), hash_values(classes)
        for start in range(0, len(all_hashes), MAX_ROWS_AT_ONCE):
            hashes = all_hashes[start : start + MAX_ROWS_AT_ONCE]
            rows = start + np.flatnonzero(hashes <= np.uint64(self.max_hash))
            kinds = mix(all_hashes[rows] + of_class[label[rows]])
            weights = np.ones(len(rows)) if weight is None else weight[rows]
            is_new = self._add_known_kinds(kinds, weights)
            rows, kinds, weights = rows[is_new], kinds[is_new], weights[is_new]
            if len(rows):
                self._add_new_kinds(table, classes, label[rows], rows, all_hashes[rows], kinds, weights)

    def _add_known_kinds(self, kinds: NDArray[np.uint64], weight: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Add the rows whose kind is in the sample; return which rows are left."""
        if self.sampled is None or not len(self.sampled):
            return np.ones(len(kinds), np.bool_)
        known, n = self.sampled.kinds, len(self.sampled)
        place = np.minimum(np.searchsorted(known, kinds), n - 1)
        is_known = np.asarray(known[place] == kinds)
        place = place[is_known]
        weights = self.sampled.weight + np.bincount(place, weights=weight[is_known], minlength=n)
        self.sampled = replace(self.sampled, weight=weights, rows=self.sampled.rows + np.bincount(place, minlength=n))
        return ~is_known

    def _add_new_kinds(
        self,
        table: Table,
        classes: tuple[Label, ...],
        label: NDArray[np.integer],
        rows: NDArray[np.intp],
        hashes: NDArray[np.uint64],
        kinds: NDArray[np.uint64],
        weight: NDArray[np.float64],
    ) -> None:
        """Add rows of other kinds, first those with low hashes: if they fill the sample, the others are not sorted."""
        share = min(4 * self.limit / len(rows), 1.0)
        for highest in dict.fromkeys((min(int(self.max_hash * share), self.max_hash), self.max_hash)):
            low = np.flatnonzero(hashes <= np.uint64(highest))
            _, first, kind = np.unique(kinds[low], return_index=True, return_inverse=True)
            chosen = low[first]
            low_rows = SampledRows(
                self.limit,
                self.max_hash,
                table.take(rows[chosen]),
                classes,
                label[chosen].astype(np.intp),
                hashes[chosen],
                kinds[chosen],
                np.bincount(kind, weights=weight[low], minlength=len(first)).astype(np.float64),
                np.bincount(kind, minlength=len(first)).astype(np.int64),
            )
            none = SampledRows.none(table, self.limit)
            total = SampledRows.sum_of((none if self.sampled is None else self.sampled, low_rows))
            if total.max_hash < highest:  # all rows up to this hash are among the low ones
                break
        self.sampled = total

    def sample(self, classes: Sequence[Label]) -> Sample:
        """Return the kinds in the order of folds and hashes."""
        assert self.sampled is not None  # after at least one row
        return self.sampled.sample(classes)
