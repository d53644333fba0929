"""Rows that are counted by key: each key once, whatever is taught again, and under one label at a time.

    f = H_secret(key of the row, its label)                                 (1)

A file that remembers its rows holds a fingerprint of each (`fingerprints.py`). Here the fingerprint is made from a key
that the caller gives, in place of the cells: a mail that was learnt is found by its key, and the class that it was
learnt as by trying all classes. The fingerprints are in the entries; `KeyIndex` is what they say, in memory.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from naively.data.labelled import Label, LabelledRows
from naively.data.read import TableLike
from naively.families import Family
from naively.model.count import rows_to_count
from naively.store.entries import (
    ACTS,
    RELABEL,
    START,
    Counts,
    Entry,
    Head,
    Log,
    StoredEntry,
    heads_of_parts,
    undone_among,
)
from naively.store.fingerprints import pack_fingerprints, unpack_fingerprints
from naively.store.relabel import Part, describe_labels, join
from naively.store.running_sum import RunningSum, count_rows
from naively.store.sqlite import DECODE_ERRORS, DamagedError
from naively.store.write import write_model


class Taught(NamedTuple):
    """What a change by key did: the new entries, and how many rows were new, known before, moved and unknown."""

    entries: tuple[Entry, ...] = ()
    n_new: int = 0
    n_known: int = 0
    n_moved: int = 0
    n_forgotten: int = 0
    n_unknown: int = 0


class Position(NamedTuple):
    """Where a row was counted: under which label, by which entry and source."""

    label: Label
    entry: bytes
    source: str


@dataclass
class KeyIndex:
    """The entry and the source that counted each row, by fingerprint, up to a position of the log."""

    head: Head = START
    _sources: dict[bytes, tuple[bytes, str]] = field(default_factory=dict)

    def catch_up(self, log: Log) -> None:
        """Read the entries that were written since; all of them if one was undone, or replaced by compacting."""
        head = log.read_head()
        if head == self.head:
            return
        columns = "id, act, sign, corrects, source, fingerprints, span"
        query = f"SELECT {columns} FROM entries WHERE number > ? ORDER BY number"
        is_known = self.head != START and log.holds(self.head)
        rows = log.connection.execute(query, (self.head.entries if is_known else 0,)).fetchall()
        if is_known and any(act == "undo" for _, act, *_ in rows):
            is_known, rows = False, log.connection.execute(query, (0,)).fetchall()
        if not is_known:
            self._sources = {}
        undone = undone_among((id_, act, corrects) for id_, act, _, corrects, *_ in rows)
        for id_, act, sign, _, source, fingerprints, span in rows:
            if not fingerprints or id_ in undone:
                continue
            try:
                parts = _parts_of_relabel(span, fingerprints) if act == RELABEL else [(sign, source, fingerprints)]
                for sign_of_part, source_of_part, data in parts:
                    for key in unpack_fingerprints(data):
                        if sign_of_part > 0:
                            self._sources[key] = id_, source_of_part
                        else:
                            self._sources.pop(key, None)
            except DECODE_ERRORS as error:
                raise DamagedError(f"the fingerprints of entry {id_.hex()[:8]} cannot be read ({error})") from None
        self.head = head

    def find(self, key: bytes, classes: Iterable[Label], secret: str) -> Position | None:
        """Return where a row was counted; None if it was not."""
        for label in classes:
            position = self._sources.get(fingerprint(key, label, secret))
            if position is not None:
                return Position(label, *position)
        return None


def _parts_of_relabel(span: str | None, fingerprints: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Yield sign, source and fingerprints of each part of a relabel."""
    for head in heads_of_parts(span):
        yield ACTS[head.act], head.source, fingerprints[: head.n_fingerprint_bytes]
        fingerprints = fingerprints[head.n_fingerprint_bytes :]


def fingerprint(key: bytes, label: Label, secret: str) -> bytes:
    """Return equation (1)."""
    return hashlib.blake2b(
        key + str(label).encode("utf-8", "surrogatepass"), digest_size=16, key=bytes.fromhex(secret)
    ).digest()


def encode_keys(keys: Iterable[bytes], label: Label, secret: str) -> bytes:
    """Return the payload of the fingerprints of rows of one class."""
    return pack_fingerprints(Counter(fingerprint(key, label, secret) for key in keys))


