"""The terms that a score is the sum of: the evidence of each column, under the weights of the tuning.

    log P(of | x) − log P(against | x) = log π_of/π_against + b_of − b_against + Σ_j w_j (e_j,of − e_j,against)   (1)

`contributions` returns w_j (e_j,of − e_j,against) of many rows, as a matrix. `explanation` shows the same terms with
the counts behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.types import Floats
from naively.data.kinds import refuse_infinite
from naively.data.labelled import Label
from naively.data.names import positions_of
from naively.errors import InputError
from naively.families.base import times
from naively.families.gaussian import InfiniteValueError
from naively.model.count import View, views_of
from naively.model.decide import position_of

if TYPE_CHECKING:
    from naively.data.table import Table
    from naively.model.model import Model
    from naively.schema.schema import Block

MAX_SCORES = 2**18  # scored at a time, (column, row, class): 2 MB, which stays in the cache


def two_classes(model: Model, of: Label | None, against: Label | None) -> tuple[int, int]:
    """Return the positions of two classes; of a model with two classes, the second and the first by default."""
    if len(model.classes) < 2:
        raise InputError("contributions compare two classes, and the model has one.")
    if len(model.classes) > 2 and (of is None or against is None):
        raise InputError(f"of= and against=: the model has {len(model.classes)} classes, name the two to compare.")
    second = None if against is None else position_of(against, model.classes)
    first = position_of(of, model.classes) if of is not None or second is None else 1 - second
    second = 1 - first if second is None else second
    if first == second:
        raise InputError(f"of= and against= are the same class, {model.classes[first]!r}: name two.")
    return first, second


def contributions(model: Model, table: Table, of: int, against: int) -> Floats:
    """Return the terms of equation (1), (row, column), columns as in the schema; see `Model.contributions`."""
    result = np.empty((table.n_rows, len(model.schema.names)))
    for chunk, evidence in evidence_in_chunks(model, table):
        result[chunk] = log_odds_of_columns(
            evidence[:, :, of], evidence[:, :, against], model.log_prior[[of, against]]
        ).T
    return result


def log_odds_of_columns(of: Floats, against: Floats, log_prior: Floats) -> Floats:
    """Return the difference of two scores, (column, row); 0 in rows that are impossible in both classes.

    `log_prior` is that of the two classes, or that of two classes for each row, (2, row).
    """
    with np.errstate(invalid="ignore"):
        difference = np.asarray(of - against)
        if np.isfinite(difference.sum()) and np.isfinite(log_prior).all():
            return difference
        is_impossible = [
            np.isneginf(side.sum(axis=0) + prior) for side, prior in ((of, log_prior[0]), (against, log_prior[1]))
        ]
    difference[:, is_impossible[0] & is_impossible[1]] = 0.0
    return difference


def evidence_in_chunks(model: Model, table: Table) -> Iterator[tuple[slice, Floats]]:
    """Yield chunks of rows, and the weighted evidence of each column of the schema, (column, row, class).

    What columns say together is included, by the share of each column.
    """
    views, tables = views_of(table, model.chosen.schema), model.weighted_blocks.tables
    table_view = None if tables is None else tables.view(table)
    n_columns, n_classes = len(model.schema.names), len(model.classes)
    step = max(1, MAX_SCORES // max(1, n_columns * n_classes))
    for start in range(0, table.n_rows, step):
        chunk = slice(start, min(start + step, table.n_rows))
        chunk_views = views if table.n_rows <= step else [view.rows(chunk.start, chunk.stop) for view in views]
        evidence = _evidence_of_columns(model, chunk_views, chunk.stop - start)
        if tables is not None and table_view is not None:
            position = positions_of(model.schema.names)
            shares = tables.score_columns(table_view.rows(chunk.start, chunk.stop))
            evidence[[position[name] for name in tables.plan.columns]] += shares
        yield chunk, evidence


def _evidence_of_columns(model: Model, views: Sequence[View], n_rows: int) -> Floats:
    """Return the weighted evidence of each column of the schema, (column, row, class)."""
    evidence = np.zeros((len(model.schema.names), n_rows, len(model.classes)))
    position = positions_of(model.schema.names)
    for block, parameters, view in zip(model.chosen.schema.blocks, model.parameters, views, strict=True):
        if not len(block.names):
            continue
        part = evidence_of_block(model, block, parameters, view, n_rows)
        if block.names == model.schema.names:
            evidence += part
        else:
            evidence[[position[name] for name in block.names]] += part
    return evidence


def evidence_of_block(model: Model, block: Block, parameters: Any, view: View, n_rows: int) -> Floats:
    """Return the weighted evidence of each column of a block, (column, row, class)."""
    part = np.zeros((len(block.names), n_rows, len(model.classes)))
    try:
        block.family.score_columns(view, parameters, part)
        if model.tuning is None:
            return part
        weight, exponent = model.tuning.weight(block), model.tuning.exponent(block)
        if (weight == 0).any():
            part = times(weight[:, None, None], part)
        else:
            part *= weight[:, None, None]
        if exponent:
            length = np.zeros(n_rows)
            block.family.log_likelihood(view, parameters, np.zeros((n_rows, len(model.classes))), length)
            part *= np.maximum(length, 1.0)[:, None] ** -exponent
    except InfiniteValueError as error:
        refuse_infinite(block.names[error.column])
    return part
