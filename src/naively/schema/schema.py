"""Schema: which family each column has; given, or by the column's kind.

What is decided here is what is counted. Of a column whose family was not given, the family that it is scored by is
decided later, from the statistics (`choosing.py`).

Columns of one family form a block and are counted together, each on its own; the columns of a joint family
(Multinomial, Complement, a shared Categorical) are one distribution, and each such group is a block of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

from naively.data.kinds import Kind
from naively.data.names import Names, Numbered, listed, positions_of, select
from naively.data.table import Table
from naively.errors import InputError, SchemaError
from naively.families import (
    AutoBoolean,
    AutoNumber,
    AutoString,
    Family,
    Missing,
    Multinomial,
    NoValuesYet,
    Text,
    family_named,
    family_names,
)
from naively.schema.family_json import family_from_json, family_to_json

__all__ = ["Automatic", "Block", "Schema", "infer"]

DEFAULTS: Mapping[Kind, Family] = {
    "number": AutoNumber(),
    "date": AutoNumber(),
    "boolean": AutoBoolean(),
    "string": AutoString(),
    "unknown": NoValuesYet(),
}


@dataclass(frozen=True)
class Automatic:
    """The family that a column gets by itself; with `missing="value"`, a gap in it is a value of its own."""

    missing: Missing = "skip"


@dataclass(frozen=True)
class Block:
    """Columns of one family; `kinds` is one kind for all of them, or one each."""

    names: Names
    kinds: Kind | tuple[Kind, ...]
    family: Family

    def kind(self, position: int) -> Kind:
        """What sort of values the column at a position holds."""
        return self.kinds if isinstance(self.kinds, str) else self.kinds[position]


@dataclass(frozen=True)
class Schema:
    """All columns in the order of the data, and the blocks that they form."""

    names: Names
    blocks: tuple[Block, ...]

    def families(self) -> Iterator[tuple[str, Family]]:
        """Each column with its family."""
        found = {name: block.family for block in self.blocks for name in block.names}
        return ((name, found[name]) for name in self.names)

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each column."""
        return {name: block.kind(i) for block in self.blocks for i, name in enumerate(block.names)}

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        return "\n".join(f"{name:<{width}}  {family}" for name, family in self.families())

    def to_json(self) -> str:
        """The schema as JSON; `Schema.from_json` reads it back."""
        return self._json

    @cached_property
    def _json(self) -> str:  # asked for with every update of a model file
        blocks = [
            {"names": _names_to_json(b.names), "kinds": b.kinds, "family": family_to_json(b.family)}
            for b in self.blocks
        ]
        return json.dumps({"names": _names_to_json(self.names), "blocks": blocks}, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """A schema from JSON; checked, because people may have written it.

        >>> from naively import fit
        >>> schema = fit({"age": [30, 40], "job": ["cook", None]}, [0, 1]).schema
        >>> Schema.from_json(schema.to_json()) == schema
        True
        """
        try:
            found = json.loads(text)
            names = _names_from_json(found["names"])
            blocks = tuple(
                Block(_names_from_json(b["names"]), _kinds_from_json(b["kinds"]), family_from_json(b["family"]))
                for b in found["blocks"]
            )
        except (TypeError, KeyError, json.JSONDecodeError, RecursionError) as error:
            raise SchemaError(f"this is not a schema in JSON ({type(error).__name__}: {error}).") from None
        return _checked(cls(names, blocks))


def _names_to_json(names: Names) -> Any:
    return {"numbered": len(names)} if isinstance(names, Numbered) else list(names)


def _names_from_json(found: Any) -> Names:
    if isinstance(found, dict) and set(found) == {"numbered"} and type(found["numbered"]) is int:
        if 0 <= found["numbered"] < 2**31:
            return Numbered(found["numbered"])
    elif isinstance(found, list) and all(isinstance(name, str) for name in found):
        return tuple(found)
    raise TypeError("names are a list of strings")


def _kinds_from_json(found: Any) -> Kind | tuple[Kind, ...]:
    kinds = [found] if isinstance(found, str) else found
    if not isinstance(kinds, list) or any(kind not in get_args(Kind) for kind in kinds):
        raise TypeError(f"kinds are among {', '.join(get_args(Kind))}")
    return kinds[0] if isinstance(found, str) else tuple(kinds)


def _checked(schema: Schema) -> Schema:
    """Refuse a schema in which a column has no family or two, or a family that cannot count it."""
    given = sum(len(block.names) for block in schema.blocks)
    numbered = [b for b in schema.blocks if isinstance(b.names, Numbered) and b.names == schema.names]
    same = bool(numbered) and given == len(schema.names)  # one block over a million numbered columns: nothing to list
    if not same:
        found = [name for block in schema.blocks for name in block.names]
        if sorted(found) != sorted(set(schema.names)) or len(schema.names) != given:
            raise SchemaError("this schema does not give each of its columns one family.")
    for block in schema.blocks:
        if not isinstance(block.kinds, str) and len(block.kinds) != len(block.names):
            raise SchemaError(f"this schema has {len(block.kinds)} kinds for {len(block.names)} columns in a block.")
        kinds = {block.kinds} if isinstance(block.kinds, str) else set(block.kinds)
        if not all(block.family.accepts(kind) for kind in kinds):
            raise SchemaError(f"this schema counts {block.names[0]!r} by {block.family}, which cannot count it.")
    return schema


def family_of(spec: Any) -> Family:
    """A family from itself, its class or its name."""
    if isinstance(spec, Family):
        return spec
    if isinstance(spec, type) and issubclass(spec, Family):
        return spec()
    known = {name.lower(): name for name in family_names()} | {"numeric": "Binned"}
    family = family_named(known[spec.lower()]) if isinstance(spec, str) and spec.lower() in known else None
    if family is not None:
        return family()
    raise InputError(
        f"{spec!r} is not a family: use one of Bernoulli, Categorical, Multinomial, Complement, Gaussian, LogNormal, "
        "Poisson, Exponential, Binned, Text."
    )


def infer(table: Table, columns: Any = None) -> Schema:
    """The schema of a table: one family for all, a mapping from name (or tuple of names) to family, or defaults."""
    if columns is None and table.is_sparse:
        columns = Multinomial()
    if isinstance(columns, Automatic) or (
        columns is not None and not isinstance(columns, Mapping) and family_of(columns).own_block
    ):
        columns = dict.fromkeys(table.names, columns)
    if columns is not None and not isinstance(columns, Mapping):
        return Schema(table.names, (_block(table, range(len(table.names)), family_of(columns)),))
    if table.common_kind is not None and not columns and len(table.names):
        return Schema(table.names, (_block(table, range(len(table.names)), DEFAULTS[table.common_kind]),))
    place = positions_of(table.names)
    chosen: dict[int, Family] = {}
    joint: list[tuple[Family, list[int]]] = []
    for key, spec in (columns or {}).items():
        positions = _positions(key, place, chosen)
        if isinstance(spec, Automatic):
            chosen |= {p: replace(_default(table, p), missing=spec.missing) for p in positions}
            continue
        family = family_of(spec)
        chosen.update(dict.fromkeys(positions, family))
        if family.joint:
            joint.append((family, positions))
    alone: dict[tuple[Family, str], list[int]] = {}
    for position, name in enumerate(table.names):
        family = chosen.get(position) or _default(table, position)
        if not family.joint:
            alone.setdefault((family, name if family.own_block else ""), []).append(position)
    groups = [*((family, found) for (family, _), found in alone.items()), *joint]
    groups.sort(key=lambda group: group[1][0])
    return Schema(table.names, tuple(_block(table, positions, family) for family, positions in groups))


def _default(table: Table, position: int) -> Family:
    """The family of a column by its kind; strings that read like sentences are text, others are values."""
    if table.kind(position) == "string" and table.looks_like_text(position):
        return Text()
    return DEFAULTS[table.kind(position)]


def _positions(key: Any, place: Mapping[str, int], chosen: Mapping[int, Family]) -> list[int]:
    """Positions of the column or columns named by a key, each named only once over all."""
    names = key if isinstance(key, tuple) else (key,)
    absent = [name for name in names if name not in place]
    if absent:
        raise SchemaError(f"columns= names {absent[0]!r}, which is not in the data. Its columns are {listed(place)}.")
    positions = [place[name] for name in names]
    double = [name for name in names if place[name] in chosen]
    if double or len(set(positions)) < len(positions):
        raise SchemaError(f"columns= gives {(double or list(names))[0]!r} a family twice: name each column once.")
    return positions


def _block(table: Table, positions: Sequence[int], family: Family) -> Block:
    if table.common_kind is not None:
        kinds: Kind | tuple[Kind, ...] = table.common_kind if len(table.names) else "number"
        refused = [] if family.accepts(table.common_kind) else list(positions[:1])
    else:
        kinds = tuple(table.kind(position) for position in positions)
        refused = [p for p, kind in zip(positions, kinds, strict=True) if not family.accepts(kind)]
    if family.missing not in get_args(Missing) or (family.joint and family.missing != "skip"):
        raise SchemaError(
            f'missing={family.missing!r} for column {table.names[positions[0]]!r}: it is "skip" or, for a family of '
            'one column, "value".'
        )
    if refused:
        name, kind = table.names[refused[0]], table.kind(refused[0])
        raise SchemaError(
            f"column {name!r} holds {_KIND_WORDS[kind]}, which {type(family).__name__} cannot count: "
            f"use {_FAMILY_WORDS[kind]}, or convert the column."
        )
    return Block(select(table.names, positions), kinds, family)


_FAMILY_WORDS: Mapping[Kind, str] = {
    "number": "Binned or Gaussian",
    "boolean": "Bernoulli",
    "string": "Categorical or Text",
    "date": "Binned",
    "unknown": "none",
}
_KIND_WORDS: Mapping[Kind, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "string": "text",
    "date": "dates",
    "unknown": "only gaps",
}
