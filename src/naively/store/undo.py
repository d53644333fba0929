"""Which entries can be undone, and why not; and the sum without them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from naively.errors import InputError
from naively.model.model import Model
from naively.statistics import EmptyStatistic, TokenCounts, ValueCounts, WordCounts
from naively.store.arrays import Arrays
from naively.store.codec import encode
from naively.store.entries import COLUMNS, Row, Schemas, counts_of, intact
from naively.store.history import named
from naively.store.running_sum import Signed, Sum, model_of, undone
from naively.store.summing import read_sum

__all__ = ["by_id", "sum_after", "target_of"]


def by_id(path: Path, connection: sqlite3.Connection, id_: str) -> Row:
    """The entry whose id begins so."""
    wanted = id_.strip().lower()
    if len(wanted) < 4 or not all(c in "0123456789abcdef" for c in wanted):
        raise InputError(
            f"{path}: {id_!r} is no id of an entry: give 4 or more of its hexadecimal digits (naively log)."
        )
    found = [
        Row(*values)
        for values in connection.execute(
            f"SELECT {COLUMNS} FROM entries WHERE lower(hex(id)) LIKE ? LIMIT 5", (f"{wanted}%",)
        )
    ]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(row.id.hex()[: len(wanted) + 4] for row in found)
        raise InputError(f"{path}: several entries have an id that begins with {wanted} ({listed}): give more digits.")
    for number, id_of, absorbed in connection.execute(
        "SELECT number, id, absorbed FROM entries WHERE absorbed NOT NULL"
    ):
        if any(absorbed[i : i + 16].hex().startswith(wanted) for i in range(0, len(absorbed), 16)):
            raise InputError(
                f"{path}: entry {wanted} was absorbed when the file was compacted (entry {number}, {named(id_of)}): "
                "it can no longer be told from the others."
            )
    raise InputError(f"{path}: has no entry whose id begins with {wanted} (naively log lists them).")


def target_of(path: Path, connection: sqlite3.Connection, id_: str) -> Row:
    """The entry to undo, if it can be."""
    target = by_id(path, connection, id_)
    if target.act == "compact":
        raise InputError(f"{path}: entry {named(target.id)} is what a compaction left: that cannot be undone.")
    if target.act in ("merge", "copy", "salvage"):
        raise InputError(f"{path}: entry {named(target.id)} is a note ({target.act}): there is nothing to undo.")
    acts = connection.execute(
        "SELECT id, act, corrects FROM entries WHERE corrects NOT NULL ORDER BY number"
    ).fetchall()
    gone = undone(acts)
    if target.id in gone:
        raise InputError(f"{path}: entry {named(target.id)} is undone already; undo the undo to bring it back.")
    for found, act, corrects in acts:
        if corrects == target.id and act == "forget" and found not in gone:
            raise InputError(
                f"{path}: entry {named(target.id)} was partly forgotten by entry {named(found)}: undo that one first."
            )
    return target


def sum_after(connection: sqlite3.Connection, schemas: Schemas, known: Sum, done: Row, root: Row) -> Sum:
    """The sum once an entry was undone, or brought back, by an undo that is written already.

    All is summed anew behind the last snapshot that does not have the entry. If there is none, and whole numbers were
    counted, the entry is taken from the sum that is known, or added to it: that is the same, bit for bit.
    """
    connection.execute("DELETE FROM snapshot WHERE entries >= ?", (root.number,))
    (snapshots,) = connection.execute("SELECT count(*) FROM snapshot").fetchone()
    found = None if snapshots else _changed(connection, schemas, known, done, root)
    return read_sum(connection, schemas, known.meta) if found is None else found


def _changed(connection: sqlite3.Connection, schemas: Schemas, known: Sum, done: Row, root: Row) -> Sum | None:
    """The sum that is known with one entry more or less; None if it would not be the sum of the others."""
    if connection.execute("SELECT count(*) FROM schemas").fetchone() != (1,):
        return None  # the entry may be what decided how a column is counted
    intact(root, schemas)
    part = model_of(counts_of(root, schemas), known.meta)
    added, taken = known.folded().base
    before = added if root.sign > 0 else taken
    if not _whole(part) or (before is not None and not (_whole(before) and before.seen.rows.any())):
        return None  # a model of nothing has classes that its entries need not have
    acts = connection.execute("SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number").fetchall()
    if root.id not in undone(acts):
        after: Model | None = part if before is None else before + part
    else:
        assert before is not None
        after = before - part
        if not after.seen.rows.any():
            if root.sign > 0:
                return None
            after = None
    base = Signed(after, taken) if root.sign > 0 else Signed(added, after)
    return Sum(known.meta, done.number, done.checksum, base, base_bytes=known.base_bytes)


def _whole(model: Model) -> bool:
    """Whether only whole numbers were counted: then nothing is rounded, and order does not matter."""
    if not all(isinstance(s, (WordCounts, ValueCounts, TokenCounts, EmptyStatistic)) for s in model.statistics):
        return False
    arrays: Arrays = []
    encode((model.seen, *model.statistics), arrays)
    return all(bool((array == np.trunc(array)).all()) for array in arrays if array.dtype.kind == "f")
