"""Entries: what was counted, added or subtracted, when and by whom. Each has a digest, all form a chain of checksums.

    digest_i = H(all fields of entry i and its schema)                      (1)
    checksum_i = H(checksum_{i−1}, digest_i),   checksum_0 = 16 zero bytes  (2)

The digest shows whether an entry is intact, the checksum whether all entries before it are present and in order. The
table `head` holds the number of entries and the last checksum.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from naively.data.labelled import Classes
from naively.data.names import counted
from naively.errors import ConflictError, InputError
from naively.model.model import Model
from naively.schema.schema import Schema
from naively.store.codec import decode_counts, encode_counts, open_payload
from naively.store.meta import Meta, digest_of, read_meta
from naively.store.sqlite import (
    DECODE_ERRORS,
    FORMAT,
    FORMAT_WITH_RELABELS,
    DamagedError,
    close_reader,
    open_to_read,
    translate_file_errors,
)

if TYPE_CHECKING:
    from naively.evaluation.before import PredictedBefore

ID_BYTES = 16
ACTS = {"fit": 1, "update": 1, "compact": 1, "forget": -1, "undo": 0, "tune": 0, "salvage": 0}
ACTS |= {"merge": 0, "copy": 0}  # comments in files that an earlier naively wrote
RELABEL = "relabel"  # forgets rows and learns them with other labels, in parts that are entries of their own otherwise
ACTS[RELABEL] = 0


@dataclass(frozen=True)
class Entry:
    """One entry of the log of a model file.

    Parameters
    ----------
    number, id
        Its position in the log, from 1; an identifier that is the same in every copy of the entry.
    act
        What it records: "fit", "update", "compact", "forget", "relabel", "undo", "tune" or "salvage"; in older files
        also "merge" and "copy".
    sign
        1 if its rows are added, −1 if they are subtracted, 0 if it counts no rows, or forgets rows and learns them with
        other labels.
    time, written
        When its rows were counted, and when it was written. They differ for a forget or a relabel that is attributed to
        an entry: it has the time and the source of that entry.
    rows, source, comment
        The number of rows, where they came from, and a comment.
    corrects
        The id of the entry that it undoes, or whose rows it forgets or relabels.
    absorbed, first, last, sources
        How many entries a compacted entry replaces, the times of the first and the last of these, and their sources.
    is_current
        False if the entry is undone.
    note
        What a relabel has changed, or an entry without rows records: what was tuned, what a salvage lost.
    before
        How well the rows of an update with `evaluate=True` were predicted before they were learnt; it is not stored.
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
    is_current: bool = True
    note: str = ""
    before: PredictedBefore | None = None

    def __repr__(self) -> str:
        source = f", source {self.source!r}" if self.source else ""
        undone = "" if self.is_current else ", undone"
        return f"<Entry {self.id[:8]}: {self.act} of {counted(self.rows, 'row')}, {self.time}{source}{undone}>"


