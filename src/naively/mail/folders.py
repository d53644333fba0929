"""Watch a Maildir for what people move, and sort a Maildir by class.

Mails are known by their keys, because IMAP servers give a file another name when it is moved. What was seen is kept in
`MODEL.folders`, a small database that only its owner can read. A mail is moved by one rename, so that it is in exactly
one folder at any time.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from naively.errors import InputError
from naively.mail.header import NAME
from naively.mail.lines import head_length
from naively.mail.model import SPAM, Answer, MailModel
from naively.mail.reader import Mail, read
from naively.mail.sources import files_of_maildir, is_maildir
from naively.store.keyed import Taught

JUNK_NAMES = ("junk", "spam", "junk e-mail", "junk mail", "bulk mail")
TRASH_NAMES = ("trash", "deleted items", "deleted messages", "deleted")
OTHER_NAMES = ("drafts", "sent", "sent items", "sent messages", "outbox", "templates")
HAM = "ham"
MIN_MOVE_PROBABILITY = 0.95
SCAN_SECONDS = 5.0
BATCH_MAILS = 200
_TABLES = (
    "CREATE TABLE IF NOT EXISTS seen (folder TEXT NOT NULL, file TEXT NOT NULL, key BLOB NOT NULL, "
    "PRIMARY KEY (folder, file)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS places (key BLOB PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS moves (number INTEGER PRIMARY KEY, run INTEGER NOT NULL, source TEXT NOT NULL, "
    "target TEXT NOT NULL)",
)
_unique = count()


class Mailbox(NamedTuple):
    """A folder of a Maildir, and its kind: junk, trash, other (drafts, sent) or mail."""

    name: str
    path: Path
    kind: str


class Move(NamedTuple):
    """A mail that is to be moved: where it is, to which folder, and why."""

    source: Path
    folder: Path
    answer: Answer


class Learnt(NamedTuple):
    """What a scan has learnt: the class, and what was counted."""

    label: str
    taught: Taught


def mailboxes(maildir: Path, junk: Sequence[str] = (), trash: Sequence[str] = ()) -> list[Mailbox]:
    """Return the folders of a Maildir: itself, its subfolders as Maildir++ names them (.Junk), and nested ones (Junk).

    Parameters
    ----------
    maildir
        The Maildir.
    junk, trash
        Names of folders with spam, and of folders that say nothing, besides the usual ones.
    """
    if not is_maildir(maildir):
        raise InputError(f"{maildir}: is not a Maildir (it has no folders cur and new).")
    boxes = [Mailbox("INBOX", maildir, "mail")]
    for child in sorted(maildir.iterdir()):
        if child.is_dir() and child.name not in ("cur", "new", "tmp") and is_maildir(child):
            name = child.name.removeprefix(".")
            boxes.append(Mailbox(name, child, _kind(name, junk, trash)))
    return boxes


def _kind(name: str, junk: Sequence[str], trash: Sequence[str]) -> str:
    last = name.rpartition(".")[2].lower()
    given_junk, given_trash = ({item.removeprefix(".").lower() for item in names} for names in (junk, trash))
    if name.lower() in given_junk or (last in JUNK_NAMES and name.lower() not in given_trash):
        return "junk"
    if name.lower() in given_trash or last in TRASH_NAMES:
        return "trash"
    return "other" if last in OTHER_NAMES else "mail"


class FolderState:
    """The database of what was seen in folders and moved by `sort`."""

    def __init__(self, model: str | Path) -> None:
        """Name the file; it is created when it is needed."""
        self.path = Path(f"{model}.folders")

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Open the database; a change is committed if the block succeeds."""
        if not self.path.exists():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        try:
            with closing(sqlite3.connect(self.path, timeout=30.0)) as connection, connection:
                for table in _TABLES:
                    connection.execute(table)
                yield connection
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: cannot be used ({error}).") from None


