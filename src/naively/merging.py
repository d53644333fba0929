"""Two models side by side: the same classes, columns, values and tokens in the same places, so that parts add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError
from naively.names import Names, positions_of
from naively.schema import Block, Schema
from naively.statistics import ClassWeights, Statistic, TokenCounts

__all__ = ["conform", "places_of", "union_of_classes"]


def union_of_classes(a: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """All classes of both, sorted."""
    if a == b:
        return tuple(a)
    types = {bool if isinstance(c, bool) else str if isinstance(c, str) else float for c in (*a, *b)}
    if len(types) > 1:
        raise InputError(
            f"the classes have different types: {a[0]!r} in one model, {b[0]!r} in the other. "
            "Train both with labels of one type."
        )
    return tuple(sorted({*a, *b}))


def places_of(classes: Sequence[Any], among: Sequence[Any]) -> NDArray[np.int32]:
    """Position of each class in a longer list, −1 if it is not there."""
    place = {label: position for position, label in enumerate(among)}
    return np.array([place.get(label, -1) for label in classes], dtype=np.int32)


def conform(
    statistics: Sequence[Statistic], schema: Schema, wanted: Schema, seen: ClassWeights
) -> tuple[Statistic, ...]:
    """The statistics of one schema laid out as another wants them."""
    if schema == wanted:
        return tuple(statistics)
    return tuple(_block_of(statistics, schema, block, seen) for block in wanted.blocks)


def _block_of(statistics: Sequence[Statistic], schema: Schema, wanted: Block, seen: ClassWeights) -> Statistic:
    """The statistic of one wanted block; columns that had only gaps so far come as empty ones."""
    names, statistic = _partner(statistics, schema, wanted, seen)
    if names == wanted.names:
        return statistic
    if wanted.family.joint and isinstance(statistic, TokenCounts):
        return statistic  # tokens are matched by name when they are added
    place = positions_of(names)
    order = np.array([place.get(name, -1) for name in wanted.names], dtype=np.intp)
    laid_out = statistic.with_columns(order)
    return laid_out.renamed(wanted.names) if isinstance(laid_out, TokenCounts) else laid_out


def _partner(
    statistics: Sequence[Statistic], schema: Schema, wanted: Block, seen: ClassWeights
) -> tuple[Names, Statistic]:
    """The block of the same family (and, if joint, of columns in common); none seen if there is no such block."""
    shared = set(wanted.names)
    for block, statistic in zip(schema.blocks, statistics, strict=True):
        alone = not (block.family.joint or block.family.apart)
        if block.family == wanted.family and (alone or shared & set(block.names)):
            return block.names, statistic
    return (), wanted.family.statistic.of_no_columns(seen)
