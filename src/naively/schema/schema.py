"""The schema of a table: its columns, their kinds, and the families by which they are counted.

Columns of one family form a block and are counted together, each on its own. The columns of a joint family
(Multinomial, Complement, a shared Categorical) are one distribution, and each such group is a block of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from naively.data.kinds import Kind
from naively.data.names import Names, Numbered, counted
from naively.data.plain import JsonObject
from naively.data.views import Codes, Texts
from naively.errors import SchemaError
from naively.families import Family
from naively.families.together import TablePlan
from naively.schema.family_json import family_from_json, family_to_json


@dataclass(frozen=True)
class Block:
    """Columns of one family; `kinds` is one kind for all of them, or one each.

    `part` names a further part of a column that is scored in several parts, such as the pairs of its words.
    """

    names: Names
    kinds: Kind | tuple[Kind, ...]
    family: Family
    part: str = ""

    @property
    def role(self) -> str:
        """What the evidence is: "value", "presence", or the part of the column."""
        return self.part or self.family.role

    def kind(self, position: int) -> Kind:
        """Return the kind of the column at a position."""
        return self.kinds if isinstance(self.kinds, str) else self.kinds[position]


@dataclass(frozen=True)
class Schema:
    """All columns in the order of the data, the blocks that they form, and the tables that read them together."""

    names: Names
    blocks: tuple[Block, ...]
    tables: TablePlan | None = None

    def families(self) -> Iterator[tuple[str, Family]]:
        """Return each column with its family."""
        families = {name: block.family for block in self.blocks for name in block.names}
        return ((name, families[name]) for name in self.names)

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each column."""
        return {name: block.kind(i) for block in self.blocks for i, name in enumerate(block.names)}

    def coded_numbers(self) -> list[str]:
        """Return the columns of numbers that are counted by value."""
        return [
            name
            for block in self.blocks
            if block.family.statistic.view is Codes and "number" in (block.kinds, *block.kinds)
            for i, name in enumerate(block.names)
            if block.kind(i) == "number"
        ]

    def text_column(self) -> str | None:
        """Return the only column of text; None if there is none, or several."""
        names = [name for block in self.blocks if block.family.statistic.view is Texts for name in block.names]
        return names[0] if len(names) == 1 else None

    def __repr__(self) -> str:
        return f"<Schema of {counted(len(self.names), 'column')} in {counted(len(self.blocks), 'block')}>"

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        return "\n".join(f"{name:<{width}}  {family}" for name, family in self.families())

    def to_json(self) -> str:
        """Return the schema as JSON, which `Schema.from_json` reads."""
        return self._json

    @cached_property
    def _json(self) -> str:  # needed with every update of a model file
        blocks = [
            {"names": _names_to_json(b.names), "kinds": b.kinds, "family": family_to_json(b.family)}
            for b in self.blocks
        ]
        content: JsonObject = {"names": _names_to_json(self.names), "blocks": blocks}
        if self.tables is None:
            return json.dumps(content, ensure_ascii=False, indent=1)
        tables = json.dumps(self.tables.to_json(), ensure_ascii=False)  # thousands of numbers: not a line each
        return f'{json.dumps(content, ensure_ascii=False, indent=1)[:-2]},\n "tables": {tables}\n}}'

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Return a schema from JSON; checked, because people may have written it.

        >>> from naively import fit
        >>> schema = fit({"age": [30, 40], "job": ["cook", None]}, [0, 1]).schema
        >>> Schema.from_json(schema.to_json()) == schema
        True
        """
        try:
            data = json.loads(text)
            names = _names_from_json(data["names"])
            blocks = tuple(
                Block(_names_from_json(b["names"]), _kinds_from_json(b["kinds"]), family_from_json(b["family"]))
                for b in data["blocks"]
            )
            tables = None if data.get("tables") is None else TablePlan.from_json(data["tables"])
        except (TypeError, KeyError, ValueError, AttributeError, RecursionError) as error:
            raise SchemaError(f"this is not a schema in JSON ({type(error).__name__}: {error}).") from None
        schema = cls(names, blocks, tables)
        _check(schema)
        return schema


def name_of_part(column: str, role: str) -> str:
    """Return the name of a part of a column, which its family has in a Tuning: "text", "text [pairs]"."""
    return column if role == "value" else f"{column} [{role}]"


def _names_to_json(names: Names) -> dict[str, int] | list[str]:
    return {"numbered": len(names)} if isinstance(names, Numbered) else list(names)


def _names_from_json(data: Any) -> Names:
    if isinstance(data, dict) and set(data) == {"numbered"} and type(data["numbered"]) is int:
        if 0 <= data["numbered"] < 2**31:
            return Numbered(data["numbered"])
    elif isinstance(data, list) and all(isinstance(name, str) for name in data):
        return tuple(data)
    raise TypeError("names are a list of strings")


def _kinds_from_json(data: Any) -> Kind | tuple[Kind, ...]:
    kinds = [data] if isinstance(data, str) else data
    if not isinstance(kinds, list) or any(kind not in get_args(Kind) for kind in kinds):
        raise TypeError(f"kinds are among {', '.join(get_args(Kind))}")
    return kinds[0] if isinstance(data, str) else tuple(kinds)


def _check(schema: Schema) -> None:
    """Refuse a schema in which a column has no family or two, or a family that cannot count it."""
    n_columns = sum(len(block.names) for block in schema.blocks)
    numbered = [b for b in schema.blocks if isinstance(b.names, Numbered) and b.names == schema.names]
    if not (numbered and n_columns == len(schema.names)):  # else one block over numbered columns: nothing to list
        names = [name for block in schema.blocks for name in block.names]
        if sorted(names) != sorted(set(schema.names)) or len(schema.names) != n_columns:
            raise SchemaError("this schema does not give each of its columns one family.")
    if schema.tables is not None and not set(schema.tables.columns) <= set(schema.names):
        raise SchemaError("this schema has tables of columns that it does not have.")
    for block in schema.blocks:
        if not isinstance(block.kinds, str) and len(block.kinds) != len(block.names):
            raise SchemaError(f"this schema has {len(block.kinds)} kinds for {len(block.names)} columns in a block.")
        kinds = {block.kinds} if isinstance(block.kinds, str) else set(block.kinds)
        if not all(block.family.accepts(kind) for kind in kinds):
            raise SchemaError(f"this schema counts {block.names[0]!r} by {block.family}, which cannot count it.")
