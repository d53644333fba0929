"""Two models side by side: the same classes, columns, values and tokens in the same places, so that parts add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import Kind
from naively.data.names import Names, listed, positions_of
from naively.errors import InputError, LostDigitsWarning, SchemaError, TuningWarning, warn_user
from naively.families import Family, NoValuesYet
from naively.schema.schema import Block, Schema
from naively.statistics import ClassWeights, NegativeCountError, Statistic
from naively.statistics.arrays import added_in_pairs

if TYPE_CHECKING:
    from naively.model.model import Model


def added(a: Model, b: Model) -> Model:
    """The model of the rows of both; the prior and the settings are a's."""
    a, b = align(a, b)
    statistics = tuple(one + two for one, two in zip(a.statistics, b.statistics, strict=True))
    tuning = a.tuning
    if a.tuning != b.tuning:
        tuning = None
        warn_user(
            "the models are tuned differently, so their sum is not tuned: give it a tuning with with_tuning(), or tune "
            "it on data.",
            TuningWarning,
        )
    return replace(a, class_weights=a.class_weights + b.class_weights, statistics=statistics, tuning=tuning)


def total(models: Sequence[Model]) -> Model | None:
    """The sum of models, None of none; many that have the same classes are added up at once."""
    if len(models) < 3 or any(m.schema != models[0].schema or m.tuning != models[0].tuning for m in models):
        return added_in_pairs(models) if models else None
    groups: dict[tuple[Any, ...], list[Model]] = {}
    for model in models:
        groups.setdefault(model.classes, []).append(model)
    return added_in_pairs([_total_of_same_classes(some) for some in groups.values()])


def _total_of_same_classes(models: Sequence[Model]) -> Model:
    seen = ClassWeights.sum_of([model.class_weights for model in models])
    statistics = zip(*(model.statistics for model in models), strict=True)
    return replace(
        models[0], class_weights=seen, statistics=tuple(type(parts[0]).sum_of(parts) for parts in statistics)
    )


def subtracted(a: Model, b: Model) -> Model:
    """The model of the rows of a that are not in b; refused if b has any that a has not."""
    a, b = align(a, b)
    names: Names = ()
    try:
        seen = a.class_weights - b.class_weights
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
    gone = (seen.rows == 0) & (a.class_weights.rows > 0)
    if gone.any():
        _refuse_values_without_rows(a, statistics, gone)
    rest = replace(a, class_weights=seen, statistics=tuple(statistics))
    if not gone.any() or (seen.rows == 0).all():
        return rest
    return with_layout(rest, a.schema, tuple(c for c, empty in zip(a.classes, gone.tolist(), strict=True) if not empty))


def _refuse_values_without_rows(a: Model, left: Sequence[Statistic], gone: NDArray[np.bool_]) -> None:
    """Refuse to take the last rows of a class away if some of what they counted would stay."""
    for block, statistic in zip(a.schema.blocks, left, strict=True):
        stay = np.flatnonzero(statistic.has_rows() & gone)
        if len(stay):
            among = "column " + repr(block.names[0]) if len(block.names) == 1 else f"columns {block.names[0]!r}, …"
            raise InputError(
                f"cannot subtract what was never counted: class {a.classes[stay[0]]!r} would be left without rows, but "
                f"with values in {among}: those rows had other values."
            )


def align(a: Model, b: Model) -> tuple[Model, Model]:
    """Both models with the same classes and columns in the same places."""
    schema = unite(a.schema, b.schema)
    classes = union_of_classes(a.classes, b.classes)
    return with_layout(a, schema, classes), with_layout(b, schema, classes)


def with_layout(model: Model, schema: Schema, classes: tuple[Any, ...]) -> Model:
    """A model with its columns and classes in other places."""
    statistics = conform(model.statistics, model.schema, schema, model.class_weights)
    if classes == model.classes:
        return model if schema is model.schema else replace(model, schema=schema, statistics=statistics)
    places, n = places_of(model.classes, classes), len(classes)
    return replace(
        model,
        schema=schema,
        classes=classes,
        class_weights=model.class_weights.place_classes(places, n),
        statistics=tuple(statistic.place_classes(places, n) for statistic in statistics),
    )


