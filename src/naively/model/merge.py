"""Add and subtract models: bring both to the same classes, columns, values and words, then add their statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Bools
from naively.data.convert import kind_of_classes
from naively.data.kinds import Kind
from naively.data.labelled import Label
from naively.data.names import Names, listed, nearest, positions_of
from naively.errors import InputError, LostDigitsWarning, SchemaError, TuningWarning, warn_user
from naively.families import Family
from naively.schema.infer import group_columns
from naively.schema.schema import Block, Schema
from naively.statistics import ClassWeights, Histogram, NegativeCountError, RowHashes, Statistic
from naively.statistics.arrays import added_in_pairs

if TYPE_CHECKING:
    from naively.model.model import Model


def add(a: Model, b: Model) -> Model:
    """Return the model of the rows of both, with the prior and the settings of a."""
    a, b = align(a, b)
    statistics = tuple(one + two for one, two in zip(a.statistics, b.statistics, strict=True))
    tuning, tables = a.tuning, _add_tables(a, b)
    if a.tuning != b.tuning:
        tuning = None
        warn_user(
            "the models are tuned differently, so their sum is not tuned: give it a tuning with with_tuning(), or tune "
            "it on data.",
            TuningWarning,
        )
    weights = a.class_weights + b.class_weights
    hashes = _sum_of_hashes((a, b))
    both = replace(
        a, class_weights=weights, statistics=statistics, tuning=tuning, row_hashes=hashes, table_counts=tables
    )
    return both if a.class_weights.rows.any() else _without_classes(both, weights.rows == 0)


def total(models: Sequence[Model]) -> Model | None:
    """Return the sum of models, None if there is none; models with the same classes are added at once."""
    if len(models) < 3 or any(m.schema != models[0].schema or m.tuning != models[0].tuning for m in models):
        return added_in_pairs(models) if models else None
    groups: dict[tuple[Label, ...], list[Model]] = {}
    for model in models:
        groups.setdefault(model.classes, []).append(model)
    sums = []
    for group in groups.values():
        weights = ClassWeights.sum_of([model.class_weights for model in group])
        blocks = zip(*(model.statistics for model in group), strict=True)
        statistics = tuple(type(parts[0]).sum_of(parts) for parts in blocks)
        tables = [model.table_counts for model in group if model.table_counts is not None]
        with_sums = replace(group[0], class_weights=weights, statistics=statistics, row_hashes=_sum_of_hashes(group))
        sums.append(replace(with_sums, table_counts=Histogram.sum_of(tables) if tables else None))
    return added_in_pairs(sums)


def _sum_of_hashes(models: Sequence[Model]) -> RowHashes | None:
    """Return which rows the models have counted; None if one of them does not know."""
    known = [model.row_hashes for model in models if model.row_hashes is not None]
    if not known or any(model.row_hashes is None and model.class_weights.rows.any() for model in models):
        return None
    return RowHashes.sum_of(known)


def subtract(a: Model, b: Model) -> Model:
    """Return the model of the rows of a without those of b; refuse rows that a has not counted."""
    a, b = align(a, b)
    names: Names = ()
    try:
        weights = a.class_weights - b.class_weights
        statistics = []
        for block, one, two in zip(a.schema.blocks, a.statistics, b.statistics, strict=True):
            names = block.names
            statistics.append(one - two)
            statistics[-1].refuse_excess(weights)
        names = ()
        tables = None if a.table_counts is None or b.table_counts is None else a.table_counts - b.table_counts
    except NegativeCountError as error:
        where = "" if error.column is None else f"column {names[error.column]!r}, " if names else "columns together, "
        raise InputError(
            f"cannot subtract what was never counted: {where}class {a.classes[error.class_position]!r} would be left "
            f"with {error.remainder}."
        ) from None
    _warn_of_lost_digits(a.schema, statistics)
    lost_all_rows = (weights.rows == 0) & (a.class_weights.rows > 0)
    if lost_all_rows.any():
        _refuse_values_without_rows(a, statistics, lost_all_rows)
    hashes = None
    if a.row_hashes is not None and (b.row_hashes is not None or not b.class_weights.rows.any()):
        hashes = a.row_hashes if b.row_hashes is None else a.row_hashes - b.row_hashes
    rest = replace(a, class_weights=weights, statistics=tuple(statistics), row_hashes=hashes, table_counts=tables)
    return _without_classes(rest, lost_all_rows) if lost_all_rows.any() else rest


def _without_classes(model: Model, empty: Bools) -> Model:
    """Return a model without these classes, which have no rows. A model of no rows at all keeps its classes."""
    if not model.class_weights.rows.any():
        return model
    classes = tuple(label for label, is_empty in zip(model.classes, empty.tolist(), strict=True) if not is_empty)
    return with_layout(model, model.schema, classes)


def _refuse_values_without_rows(a: Model, rest: Sequence[Statistic], lost_all_rows: Bools) -> None:
    """Refuse to subtract the last rows of a class if values of it would stay."""
    for block, statistic in zip(a.schema.blocks, rest, strict=True):
        stay = np.flatnonzero(statistic.has_rows() & lost_all_rows)
        if len(stay):
            columns = "column " + repr(block.names[0]) if len(block.names) == 1 else f"columns {block.names[0]!r}, …"
            raise InputError(
                f"cannot subtract what was never counted: class {a.classes[stay[0]]!r} would be left without rows, but "
                f"with values in {columns}: those rows had other values."
            )


def _warn_of_lost_digits(schema: Schema, statistics: Sequence[Statistic]) -> None:
    columns = [
        block.names[int(j)]
        for block, statistic in zip(schema.blocks, statistics, strict=True)
        for j in np.flatnonzero(statistic.lost_precision())
    ]
    if columns:
        warn_user(
            f"columns {listed(columns)}: numbers were subtracted that are too large for the digits stored of the "
            "rest; count the remaining rows again for an exact variance.",
            LostDigitsWarning,
        )


def align(a: Model, b: Model) -> tuple[Model, Model]:
    """Return both models with the same classes and columns in the same positions."""
    schema = unite(a.schema, b.schema)
    if a.schema.tables != b.schema.tables:
        _warn_of_other_tables(a, b)
        a, b = (model if model.schema.tables is None else model.without_tables() for model in (a, b))
    classes = union_of_classes(a.classes, b.classes)
    return with_layout(a, schema, classes), with_layout(b, schema, classes)


def _warn_of_other_tables(a: Model, b: Model) -> None:
    warn_user(
        "the models have different tables of columns, which cannot be added: the sum is that of the columns alone. Fit "
        "the second model with schema=FIRST.schema, or add its rows with update().",
        TuningWarning,
    )


def _add_tables(a: Model, b: Model) -> Histogram | None:
    """Return the counts of the tables of columns of both models, which have the same plan."""
    if a.table_counts is None or b.table_counts is None:
        return a.table_counts if b.table_counts is None else b.table_counts
    return a.table_counts + b.table_counts


def with_layout(model: Model, schema: Schema, classes: tuple[Label, ...]) -> Model:
    """Return a model with its columns and classes in other positions."""
    statistics = model.statistics
    if schema != model.schema:
        statistics = tuple(_statistic_of(model, block) for block in schema.blocks)
    if classes == model.classes:
        return model if schema is model.schema else replace(model, schema=schema, statistics=statistics)
    position = {label: i for i, label in enumerate(classes)}
    positions, n = np.array([position.get(label, -1) for label in model.classes], dtype=np.int32), len(classes)
    return replace(
        model,
        schema=schema,
        classes=classes,
        class_weights=model.class_weights.place_classes(positions, n),
        statistics=tuple(statistic.place_classes(positions, n) for statistic in statistics),
        table_counts=None if model.table_counts is None else model.table_counts.place_classes(positions, n),
    )


def with_classes(model: Model, classes: Sequence[Label]) -> Model:
    """Return the model with further classes, of which it has no rows."""
    return with_layout(model, model.schema, union_of_classes(model.classes, tuple(classes)))


def union_of_classes(a: Sequence[Label], b: Sequence[Label]) -> tuple[Label, ...]:
    """Return all classes of both, sorted."""
    if a == b:
        return tuple(a)
    types = {bool if isinstance(c, bool) else str if isinstance(c, str) else float for c in (*a, *b)}
    if len(types) > 1:
        raise InputError(
            f"the classes have different types: {a[0]!r} in one model, {b[0]!r} in the other. "
            "Train both with labels of one type."
        )
    return tuple(sorted({*a, *b}))


def refuse_other_type(classes: Sequence[Label], labels: Sequence[Label]) -> None:
    """Raise InputError if labels are of another type than the classes of a model."""
    kinds = {"string": "text", "boolean": "true or false", "number": "numbers"}
    kind, trained_kind = kind_of_classes(labels), kind_of_classes(classes)
    if labels and classes and kind != trained_kind:
        raise InputError(
            f"the label {labels[0]!r} is not of the type of the model's classes, which are {kinds[trained_kind]} "
            f"({listed(map(repr, classes), 4)}): correct it, or fit a new model."
        )


def refuse_new_classes(classes: Sequence[Label], labels: Iterable[Label]) -> None:
    """Raise InputError if labels are new to a model that has two classes or more: they may be typing errors."""
    if len(classes) < 2:
        return
    known = set(classes)
    new = [label for label in labels if label not in known]
    if new:
        near = nearest(str(new[0]), list(map(str, classes)))
        hint = f" Did you mean {near!r}?" if near else ""
        raise InputError(
            f"the model has no class {listed(map(repr, new), 4)}; it has {listed(map(repr, classes), 4)}.{hint} "
            "To add a class, give new_classes=True (in the shell: --new-class; over HTTP: the parameter new_classes)."
        )


def _statistic_of(model: Model, block: Block) -> Statistic:
    """Return the statistic of a block of another schema; columns without a value so far are empty."""
    names: Names = ()
    statistic = block.family.statistic.empty(model.class_weights)
    for known, of_known in zip(model.schema.blocks, model.statistics, strict=True):
        is_single = not (known.family.joint or known.family.own_block)
        if known.family == block.family and (is_single or set(block.names) & set(known.names)):
            names, statistic = known.names, of_known
            break
    if names == block.names or (block.family.joint and statistic.matches_names):
        return statistic
    position = positions_of(names)
    order = np.array([position.get(name, -1) for name in block.names], dtype=np.intp)
    return statistic.take_columns(order).renamed(block.names)


def unite(a: Schema, b: Schema) -> Schema:
    """Return the schema of a sum: that of a, with the families of b for columns that have no value in a."""
    if a == b:
        return a
    of_a, of_b = dict(a.families()), dict(b.families())
    tokens = {name for schema in (a, b) for block in schema.blocks if block.family.joint for name in block.names}
    problems = [
        f"{name!r} only in {'the first' if name in of_a else 'the second'}"
        for name in (of_a | of_b)
        if (name not in of_a or name not in of_b) and name not in tokens
    ]
    kinds_of_a, kinds_of_b = a.kinds(), b.kinds()
    replaced = {n for n in of_a.keys() & of_b.keys() if _gives_way(of_a[n], kinds_of_a[n], of_b[n])}
    for name in of_a.keys() & of_b.keys() - replaced:
        one, two = of_a[name], of_b[name]
        if one != two and not _gives_way(two, kinds_of_b[name], one):
            problems.append(f"{name!r} is {one} in the first, {two} in the second")
    if problems:
        raise SchemaError("the models have different columns: " + listed(sorted(problems), separator="; ") + ".")
    names = a.names if len(of_a) == len(of_a | of_b) else tuple(of_a | of_b)
    families = of_b | {name: family for name, family in of_a.items() if name not in replaced}
    kinds = kinds_of_b | {name: kind for name, kind in kinds_of_a.items() if kind != "unknown"}
    groups = group_columns({name: families[name] for name in names})
    blocks = [*((family, tuple(group)) for family, group in groups), *_joint_blocks(a, b)]
    position = positions_of(names)
    blocks.sort(key=lambda block: position[block[1][0]])
    tables = a.tables if a.tables == b.tables else None
    united = tuple(Block(group, tuple(kinds[n] for n in group), family) for family, group in blocks)
    return Schema(names, united, tables)


def _gives_way(family: Family, kind: Kind, other: Family) -> bool:
    """Return whether a column of one family, and of this kind, is counted by the other family in a sum."""
    return family.awaits_values or (family.automatic and other.replaces_automatic and other.accepts(kind))


def _joint_blocks(a: Schema, b: Schema) -> list[tuple[Family, tuple[str, ...]]]:
    """Return the joint blocks of both; blocks of one family with a column in common are one."""
    blocks: list[tuple[Family, tuple[str, ...]]] = []
    rest = [block for block in b.blocks if block.family.joint]
    for block in a.blocks:
        if not block.family.joint:
            continue
        names = dict.fromkeys(block.names)
        partners = [o for o in rest if o.family == block.family and (set(o.names) & set(names) or len(rest) == 1)]
        for partner in partners[:1]:
            rest.remove(partner)
            names |= dict.fromkeys(partner.names)
        blocks.append((block.family, tuple(names)))
    if rest:
        raise SchemaError(
            f"the second model counts {listed(rest[0].names, 4)} together as {rest[0].family}, the first does not."
        )
    return blocks
