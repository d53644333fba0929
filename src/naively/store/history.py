"""The log of a file: entries for people, without what they counted."""

from __future__ import annotations

import sqlite3

from naively.store.entries import START, Entry, Row, Schemas, note_of, rows_after, span_of
from naively.store.running_sum import undone

__all__ = ["entry_of", "log", "named", "span_of"]


def entry_of(row: Row, in_force: bool = True) -> Entry:
    """A row as the log shows it."""
    first, last, sources = span_of(row)
    return Entry(
        row.number,
        row.id.hex(),
        row.act,
        row.sign,
        row.time,
        row.written,
        row.rows,
        row.source,
        row.comment,
        None if row.corrects is None else row.corrects.hex(),
        len(row.absorbed or b"") // 16,
        first,
        last,
        sources,
        in_force,
        note_of(row),
    )


def log(connection: sqlite3.Connection, schemas: Schemas) -> tuple[Entry, ...]:
    """All entries, each checked."""
    rows = [row._replace(statistics=None, fingerprints=None) for row in rows_after(connection, schemas, 0, START)]
    gone = undone((row.id, row.act, row.corrects) for row in rows)
    return tuple(entry_of(row, row.id not in gone) for row in rows)


def named(id_: bytes) -> str:
    """An id short enough to read, long enough to be typed."""
    return id_.hex()[:8]