class StoredEntry(NamedTuple):
    """A row of the table `entries`."""

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
    span: str | None  # JSON: times and sources that a compacted entry covers; parts of a relabel; note, settings
    statistics: bytes | None
    fingerprints: bytes | None
    absorbed: bytes | None  # the ids of the entries that a compacted entry replaces

    def __str__(self) -> str:
        return f"entry {self.number} ({self.act} of {self.rows} rows, {self.time}, source {self.source!r})"

    @property
    def short_id(self) -> str:
        """Return the first digits of the id, enough to identify it."""
        return self.id.hex()[:8]

    @property
    def head(self) -> Head:
        """Return the position of the entry in the chain."""
        return Head(self.number, self.checksum)

    def span_fields(self) -> Span:
        """Return the times and sources of the rows of the entry, and its note."""
        if self.span is None:
            return Span(self.time, self.time, (self.source,))
        value = json.loads(self.span)
        if self.sign == 0:
            return Span(self.time, self.time, (self.source,), value["note"])
        return Span(value["first"], value["last"], tuple(str(source) for source in value["sources"]))

    def parts(self) -> Sequence[StoredEntry]:
        """Return what a relabel forgets and learns, each as a forget or an update; else the entry itself."""
        if self.act != RELABEL:
            return (self,)
        parts, statistics, fingerprints = [], self.statistics or b"", self.fingerprints
        for head in heads_of_parts(self.span):
            part = self._replace(
                act=head.act, sign=ACTS[head.act], time=head.time, rows=head.rows, source=head.source,
                corrects=head.corrects, span=head.span, statistics=statistics[: head.n_bytes],
                fingerprints=None if fingerprints is None else fingerprints[: head.n_fingerprint_bytes],
            )  # fmt: skip
            statistics = statistics[head.n_bytes :]
            fingerprints = None if fingerprints is None else fingerprints[head.n_fingerprint_bytes :]
            parts.append(part)
        if statistics or fingerprints:
            raise ValueError("bytes after the parts of a relabel")
        return parts

    def corrected_ids(self) -> set[bytes]:
        """Return the ids of the entries that this entry, or one of its parts, corrects."""
        return {part.corrects for part in self.parts() if part.corrects is not None}

    def public(self, is_current: bool = True) -> Entry:
        """Return the entry as the log shows it."""
        first, last, sources, note = self.span_fields()
        corrects = None if self.corrects is None else self.corrects.hex()
        n_absorbed = len(self.absorbed or b"") // ID_BYTES
        return Entry(
            self.number, self.id.hex(), *self[2:9], corrects, n_absorbed, first, last, sources, is_current, note
        )

    def absorbed_ids(self) -> frozenset[bytes]:
        """Return the ids of the entries that a compacted entry replaces."""
        return frozenset(split_ids(self.absorbed))


class HeadOfPart(NamedTuple):
    """What the column `span` of a relabel says of each of its parts."""

    act: str
    time: str
    source: str
    rows: int
    corrects: bytes | None
    span: str | None
    n_bytes: int
    n_fingerprint_bytes: int


def heads_of_parts(span: str | None) -> Iterator[HeadOfPart]:
    """Yield the parts of a relabel, what is forgotten first; raise one of DECODE_ERRORS if they are not valid."""
    for act, time, source, rows, corrects, inner, *sizes in json.loads(span or "")["parts"]:
        if act not in ("forget", "update") or type(rows) is not int or not isinstance(source, str):
            raise ValueError("parts of a relabel")
        if len(sizes) != 2 or any(type(size) is not int or size < 0 for size in sizes):
            raise ValueError("sizes of the parts of a relabel")
        yield HeadOfPart(act, time, source, rows, None if corrects is None else bytes.fromhex(corrects), inner, *sizes)


class Span(NamedTuple):
    """What the column `span` says: first and last time and the sources of the rows, and a note."""

    first: str
    last: str
    sources: tuple[str, ...]
    note: str = ""


class Head(NamedTuple):
    """The row of the table `head`: the number of entries and the checksum of the last one."""

    entries: int
    checksum: bytes


START = Head(0, bytes(16))
COLUMNS = ", ".join(StoredEntry._fields)
_INSERT = f"INSERT INTO entries ({COLUMNS}) VALUES ({', '.join('?' * len(StoredEntry._fields))})"
_NOT_IN_DIGEST = ("number", "schema", "digest", "checksum")
_digest_fields = itemgetter(*(i for i, name in enumerate(StoredEntry._fields) if name not in _NOT_IN_DIGEST))


@dataclass(eq=False)
class Counts:
    """What an entry or a snapshot counted, decoded when it is first needed.

    `sign` is 1 for counts to add, −1 for counts to subtract. `payload` is empty if only the model is known. `origin` is
    what a message names if the payload is damaged.
    """

    sign: int
    schema: Schema
    payload: bytes = b""
    _model: Model | None = None
    origin: StoredEntry | str = "a snapshot"

    @property
    def model(self) -> Model:
        """Return the counts as a model without settings."""
        if self._model is None:
            try:
                self._model = decode_counts(self.payload, self.schema)
            except DECODE_ERRORS as error:
                raise DamagedError(f"{self.origin} cannot be read ({error})") from None
        return self._model

    @cached_property
    def classes(self) -> Classes:
        """Return the classes; the counts are not decoded for that."""
        if self._model is not None:
            return self._model.classes
        try:
            return tuple(open_payload(self.payload)[0]["classes"])
        except DECODE_ERRORS as error:
            raise DamagedError(f"{self.origin} cannot be read ({error})") from None


