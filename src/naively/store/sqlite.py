"""Open, check and close the SQLite database of a model file, and translate its errors.

A file at rest is one file. A writer keeps it in WAL mode with synchronous=FULL: a commit is one fsync, and readers need
not wait. The last writer to close folds the WAL into the file and returns to journal_mode=DELETE. Readers open the file
read-only, and with immutable=1 on media that cannot be written.

Nothing in a file is executed: it must hold exactly the tables below, created by exactly these statements, and no view,
trigger or index.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import struct
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from naively.errors import DiskFullError, InputError, warn_user

FORMAT = 1
FORMAT_WITH_RELABELS = 2  # of files with an entry that earlier versions cannot read
APPLICATION_ID = 0x6E616976  # "naiv"
WAIT_SECONDS = 300.0  # a writer waits this long for another one
SILENT_SECONDS = 5.0  # … and warns after this time
CLOSE_WAIT_SECONDS = 0.3  # a closing writer waits this long for readers
SETTLED_SECONDS = 2.0  # after this time, another change of a file gets another time
MIN_FILE_BYTES = 100  # the header of a SQLite file
MAX_PADDED_BYTES = 1 << 40  # a header that claims more is not believed
JOURNALS = ("-wal", "-journal")
# What decoding bytes of a damaged or forged file may raise; nothing else does (tests/store/test_fuzz.py).
DECODE_ERRORS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, zlib.error)

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


class DamagedError(ValueError):
    """Part of a file is not what was written."""


def create(path: str | Path) -> sqlite3.Connection:
    """Create a file with empty tables. Nothing is durable until the caller syncs the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    header = f"application_id={APPLICATION_ID}", f"user_version={FORMAT}"
    for setting in (*header, "journal_mode=OFF", "synchronous=OFF"):
        connection.execute(f"PRAGMA {setting}")
    for statement in TABLES.values():
        connection.execute(statement)
    return connection


def is_model_file(path: str | Path) -> bool:
    """Return whether a file is a model file: an SQLite database with the mark of naively in its header."""
    try:
        with Path(path).open("rb") as file:
            header = file.read(72)
    except OSError:
        return False
    return header.startswith(b"SQLite format 3\0") and header[68:72] == APPLICATION_ID.to_bytes(4, "big")


