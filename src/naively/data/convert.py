"""Convert columns of files and batches to the kinds that they had at training."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from naively.data.columns import MAX_EXACT_INTEGER, arrow_strings, is_string
from naively.data.files.bad_rows import BadRows
from naively.data.files.cells import Cells
from naively.data.files.csv import OtherTypeError
from naively.data.kinds import Kind
from naively.data.plain import CellValue
from naively.data.views import Value

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowColumn

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
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
    table: pa.Table,
    kinds: Mapping[str, Kind],
    first_row: int,
    exact: Collection[str],
    bad: BadRows | None = None,
    cells: Cells | None = None,
) -> pa.Table:
    """Return the table with the columns named in `kinds` converted to these kinds.

    Parameters
    ----------
    table
        A table of a file or a stream. Strings that are cells of CSV (`Cells.marked`) may be missing values; a string of
        another format is a missing value only where it should be a number, a boolean or a date.
    kinds
        The kind of each column at training.
    first_row
        The number of rows before this table, for error messages.
    exact
        The columns of which integers of 64 bits stay integers, of any size.
    bad
        Collects the rows with a cell that cannot be converted, which becomes missing; by default it is an error.
    cells
        How numbers, booleans and dates are written among strings that are not marked as cells.
    """
    import pyarrow as pa

    bad = bad or BadRows()
    marked = Cells.marked(table.schema)
    cells = marked or cells or Cells()
    columns: list[ArrowColumn] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = kinds.get(name)
        if kind == "string" and is_string(column.type):
            columns.append(column if marked is None else marked.with_missing(column))
        elif kind is None:
            columns.append(column)
        elif not is_string(column.type):
            columns.append(_as_string(column) if kind == "string" else column)
        else:
            columns.append(_convert(name, column, kind, first_row, name in exact, cells, bad))
    return pa.table(columns, names=table.column_names) if columns else table


def _as_string(column: ArrowColumn) -> ArrowColumn:
    """Return numbers and dates as strings, missing if they are NaN, other values as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    is_kind = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date)
    return column.cast(pa.string()) if any(is_it(column.type) for is_it in is_kind) else column


def _convert(
    name: str, column: ArrowColumn, kind: Kind, first_row: int, exact: bool, cells: Cells, bad: BadRows
) -> ArrowColumn:
    """Return a column of strings as numbers, booleans or dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "unknown":
        return pa.nulls(len(column))
    types: Mapping[Kind, pa.DataType] = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us")}
    texts = cells.with_missing(column)
    converted = _cast(texts, types[kind])
    if converted is None:  # there are blanks or decimal commas, which few columns have
        trimmed: ArrowColumn = pc.utf8_trim_whitespace(texts)
        texts = cells.with_points(trimmed) if kind == "number" else trimmed
        converted = _cast(texts, types[kind])
    if converted is None:
        cells_once: list[CellValue] = pc.unique(texts.drop_null()).to_pylist()
        wrong = {cell for cell in cells_once if _cast(pa.array([cell]), types[kind]) is None}
        rows = [row for row, cell in enumerate(texts.to_pylist()) if cell in wrong]
        reasons = {
            first_row + row: f"column {name!r} is {trimmed[row].as_py()!r}, but should be {KIND_NAMES[kind]}."
            for row in (rows if bad.are_allowed else rows[:1])
        }
        if not bad.are_allowed:
            [(row, reason)] = reasons.items()
            advice = "Correct the cell or leave it empty."
            if kind == "number" and cells.decimal == "." and DECIMAL_COMMA.fullmatch(trimmed[rows[0]].as_py()):
                advice = "If it has a decimal comma, give --decimal , (in Python: Files(path, decimal=','))."
            message = f"{reason} {advice}"
            raise OtherTypeError(message, name, "string", row)
        for row, reason in reasons.items():
            bad.cells.setdefault(row, reason)
        is_wrong = pc.is_in(texts, arrow_strings(sorted(wrong)).cast(texts.type))
        texts = pc.if_else(is_wrong, pa.nulls(1, texts.type)[0], texts)
        converted = _cast(texts, types[kind])
        assert converted is not None  # each remaining cell can be converted
    if exact and kind == "number" and (pc.max(pc.abs(converted)).as_py() or 0.0) > MAX_EXACT_INTEGER:
        return _exact_integers(texts, converted)
    return converted


def _cast(texts: ArrowColumn, kind: pa.DataType) -> ArrowColumn | None:
    """Return strings as another type, None if one cannot be; times with a zone (2020-12-31T23:59Z) are those of UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with suppress(pa.ArrowInvalid):
        converted: ArrowColumn = pc.cast(texts, kind)
        return converted
    if pa.types.is_timestamp(kind):
        at_midnight = pc.replace_substring_regex(texts, r"^(\d{4}-\d\d-\d\d)$", r"\1T00:00")
        with_zone = pc.replace_substring_regex(at_midnight, r"^(.{10}[T ][\d:.]+)$", r"\1Z")
        with suppress(pa.ArrowInvalid):
            in_utc: ArrowColumn = pc.cast(pc.cast(with_zone, pa.timestamp("us", "UTC")), kind)
            return in_utc
    return None


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
