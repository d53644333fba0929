"""Columns of a table as the families of a schema need them, matched by name and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from naively.data.kinds import Kind
from naively.data.names import Names, positions_of, require_columns
from naively.data.read import read
from naively.data.table import Table
from naively.errors import SchemaError
from naively.schema.schema import Block, Schema
from naively.statistics import Codes, Numbers, Texts

if TYPE_CHECKING:
    from naively.model.model import Model

View = Numbers | Codes | Texts


def read_rows(model: Model, X: Any) -> Table:
    """Return rows to be scored; a column of the model that they do not have is all missing."""
    table = read(X)
    return table if table.names == model.schema.names else table.with_missing_columns(model._used_columns)


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
        if not table.checked:
            _check_kinds(block, table, positions)
        found.append(positions)
    return found


def _positions(names: Names, place: dict[str, int], there: Names) -> Sequence[int]:
    if any(name not in place for name in names):
        require_columns(names, there)
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
    """Return columns of a table as the family of a block needs them, checked."""
    view = block.family.read_columns(table, positions)
    if not table.checked:
        block.family.check_support(view, block.names)
    return view
