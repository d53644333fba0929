"""The ledger: a model file that is updated, corrected and queried."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from naively.data.labelled import Label, LabelledRows, LabelsLike, WeightLike, relabelled
from naively.data.names import Names, counted, listed
from naively.data.read import TableLike
from naively.errors import InputError, LeftOutWarning, RepeatedRowsWarning, warn_user
from naively.model.calibrate import Tuning
from naively.model.count import rows_to_count
from naively.model.merge import refuse_new_classes, refuse_other_type
from naively.model.model import Model
from naively.priors import PriorLike
from naively.store.compact import compact, vacuum
from naively.store.copy import copy
from naively.store.entries import RELABEL, Counts, Entry, Log, StoredEntry, open_file
from naively.store.fingerprints import encode_fingerprints, remember
from naively.store.forget import Forgetter, select_rows
from naively.store.keyed import KeyedChange, KeyedTable, KeyIndex, Position, Taught, plan_teaching
from naively.store.meta import read_meta
from naively.store.periods import Moment, Selection, Sources, model_of_selection
from naively.store.relabel import Part, describe_labels, join, labels_of
from naively.store.render_html import as_html
from naively.store.running_sum import RunningSum, catch_up, count_rows, read_sum, write_snapshot
from naively.store.settings import change_settings, plan_tuning, restore_settings
from naively.store.sqlite import (
    WAIT_SECONDS,
    close_writer,
    open_to_write,
    settled_status,
    transaction,
    translate_file_errors,
)
from naively.store.undo import entry_to_undo, sum_after_undo, undone_root
from naively.store.versions import model_at
from naively.store.write import refuse_loss, write_model

MIN_REPEATED_ROWS, MAX_ENTRIES_COMPARED = 10, 4  # fewer equal rows are no surprise; entries are decoded for that
MAX_PENDING_AT_CLOSE = 16  # with more entries after the last snapshot, closing writes one
_PARENT_CONNECTIONS: list[sqlite3.Connection] = []  # a forked process must not close the connections of its parent


def open(path: str | Path, *, wait: float = WAIT_SECONDS) -> Ledger:  # noqa: A001  (naively.open)
    """Open a model file to update, correct and query it.

    Parameters
    ----------
    path
        A model file.
    wait
        How many seconds to wait while another process writes.

    Returns
    -------
    Ledger
        The file. It may be used in a `with` block, but need not be closed.
    """
    return Ledger(path, wait=wait)


def warn_of_ignored_columns(batches: Iterable[LabelledRows], names: Names) -> Iterable[LabelledRows]:
    """Yield batches of rows; warn once if they have columns that a model does not have."""
    ignored: list[str] = []
    for rows in batches:
        if not ignored and rows.table.names != names:
            known = set(names)
            ignored = [repr(name) for name in rows.table.names if name not in known]
            if ignored:
                message = f"the model has no column {listed(ignored)}: not counted. To count it, fit a new model."
                warn_user(message, LeftOutWarning)
        yield rows


def warn_of_repeated_rows(log: Log, current: RunningSum, counts: Model) -> None:
    """Warn if one of the last entries with as many rows has counted the same rows: a file was given twice.

    Rows that were forgotten since then are not in the current sum, and may be taught again.
    """
    n_rows, hashes = int(counts.class_weights.rows.sum()), counts.row_hashes
    if n_rows < MIN_REPEATED_ROWS or hashes is None:
        return
    condition = "sign = 1 AND rows = ? ORDER BY number DESC LIMIT ?"
    for entry in log.select(condition, n_rows, MAX_ENTRIES_COMPARED):
        earlier = log.counts(entry).model.row_hashes
        if earlier is None or not hashes.equals(earlier) or entry.id in log.undone_ids():
            continue
        held = current.model.row_hashes
        if held is not None and held.are_held(hashes.hashes[hashes.hashes <= held.limit]).all():
            warn_user(
                f"these {n_rows:,} rows were counted before, by entry {entry.short_id} ({entry.source or entry.act}, "
                f"{entry.written[:10]}), and count twice now. If that is a mistake: naively undo.",
                RepeatedRowsWarning,
            )
            return


class Ledger:
    """A model file that can be updated and corrected, and that keeps its history.

    Every change is one entry, which is on the disk when the method returns. Several processes may write to a file: they
    take turns.

    Parameters
    ----------
    path
        A model file.
    wait
        How many seconds to wait while another process writes.

    Examples
    --------
    >>> import naively, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.naively"
    >>> naively.fit(["cheap pills", "lunch today"], ["spam", "ham"]).save(path, source="first.csv")
    >>> ledger = naively.open(path)
    >>> entry = ledger.update(["cheap lunch"], ["ham"], source="anna")
    >>> ledger.model().class_counts.tolist()
    [2.0, 1.0]
    >>> _ = ledger.undo(entry.id, comment="a mistake")
    >>> [(e.act, e.rows, e.source, e.is_current) for e in ledger.log()]
    [('fit', 2, 'first.csv', True), ('update', 1, 'anna', False), ('undo', 0, '', True)]
    """

    def __init__(self, path: str | Path, *, wait: float = WAIT_SECONDS) -> None:
        """Read the file. It is opened for writing when it is first changed."""
        self.path = Path(path)
        self._wait = wait
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._log: Log | None = None  # valid while no other process has changed the file
        self._data_version = 0
        self._key_index = KeyIndex()
        self._status: tuple[int, ...] | None = None  # of the file when `_sum` was read; None if it may have changed
        with open_file(path) as (log, meta):
            self._sum = read_sum(log, meta)

    @classmethod
    def fit(
        cls,
        path: str | Path,
        X: TableLike,
        y: LabelsLike,
        *,
        remember_rows: bool = False,
        source: str = "",
        comment: str = "",
        weight: WeightLike = None,
        overwrite: bool = False,
        **settings: Any,
    ) -> Self:
        """Fit a model and write it to a new file.

        Parameters
        ----------
        path
            The file to write. A model file with a fit alone is replaced.
        X, y, weight, **settings
            As in `naively.fit`.
        remember_rows
            Store a 16-byte fingerprint of each row, so that `forget` can refuse rows that were never counted. The data
            is read twice, and must not be a stream.
        source, comment
            Where the rows come from, and a comment, for the log.
        overwrite
            Replace the file even if it holds further entries, or is not a model file: these are lost.

        Returns
        -------
        Ledger
            The new file.
        """
        from naively.fitting import fit

        refuse_loss(path, overwrite)  # before the time to fit is spent
        model = fit(X, y, weight=weight, **settings)
        remembered = remember(model, X, y, weight) if remember_rows else (None, None)
        write_model(path, model, source=source, comment=comment, remembered=remembered, overwrite=overwrite)
        return cls(path)

    def update(
        self,
        X: TableLike,
        y: LabelsLike = None,
        *,
        weight: WeightLike = None,
        source: str = "",
        comment: str = "",
        request_id: str | None = None,
        new_classes: bool = False,
        evaluate: bool = False,
    ) -> Entry:
        """Count further rows and append them as one entry.

        Parameters
        ----------
        X
            A table, files, or an iterator of batches, as in `naively.fit`. Columns that the model does not have are
            ignored with a warning.
        y
            The labels, or the name of their column; by default the column that the model predicts.
        weight
            The weight of each row, or the name of its column.
        source, comment
            Where the rows come from, and a comment, for the log.
        request_id
            A name for this change. If the file has an entry of this name already, nothing is changed: a change whose
            answer was lost can be sent again.
        new_classes
            Whether labels may be new to a file of two or more classes. Else they are refused as typing errors.
        evaluate
            Whether to score the rows before they are learnt: `before` of the result says how well they were predicted.

        Returns
        -------
        Entry
            The new entry, or that of the same request.
        """
        with self._change() as log:
            id_, repeated = log.of_request("update", request_id)
            if repeated is not None:
                return repeated.public()
            template = self._sum.template()
            batches = rows_to_count(template, X, template.target if y is None else y, weight)
            rows = warn_of_ignored_columns(batches, template.schema.names)
            key, fingerprints = self._sum.meta.key, None
            if key is not None:
                rows = list(rows)
                fingerprints = encode_fingerprints(template, rows, key)
            first_rows = None
            if evaluate:
                from naively.evaluation.before import FirstRows  # not needed to open a file

                first_rows = FirstRows()
                rows = first_rows.follow(rows)
            counts = count_rows(template, rows)
            self._refuse_classes(counts, new_classes)
            before = None if first_rows is None else first_rows.evaluate(self._sum.model)
            warn_of_repeated_rows(log, self._sum, counts)
            new = log.new_entry("update", counts, source=source, comment=comment, fingerprints=fingerprints, id=id_)
            entry = self._append(log, new, counts)
            return entry if before is None else replace(entry, before=before)

    def forget(
        self,
        X: TableLike,
        y: LabelsLike = None,
        *,
        weight: WeightLike = None,
        entry: str | None = None,
        source: str | None = None,
        comment: str = "",
        request_id: str | None = None,
    ) -> tuple[Entry, ...]:
        """Subtract rows as if they had never been counted; refuse rows that were not.

        If the file remembers its rows, the entries that counted them are found by their fingerprints, the latest
        first. Else give `entry` or `source`, so that the rows are also forgotten in models of a period or of some
        sources. Without either, the rows are subtracted from the sum of all entries only.

        Parameters
        ----------
        X, y, weight
            The rows, as they were counted; see `update`.
        entry
            The id of the entry that counted them, or its first digits. The new entry has its time and source.
        source
            The source that they came from. The new entry has this source.
        comment
            A comment for the log.
        request_id
            As in `update`.

        Returns
        -------
        tuple of Entry
            The new entries: one for each entry whose rows are forgotten, or a single one.
        """
        with self._change() as log:
            id_, repeated = log.of_request("forget", request_id)
            if repeated is not None:
                return (repeated.public(),)
            model = self._sum.model
            rows = list(rows_to_count(model, X, model.target if y is None else y, weight))
            forgetter = Forgetter(log, self._sum)
            entries = [
                self._append(log, new, counts)
                for new, counts, _ in forgetter.entries(rows, entry, source, comment, id_)
            ]
            _ = self._sum.model  # refuses a sum below zero before anything is written
            return tuple(entries)

    def relabel(
        self,
        X: TableLike,
        y: LabelsLike = None,
        *,
        to: LabelsLike,
        weight: WeightLike = None,
        entry: str | None = None,
        source: str | None = None,
        comment: str = "",
        request_id: str | None = None,
        new_classes: bool = False,
    ) -> Entry:
        """Give counted rows other labels: forget them and learn them again, as one entry.

        Parameters
        ----------
        X, y, weight
            The rows, as they were counted; see `update`.
        to
            The new labels: one for each row, or one for all rows.
        entry, source
            The entry or the source that counted the rows, as in `forget`. The rows keep its time and source.
        comment
            A comment for the log.
        request_id, new_classes
            As in `update`.

        Returns
        -------
        Entry
            The new entry; to undo it restores the labels. Its note says which labels became which.
        """
        with self._change() as log:
            id_, repeated = log.of_request(RELABEL, request_id)
            if repeated is not None:
                return repeated.public()
            model, template, key = self._sum.model, self._sum.template(), self._sum.meta.key
            rows = list(rows_to_count(model, X, model.target if y is None else y, weight))
            new_rows = relabelled(rows, to)
            before, after = labels_of(rows), labels_of(new_rows)
            if before == after:
                raise InputError(f"{self.path}: the rows have these labels already: there is nothing to change.")
            for batch in new_rows:
                refuse_other_type(model.classes, batch.classes)
            parts: list[Part] = []
            for forget, removed, numbers in Forgetter(log, self._sum).entries(rows, entry, source, comment, None):
                selected = select_rows(new_rows, numbers)
                counts = count_rows(template, selected)
                self._refuse_classes(counts, new_classes)
                fingerprints = None if key is None else encode_fingerprints(template, selected, key)
                learnt = log.new_entry(
                    "update", counts, source=forget.source, time=forget.time, span=forget.span,
                    fingerprints=fingerprints,
                )  # fmt: skip
                parts += [Part(forget, removed), Part(learnt, counts)]
            joined, joined_counts = join(log, parts, note=describe_labels(before, after), comment=comment, id_=id_)
            new = self._append_parts(log, joined, joined_counts)
            _ = self._sum.model  # refuses a sum below zero before anything is written
            return new

    def teach(
        self,
        X: KeyedTable,
        label: Label,
        *,
        keys: Sequence[bytes],
        source: str = "",
        comment: str = "",
        takes_over: Collection[str] = (),
        may_move: bool = True,
        remembered: str | None = None,
    ) -> Taught:
        """Count rows of one class by key: each key once, completely or not at all.

        A row that was counted before under this label is not counted again. A row that was counted under another label
        is forgotten there and counted here. The file must have been created by `store.keyed.create_keyed`.

        Parameters
        ----------
        X, label
            The rows, and their class.
        keys
            16 bytes for each row.
        source, comment
            Where the rows come from, and a comment, for the log.
        takes_over
            Rows of these sources are moved to `source`, also if they have the same label.
        may_move
            Whether rows that were counted before may be moved at all.
        remembered
            A column of text that may differ each time a row is given. The file remembers what it has counted of it, and
            forgets or moves that.

        Returns
        -------
        Taught
            The new entry, and the numbers of rows. If rows are moved, the entry is a relabel.
        """
        with self._change() as log:
            change = self._keyed_change(log)
            plan = plan_teaching(change.positions(keys), keys, label, takes_over=takes_over, may_move=may_move)
            if not plan.new and not plan.moved:
                return Taught(n_known=plan.n_known)
            new, counts = change.learns(X, keys, label, plan, source, comment, remembered)
            self._refuse_classes(counts, new_classes=True)
            if plan.moved:
                entry = self._append_parts(log, *change.moves(X, keys, plan, Part(new, counts), comment))
                _ = self._sum.model  # refuses a sum below zero before anything is written
            else:
                entry = self._append(log, new, counts)
            return Taught((entry,), len(plan.new), plan.n_known, len(plan.moved))

    def forget_keys(self, X: KeyedTable, *, keys: Sequence[bytes], comment: str = "") -> Taught:
        """Subtract rows that were counted by `teach`, completely or not at all; rows that were not are left alone.

        Parameters
        ----------
        X
            The rows, as they were counted.
        keys
            16 bytes for each row.
        comment
            A comment for the log.

        Returns
        -------
        Taught
            The new entries, one for each entry and label whose rows are forgotten, and the numbers of rows.
        """
        with self._change() as log:
            change = self._keyed_change(log)
            unique = {key: i for i, key in reversed(list(enumerate(keys)))}
            positions = change.positions(keys)
            counted = {i: positions[i] for i in unique.values() if positions[i]}
            entries = tuple(self._append(log, *new) for new in change.forgets(X, keys, counted, comment))
            if entries:
                _ = self._sum.model  # refuses a sum below zero before anything is written
            return Taught(entries, n_forgotten=len(counted), n_unknown=len(unique) - len(counted))

    def positions(self, keys: Sequence[bytes]) -> list[Position | None]:
        """Return under which label, by which entry and source each key was counted by `teach`; None if it was not."""
        with self._lock, open_file(self.path) as (log, meta):
            self._sum = catch_up(self._sum, log, meta)
            return [counted[-1] if counted else None for counted in self._keyed_change(log).positions(keys)]

    def remembered(self, keys: Sequence[bytes]) -> list[tuple[Label, str] | None]:
        """Return label and text of the column that `teach` remembers, as counted for each key; None if it was not."""
        with self._lock, open_file(self.path) as (log, meta):
            self._sum = catch_up(self._sum, log, meta)
            return self._keyed_change(log).remembered(keys)

    def _keyed_change(self, log: Log) -> KeyedChange:
        secret = self._sum.meta.key
        if secret is None:
            raise InputError(f"{self.path}: does not remember its rows, so they cannot be found by key.")
        self._key_index.catch_up(log)
        return KeyedChange(log, self._sum, self._key_index, secret)

    def _refuse_classes(self, counts: Model, new_classes: bool) -> None:
        """Raise an error if rows have a class that the file, or a prior given by hand, does not have."""
        given = self._sum.meta.prior.given
        without_prior = [label for label in counts.classes if given is not None and label not in given]
        if without_prior:
            raise InputError(
                f"{self.path}: its class prior was given by hand and has no probability for {without_prior[0]!r}: "
                "set the empirical prior (tune with prior='empirical'), update it, and give a prior that names "
                "this class."
            )
        if not new_classes and not set(counts.classes) <= set(self._sum.base[0].classes):
            refuse_new_classes(self._sum.classes, counts.classes)

    def undo(
        self,
        id: str,  # noqa: A002  (as the log calls it)
        *,
        source: str = "",
        comment: str = "",
        request_id: str | None = None,
    ) -> Entry:
        """Remove the effect of an entry. Undoing the undo restores it.

        Parameters
        ----------
        id
            The id of the entry, or its first digits. An entry that was compacted, or of which rows were forgotten,
            cannot be undone.
        source, comment
            Who undoes it, and a comment, for the log.
        request_id
            As in `update`.

        Returns
        -------
        Entry
            The new entry.
        """
        with self._change() as log:
            id_, repeated = log.of_request("undo", request_id)
            if repeated is not None:
                return repeated.public()
            target = entry_to_undo(log, id)
            undo = log.new_entry(
                "undo", corrects=target.id, source=source, comment=comment, schema=target.schema, id=id_
            )
            undo = log.append(undo, self._sum.head)
            root = undone_root(log, target)
            if root.act == "tune":
                meta = restore_settings(log, self._sum.meta, root)
                self._sum = replace(self._sum, head=undo.head, meta=meta)
            else:
                self._sum = sum_after_undo(log, self._sum, undo.head, root)
                _ = self._sum.model  # refuses a sum below zero
            self._sum = write_snapshot(log, self._sum)
            return undo.public()

    def tune(
        self,
        X: TableLike = None,
        y: LabelsLike = None,
        *,
        weight: WeightLike = None,
        prior: PriorLike | None = None,
        textbook: bool = False,
        tuning: Tuning | None = None,
        source: str = "",
        comment: str = "",
    ) -> Entry:
        """Choose smoothing, families and calibration again, or set another class prior. No count changes.

        The new entry holds the former settings: undoing it restores them.

        Parameters
        ----------
        X, y, weight
            Rows that the file has counted, all or many of them, to tune by; see `update`. By default those that it
            keeps, if `naively fit --keep-sample` wrote it.
        prior
            Another class prior, as in `naively.fit`.
        textbook
            Remove the tuning.
        tuning
            A tuning that was chosen elsewhere, in place of rows.
        source, comment
            Where the rows come from, and a comment, for the log.

        Returns
        -------
        Entry
            The new entry.
        """
        if tuning is None:
            tuning = plan_tuning(self.path, self.model(), X, y, weight, prior, textbook)
        with self._change() as log:
            entry, meta = change_settings(log, self._sum, tuning, prior, textbook, source, comment)
            self._sum = replace(self._sum, head=entry.head, meta=meta)
            return entry.public()

    def log(self) -> tuple[Entry, ...]:
        """Return all entries in order. Every entry is read and compared with its checksum."""
        with open_file(self.path) as (log, _):
            undone = log.undone_ids()
            return tuple(entry.public(entry.id not in undone) for entry in log.after())

    def model(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        sources: Sources | None = None,
        without: Sources | None = None,
        half_life: timedelta | float | None = None,
    ) -> Model:
        """Return the current model, or the model of a selection of entries.

        Parameters
        ----------
        since, until
            Select entries with since ≤ time < until: dates, datetimes (UTC unless they have a time zone) or ISO
            strings.
        sources, without
            Select entries of these sources, or without those.
        half_life
            Days, or a timedelta: the weight of a row halves for each half-life between its time and `until`, by default
            now.

        Returns
        -------
        Model
            The model, with the class prior and the tuning of the file.
        """
        is_current = (since, until, sources, without, half_life) == (None,) * 5
        with self._lock:
            status = settled_status(self.path)
            if is_current and status is not None and status == self._status:
                return self._sum.model
            with open_file(self.path) as (log, meta):
                if is_current:
                    self._sum, self._status = catch_up(self._sum, log, meta), status
                    return self._sum.model
                selection = Selection.parse(since, until, sources, without, half_life)
                return model_of_selection(log, meta, selection)

    @property
    def version(self) -> int:
        """The number of entries of the model that was read or written last."""
        return self._sum.head.entries

    def at(self, version: int) -> Model:
        """Return the model as it was after the first entries, with the settings of that time.

        Parameters
        ----------
        version
            The number of entries.

        Returns
        -------
        Model
            The model of that time.
        """
        with open_file(self.path) as (log, meta):
            return model_at(log, meta, version)

    def compact(self, *, comment: str = "") -> Entry:
        """Replace all entries by one, and erase the bytes of the others. The model does not change.

        The replaced entries can no longer be undone, nor selected by time or source. Forgotten words are erased from
        the file.

        Parameters
        ----------
        comment
            A comment for the log.

        Returns
        -------
        Entry
            The new entry.
        """
        with self._change() as log:
            entry, self._sum = compact(log, self._sum, comment)
        with translate_file_errors(self.path):
            vacuum(log.connection, self._wait)
        return entry.public()

    def copy(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Copy the file safely while other processes use it; see `naively.copy`."""
        copy(self.path, path, overwrite=overwrite)

    def close(self) -> None:
        """Close the file, and leave a single file on the disk. An unused ledger does so by itself."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                if len(self._sum.pending) > MAX_PENDING_AT_CLOSE:  # so that the next reader has little to add
                    with self._change() as log:
                        self._sum = write_snapshot(log, self._sum)
                if self._finalizer is not None:
                    self._finalizer()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger {str(self.path)!r}, {counted(self._sum.head.entries, 'entry', 'entries')}>"

    def _repr_html_(self) -> str:
        return as_html(self.path, self.model(), self.log())

    def _writer(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            if self._finalizer is not None:
                self._finalizer.detach()
            _PARENT_CONNECTIONS.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._connection = open_to_write(self.path, self._wait)
            self._log = None
            self._process = os.getpid()
            self._finalizer = weakref.finalize(self, close_writer, self._connection)
        return self._connection

    @contextmanager
    def _change(self) -> Iterator[Log]:
        """Change the file from its current state; if that fails, the ledger stays as it was."""
        with self._lock:
            before, self._status = self._sum, None
            try:
                with translate_file_errors(self.path):
                    connection = self._writer()
                    with transaction(connection, self._wait):
                        (version,) = connection.execute("PRAGMA data_version").fetchone()  # changes when others write
                        if self._log is None or version != self._data_version:
                            self._log, self._data_version = Log(self.path, connection), version
                            self._sum = catch_up(self._sum, self._log, read_meta(connection))
                        yield self._log
            except BaseException:
                self._sum, self._log = before, None  # the next change reads the file again
                self._key_index = KeyIndex()
                raise

    def _append(self, log: Log, entry: StoredEntry, counts: Model) -> Entry:
        return self._append_parts(log, entry, [Counts(entry.sign, counts.schema, entry.statistics or b"", counts)])

    def _append_parts(self, log: Log, entry: StoredEntry, counts: Sequence[Counts]) -> Entry:
        entry = log.append(entry, self._sum.head)
        self._sum = self._sum.plus(entry.head, counts)
        if self._sum.is_snapshot_due:
            self._sum = write_snapshot(log, self._sum)
        return entry.public()
