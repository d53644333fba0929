"""A live ledger: the model file as it is taught, corrected and asked."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from naively.data.labelled import LabelledRows
from naively.model.merge import total, unite
from naively.model.model import Model
from naively.priors import PriorLike
from naively.store import compact as compacting
from naively.store import forget as forgetting
from naively.store import history, periods, settings
from naively.store import running_sum as sums
from naively.store import sqlite as file
from naively.store import undo as undoing
from naively.store.entries import Entry, Row, Schemas, append, new_row
from naively.store.fingerprints import fingerprints_of, pack_fingerprints
from naively.store.load import meta_of, reading, told, whole
from naively.store.remembering import write_remembered
from naively.store.rows import count_rows, read_rows, refuse_other_classes, saying_what_is_left_out
from naively.store.snapshots import write_snapshot
from naively.store.summing import caught_up, read_sum

__all__ = ["Ledger", "open"]

_ABANDONED: list[sqlite3.Connection] = []  # of a parent process; to close them here would close them there


def open(path: str | Path, *, wait: float = file.WAIT) -> Ledger:  # noqa: A001  (naively.open)
    """A live ledger: `update`, `forget`, `undo`, `log`, `compact`, `model`. Needs no `with`, nor `close`.

    `wait` is how many seconds to wait while another process writes.
    """
    return Ledger(path, wait=wait)


class Ledger:
    """A model file that learns, forgets and remembers what it was taught.

    Every act is one entry, durable when the method returns. Other processes may write too: they take turns.

    >>> import naively, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.naively"
    >>> naively.fit(["cheap pills", "lunch today"], ["spam", "ham"]).save(path, source="first.csv")
    >>> ledger = naively.open(path)
    >>> entry = ledger.update(["cheap lunch"], ["ham"], source="anna")
    >>> ledger.model().class_counts.tolist()
    [2.0, 1.0]
    >>> _ = ledger.undo(entry.id, comment="a mistake")
    >>> [(e.act, e.rows, e.source, e.in_force) for e in ledger.log()]
    [('fit', 2, 'first.csv', True), ('update', 1, 'anna', False), ('undo', 0, '', True)]
    """

    def __init__(self, path: str | Path, *, wait: float = file.WAIT) -> None:
        """Read the file; it is opened to write when something is to be written."""
        self.path = Path(path)
        self._wait = wait
        self._turn = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._closing: Any = None
        self._schemas: Schemas | None = None  # known while nobody else has changed the file
        self._others = 0
        with reading(path) as (connection, schemas, meta):
            self._sum = read_sum(connection, schemas, meta)

    @classmethod
    def fit(
        cls,
        path: str | Path,
        X: Any,
        y: Any,
        *,
        remember_rows: bool = False,
        source: str = "",
        comment: str = "",
        weight: Any = None,
        **settings: Any,
    ) -> Self:
        """A new file with the model of some rows; see `naively.fit` for the settings.

        With `remember_rows` the file keeps 16 bytes of each row, a keyed hash, and refuses to forget any other.
        """
        from naively.fitting import fit

        fitted = fit(X, y, weight=weight, **settings)
        if remember_rows:
            write_remembered(path, fitted, X, y, weight, source=source, comment=comment)
        else:
            fitted.save(path, source=source, comment=comment)
        return cls(path)

    def update(self, X: Any, y: Any = None, *, weight: Any = None, source: str = "", comment: str = "") -> Entry:
        """Teach it more rows: one entry, durable when this returns."""
        with self._change() as (connection, schemas):
            like = self._sum.pattern()
            part, marks = self._counted(like, X, y, weight)
            unite(like.schema, part.schema)  # refuses columns that turn out to be of another kind
            refuse_other_classes(self.path, self._sum.meta.prior, part.classes)
            counts = sums.counts_of_model(part)
            row = new_row(schemas, counts, "update", 1, source=source, comment=comment, fingerprints=marks)
            return self._append(connection, schemas, row, part)

    def _counted(self, model: Model, X: Any, y: Any, weight: Any) -> tuple[Model, bytes | None]:
        rows: Iterable[LabelledRows] = saying_what_is_left_out(model, read_rows(model, X, y, weight))
        marks = None
        if self._sum.meta.key is not None:
            rows = list(rows)
            marks = self._marks(model, rows)
        part = total([count_rows(model, some) for some in rows])
        assert part is not None
        return part, marks

    def _marks(self, model: Model, rows: Sequence[LabelledRows]) -> bytes | None:
        key = self._sum.meta.key
        return None if key is None else pack_fingerprints(fingerprints_of(model, rows, key))

    def forget(
        self, X: Any, y: Any = None, *, weight: Any = None, entry: str | None = None, comment: str = ""
    ) -> tuple[Entry, ...]:
        """Take rows away as if they had never been counted; refused if they were not.

        The entry that they came from is found by what it counted, the latest first, or named with `entry`. There is one
        new entry for each entry that is corrected; it has the time and the source of that one.
        """
        with self._change() as (connection, schemas):
            model = whole(self._sum)
            rows = list(read_rows(model, X, y, weight))
            found = forgetting.attributed(self.path, connection, schemas, self._sum.meta, model, rows, entry)
            made = []
            for target, some, part in found:
                row = new_row(
                    schemas,
                    sums.counts_of_model(part),
                    "forget",
                    -1,
                    source=target.source,
                    time=target.time,
                    comment=comment,
                    corrects=target.id,
                    fingerprints=self._marks(model, some),
                    span=target.span,
                )
                made.append(self._append(connection, schemas, row, part))
            whole(self._sum)  # refuses a sum below zero, before anything is written
            return tuple(made)

    def undo(self, id: str, *, comment: str = "") -> Entry:  # noqa: A002  (the log's own word)
        """Sum without one entry; undo of an undo brings it back. Refused for what was absorbed or partly forgotten."""
        with self._change() as (connection, schemas):
            target = undoing.target_of(self.path, connection, id)
            row = new_row(schemas, None, "undo", 0, corrects=target.id, comment=comment, schema=target.schema)
            done = append(connection, schemas, row)
            root = settings.root_of(connection, target)
            if root.act == "tune":
                meta = settings.restored(self.path, connection, self._sum.meta, root)
                self._sum = self._sum.plus(done, None).under(meta)
            else:
                self._sum = undoing.sum_after(connection, schemas, self._sum, done, root)
                whole(self._sum)  # refuses a sum below zero
            self._sum = write_snapshot(connection, schemas, self._sum)
            return history.entry_of(done)

    def tune(
        self,
        X: Any = None,
        y: Any = None,
        *,
        weight: Any = None,
        prior: PriorLike | None = None,
        textbook: bool = False,
        source: str = "",
        comment: str = "",
    ) -> Entry:
        """Choose smoothing, families and calibration anew, by rows that it has counted; or set another class prior.

        No count changes. With `textbook` nothing is tuned. One entry, which keeps the former settings: `undo` brings
        them back.
        """
        asked = settings.Asked.of(self.model(), X, y, weight, prior, textbook)
        with self._change() as (connection, schemas):
            done, meta = settings.changed(connection, schemas, self._sum, asked, source, comment)
            self._sum = self._sum.plus(done, None).under(meta)
            return history.entry_of(done)

    def log(self) -> tuple[Entry, ...]:
        """All entries in their order, each checked."""
        with reading(self.path) as (connection, schemas, _):
            return history.log(connection, schemas)

    def model(
        self,
        *,
        since: Any = None,
        until: Any = None,
        sources: str | Iterable[str] | None = None,
        without: str | Iterable[str] | None = None,
        half_life: timedelta | float | None = None,
    ) -> Model:
        """The model as it stands, or of some entries: since ≤ time < until, of some sources or without some.

        With `half_life` (days, or a timedelta) a row weighs half as much for each half-life between its time and
        `until` (now, if that is not given). Times are dates, datetimes (UTC unless they say otherwise) or ISO texts.
        """
        with self._turn, reading(self.path) as (connection, schemas, meta):
            if (since, until, sources, without, half_life) == (None,) * 5:
                self._sum = caught_up(self._sum, connection, schemas, meta)
                return whole(self._sum)
            chosen = periods.Selection.of(since, until, sources, without, half_life)
            return periods.model_of_selection(connection, schemas, meta, chosen)

    def compact(self, *, comment: str = "") -> Entry:
        """Make one entry of all, and clear what is left of the others: the only act that destroys anything.

        It ends `undo`, periods and sources of the entries that it absorbs; what was forgotten is gone from the file.
        """
        with self._change() as (connection, schemas):
            self._sum = compacting.compact(connection, schemas, self._sum, comment)
            row = compacting.only_entry(connection)
        with told(self.path):
            compacting.vacuum(self._writer(), self._wait)
        return row

    def copy(self, path: str | Path, *, comment: str = "") -> None:
        """A copy of the file as it is now, while others may be writing to it; with a comment in its log, if given."""
        from naively.store.copy import copy

        copy(self.path, path, comment=comment)

    def close(self) -> None:
        """Fold the log in and leave one file; happens by itself when the ledger is no longer used."""
        with self._turn:
            if self._connection is not None and self._process == os.getpid():
                if self._sum.tail > 16:  # so that the next one to read it has little to add up
                    with self._change() as (connection, schemas):
                        self._sum = write_snapshot(connection, schemas, self._sum)
                self._closing()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger {str(self.path)!r}, {self._sum.entries} entries>"

    def _writer(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._closing.detach()
            _ABANDONED.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._connection = file.open_to_write(self.path, self._wait)
            self._schemas = None
            self._process = os.getpid()
            self._closing = file.closing(self, self._connection)
        return self._connection

    @contextmanager
    def _change(self) -> Iterator[tuple[sqlite3.Connection, Schemas]]:
        """One change of the file from its present state; what was read stays what it was if it fails."""
        with self._turn:
            before = self._sum
            try:
                with told(self.path):
                    connection = self._writer()
                    with file.change(connection, self._wait):
                        others = file.commits_of_others(connection)
                        if self._schemas is None or others != self._others:
                            self._schemas, self._others = Schemas(connection), others
                            self._sum = caught_up(self._sum, connection, self._schemas, meta_of(connection))
                        yield connection, self._schemas
            except BaseException:
                self._sum, self._schemas = before, None  # which looks at the file anew
                raise

    def _append(self, connection: sqlite3.Connection, schemas: Schemas, row: Row, part: Model) -> Entry:
        done = append(connection, schemas, row, (self._sum.entries, self._sum.checksum))
        self._sum = self._sum.plus(done, part)
        if self._sum.due:
            self._sum = write_snapshot(connection, schemas, self._sum)
        return history.entry_of(done)
