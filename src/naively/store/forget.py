"""Forget rows: subtract their counts, and attribute that to the entry or the source that counted them.

Counts alone do not show which entry counted a row. So a forget is attributed

- to entries whose rows have the same fingerprints, if the file remembers its rows;
- else to the entry or the source that the caller names;
- else to no entry: it applies to the sum of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from naively.data.labelled import LabelledRows
from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import RELABEL, Log, StoredEntry
from naively.store.fingerprints import encode_fingerprints, fingerprint_rows, unpack_fingerprints
from naively.store.periods import Selection, model_of_selection
from naively.store.running_sum import RunningSum, count_rows
from naively.store.sqlite import DECODE_ERRORS, DamagedError

Place = tuple[bytes, str, str]  # id of an entry, time and source of it or of a part of it


@dataclass(frozen=True, eq=False)
class Forgetter:
    """A file that is open for writing, and its sum: what is needed to forget rows."""

    log: Log
    total: RunningSum

    def entries(
        self, rows: Sequence[LabelledRows], entry: str | None, source: str | None, comment: str, id_: bytes | None
    ) -> Iterator[tuple[StoredEntry, Model, list[int]]]:
        """Yield the entries to append, each with its counts and the numbers of its rows.

        InputError if any row was never counted.

        An entry that is attributed to another has its id in `corrects`, and its time and source. The first entry gets
        the given id.
        """
        if entry is not None and source is not None:
            raise InputError("give entry= or source=, not both.")
        targets = [] if entry is None else self._counting_parts(entry)
        template, key = self.total.template(), self.total.meta.key
        if key is None:
            corrected = self._attribute(count_rows(template, rows), targets, source)
            parts = [(corrected, list(range(sum(batch.n_rows for batch in rows))))]
        else:
            parts = self._find(rows, template, key, targets, source)
        for corrected, numbers in parts:
            part = select_rows(rows, numbers)
            counts = count_rows(template, part)
            fingerprints = None if key is None else encode_fingerprints(template, part, key)
            new = self.log.new_entry(
                "forget", counts, source=source or "", comment=comment, fingerprints=fingerprints, id=id_
            )
            id_ = None
            if corrected is not None:
                time, span = corrected.time, corrected.span
                new = new._replace(source=corrected.source, time=time, span=span, corrects=corrected.id)
            yield new, counts, numbers

    def _counting_parts(self, prefix: str) -> list[StoredEntry]:
        """Return what the entry whose id begins with `prefix` has added, if rows can be subtracted from it."""
        entry = self.log.find(prefix)
        parts = [part for part in self.log.read(entry.number).parts() if part.sign > 0]
        if not parts or entry.id in self.log.undone_ids():
            raise InputError(
                f"{self.log.path}: entry {prefix} does not count any rows: give entry= one that does (naively log)."
            )
        return parts

    def _attribute(self, counts: Model, targets: Sequence[StoredEntry], source: str | None) -> StoredEntry | None:
        """Return the first of the targets that can have counted rows, None without targets; refuse other rows."""
        for target in targets[:-1]:
            with suppress(InputError):
                self._check(counts, target, source)
                return target
        last = targets[-1] if targets else None
        self._check(counts, last, source)
        return last

    def _check(self, part: Model, target: StoredEntry | None, source: str | None) -> None:
        """Refuse rows that are not among those that the file, the entry or the source has counted."""
        name = "the rows that this file has counted"
        try:
            _ = self.total.model - part
            if target is not None:
                name = f"what is left of entry {target.short_id} (entry=)"
                rest = self.log.counts(target).model
                for forget in self._forgets().get(_place(target, target.id), ()):
                    self.log.read(forget.number)  # refuses a damaged entry
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

    def _forgets(self) -> dict[Place, list[StoredEntry]]:
        """Return the forgets that are attributed to each entry, or part of a relabel."""
        forgets: dict[Place, list[StoredEntry]] = {}
        for forget in self.log.attributed_forgets():
            forgets.setdefault(_place(forget, forget.corrects or b""), []).append(forget)
        return forgets

    def _find(
        self,
        rows: Sequence[LabelledRows],
        template: Model,
        key: str,
        targets: Sequence[StoredEntry],
        source: str | None,
    ) -> list[tuple[StoredEntry | None, list[int]]]:
        """Return the entries that counted these rows, the latest first, and the numbers of the rows of each."""
        wanted: dict[bytes, list[int]] = {}
        fingerprints = (fingerprint for batch in rows for fingerprint in fingerprint_rows(template, batch, key))
        for number, fingerprint in enumerate(fingerprints):
            wanted.setdefault(fingerprint, []).append(number)
        undone = self.log.undone_ids()
        forgotten = {
            place: sum((_fingerprints(forget) for forget in forgets), Counter[bytes]())
            for place, forgets in self._forgets().items()
        }
        matches: list[tuple[StoredEntry | None, list[int]]] = []
        for entry in self.log.select(f"sign = 1 OR act = '{RELABEL}' ORDER BY number DESC"):
            if entry.id in undone or (targets and entry.id != targets[0].id):
                continue
            for part in entry.parts():
                if part.sign < 0 or source not in (None, part.source):
                    continue
                counted = _fingerprints(part)
                gone = forgotten.get(_place(part, part.id), Counter[bytes]())
                left = counted - gone
                gone.subtract(counted - left)  # two parts of a relabel may have the same time and source
                numbers: list[int] = []
                for fingerprint in left.keys() & wanted.keys():
                    numbers += wanted[fingerprint][: left[fingerprint]]
                    wanted[fingerprint] = wanted[fingerprint][left[fingerprint] :]
                if numbers:
                    self.log.check(entry)
                    matches.append((part, sorted(numbers)))
        unknown = [number for numbers in wanted.values() for number in numbers]
        if unknown:
            where = "" if not targets and source is None else " in the given entry= or source="
            raise InputError(
                f"{self.log.path}: {len(unknown)} of the rows were never counted{where}, or are forgotten already (the "
                f"first is row {min(unknown)}). Nothing was changed."
            )
        return matches


def _place(entry: StoredEntry, id_: bytes) -> Place:
    """Return where rows were counted: a forget has the time and source of what it corrects."""
    return id_, entry.time, entry.source


def _fingerprints(entry: StoredEntry) -> Counter[bytes]:
    """Return the fingerprints of the rows of an entry and their counts."""
    try:
        return unpack_fingerprints(entry.fingerprints or b"")
    except DECODE_ERRORS as error:
        raise DamagedError(f"the fingerprints of entry {entry.short_id} cannot be read ({error})") from None


def select_rows(rows: Sequence[LabelledRows], numbers: list[int]) -> list[LabelledRows]:
    """Return the rows with these numbers, counted over all batches."""
    ends = np.cumsum([batch.n_rows for batch in rows])
    keep = np.zeros(ends[-1], dtype=np.bool_)
    keep[numbers] = True
    parts = zip(rows, np.split(keep, ends[:-1]), strict=True)
    return [batch.where(part).without_empty_classes() for batch, part in parts if part.any()]
