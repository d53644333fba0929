"""Which entries rows to be forgotten came from.

With remembered rows, a row comes from an entry that has its fingerprint. Without, it can come from an entry if what the
entry counted, less what was taken from it before, has all of its counts (`Model.__sub__` says so). One pass over the
bytes of the entries finds the latest that counted exactly these rows, or else those that have all of their words; only
the latter are decoded, the latest first. If no entry has all rows, each row is looked for in that way, all in one pass.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from naively.data.labelled import LabelledRows
from naively.errors import InputError
from naively.model.merge import total
from naively.model.model import Model
from naively.statistics import WordCounts
from naively.store.arrays import content, traces
from naively.store.candidates import Candidate, Candidates
from naively.store.counts import counts_to_bytes
from naively.store.entries import Row, Schemas
from naively.store.fingerprints import marks_of, pack_fingerprints
from naively.store.meta import Meta
from naively.store.rows import count_rows
from naively.store.running_sum import counts_of_model

__all__ = ["Corrected", "attributed", "taken_in_turn"]

Corrected = list[tuple[Row, list[LabelledRows], Model]]
Place = tuple[int, int]  # a batch of rows, and a row in it


def attributed(
    path: Path,
    connection: sqlite3.Connection,
    schemas: Schemas,
    meta: Meta,
    model: Model,
    rows: Sequence[LabelledRows],
    entry: str | None,
) -> Corrected:
    """Each entry that is corrected, with the rows taken from it and their counts; all rows or an error."""
    candidates = Candidates(path, connection, schemas, meta, entry)
    if meta.key is not None:
        return _by_fingerprint(candidates, model, rows, meta.key)
    part = total([count_rows(model, some) for some in rows])
    assert part is not None
    _refuse(path, "all entries together", model, part)
    target = _entry_of(candidates, part)
    if target is not None:
        return [(candidates.row(target), list(rows), part)]
    if entry is not None:
        _refuse(path, f"what is left of entry {entry}", candidates.left(candidates.all[0]), part)
        raise InputError(f"{path}: entry {entry} did not count these rows.")
    return _row_by_row(candidates, model, rows)


def _refuse(path: Path, where: str, whole: Model, part: Model) -> None:
    """Refuse what was never counted, by name."""
    try:
        _ = whole - part
    except InputError as error:
        raise InputError(
            f"{path}: these rows are not in {where}, with these labels: {error} Nothing was changed."
        ) from None


class Sought:
    """Rows that are looked for among the contents of entries."""

    def __init__(self, part: Model, schemas: Schemas) -> None:
        """The rows as a model of them."""
        self.rows, self.schema = int(part.seen.rows.sum()), schemas.number(part.schema)
        self.content = content(counts_to_bytes(counts_of_model(part)))
        self.traces = [traces(word) for word in sorted(_letters(part), key=len, reverse=True)]

    def are(self, candidate: Candidate, found: bytes) -> bool:
        """Whether an entry counted exactly them, by its bytes; those may differ if its words came in another order."""
        whole = candidate.whole and candidate.rows == self.rows and candidate.schema == self.schema
        return whole and found == self.content

    def are_not(self, candidate: Candidate) -> bool:
        """Whether an entry of other bytes surely counted others: as many rows, which are written in one way only.

        Words may come in another order, but not numbers and values. Such entries are looked at last.
        """
        return not self.traces and candidate.whole and (candidate.rows, candidate.schema) == (self.rows, self.schema)

    def may_be_in(self, found: bytes) -> bool:
        """Whether an entry has all of their words; if not, they are not in it."""
        return all(plain in found or listed in found for plain, listed in self.traces)


def _letters(part: Model) -> set[bytes]:
    return {
        statistic.name(k).encode("utf-8", "surrogatepass")
        for statistic in part.statistics
        if isinstance(statistic, WordCounts) and statistic.vocabulary is not None
        for k in set(statistic.cells.index.tolist())
    }


def _entry_of(candidates: Candidates, part: Model) -> Candidate | None:
    """One entry that all rows came from: exactly these, or these and others."""
    sought, possible = Sought(part, candidates.schemas), []
    for candidate, found in candidates.contents(sought.rows):
        if sought.are(candidate, found):
            return candidate
        if sought.may_be_in(found):
            possible.append(candidate)
    possible.sort(key=sought.are_not)
    return next((c for c in possible if _less(candidates.left(c), part) is not None), None)


def _less(left: Model, part: Model) -> Model | None:
    """What is left without a part; None if the part cannot have been in it."""
    try:
        return left - part
    except InputError:
        return None


def _row_by_row(candidates: Candidates, model: Model, rows: Sequence[LabelledRows]) -> Corrected:
    """Rows of several entries: each from an entry of that row alone, or from the latest that has it."""
    waiting = {
        (i, r): Sought(_counted(model, rows, [(i, r)]), candidates.schemas)
        for i, some in enumerate(rows)
        for r in range(some.table.n_rows)
    }
    exact: dict[bytes, list[Place]] = {}
    for place, sought in reversed(waiting.items()):
        exact.setdefault(sought.content, []).append(place)
    out: Corrected = []
    later: list[tuple[Candidate, list[Place]]] = []
    for candidate, found in candidates.contents(1):
        same = exact.get(found)
        if same and waiting[same[-1]].are(candidate, found):
            _add(out, candidates.row(candidate), model, rows, same[-1:])
            del waiting[same.pop()]
        else:
            possible = [place for place, sought in waiting.items() if sought.may_be_in(found)]
            later += [(candidate, possible)] if possible else []
        if not waiting:
            return out
    later.sort(key=lambda found: all(waiting[place].are_not(found[0]) for place in found[1] if place in waiting))
    for candidate, possible in later:
        possible = [place for place in possible if place in waiting]
        if possible:
            mine, _ = taken_in_turn(candidates.left(candidate), model, rows, possible)
            _add(out, candidates.row(candidate), model, rows, mine)
            for place in mine:
                del waiting[place]
        if not waiting:
            return out
    raise InputError(
        f"{candidates.path}: {len(waiting)} of the rows (the first is {_first(rows, list(waiting))}) were counted by "
        "no single entry, though the sum of all has their counts: they are not rows that were counted, and nothing was "
        "changed."
    )


def taken_in_turn(
    left: Model, model: Model, rows: Sequence[LabelledRows], places: list[Place]
) -> tuple[list[Place], Model]:
    """Rows that can be taken one after the other, and what is left then; rows that all can are taken at once."""
    if not places:
        return [], left
    rest = _less(left, _counted(model, rows, places))
    if rest is not None:
        return places, rest
    if len(places) == 1:
        return [], left
    half = len(places) // 2
    first, left = taken_in_turn(left, model, rows, places[:half])
    second, left = taken_in_turn(left, model, rows, places[half:])
    return first + second, left


def _by_fingerprint(candidates: Candidates, model: Model, rows: Sequence[LabelledRows], key: str) -> Corrected:
    waiting: dict[bytes, list[Place]] = {}
    for i, some in enumerate(rows):
        for r, mark in enumerate(marks_of(model, some, key)):
            waiting.setdefault(mark, []).append((i, r))
    single = {content(pack_fingerprints(Counter({mark: 1}))): mark for mark in waiting}
    has = {candidate.number for candidate, found in candidates.contents(1, "fingerprints") if found in single}
    out: Corrected = []
    for target in candidates.all:
        if target.rows == 0 or (target.whole and target.rows == 1 and target.number not in has):
            continue
        left = candidates.marks(target)
        mine: list[Place] = []
        for mark in [mark for mark in waiting if left[mark] > 0]:
            taken, waiting[mark] = waiting[mark][: left[mark]], waiting[mark][left[mark] :]
            mine += taken
            if not waiting[mark]:
                del waiting[mark]
        _add(out, candidates.row(target), model, rows, mine)
        if not waiting:
            return out
    never = sorted(place for places in waiting.values() for place in places)
    raise InputError(
        f"{candidates.path}: {len(never)} of the rows were never counted, or are forgotten already (the first is "
        f"{_first(rows, never)}): nothing was changed."
    )


def _first(rows: Sequence[LabelledRows], places: Sequence[Place]) -> str:
    i, r = places[0]
    return f"row {sum(some.table.n_rows for some in rows[:i]) + r}"


def _counted(model: Model, rows: Sequence[LabelledRows], places: Sequence[Place]) -> Model:
    """The counts of some of the rows."""
    counted = total([count_rows(model, part) for part in _chosen(rows, places)])
    assert counted is not None
    return counted


def _chosen(rows: Sequence[LabelledRows], places: Sequence[Place]) -> list[LabelledRows]:
    mine: dict[int, list[int]] = {}
    for i, r in places:
        mine.setdefault(i, []).append(r)
    some = []
    for i in sorted(mine):
        chosen = np.zeros(rows[i].table.n_rows, dtype=np.bool_)
        chosen[mine[i]] = True
        some.append(rows[i].where(chosen))
    return some


def _add(out: Corrected, target: Row, model: Model, rows: Sequence[LabelledRows], mine: Sequence[Place]) -> None:
    """Some of the rows, to be taken from one entry."""
    if mine:
        out.append((target, _chosen(rows, mine), _counted(model, rows, mine)))
