"""Change the settings of a file, its class prior and tuning, in place.

The current settings are those in the table `meta`. A `tune` entry counts no rows and holds the settings before and
after it, so that undoing it restores the former ones, if nothing else has changed them since.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from naively.data.labelled import LabelledRows, LabelsLike, WeightLike
from naively.data.names import listed
from naively.data.read import TableLike
from naively.errors import ConflictError, InputError, LeftOutWarning, warn_user
from naively.model.calibrate import Tuning
from naively.model.count import rows_to_count
from naively.model.model import Model
from naively.priors import ClassPrior, PriorLike
from naively.store.entries import Log, StoredEntry, open_file
from naively.store.meta import Meta, write_meta
from naively.store.running_sum import RunningSum, count_rows
from naively.store.samples import kept_sample
from naively.store.sqlite import DECODE_ERRORS, DamagedError

if TYPE_CHECKING:
    from naively.tuning.sample import Sample

MAX_UNCOUNTED_SHARE = 0.1  # of the rows to tune by


def plan_tuning(
    path: Path,
    model: Model,
    X: TableLike,
    y: LabelsLike,
    weight: WeightLike,
    prior: PriorLike | None,
    textbook: bool,
) -> Tuning | None:
    """Check the arguments of `Ledger.tune`; return the tuning chosen by the rows X, or by those that the file keeps.

    None if only the prior changes, or the tuning is removed. Other processes need not wait for that: the file is not
    locked yet.
    """
    if X is not None and textbook:
        raise InputError("give rows to tune by, or textbook=True, not both.")
    if X is None and (textbook or prior is not None):
        return None
    model = model if prior is None else model.with_prior(prior)
    if X is not None:
        return _tune(model, X, y, weight)
    with open_file(path) as (log, _):
        return _tune_on(model, kept_sample(log).sample(model.classes))


def change_settings(
    log: Log,
    total: RunningSum,
    tuning: Tuning | None,
    prior: PriorLike | None,
    textbook: bool,
    source: str,
    comment: str,
) -> tuple[StoredEntry, Meta]:
    """Write new settings, and the entry that records them and the former ones; inside a transaction."""
    after, notes = total.meta, []
    if tuning is not None:
        after = replace(after, tuning=tuning.to_json())
        loss = tuning.report.get("log_loss")
        notes.append(f"tuned on {tuning.rows:,} rows" + ("" if loss is None else f", log-loss {loss:.4f}"))
    elif textbook:
        after = replace(after, tuning=None)
        notes.append("not tuned: the textbook")
    if prior is not None:
        after = replace(after, prior=total.model.with_prior(prior).prior)
        notes.append(f"class prior {_describe(after.prior)}")
    span = {"note": "; ".join(notes), "before": total.meta.settings(), "after": after.settings()}
    number = log.schema_number(total.model.schema)
    entry = log.new_entry("tune", schema=number, span=json.dumps(span), source=source, comment=comment)
    write_meta(log.connection, after)
    return log.append(entry, total.head), after


def _describe(prior: ClassPrior) -> str:
    if prior.given is not None:
        return listed(f"{label} {p:g}" for label, p in prior.given.items())
    return "uniform" if prior.uniform else "empirical" if prior.alpha == 0 else f"with pseudo-counts {prior.alpha}"


def _tune(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike) -> Tuning:
    """Return a tuning chosen by rows that the model has counted: a table, files or batches."""
    from naively.tuning.sample import Sampler  # not needed to open a file
    from naively.tuning.tune import rows_to_look_at

    sampler = Sampler(rows_to_look_at(model))
    for rows in rows_to_count(model, X, model.target if y is None else y, weight):
        rows.label_in(model.classes)  # refuses unknown classes
        sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    return _tune_on(model, sampler.sample(model.classes))


def _tune_on(model: Model, sample: Sample) -> Tuning:
    from naively.tuning.tune import tune_on

    tuning = tune_on(model, _counted_rows(model, sample))
    if not tuning.report:
        raise InputError("the rows to tune by do not have two classes of two rows each: give all rows counted so far.")
    return tuning


def _counted_rows(model: Model, sample: Sample) -> Sample:
    """Return a sample without the rows that the model cannot have counted; InputError if they are many."""
    rows = LabelledRows(sample.table, model.classes, sample.label.astype(np.int32), sample.weight)
    n_sampled = len(sample.label)
    is_counted = np.zeros(n_sampled, dtype=np.bool_)
    template = replace(model, statistics=(), tuning=None)
    ranges = [(0, n_sampled)] if n_sampled else []
    while ranges:  # subtract the rows one range after the other; halve a range that cannot be subtracted
        start, stop = ranges.pop()
        chosen = np.zeros(n_sampled, dtype=np.bool_)
        chosen[start:stop] = True
        try:
            model = model - count_rows(template, [rows.where(chosen).without_empty_classes()])
            is_counted |= chosen
        except InputError:
            if stop - start > 1:
                middle = (start + stop) // 2
                ranges += [(middle, stop), (start, middle)]
    n_uncounted = n_sampled - int(is_counted.sum())
    if not n_uncounted:
        return sample
    if n_uncounted > MAX_UNCOUNTED_SHARE * n_sampled:
        raise InputError(
            f"{n_uncounted} of the {n_sampled} sampled rows were never counted with these labels, or are forgotten: "
            "to tune, give rows that were counted."
        )
    message = f"{n_uncounted} of the {n_sampled} sampled rows were never counted, or are forgotten: they are left out."
    warn_user(message, LeftOutWarning)
    return sample.where(is_counted)


def restore_settings(log: Log, meta: Meta, tune: StoredEntry) -> Meta:
    """Write the settings from before a `tune` entry, or from after it if its undo is undone; inside a transaction."""
    try:
        span = json.loads(tune.span or "")
        before, after = meta.with_settings(span["before"]), meta.with_settings(span["after"])
    except DECODE_ERRORS as error:
        raise DamagedError(f"the settings in entry {tune.number} cannot be read ({error})") from None
    current, restored = (after, before) if tune.id in log.undone_ids() else (before, after)
    if meta.settings() != current.settings():
        raise ConflictError(
            f"{log.path}: the class prior or the tuning was changed again after entry {tune.short_id}: undo the later "
            "tune first, or tune again."
        )
    write_meta(log.connection, restored)
    return restored
