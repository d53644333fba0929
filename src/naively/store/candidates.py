"""The entries from which rows can be taken, each less what was taken from it before."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from naively.errors import InputError
from naively.model.model import Model
from naively.store.arrays import content
from naively.store.counts import DAMAGED
from naively.store.entries import COLUMNS, DamagedError, Row, Schemas, counts_of, intact
from naively.store.fingerprints import unpack_fingerprints
from naively.store.meta import Meta
from naively.store.running_sum import model_of, undone
from naively.store.undo import by_id

__all__ = ["Candidate", "Candidates"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry in force: how many of its rows are left, and whether that is all of them."""

    number: int
    id: bytes
    rows: int
    schema: int
    whole: bool


class Candidates:
    """All entries in force that counted rows, the latest first, or the one named."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, schemas: Schemas, meta: Meta, entry: str | None
    ) -> None:
        """Read what they are, but not yet what they counted."""
        self.path, self.connection, self.schemas, self.meta = path, connection, schemas, meta
        corrections = connection.execute(
            "SELECT id, act, corrects, number, rows FROM entries WHERE corrects NOT NULL ORDER BY number"
        ).fetchall()
        self.gone = undone(found[:3] for found in corrections)
        self.taken: dict[bytes, list[int]] = {}
        less: Counter[bytes] = Counter()
        for id_, act, corrects, number, rows in corrections:
            if act == "forget" and id_ not in self.gone:
                self.taken.setdefault(corrects, []).append(number)
                less[corrects] += rows
        found = connection.execute("SELECT number, id, rows, schema FROM entries WHERE sign = 1 ORDER BY number DESC")
        self.all = [
            Candidate(number, id_, rows - less[id_], schema, id_ not in self.taken)
            for number, id_, rows, schema in found
            if id_ not in self.gone
        ]
        if entry is not None:
            only = by_id(path, connection, entry)
            self.all = [candidate for candidate in self.all if candidate.id == only.id]
            if not self.all:
                raise InputError(f"{path}: entry {entry} does not count any rows: name one that does (naively log).")

    def contents(self, rows: int, column: str = "statistics") -> Iterator[tuple[Candidate, bytes]]:
        """Entries of so many rows or more, each with the content of what it counted: no statistic is made of it."""
        wanted = {c.number: c for c in self.all if c.rows >= rows}
        if not wanted:
            return
        found = self.connection.execute(
            f"SELECT number, {column} FROM entries WHERE number BETWEEN ? AND ? ORDER BY number DESC",
            (min(wanted), max(wanted)),
        )
        for number, payload in found:
            if number in wanted:
                try:
                    yield wanted[number], content(payload)
                except DAMAGED as error:
                    raise DamagedError(f"entry {number} cannot be read ({error})", number) from None

    def row(self, candidate: Candidate) -> Row:
        """The entry itself, checked."""
        return self._row(candidate.number)

    def left(self, candidate: Candidate) -> Model:
        """What is left of the counts of an entry."""
        left = self._model(self._row(candidate.number))
        for number in self.taken.get(candidate.id, ()):
            left = left - self._model(self._row(number))
        return left

    def marks(self, candidate: Candidate) -> Counter[bytes]:
        """What is left of the fingerprints of an entry."""
        left: Counter[bytes] = Counter()
        for sign, number in ((1, candidate.number), *((-1, number) for number in self.taken.get(candidate.id, ()))):
            found = self._row(number)
            if found.fingerprints is None:
                raise DamagedError(f"entry {number} has no fingerprints", number)
            for mark, n in unpack_fingerprints(found.fingerprints).items():
                left[mark] += sign * n
        return left

    def _row(self, number: int) -> Row:
        found = self.connection.execute(f"SELECT {COLUMNS} FROM entries WHERE number = ?", (number,)).fetchone()
        if found is None:
            raise DamagedError(f"entry {number} is missing", number)
        row = Row(*found)
        intact(row, self.schemas)
        return row

    def _model(self, row: Row) -> Model:
        return model_of(counts_of(row, self.schemas), self.meta)
