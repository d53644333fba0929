"""A sample of the learnt mails, kept beside the model file, so that the filter can be tuned again.

A model file holds counts, and a tuning needs mails. So the mails with the smallest keys are kept as rows, up to
`MAX_MAILS` of each class; a key is a hash, so this is a random sample. The file is `MODEL.sample`, readable by its
owner only. It is not needed to answer: without it the filter keeps its last tuning, and collects a new sample.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from naively.mail.reader import COLUMN_FIELDS, EXTRACTOR, Mail

MAX_MAILS = 1000  # of each class
COLUMNS = tuple(name for name in COLUMN_FIELDS if name != "delivery")  # the model file has that as it was counted
MAX_PLAIN_BYTES = 1 << 14  # of the columns of a mail; longer ones are compressed
COMPRESSED = b"\0"  # starts compressed columns; none starts with it
WAIT_SECONDS = 5.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS sampled "
    "(class TEXT NOT NULL, key BLOB PRIMARY KEY, extractor INTEGER NOT NULL, columns BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_class ON sampled (class, key)",
)


class SampledMail(NamedTuple):
    """A mail of the sample: its class, its key and its columns, except the one that the model file remembers."""

    label: str
    key: bytes
    columns: dict[str, str]


class Sample:
    """The file with the sample of a model."""

    def __init__(self, model: str | Path) -> None:
        """Name the file; it is created when mails are added."""
        self.path = Path(f"{model}.sample")

    def add(self, mails: Sequence[Mail], label: str) -> None:
        """Keep the mails with the smallest keys; a mail is in one class at a time. If that fails, nothing changes."""
        with suppress(sqlite3.Error, OSError):
            self._create()
            with closing(self._connect()) as connection, connection:
                query = "SELECT count(*), max(key) FROM sampled WHERE class = ?"
                n_mails, largest = connection.execute(query, (label,)).fetchone()
                smallest = sorted(mails, key=lambda mail: mail.key)[:MAX_MAILS]
                rows = [
                    (label, mail.key, EXTRACTOR, _packed(mail.columns))
                    for mail in smallest
                    if n_mails < MAX_MAILS or mail.key < largest
                ]
                self._delete(connection, (mail.key for mail in mails))
                connection.executemany("INSERT OR REPLACE INTO sampled VALUES (?, ?, ?, ?)", rows)
                connection.execute(
                    "DELETE FROM sampled WHERE class = ?1 AND key > "
                    "(SELECT key FROM sampled WHERE class = ?1 ORDER BY key LIMIT 1 OFFSET ?2)",
                    (label, MAX_MAILS - 1),
                )

    def remove(self, keys: Iterable[bytes]) -> None:
        """Drop mails that were forgotten."""
        with suppress(sqlite3.Error, OSError):
            if self.path.exists():
                with closing(self._connect()) as connection, connection:
                    self._delete(connection, keys)

    def mails(self) -> list[SampledMail]:
        """Return mails in the shares in which they were learnt, if that leaves enough of each class; else all.

        Of a class with more mails than are kept, those with keys up to a limit are in the sample. With the smallest of
        these limits for all classes, each class is sampled alike.
        """
        try:
            if not self.path.exists():
                return []
            with closing(self._connect()) as connection:
                query = "SELECT class, key, columns FROM sampled WHERE extractor = ? ORDER BY class, key"
                rows = connection.execute(query, (EXTRACTOR,)).fetchall()
            mails = [SampledMail(label, key, _unpacked(packed)) for label, key, packed in rows]
        except (sqlite3.Error, OSError, zlib.error, ValueError):
            return []
        by_class: dict[str, list[SampledMail]] = {}
        for mail in mails:
            by_class.setdefault(mail.label, []).append(mail)
        limits = [group[-1].key for group in by_class.values() if len(group) >= MAX_MAILS]
        alike = [mail for mail in mails if mail.key <= min(limits)] if limits else mails
        n_alike = {label: sum(mail.label == label for mail in alike) for label in by_class}
        return alike if all(n >= min(50, len(by_class[label])) for label, n in n_alike.items()) else mails

    def _create(self) -> None:
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS)
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("PRAGMA secure_delete=ON")
        return connection

    def _delete(self, connection: sqlite3.Connection, keys: Iterable[bytes]) -> None:
        connection.executemany("DELETE FROM sampled WHERE key = ?", ((key,) for key in keys))


def _packed(columns: dict[str, str]) -> bytes:
    """Return the columns as bytes, one line each; none of them contains a line end. Long ones are compressed."""
    lines = "\n".join([columns[name] for name in COLUMNS]).encode("utf-8", "surrogatepass")
    return lines if len(lines) <= MAX_PLAIN_BYTES else COMPRESSED + zlib.compress(lines, 1)


def _unpacked(data: bytes) -> dict[str, str]:
    lines = zlib.decompress(data[len(COMPRESSED) :]) if data.startswith(COMPRESSED) else data
    return dict(zip(COLUMNS, lines.decode("utf-8", "surrogatepass").split("\n"), strict=True))