def create_keyed(
    path: str | Path,
    X: TableLike,
    label: Label,
    *,
    keys: Sequence[bytes],
    columns: dict[str, Family],
    source: str = "",
    comment: str = "",
) -> bool:
    """Write a new file with rows of one class, which are known by their keys; return False if the file exists.

    Of several processes that create a file at the same time, one does, and the others get False.
    """
    from naively.fitting import fit  # not needed to open a file

    target = Path(path)
    _, first = np.unique([key.hex() for key in keys], return_index=True)
    model = fit(X, [label] * len(keys), columns=columns, tune=False)
    if len(first) < len(keys):
        rows = next(iter(rows_to_count(model, X, [label] * len(keys), None))).take(np.sort(first))
        counted = count_rows(replace(model, statistics=()), [rows])
        model = replace(counted, tuning=None)
    secret = secrets.token_hex(32)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        unfinished = Path(folder) / target.name
        write_model(
            unfinished, model, source=source, comment=comment, remembered=(secret, encode_keys(keys, label, secret))
        )
        try:
            os.link(unfinished, target)
        except FileExistsError:
            return False
    return True


@dataclass(frozen=True, eq=False)
class KeyedChange:
    """A change of a file by key, inside a transaction: the log, the sum before it, and the index."""

    log: Log
    total: RunningSum
    index: KeyIndex
    secret: str

    @property
    def _classes(self) -> tuple[Label, ...]:
        return tuple(self.total.classes)

    def positions(self, keys: Sequence[bytes]) -> list[Position | None]:
        """Return where each row was counted."""
        classes = self._classes
        return [self.index.find(key, classes, self.secret) for key in keys]

    def rows(self, X: TableLike, label: Label, positions: Sequence[int]) -> list[LabelledRows]:
        """Return rows of a table with one label."""
        template = self.total.template()
        n_rows = len(next(iter(X.values()))) if isinstance(X, dict) else len(X)
        (rows,) = rows_to_count(template, X, [label] * n_rows, None)
        return [rows.take(np.array(positions, dtype=np.intp))]

    def forgets(self, X: TableLike, keys: Sequence[bytes], where: dict[int, Position], comment: str) -> Iterator[Part]:
        """Yield an entry, with its counts, for each entry and label whose rows are forgotten."""
        groups: dict[Position, list[int]] = {}
        for i, position in where.items():
            groups.setdefault(position, []).append(i)
        for position, members in groups.items():
            counts = count_rows(self.total.template(), self.rows(X, position.label, members))
            entry = next(self.log.select("id = ?", position.entry))
            counted_by = next(part for part in entry.parts() if part.sign > 0 and part.source == position.source)
            new = self.log.new_entry(
                "forget",
                counts,
                source=counted_by.source,
                comment=comment,
                time=counted_by.time,
                corrects=counted_by.id,
                span=counted_by.span,
                fingerprints=encode_keys((keys[i] for i in members), position.label, self.secret),
            )
            yield Part(new, counts)

    def learns(
        self, X: TableLike, keys: Sequence[bytes], label: Label, members: Sequence[int], source: str, comment: str
    ) -> Part:
        """Return an entry, with its counts, for rows that are learnt."""
        counts = count_rows(self.total.template(), self.rows(X, label, members))
        fingerprints = encode_keys((keys[i] for i in members), label, self.secret)
        new = self.log.new_entry("update", counts, source=source, comment=comment, fingerprints=fingerprints)
        return Part(new, counts)

    def moves(
        self, X: TableLike, keys: Sequence[bytes], where: dict[int, Position], learnt: Part, comment: str
    ) -> tuple[StoredEntry, list[Counts]]:
        """Return an entry, with its counts, that forgets rows where they were counted and learns them elsewhere."""
        (label,) = learnt.counts.classes
        before = [position.label for position in where.values()]
        note = describe_labels(before, [label] * len(before), n_new=learnt.entry.rows - len(before))
        return join(self.log, [*self.forgets(X, keys, where, comment), learnt], note=note, comment=comment)


class Plan(NamedTuple):
    """What to do with rows that are taught: positions of new ones, of those to move from where, and the known rest."""

    new: list[int]
    moved: dict[int, Position]
    n_known: int


def plan_teaching(
    positions: Sequence[Position | None],
    keys: Sequence[bytes],
    label: Label,
    *,
    takes_over: Collection[str],
    may_move: bool,
) -> Plan:
    """Return which rows are new and which move from another label, or from a source that is taken over."""
    new, moved, n_known = list[int](), dict[int, Position](), 0
    handled = set[bytes]()
    for i, (key, position) in enumerate(zip(keys, positions, strict=True)):
        if key in handled:
            n_known += 1
            continue
        handled.add(key)
        if position is None:
            new.append(i)
        elif may_move and (position.label != label or position.source in takes_over):
            moved[i] = position
        else:
            n_known += 1
    return Plan(new, moved, n_known)
