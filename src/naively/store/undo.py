"""Undo an entry: which entries can be undone, and the sum without them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import (
    COLUMNS,
    Counts,
    Head,
    Schemas,
    StoredEntry,
    check_entry,
    find_entry,
    short,
    undone_ids,
)
from naively.store.running_sum import AddedAndRemoved, RunningSum, read_sum
from naively.store.sqlite import DamagedError


def entry_to_undo(path: Path, connection: sqlite3.Connection, prefix: str) -> StoredEntry:
    """Return the entry whose id begins with `prefix`; InputError if it cannot be undone."""
    entry = find_entry(path, connection, prefix)
    if entry.act == "compact":
        raise InputError(f"{path}: entry {entry.short_id} is the result of a compaction, which cannot be undone.")
    if entry.act in ("merge", "copy", "salvage"):
        raise InputError(f"{path}: entry {entry.short_id} is a note ({entry.act}): there is nothing to undo.")
    undone = undone_ids(connection)
    if entry.id in undone:
        raise InputError(f"{path}: entry {entry.short_id} is undone already; undo the undo to restore it.")
    forgets = connection.execute("SELECT id FROM entries WHERE act = 'forget' AND corrects = ?", (entry.id,))
    for (id_,) in forgets:
        if id_ not in undone:
            raise InputError(
                f"{path}: entry {entry.short_id} was partly forgotten by entry {short(id_)}: undo that one first."
            )
    return entry


def undone_root(connection: sqlite3.Connection, entry: StoredEntry) -> StoredEntry:
    """Follow undos of undos to the entry that is removed from the sum or restored."""
    while entry.act == "undo":
        row = connection.execute(f"SELECT {COLUMNS} FROM entries WHERE id = ?", (entry.corrects,)).fetchone()
        if row is None or row[0] >= entry.number:  # an undo comes after what it undoes
            raise DamagedError(f"the entry that entry {entry.number} undoes is missing", entry.number)
        entry = StoredEntry(*row)
    return entry


def sum_after_undo(
    connection: sqlite3.Connection, schemas: Schemas, known: RunningSum, head: Head, root: StoredEntry
) -> RunningSum:
    """Return the sum after an undo, which is written already, has removed or restored the entry `root`.

    The entries are summed again behind the last snapshot that does not include `root`. If there is none, and only
    integers were counted, `root` is subtracted from the known sum or added to it: the result is the same bit for bit,
    and 100,000 entries need not be read again.
    """
    connection.execute("DELETE FROM snapshot WHERE entries >= ?", (root.number,))
    if connection.execute("SELECT 1 FROM snapshot").fetchone() is None:
        sums = _adjusted(connection, schemas, known, root)
        if sums is not None:
            return RunningSum.of_base(known.meta, head, sums.counts())
    return read_sum(connection, schemas, known.meta)


def _adjusted(
    connection: sqlite3.Connection, schemas: Schemas, known: RunningSum, root: StoredEntry
) -> AddedAndRemoved | None:
    """Return the known sums with or without `root`; None if they might differ from the sums of the other entries."""
    if connection.execute("SELECT count(*) FROM schemas").fetchone() != (1,):
        return None  # `root` may have determined how a column is counted
    check_entry(root, schemas)
    counts = Counts.of_entry(root, schemas).model
    before = known.sums.added if root.sign > 0 else known.sums.removed
    is_undone = root.id in undone_ids(connection)
    if before is None or not (before.class_weights.rows.any() and _is_integral(before) and _is_integral(counts)):
        return None
    after = before - counts if is_undone else before + counts
    if not after.class_weights.rows.any():
        return None
    return known.sums._replace(**{"added" if root.sign > 0 else "removed": after})


def _is_integral(model: Model) -> bool:
    """Return whether only integers were counted: then nothing is rounded, and the order of sums does not matter."""
    return all(part.is_integral() for part in (model.class_weights, *model.statistics))
