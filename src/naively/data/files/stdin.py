"""Read standard input as it comes: blocks of whole lines of CSV or JSON, in a bounded memory, without a copy on disk.

Rows are handed on as soon as they are available, so that predictions are written while more rows arrive. A block ends
at the end of a line outside of quotes. Formats that need random access (Parquet, Arrow, SQLite), UTF-16 and compressed
input are not read here: `files.read` copies them to a file first.
"""

from __future__ import annotations

import io
import select
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from naively.data.files.columnar import json_schema, translate_json_error
from naively.data.files.csv import (
    BLOCK_BYTES,
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
from naively.data.files.paths import COMPRESSION_MAGIC, format_by_content
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "standard input"
MAX_LINE_BYTES = 1 << 28
SECONDS_TO_WAIT = 0.02  # for more input, before what is available is handed on
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def is_lines(head: bytes) -> bool:
    """Return whether these first bytes are lines of text."""
    return format_by_content(head) is None and not head.startswith((*COMPRESSION_MAGIC.values(), *UTF_16_MARKS))


def read_available(stream: BinaryIO, max_bytes: int = BLOCK_BYTES, wait: bool = False) -> bytes:
    """Return what is available now, at least a byte unless the stream has ended; with `wait`, max_bytes."""
    read = getattr(stream, "read1", stream.read)
    parts = [read(max_bytes)]
    n_bytes = len(parts[0])
    while parts[-1] and n_bytes < max_bytes and (wait or _is_ready(stream)):
        parts.append(read(max_bytes - n_bytes))
        n_bytes += len(parts[-1])
    return b"".join(parts)


def _is_ready(stream: BinaryIO) -> bool:
    """Return whether more is available, or will be soon; True where the system cannot tell."""
    try:
        return bool(select.select([stream.fileno()], [], [], SECONDS_TO_WAIT)[0])
    except (OSError, ValueError):
        return True


def read_lines(head: bytes, stream: BinaryIO, types: Types, raw: bool) -> Generator[pa.RecordBatch]:
    """Yield the rows of CSV or JSON lines in batches; `head` is what has been read already."""
    yield from _read_json(head, stream) if head.lstrip()[:1] in (b"{", b"[") else _read_csv(head, stream, types, raw)


def _read_csv(head: bytes, stream: BinaryIO, types: Types, raw: bool) -> Generator[pa.RecordBatch]:
    layout: Layout | None = None
    column_types: dict[str, pa.DataType | None] = {}
    n_rows = 0
    for n_lines_before, block in _blocks(head, stream, prompt=raw):
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


def _blocks(head: bytes, stream: BinaryIO, prompt: bool) -> Generator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of lines before it."""
    rest, n_lines, at_end = head, 0, False
    while rest or not at_end:
        is_full = prompt or at_end or len(rest) >= BLOCK_BYTES
        end = len(rest) if at_end else _end_of_lines(rest) if is_full else 0
        if end:
            yield n_lines, rest[:end]
            n_lines, rest = n_lines + rest.count(b"\n", 0, end), rest[end:]
            continue
        if len(rest) > MAX_LINE_BYTES:
            raise InputError(f"{NAME}, line {n_lines + 1}: is longer than {MAX_LINE_BYTES:,} bytes: is a quote open?")
        more = read_available(stream, wait=not prompt)
        at_end, rest = not more, rest + more


def _end_of_lines(block: bytes) -> int:
    """Return the end of the last line that ends outside of quotes, or 0."""
    end = block.rfind(b"\n") + 1
    n_quotes = block.count(b'"', 0, end)
    while end and n_quotes % 2:
        earlier = block.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= block.count(b'"', earlier, end)
        end = earlier
    return end


def _read_json(head: bytes, stream: BinaryIO) -> Generator[pa.RecordBatch]:
    """Yield the rows of JSON lines; the first block decides the columns and types."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    schema: pa.Schema | None = None
    for n_lines_before, block in _blocks(head, stream, prompt=True):
        if not block.strip():
            continue
        parse = arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "error"
        )
        try:
            table = arrow_json.read_json(io.BytesIO(block), arrow_json.ReadOptions(block_size=len(block) + 1), parse)
            if schema is None:
                schema = json_schema(table.schema)
                table = table.cast(schema)
        except pa.ArrowInvalid as error:
            raise translate_json_error(NAME, str(error), io.BytesIO(block), n_lines_before) from None
        yield from table.to_batches()
