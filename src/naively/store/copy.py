"""A copy of a file in use, or of what is intact in a damaged one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from naively.data.names import listed
from naively.errors import InputError
from naively.store.counts import DAMAGED
from naively.store.cut_short import padded
from naively.store.entries import COLUMNS, DamagedError, Entry, Row, Schemas, counts_of, head_of, intact
from naively.store.history import entry_of
from naively.store.load import load, told
from naively.store.meta import Meta, read_meta
from naively.store.notes import append_note, new_note
from naively.store.sqlite import change, open_to_read
from naively.store.write import write_rows, written_whole

__all__ = ["Salvaged", "copy", "salvage"]


def copy(path: str | Path, to: str | Path, *, comment: str = "") -> None:
    """A copy of a file as it is now, whoever has it open; it is read before it is kept.

    With a comment the copy has one entry more, which counts nothing and says what it is a copy of.
    """
    _refuse_itself(path, to)
    with told(path), written_whole(to) as unfinished:
        source = open_to_read(path)
        try:
            source.execute("COMMIT")  # the backup takes a state of its own
            made = sqlite3.connect(unfinished, isolation_level=None)
            try:
                source.backup(made)
                made.execute("PRAGMA journal_mode=DELETE")
                if comment:
                    with change(made):
                        append_note(made, "copy", source=str(path), comment=comment)
            finally:
                made.close()
        finally:
            source.close()
        load(unfinished)


def _refuse_itself(path: str | Path, to: str | Path) -> None:
    if os.path.realpath(path) == os.path.realpath(to):
        raise InputError(f"{to}: is the file itself: give another name.")


@dataclass(frozen=True)
class Salvaged:
    """What was recovered, and what was not: the number of each entry lost, and why."""

    recovered: tuple[Entry, ...]
    lost: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]


def salvage(path: str | Path, to: str | Path, *, comment: str = "") -> Salvaged:
    """A new file with the entries of a damaged one that are intact; says what is lost, also in its last entry."""
    _refuse_itself(path, to)
    with padded(path) as copied:
        try:
            connection = open_to_read(copied)
        except InputError as error:
            raise InputError(str(error).replace(str(copied), str(path))) from None
        except (sqlite3.Error, UnicodeError) as error:
            raise InputError(f"{path}: is too damaged to be read ({error}): nothing can be recovered.") from None
        try:
            with told(path):
                return _salvaged(connection, path, to, comment)
        finally:
            connection.close()


def _salvaged(connection: sqlite3.Connection, path: str | Path, to: str | Path, comment: str) -> Salvaged:
    notes: list[str] = []
    try:
        meta = read_meta(connection)
    except (*DAMAGED, sqlite3.DatabaseError):
        meta = Meta()
        notes.append("the settings are lost: the target is taken as 'class', the class prior as the empirical one.")
    schemas = Schemas(connection)
    kept: list[Row] = []
    lost: list[tuple[int, str]] = []
    for number in _numbers(connection, notes):
        try:
            found = connection.execute(f"SELECT {COLUMNS} FROM entries WHERE number = ?", (number,)).fetchone()
            if found is None:
                raise DamagedError(f"entry {number} is missing")
            row = Row(*found)
            intact(row, schemas)
            if row.sign:
                counts_of(row, schemas)
            kept.append(row)
        except (*DAMAGED, sqlite3.DatabaseError) as error:
            said = str(error) if isinstance(error, DamagedError) else f"entry {number} cannot be read ({error})"
            lost.append((number, said))
    kept = _without_orphans(kept, lost)
    if not any(row.sign > 0 for row in kept):
        raise InputError(f"{path}: no entry is intact: nothing can be recovered.")
    said = f"{len(kept)} entries recovered, {len(lost)} lost" + _listed([number for number, _ in sorted(lost)])

    def rows(new: Schemas) -> Iterator[Row]:
        yield from renumbered(kept, schemas, new)
        number = new.number(schemas.get(kept[-1].schema))
        yield new_note(new, "salvage", number, source=str(path), comment=comment, note="; ".join([said, *notes]))

    write_rows(to, meta, rows)
    load(to)
    return Salvaged(tuple(entry_of(row) for row in kept), tuple(sorted(lost)), tuple(notes))


def _listed(numbers: Sequence[int]) -> str:
    return f" (number {listed(map(str, numbers), 20)})" if numbers else ""


def _numbers(connection: sqlite3.Connection, notes: list[str]) -> range:
    try:
        return range(1, head_of(connection)[0] + 1)
    except (*DAMAGED, sqlite3.DatabaseError):
        notes.append("how many entries there were is lost: later ones than those found may be missing.")
    try:
        (last,) = connection.execute("SELECT max(number) FROM entries").fetchone()
    except sqlite3.DatabaseError:
        last = 0
    return range(1, (last or 0) + 1)


def _without_orphans(kept: list[Row], lost: list[tuple[int, str]]) -> list[Row]:
    """Without forgets and undos of what is lost."""
    there = {row.id for row in kept}
    absorbed = {row.absorbed[i : i + 16] for row in kept if row.absorbed for i in range(0, len(row.absorbed), 16)}
    out = []
    for row in kept:
        if row.corrects is None or row.corrects in there or row.corrects in absorbed:
            out.append(row)
        else:
            lost.append((row.number, f"entry {row.number} corrects an entry that is lost"))
    return out


def renumbered(rows: Iterable[Row], old: Schemas, new: Schemas) -> Iterator[Row]:
    """The same entries with the numbers that their schemas have in another file."""
    for row in rows:
        yield row._replace(schema=new.number(old.get(row.schema)))
