"""The sum of the entries of a file, and the snapshots that keep it in the file.

    model = Σ counts of entries with sign +1  −  Σ counts of entries with sign −1,   without undone entries        (1)

All counts with sign +1 are added before any are subtracted, so the sum depends neither on the order of the entries nor
on the snapshots. Snapshots are sums that are stored in the file, so that a reader need not add all entries. The first
row of the table is the sum of entries 1 … k. While the entries after it are small compared with it, a second row is the
sum of entries k + 1 … m: a large model is not written again for every few texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naively._kernels.threads import use_threads
from naively.data.labelled import Label, LabelledRows
from naively.model import merge
from naively.model.count import count_like
from naively.model.model import Model
from naively.schema.schema import Schema
from naively.statistics import ClassWeights
from naively.store.codec import encode_counts
from naively.store.entries import START, Counts, Head, Log, StoredEntry, open_file, undone_among
from naively.store.meta import Meta, digest_of
from naively.store.sqlite import DECODE_ERRORS, DamagedError

MAX_PENDING_ENTRIES = 256  # a snapshot is written when more entries follow the last one
MAX_PENDING_SHARE = 10  # … or when they take more than this part (one tenth) of the bytes of the first
MIN_SNAPSHOT_BYTES = 1 << 16  # … and more than these bytes
MAX_ROWS_ONE_THREAD = 64  # fewer rows than these are not worth a second thread
MAX_DECODED_ENTRIES = 1024  # entries that are decoded before they are summed; bounds the memory
SnapshotRow = tuple[int, bytes, int, bytes, bytes | None, bytes]  # of these columns:
_COLUMNS = "entries, checksum, schema, added, taken, digest"
_INSERT = f"INSERT INTO snapshot ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"


class AddedAndRemoved(NamedTuple):
    """The sum of what was added, and the sum of what was removed; None if nothing was."""

    added: Model | None = None
    removed: Model | None = None

    @classmethod
    def of(cls, counts: Iterable[Counts]) -> AddedAndRemoved:
        """Return both sums."""
        by_sign: dict[int, list[Model]] = {1: [], -1: []}
        for part in counts:
            by_sign[part.sign].append(part.model)
        return cls(merge.total(by_sign[1]), merge.total(by_sign[-1]))

    def difference(self) -> Model | None:
        """Return what was added without what was removed; None if nothing was added."""
        return self.added if self.added is None or self.removed is None else self.added - self.removed

    def counts(self, *payloads: bytes | None) -> tuple[Counts, ...]:
        """Return the sums as counts, with their payloads if they are known."""
        return tuple(
            Counts(sign, model.schema, payload or b"", model)
            for sign, model, payload in zip((1, -1), self, payloads or (b"", b""), strict=True)
            if model is not None
        )


@dataclass(frozen=True, eq=False)
class RunningSum:
    """The sum of the entries up to `head`; equation (1) is computed when `model` is first needed.

    `base` is what the first snapshot holds, or the first entry; `recent` is what the second snapshot holds; `pending`
    are the entries after them, with `pending_bytes` of payload. `schema` is the schema of the sum. `snapshot_digest`
    identifies the first snapshot, and is empty if there is none.
    """

    meta: Meta
    head: Head = START
    base: tuple[Counts, ...] = ()
    recent: tuple[Counts, ...] = ()
    pending: tuple[Counts, ...] = ()
    schema: Schema | None = None
    snapshot_digest: bytes = b""
    pending_bytes: int = 0

    @classmethod
    def of_base(cls, meta: Meta, head: Head, base: tuple[Counts, ...], snapshot_digest: bytes = b"") -> RunningSum:
        """Return a sum of which everything is in the base."""
        schema = reduce(merge.unite, (part.schema for part in base))
        return cls(meta, head, base, schema=schema, snapshot_digest=snapshot_digest)

    def plus(self, head: Head, counts: Iterable[Counts]) -> RunningSum:
        """Return the sum with further entries, of which `head` is the last.

        SchemaError if their columns do not agree with those of the sum.
        """
        base, pending, schema, n_bytes = self.base, [*self.pending], self.schema, self.pending_bytes
        for part in counts:
            if schema is None:
                base, schema = (part,), part.schema
                continue
            pending.append(part)
            n_bytes += len(part.payload)
            if part.schema is not schema:
                schema = merge.unite(schema, part.schema)  # the same object if they are equal
        return RunningSum(
            self.meta, head, base, self.recent, tuple(pending), schema, self.snapshot_digest, pending_bytes=n_bytes
        )

    @property
    def is_snapshot_due(self) -> bool:
        """Return whether so much follows the last snapshot that one should be written."""
        n_bytes = self.pending_bytes
        return (
            len(self.pending) > MAX_PENDING_ENTRIES
            or (not self.snapshot_digest and self.head.entries > MAX_PENDING_ENTRIES)
            or (n_bytes > MIN_SNAPSHOT_BYTES and n_bytes * MAX_PENDING_SHARE > self.base_bytes)
        )

    @property
    def base_bytes(self) -> int:
        """Return the bytes of what the first snapshot added."""
        return sum(len(part.payload) for part in self.base if part.sign > 0)

    def since_base(self) -> AddedAndRemoved:
        """Return the sums of what follows the first snapshot."""
        return AddedAndRemoved.of((*self.recent, *AddedAndRemoved.of(self.pending).counts()))

    @cached_property
    def sums(self) -> AddedAndRemoved:
        """Return the sums of all entries."""
        return AddedAndRemoved.of((*self.base, *self.since_base().counts()))

    @cached_property
    def model(self) -> Model:
        """Return equation (1), with the settings of the file."""
        model = self.sums.difference()
        if model is None:
            raise DamagedError("no entry counts any rows")
        return self.meta.apply(model)

    @property
    def classes(self) -> list[Label]:
        """Return the classes of all rows that were added, without decoding their counts; forgotten ones too."""
        parts = (*self.base, *self.recent, *self.pending)
        return list(dict.fromkeys(label for part in parts if part.sign > 0 for label in part.classes))

    def template(self) -> Model:
        """Return a model without statistics whose schema and classes say how further rows are counted."""
        classes = self.base[0].classes
        weights = ClassWeights(np.zeros(len(classes)), np.zeros(len(classes), dtype=np.int64))
        assert self.schema is not None  # a file has at least one entry
        return Model(self.schema, classes, weights, (), target=self.meta.target)


def count_rows(template: Model, batches: Iterable[LabelledRows]) -> Model:
    """Return the counts of rows as an entry holds them: under the schema of a template, without settings."""
    models = []
    for rows in batches:
        with use_threads(1 if rows.n_rows < MAX_ROWS_ONE_THREAD else None):
            models.append(count_like(template, rows))
    counts = merge.total(models)
    assert counts is not None  # a reader of labelled rows refuses data without rows
    return counts


def load(path: str | Path) -> Model:
    """Load the model of a file: the sum of its entries.

    The file may be in use: another process may write to it at the same time, or may have been killed while it did.
    Nothing in the file is executed.

    Parameters
    ----------
    path
        A file that `Model.save`, `Ledger.fit` or `naively fit` has written.

    Returns
    -------
    Model
        The model, with the class prior and the tuning of the file.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or is not a model file.
    """
    with open_file(path) as (log, meta):
        return read_sum(log, meta).model


def read_sum(log: Log, meta: Meta) -> RunningSum:
    """Read the sum from the snapshots and the entries after them; from all entries if no snapshot is valid."""
    snapshots = _read_snapshots(log, meta)
    if snapshots is not None:
        entries = list(log.after(snapshots.head))
        ids = {entry.id for entry in entries}
        if all(entry.corrects in ids for entry in entries if entry.act == "undo"):
            return _plus_entries(snapshots, entries, undone_among((e.id, e.act, e.corrects) for e in entries), log)
    undone, total, batch = log.undone_ids(), RunningSum(meta), list[StoredEntry]()
    for entry in log.after():
        batch.append(entry)
        if len(batch) == MAX_DECODED_ENTRIES:
            total, batch = _plus_entries(total, batch, undone, log), []
            total = RunningSum.of_base(meta, total.head, total.sums.counts())
    total = _plus_entries(total, batch, undone, log)
    if any(part.sign > 0 for part in (*total.base, *total.pending)):
        return total
    zero = _zero(log)
    return replace(total, base=(zero, *total.base), schema=total.schema or zero.schema)


def catch_up(known: RunningSum, log: Log, meta: Meta) -> RunningSum:
    """Return the sum with what other processes have written since it was read."""
    head = log.read_head()
    if head == known.head:
        return known if meta == known.meta else replace(known, meta=meta)
    if log.holds(known.head):
        entries = list(log.after(known.head))
        if not any(entry.act == "undo" for entry in entries):
            return _plus_entries(replace(known, meta=meta), entries, set(), log)
    return read_sum(log, meta)


def _plus_entries(total: RunningSum, entries: list[StoredEntry], undone: set[bytes], log: Log) -> RunningSum:
    if not entries:
        return total
    return total.plus(entries[-1].head, log.counts_of(entries, undone))


def _zero(log: Log) -> Counts:
    """Return counts of no rows like the first entry: the sum if every entry is undone."""
    for entry in log.after():
        if entry.sign > 0:
            first = log.counts(entry).model
            return Counts(1, first.schema, b"", first - first)
    raise DamagedError("no entry counts any rows")


def _read_snapshots(log: Log, meta: Meta) -> RunningSum | None:
    """Return the sum of the last entry that the snapshots include; None if the first is missing or not valid."""
    snapshots: list[tuple[Head, tuple[Counts, ...], bytes]] = []
    try:
        rows = log.connection.execute(f"SELECT {_COLUMNS} FROM snapshot ORDER BY entries LIMIT 3").fetchall()
        for row in rows if len(rows) <= 2 else ():
            counts = _read_snapshot(log, row, *(digest for _, _, digest in snapshots))
            if not counts:
                break
            snapshots.append((Head(*row[:2]), counts, row[-1]))
    except (*DECODE_ERRORS, sqlite3.DatabaseError):
        pass  # the snapshots before it are valid
    if not snapshots or snapshots[0][1][0].sign < 0:
        return None
    first = RunningSum.of_base(meta, *snapshots[0])
    if len(snapshots) == 1:
        return first
    head, recent, _ = snapshots[1]
    schema = reduce(merge.unite, (part.schema for part in (*first.base, *recent)))
    return replace(first, head=head, recent=recent, schema=schema)


def _read_snapshot(log: Log, row: tuple[Any, ...], *previous: bytes) -> tuple[Counts, ...]:
    """Return the counts of one row; none unless it is what was written and its last entry still exists."""
    entries, checksum, number, added, removed, digest = row
    schema, text = log.schema(number)
    if digest != digest_of(entries, checksum, text, added, removed, *previous) or not log.holds(Head(*row[:2])):
        return ()
    return tuple(Counts(sign, schema, payload) for sign, payload in ((1, added), (-1, removed)) if payload)


def write_snapshot(log: Log, total: RunningSum) -> RunningSum:
    """Write the sum of all entries so far; inside a transaction."""
    execute = log.connection.execute
    since = total.since_base()
    # Another process may have replaced the first snapshot.
    is_stored = execute("SELECT 1 FROM snapshot WHERE digest = ?", (total.snapshot_digest,)).fetchone() is not None
    if is_stored and any(since) and total.schema is total.base[0].schema:
        row = _snapshot_row(log, total.head, since, total.snapshot_digest)
        *_, added, removed, _ = row
        n_bytes = len(added) + len(removed or b"")
        if n_bytes <= MIN_SNAPSHOT_BYTES or n_bytes * MAX_PENDING_SHARE <= total.base_bytes:
            execute("DELETE FROM snapshot WHERE digest != ?", (total.snapshot_digest,))
            execute(_INSERT, row)
            return replace(total, recent=since.counts(added, removed), pending=(), pending_bytes=0)
    row = _snapshot_row(log, total.head, total.sums)
    *_, added, removed, digest = row
    execute("DELETE FROM snapshot")
    execute(_INSERT, row)
    return RunningSum.of_base(total.meta, total.head, total.sums.counts(added, removed), digest)


def _snapshot_row(log: Log, head: Head, sums: AddedAndRemoved, *previous: bytes) -> SnapshotRow:
    """Return the row of two sums. The digest of the second row includes that of the first."""
    models = [model for model in sums if model is not None]
    if len(models) == 2:
        models = list(merge.align(*models))
    number = log.schema_number(models[0].schema)
    payloads = [encode_counts(model) for model in models]
    added = b"" if sums.added is None else payloads[0]
    removed = None if sums.removed is None else payloads[-1]
    digest = digest_of(*head, log.schema(number)[1], added, removed, *previous)
    return *head, number, added, removed, digest
