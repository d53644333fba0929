"""Write a new model file, or any other file, completely or not at all."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import START, Log, open_file
from naively.store.meta import Meta, write_meta
from naively.store.sqlite import JOURNALS, create, open_to_write, translate_file_errors

RELEASE_WAIT_SECONDS = 5.0


def write_model(
    path: str | Path,
    model: Model,
    *,
    source: str = "",
    comment: str = "",
    remembered: tuple[str | None, bytes | None] = (None, None),
    sample: bytes = b"",
    overwrite: bool = False,
) -> None:
    """Write a new file with one entry: the counts of a model, its settings, and the rows that `remember` returned.

    `sample` are rows to tune by, as an Arrow stream: the data of people, kept only if it was asked for.
    """
    key, fingerprints = remembered
    with new_file(path, Meta.of_model(model, key), overwrite) as log:
        log.append(
            log.new_entry("fit", model, source=source, comment=comment, fingerprints=fingerprints, sample=sample)
        )


@contextmanager
def new_file(path: str | Path, meta: Meta, overwrite: bool = False, mode: int = 0o666) -> Iterator[Log]:
    """Yield the log of a new file, to append its entries; the file gets its name if the block succeeds."""
    refuse_loss(path, overwrite)
    with atomic_write(path, mode) as unfinished, translate_file_errors(path), closing(create(unfinished)) as connection:
        connection.execute("BEGIN")
        write_meta(connection, meta)
        connection.execute("INSERT INTO head VALUES (?, ?)", START)
        yield Log(Path(path), connection)
        connection.execute("COMMIT")


def refuse_loss(path: str | Path, overwrite: bool) -> None:
    """Refuse to replace a file that cannot be made again by another fit, unless `overwrite` is true.

    An empty file, or a model file whose only entry is a fit, may be replaced.
    """
    file = Path(path)
    if overwrite or not file.exists() or (file.is_file() and not file.stat().st_size):
        return
    advice = "give another name, or overwrite=True to replace it."
    try:
        with open_file(path) as (log, _):
            entries = [entry.public() for entry in log.after()]
    except InputError as error:
        raise InputError(f"{error} The file exists, and its content would be lost: {advice}") from None
    if [entry.act for entry in entries] == ["fit"]:
        return
    acts = ", ".join(f"{n:,} {act}" for act, n in Counter(entry.act for entry in entries).items())
    n_entries = f"{len(entries):,} entr{'y' if len(entries) == 1 else 'ies'}"
    raise InputError(
        f"{path}: holds {n_entries} ({acts}), which would be lost. To add rows, use `naively.open(path).update(…)`; "
        f"else {advice}"
    )


@contextmanager
def atomic_write(path: str | Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield a temporary path in the same folder; move it to `path` if the block succeeds, else remove it.

    A link stays, and the file that it points to is replaced. The data is on the disk before the file gets its name.
    The file gets the permissions of `mode` that the umask of the process allows.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file, so it cannot be replaced: give another name.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
    unfinished = Path(name)
    try:
        os.close(descriptor)
        yield unfinished
        umask = os.umask(0)
        os.umask(umask)
        unfinished.chmod(mode & ~umask)  # mkstemp's is readable by its owner only
        _sync(unfinished)
        _release(target)
        unfinished.replace(target)
        _sync(target.parent)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
        raise


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open a folder
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows syncs what is open to write
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _release(target: Path) -> None:
    """Before a model file is replaced: fold in the journal of a killed writer; refuse if a live one has it open.

    SQLite would take a journal that is left for that of the new file, and a live writer would write to a file without
    a name.
    """
    if not any(Path(f"{target}{end}").exists() for end in JOURNALS):
        return
    try:
        with translate_file_errors(target):
            connection = open_to_write(target, RELEASE_WAIT_SECONDS)
    except InputError:
        names = " or ".join(f"{target.name}{end}" for end in JOURNALS)
        raise InputError(
            f"{target}: the folder holds {names} of another database: remove it, or give another name."
        ) from None
    with closing(connection):
        try:
            (mode,) = connection.execute("PRAGMA journal_mode=DELETE").fetchone()
        except sqlite3.OperationalError:
            mode = "wal"
    if mode != "delete":
        raise InputError(f"{target}: this or another process has it open: close it there, or give another name.")
