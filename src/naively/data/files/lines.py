"""Read a stream of bytes in blocks of whole lines, as they come if need be, and JSON lines: one object per line."""

from __future__ import annotations

import io
import json
import re
import select
from codecs import BOM_UTF8
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, BinaryIO

from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 28
MAX_NESTING = 200  # lists and objects inside each other
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
EXACT_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{1,6}(Z|[+-]\d\d:?\d\d)?$"  # with fractions of a second
LINE = "\0line"  # the column that holds each row as it is written, if that is asked for; not the name of any key
SECONDS_TO_WAIT = 0.02  # for more input, before what is available is handed on
# Arrow's names of the types of JSON.
JSON_TYPES = {int: "number", float: "number", str: "string", bool: "boolean", dict: "object", list: "array"}


def read_available(stream: BinaryIO, wait: bool = False) -> bytes:
    """Return what is available now, at least a byte unless the stream has ended; with `wait`, 4 MB."""
    read = getattr(stream, "read1", stream.read)
    parts = [read(BLOCK_BYTES)]
    n_bytes = len(parts[0])
    while parts[-1] and n_bytes < BLOCK_BYTES and (wait or _is_ready(stream)):
        parts.append(read(BLOCK_BYTES - n_bytes))
        n_bytes += len(parts[-1])
    return b"".join(parts)


def _is_ready(stream: BinaryIO) -> bool:
    """Return whether more is available, or will be soon; True where the system cannot tell."""
    try:
        return bool(select.select([stream.fileno()], [], [], SECONDS_TO_WAIT)[0])
    except (OSError, ValueError):
        return True


