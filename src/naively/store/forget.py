"""Forget rows: subtract their counts, and attribute that to the entry or the source that counted them.

Counts alone do not show which entry counted a row. So a forget is attributed

- to entries whose rows have the same fingerprints, if the file remembers its rows;
- else to the entry or the source that the caller names;
- else to no entry: it applies to the sum of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.data.labelled import LabelledRows
from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import Log, StoredEntry
from naively.store.fingerprints import encode_fingerprints, fingerprint_rows, unpack_fingerprints
from naively.store.periods import Selection, model_of_selection
from naively.store.running_sum import RunningSum, count_rows
from naively.store.sqlite import DECODE_ERRORS, DamagedError

Position = tuple[int, int]  # the number of a batch, and of a row in it


@dataclass(frozen=True, eq=False)
class Forgetter:
    """A file that is open for writing, and its sum: what is needed to forget rows."""

    log: Log
    total: RunningSum

    def entries(
        self, rows: Sequence[LabelledRows], entry: str | None, source: str | None, comment: str
    ) -> Iterator[tuple[StoredEntry, Model]]:
        """Yield the entries to append, each with its counts; InputError if any row was never counted.

        An entry that is attributed to another has its id in `corrects`, and its time and source.
        """
        if entry is not None and source is not None:
            raise InputError("give entry= or source=, not both.")
        target = None if entry is None else self._counting_entry(entry)
        template, key = self.total.template(), self.total.meta.key
        if key is not None:
            fingerprints = [fingerprint_rows(template, batch, key) for batch in rows]
            for corrected, part in self._by_fingerprint(fingerprints, rows, target, source):
                packed = encode_fingerprints(template, part, key)
                yield self._new_entry(count_rows(template, part), corrected, source, comment, packed)
            return
        counts = count_rows(template, rows)
        self._check(self.total.model, counts, "the rows that this file has counted")
        if target is not None:
            self._check(self._rest_of(target), counts, f"what is left of entry {target.short_id} (entry=)")
        elif source is not None:
            selection = Selection(sources=frozenset([source]))
            of_source = model_of_selection(self.log, self.total.meta, selection)
            self._check(of_source, counts, f"the rows of source {source!r} (source=)")
        yield self._new_entry(counts, target, source, comment)

    def _new_entry(
        self,
        counts: Model,
        corrected: StoredEntry | None,
        source: str | None,
        comment: str,
        fingerprints: bytes | None = None,
    ) -> tuple[StoredEntry, Model]:
        attribution: dict[str, Any] = {"source": source or ""}
        if corrected is not None:
            attribution = {
                "source": corrected.source,
                "time": corrected.time,
                "corrects": corrected.id,
                "span": corrected.span,
            }
        entry = self.log.new_entry("forget", counts, comment=comment, fingerprints=fingerprints, **attribution)
        return entry, counts

    def _check(self, counted: Model, part: Model, name: str) -> None:
        """Refuse rows that are not among those that were counted."""
        try:
            _ = counted - part
        except InputError as error:
            raise InputError(
                f"{self.log.path}: these rows, with these labels, are not among {name}: {error} Nothing was changed."
            ) from None

    def _counting_entry(self, prefix: str) -> StoredEntry:
        """Return the entry whose id begins with `prefix`, if rows can be subtracted from it."""
        entry = self.log.find(prefix)
        if entry.sign <= 0 or entry.id in self.log.undone_ids():
            raise InputError(
                f"{self.log.path}: entry {prefix} does not count any rows: give entry= one that does (naively log)."
            )
        return self.log.read(entry.number)

    def _forgets(self) -> dict[bytes, list[int]]:
        """Return the numbers of the forgets that are attributed to each entry, by its id."""
        undone = self.log.undone_ids()
        forgets: dict[bytes, list[int]] = {}
        query = "SELECT number, id, corrects FROM entries WHERE act = 'forget' AND corrects NOT NULL"
        for number, id_, corrects in self.log.connection.execute(query):
            if id_ not in undone:
                forgets.setdefault(corrects, []).append(number)
        return forgets

    def _rest_of(self, entry: StoredEntry) -> Model:
        """Return what an entry counted, without what was forgotten of it."""
        rest = self.log.counts(entry).model
        for number in self._forgets().get(entry.id, ()):
            rest = rest - self.log.counts(self.log.read(number)).model
        return rest

    def _by_fingerprint(
        self,
        fingerprints: list[list[bytes]],
        rows: Sequence[LabelledRows],
        target: StoredEntry | None,
        source: str | None,
    ) -> Iterator[tuple[StoredEntry, list[LabelledRows]]]:
        """Yield the entries that have these rows, the latest first, and which of the rows each has."""
        wanted: dict[bytes, list[Position]] = {}
        for i, batch in enumerate(fingerprints):
            for j, fingerprint in enumerate(batch):
                wanted.setdefault(fingerprint, []).append((i, j))
        undone, forgets = self.log.undone_ids(), self._forgets()
        query = "SELECT number, id, source, fingerprints FROM entries WHERE sign = 1 ORDER BY number DESC"
        matches: list[tuple[int, list[Position]]] = []
        for number, id_, of, payload in self.log.connection.execute(query):
            if id_ in undone or (target is not None and id_ != target.id) or (source is not None and of != source):
                continue
            left = self._fingerprints(id_, payload, forgets)
            positions: list[Position] = []
            for fingerprint in left.keys() & wanted.keys():
                n = max(left[fingerprint], 0)
                positions += wanted[fingerprint][:n]
                wanted[fingerprint] = wanted[fingerprint][n:]
            if positions:
                matches.append((number, sorted(positions)))
        unknown = sorted(position for positions in wanted.values() for position in positions)
        if unknown:
            i, j = unknown[0]
            where = "" if target is None and source is None else " in the given entry= or source="
            raise InputError(
                f"{self.log.path}: {len(unknown)} of the rows were never counted{where}, or are forgotten already (the "
                f"first is row {sum(map(len, fingerprints[:i])) + j}). Nothing was changed."
            )
        for number, positions in matches:
            yield self.log.read(number), _select(rows, positions)

    def _fingerprints(self, id_: bytes, payload: bytes, forgets: dict[bytes, list[int]]) -> Counter[bytes]:
        """Return the fingerprints of an entry, without those of the rows that were forgotten."""
        try:
            left = unpack_fingerprints(payload)
            for number in forgets.get(id_, ()):
                query = "SELECT fingerprints FROM entries WHERE number = ?"
                left.subtract(unpack_fingerprints(self.log.connection.execute(query, (number,)).fetchone()[0]))
        except DECODE_ERRORS as error:
            raise DamagedError(f"the fingerprints of entry {id_.hex()[:8]} cannot be read ({error})") from None
        return left


def _select(rows: Sequence[LabelledRows], positions: Sequence[Position]) -> list[LabelledRows]:
    """Return the rows at these positions, batch by batch."""
    by_batch: dict[int, list[int]] = {}
    for i, j in positions:
        by_batch.setdefault(i, []).append(j)
    selected = []
    for i, numbers in by_batch.items():
        keep = np.zeros(rows[i].n_rows, dtype=np.bool_)
        keep[numbers] = True
        selected.append(rows[i].where(keep).without_empty_classes())
    return selected
