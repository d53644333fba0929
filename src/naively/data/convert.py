"""Convert columns of files and batches to the kinds that they had at training."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from naively.data.columns import MAX_EXACT_INTEGER, arrow_strings, is_string
from naively.data.files.csv import MISSING_CELLS, OtherTypeError
from naively.data.kinds import Kind
from naively.data.views import Value

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowColumn

KIND_NAMES: Mapping[Kind, str] = {
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "date": "a date",
    "unknown": "empty",
}


def kind_of_classes(classes: Sequence[Value]) -> Kind:
    """Return the kind of a column that holds these classes.

    >>> kind_of_classes(("no", "yes")), kind_of_classes((0, 1)), kind_of_classes((False, True))
    ('string', 'number', 'boolean')
    """
    first = classes[0] if classes else ""
    return "boolean" if isinstance(first, bool) else "string" if isinstance(first, str) else "number"


def convert_columns(
    table: pa.Table, kinds: Mapping[str, Kind], first_row: int, exact: Collection[str], are_cells: bool = False
) -> pa.Table:
    """Return the table with the columns named in `kinds` converted to these kinds.

    Parameters
    ----------
    table
        A table of a file or a stream; its strings may be cells of CSV, in which "NA" is a missing value.
    kinds
        The kind of each column at training.
    first_row
        The number of rows before this table, for error messages.
    exact
        The columns of which integers of 64 bits stay integers, of any size.
    are_cells
        Whether strings that stay strings may also be cells of CSV, in which "NA" is a missing value.
    """
    import pyarrow as pa

    columns: list[ArrowColumn] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = kinds.get(name)
        if kind == "string" and are_cells and is_string(column.type):
            columns.append(with_missing_cells(column))
        else:
            columns.append(column if kind is None else _convert(name, column, kind, first_row, name in exact))
    return pa.table(columns, names=table.column_names) if columns else table


def _convert(name: str, column: ArrowColumn, kind: Kind, first_row: int, exact: bool) -> ArrowColumn:
    """Return a column of strings as numbers, booleans or dates, or a column of numbers as strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_string(column.type):
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        return column.cast(pa.string()) if kind == "string" and is_number else column
    if kind == "string":
        return column
    if kind == "unknown":
        return pa.nulls(len(column))
    types: Mapping[Kind, pa.DataType] = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}
    cells: ArrowColumn = pc.utf8_trim_whitespace(with_missing_cells(column))
    try:
        converted: ArrowColumn = pc.cast(cells, types[kind])
        if exact and kind == "number" and (pc.max(pc.abs(converted)).as_py() or 0.0) > MAX_EXACT_INTEGER:
            return _exact_integers(cells, converted)
    except pa.ArrowInvalid:
        value = next(cell for cell in pc.unique(cells).to_pylist() if not _can_be(cell, types[kind]))
        row = first_row + int(pc.index(cells, pa.scalar(value, cells.type)).as_py()) + 1
        message = f"row {row:,} (without the header): {name!r} should be {KIND_NAMES[kind]} but is {value!r}."
        raise OtherTypeError(f"{message} Correct the cell or leave it empty.", name, "string") from None
    return converted


def _can_be(cell: str | None, kind: pa.DataType) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(cell, pa.string()).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _exact_integers(cells: ArrowColumn, numbers: ArrowColumn) -> ArrowColumn:
    """Return cells as integers if all of them are integers of 64 bits, else the numbers given."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.int64(), pa.uint64()):
        try:
            integers: ArrowColumn = pc.cast(cells, kind)
        except pa.ArrowInvalid:
            continue
        return integers
    return numbers


def with_missing_cells(column: ArrowColumn) -> ArrowColumn:
    """Return strings with null for each cell that stands for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_missing = pc.is_in(column, arrow_strings(MISSING_CELLS).cast(column.type))
    if not pc.any(is_missing).as_py():
        return column
    cells: ArrowColumn = pc.if_else(is_missing, pa.nulls(1, column.type)[0], column)
    return cells
