"""The model file as SQLite sees it: how it is made, opened and closed, and what its errors mean.

A file at rest is one file. A writer has it in WAL mode with synchronous=FULL, so that a commit is one fsync and readers
need not wait; when the last writer closes it, the WAL is folded in and the journal is back to DELETE. Readers open it
read-only, and on media that cannot be written as they stand (immutable), as nobody can be writing there.

Nothing in a file is run: it must have exactly the tables below, written exactly so, and no view, trigger or index.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from naively.errors import InputError, warn_user
from naively.store.cut_short import what_is_missing

__all__ = [
    "FORMAT",
    "WAIT",
    "change",
    "checked",
    "close_reader",
    "close_writer",
    "create",
    "explained",
    "open_to_read",
    "open_to_write",
    "patiently",
]

FORMAT = 1
APPLICATION = 0x6E616976  # "naiv", in the header of the file
WAIT = 300.0  # seconds that a writer waits for another one
SILENT = 5.0  # seconds of that without a word
READERS = 0.3  # seconds to wait at the end for those who are just reading
MAGIC = b"SQLite format 3\0"

TABLES = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "schemas": "CREATE TABLE schemas (number INTEGER PRIMARY KEY, json TEXT NOT NULL)",
    "entries": (
        "CREATE TABLE entries (number INTEGER PRIMARY KEY, id BLOB NOT NULL, act TEXT NOT NULL, sign INTEGER NOT NULL, "
        "time TEXT NOT NULL, written TEXT NOT NULL, rows INTEGER NOT NULL, source TEXT NOT NULL, "
        "comment TEXT NOT NULL, corrects BLOB, schema INTEGER NOT NULL, digest BLOB NOT NULL, checksum BLOB NOT NULL, "
        "span TEXT, statistics BLOB, fingerprints BLOB, absorbed BLOB)"
    ),
    "head": "CREATE TABLE head (entries INTEGER NOT NULL, checksum BLOB NOT NULL)",
    "snapshot": (
        "CREATE TABLE snapshot (entries INTEGER NOT NULL, checksum BLOB NOT NULL, schema INTEGER NOT NULL, "
        "added BLOB NOT NULL, taken BLOB, digest BLOB NOT NULL)"
    ),
}


def create(path: str | Path) -> sqlite3.Connection:
    """A new file with empty tables, not durable until the caller makes it so."""
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in (f"application_id={APPLICATION}", f"user_version={FORMAT}", "journal_mode=OFF", "synchronous=OFF"):
        connection.execute(f"PRAGMA {setting}")
    for statement in TABLES.values():
        connection.execute(statement)
    return connection


def checked(connection: sqlite3.Connection, path: str | Path) -> None:
    """Refuse a file of another kind or of a later format, and anything in it that SQLite might run."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise InputError(f"{path}: is not a model file of naively (it is a database of something else).")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != FORMAT:
        raise InputError(f"{path}: has format {found!r}, and this naively reads format {FORMAT}: update naively.")
    wanted = {("table", name, statement) for name, statement in TABLES.items()}
    there = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 16").fetchall()
    odd = set(there) - wanted
    if odd:
        kind, name, _ = min(odd, key=str)
        raise InputError(f"{path}: is refused: it holds the {kind} {name!r}, which naively did not make.")
    if len(there) != len(wanted):
        raise InputError(f"{path}: is not a model file of naively, or is damaged (tables are missing).")


def _resolved(path: str | Path) -> Path:
    """The file behind links; errors for what is no database, before SQLite sees it."""
    try:
        found = Path(path).resolve(strict=True)
        with found.open("rb") as file:
            start = file.read(16)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if start != MAGIC:
        raise InputError(f"{path}: is not a model file of naively.")
    return found


