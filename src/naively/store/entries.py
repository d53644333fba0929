"""Entries: what was counted, added or taken away, when, by whom; each with a digest, all in one chain of checksums.

    digest_i = H(all fields of entry i and its schema)                      (1)
    checksum_i = H(checksum_{i−1}, digest_i),   checksum_0 = 16 zero bytes  (2)

The digest tells whether an entry is intact, the checksum whether all before it are there, in order; `head` keeps the
number of entries and the last checksum.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from time import time_ns
from typing import NamedTuple, cast

from naively.schema.schema import Schema
from naively.store.counts import DAMAGED, Counts, counts_from_bytes, counts_to_bytes
from naively.store.meta import digest_of

__all__ = [
    "START",
    "DamagedError",
    "Entry",
    "Row",
    "Schemas",
    "append",
    "head_of",
    "intact",
    "new_id",
    "now",
    "rows_after",
]

START = bytes(16)
ACTS = {"fit": 1, "update": 1, "compact": 1, "forget": -1, "undo": 0, "tune": 0, "merge": 0, "copy": 0, "salvage": 0}


class DamagedError(ValueError):
    """Part of a file is not what was written; `number` is the entry, None if it is not about one."""

    def __init__(self, found: str, number: int | None = None) -> None:
        """Say what, and which entry."""
        super().__init__(found)
        self.number = number


def now() -> str:
    """The time, UTC, to the microsecond; as text it sorts as it runs."""
    seconds, rest = divmod(time_ns() // 1000, 10**6)
    return f"{_to_the_second(seconds)}.{rest:06}Z"


@lru_cache(maxsize=1)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


def new_id() -> bytes:
    """128 random bits."""
    return secrets.token_bytes(16)


@dataclass(frozen=True)
class Entry:
    """One line of the log.

    `time` is when its rows were counted: a forget has the time and source of the entry that it corrects, and `written`
    tells when it was made. A compacted entry stands for `absorbed` others, counted between `first` and `last`. `note`
    says what an entry did that counts no rows: what was tuned, what a salvage lost.
    """

    number: int
    id: str
    act: str
    sign: int
    time: str
    written: str
    rows: int
    source: str
    comment: str
    corrects: str | None = None
    absorbed: int = 0
    first: str | None = None
    last: str | None = None
    sources: tuple[str, ...] = ()
    in_force: bool = True
    note: str = ""


class Row(NamedTuple):
    """An entry as the table holds it."""

    number: int
    id: bytes
    act: str
    sign: int
    time: str
    written: str
    rows: int
    source: str
    comment: str
    corrects: bytes | None
    schema: int
    digest: bytes
    checksum: bytes
    span: str | None  # JSON: times and sources of what a compacted entry absorbed; note and settings of a tune
    statistics: bytes | None
    fingerprints: bytes | None
    absorbed: bytes | None  # the ids of what it absorbed, 16 bytes each


COLUMNS = ", ".join(Row._fields)
_INSERT = f"INSERT INTO entries ({COLUMNS}) VALUES ({', '.join('?' * len(Row._fields))})"
_OF_THIS_FILE = ("number", "schema", "digest", "checksum")
_digested = itemgetter(*(i for i, name in enumerate(Row._fields) if name not in _OF_THIS_FILE))


class Schemas:
    """The schemas of a file by their numbers; most entries share one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read when they are asked for."""
        self._connection = connection
        self._known: dict[int, tuple[Schema, str]] = {}

    def get(self, number: int) -> Schema:
        """A schema, checked."""
        return self._found(number)[0]

    def text(self, number: int) -> str:
        """A schema as it stands in the file."""
        return self._found(number)[1]

    def _found(self, number: int) -> tuple[Schema, str]:
        if number not in self._known:
            found = self._connection.execute("SELECT json FROM schemas WHERE number = ?", (number,)).fetchone()
            if found is None or not isinstance(found[0], str):
                raise DamagedError(f"schema {number} is missing")
            self._known[number] = Schema.from_json(found[0]), found[0]
        return self._known[number]

    def number(self, schema: Schema) -> int:
        """The number of a schema, which is written down if it is new."""
        for number, (known, _) in self._known.items():
            if known is schema or known == schema:
                return number
        text = schema.to_json()
        found = self._connection.execute("SELECT number FROM schemas WHERE json = ?", (text,)).fetchone()
        if found is None:
            self._connection.execute("INSERT INTO schemas (json) VALUES (?)", (text,))
            found = self._connection.execute("SELECT max(number) FROM schemas").fetchone()
        self._known[found[0]] = schema, text
        return int(found[0])

    def forget(self) -> None:
        """Look again: they are written anew."""
        self._known.clear()


def _digest(row: Row, schema: str) -> bytes:
    """Equation (1)."""
    return digest_of(*_digested(row), schema)


def head_of(connection: sqlite3.Connection) -> tuple[int, bytes]:
    """How many entries there are, and the checksum of the last."""
    found = connection.execute("SELECT entries, checksum FROM head LIMIT 2").fetchall()
    if len(found) != 1 or type(found[0][0]) is not int or found[0][0] < 0 or not isinstance(found[0][1], bytes):
        raise DamagedError("the number of entries is missing")
    return int(found[0][0]), bytes(found[0][1])


def append(connection: sqlite3.Connection, schemas: Schemas, row: Row, last: tuple[int, bytes] | None = None) -> Row:
    """Write one entry behind the last, whose number and checksum may be known; inside a change."""
    number, before = head_of(connection) if last is None else last
    digest = _digest(row, schemas.text(row.schema))
    done = row._replace(number=number + 1, digest=digest, checksum=digest_of(before, digest))
    connection.execute(_INSERT, done)
    connection.execute("UPDATE head SET entries = ?, checksum = ?", (done.number, done.checksum))
    return done


def intact(row: Row, schemas: Schemas) -> None:
    """Refuse an entry that is not what was written."""
    try:
        right = row.digest == _digest(row, schemas.text(row.schema)) and _well_formed(row)
    except DAMAGED as error:
        raise DamagedError(f"entry {row.number} cannot be read ({error})", row.number) from None
    if not right:
        raise DamagedError(f"{told(row)} is damaged: it does not have its checksum", row.number)


def _well_formed(row: Row) -> bool:
    """Whether the fields are of their kinds; an enemy can write right checksums of wrong fields."""
    for when in (row.time, row.written, *span_of(row)[:2]):
        datetime.fromisoformat(when)
    return (
        ACTS.get(row.act) == row.sign
        and (row.sign == 0) == (row.statistics is None)
        and isinstance(note_of(row), str)
        and type(row.rows) is int
        and isinstance(row.source + row.comment, str)
        and all(part is None or isinstance(part, bytes) for part in (row.statistics, row.fingerprints, row.absorbed))
        and all(isinstance(part, bytes) and len(part) == 16 for part in (row.id, row.corrects) if part is not None)
        and len(row.absorbed or b"") % 16 == 0
    )


def span_of(row: Row) -> tuple[str, str, tuple[str, ...]]:
    """First and last time, and the sources, of what an entry stands for."""
    if row.span is None or row.sign == 0:
        return row.time, row.time, (row.source,)
    found = json.loads(row.span)
    return found["first"], found["last"], tuple(str(source) for source in found["sources"])


def note_of(row: Row) -> str:
    """What an entry that counts no rows says that it did."""
    return "" if row.span is None or row.sign else cast("str", json.loads(row.span)["note"])


def told(row: Row) -> str:
    """An entry for people."""
    return f"entry {row.number} ({row.act} of {row.rows} rows, {row.time}, source {row.source!r})"


def rows_after(connection: sqlite3.Connection, schemas: Schemas, number: int, before: bytes) -> Iterator[Row]:
    """The entries after one whose checksum is known, each checked; DamagedError at the first that is not intact."""
    entries, last = head_of(connection)
    for values in connection.execute(f"SELECT {COLUMNS} FROM entries WHERE number > ? ORDER BY number", (number,)):
        row = Row(*values)
        number += 1
        if row.number != number:
            raise DamagedError(f"entry {number} is missing", number)
        intact(row, schemas)
        before = digest_of(before, row.digest)
        if row.checksum != before:
            raise DamagedError(f"{told(row)} does not follow what is before it", row.number)
        yield row
    if number != entries or before != last:
        raise DamagedError(
            f"entries {number + 1} to {entries} are missing" if number < entries else "the last checksum"
        )


def counts_of(row: Row, schemas: Schemas) -> Counts:
    """What an entry counted."""
    try:
        assert row.statistics is not None
        return counts_from_bytes(row.statistics, schemas.get(row.schema))
    except (*DAMAGED, AssertionError) as error:
        raise DamagedError(f"{told(row)} cannot be read ({error})", row.number) from None


def new_row(
    schemas: Schemas,
    counts: Counts | None,
    act: str,
    sign: int,
    *,
    source: str = "",
    comment: str = "",
    time: str | None = None,
    corrects: bytes | None = None,
    fingerprints: bytes | None = None,
    absorbed: bytes | None = None,
    span: str | None = None,
    schema: int | None = None,
) -> Row:
    """A row to be appended, with an id and the time of now."""
    written = now()
    number = schemas.number(counts.schema) if counts is not None else schema
    assert number is not None
    rows = 0 if counts is None else int(counts.seen.rows.sum())
    payload = None if counts is None else counts_to_bytes(counts)
    return Row(
        0, new_id(), act, sign, time or written, written, rows, source, comment, corrects, number, b"", b"", span,
        payload, fingerprints, absorbed,
    )  # fmt: skip