@dataclass(frozen=True, eq=False)
class Log:
    """The entries of an open file, and their schemas, which are read when they are first needed."""

    path: Path
    connection: sqlite3.Connection
    _schemas: dict[int, tuple[Schema, str]] = field(default_factory=dict)
    _ids: set[bytes] = field(default_factory=set)  # of all entries, and those that they absorbed; empty if not read

    def schema(self, number: int) -> tuple[Schema, str]:
        """Return a schema, checked, and its JSON as it is in the file."""
        if number not in self._schemas:
            row = self.connection.execute("SELECT json FROM schemas WHERE number = ?", (number,)).fetchone()
            if row is None or not isinstance(row[0], str):
                raise DamagedError(f"schema {number} is missing")
            self._schemas[number] = Schema.from_json(row[0]), row[0]
        return self._schemas[number]

    def schema_number(self, schema: Schema) -> int:
        """Return the number of a schema; write it to the file if it is new."""
        for number, (known, text) in self._schemas.items():
            if known is schema:
                return number
            if known == schema:
                self._schemas[number] = schema, text  # the same object next time
                return number
        for (number,) in self.connection.execute("SELECT number FROM schemas").fetchall():
            if self.schema(number)[0] == schema:
                return int(number)
        text = schema.to_json()
        new = self.connection.execute("INSERT INTO schemas (json) VALUES (?)", (text,)).lastrowid
        assert new is not None  # the statement inserts a row
        self._schemas[new] = schema, text
        return new

    def read_head(self) -> Head:
        """Return the number of entries and the checksum of the last one."""
        rows = self.connection.execute("SELECT entries, checksum FROM head LIMIT 2").fetchall()
        if len(rows) != 1 or type(rows[0][0]) is not int or rows[0][0] < 0 or not isinstance(rows[0][1], bytes):
            raise DamagedError("the number of entries is missing")
        return Head(*rows[0])

    def holds(self, head: Head) -> bool:
        """Return whether the file holds the entry at this position of the chain."""
        query = "SELECT 1 FROM entries WHERE number = ? AND checksum = ?"
        return self.connection.execute(query, head).fetchone() is not None

    def select(self, condition: str, *values: Any) -> Iterator[StoredEntry]:
        """Yield the entries that meet a condition of SQL; they are not checked."""
        for row in self.connection.execute(f"SELECT {COLUMNS} FROM entries WHERE {condition}", values):
            yield StoredEntry(*row)

    def read(self, number: int) -> StoredEntry:
        """Return the entry with this number, checked."""
        entry = next(self.select("number = ?", number), None)
        if entry is None:
            raise DamagedError(f"entry {number} is missing")
        self.check(entry)
        return entry

    def after(self, head: Head = START) -> Iterator[StoredEntry]:
        """Yield the entries after a position of the chain; DamagedError at the first that is not intact."""
        number, checksum = head
        last = self.read_head()
        for entry in self.select("number > ? ORDER BY number", number):
            number += 1
            if entry.number != number:
                raise DamagedError(f"entry {number} is missing")
            self.check(entry)
            checksum = digest_of(checksum, entry.digest)
            if entry.checksum != checksum:
                raise DamagedError(f"{entry} does not continue the entries before it")
            yield entry
        if number < last.entries:
            raise DamagedError(f"entries {number + 1} to {last.entries} are missing")
        if (number, checksum) != last:
            raise DamagedError("the last checksum is wrong")

    def check(self, entry: StoredEntry) -> None:
        """Raise DamagedError unless an entry is what was written.

        The fields are checked as well as the digest: a forged file can have right digests of wrong fields.
        """
        blobs = (entry.statistics, entry.fingerprints, entry.absorbed, entry.corrects)
        try:
            span = entry.span_fields()
            for moment in (entry.time, entry.written, span.first, span.last):
                datetime.fromisoformat(moment)
            if entry.act == RELABEL:
                for part in entry.parts():
                    for moment in (part.time, *part.span_fields()[:2]):
                        datetime.fromisoformat(moment)
            is_intact = (
                entry.digest == self._digest(entry)
                and ACTS.get(entry.act) == entry.sign
                and (entry.sign == 0 and entry.act != RELABEL) == (entry.statistics is None)
                and type(entry.rows) is int
                and isinstance(entry.source + entry.comment + span.note, str)
                and isinstance(entry.id, bytes)
                and all(blob is None or isinstance(blob, bytes) for blob in blobs)
                and all(len(id_) == ID_BYTES for id_ in (entry.id, *entry.corrected_ids()))
                and len(entry.absorbed or b"") % ID_BYTES == 0
            )
        except DECODE_ERRORS as error:
            raise DamagedError(f"entry {entry.number} cannot be read ({error})") from None
        if not is_intact:
            raise DamagedError(f"{entry} is damaged: it does not match its checksum")

    def _digest(self, entry: StoredEntry) -> bytes:
        return digest_of(*_digest_fields(entry), self.schema(entry.schema)[1])

    def counts(self, entry: StoredEntry) -> Counts:
        """Return the counts of an entry that counts rows, or of a part of a relabel."""
        return Counts(entry.sign, self.schema(entry.schema)[0], entry.statistics or b"", origin=entry)

    def counts_of(self, entries: Iterable[StoredEntry], undone: Collection[bytes]) -> Iterator[Counts]:
        """Yield the counts of all parts of entries, without those that are undone."""
        for entry in entries:
            if entry.id not in undone:
                yield from (self.counts(part) for part in entry.parts() if part.sign)

    def attributed_forgets(self) -> Iterator[StoredEntry]:
        """Yield the forgets that are attributed to an entry, parts of relabels too; without those that are undone."""
        undone = self.undone_ids()
        for entry in self.select(f"(act = 'forget' AND corrects NOT NULL) OR act = '{RELABEL}'"):
            if entry.id not in undone:
                yield from (part for part in entry.parts() if part.sign < 0 and part.corrects is not None)

    def undone_ids(self) -> set[bytes]:
        """Return the ids of the entries that are undone."""
        query = "SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number"
        return undone_among(self.connection.execute(query))

    def find(self, prefix: str) -> StoredEntry:
        """Return the entry whose id begins with these hexadecimal digits."""
        digits = prefix.strip().lower()
        if len(digits) < 4 or not all(digit in "0123456789abcdef" for digit in digits):
            raise InputError(
                f"{self.path}: {prefix!r} is not the id of an entry: give 4 or more of its hexadecimal digits "
                "(naively log)."
            )
        entries = list(self.select("lower(hex(id)) LIKE ? LIMIT 5", f"{digits}%"))
        if len(entries) == 1:
            return entries[0]
        if entries:
            ids = ", ".join(entry.id.hex()[: len(digits) + 4] for entry in entries)
            raise InputError(
                f"{self.path}: several entries have an id that begins with {digits} ({ids}): give more digits."
            )
        for compacted in self.select("absorbed NOT NULL"):
            if any(id_.hex().startswith(digits) for id_ in compacted.absorbed_ids()):
                raise ConflictError(
                    f"{self.path}: entry {digits} was absorbed when the file was compacted (entry {compacted.number}, "
                    f"{compacted.short_id}): it can no longer be separated from the others."
                )
        raise InputError(f"{self.path}: has no entry whose id begins with {digits} (naively log lists them).")

    def new_entry(
        self,
        act: str,
        model: Model | None = None,
        *,
        schema: int = 0,
        source: str = "",
        comment: str = "",
        time: str | None = None,
        corrects: bytes | None = None,
        span: str | None = None,
        fingerprints: bytes | None = None,
        absorbed: bytes | None = None,
        id: bytes | None = None,  # noqa: A002  (as the log calls it)
        sample: bytes = b"",
    ) -> StoredEntry:
        """Return an entry to append, with a new id unless it is given, and the time of now.

        An entry without counts names a schema too, because every entry does.
        """
        written = now()
        payload, rows = None, 0
        if model is not None:
            schema, payload = self.schema_number(model.schema), encode_counts(model, sample)
            rows = int(model.class_weights.rows.sum())
        return StoredEntry(
            0, id or secrets.token_bytes(ID_BYTES), act, ACTS[act], time or written, written, rows, source, comment,
            corrects, schema, b"", b"", span, payload, fingerprints, absorbed,
        )  # fmt: skip

    def append(self, entry: StoredEntry, head: Head | None = None) -> StoredEntry:
        """Write an entry behind the last one, whose position may be known; inside a transaction."""
        number, before = head or self.read_head()
        digest = self._digest(entry)
        written = entry._replace(number=number + 1, digest=digest, checksum=digest_of(before, digest))
        self.connection.execute(_INSERT, written)
        if entry.act == RELABEL:
            self.connection.execute(f"PRAGMA user_version={FORMAT_WITH_RELABELS}")  # earlier versions refuse the file
        self.connection.execute("UPDATE head SET entries = ?, checksum = ?", written.head)
        if self._ids:
            self._ids.add(entry.id)
        return written

    def of_request(self, act: str, request_id: str | None) -> tuple[bytes | None, StoredEntry | None]:
        """Return the id of the entry of a request, and the entry if it was written before.

        A request that is sent again, because its answer was lost, is written once. The id of its entry is computed from
        that of the request, so that every copy of the file knows it.
        """
        if request_id is None:
            return None, None
        if not self._ids:
            for id_, absorbed in self.connection.execute("SELECT id, absorbed FROM entries"):
                self._ids.update((id_, *split_ids(absorbed)))
        id_ = digest_of("request", request_id)
        if id_ not in self._ids:
            return id_, None
        entry = next(self.select("id = ?", id_), None) or next(self.select("instr(absorbed, ?)", id_))
        if entry.act not in (act, "compact"):
            raise ConflictError(f"{self.path}: the request id was used for another change (entry {entry.short_id}).")
        return id_, entry

    def clear(self) -> None:
        """Delete all entries, snapshots and schemas; inside a transaction."""
        for table in ("entries", "snapshot", "schemas"):
            self.connection.execute(f"DELETE FROM {table}")
        self.connection.execute("UPDATE head SET entries = ?, checksum = ?", START)
        self.connection.execute(f"PRAGMA user_version={FORMAT}")
        self._schemas.clear()
        self._ids.clear()


