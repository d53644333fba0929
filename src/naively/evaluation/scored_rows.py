"""Score rows whose class is known: rows that the model has counted by leave-one-out, others as new rows.

This is the rule of `evaluate`, of the comparison of two models, and of pictures. `model.counted` recognises the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from naively._kernels.row_hash import mix
from naively._kernels.threads import use_threads
from naively._kernels.types import Array, Bools, Floats, Hashes, Index
from naively.data.labelled import LabelledRows, LabelsLike, WeightLike, labelled_batches
from naively.data.names import listed
from naively.data.read import TableLike
from naively.errors import InputError, LeftOutWarning, warn_user
from naively.families.base import NotCountedError
from naively.model.counted import CountedRows, as_counted, counted_rows
from naively.model.model import Model
from naively.statistics import NegativeCountError
from naively.tuning.sample import MAX_HASH, Sample, Sampler
from naively.tuning.tune import cross_fitted

MIN_CHECKED_ROWS = 200  # that can stand for all rows
MAX_COUNTED_ROWS = 20_000  # that are left out one by one: estimates a share of 0.9 to within 0.002 (one standard error)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Log posteriors (row, class), labels and weights of rows, and how they were scored.

    Attributes
    ----------
    log_posterior, label, weight
        Of each row.
    is_scored
        False for a counted row that could not be left out (the only one of its class, or one beyond the sample), and
        for a row that could not be checked if only those that could are scored.
    n_counted
        The number of rows that the model has counted; None if it is not known.
    is_left_out
        Whether the counted rows were scored by leave-one-out: one of each class at least must stay.
    n_checked
        The number of rows of which it is known whether they were counted, if only these are scored: the rows are a
        mixture, and nothing can be presumed of the others.
    """

    log_posterior: Floats
    label: Index
    weight: Floats
    is_scored: Bools
    n_counted: int | None = None
    is_left_out: bool = True
    n_checked: int | None = None

    @property
    def origin(self) -> str:
        """A sentence that says how the rows were scored."""
        n = len(self.label)
        if self.n_counted is None:
            return "the model does not know which rows it has counted: figures are too good if it has counted these"
        if not self.n_counted:
            return "the model has counted none of these rows"
        if not self.is_left_out:
            return "the model has counted these rows and no other of their classes: figures are too good"
        if self.n_counted == n:
            return f"the model has counted {'this row' if n == 1 else f'all {n:,} rows'}: figures are leave-one-out"
        if self.n_checked is not None:
            return (
                f"the model has counted {self.n_counted:,} of the {self.n_checked:,} rows that it can check, of {n:,}: "
                "figures are of the rows that it can check, leave-one-out where it has counted them"
            )
        these = "this one" if self.n_counted == 1 else "these"
        return f"the model has counted {self.n_counted:,} of {n:,} rows: figures of {these} are leave-one-out"


def score_rows(
    model: Model, X: TableLike, y: LabelsLike, weight: WeightLike = None, skip_unknown: bool = False
) -> ScoredRows:
    """Read rows and score them; see `score_labelled`."""
    return score_labelled(model, labelled_batches(X, y, weight, like=model), skip_unknown)


def score_labelled(model: Model, batches: Iterable[LabelledRows], skip_unknown: bool = False) -> ScoredRows:
    """Score rows, those that the model has counted as if it had not.

    Of rows whose hash the model does not hold, what holds for most of the others is presumed. If that turns out wrong,
    only the others are scored. A class that the model does not have is refused; with `skip_unknown`, its rows are left
    out with a warning.
    """
    n_rows = n_unknown = 0
    sampler = Sampler(MAX_COUNTED_ROWS)
    parts: list[tuple[Array, ...]] = []
    for rows in batches:
        n_rows += rows.n_rows
        if skip_unknown:
            is_class = np.array([label in model.classes for label in rows.classes])[rows.label]
            n_unknown += int((~is_class).sum())
            rows = rows.where(is_class).without_empty_classes()
        label = rows.label_in(model.classes)
        log_posterior = model.log_posterior(rows.table)
        counted = counted_rows(model, rows.table, model.classes, label)
        table = as_counted(model, rows.table)
        may_be_counted = np.flatnonzero(counted.is_counted | ~counted.is_known)
        if model.row_hashes is not None and len(may_be_counted):
            own_weight = None if rows.weight is None else rows.weight[may_be_counted]
            sampler.add(table.take(may_be_counted), model.classes, label[may_be_counted], own_weight)
        parts.append((log_posterior, label, rows.weights, *counted.arrays, _keys(table.row_hashes(), label)))
    if n_unknown == n_rows:
        raise InputError(
            f"no row has a {model.target!r} that is a class of the model ({listed(map(repr, model.classes))})."
        )
    if n_unknown:
        warn_user(f"{n_unknown} of {n_rows} rows have no {model.target!r} that the model knows.", LeftOutWarning)
    log_posterior, label, weights, is_known, is_counted, keys = map(np.concatenate, zip(*parts, strict=True))
    scored = ScoredRows(log_posterior, label.astype(np.intp), weights, np.ones(len(label), np.bool_))
    if model.row_hashes is None:
        return scored
    counted = CountedRows(is_known, is_counted)
    left_out = counted.presumed
    if not left_out.any():
        return replace(scored, n_counted=0)
    sample, is_all = sampler.sample(model.classes), sampler.max_hash == MAX_HASH
    sure = sample.where(counted_rows(model, sample.table, model.classes, sample.label).is_counted)
    with use_threads(model.n_jobs):
        try:
            return _leave_out(model, scored, left_out, keys, sample if left_out[~is_known].any() else sure, is_all)
        except (NotCountedError, NegativeCountError):  # counted with other weights, or presumed wrongly
            pass
        n_checked = int(is_known.sum())
        if MIN_CHECKED_ROWS <= n_checked < len(is_known):
            try:
                checked = _leave_out(model, scored, is_counted, keys, sure, is_all)
                return replace(checked, is_scored=checked.is_scored & is_known, n_checked=n_checked)
            except (NotCountedError, NegativeCountError):
                pass
    return scored


def _leave_out(
    model: Model, scored: ScoredRows, left_out: Bools, keys: Hashes, sample: Sample, is_all: bool
) -> ScoredRows:
    """Return the rows with leave-one-out scores for those that are to be left out."""
    n_counted = int(left_out.sum())
    predicted = cross_fitted(model, sample)
    if not len(predicted.kind):
        return replace(scored, n_counted=n_counted, is_left_out=False)
    kinds, first = np.unique(predicted.kind, return_index=True)
    keys_of_kinds = _keys(sample.table.row_hashes(), sample.label)[kinds]
    order = np.argsort(keys_of_kinds)
    place = np.minimum(np.searchsorted(keys_of_kinds[order], keys), len(order) - 1)
    is_in_sample = keys_of_kinds[order][place] == keys
    log_posterior, weight = scored.log_posterior.copy(), scored.weight.copy()
    is_left_out = left_out & is_in_sample
    log_posterior[is_left_out] = predicted.log_posterior[first[order[place[is_left_out]]]]
    if not is_all and not left_out.all():  # the sample stands for all counted rows
        weight[is_left_out] *= weight[left_out].sum() / weight[is_left_out].sum()
    return ScoredRows(log_posterior, scored.label, weight, ~left_out | is_in_sample, n_counted)


def _keys(hashes: Hashes, label: Array) -> Hashes:
    """Return a hash of the content and the class of each row."""
    return mix(hashes + label.astype(np.uint64))
