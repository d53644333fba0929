"""Compact a file: replace all entries by one, and erase the bytes of the others."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter

from naively.errors import InputError
from naively.store.entries import Counts, Log, StoredEntry
from naively.store.fingerprints import RememberedRows, pack_rows, unpack_rows
from naively.store.running_sum import RunningSum
from naively.store.sqlite import execute_when_free


def compact(log: Log, total: RunningSum, comment: str) -> tuple[StoredEntry, RunningSum]:
    """Replace all entries by their sum; inside a transaction. Every entry is checked before it is deleted."""
    absorbed = b""
    remembered: Counter[tuple[bytes, str]] = Counter()
    column: str | None = None
    times: list[str] = []
    sources: dict[str, None] = {}
    undone = log.undone_ids()
    for entry in log.after():
        absorbed += entry.id + (entry.absorbed or b"")
        if entry.id in undone:
            continue
        for part in entry.parts():
            if part.sign > 0:
                span = part.span_fields()
                times += [span.first, span.last]
                sources |= dict.fromkeys(span.sources)
            if part.fingerprints is not None:
                rows = unpack_rows(part.fingerprints)
                column = rows.column or column
                for row, n in rows.counts.items():
                    remembered[row] += part.sign * n
    model = total.model
    log.clear()
    compacted = log.new_entry(
        "compact",
        model,
        time=max(times, default=None),
        source="; ".join(source for source in sources if source),
        comment=comment,
        span=json.dumps({"first": min(times), "last": max(times), "sources": list(sources)}) if times else None,
        fingerprints=None if total.meta.key is None else pack_rows(RememberedRows(remembered, column)),
        absorbed=absorbed,
    )
    entry = log.append(compacted)
    counts = Counts(1, model.schema, entry.statistics or b"", model)
    return entry, RunningSum.of_base(total.meta, entry.head, (counts,))


def vacuum(connection: sqlite3.Connection, wait: float) -> None:
    """Write the file again without deleted bytes, and empty the WAL."""
    try:
        execute_when_free(connection, "VACUUM", wait)
        connection.execute(f"PRAGMA busy_timeout={int(1000 * wait)}")  # without it, the checkpoint does not wait
        is_busy = execute_when_free(connection, "PRAGMA wal_checkpoint(TRUNCATE)", wait)[0]
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise
        is_busy = 1
    finally:
        connection.execute("PRAGMA busy_timeout=0")
    if is_busy:
        raise InputError(
            "the file was compacted, but other processes are reading it, so bytes of forgotten words may still be in "
            "it: compact it again when no other process has it open."
        )
