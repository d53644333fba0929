"""Rows that are counted by key: each key once, whatever is taught again, and under one label at a time.

    f = H_secret(key of the row, its label)                                 (1)

A file that remembers its rows holds a fingerprint of each (`fingerprints.py`). Here the fingerprint is made from a key
that the caller gives, in place of the cells: a mail that was learnt is found by its key, and the class that it was
learnt as by trying all classes. The fingerprints are in the entries; `KeyIndex` is what they say, in memory.

A column of text may differ each time the row of a key is given, as the lines differ that servers add to a mail. Then
the entry that counts the row remembers the text that it has counted, and what is forgotten or moved is that text.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from naively.data.labelled import Label
from naively.data.table import table_of_texts
from naively.families import Family
from naively.model.count import rows_to_count
from naively.model.model import Model
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
from naively.store.fingerprints import RememberedRows, pack_rows, unpack_fingerprints, unpack_rows
from naively.store.relabel import Part, describe_labels, join
from naively.store.running_sum import RunningSum, count_rows
from naively.store.sqlite import DECODE_ERRORS, DamagedError
from naively.store.write import write_model

KeyedTable = Mapping[str, Sequence[str]]  # the texts of each column


class Taught(NamedTuple):
    """What a change by key did: the new entries, and how many rows were new, known before, moved and unknown."""

    entries: tuple[Entry, ...] = ()
    n_new: int = 0
    n_known: int = 0
    n_moved: int = 0
    n_forgotten: int = 0
    n_unknown: int = 0


class Position(NamedTuple):
    """Where a row was counted: under which label, by which entry and source, and the number of that entry."""

    label: Label
    entry: bytes
    source: str
    number: int


@dataclass
class KeyIndex:
    """The entries and sources that counted each row, by fingerprint, up to a position of the log.

    There are several if a row was forgotten and counted again, and then the forget was undone.
    """

    head: Head = START
    _sources: dict[bytes, tuple[tuple[bytes, str, int], ...]] = field(default_factory=dict)

    def catch_up(self, log: Log) -> None:
        """Read the entries that were written since; all of them if one was undone, or replaced by compacting."""
        head = log.read_head()
        if head == self.head:
            return
        columns = "id, act, sign, corrects, source, fingerprints, span, number"
        query = f"SELECT {columns} FROM entries WHERE number > ? ORDER BY number"
        is_known = self.head != START and log.holds(self.head)
        rows = log.connection.execute(query, (self.head.entries if is_known else 0,)).fetchall()
        if is_known and any(act == "undo" for _, act, *_ in rows):
            is_known, rows = False, log.connection.execute(query, (0,)).fetchall()
        if not is_known:
            self._sources = {}
        undone = undone_among((id_, act, corrects) for id_, act, _, corrects, *_ in rows)
        for id_, act, sign, corrects, source, fingerprints, span, number in rows:
            if not fingerprints or id_ in undone:
                continue
            try:
                parts = (
                    _parts_of_relabel(span, fingerprints)
                    if act == RELABEL
                    else [(sign, source, corrects, fingerprints)]
                )
                for sign_of_part, source_of_part, corrected, data in parts:
                    counted_by = (id_, source_of_part, number)
                    for key in unpack_fingerprints(data):
                        if sign_of_part > 0:
                            self._sources[key] = (*self._sources.get(key, ()), counted_by)
                        else:
                            self._forget(key, corrected)
            except DECODE_ERRORS as error:
                raise DamagedError(f"the fingerprints of entry {id_.hex()[:8]} cannot be read ({error})") from None
        self.head = head

    def _forget(self, key: bytes, entry: bytes | None) -> None:
        remaining = tuple(source for source in self._sources.pop(key, ()) if entry not in (None, source[0]))
        if remaining:
            self._sources[key] = remaining

    def find(self, key: bytes, classes: Iterable[Label], secret: str) -> list[Position]:
        """Return where a row was counted, the latest entry last."""
        positions = [
            Position(label, *source)
            for label in classes
            for source in self._sources.get(fingerprint(key, label, secret), ())
        ]
        return sorted(positions, key=lambda position: position.number) if len(positions) > 1 else positions


def _parts_of_relabel(span: str | None, fingerprints: bytes) -> Iterator[tuple[int, str, bytes | None, bytes]]:
    """Yield sign, source, corrected entry and fingerprints of each part of a relabel."""
    for head in heads_of_parts(span):
        yield ACTS[head.act], head.source, head.corrects, fingerprints[: head.n_fingerprint_bytes]
        fingerprints = fingerprints[head.n_fingerprint_bytes :]


def fingerprint(key: bytes, label: Label, secret: str) -> bytes:
    """Return equation (1)."""
    return hashlib.blake2b(
        key + str(label).encode("utf-8", "surrogatepass"), digest_size=16, key=bytes.fromhex(secret)
    ).digest()


def encode_keys(
    keys: Iterable[bytes], label: Label, secret: str, column: str | None = None, texts: Iterable[str] = ()
) -> bytes:
    """Return the payload of the fingerprints of rows of one class, with the texts of a column if it is remembered."""
    fingerprints = [fingerprint(key, label, secret) for key in keys]
    rows = zip(fingerprints, [""] * len(fingerprints) if column is None else texts, strict=True)
    return pack_rows(RememberedRows(Counter(rows), column))


def create_keyed(
    path: str | Path,
    X: KeyedTable,
    label: Label,
    *,
    keys: Sequence[bytes],
    columns: dict[str, Family],
    remembered: str | None = None,
    source: str = "",
    comment: str = "",
) -> bool:
    """Write a new file with rows of one class, which are known by their keys; return False if the file exists.

    Of several processes that create a file at the same time, one does, and the others get False. The file remembers the
    texts of the column `remembered`.
    """
    from naively.fitting import fit  # not needed to open a file

    target = Path(path)
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    table = _rows_of_table(X, sorted(first.values()))
    keys = sorted(first, key=lambda key: first[key])
    model = fit(table_of_texts(table), [label] * len(keys), columns=columns, tune=False)
    secret = secrets.token_hex(32)
    fingerprints = encode_keys(keys, label, secret, remembered, () if remembered is None else table[remembered])
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        unfinished = Path(folder) / target.name
        write_model(unfinished, model, source=source, comment=comment, remembered=(secret, fingerprints))
        try:
            os.link(unfinished, target)
        except FileExistsError:
            return False
    return True


def _rows_of_table(X: KeyedTable, positions: Sequence[int]) -> dict[str, list[str]]:
    return {name: [cells[i] for i in positions] for name, cells in X.items()}


@dataclass(frozen=True, eq=False)
class KeyedChange:
    """A change of a file by key, inside a transaction: the log, the sum before it, and the index."""

    log: Log
    total: RunningSum
    index: KeyIndex
    secret: str
    _parts: dict[tuple[int, str], tuple[StoredEntry, RememberedRows]] = field(default_factory=dict)

    def positions(self, keys: Sequence[bytes]) -> list[list[Position]]:
        """Return where each row was counted, the latest entry last."""
        classes = tuple(self.total.classes)
        return [self.index.find(key, classes, self.secret) for key in keys]

    def remembered(self, keys: Sequence[bytes]) -> list[tuple[Label, str] | None]:
        """Return label and text of the remembered column as they were counted last for each key; None if not."""
        rows: list[tuple[Label, str] | None] = []
        by_part: dict[tuple[int, str], dict[bytes, str]] = {}
        for key, positions in zip(keys, self.positions(keys), strict=True):
            if not positions:
                rows.append(None)
                continue
            label, _, source, number = positions[-1]
            if (number, source) not in by_part:
                by_part[number, source] = {row[0]: row[1] for row in self._counted_by(positions[-1])[1].counts}
            rows.append((label, by_part[number, source][fingerprint(key, label, self.secret)]))
        return rows

    def _counted_by(self, position: Position) -> tuple[StoredEntry, RememberedRows]:
        """Return the entry that counted a row, or the part of it if it is a relabel, and the rows it remembers."""
        known = self._parts.get((position.number, position.source))
        if known is None:
            entry = next(self.log.select("number = ?", position.number))
            try:
                part = next(part for part in entry.parts() if part.sign > 0 and part.source == position.source)
                known = self._parts[position.number, position.source] = part, unpack_rows(part.fingerprints or b"")
            except DECODE_ERRORS as error:
                raise DamagedError(f"the fingerprints of {entry} cannot be read ({error})") from None
        return known

    def _counts(self, table: KeyedTable, label: Label) -> Model:
        """Return the counts of rows of one label."""
        template, rows = self.total.template(), table_of_texts(table)
        return count_rows(template, rows_to_count(template, rows, [label] * rows.n_rows, None))

    def forgets(
        self, X: KeyedTable, keys: Sequence[bytes], where: Mapping[int, Sequence[Position]], comment: str
    ) -> Iterator[Part]:
        """Yield an entry, with its counts, for each entry and label whose rows are forgotten."""
        groups: dict[Position, list[int]] = {}
        for i, positions in where.items():
            for position in positions:
                groups.setdefault(position, []).append(i)
        for position, members in groups.items():
            counted_by, remembered = self._counted_by(position)
            rows = {fingerprint(keys[i], position.label, self.secret): i for i in members}
            forgotten = Counter({row: n for row, n in remembered.counts.items() if row[0] in rows})
            table = _rows_of_table(X, [rows[row[0]] for row in forgotten.elements()])
            if remembered.column is not None:
                table[remembered.column] = [text for _, text in forgotten.elements()]
            counts = self._counts(table, position.label)
            new = self.log.new_entry(
                "forget",
                counts,
                source=counted_by.source,
                comment=comment,
                time=counted_by.time,
                corrects=counted_by.id,
                span=counted_by.span,
                fingerprints=pack_rows(RememberedRows(forgotten, remembered.column)),
            )
            yield Part(new, counts)

    def learns(
        self, X: KeyedTable, keys: Sequence[bytes], label: Label, plan: Plan, source: str, comment: str,
        column: str | None,
    ) -> Part:  # fmt: skip
        """Return an entry, with its counts, for rows that are learnt; rows that move keep the remembered text."""
        members = sorted([*plan.new, *plan.moved])
        table, keys = _rows_of_table(X, members), [keys[i] for i in members]
        if column is not None and plan.moved:
            table[column] = [
                own if known is None else known[1]
                for own, known in zip(table[column], self.remembered(keys), strict=True)
            ]
        counts = self._counts(table, label)
        fingerprints = encode_keys(keys, label, self.secret, column, () if column is None else table[column])
        new = self.log.new_entry("update", counts, source=source, comment=comment, fingerprints=fingerprints)
        return Part(new, counts)

    def moves(
        self, X: KeyedTable, keys: Sequence[bytes], plan: Plan, learnt: Part, comment: str
    ) -> tuple[StoredEntry, list[Counts]]:
        """Return an entry, with its counts, that forgets rows where they were counted and learns them elsewhere."""
        (label,) = learnt.counts.classes
        before = [positions[-1].label for positions in plan.moved.values()]
        note = describe_labels(before, [label] * len(before), n_new=learnt.entry.rows - len(before))
        parts = [*self.forgets(X, keys, plan.moved, comment), learnt]
        return join(self.log, parts, note=note, comment=comment)


class Plan(NamedTuple):
    """What to do with rows that are taught: positions of new ones, of those to move from where, and the known rest."""

    new: list[int]
    moved: dict[int, list[Position]]
    n_known: int


def plan_teaching(
    positions: Sequence[list[Position]],
    keys: Sequence[bytes],
    label: Label,
    *,
    takes_over: Collection[str],
    may_move: bool,
) -> Plan:
    """Return which rows are new and which move from another label, or from a source that is taken over."""
    new, moved, n_known = list[int](), dict[int, list[Position]](), 0
    handled = set[bytes]()
    for i, (key, counted) in enumerate(zip(keys, positions, strict=True)):
        if key in handled:
            n_known += 1
            continue
        handled.add(key)
        if not counted:
            new.append(i)
        elif may_move and any(position.label != label or position.source in takes_over for position in counted):
            moved[i] = counted
        else:
            n_known += 1
    return Plan(new, moved, n_known)
