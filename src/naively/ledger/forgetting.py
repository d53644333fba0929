"""Which entries rows to be forgotten came from.

A row can be taken from an entry if what the entry counted, less what was taken from it before, has all of its counts;
with remembered rows, if it has the row's fingerprint. The latest such entry is taken.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from naively.errors import InputError
from naively.ledger.fingerprints import marks_of, unpack_fingerprints
from naively.ledger.rows import Rows, count_rows
from naively.ledger.sums import model_of, total, undone
from naively.ledger.undoing import by_id
from naively.model import Model
from naively.storage.entries import COLUMNS, DamagedError, Row, Schemas, counts_of, intact
from naively.storage.meta import Meta

__all__ = ["Corrected", "attributed"]

Corrected = list[tuple[Row, list[Rows], Model]]


def attributed(
    path: Path,
    connection: sqlite3.Connection,
    schemas: Schemas,
    meta: Meta,
    model: Model,
    rows: Sequence[Rows],
    entry: str | None,
) -> Corrected:
    """Each entry that is corrected, with the rows taken from it and their counts; all rows or an error."""
    candidates = Candidates(path, connection, schemas, meta, entry)
    if meta.key is not None:
        return _by_fingerprint(candidates, model, rows, meta.key)
    part = total([count_rows(model, some) for some in rows])
    assert part is not None
    _ = model - part  # refuses what was never counted, by name
    for target, left in candidates:
        if _fits(left, part):
            return [(target, list(rows), part)]
        if entry is not None:
            _ = left - part  # says what is not in that entry
    return _row_by_row(candidates, model, rows)


class Candidates:
    """The entries in force that counted rows, the latest first, each less what was taken from it before."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, schemas: Schemas, meta: Meta, entry: str | None
    ) -> None:
        """All of them, or the one named."""
        self.path, self.connection, self.schemas, self.meta = path, connection, schemas, meta
        acts = connection.execute(
            "SELECT id, act, corrects, number FROM entries WHERE corrects NOT NULL ORDER BY number"
        )
        corrections = acts.fetchall()
        self.gone = undone(found[:3] for found in corrections)
        self.taken: dict[bytes, list[int]] = {}
        for id_, act, corrects, number in corrections:
            if act == "forget" and id_ not in self.gone:
                self.taken.setdefault(corrects, []).append(number)
        self.only = None if entry is None else by_id(path, connection, entry)
        if self.only is not None and (self.only.sign < 1 or self.only.id in self.gone):
            raise InputError(f"{path}: entry {entry} does not count any rows: name one that does (naively log).")

    def rows(self) -> Iterator[Row]:
        """The entries themselves."""
        if self.only is not None:
            yield self.only
            return
        numbers = self.connection.execute("SELECT number FROM entries WHERE sign = 1 ORDER BY number DESC").fetchall()
        for (number,) in numbers:
            row = self._row(number)
            if row.id not in self.gone:
                yield row

    def __iter__(self) -> Iterator[tuple[Row, Model]]:
        for row in self.rows():
            left = self._model(row)
            for number in self.taken.get(row.id, ()):
                left = left - self._model(self._row(number))
            yield row, left

    def marks(self, row: Row) -> Counter[bytes]:
        """The fingerprints of an entry, less those taken from it before."""
        left: Counter[bytes] = Counter()
        for sign, found in ((1, row), *((-1, self._row(number)) for number in self.taken.get(row.id, ()))):
            if found.fingerprints is None:
                raise DamagedError(f"entry {found.number} has no fingerprints", found.number)
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


def _fits(left: Model, part: Model) -> bool:
    try:
        _ = left - part
    except InputError:
        return False
    return True


def _row_by_row(candidates: Candidates, model: Model, rows: Sequence[Rows]) -> Corrected:
    """Rows of several entries: each from the latest that has it."""
    waiting = [(i, r) for i, some in enumerate(rows) for r in range(some.table.n_rows)]
    out: Corrected = []
    for target, left in candidates:
        mine: set[tuple[int, int]] = set()
        for i, r in waiting:
            chosen = np.arange(rows[i].table.n_rows) == r
            one = count_rows(model, rows[i].where(chosen))
            if _fits(left, one):
                left = left - one
                mine.add((i, r))
        waiting = [place for place in waiting if place not in mine]
        _add(out, target, model, rows, mine)
        if not waiting:
            return out
    raise InputError(
        f"row {waiting[0][1]} of {len(waiting)} that are left was counted by no single entry of {candidates.path}, "
        "though the sum of all entries has its counts: it is not one of the rows that were counted."
    )


def _by_fingerprint(candidates: Candidates, model: Model, rows: Sequence[Rows], key: str) -> Corrected:
    waiting: dict[bytes, list[tuple[int, int]]] = {}
    for i, some in enumerate(rows):
        for r, mark in enumerate(marks_of(model, some, key)):
            waiting.setdefault(mark, []).append((i, r))
    out: Corrected = []
    for target in candidates.rows():
        left = candidates.marks(target)
        mine: set[tuple[int, int]] = set()
        for mark in [mark for mark in waiting if left[mark] > 0]:
            taken, waiting[mark] = waiting[mark][: left[mark]], waiting[mark][left[mark] :]
            mine.update(taken)
            if not waiting[mark]:
                del waiting[mark]
        _add(out, target, model, rows, mine)
        if not waiting:
            return out
    never = sorted(place for places in waiting.values() for place in places)
    raise InputError(
        f"{candidates.path}: {len(never)} of the rows were never counted, or are forgotten already (the first is row "
        f"{sum(some.table.n_rows for some in rows[: never[0][0]]) + never[0][1]}): nothing was changed."
    )


def _add(out: Corrected, target: Row, model: Model, rows: Sequence[Rows], mine: set[tuple[int, int]]) -> None:
    """Some of the rows, to be taken from one entry."""
    if not mine:
        return
    some = []
    for i, part in enumerate(rows):
        chosen = np.array([(i, r) in mine for r in range(part.table.n_rows)], dtype=np.bool_)
        if chosen.any():
            some.append(part.where(chosen))
    counted = total([count_rows(model, part) for part in some])
    assert counted is not None
    out.append((target, some, counted))
