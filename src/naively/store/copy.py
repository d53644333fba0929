"""Copy a file that is in use, or the intact entries of a damaged one."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from naively.data.names import counted, listed
from naively.errors import InputError
from naively.store.entries import Entry, Log, StoredEntry, undone_among
from naively.store.meta import Meta, read_meta
from naively.store.running_sum import AddedAndRemoved, load, read_sum
from naively.store.sqlite import (
    DECODE_ERRORS,
    DamagedError,
    copy_with_journals,
    file_lengths,
    open_to_read,
    translate_file_errors,
)
from naively.store.write import atomic_write, new_file, refuse_loss

MAX_NUMBERS_LISTED = 20
READ_ERRORS = (*DECODE_ERRORS, sqlite3.DatabaseError)


def copy(path: str | Path, to: str | Path, *, overwrite: bool = False) -> None:
    """Copy a model file safely while other processes use it.

    Parameters
    ----------
    path
        The file to copy.
    to
        The new file. A model file with a fit alone is replaced.
    overwrite
        Replace the file even if it holds further entries, or is not a model file: these are lost.

    Raises
    ------
    InputError
        If the file is damaged or the copy cannot be written.
    """
    _refuse_same_file(path, to)
    refuse_loss(to, overwrite)
    with translate_file_errors(path), atomic_write(to, _mode_of(path)) as unfinished:
        source, target = open_to_read(path), sqlite3.connect(unfinished, isolation_level=None)
        with closing(source), closing(target):
            source.execute("COMMIT")  # the backup reads a state of its own
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")
        load(unfinished)  # refuses a damaged copy


def _mode_of(path: str | Path) -> int:
    """Return who may read and write a file: a copy of a private file is private."""
    try:
        return os.stat(path).st_mode & 0o666 | 0o600
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


def _refuse_same_file(path: str | Path, to: str | Path) -> None:
    if os.path.realpath(path) == os.path.realpath(to):
        raise InputError(f"{to}: is the file itself: give another name.")


@dataclass(frozen=True)
class Salvaged:
    """What a salvage recovered and lost.

    Parameters
    ----------
    recovered
        The entries of the new file.
    lost
        The number of each lost entry, and why it is lost.
    notes
        What else is lost.
    """

    recovered: tuple[Entry, ...]
    lost: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]


def salvage(path: str | Path, to: str | Path, *, comment: str = "", overwrite: bool = False) -> Salvaged:
    """Write the intact entries of a damaged file to a new file.

    Parameters
    ----------
    path
        The damaged file. It is not changed.
    to
        The new file. Its last entry records what was lost. A model file with a fit alone is replaced.
    comment
        A comment in that entry.
    overwrite
        Replace the file even if it holds further entries, or is not a model file: these are lost.

    Returns
    -------
    Salvaged
        The entries recovered, and those lost with the reasons.

    Raises
    ------
    InputError
        If nothing can be recovered.
    """
    _refuse_same_file(path, to)
    with _padded_copy(path) as copied:
        try:
            connection = open_to_read(copied)
        except InputError as error:
            raise InputError(str(error).replace(str(copied), str(path))) from None
        except (sqlite3.Error, UnicodeError) as error:
            raise InputError(f"{path}: is too damaged to be read ({error}): nothing can be recovered.") from None
        with closing(connection), translate_file_errors(path):
            return _salvage(connection, path, to, comment, overwrite)


@contextmanager
def _padded_copy(path: str | Path) -> Iterator[Path]:
    """Yield a temporary copy of a file and its journals, padded with zeros to the length that its header states.

    SQLite refuses a file with fewer pages than stated. Padded, it is opened, and only the missing pages are damaged.
    """
    with tempfile.TemporaryDirectory(prefix="naively-") as folder:
        try:
            copied = copy_with_journals(Path(path).resolve(strict=True), folder)
            actual, stated = file_lengths(copied)
            if actual < stated:
                with copied.open("r+b") as file:
                    file.truncate(stated)
        except (OSError, RuntimeError) as error:
            raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
        yield copied


def _salvage(
    connection: sqlite3.Connection, path: str | Path, to: str | Path, comment: str, overwrite: bool
) -> Salvaged:
    notes: list[str] = []
    try:
        meta = read_meta(connection)
    except READ_ERRORS:
        meta = Meta()
        notes.append("the settings are lost: the target is now 'class', the class prior the empirical one.")
    log = Log(Path(path), connection)
    intact: list[StoredEntry] = []
    lost: list[tuple[int, str]] = []
    for number in _entry_numbers(log, notes):
        try:
            entry = log.read(number)
            for part in log.counts_of([entry], ()):
                _ = part.model  # refuses what cannot be decoded
            intact.append(entry)
        except READ_ERRORS as error:
            reason = str(error) if isinstance(error, DamagedError) else f"entry {number} cannot be read ({error})"
            lost.append((number, reason))
    recovered = _without_orphans(intact, lost)
    if not any(entry.sign > 0 for entry in recovered):
        raise InputError(f"{path}: no entry is intact: nothing can be recovered.")
    recovered = _without_impossible_forgets(recovered, log, lost)
    lost.sort()
    summary = f"{counted(len(recovered), 'entry', 'entries')} recovered, {len(lost)} lost"
    if lost:
        summary += f" (number {listed((str(number) for number, _ in lost), MAX_NUMBERS_LISTED)})"
    with new_file(to, meta, overwrite, _mode_of(path)) as new:
        for entry in recovered:
            new.append(entry._replace(schema=new.schema_number(log.schema(entry.schema)[0])))
        number = new.schema_number(log.schema(recovered[-1].schema)[0])
        note = json.dumps({"note": "; ".join([summary, *notes])}, ensure_ascii=False)
        new.append(new.new_entry("salvage", schema=number, source=str(path), comment=comment, span=note))
        _ = read_sum(new, meta).model  # refuses entries that do not make a model
    return Salvaged(tuple(entry.public() for entry in recovered), tuple(lost), tuple(notes))


def _entry_numbers(log: Log, notes: list[str]) -> range:
    """Return the numbers of the entries that there were."""
    try:
        return range(1, log.read_head().entries + 1)
    except READ_ERRORS:
        notes.append("the number of entries is lost: entries after the last one recovered may be missing.")
    try:
        (last,) = log.connection.execute("SELECT max(number) FROM entries").fetchone()
    except sqlite3.DatabaseError:
        last = 0
    return range(1, (last or 0) + 1)


def _without_orphans(entries: list[StoredEntry], lost: list[tuple[int, str]]) -> list[StoredEntry]:
    """Drop forgets and undos of lost entries."""
    known = {entry.id for entry in entries}.union(*(entry.absorbed_ids() for entry in entries))
    remaining = []
    for entry in entries:
        if entry.corrected_ids() <= known:
            remaining.append(entry)
        else:
            lost.append((entry.number, f"entry {entry.number} corrects an entry that is lost"))
    return remaining


def _without_impossible_forgets(entries: list[StoredEntry], log: Log, lost: list[tuple[int, str]]) -> list[StoredEntry]:
    """Drop forgets that are not attributed to an entry and whose rows were in lost entries."""
    undone = undone_among((entry.id, entry.act, entry.corrects) for entry in entries)
    forgets = [
        entry
        for entry in entries
        if entry.id not in undone and any(part.sign < 0 and part.corrects is None for part in entry.parts())
    ]
    if not forgets:
        return entries
    others = (entry for entry in entries if entry not in forgets)
    model = AddedAndRemoved.of(log.counts_of(others, undone)).difference()
    dropped = set()
    for entry in forgets:
        try:
            if model is None:
                raise InputError("every other entry is undone")
            for part in log.counts_of([entry], ()):
                model = model - part.model if part.sign < 0 else model + part.model
        except InputError:
            dropped.add(entry.id)
            lost.append((entry.number, f"entry {entry.number} forgets rows that are lost"))
    return [entry for entry in entries if entry.id not in dropped and entry.corrects not in dropped]
