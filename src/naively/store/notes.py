"""Entries that count nothing: they say that a file was merged, copied or salvaged."""

from __future__ import annotations

import json
import sqlite3

from naively.store.entries import Row, Schemas, append, new_row

__all__ = ["append_note", "new_note"]


def new_note(schemas: Schemas, act: str, schema: int, *, source: str = "", comment: str = "", note: str = "") -> Row:
    """A row to be appended; it names a schema only because every entry does."""
    span = json.dumps({"note": note}, ensure_ascii=False) if note else None
    return new_row(schemas, None, act, 0, schema=schema, source=source, comment=comment, span=span)


def append_note(connection: sqlite3.Connection, act: str, *, source: str = "", comment: str = "") -> Row:
    """Write one behind the last entry; inside a change."""
    schemas = Schemas(connection)
    (number,) = connection.execute("SELECT max(number) FROM schemas").fetchone()
    return append(connection, schemas, new_note(schemas, act, number, source=source, comment=comment))