def check_tables(connection: sqlite3.Connection, path: str | Path) -> None:
    """Refuse a file of another kind or of a later format, and anything that SQLite might execute."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise InputError(f"{path}: is not a model file of naively (it is another SQLite database).")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (FORMAT, FORMAT_WITH_RELABELS):
        formats = f"formats {FORMAT} and {FORMAT_WITH_RELABELS}"
        raise InputError(f"{path}: has format {version!r}, but this naively reads {formats}: update naively.")
    expected = {("table", name, statement) for name, statement in TABLES.items()}
    objects = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 16").fetchall()
    foreign = set(objects) - expected
    if foreign:
        kind, name, _ = min(foreign, key=str)
        raise InputError(f"{path}: is refused: it holds the {kind} {name!r}, which naively did not make.")
    if len(objects) != len(expected):
        raise InputError(f"{path}: is not a model file of naively, or is damaged (tables are missing).")


def _resolve(path: str | Path) -> Path:
    """Follow links; refuse what cannot be a SQLite database before SQLite opens it.

    The file is not opened here: closing it would release the locks that this process holds on it (POSIX), and another
    process would then remove the journal that a connection of this process writes to.
    """
    try:
        resolved = Path(path).resolve(strict=True)
        status = resolved.stat()
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(resolved, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if not stat.S_ISREG(status.st_mode) or status.st_size < MIN_FILE_BYTES:
        raise InputError(f"{path}: is not a model file of naively.")
    return resolved


def _connect(
    file: Path, query: str, *, wait: float = WAIT_SECONDS, path: str | Path | None = None, begin: bool = False
) -> sqlite3.Connection:
    """Open a connection; begin a transaction if `begin`; check the tables if messages can name a `path`."""
    connection = sqlite3.connect(
        f"{file.as_uri()}?{query}", uri=True, timeout=wait, isolation_level=None, check_same_thread=False
    )
    try:
        # Bytes that are not UTF-8 are left to the checksums, not to the decoder.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        if begin:
            connection.execute("BEGIN")
        if path is not None:
            check_tables(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def settled_status(path: str | Path) -> tuple[int, ...] | None:
    """Return what changes when the file is written: equal results mean that it is the same as before.

    None if a journal or a WAL may hold changes, or if the file has changed a moment ago: times of files are coarse, and
    two changes may have the same time.
    """
    try:
        file = Path(path).resolve()
        if any(os.path.exists(f"{file}{end}") for end in JOURNALS):  # before the status: a WAL is folded into the file
            return None
        status = file.stat()
    except OSError:
        return None
    if abs(time.time_ns() - status.st_ctime_ns) < SETTLED_SECONDS * 10**9:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def open_to_read(path: str | Path) -> sqlite3.Connection:
    """Open a connection that reads one state of the file, while other processes may write."""
    file = _resolve(path)
    read = partial(_connect, path=path, begin=True)
    try:
        return read(file, "mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise
    # A killed writer left a journal, or the file lies where nothing can be written.
    if _is_writable(file):
        with closing(_connect(file, "mode=rw")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # rolls back or recovers
        return read(file, "mode=ro")
    journals = [Path(f"{file}{end}") for end in JOURNALS]
    if not any(journal.exists() and journal.stat().st_size for journal in journals):
        return read(file, "mode=ro&immutable=1")
    folder = tempfile.TemporaryDirectory(prefix="naively-")
    connection = read(copy_with_journals(file, folder.name), "mode=rw")
    _COPIES[id(connection)] = folder
    return connection


def copy_with_journals(file: Path, folder: str) -> Path:
    """Copy the bytes of a file and of its journals to a folder, and return the copy of the file."""
    for part in (file, *(Path(f"{file}{end}") for end in JOURNALS)):
        if part.exists():
            shutil.copyfile(part, Path(folder) / part.name)
    return Path(folder) / file.name


_COPIES: dict[int, tempfile.TemporaryDirectory[str]] = {}  # removed when the process ends


def _is_writable(file: Path) -> bool:
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def open_to_write(path: str | Path, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Open a connection in WAL mode whose commits are durable when they return."""
    file = _resolve(path)
    if not os.access(file, os.W_OK):
        raise InputError(f"{path}: is read-only: copy it, or ask for the right to write it.")
    connection = _connect(file, "mode=rw", wait=wait, path=path)
    try:
        for setting in ("busy_timeout=0", "synchronous=FULL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {setting}")
        execute_when_free(connection, "PRAGMA journal_mode=WAL", wait)
    except BaseException:
        connection.close()
        raise
    return connection


def execute_when_free(connection: sqlite3.Connection, statement: str, wait: float) -> Any:
    """Execute a statement, and again while another process has locked the file; warn if that takes long.

    SQLite's own waiting does not warn, and a change of the journal mode does not wait at all.
    """
    start, pause, has_warned = time.monotonic(), 0.001, False
    while True:
        try:
            return connection.execute(statement).fetchone()
        except sqlite3.OperationalError as error:
            waited = time.monotonic() - start
            if waited > wait or not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise
        if waited > SILENT_SECONDS and not has_warned:
            warn_user(f"another process is writing to the file: waiting for at most {wait:.0f} seconds.")
            has_warned = True
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


