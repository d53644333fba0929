"""Choose the family that scores each column, and the columns to drop, from the statistics.

Counting fixes only the kind of statistic. Families that are `automatic` then decide (`families/automatic.py`), unless a
Tuning names another family. Where `missing="value"`, a `Presence` block is added: having a value at all is evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from naively._kernels.types import Floats
from naively.data.kinds import Kind
from naively.data.names import counted, select
from naively.errors import SchemaError
from naively.families import Dropped, Family, Presence
from naively.schema.schema import Block, Schema, name_of_part
from naively.statistics import ClassWeights, Statistic, TokenCounts

Part = tuple[Block, Statistic]


@dataclass(frozen=True, eq=False)
class Chosen:
    """What scores the rows: blocks of columns with their families, a statistic for each, and reasons for dropping."""

    schema: Schema
    statistics: tuple[Statistic, ...]
    left_out: Mapping[str, str]

    def families(self) -> dict[str, str]:
        """Return for each column of the data its family, or the reason why it is left out."""
        families: dict[str, str] = {}
        for block in self.schema.blocks:
            for name in block.names:
                families[name] = "; ".join(filter(None, [families.get(name), str(block.family)]))
        return {name: families.get(name) or f"left out: {self.left_out[name]}" for name in self.schema.names}

    def __repr__(self) -> str:
        return f"<Chosen of {counted(len(self.schema.names), 'column')}, {len(self.left_out)} not used>"

    def __str__(self) -> str:
        width = max((len(name) for name in self.schema.names), default=0)
        return "\n".join(f"{name:<{width}}  {family}" for name, family in self.families().items())


def choose(
    schema: Schema, statistics: Sequence[Statistic], classes: ClassWeights, given: Mapping[str, Family] | None = None
) -> Chosen:
    """Choose the families of all columns.

    Parameters
    ----------
    schema
        The columns and families that were counted.
    statistics
        A statistic for each block of the schema.
    classes
        The weight of all rows.
    given
        Families to use instead, by column, or by column and part; a joint block goes by its first column.
    """
    given = given or {}
    is_chosen = all(
        b.family.missing == "skip" and not (b.family.automatic or b.family.has_parts) for b in schema.blocks
    )
    if not given and is_chosen:
        return Chosen(schema, tuple(statistics), {})
    parts: list[Part] = []
    left_out: dict[str, str] = {}
    for block, statistic in zip(schema.blocks, statistics, strict=True):
        if block.family.has_parts:
            for role, family, part in block.family.parts(statistic):
                family = given.get(name_of_part(block.names[0], role), family)
                parts.append((Block(block.names, block.kinds, family, "" if role == "value" else role), part))
            with_presence = [0] if block.family.missing == "value" else []
        elif block.family.joint or not (block.family.automatic or any(name in given for name in block.names)):
            family = given.get(block.names[0], block.family) if len(block.names) else block.family
            parts.append((Block(block.names, block.kinds, family), statistic))
            with_presence = list(range(len(block.names))) if family.missing == "value" else []
        else:
            kinds = [block.kind(j) for j in range(len(block.names))]
            choices = block.family.decide(statistic, kinds)
            groups: dict[Family, list[int]] = {}
            with_presence = []
            for j, (name, choice) in enumerate(zip(block.names, choices, strict=True)):
                family = _family_of(choice, block.family, given.get(name))
                if not isinstance(choice, Dropped):
                    groups.setdefault(family, []).append(j)
                elif family.missing != "value":
                    left_out[name] = choice.reason
                if family.missing == "value":
                    with_presence.append(j)
            for family, positions in groups.items():
                columns, columns_statistic = _take(block, statistic, positions, family)
                parts.append((columns, _part(columns_statistic, columns)))
        if with_presence:
            presence, columns_statistic = _take(block, statistic, with_presence, Presence())
            parts.append((presence, TokenCounts.of_presence(columns_statistic, classes, presence.names)))
    parts.sort(key=lambda part: schema.names.index(part[0].names[0]) if len(part[0].names) else 0)
    return Chosen(Schema(schema.names, tuple(b for b, _ in parts)), tuple(s for _, s in parts), left_out)


def _family_of(choice: Family | Dropped, counted: Family, given: Family | None) -> Family:
    """Return the family of a column: that given by tuning, else the choice by the rules.

    A dropped column has no family, but whether it has a value may be evidence. Then tuning gives the family that counts
    it, which is not the one that scores it if it gets other values later.
    """
    if isinstance(choice, Dropped):
        return given or counted
    if given is not None and given.automatic:
        return replace(choice, missing=given.missing)
    return given or choice


def statistic_for(schema: Schema, statistics: Sequence[Statistic], block: Block) -> Statistic:
    """Return the statistic that the family of a chosen block reads, from those that were counted by a schema."""
    for counted_block, statistic in zip(schema.blocks, statistics, strict=True):
        if block.names[0] in counted_block.names:
            if counted_block.family.has_parts:
                return next(part for role, _, part in counted_block.family.parts(statistic) if role == block.role)
            if tuple(block.names) == tuple(counted_block.names) or counted_block.family.joint:
                return _part(statistic, block)
            position = {name: j for j, name in enumerate(counted_block.names)}
            order = np.array([position[name] for name in block.names], dtype=np.intp)
            return _part(statistic.take_columns(order), block)
    raise KeyError(block.names[0])


def split(block: Block, statistic: Statistic, weight: Floats) -> list[tuple[Block, Statistic, float, list[int]]]:
    """Return the columns of a block, grouped by the weight of each, with their positions in the block."""
    groups = []
    for w in dict.fromkeys(weight.tolist()):
        positions = np.flatnonzero(weight == w).tolist()
        groups.append((*_take(block, statistic, positions, block.family), w, positions))
    return groups


def _part(statistic: Statistic, block: Block) -> Statistic:
    """Return the part of a statistic that the family of a block reads."""
    try:
        return statistic.part(block.family.statistic)
    except TypeError:
        raise SchemaError(
            f"{block.family} cannot score column {block.names[0]!r}: {type(statistic).__name__} was counted."
        ) from None


def _take(block: Block, statistic: Statistic, positions: Sequence[int], family: Family) -> Part:
    """Return some columns of a block, in their order, under a family."""
    kinds: Kind | tuple[Kind, ...] = (
        block.kinds if isinstance(block.kinds, str) else tuple(block.kinds[j] for j in positions)
    )
    if len(positions) < len(block.names):
        statistic = statistic.take_columns(np.array(positions, dtype=np.intp))
    return Block(select(block.names, positions), kinds, family), statistic
