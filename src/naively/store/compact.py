"""Compaction: one entry in the place of all, and nothing left of the others in the file."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter

from naively.errors import InputError
from naively.store import running_sum as sums
from naively.store.entries import COLUMNS, START, Entry, Row, Schemas, append, new_row, rows_after, span_of
from naively.store.fingerprints import pack_fingerprints, unpack_fingerprints
from naively.store.history import entry_of
from naively.store.running_sum import Sum, undone
from naively.store.sqlite import patiently

__all__ = ["compact", "only_entry", "vacuum"]


def compact(connection: sqlite3.Connection, schemas: Schemas, whole: Sum, comment: str) -> Sum:
    """Replace all entries by their sum; inside a change. Every entry is checked before it goes."""
    absorbed = b""
    net: Counter[bytes] = Counter()
    times: list[str] = []
    sources: dict[str, None] = {}
    acts = connection.execute("SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number").fetchall()
    gone = undone(acts)
    for row in rows_after(connection, schemas, 0, START):
        absorbed += row.id + (row.absorbed or b"")
        if row.sign and row.id not in gone:
            first, last, of = span_of(row)
            times += [first, last]
            sources |= dict.fromkeys(of)
            if row.fingerprints is not None:
                for mark, n in unpack_fingerprints(row.fingerprints).items():
                    net[mark] += row.sign * n
    model = whole.model()
    assert model is not None
    marks = None if whole.meta.key is None else pack_fingerprints(net)
    span = json.dumps({"first": min(times, default=""), "last": max(times, default=""), "sources": list(sources)})
    for table in ("entries", "snapshot", "schemas"):
        connection.execute(f"DELETE FROM {table}")
    schemas.forget()
    connection.execute("UPDATE head SET entries = 0, checksum = ?", (START,))
    new = new_row(
        schemas,
        sums.counts_of_model(model),
        "compact",
        1,
        time=max(times, default=None),
        source="; ".join(source for source in sources if source),
        comment=comment,
        fingerprints=marks,
        absorbed=absorbed,
        span=span,
    )
    done = append(connection, schemas, new)
    return Sum(whole.meta).plus(done, model)


def only_entry(connection: sqlite3.Connection) -> Entry:
    """The entry that a compaction leaves."""
    return entry_of(Row(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone()))


def vacuum(connection: sqlite3.Connection, wait: float) -> None:
    """Write the file anew without what was deleted, and the log of changes too."""
    (silent,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={int(1000 * wait)}")
    try:
        patiently(connection, "VACUUM", wait)
        busy = patiently(connection, "PRAGMA wal_checkpoint(TRUNCATE)", wait)
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise
        busy = (1,)
    finally:
        connection.execute(f"PRAGMA busy_timeout={silent}")
    if busy[0]:
        raise InputError(
            "the file was compacted, but others are reading it, so bytes of forgotten words may still be in it: "
            "compact it again when nobody has it open."
        )
