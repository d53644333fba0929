"""The model file: tables of SQLite, entries with statistics in few bytes. docs/file_format.md tells the format.

Nothing in a file is run when it is read; every size, type, order and checksum is.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from naively.errors import InputError
from naively.store.counts import Counts
from naively.store.entries import START, Row, Schemas, append, new_row
from naively.store.meta import Meta, write_meta
from naively.store.sqlite import create, explained, open_to_write

__all__ = ["Counts", "Meta", "write", "write_rows", "written_whole"]


def write(
    path: str | Path,
    counts: Counts,
    meta: Meta,
    *,
    source: str = "",
    comment: str = "",
    fingerprints: bytes | None = None,
) -> None:
    """A new file with one entry, written whole or not at all."""

    def rows(schemas: Schemas) -> Iterator[Row]:
        yield new_row(schemas, counts, "fit", 1, source=source, comment=comment, fingerprints=fingerprints)

    write_rows(path, meta, rows)


def write_rows(path: str | Path, meta: Meta, rows: Callable[[Schemas], Iterable[Row]]) -> None:
    """A new file with some entries; `rows` makes them, given the schemas of the new file."""
    with written_whole(path) as unfinished, explained(path):
        connection = create(unfinished)
        try:
            connection.execute("BEGIN")
            write_meta(connection, meta)
            connection.execute("INSERT INTO head VALUES (0, ?)", (START,))
            schemas = Schemas(connection)
            for row in rows(schemas):
                append(connection, schemas, row)
            connection.execute("COMMIT")
        finally:
            connection.close()


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A path beside the one wanted, moved there when the block ends well, and removed when it does not.

    A link stays, and the file behind it is replaced. What was written is on the disk before it gets its name.
    """
    wanted = Path(os.path.realpath(path))
    try:
        number, name = tempfile.mkstemp(prefix=f".{wanted.name}.", dir=wanted.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
    os.close(number)
    unfinished = Path(name)
    try:
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)  # as any new file; mkstemp's is for its owner alone
        _to_disk(unfinished)
        _release(wanted)
        unfinished.replace(wanted)
        _to_disk(wanted.parent)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _to_disk(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return  # a folder cannot be opened there
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _release(wanted: Path) -> None:
    """Before a model file is replaced: fold in what a killed writer left beside it, refuse if a live one has it open.

    A log left there would be taken for the new file's, and a live writer would go on writing to a file without a name.
    """
    if not Path(f"{wanted}-wal").exists() and not Path(f"{wanted}-journal").exists():
        return
    refused = InputError(f"{wanted}: another process has it open: close it there, or give another name.")
    try:
        with explained(wanted):
            connection = open_to_write(wanted, wait=5.0)
    except InputError:
        beside = f"{wanted.name}-wal or {wanted.name}-journal"
        raise InputError(
            f"{wanted}: {beside} of another database is beside it: remove it, or give another name."
        ) from None
    try:
        connection.execute("PRAGMA busy_timeout=0")
        if connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0] != "delete":
            raise refused
    except sqlite3.OperationalError:
        raise refused from None
    finally:
        connection.close()
