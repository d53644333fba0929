"""Where mails are stored: Maildir, mbox, MH, single files, folders of files, standard input. Each is read as bytes.

A Maildir has the folders cur and new (its subfolders, such as .Junk, are mailboxes of their own, which are read only if
they are named). An mbox is a file that starts with a line `From `. In an MH folder the files are numbers. Any other
folder is searched with its subfolders. Files are read one at a time.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from naively.errors import InputError

MAX_MAIL_BYTES = 1 << 30
_POSTMARK = re.compile(rb"From \S* ?.*\d")  # the first line of a mail in an mbox
_NOT_MAIL = (".", "dovecot", "courier", "subscriptions", "maildirsize", "maildirfolder", "index.", "tmp")


class StoredMail(NamedTuple):
    """The bytes of a mail, and the name of the place where they are: a path, or a path and a number."""

    data: bytes
    name: str
    path: Path | None = None


def mails_in(sources: Iterable[str | Path]) -> Iterator[StoredMail]:
    """Yield the mails of files and folders, one after the other.

    Parameters
    ----------
    sources
        Paths of a Maildir, an mbox, an MH folder, a mail or a folder of mails. "-" is standard input, a mail or an
        mbox.

    Yields
    ------
    StoredMail
        A mail and where it is.

    Raises
    ------
    InputError
        If a path does not exist or cannot be read. A mail that disappears while a folder is read is skipped.
    """
    for source in sources:
        if str(source) == "-":
            yield from _in_bytes(sys.stdin.buffer.read(), "-")
            continue
        path = Path(source)
        try:
            if path.is_dir():
                yield from _in_folder(path)
            elif path.is_file() or path.is_fifo():
                yield from _in_file(path)
            else:
                raise InputError(f"{path}: there is no such file or folder.")
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


def is_maildir(path: Path) -> bool:
    """Return whether a folder is a Maildir."""
    return (path / "cur").is_dir() and (path / "new").is_dir()


def files_of_maildir(path: Path) -> Iterator[Path]:
    """Yield the mails of a Maildir, in the order of their names."""
    for part in ("cur", "new"):
        with os.scandir(path / part) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
        yield from (path / part / name for name in names)


def _in_folder(path: Path) -> Iterator[StoredMail]:
    files = files_of_maildir(path) if is_maildir(path) else _files_below(path)
    for file in files:
        try:
            data = _read(file)
        except FileNotFoundError:
            continue  # moved or deleted since the folder was listed
        if _is_mbox(data) and not is_maildir(path):
            yield from _in_bytes(data, str(file))
        else:
            yield StoredMail(data, str(file), file)


def _files_below(path: Path) -> Iterator[Path]:
    """Yield the files of a folder and of its subfolders, sorted; those of a Maildir in it from cur and new only."""
    with os.scandir(path) as entries:
        children = sorted(entries, key=lambda entry: (not entry.name.isdigit(), len(entry.name), entry.name))
    is_mh = any(child.name == ".mh_sequences" for child in children)
    for child in children:
        if child.name.startswith(_NOT_MAIL) or (is_mh and not child.name.isdigit()):
            continue
        if child.is_dir():
            inner = Path(child.path)
            yield from files_of_maildir(inner) if is_maildir(inner) else _files_below(inner)
        elif child.is_file():
            yield Path(child.path)


def _in_file(path: Path) -> Iterator[StoredMail]:
    data = _read(path)
    if _is_mbox(data):
        yield from _in_bytes(data, str(path))
    else:
        yield StoredMail(data, str(path), path)


def _in_bytes(data: bytes, name: str) -> Iterator[StoredMail]:
    """Yield the mails of an mbox, or one mail."""
    if not _is_mbox(data):
        if data:
            yield StoredMail(data, name)
        return
    starts = [
        0,
        *(match.end() - len(b"From ") for match in re.finditer(rb"\r?\n\r?\nFrom (?=\S* ?.*\d)", data)),
        len(data),
    ]
    for number, (start, end) in enumerate(pairwise(starts), 1):
        _, _, mail = data[start:end].partition(b"\n")
        yield StoredMail(mail, f"{name}:{number}" if len(starts) > 2 else name)


def _is_mbox(data: bytes) -> bool:
    return data.startswith(b"From ") and _POSTMARK.match(data) is not None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_MAIL_BYTES + 1)
    if len(data) > MAX_MAIL_BYTES:
        raise InputError(f"{path}: is larger than 1 GB: split it.")
    return data