def line_blocks(
    given: str, head: bytes, stream: BinaryIO, *, has_quotes: bool, prompt: bool = False
) -> Generator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of lines before it.

    Parameters
    ----------
    given
        The name of the stream, for error messages.
    head, stream
        What has been read already, and the rest.
    has_quotes
        Whether lines may end within quotes, as in CSV.
    prompt
        Whether lines are handed on as soon as they are available.
    """
    rest, n_lines, at_end = head, 0, False
    while rest or not at_end:
        is_full = prompt or at_end or len(rest) >= BLOCK_BYTES
        end = len(rest) if at_end else _end_of_lines(rest, has_quotes) if is_full else 0
        if end:
            yield n_lines, rest[:end]
            n_lines, rest = n_lines + rest.count(b"\n", 0, end), rest[end:]
            continue
        if len(rest) > MAX_LINE_BYTES:
            raise InputError(f"{given}, line {n_lines + 1}: is longer than {MAX_LINE_BYTES:,} bytes: is a quote open?")
        more = read_available(stream, wait=not prompt)
        at_end, rest = not more, rest + more


def _end_of_lines(block: bytes, has_quotes: bool) -> int:
    """Return the end of the last line, that ends outside of quotes if there are any, or 0."""
    end = block.rfind(b"\n") + 1
    n_quotes = block.count(b'"', 0, end) if has_quotes else 0
    while end and n_quotes % 2:
        earlier = block.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= block.count(b'"', earlier, end)
        end = earlier
    return end


def read_json(
    given: str, head: bytes, stream: BinaryIO, prompt: bool = False, raw: bool = False
) -> Generator[pa.RecordBatch]:
    """Yield the rows of JSON lines, or of an array of objects, which is read at once; see `read_json_lines`."""
    head = head or read_available(stream)
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        return read_json_lines(given, head, stream, prompt, raw)
    return read_json_lines(given, _objects_of_array(given, head + stream.read()), io.BytesIO(), raw=raw, unit="item")


def _objects_of_array(given: str, content: bytes) -> bytes:
    """Return the objects of a JSON array as JSON lines, each as it is written.

    >>> _objects_of_array("a.json", b'[{"a": 1.50},\\n {"a":\\n 2}]')
    b'{"a": 1.50}\\n{"a": 2}\\n'
    """
    try:
        items = json.loads(content)
        text = content.decode("utf-8-sig")
    except ValueError as error:
        raise InputError(f"{given}: is not JSON ({error}).") from None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        number, item = next((n, item) for n, item in enumerate(items, start=1) if not isinstance(item, dict))
        raise InputError(f"{given}, item {number}: is of type {type(item).__name__}: give an array of objects.")
    if not items:
        raise InputError(f"{given}: has no rows: the array is empty.")
    objects, end, decode = [], text.index("[") + 1, json.JSONDecoder().raw_decode
    for _ in items:
        start = text.index("{", end)
        _, end = decode(text, start)
        objects.append(re.sub("[\r\n]+ *", " ", text[start:end]))
    return "".join(f"{line}\n" for line in objects).encode()


def read_json_lines(
    given: str, head: bytes, stream: BinaryIO, prompt: bool = False, raw: bool = False, unit: str = "line"
) -> Generator[pa.RecordBatch]:
    """Yield the rows of JSON lines; the first block decides the columns and types.

    The other arguments are those of `line_blocks`; `unit` is what messages call a line. Whole numbers are read as
    numbers, so that a fraction may follow. With `raw`, the column LINE holds each object as it is written, later blocks
    may have further keys, strings that are dates stay strings, and lists and objects are null.
    """
    import pyarrow as pa

    schema: pa.Schema | None = None
    for n_lines_before, block in line_blocks(given, head, stream, has_quotes=False, prompt=prompt):
        if not block.strip():
            continue
        _check_json(given, block, n_lines_before, unit)
        try:
            table = parse_json_lines(block, schema, can_grow=schema is None or raw)
            if raw and any(pa.types.is_timestamp(kind) for kind in table.schema.types):
                table = parse_json_lines(block, without_timestamps(table.schema))
        except pa.ArrowInvalid as error:
            raise _translate_json_error(given, str(error), block, n_lines_before, unit) from None
        if schema is None and not raw:
            table = _with_exact_times(block, table)
        if schema is None or raw:
            fields = [f.with_type(pa.float64()) if pa.types.is_integer(f.type) else f for f in table.schema]
            schema = pa.schema(fields)
            table = table.cast(schema, safe=False)  # the float nearest to a long whole number, as in later blocks
        if not table.num_columns:
            raise InputError(f"{given}: has no columns: give one JSON object per line.")
        if raw:  # lists, objects and nulls may be of another type in later blocks
            for i, field in enumerate(schema):
                if pa.types.is_nested(field.type):
                    table = table.set_column(i, field.name, pa.nulls(table.num_rows))
            schema = pa.schema([field for field in table.schema if not pa.types.is_null(field.type)])
            table = table.append_column(LINE, pa.array(_objects(block, table.num_rows), pa.large_string()))
        yield from table.to_batches()


def _check_json(given: str, block: bytes, n_lines_before: int, unit: str) -> None:
    """Refuse a block that is not UTF-8, and one that would end the process in Arrow's reader."""
    if not block.removeprefix(BOM_UTF8).lstrip().startswith(b"{"):  # such as null
        raise _translate_json_error(given, "there is no object", block, n_lines_before, unit)
    if _nesting(block) > MAX_NESTING:
        raise InputError(f"{given}: has more than {MAX_NESTING} lists or objects inside each other.")
    try:
        block.decode()
    except UnicodeDecodeError as error:
        n = n_lines_before + block.count(b"\n", 0, error.start) + 1
        raise InputError(f"{given}, {unit} {n}: is not UTF-8: convert the file with iconv.") from None


def _nesting(block: bytes) -> int:
    """Return how many lists and objects are inside each other; without those in strings if they are many.

    >>> _nesting(b'{"a": [[1], [2]]}')
    3
    """
    depth = _deepest(block.translate(None, NOT_BRACKETS))
    return depth if depth <= MAX_NESTING else _deepest(JSON_STRING.sub(b"", block).translate(None, NOT_BRACKETS))