def _connect(found: Path, how: str, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{found.as_uri()}?{how}", uri=True, timeout=wait, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = _text
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    return connection


def _text(found: bytes) -> str:
    """Text as it stands: bytes that are no UTF-8 any more are for the checksums to find, not for the decoder."""
    return found.decode("utf-8", "surrogateescape")


def open_to_read(path: str | Path, wait: float = WAIT) -> sqlite3.Connection:
    """A connection that reads one state of the file, whatever others write meanwhile."""
    found = _resolved(path)
    try:
        return _reading(found, "mode=ro", path, wait)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise
    # A writer was killed and left a journal, or the file lies where nothing can be written.
    if os.access(found, os.W_OK) and os.access(found.parent, os.W_OK):
        connection = _connect(found, "mode=rw", wait)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # rolls back, or recovers
        finally:
            connection.close()
        return _reading(found, "mode=ro", path, wait)
    left = [Path(f"{found}{end}") for end in ("-wal", "-journal")]
    if not any(part.exists() and part.stat().st_size for part in left):
        return _reading(found, "mode=ro&immutable=1", path, wait)
    folder = tempfile.TemporaryDirectory(prefix="naively-")
    for part in (found, *left):
        if part.exists():
            shutil.copyfile(part, Path(folder.name) / part.name)
    connection = _reading(Path(folder.name) / found.name, "mode=rw", path, wait)
    _FOLDERS[id(connection)] = folder
    return connection


_FOLDERS: dict[int, tempfile.TemporaryDirectory[str]] = {}  # of copies, which last as long as the process


def _reading(found: Path, how: str, path: str | Path, wait: float) -> sqlite3.Connection:
    connection = _connect(found, how, wait)
    try:
        connection.execute("BEGIN")
        checked(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_write(path: str | Path, wait: float = WAIT) -> sqlite3.Connection:
    """A connection in WAL mode whose commits are durable when they return."""
    found = _resolved(path)
    if not os.access(found, os.W_OK):
        raise InputError(f"{path}: is read-only: copy it, or ask for the right to write it.")
    connection = _connect(found, "mode=rw", wait)
    try:
        checked(connection, path)
        patiently(connection, "PRAGMA journal_mode=WAL", wait)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute(f"PRAGMA busy_timeout={int(1000 * min(wait, SILENT))}")  # `change` waits on, and says so
    except BaseException:
        connection.close()
        raise
    return connection


def patiently(connection: sqlite3.Connection, statement: str, wait: float) -> Any:
    """Run a statement again while the file is locked: a change of journal does not wait by itself."""
    until = time.monotonic() + wait
    pause = 0.001
    while True:
        try:
            return connection.execute(statement).fetchone()
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or time.monotonic() > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _begin(connection: sqlite3.Connection, wait: float) -> None:
    """Wait for one's turn, and say so if that takes long; the connection itself waits for `SILENT` at most."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        return
    except sqlite3.OperationalError as error:
        if wait <= SILENT or not error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise
    warn_user(f"another process is writing to the file: waiting for it, {wait:.0f} seconds at most.")
    (silent,) = connection.execute("PRAGMA busy_timeout").fetchone()
    try:
        connection.execute(f"PRAGMA busy_timeout={int(1000 * (wait - SILENT))}")
        connection.execute("BEGIN IMMEDIATE")
    finally:
        connection.execute(f"PRAGMA busy_timeout={silent}")


@contextmanager
def change(connection: sqlite3.Connection, wait: float = 0.0) -> Iterator[None]:
    """One change of the file, whole or not at all; other writers wait."""
    _begin(connection, wait)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def commits_of_others(connection: sqlite3.Connection) -> int:
    """A number that is another one once any other connection has changed the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def close_writer(connection: sqlite3.Connection) -> None:
    """Fold the WAL in and return to one file, unless another process writes to it still: then that one will."""
    try:
        connection.execute("PRAGMA busy_timeout=0")
        patiently(connection, "PRAGMA journal_mode=DELETE", READERS)
    except sqlite3.Error:
        pass  # what was acknowledged is in the WAL; whoever opens the file next folds it in
    finally:
        connection.close()


def close_reader(connection: sqlite3.Connection, path: str | Path) -> None:
    """Close, and fold in a WAL that a writer left because of this reader; whoever still has the file open keeps it."""
    connection.close()
    found = Path(path).resolve()
    if not Path(f"{found}-wal").exists() or not (os.access(found, os.W_OK) and os.access(found.parent, os.W_OK)):
        return
    try:
        last = _connect(found, "mode=rw", 0.0)
    except sqlite3.Error:
        return  # somebody else is at it
    try:
        last.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.Error:
        pass  # a writer has it open, and will do so
    finally:
        last.close()


def closing(owner: object, connection: sqlite3.Connection) -> weakref.finalize[Any, Any]:
    """Close the connection when its owner goes, at the latest when Python ends."""
    return weakref.finalize(owner, close_writer, connection)


_TOLD = {
    "SQLITE_NOTADB": "is not a model file of naively, or its first page is damaged.",
    "SQLITE_FULL": "the disk is full; nothing was changed.",
    "SQLITE_READONLY": "is read-only; nothing was changed.",
    "SQLITE_CANTOPEN": "cannot be opened: look at the rights of the file and of its folder.",
    "SQLITE_BUSY": "another process is writing to it and did not finish in time; nothing was changed.",
    "SQLITE_PERM": "may not be opened: look at its rights.",
    "SQLITE_TOOBIG": "an entry is larger than 1 GB, which the file cannot hold; nothing was changed.",
}


@contextmanager
def explained(path: str | Path) -> Iterator[None]:
    """Errors of SQLite as sentences about the file."""
    try:
        yield
    except UnicodeDecodeError:  # SQLite quotes what it cannot parse
        raise InputError(f"{path}: is damaged: what its tables are called cannot be read.") from None
    except UnicodeEncodeError as error:
        told = f"{error.object!r:.60} has characters that are no text (half of a pair): rename it."
        raise InputError(f"{path}: {told}") from None
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        kind = "_".join(name.split("_")[:2])
        if kind in ("SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_SCHEMA", ""):
            how = what_is_missing(path) or error
            what = f"is damaged ({how}); `naively copy --salvage` recovers the entries that are intact."
        elif kind == "SQLITE_IOERR":
            what = f"the disk failed ({error}, {name}): what was being written is not kept."
        else:
            what = _TOLD.get(kind, f"cannot be used ({error}, {name}).")
        raise InputError(f"{path}: {what}") from None