@contextmanager
def open_file(path: str | Path) -> Iterator[tuple[Log, Meta]]:
    """Open one state of a file to read it: yield its entries and its settings."""
    with translate_file_errors(path):
        connection = open_to_read(path)
        try:
            yield Log(Path(path), connection), read_meta(connection)
        finally:
            close_reader(connection, path)


def split_ids(ids: bytes | None) -> Iterator[bytes]:
    """Yield ids that are stored one after the other."""
    return ((ids or b"")[i : i + ID_BYTES] for i in range(0, len(ids or b""), ID_BYTES))


def now() -> str:
    """Return the time in UTC, to the microsecond; as text it sorts by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def undone_among(acts: Iterable[tuple[bytes, str, bytes | None]]) -> set[bytes]:
    """Return the ids that are undone, given (id, act, corrects) of entries in order.

    An undo comes after what it undoes, so from the last one back each is known to be undone itself or not.

    >>> a, b, c = b"a", b"b", b"c"
    >>> sorted(undone_among([(a, "fit", None), (b, "undo", a), (c, "undo", b)]))
    [b'b']
    """
    undone: set[bytes] = set()
    for id_, act, corrects in reversed(list(acts)):
        if act == "undo" and id_ not in undone and corrects is not None:
            undone.add(corrects)
    return undone