def _deepest(brackets: bytes) -> int:
    import numpy as np

    content = np.frombuffer(brackets, np.uint8)
    is_open = (content == ord("[")) | (content == ord("{"))
    return int(np.cumsum(np.where(is_open, 1, -1), dtype=np.int32).max(initial=0))


def parse_json_lines(block: bytes, schema: pa.Schema | None = None, can_grow: bool = False) -> pa.Table:
    """Return the rows of a block; `can_grow` says whether it may have keys that are not in the schema."""
    from pyarrow import json as arrow_json

    return arrow_json.read_json(
        io.BytesIO(block),
        arrow_json.ReadOptions(block_size=len(block) + 1),
        arrow_json.ParseOptions(schema, unexpected_field_behavior="infer" if can_grow else "error"),
    )


def _with_exact_times(block: bytes, table: pa.Table) -> pa.Table:
    """Return the rows of a block with times where all strings of a column are; Arrow takes those in seconds only."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = []
    for field, column in zip(table.schema, table.columns, strict=True):
        are_times = pa.types.is_timestamp(field.type) or (
            pa.types.is_string(field.type) and pc.all(pc.match_substring_regex(column, EXACT_TIME)).as_py()
        )
        fields.append(field.with_type(pa.timestamp("us")) if are_times else field)
    schema, strings = pa.schema(fields), [f.name for f in table.schema if pa.types.is_string(f.type)]
    if all(pa.types.is_string(schema.field(name).type) for name in strings):
        return table.cast(schema)
    try:
        return parse_json_lines(block, schema)
    except pa.ArrowInvalid:  # such as a 13th month
        return table


def without_timestamps(schema: pa.Schema) -> pa.Schema:
    """Return the schema of JSON with strings where Arrow has taken strings for times."""
    import pyarrow as pa

    return pa.schema([field.with_type(_without_timestamp(field.type)) for field in schema])


def _without_timestamp(kind: Any) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_timestamp(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_timestamp(field.type)) for field in kind])
    same: pa.DataType = kind
    return same


def _objects(block: bytes, n_rows: int) -> list[str]:
    """Return the text of each object in a block, without line breaks.

    Objects need not be one per line: Arrow reads them by their braces.

    >>> _objects(b'{"a": 1.50}\\n\\n{"a":\\n2} {}\\n', 3)
    ['{"a": 1.50}', '{"a": 2}', '{}']
    """
    text = block.decode().removeprefix("\ufeff")
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    if len(lines) == n_rows and all(line[0] == "{" and line[-1] == "}" for line in lines):
        return lines
    objects, end, decode = [], 0, json.JSONDecoder().raw_decode
    while start := text.find("{", end) + 1:
        _, end = decode(text, start - 1)
        objects.append(re.sub("[\r\n]+", " ", text[start - 1 : end]))
    return objects


def _translate_json_error(given: str, message: str, block: bytes, n_lines_before: int, unit: str) -> InputError:
    """Return an error that names the first line that is not a JSON object or has a value of another type."""
    changed = re.search(r"Column\(/([^)/]+)\) changed from (\w+) to (\w+)", message)
    for number, line in enumerate(block.split(b"\n"), start=n_lines_before + 1):
        try:
            row = json.loads(line) if line.strip() else {}
            if not isinstance(row, dict):
                raise ValueError("no object")
        except ValueError as error:
            what = str(error).split(": line")[0]
            return InputError(f"{given}, {unit} {number}: is not a JSON object ({what}): give one object per line.")
        if changed is not None and JSON_TYPES.get(type(row.get(changed[1]))) == changed[3]:
            value = json.dumps(row[changed[1]], ensure_ascii=False)[:40]
            return InputError(
                f"{given}, {unit} {number}: column {changed[1]!r} is {value}, of type {changed[3]}, but was of type "
                f"{changed[2]} so far: correct it, or write null."
            )
    return InputError(f"{given}: cannot be read as JSON lines ({message}).")