def with_classes(model: Model, classes: Sequence[Any]) -> Model:
    """Return the model with further classes, of which it has no rows."""
    return with_layout(model, model.schema, union_of_classes(model.classes, tuple(classes)))


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
    if wanted.family.joint and statistic.matches_names:
        return statistic
    place = positions_of(names)
    order = np.array([place.get(name, -1) for name in wanted.names], dtype=np.intp)
    return statistic.take_columns(order).renamed(wanted.names)


def _partner(
    statistics: Sequence[Statistic], schema: Schema, wanted: Block, seen: ClassWeights
) -> tuple[Names, Statistic]:
    """The block of the same family (and, if joint, of columns in common); none seen if there is no such block."""
    shared = set(wanted.names)
    for block, statistic in zip(schema.blocks, statistics, strict=True):
        alone = not (block.family.joint or block.family.own_block)
        if block.family == wanted.family and (alone or shared & set(block.names)):
            return block.names, statistic
    return (), wanted.family.statistic.empty(seen)


def _warn_lost_digits(schema: Schema, statistics: Sequence[Statistic]) -> None:
    lost = [
        block.names[int(j)]
        for block, statistic in zip(schema.blocks, statistics, strict=True)
        for j in np.flatnonzero(statistic.lost_precision())
    ]
    if lost:
        warn_user(
            f"columns {listed(lost)}: numbers were taken away that are too large for the digits kept of the "
            "rest; count the remaining rows again for an exact variance.",
            LostDigitsWarning,
        )


def unite(a: Schema, b: Schema) -> Schema:
    """The schema of a sum: a's, with the columns that a could not decide on as b has them."""
    if a == b:
        return a
    mine, theirs = dict(a.families()), dict(b.families())
    tokens = {name for s in (a, b) for block in s.blocks if block.family.joint for name in block.names}
    problems = [
        f"{name!r} only in {'the first' if name in mine else 'the second'}"
        for name in (mine | theirs)
        if (name not in mine or name not in theirs) and name not in tokens
    ]
    for name in mine.keys() & theirs.keys():
        one, two = mine[name], theirs[name]
        if one != two and not isinstance(one, NoValuesYet) and not isinstance(two, NoValuesYet):
            problems.append(f"{name!r} is {one} in the first, {two} in the second")
    if problems:
        raise SchemaError("the models have different columns: " + listed(sorted(problems), separator="; ") + ".")
    names = a.names if len(mine) == len(mine | theirs) else tuple(mine | theirs)
    kinds = b.kinds() | {n: k for n, k in a.kinds().items() if k != "unknown"}
    united = theirs | {n: f for n, f in mine.items() if not isinstance(f, NoValuesYet)}
    return Schema(names, _regroup(names, united, kinds, _joint_groups(a, b)))


def _joint_groups(a: Schema, b: Schema) -> list[tuple[Family, tuple[str, ...]]]:
    """Joint blocks of both: of the same family and any column in common are one, over the union of columns."""
    groups: list[tuple[Family, tuple[str, ...]]] = []
    rest = [block for block in b.blocks if block.family.joint]
    for block in a.blocks:
        if not block.family.joint:
            continue
        mine = dict.fromkeys(block.names)
        partner = [o for o in rest if o.family == block.family and (set(o.names) & set(mine) or len(rest) == 1)]
        for other in partner[:1]:
            rest.remove(other)
            mine |= dict.fromkeys(other.names)
        groups.append((block.family, tuple(mine)))
    if rest:
        raise SchemaError(
            f"the second model counts {listed(rest[0].names, 4)} together as {rest[0].family}, the first does not."
        )
    return groups


def _regroup(
    names: Names,
    of: Mapping[str, Family],
    kinds: Mapping[str, Kind],
    joint: Sequence[tuple[Family, tuple[str, ...]]],
) -> tuple[Block, ...]:
    alone: dict[tuple[Family, str], list[str]] = {}
    for name in names:
        if not of[name].joint:
            alone.setdefault((of[name], name if of[name].own_block else ""), []).append(name)
    groups = [*((family, tuple(group)) for (family, _), group in alone.items()), *joint]
    place = positions_of(names)
    groups.sort(key=lambda group: place[group[1][0]])
    return tuple(Block(group, tuple(kinds[name] for name in group), family) for family, group in groups)