class Watcher:
    """Learns from where people move mails in a Maildir.

    Parameters
    ----------
    model
        The model.
    maildir
        The Maildir.
    junk, trash
        Names of its folders with spam, and of those that say nothing.
    """

    def __init__(self, model: MailModel, maildir: Path, *, junk: Sequence[str] = (), trash: Sequence[str] = ()) -> None:
        """Check the Maildir."""
        self.model, self.maildir = model, maildir
        self._names = junk, trash
        self._state = FolderState(model.path)
        mailboxes(maildir, junk, trash)

    def scan(self) -> list[Learnt]:
        """Look at all folders once, learn what people have moved, and return it.

        A mail that appears in a junk folder is spam, unless the filter itself has put it there. A mail that was in a
        junk folder, and appears in another one that is not trash, is ham. The first scan of a Maildir learns nothing:
        what is there was not moved while anybody watched.
        """
        with self._state.connect() as connection:
            seen: dict[str, dict[str, bytes]] = {}
            for folder, file, key in connection.execute("SELECT folder, file, key FROM seen"):
                seen.setdefault(folder, {})[file] = key
            kinds: dict[bytes, str] = dict(connection.execute("SELECT key, kind FROM places"))
        root = str(self.maildir.resolve())
        is_first = "" not in seen.get(root, {})  # an empty name marks a Maildir that was scanned completely
        learnt: list[Learnt] = []
        for box in mailboxes(self.maildir, *self._names):
            name = str(box.path.resolve())
            known = seen.get(name, {})
            names = {_base(file.name): file for file in files_of_maildir(box.path)}
            new = [base for base in names if base not in known]
            for start in range(0, len(new), BATCH_MAILS):
                batch = new[start : start + BATCH_MAILS]
                learnt += self._learn(box, [(base, names[base]) for base in batch], kinds, is_first)
            self._forget_names(name, [base for base in known if base not in names])
        if is_first:
            self._remember([(root, "", b"", "")])
        return learnt

    def _learn(
        self, box: Mailbox, files: list[tuple[str, Path]], kinds: dict[bytes, str], is_first: bool
    ) -> list[Learnt]:
        """Learn from mails that are new in a folder; remember them when that is done, so that a kill loses nothing."""
        moved: dict[str, list[Mail]] = {SPAM: [], HAM: []}
        rows: list[tuple[str, str, bytes, str]] = []
        for base, file in files:
            try:
                data = file.read_bytes()
            except OSError:
                continue  # moved on; the next scan finds it
            mail = read(data)
            before = kinds.get(mail.key)
            label = None if is_first else _label(box.kind, before, data)
            if label is not None:
                moved[label].append(mail)
            # A mail that is thrown away keeps what was known of it.
            kind = before if before is not None and box.kind in ("trash", "other") else box.kind
            kinds[mail.key] = kind
            rows.append((str(box.path.resolve()), base, mail.key, kind))
        learnt = [
            Learnt(label, self.model.learn(mails, label, source=f"watch {box.name}"))
            for label, mails in moved.items()
            if mails
        ]
        self._remember(rows)
        return learnt

    def _remember(self, rows: list[tuple[str, str, bytes, str]]) -> None:
        with self._state.connect() as connection:
            connection.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", [row[:3] for row in rows])
            places = [(key, kind) for _, _, key, kind in rows if key]
            connection.executemany("INSERT OR REPLACE INTO places VALUES (?, ?)", places)

    def _forget_names(self, folder: str, names: list[str]) -> None:
        names = [name for name in names if name]
        if names:
            with self._state.connect() as connection:
                connection.executemany("DELETE FROM seen WHERE folder = ? AND file = ?", [(folder, n) for n in names])

    def watch(self, report: Callable[[Learnt], None], seconds: float = SCAN_SECONDS) -> None:
        """Scan again and again, until the process is interrupted."""
        while True:
            for learnt in self.scan():
                report(learnt)
            time.sleep(seconds)


def _label(kind: str, before: str | None, data: bytes) -> str | None:
    """Return the class that a mail has by the folder in which it appears, and the kind of folder before."""
    if kind == "junk" and before != "junk":
        is_from_filter = before is None and _says_spam(data)
        return None if is_from_filter else SPAM
    return HAM if kind == "mail" and before == "junk" else None


def _says_spam(data: bytes) -> bool:
    """Return whether the filter has called a mail spam: a person has not said anything then."""
    head = data[: head_length(data)][: 1 << 16].lower()
    return f"\n{NAME}: {SPAM},".lower().encode() in b"\n" + head


