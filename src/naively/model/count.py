"""Count a table into one statistic per block of a schema."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naively.data import Table
from naively.data.kinds import refuse_infinite
from naively.errors import InputError
from naively.model.columns import View, views
from naively.schema.schema import Block, Schema
from naively.statistics import CountPlan, Statistic, TooLargeError
from naively.statistics.histogram import max_keys_for


def count(
    table: Table,
    schema: Schema,
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    like: Sequence[Statistic] = (),
    to_add: bool = False,
) -> tuple[Statistic, ...]:
    """Return one statistic per block of the schema.

    Words get the numbers that they have in the statistics `like`. With `to_add`, the result is only good for being
    added to those statistics; see `Histogram.count`.
    """
    none: list[Statistic | None] = [None] * len(schema.blocks)
    blocks, n_columns = zip(schema.blocks, views(table, schema), like or none, strict=True), len(schema.names)
    return tuple(
        count_block(block, view, label, weight, n_classes, before, n_columns, to_add) for block, view, before in blocks
    )


def count_block(
    block: Block,
    view: View,
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    like: Statistic | None,
    n_columns: int,
    to_add: bool = False,
) -> Statistic:
    """The statistic of one block of a schema with so many columns in all.

    `to_add`: it will be added to that which it is `like`, and is for nothing else; see `Histogram.count`.
    """
    plan = CountPlan(max_keys_for(n_columns), like=like, only_to_add=to_add)
    try:
        statistic: Statistic = block.family.count(view, label, weight, n_classes, plan)
        return statistic.renamed(block.names)
    except TooLargeError as error:
        name = block.names[error.column]
        if np.isinf(error.found):
            refuse_infinite(name)
        raise InputError(
            f"column {name!r} holds {error.found:g}; values beyond 1e150 cannot be trained on: rescale it, "
            "or mark them as missing."
        ) from None
