"""The sum of a ledger: all that was added, less all that was taken away.

    model = Σ counts of entries in force with sign +  −  Σ those with sign −        (1)

What is added is summed before anything is subtracted, so the sum does not depend on the order of the entries, nor on
where a snapshot was made: a snapshot keeps both sums of entries 1 … k. An entry is in force unless an entry in force
undoes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from naively import merging
from naively.calibration import Tuning
from naively.model import Model
from naively.storage.counts import DAMAGED, Counts, counts_from_bytes, counts_to_bytes
from naively.storage.entries import START, DamagedError, Row, Schemas, counts_of, head_of, rows_after
from naively.storage.meta import Meta, digest_of

__all__ = ["Sum", "caught_up", "counts_of_model", "model_of", "read_sum", "total", "under", "undone", "write_snapshot"]

TAIL = 256  # entries after the snapshot
SHARE = 10  # … whose bytes are more than this part of the snapshot's
LITTLE = 1 << 16  # bytes that are not worth a snapshot
TOGETHER = 1024  # entries that are decoded before they are summed: bounds the memory


def model_of(counts: Counts, meta: Meta) -> Model:
    """Counts under the settings of a file."""
    return under(Model(*counts), meta)


def under(model: Model, meta: Meta) -> Model:
    """A model under the settings of a file."""
    tuning = None if meta.tuning is None else _tuning(meta.tuning)
    return replace(model, prior=meta.prior, target=meta.target, tuning=tuning)


@lru_cache(maxsize=4)
def _tuning(text: str) -> Tuning:
    return Tuning.from_json(text)


def counts_of_model(model: Model) -> Counts:
    """The part of a model that is counted."""
    return Counts(model.schema, model.classes, model.seen, model.statistics)


def total(models: Sequence[Model]) -> Model | None:
    """The sum of models, small ones with small ones first; None of none."""
    left = list(models)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [a + b for a, b in pairs] + (left[-1:] if len(left) % 2 else [])
    return left[0] if left else None


def undone(rows: Iterable[tuple[bytes, str, bytes | None]]) -> set[bytes]:
    """The ids that are not in force, of (id, act, corrects) of entries in their order.

    Whatever undoes an entry comes after it, so from the last one back each is known to be in force or not.

    >>> a, b, c = b"a", b"b", b"c"
    >>> sorted(undone([(a, "fit", None), (b, "undo", a), (c, "undo", b)]))
    [b'b']
    """
    out: set[bytes] = set()
    for found, act, corrects in reversed(list(rows)):
        if act == "undo" and found not in out and corrects is not None:
            out.add(corrects)
    return out


@dataclass(frozen=True, eq=False)
class Sum:
    """Both sums of the first `entries` entries, and what was appended since and is not added up yet.

    What waits is counts only: it comes under the settings of the file when it is added up.
    """

    meta: Meta
    entries: int = 0
    checksum: bytes = START
    added: Model | None = None
    taken: Model | None = None
    waiting: tuple[tuple[int, Model], ...] = ()
    tail: int = 0  # entries after the snapshot, and their bytes; those of the snapshot
    tail_bytes: int = 0
    base_bytes: int = 0
    alike: bool = True  # all that waits has the schema of `added`
    _known: list[Model] = field(default_factory=list)

    def plus(self, row: Row, model: Model | None) -> Sum:
        """With one entry more."""
        size = len(row.statistics or b"")
        waiting = self.waiting if model is None else (*self.waiting, (row.sign, model))
        first = self.tail == 0 and self.base_bytes == 0  # without a snapshot the first entry is what others add to
        tail, tail_bytes, base = (0, 0, size) if first else (self.tail + 1, self.tail_bytes + size, self.base_bytes)
        alike = self.alike and (model is None or self._like_added(model))
        known = (self.meta, row.number, row.checksum, self.added, self.taken)
        return Sum(*known, waiting, tail, tail_bytes, base, alike)

    def _like_added(self, model: Model) -> bool:
        return self.added is not None and (model.schema is self.added.schema or model.schema == self.added.schema)

    @property
    def due(self) -> bool:
        """Whether a snapshot should be made."""
        return self.tail > TAIL or (self.tail_bytes > LITTLE and self.tail_bytes * SHARE > self.base_bytes)

    def folded(self) -> Sum:
        """Nothing waiting."""
        if not self.waiting:
            return self
        sums = []
        for sign, so_far in ((1, self.added), (-1, self.taken)):
            found = total([model for s, model in self.waiting if s == sign])
            more = None if found is None else under(found, self.meta)
            sums.append(so_far if more is None else more if so_far is None else so_far + more)
        return replace(self, added=sums[0], taken=sums[1], waiting=(), alike=True, _known=[])

    def under(self, meta: Meta) -> Sum:
        """The same sums under other settings."""
        added, taken = (None if model is None else under(model, meta) for model in (self.added, self.taken))
        return replace(self, meta=meta, added=added, taken=taken, _known=[])

    def pattern(self) -> Model:
        """A model with the schema and the type of classes of the sum: what to count more rows like."""
        if self.added is None or not self.alike:
            whole = self.folded().added
            assert whole is not None
            return whole
        return self.added

    def model(self) -> Model | None:
        """Equation (1); None if nothing was ever added."""
        if not self._known:
            whole = self.folded()
            if whole.added is None:
                return None
            self._known.append(whole.added if whole.taken is None else whole.added - whole.taken)
        return self._known[0]


def read_sum(connection: sqlite3.Connection, schemas: Schemas, meta: Meta) -> Sum:
    """From the snapshot and what follows it; from all entries if there is none, or it is wrong."""
    try:
        found = _snapshot(connection, schemas, meta)
    except (*DAMAGED, sqlite3.DatabaseError):
        found = None
    if found is not None:
        rows = list(rows_after(connection, schemas, found.entries, found.checksum))
        here = {row.id for row in rows}
        if all(row.corrects in here for row in rows if row.act == "undo"):
            return _with_rows(found, rows, undone((r.id, r.act, r.corrects) for r in rows), schemas)
    acts = connection.execute("SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number").fetchall()
    gone = undone(acts)
    so_far, some = Sum(meta), []
    for row in rows_after(connection, schemas, 0, START):
        some.append(row)
        if len(some) == TOGETHER:
            so_far, some = _with_rows(so_far, some, gone, schemas).folded(), []
    so_far = _with_rows(so_far, some, gone, schemas).folded()
    return so_far if so_far.added is not None else _of_nothing(connection, schemas, so_far)


def caught_up(known: Sum, connection: sqlite3.Connection, schemas: Schemas, meta: Meta) -> Sum:
    """A sum with what others have written since it was read."""
    entries, checksum = head_of(connection)
    if (entries, checksum) == (known.entries, known.checksum) and meta == known.meta:
        return known
    there = connection.execute("SELECT checksum FROM entries WHERE number = ?", (known.entries,)).fetchone()
    if meta == known.meta and there is not None and there[0] == known.checksum:
        rows = list(rows_after(connection, schemas, known.entries, known.checksum))
        if not any(row.act == "undo" for row in rows):
            return _with_rows(known, rows, set(), schemas)
    return read_sum(connection, schemas, meta)


def _with_rows(so_far: Sum, rows: Sequence[Row], gone: set[bytes], schemas: Schemas) -> Sum:
    for row in rows:
        counts = None if row.sign == 0 or row.id in gone else counts_of(row, schemas)
        so_far = so_far.plus(row, None if counts is None else Model(*counts))
    return so_far


def _of_nothing(connection: sqlite3.Connection, schemas: Schemas, so_far: Sum) -> Sum:
    """Every entry was undone: the first one less itself."""
    for row in rows_after(connection, schemas, 0, START):
        if row.sign > 0:
            first = model_of(counts_of(row, schemas), so_far.meta)
            return replace(so_far, added=first - first)
    raise DamagedError("there is no entry that counts anything")


def _snapshot(connection: sqlite3.Connection, schemas: Schemas, meta: Meta) -> Sum | None:
    found = connection.execute(
        "SELECT entries, checksum, schema, added, taken, digest FROM snapshot LIMIT 2"
    ).fetchall()
    if len(found) != 1:
        return None
    entries, checksum, number, added, taken, digest = found[0]
    if digest != digest_of(entries, checksum, schemas.text(number), added, taken):
        return None
    there = connection.execute("SELECT checksum FROM entries WHERE number = ?", (entries,)).fetchone()
    if there is None or there[0] != checksum:
        return None
    schema = schemas.get(number)
    one = model_of(counts_from_bytes(added, schema), meta)
    two = None if taken is None else model_of(counts_from_bytes(taken, schema), meta)
    return Sum(meta, entries, checksum, one, two, base_bytes=len(added))


def write_snapshot(connection: sqlite3.Connection, schemas: Schemas, whole: Sum) -> Sum:
    """Keep the sum of all entries so far beside them; inside a change."""
    whole = whole.folded()
    assert whole.added is not None
    one, two = (whole.added, None) if whole.taken is None else merging.beside(whole.added, whole.taken)
    number = schemas.number(one.schema)
    added = counts_to_bytes(counts_of_model(one))
    taken = None if two is None else counts_to_bytes(counts_of_model(two))
    digest = digest_of(whole.entries, whole.checksum, schemas.text(number), added, taken)
    connection.execute("DELETE FROM snapshot")
    values = (whole.entries, whole.checksum, number, added, taken, digest)
    connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", values)
    return replace(whole, tail=0, tail_bytes=0, base_bytes=len(added))