def _base(name: str) -> str:
    """Return the name of a mail in a Maildir without its flags."""
    return name.partition(":2,")[0]


def plan_sort(model: MailModel, maildir: Path, folders: dict[str, str] | None = None) -> list[Move]:
    """Return the mails of the inbox of a Maildir that have a folder of their own with a probability of 0.95 or more.

    Parameters
    ----------
    model
        The model. Its classes are the names of folders.
    maildir
        The Maildir.
    folders
        The folder of a class, where it is not the folder of the same name.
    """
    boxes = {box.name.lower(): box.path for box in mailboxes(maildir) if box.name != "INBOX"}
    by_class = {label: maildir / _folder_name(name) for label, name in (folders or {}).items()}
    for label, path in by_class.items():
        if not is_maildir(path):
            raise InputError(f"{path}: is not a folder of the Maildir: create it, or name another for {label!r}.")
    junk = next((box.path for box in mailboxes(maildir) if box.kind == "junk"), None)
    moves = []
    files = list(files_of_maildir(maildir))
    for start in range(0, len(files), BATCH_MAILS):
        paths, mails = [], []
        for file in files[start : start + BATCH_MAILS]:
            try:
                mails.append(read(file.read_bytes()))
                paths.append(file)
            except OSError:
                continue
        for path, answer in zip(paths, model.answers(mails), strict=True):
            if answer.label is None or answer.posterior[answer.label] < MIN_MOVE_PROBABILITY:
                continue
            default = junk if answer.label == SPAM else None
            folder = by_class.get(answer.label) or boxes.get(answer.label.lower()) or default
            if folder is not None:
                moves.append(Move(path, folder, answer))
    return moves


def _folder_name(name: str) -> str:
    return name if name.startswith(".") else f".{name}"


def move_all(model: str | Path, moves: Sequence[Move]) -> int:
    """Move mails, each by one rename; return how many. Each move is written down before it is made.

    A mail that is no longer where it was is left alone.
    """
    state = FolderState(model)
    with state.connect() as connection:
        (run,) = connection.execute("SELECT coalesce(max(run), 0) + 1 FROM moves").fetchone()
    n_moved = 0
    for move in moves:
        target = _free_name(move.folder / "cur", move.source.name)
        with state.connect() as connection:
            connection.execute(
                "INSERT INTO moves (run, source, target) VALUES (?, ?, ?)", (run, str(move.source), str(target))
            )
        n_moved += _rename(move.source, target)
    return n_moved


def move_back(model: str | Path) -> int:
    """Move the mails of the last sort back to where they were; return how many. Mails that were moved on stay."""
    state = FolderState(model)
    with state.connect() as connection:
        rows = connection.execute(
            "SELECT number, source, target FROM moves WHERE run = (SELECT max(run) FROM moves) ORDER BY number"
        ).fetchall()
    n_moved = 0
    for number, source, target in rows:
        original, current = Path(source), _current_name(Path(target))
        if current is not None:
            name = current.name if original.parent.name == "cur" else original.name
            n_moved += _rename(current, _free_name(original.parent, name))
        with state.connect() as connection:
            connection.execute("DELETE FROM moves WHERE number = ?", (number,))
    return n_moved


def _current_name(path: Path) -> Path | None:
    """Return where a mail is now: its flags may have changed."""
    if path.exists():
        return path
    base = _base(path.name)
    with os.scandir(path.parent) as entries:
        name = next((entry.name for entry in entries if _base(entry.name) == base), None)
    return None if name is None else path.parent / name


def _rename(source: Path, target: Path) -> bool:
    try:
        source.rename(target)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise InputError(f"{source}: cannot be moved to {target.parent} ({error.strerror}).") from None
    return True


def _free_name(folder: Path, name: str) -> Path:
    """Return a name that no mail of a folder has: a rename would replace that mail."""
    base, flags = _base(name), name[len(_base(name)) :] or (":2," if folder.name == "cur" else "")
    taken = {_base(entry) for part in ("cur", "new") for entry in os.listdir(folder.parent / part)}
    while base in taken:
        host = socket.gethostname().replace("/", "_").replace(":", "_")
        base = f"{time.time():.6f}.{os.getpid()}_{next(_unique)}.{host}"
    return folder / f"{base}{flags}"
