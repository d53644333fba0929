"""Read CSV from standard input as it comes: blocks of whole lines, in a bounded memory, without a copy on disk.

Rows are handed on as soon as they are available, so that predictions are written while more rows arrive. A block ends
at the end of a line outside of quotes.
"""

from __future__ import annotations

import io
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from naively.data.files.csv import (
    Layout,
    OtherTypeError,
    Types,
    arrow_options,
    arrow_types,
    find_layout,
    refuse_binary,
    refuse_open_quote,
    refuse_zero_bytes,
    translate_error,
    type_to_read_as,
)
from naively.data.files.lines import line_blocks
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "standard input"


def read_csv_lines(head: bytes, stream: BinaryIO, types: Types, raw: bool) -> Generator[pa.RecordBatch]:
    """Yield the rows of CSV in batches; `head` is what has been read already."""
    layout: Layout | None = None
    column_types: dict[str, pa.DataType | None] = {}
    n_rows = 0
    for n_lines_before, block in line_blocks(NAME, head, stream, has_quotes=True, prompt=raw):
        opened = partial(io.BytesIO, block)
        if layout is None:
            layout = find_layout(NAME, block)
            column_types = dict(arrow_types(layout, types, raw))
        batch = _parse(block, layout, column_types, raw, n_lines_before)
        refuse_zero_bytes(NAME, batch, layout, opened, n_lines_before)
        refuse_open_quote(NAME, batch.slice(max(batch.num_rows - 1, 0)), opened, n_lines_before)
        if not raw:
            batch = _settle_types(batch, column_types)
        n_rows += batch.num_rows
        if batch.num_rows:
            yield batch
    if not n_rows:
        raise InputError(f"{NAME}: has a header and no rows.")


def _settle_types(batch: pa.RecordBatch, types: dict[str, pa.DataType | None]) -> pa.RecordBatch:
    """Decide the types of columns that have their first values in this batch, and return the batch in its types.

    Whole numbers are read as numbers, so that a fraction may follow.
    """
    import pyarrow as pa

    for i, field in enumerate(batch.schema):
        column = batch.column(i)
        kind = types.get(field.name) or type_to_read_as(column)
        kind = pa.float64() if kind is not None and pa.types.is_integer(kind) else kind
        types[field.name] = kind
        if kind is not None and field.type != kind:
            converted = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
            batch = batch.set_column(i, field.name, converted)
    return batch


def _parse(
    block: bytes, layout: Layout, types: dict[str, pa.DataType | None], raw: bool, n_lines_before: int
) -> pa.RecordBatch:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    known = {name: kind for name, kind in types.items() if kind is not None}
    options = arrow_options(layout, known, raw, len(block) + 1, has_header=n_lines_before == 0)
    try:
        table = arrow_csv.read_csv(io.BytesIO(block), *options)
        refuse_binary(table.schema)
    except pa.ArrowInvalid as error:
        problem = translate_error(NAME, layout, str(error), partial(io.BytesIO, block), n_lines_before)
        if isinstance(problem, OtherTypeError):
            problem = InputError(f"{problem} Standard input cannot be read again as another type: save it to a file.")
        raise problem from None
    if not table.num_rows:
        return pa.RecordBatch.from_pylist([], schema=table.schema)
    return table.combine_chunks().to_batches()[0]
