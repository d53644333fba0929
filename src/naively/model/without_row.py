"""A model without one of the rows that it has counted, to score or explain that row."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from naively.data.table import Table
from naively.model.count import View
from naively.model.model import Model
from naively.statistics import ClassWeights, NegativeCountError

_ONE_ROW_LESS: WeakKeyDictionary[Model, dict[int, Model]] = WeakKeyDictionary()


def without_counted_row(model: Model, table: Table, i: int, views: Sequence[View], c: int) -> Model | None:
    """Return a model without a row of class c that it has counted; None if it cannot be subtracted.

    The tuning stays, and so does what families choose from all rows, such as the cuts of bins: as in leave-one-out.
    The model is only good for scoring and explaining the row: a family that estimates from tables of values does not
    subtract the row from its statistic.

    Parameters
    ----------
    model
        The model.
    table, i
        Rows, and the position of the one to leave out.
    views
        The columns of this one row, as the chosen blocks read them.
    c
        The class of the row.
    """
    if model.class_weights.rows[c] < 2:
        return None
    blocks = zip(model.chosen.schema.blocks, model.estimates, views, model.structures, strict=True)
    try:
        others = _with_one_row_less(model, c)
        estimates = tuple(
            block.family.estimate_without(view, counted, c, model.classes, structure)
            for block, counted, view, structure in blocks
        )
        if model.schema.tables is not None and model.table_counts is not None:
            row, label = table.take(np.array([i])), np.array([c], np.int32)
            counts = model.table_counts - model.schema.tables.count(row, label, None, len(model.classes))
            others = replace(others, table_counts=counts)
    except NegativeCountError:
        return None
    others.__dict__["chosen"] = replace(model.chosen, statistics=tuple(estimate.statistic for estimate in estimates))
    others.__dict__["estimates"] = estimates  # these would be chosen and estimated again
    others.__dict__["parameters"] = tuple(estimate.parameters for estimate in estimates)
    return others


def _with_one_row_less(model: Model, c: int) -> Model:
    """Return a model whose class weights have one row of class c less; its prior is computed once."""
    by_class = _ONE_ROW_LESS.setdefault(model, {})
    if c not in by_class:
        one_row = ClassWeights.count(None, np.array([c], np.int32), None, len(model.classes))
        by_class[c] = replace(model, class_weights=model.class_weights - one_row, row_hashes=None)
        _ = by_class[c].log_prior, by_class[c].offset
    return copy(by_class[c])
