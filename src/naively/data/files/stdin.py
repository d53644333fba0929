"""Standard input, read as it comes: blocks of whole lines of CSV or JSON, in a bounded memory and with no copy on disk.

What is ready is read and handed on, so that answers can be written while more rows are on their way. A block ends at a
line end outside of quotes. What must be read by places (Parquet, Arrow, SQLite) or is written in other letters
(UTF-16, compressed) is not for here: it is copied to a file first.
"""

from __future__ import annotations

import io
import select
from collections.abc import Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from naively.data.files.columnar import not_json_lines
from naively.data.files.csv import BLOCK, Layout, OtherTypeError, as_given, explained, how_to_read, layout_of, settled
from naively.data.files.open_quote import refuse_open_quote
from naively.data.files.zero_bytes import refuse_zero_bytes
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NAME", "is_lines", "read_piped", "some"]

NAME = "standard input"
LONGEST = 1 << 28  # bytes in which a line must end
PAUSE = 0.02  # seconds after which what is there is handed on
NOT_LINES = (b"PAR1", b"ARROW1", b"SQLite format 3", b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")


def is_lines(head: bytes) -> bool:
    """Whether these first bytes are of lines of text."""
    return not head.startswith(NOT_LINES) and head[8:12] != b"DUCK"


def some(stream: BinaryIO, most: int = BLOCK, patient: bool = False) -> bytes:
    """What is ready now, at least a byte but at the end; or, patiently, as much as wanted."""
    read = getattr(stream, "read1", stream.read)
    parts = [read(most)]
    n = len(parts[0])
    while parts[-1] and n < most and (patient or _ready(stream)):
        parts.append(read(most - n))
        n += len(parts[-1])
    return b"".join(parts)


def _ready(stream: BinaryIO) -> bool:
    """Whether more is there, or will be soon; where that cannot be asked, it is waited for."""
    try:
        return bool(select.select([stream.fileno()], [], [], PAUSE)[0])
    except (OSError, ValueError):
        return True


def read_piped(head: bytes, stream: BinaryIO, types: Mapping[str, Any], raw: bool) -> Generator[pa.RecordBatch]:
    """The rows in batches; `head` is what has been read already. Columns have the types of the first block."""
    if head.lstrip()[:1] in (b"{", b"["):
        yield from _json(head, stream)
        return
    layout: Layout | None = None
    kinds: dict[str, Any] = {}
    rows = 0
    for before, block in _blocks(head, stream, raw):
        if layout is None:
            layout = layout_of(NAME, block)
            kinds = _of_strings(layout) if raw else as_given(layout, types)
        batch = _parsed(block, layout, kinds, raw, before)
        refuse_zero_bytes(NAME, batch, layout.encoding, partial(io.BytesIO, block), before)
        refuse_open_quote(NAME, batch.slice(max(batch.num_rows - 1, 0)), partial(io.BytesIO, block), before)
        if not raw:
            kinds |= {f.name: kind for f in batch.schema if (kind := _type(batch[f.name], f.name, kinds)) is not None}
            batch = _as(batch, kinds)
        rows += batch.num_rows
        if batch.num_rows:
            yield batch
    if not rows:
        raise InputError(f"{NAME}: has a header and no rows.")


def _of_strings(layout: Layout) -> dict[str, Any]:
    import pyarrow as pa

    return {name: pa.string() for name in layout.names}


def _type(column: Any, name: str, kinds: Mapping[str, Any]) -> Any:
    """The type to go on with; whole numbers are read as numbers, so that a fraction may follow."""
    import pyarrow as pa

    kind = kinds.get(name) or settled(column)
    return pa.float64() if kind is not None and pa.types.is_integer(kind) else kind


def _as(batch: pa.RecordBatch, kinds: Mapping[str, Any]) -> pa.RecordBatch:
    """The batch in which the types were found, in these types."""
    import pyarrow as pa

    for i, field in enumerate(batch.schema):
        kind = kinds.get(field.name, field.type)
        if field.type != kind:
            column = batch.column(i)
            column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
            batch = batch.set_column(i, field.name, column)
    return batch


def _parsed(block: bytes, layout: Layout, kinds: Mapping[str, Any], raw: bool, before: int) -> pa.RecordBatch:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    options = arrow_csv.ReadOptions(
        block_size=len(block) + 1,
        encoding=layout.encoding.replace("utf-8", "utf8"),
        column_names=None if before == 0 else list(layout.names),
    )
    try:
        table = arrow_csv.read_csv(io.BytesIO(block), options, **how_to_read(layout, kinds, raw))
        if any(pa.types.is_binary(field.type) for field in table.schema):
            raise pa.ArrowInvalid("invalid UTF8 data")  # Arrow takes it for bytes where it may choose the type
    except pa.ArrowInvalid as error:
        found = explained(NAME, layout, str(error), lambda: io.BytesIO(block), before)
        if isinstance(found, OtherTypeError):
            said = f"{found} It cannot be read a second time as another type: save it to a file, and give that."
            raise OtherTypeError(said, found.column, found.wider) from None
        raise found from None
    if not table.num_rows:
        return pa.RecordBatch.from_pylist([], schema=table.schema)
    return table.combine_chunks().to_batches()[0]


def _blocks(head: bytes, stream: BinaryIO, prompt: bool) -> Generator[tuple[int, bytes]]:
    """Whole lines, and how many lines came before them."""
    rest, before, ended = head, 0, False
    while rest or not ended:
        full = prompt or ended or len(rest) >= BLOCK
        end = len(rest) if ended else _end_of_lines(rest) if full else 0
        if end:
            yield before, rest[:end]
            before, rest = before + rest.count(b"\n", 0, end), rest[end:]
            continue
        if len(rest) > LONGEST:
            raise InputError(f"{NAME}, line {before + 1}: does not end within {LONGEST:,} bytes: is a quote open?")
        more = some(stream, BLOCK, patient=not prompt)
        ended, rest = not more, rest + more


def _end_of_lines(block: bytes) -> int:
    """Where the last line ends that is outside of quotes, or 0."""
    end = block.rfind(b"\n") + 1
    quotes = block.count(b'"', 0, end)
    while end and quotes % 2:
        earlier = block.rfind(b"\n", 0, end - 1) + 1
        quotes -= block.count(b'"', earlier, end)
        end = earlier
    return end


def _json(head: bytes, stream: BinaryIO) -> Generator[pa.RecordBatch]:
    """JSON lines; the columns and types are those of the first block."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    schema: pa.Schema | None = None
    for before, block in _blocks(head, stream, prompt=True):
        options = arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "error"
        )
        if not block.strip():
            continue
        try:
            reading = arrow_json.ReadOptions(block_size=len(block) + 1)
            table = arrow_json.read_json(io.BytesIO(block), reading, options)
            if schema is None:
                schema = pa.schema(
                    [f.with_type(pa.float64()) if pa.types.is_integer(f.type) else f for f in table.schema]
                )
                table = table.cast(schema)
        except pa.ArrowInvalid as error:
            raise not_json_lines(NAME, str(error), io.BytesIO(block), before) from None
        yield from table.to_batches()