@contextmanager
def transaction(connection: sqlite3.Connection, wait: float = 0.0) -> Iterator[None]:
    """Change the file completely or not at all; other writers wait."""
    execute_when_free(connection, "BEGIN IMMEDIATE", wait)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def close_writer(connection: sqlite3.Connection) -> None:
    """Fold the WAL into the file, unless another process still writes to it: the last one does."""
    with closing(connection), suppress(sqlite3.Error):
        # If it fails, committed changes are in the WAL, which the next process to open the file folds in.
        execute_when_free(connection, "PRAGMA journal_mode=DELETE", CLOSE_WAIT_SECONDS)


def close_reader(connection: sqlite3.Connection, path: str | Path) -> None:
    """Close, and fold in a WAL that a writer could not fold in because of this reader."""
    connection.close()
    file = Path(path).resolve()
    if not Path(f"{file}-wal").exists() or not _is_writable(file):
        return
    with suppress(sqlite3.Error), closing(_connect(file, "mode=rw", wait=0.0)) as writer:
        writer.execute("PRAGMA journal_mode=DELETE")  # fails if a writer has the file open, which will do it


_MESSAGES = {
    "SQLITE_NOTADB": "is not a model file of naively, or its first page is damaged.",
    "SQLITE_READONLY": "is read-only; nothing was changed.",
    "SQLITE_CANTOPEN": "cannot be opened: check the permissions of the file and of its folder.",
    "SQLITE_BUSY": "another process is writing to it and did not finish in time; nothing was changed.",
    "SQLITE_PERM": "may not be opened: check its permissions.",
    "SQLITE_TOOBIG": "an entry is larger than 1 GB, which the file cannot hold; nothing was changed.",
}
_SALVAGE = "`naively copy --salvage` recovers the entries that are intact."


@contextmanager
def translate_file_errors(path: str | Path) -> Iterator[None]:
    """Raise what is wrong with a file as an InputError that names it."""
    try:
        yield
    except DamagedError as error:
        raise InputError(f"{path}: is damaged: {error}. {_SALVAGE}") from None
    except MemoryError:
        raise InputError(f"{path}: needs more memory than there is.") from None
    except UnicodeDecodeError:  # SQLite quotes what it cannot parse
        raise InputError(f"{path}: is damaged: the names of its tables cannot be read.") from None
    except UnicodeEncodeError as error:
        message = f"{error.object!r:.60} has characters that are not text (half of a surrogate pair): rename it."
        raise InputError(f"{path}: {message}") from None
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        kind = "_".join(name.split("_")[:2])
        if kind == "SQLITE_FULL" or name == "SQLITE_IOERR_SHMSIZE":
            raise DiskFullError(f"{path}: the disk is full; nothing was changed.") from None
        if kind in ("SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_SCHEMA", ""):
            message = f"is damaged ({_truncation(path) or error}); {_SALVAGE}"
        elif kind == "SQLITE_IOERR":
            message = f"the disk failed ({error}, {name}): the last change was not saved."
        else:
            message = _MESSAGES.get(kind, f"cannot be used ({error}, {name}).")
        raise InputError(f"{path}: {message}") from None


def file_lengths(path: Path) -> tuple[int, int]:
    """Return the length of a file in bytes, and the length that its header states, 0 if it states none.

    The header of a SQLite file holds the size of a page (bytes 16 and 17, where 1 is 65,536) and the number of pages
    (bytes 28 to 31).
    """
    with path.open("rb") as file:
        start = file.read(32)
    actual = path.stat().st_size
    if len(start) < 32:
        return actual, 0
    (size,), (pages,) = struct.unpack_from(">H", start, 16), struct.unpack_from(">I", start, 28)
    stated = pages * (65536 if size == 1 else size)
    is_valid = size == 1 or (size >= 512 and size & (size - 1) == 0 and stated <= MAX_PADDED_BYTES)
    return actual, stated if is_valid else 0


def _truncation(path: str | Path) -> str:
    """Describe what is missing at the end of a file, if anything is."""
    try:
        actual, stated = file_lengths(Path(path).resolve())
    except OSError:
        return ""
    return f"it is cut short: {actual:,} of {stated:,} bytes are there" if actual < stated else ""
