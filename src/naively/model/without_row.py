"""A model without one of the rows that it has counted, to score or explain that row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.data.table import Table
from naively.model.count import views_of
from naively.model.model import Model
from naively.statistics import ClassWeights, NegativeCountError


def without_counted_row(model: Model, row: Table, c: int) -> Model | None:
    """Return a model without one row of class c that it has counted; None if it cannot be subtracted.

    The tuning stays, and so does what families choose from all rows, such as the cuts of bins: as in leave-one-out.
    The model is only good for scoring and explaining the row: a family that estimates from tables of values does not
    subtract the row from its statistic.
    """
    if model.class_weights.rows[c] < 2:
        return None
    label = np.array([c], np.int32)
    chosen, views = model.chosen, views_of(row, model.chosen.schema)
    blocks = zip(chosen.schema.blocks, model.estimates, views, model.structures, strict=True)
    try:
        class_weights = model.class_weights - ClassWeights.count(None, label, None, len(model.classes))
        estimates = tuple(
            block.family.estimate_without(view, counted, c, model.classes, structure)
            for block, counted, view, structure in blocks
        )
        tables = model.table_counts
        if model.schema.tables is not None and tables is not None:
            tables = tables - model.schema.tables.count(row, label, None, len(model.classes))
    except NegativeCountError:
        return None
    others = replace(model, class_weights=class_weights, row_hashes=None, table_counts=tables)
    statistics = tuple(estimate.statistic for estimate in estimates)
    others.__dict__["chosen"] = replace(chosen, statistics=statistics)  # these would be chosen again
    others.__dict__["estimates"] = estimates
    others.__dict__["parameters"] = tuple(estimate.parameters for estimate in estimates)
    return others
