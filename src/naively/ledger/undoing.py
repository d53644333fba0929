"""Which entries can be undone, and why not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from naively.errors import InputError
from naively.ledger.history import named
from naively.ledger.sums import undone
from naively.storage.entries import COLUMNS, Row

__all__ = ["by_id", "target_of"]


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
