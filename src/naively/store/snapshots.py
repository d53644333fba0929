"""Snapshots: sums that are kept in the file, so that reading it is one or two of them and a short tail.

The first row of the table is the sum of entries 1 … k. While what came since is small beside it, a second row is the
sum of entries k + 1 … m, so that a large model is not written anew for every few texts that it is taught.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

from naively.model import merge as merging
from naively.store import running_sum as sums
from naively.store.counts import DAMAGED, counts_from_bytes, counts_to_bytes
from naively.store.entries import Schemas
from naively.store.meta import Meta, digest_of
from naively.store.running_sum import NOTHING, Signed, Sum, counts_of_model, model_of

__all__ = ["read_snapshot", "write_snapshot"]

COLUMNS = "entries, checksum, schema, added, taken, digest"
NONE = b""  # in the place of a sum of no entry


def read_snapshot(connection: sqlite3.Connection, schemas: Schemas, meta: Meta) -> Sum | None:
    """The sum up to the last entry that a snapshot knows of; None if there is none that is as it was written."""
    try:
        found = connection.execute(f"SELECT {COLUMNS} FROM snapshot ORDER BY entries LIMIT 3").fetchall()
        base = _read(connection, schemas, meta, found[0]) if len(found) in (1, 2) else None
    except (*DAMAGED, sqlite3.DatabaseError):
        return None
    if base is None or base.added is None:
        return None
    entries, checksum, schema, added, _, digest = found[0]
    first = Sum(meta, entries, checksum, base, base_bytes=len(added), kept=digest)
    try:
        recent = _read(connection, schemas, meta, found[1], digest) if len(found) == 2 else None
    except (*DAMAGED, sqlite3.DatabaseError):
        recent = None
    if recent is None:
        return first
    alike = found[1][2] == schema
    return replace(first, entries=found[1][0], checksum=found[1][1], recent=recent, alike=alike)


def _read(
    connection: sqlite3.Connection, schemas: Schemas, meta: Meta, found: tuple[Any, ...], *behind: bytes
) -> Signed | None:
    """One row, if it is what was written and its last entry is still there."""
    entries, checksum, number, added, taken, digest = found
    if digest != digest_of(entries, checksum, schemas.text(number), added, taken, *behind):
        return None
    there = connection.execute("SELECT checksum FROM entries WHERE number = ?", (entries,)).fetchone()
    if there is None or there[0] != checksum:
        return None
    schema = schemas.get(number)
    one = None if added == NONE else model_of(counts_from_bytes(added, schema), meta)
    two = None if taken is None else model_of(counts_from_bytes(taken, schema), meta)
    return Signed(one, two)


def write_snapshot(connection: sqlite3.Connection, schemas: Schemas, whole: Sum) -> Sum:
    """Keep the sum of all entries so far beside them; inside a change."""
    recent = whole.since_base()
    if recent != NOTHING and whole.alike and _is_there(connection, whole.kept):
        number, added, taken = _payloads(schemas, recent)
        size = len(added) + len(taken or b"")
        if size <= sums.LITTLE or size * sums.SHARE <= whole.base_bytes:
            connection.execute("DELETE FROM snapshot WHERE digest != ?", (whole.kept,))
            _insert(connection, schemas, whole, number, added, taken, whole.kept)
            return replace(whole, recent=recent, waiting=(), tail=0, tail_bytes=0, _known=[])
    base = whole.base.plus(recent)
    number, added, taken = _payloads(schemas, base)
    connection.execute("DELETE FROM snapshot")
    digest = _insert(connection, schemas, whole, number, added, taken)
    known = (whole.meta, whole.entries, whole.checksum, base)
    return Sum(*known, base_bytes=len(added), kept=digest)


def _is_there(connection: sqlite3.Connection, kept: bytes) -> bool:
    """Whether a snapshot is still in the file: others may have written another one."""
    (n,) = connection.execute("SELECT count(*) FROM snapshot WHERE digest = ?", (kept,)).fetchone()
    return bool(n)


def _payloads(schemas: Schemas, found: Signed) -> tuple[int, bytes, bytes | None]:
    """The number of the schema of both sums, and their bytes."""
    one, two = found
    if one is not None and two is not None:
        one, two = merging.beside(one, two)
    either = two if one is None else one
    assert either is not None
    added, taken = (None if model is None else counts_to_bytes(counts_of_model(model)) for model in (one, two))
    return schemas.number(either.schema), NONE if added is None else added, taken


def _insert(
    connection: sqlite3.Connection,
    schemas: Schemas,
    whole: Sum,
    number: int,
    added: bytes,
    taken: bytes | None,
    *behind: bytes,
) -> bytes:
    """Write one row; its digest. What comes behind another row has that one's digest in its own."""
    digest = digest_of(whole.entries, whole.checksum, schemas.text(number), added, taken, *behind)
    values = (whole.entries, whole.checksum, number, added, taken, digest)
    connection.execute(f"INSERT INTO snapshot ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", values)
    return digest
