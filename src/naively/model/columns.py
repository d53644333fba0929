"""Columns of a table as the families of a schema need them, matched by name and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from naively.data.kinds import Kind
from naively.data.names import positions_of, require_columns
from naively.data.read import TableLike, read
from naively.data.table import Table
from naively.data.views import Codes, Numbers, Texts
from naively.errors import SchemaError
from naively.schema.schema import Schema

if TYPE_CHECKING:
    from naively.model.model import Model

View = Numbers | Codes | Texts

_READABLE_KINDS: dict[Kind, tuple[Kind, ...]] = {  # by the kind at training; a column of missing values fits any
    "number": ("number", "boolean", "unknown"),
    "boolean": ("boolean", "number", "unknown"),
    "string": ("string", "unknown"),
    "date": ("date", "unknown"),
    "unknown": ("number", "boolean", "string", "date", "unknown"),
}


def read_rows(model: Model, X: TableLike) -> Table:
    """Return rows to be scored; a column of the model that they do not have is all missing."""
    table = read(X)
    return table if table.names == model.schema.names else table.with_missing_columns(model._used_columns)


def views(table: Table, schema: Schema) -> list[View]:
    """Return the columns of each block as its family needs them; refuse other kinds of columns than at training."""
    position_of: dict[str, int] | None = None
    views = []
    for block in schema.blocks:
        positions: Sequence[int]
        if block.names == table.names:
            positions = range(len(table.names))
        else:
            position_of = positions_of(table.names) if position_of is None else position_of
            if any(name not in position_of for name in block.names):
                require_columns(block.names, table.names)
            positions = [position_of[name] for name in block.names]
        kinds = block.kinds
        is_one_kind = isinstance(kinds, str) and isinstance(positions, range)
        for i, position in enumerate(() if table.checked else positions[:1] if is_one_kind else positions):
            kind, trained_kind = table.kind(position), kinds if isinstance(kinds, str) else kinds[i]
            if kind not in _READABLE_KINDS[trained_kind]:
                raise SchemaError(
                    f"column {table.names[position]!r} is of type {kind}, but was of type {trained_kind} at training: "
                    "convert it."
                )
        views.append(block.family.read_columns(table, positions))
    return views
