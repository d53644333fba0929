"""From a file to its sum: from the snapshots and what follows them, from all entries, or from a sum known before."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from naively.model.model import Model
from naively.store.entries import START, DamagedError, Row, Schemas, counts_of, head_of, rows_after
from naively.store.meta import Meta
from naively.store.running_sum import Signed, Sum, model_of, undone
from naively.store.snapshots import read_snapshot

__all__ = ["caught_up", "read_sum"]

TOGETHER = 1024  # entries that are decoded before they are summed: bounds the memory


def read_sum(connection: sqlite3.Connection, schemas: Schemas, meta: Meta) -> Sum:
    """From the snapshots and what follows them; from all entries if there is none, or it is wrong."""
    found = read_snapshot(connection, schemas, meta)
    if found is not None:
        rows = list(rows_after(connection, schemas, found.entries, found.checksum))
        here = {row.id for row in rows}
        if all(row.corrects in here for row in rows if row.act == "undo"):
            return _with_rows(found, rows, undone((r.id, r.act, r.corrects) for r in rows), schemas)
    acts = connection.execute("SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number").fetchall()
    gone = undone(acts)
    so_far, some = Sum(meta), []
    for row in rows_after(connection, schemas, 0, START):
        some.append(row)
        if len(some) == TOGETHER:
            so_far, some = _with_rows(so_far, some, gone, schemas).folded(), []
    so_far = _with_rows(so_far, some, gone, schemas).folded()
    return so_far if so_far.base.added is not None else _of_nothing(connection, schemas, so_far)


def caught_up(known: Sum, connection: sqlite3.Connection, schemas: Schemas, meta: Meta) -> Sum:
    """A sum with what others have written since it was read."""
    entries, checksum = head_of(connection)
    if (entries, checksum) == (known.entries, known.checksum) and meta == known.meta:
        return known
    there = connection.execute("SELECT checksum FROM entries WHERE number = ?", (known.entries,)).fetchone()
    if meta == known.meta and there is not None and there[0] == known.checksum:
        rows = list(rows_after(connection, schemas, known.entries, known.checksum))
        if not any(row.act == "undo" for row in rows):
            return _with_rows(known, rows, set(), schemas)
    return read_sum(connection, schemas, meta)


def _with_rows(so_far: Sum, rows: Sequence[Row], gone: set[bytes], schemas: Schemas) -> Sum:
    for row in rows:
        counts = None if row.sign == 0 or row.id in gone else counts_of(row, schemas)
        so_far = so_far.plus(row, None if counts is None else Model(*counts))
    return so_far


def _of_nothing(connection: sqlite3.Connection, schemas: Schemas, so_far: Sum) -> Sum:
    """Every entry was undone: the first one less itself."""
    for row in rows_after(connection, schemas, 0, START):
        if row.sign > 0:
            first = model_of(counts_of(row, schemas), so_far.meta)
            return replace(so_far, base=Signed(first - first))
    raise DamagedError("there is no entry that counts anything")
