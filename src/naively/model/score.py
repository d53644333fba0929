"""The engine of this process: tables in memory, counted and scored by the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data import MatrixTable, Table
from naively.data.kinds import Kind, check_support, refuse_infinite
from naively.data.missing import refuse_lacking
from naively.data.names import Names, positions_of
from naively.errors import InputError, SchemaError
from naively.families import Categorical, Family, Presence, Text, Undecided
from naively.families.base import times
from naively.families.gaussian import InfiniteValueError
from naively.schema.schema import Block, Schema
from naively.statistics import (
    Coded,
    Histogram,
    Measured,
    Numbers,
    Statistic,
    Texts,
    TokenCounts,
    TooLargeError,
    WordCounts,
)
from naively.statistics.histogram import cap_for

if TYPE_CHECKING:
    from naively.model.calibrate import Calibrated

__all__ = ["View", "count", "count_block", "places", "score", "score_calibrated", "view_of", "views"]

View = Numbers | Coded | Texts


def count(
    table: Table,
    schema: Schema,
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    like: Sequence[Statistic] = (),
) -> tuple[Statistic, ...]:
    """One statistic per block of the schema; words get the numbers that they have in the statistics `like` these."""
    none: list[Statistic | None] = [None] * len(schema.blocks)
    found = zip(schema.blocks, views(table, schema), like or none, strict=True)
    return tuple(
        count_block(block, view, label, weight, n_classes, before, len(schema.names)) for block, view, before in found
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
    count_view = _counter(block.family, view, like, n_columns, to_add)
    try:
        statistic = count_view(view, label, weight, n_classes)
    except TooLargeError as error:
        name = block.names[error.column]
        if np.isinf(error.found):
            refuse_infinite(name)
        raise InputError(
            f"column {name!r} holds {error.found:g}; values beyond 1e150 cannot be trained on: rescale it, "
            "or mark them as missing."
        ) from None
    return statistic.renamed(block.names) if isinstance(statistic, TokenCounts) else statistic


def _counter(
    family: Family, view: View, like: Statistic | None, n_columns: int, to_add: bool = False
) -> Callable[..., Statistic]:
    """What counts a block: its family's statistic, told what the family transforms or how it reads."""
    if isinstance(family, Text):
        shared = like.vocabulary if isinstance(like, WordCounts) else None
        return partial(WordCounts.count, reading=family.reading, vocabulary=shared)
    if family.statistic in (Histogram, Measured):
        cap = cap_for(n_columns)  # by all columns, whatever a batch shows of them
        return partial(family.statistic.count, cap=cap, like=like if to_add else None)
    if isinstance(view, Numbers):
        return lambda x, *arguments: family.statistic.count(family.transform(x), *arguments)
    return family.statistic.count


def views(table: Table, schema: Schema) -> list[View]:
    """The columns of each block as its family needs them, found by name and checked."""
    found = zip(schema.blocks, places(table, schema), strict=True)
    return [view_of(block, table, positions) for block, positions in found]


def places(table: Table, schema: Schema) -> list[Sequence[int]]:
    """Where in the table the columns of each block are, found by name, and their kinds checked."""
    in_place = all(block.names == table.names for block in schema.blocks)
    place = {} if in_place else positions_of(table.names)
    found: list[Sequence[int]] = []
    for block in schema.blocks:
        if block.names == table.names:
            positions: Sequence[int] = range(len(table.names))
        else:
            positions = _positions(block.names, place, table.names)
        if not (isinstance(table, MatrixTable) and table.checked):
            _check_kinds(block, table, positions)
        found.append(positions)
    return found


def _positions(names: Names, place: dict[str, int], there: Names) -> Sequence[int]:
    if any(name not in place for name in names):
        refuse_lacking(names, there)
    return [place[name] for name in names]


_READS_AS: dict[Kind, tuple[Kind, ...]] = {
    "number": ("number", "boolean"),
    "boolean": ("boolean", "number"),
    "string": ("string",),
    "date": ("date",),
    "unknown": ("number", "boolean", "string", "date"),
}


def _check_kinds(block: Block, table: Table, positions: Sequence[int]) -> None:
    """Refuse a column of another type than at training; a column of gaps is missing, whatever its type."""
    if isinstance(positions, range) and isinstance(block.kinds, str):
        positions = positions[:1]
    for i, position in enumerate(positions):
        kind = table.kind(position)
        trained = block.kind(i)
        if kind != "unknown" and kind not in _READS_AS[trained]:
            raise SchemaError(
                f"column {table.names[position]!r} is of type {kind}, but was of type {trained} at training: "
                "convert it."
            )


def view_of(block: Block, table: Table, positions: Sequence[int]) -> View:
    """Some columns of a table as the family of a block needs them."""
    family = block.family
    if isinstance(family, Undecided):
        return Numbers(tuple(np.zeros((table.n_rows, 0)) for _ in positions))
    if isinstance(family, Presence):
        return table.present(positions)
    if isinstance(family, Categorical):
        return table.coded(positions)
    if isinstance(family, Text):
        return table.texts(positions)
    numbers = table.numbers(positions)
    if not (isinstance(table, MatrixTable) and table.checked):
        check_support(numbers, family.support, block.names, type(family).__name__)
    return numbers


def score(schema: Schema, found: Sequence[View], parameters: Sequence[Any], out: NDArray[np.float64]) -> None:
    """Add the log-likelihood of each block to `out`, (row, class)."""
    for block, view, fitted in zip(schema.blocks, found, parameters, strict=True):
        _add(block, view, fitted, out)


def score_calibrated(calibrated: Calibrated, found: Sequence[View], out: NDArray[np.float64]) -> None:
    """Add the weighted log-likelihood of each block to `out`, (row, class)."""
    parts = zip(calibrated.schema.blocks, found, calibrated.parameters, calibrated.factors, strict=True)
    for i, (block, view, fitted, factor) in enumerate(parts):
        if factor is None:
            _add(block, view, fitted, out)
            continue
        evidence = np.zeros_like(out)
        _add(block, view, fitted, evidence)
        out += times(calibrated.factor(i, view)[:, None], evidence)


def _add(block: Block, view: View, fitted: Any, out: NDArray[np.float64]) -> None:
    try:
        block.family.log_likelihood(view, fitted, out)
    except InfiniteValueError as error:
        refuse_infinite(block.names[error.column])
