"""A model without one of the rows that it has counted, to score or explain that row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.data.table import Table
from naively.families.base import Leaving, without_row
from naively.model.count import views_of
from naively.model.model import Model
from naively.statistics import ClassWeights, NegativeCountError


def without_counted_row(model: Model, row: Table, c: int) -> Model | None:
    """Return a model without one row of class c that it has counted; None if it cannot be subtracted.

    The tuning stays, and so does what families choose from all rows, such as the cuts of bins: as in leave-one-out.
    """
    if model.class_weights.rows[c] < 2:
        return None
    label, one = np.array([c], np.int32), np.ones(1)
    leaving = Leaving(label, one, np.ones(1, np.int64))
    statistics, parameters = [], []
    chosen, views = model.chosen, views_of(row, model.chosen.schema)
    blocks = zip(chosen.schema.blocks, chosen.statistics, views, model.structures, strict=True)
    try:
        class_weights = model.class_weights - ClassWeights.count(None, label, None, len(model.classes))
        for block, statistic, view, structure in blocks:
            rest = without_row(block.family, view, statistic, leaving)
            statistics.append(rest)
            parameters.append(block.family.estimate(rest, model.classes, structure))
        tables = model.table_counts
        if model.schema.tables is not None and tables is not None:
            tables = tables - model.schema.tables.count(row, label, None, len(model.classes))
    except NegativeCountError:
        return None
    others = replace(model, class_weights=class_weights, row_hashes=None, table_counts=tables)
    others.__dict__["chosen"] = replace(chosen, statistics=tuple(statistics))  # these would be chosen again
    others.__dict__["parameters"] = tuple(parameters)
    return others
