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

import numpy as np

from naively.data.labelled import LabelledRows
from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import Log, StoredEntry
from naively.store.fingerprints import encode_fingerprints, fingerprint_rows, unpack_fingerprints
from naively.store.periods import Selection, model_of_selection
from naively.store.running_sum import RunningSum, count_rows
from naively.store.sqlite import DECODE_ERRORS, DamagedError


@dataclass(frozen=True, eq=False)
class Forgetter:
    """A file that is open for writing, and its sum: what is needed to forget rows."""

    log: Log
    total: RunningSum

    def entries(
        self, rows: Sequence[LabelledRows], entry: str | None, source: str | None, comment: str, id_: bytes | None
    ) -> Iterator[tuple[StoredEntry, Model]]:
        """Yield the entries to append, each with its counts; InputError if any row was never counted.

        An entry that is attributed to another has its id in `corrects`, and its time and source. The first entry gets
        the given id.
        """
        if entry is not None and source is not None:
            raise InputError("give entry= or source=, not both.")
        target = None if entry is None else self._counting_entry(entry)
        template, key = self.total.template(), self.total.meta.key
        parts = [(target, rows)] if key is None else self._find(rows, template, key, target, source)
        for corrected, part in parts:
            counts = count_rows(template, part)
            if key is None:
                self._check(counts, target, source)
            fingerprints = None if key is None else encode_fingerprints(template, part, key)
            new = self.log.new_entry(
                "forget", counts, source=source or "", comment=comment, fingerprints=fingerprints, id=id_
            )
            id_ = None
            if corrected is not None:
                time, span = corrected.time, corrected.span
                new = new._replace(source=corrected.source, time=time, span=span, corrects=corrected.id)
            yield new, counts

    def _counting_entry(self, prefix: str) -> StoredEntry:
        """Return the entry whose id begins with `prefix`, if rows can be subtracted from it."""
        entry = self.log.find(prefix)
        if entry.sign <= 0 or entry.id in self.log.undone_ids():
            raise InputError(
                f"{self.log.path}: entry {prefix} does not count any rows: give entry= one that does (naively log)."
            )
        return self.log.read(entry.number)

    def _check(self, part: Model, target: StoredEntry | None, source: str | None) -> None:
        """Refuse rows that are not among those that the file, the entry or the source has counted."""
        name = "the rows that this file has counted"
        try:
            _ = self.total.model - part
            if target is not None:
                name = f"what is left of entry {target.short_id} (entry=)"
                rest = self.log.counts(target).model
                for forget in self._forgets().get(target.id, ()):
                    self.log.check(forget)
                    rest = rest - self.log.counts(forget).model
                _ = rest - part
            elif source is not None:
                name = f"the rows of source {source!r} (source=)"
                selection = Selection(sources=frozenset([source]))
                _ = model_of_selection(self.log, self.total.meta, selection) - part
        except InputError as error:
            raise InputError(
                f"{self.log.path}: these rows, with these labels, are not among {name}: {error} Nothing was changed."
            ) from None

    def _forgets(self) -> dict[bytes, list[StoredEntry]]:
        """Return the forgets that are attributed to each entry, by its id."""
        undone = self.log.undone_ids()
        forgets: dict[bytes, list[StoredEntry]] = {}
        for entry in self.log.select("act = 'forget' AND corrects NOT NULL"):
            if entry.id not in undone:
                forgets.setdefault(entry.corrects or b"", []).append(entry)
        return forgets

    def _find(
        self, rows: Sequence[LabelledRows], template: Model, key: str, target: StoredEntry | None, source: str | None
    ) -> list[tuple[StoredEntry | None, Sequence[LabelledRows]]]:
        """Return the entries that counted these rows, the latest first, and the rows that each counted."""
        wanted: dict[bytes, list[int]] = {}
        fingerprints = (fingerprint for batch in rows for fingerprint in fingerprint_rows(template, batch, key))
        for number, fingerprint in enumerate(fingerprints):
            wanted.setdefault(fingerprint, []).append(number)
        undone, forgets = self.log.undone_ids(), self._forgets()
        matches: list[tuple[StoredEntry, list[int]]] = []
        for entry in self.log.select("sign = 1 ORDER BY number DESC"):
            if entry.id in undone or (target and entry.id != target.id) or source not in (None, entry.source):
                continue
            left = _fingerprints(entry)
            for forget in forgets.get(entry.id, ()):
                left.subtract(_fingerprints(forget))
            numbers: list[int] = []
            for fingerprint in left.keys() & wanted.keys():
                n = max(left[fingerprint], 0)
                numbers += wanted[fingerprint][:n]
                wanted[fingerprint] = wanted[fingerprint][n:]
            if numbers:
                self.log.check(entry)
                matches.append((entry, numbers))
        unknown = [number for numbers in wanted.values() for number in numbers]
        if unknown:
            where = "" if target is None and source is None else " in the given entry= or source="
            raise InputError(
                f"{self.log.path}: {len(unknown)} of the rows were never counted{where}, or are forgotten already (the "
                f"first is row {min(unknown)}). Nothing was changed."
            )
        return [(entry, _select(rows, numbers)) for entry, numbers in matches]


def _fingerprints(entry: StoredEntry) -> Counter[bytes]:
    """Return the fingerprints of the rows of an entry and their counts."""
    try:
        return unpack_fingerprints(entry.fingerprints or b"")
    except DECODE_ERRORS as error:
        raise DamagedError(f"the fingerprints of entry {entry.short_id} cannot be read ({error})") from None


def _select(rows: Sequence[LabelledRows], numbers: list[int]) -> list[LabelledRows]:
    """Return the rows with these numbers, counted over all batches."""
    ends = np.cumsum([batch.n_rows for batch in rows])
    keep = np.zeros(ends[-1], dtype=np.bool_)
    keep[numbers] = True
    parts = zip(rows, np.split(keep, ends[:-1]), strict=True)
    return [batch.where(part).without_empty_classes() for batch, part in parts if part.any()]
