"""Two models side by side: the same classes, columns, values and tokens in the same places, so that parts add up."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError, LostDigitsWarning
from naively.names import Names, positions_of
from naively.schema import Block, Schema, unite
from naively.statistics import ClassWeights, Moments, NegativeCountError, Statistic, TokenCounts

if TYPE_CHECKING:
    from naively.model import Model

__all__ = ["added", "beside", "laid_out", "subtracted", "union_of_classes"]


def added(a: Model, b: Model) -> Model:
    """The model of the rows of both; the prior and the settings are a's."""
    a, b = beside(a, b)
    statistics = tuple(one + two for one, two in zip(a.statistics, b.statistics, strict=True))
    return replace(a, seen=a.seen + b.seen, statistics=statistics)


def subtracted(a: Model, b: Model) -> Model:
    """The model of the rows of a that are not in b; refused if b has any that a has not."""
    a, b = beside(a, b)
    names: Names = ()
    try:
        seen = a.seen - b.seen
        statistics = []
        for block, one, two in zip(a.schema.blocks, a.statistics, b.statistics, strict=True):
            names = block.names
            statistics.append(one - two)
    except NegativeCountError as error:
        where = "" if error.column is None else f"column {names[error.column]!r}, "
        raise InputError(
            f"cannot subtract what was never counted: {where}class {a.classes[error.class_position]!r} would be left "
            f"with {error.found}."
        ) from None
    _warn_lost_digits(a.schema, statistics)
    gone = (seen.rows == 0) & (a.seen.rows > 0)
    rest = replace(a, seen=seen, statistics=tuple(statistics))
    if not gone.any() or (seen.rows == 0).all():
        return rest
    return laid_out(rest, a.schema, tuple(c for c, empty in zip(a.classes, gone.tolist(), strict=True) if not empty))


def beside(a: Model, b: Model) -> tuple[Model, Model]:
    """Both models with the same classes and columns in the same places."""
    schema = unite(a.schema, b.schema)
    classes = union_of_classes(a.classes, b.classes)
    return laid_out(a, schema, classes), laid_out(b, schema, classes)


def laid_out(model: Model, schema: Schema, classes: tuple[Any, ...]) -> Model:
    """A model with its columns and classes in other places."""
    statistics = conform(model.statistics, model.schema, schema, model.seen)
    if classes == model.classes:
        return model if schema is model.schema else replace(model, schema=schema, statistics=statistics)
    places, n = places_of(model.classes, classes), len(classes)
    return replace(
        model,
        schema=schema,
        classes=classes,
        seen=model.seen.with_classes(places, n),
        statistics=tuple(statistic.with_classes(places, n) for statistic in statistics),
    )


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


def _warn_lost_digits(schema: Schema, statistics: Sequence[Statistic]) -> None:
    lost = [
        block.names[int(j)]
        for block, statistic in zip(schema.blocks, statistics, strict=True)
        if isinstance(statistic, Moments)
        for j in np.flatnonzero(statistic.unrecoverable())
    ]
    if lost:
        warnings.warn(
            f"columns {', '.join(lost[:8])}: numbers were taken away that are too large for the digits kept of the "
            "rest; count the remaining rows again for an exact variance.",
            LostDigitsWarning,
            stacklevel=4,
        )
