"""Tune where rows belong together: all rows of a group are in one fold, and a fold is predicted by a model without it.

Leave-one-out takes out one row, and its group stays: the other rows of the same patient, or of the same thread, make it
look easy. The counts of a fold are a model, so the model without the fold is a subtraction:

    rest_f = model − counts of fold f scores the sampled rows of fold f                                      (1)

Families, smoothing, weights and offsets are chosen by the scores of (1), in place of leave-one-out scores. The report
of the tuning is that of calibrations that are fitted to the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.row_hash import mix
from naively.data.labelled import LabelledRows
from naively.data.names import existing_columns
from naively.errors import InputError
from naively.model.calibrate import Tuning
from naively.model.count import count_like
from naively.model.merge import total, with_classes
from naively.tuning.sample import FOLDS, Sampler, join_folds
from naively.tuning.tune import rows_to_keep, tuned

if TYPE_CHECKING:
    from naively.model.model import Model


def refuse_missing_group(rows: LabelledRows, group: str) -> None:
    """Refuse rows that have no column of groups."""
    if group not in rows.table.names:
        raise InputError(f"there is no column {group!r} of groups{existing_columns(group, rows.table.names)}")


def split_by_group(rows: LabelledRows, group: str) -> list[LabelledRows]:
    """Return the rows of each fold, without the column of groups."""
    fold = mix(rows.table.row_hashes((group,))) % np.uint64(FOLDS)
    rows = replace(rows, table=rows.table.without_column(group))
    return [rows.where(fold == f).without_empty_classes() for f in range(FOLDS)]


@dataclass
class GroupFolds:
    """Count rows fold by fold, and keep a sample of each fold."""

    template: Model
    models: list[list[Model]] = field(default_factory=lambda: [[] for _ in range(FOLDS)])
    samplers: list[Sampler] = field(default_factory=list)

    def add(self, folds: Sequence[LabelledRows]) -> None:
        """Count more rows, the rows of each fold apart."""
        if not self.samplers:
            limit = -(-rows_to_keep(self.template.schema) // FOLDS)
            self.samplers = [Sampler(limit) for _ in range(FOLDS)]
        for f, rows in enumerate(folds):
            if rows.n_rows:
                self.models[f] = [sum_of([*self.models[f], count_like(self.template, rows)])]
                self.samplers[f].add(rows.table, rows.classes, rows.label, rows.weight)

    def model(self) -> Model:
        """Return the model of all rows."""
        return sum_of([part for parts in self.models for part in parts])

    def tuning(self, model: Model) -> Tuning:
        """Return the tuning of a model of all rows, with a report by equation (1)."""
        used = [f for f in range(FOLDS) if self.models[f]]
        if len(used) < 2:
            raise InputError("group: there are too few groups to divide into folds: give at least two, better ten.")
        samples = {f: self.samplers[f].sample(model.classes) for f in used}
        rests = {f: with_classes(model - self.models[f][0], model.classes) for f in used}
        tuning = tuned(model, join_folds(samples), rests)
        return replace(tuning, report={**tuning.report, "by_groups": 1.0}) if tuning.report else tuning


def sum_of(models: Sequence[Model]) -> Model:
    """Return the sum of one or more models."""
    model = total(models)
    assert model is not None
    return model
