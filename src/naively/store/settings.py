"""The settings of a file, class prior and tuning, changed in place: an entry says what they were and what they became.

The settings in force stand in the file's meta. A `tune` entry counts nothing and keeps the settings before and after,
so that undoing it can put back the former ones, as long as nothing else has changed them since.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.labelled import LabelledRows
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user
from naively.model.calibrate import Tuning
from naively.model.model import Model
from naively.priors import ClassPrior, PriorLike
from naively.store.counts import DAMAGED
from naively.store.entries import COLUMNS, DamagedError, Row, Schemas, append, new_row
from naively.store.forget import taken_in_turn
from naively.store.history import named
from naively.store.meta import Meta, settings_of, with_settings, write_meta
from naively.store.rows import read_rows
from naively.store.running_sum import Sum, undone

if TYPE_CHECKING:
    from naively.tuning.sample import Sample

__all__ = ["Asked", "changed", "restored", "root_of"]

FORGOTTEN = 0.1  # of the rows to tune by, at most


@dataclass(frozen=True)
class Asked:
    """What to change: the tuning, if it is asked for, and the class prior, if there is one."""

    anew: bool
    tuning: Tuning | None
    prior: PriorLike | None

    @classmethod
    def of(cls, model: Model, X: Any, y: Any, weight: Any, prior: PriorLike | None, textbook: bool) -> Asked:
        """From what people give; a tuning is looked for here, before others have to wait for the file."""
        if X is not None and textbook:
            raise InputError("give rows to tune by, or ask for the textbook, not both.")
        if X is None and not textbook and prior is None:
            raise InputError(
                "there is nothing to change: give rows that were counted, a prior, or ask for the textbook."
            )
        model = model if prior is None else model.with_prior(prior)
        return cls(X is not None or textbook, None if X is None else _tuning(model, X, y, weight), prior)

    def applied(self, meta: Meta, model: Model) -> Meta:
        """The settings of a file once this is done."""
        if self.prior is not None:
            meta = replace(meta, prior=model.with_prior(self.prior).prior)
        if self.anew:
            meta = replace(meta, tuning=None if self.tuning is None else self.tuning.to_json())
        return meta

    def note(self, after: Meta) -> str:
        """What was changed, for the log."""
        parts = []
        if self.tuning is not None:
            quality = self.tuning.report.get("log_loss")
            parts.append(
                f"tuned on {self.tuning.rows:,} rows" + ("" if quality is None else f", log-loss {quality:.4f}")
            )
        elif self.anew:
            parts.append("not tuned: the textbook")
        if self.prior is not None:
            parts.append(f"class prior {_told(after.prior)}")
        return "; ".join(parts)


def _tuning(model: Model, X: Any, y: Any, weight: Any) -> Tuning:
    """A tuning from rows that the model has counted: a table, files or batches."""
    from naively.tuning.sample import Sampler  # not needed to open a file
    from naively.tuning.tune import rows_to_look_at, tune_on  # not needed to open a file

    sampler = Sampler(rows_to_look_at(model))
    for rows in read_rows(model, X, y, weight):
        unknown = [label for label in rows.classes if label not in model.classes]
        if unknown:
            raise InputError(f"{unknown[0]!r} is not a class of the model: tune it by rows that it has counted.")
        sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    sample = _those_counted(model, sampler.sample(model.classes))
    tuning = tune_on(model, sample)
    if not tuning.report:
        raise InputError("the rows to tune by have no two classes of two rows each: give all rows that were counted.")
    return tuning


def _those_counted(model: Model, sample: Sample) -> Sample:
    """A sample without the rows that cannot have been counted, forgotten ones for example; few, or it is refused."""
    rows = LabelledRows(sample.table, model.classes, sample.label.astype(np.int32), sample.weight)
    mine, _ = taken_in_turn(model, model, [rows], [(0, r) for r in range(len(sample))])
    lacking = len(sample) - len(mine)
    if not lacking:
        return sample
    if lacking > FORGOTTEN * len(sample):
        raise InputError(
            f"{lacking} of the {len(sample)} rows that were looked at were never counted with these labels, or are "
            "forgotten: to tune, give rows that were counted."
        )
    warn_user(
        f"{lacking} of the {len(sample)} rows that were looked at are not counted, or forgotten: they are left out.",
        LeftOutWarning,
    )
    return sample.where(np.isin(np.arange(len(sample)), [r for _, r in mine]))


def _told(prior: ClassPrior) -> str:
    if prior.given is not None:
        return listed(f"{label} {p:g}" for label, p in prior.given.items())
    return "uniform" if prior.uniform else "empirical" if prior.alpha == 0 else f"with pseudo-counts {prior.alpha}"


def changed(
    connection: sqlite3.Connection, schemas: Schemas, whole: Sum, asked: Asked, source: str, comment: str
) -> tuple[Row, Meta]:
    """Write other settings, and the entry that says so; inside a change."""
    model, before = whole.model(), whole.meta
    assert model is not None
    after = asked.applied(before, model)
    kept = {"note": asked.note(after), "before": settings_of(before), "after": settings_of(after)}
    number = schemas.number(model.schema)
    row = new_row(schemas, None, "tune", 0, schema=number, span=json.dumps(kept), source=source, comment=comment)
    write_meta(connection, after)
    return append(connection, schemas, row), after


def root_of(connection: sqlite3.Connection, row: Row) -> Row:
    """What an undo is about in the end: the entry that it undoes, or that the undo which it undoes is about."""
    while row.act == "undo":
        found = connection.execute(f"SELECT {COLUMNS} FROM entries WHERE id = ?", (row.corrects,)).fetchone()
        if found is None or found[0] >= row.number:  # what is undone comes before
            raise DamagedError(f"what entry {row.number} undoes is missing", row.number)
        row = Row(*found)
    return row


def restored(path: Path, connection: sqlite3.Connection, meta: Meta, root: Row) -> Meta:
    """The settings once a tune was undone, or the undo of it; refused if others are in force by now."""
    acts = connection.execute("SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number").fetchall()
    try:
        found = json.loads(root.span or "")
        before, after = with_settings(meta, found["before"]), with_settings(meta, found["after"])
    except DAMAGED as error:
        raise DamagedError(f"the settings in entry {root.number} cannot be read ({error})", root.number) from None
    now, then = (after, before) if root.id in undone(acts) else (before, after)
    if settings_of(meta) != settings_of(now):
        raise InputError(
            f"{path}: the class prior or the tuning were changed again after entry {named(root.id)}: undo the later "
            "tune first, or tune anew."
        )
    write_meta(connection, then)
    return then
