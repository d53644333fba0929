"""Files of cells between commas, tabs or semicolons, read by Arrow in blocks: one pass, a bounded memory.

The types are those of the first block. A cell further on that does not fit its column's type raises
`OtherTypeError`, which knows a type that fits, so that the reader can start again with that: no cell is lost.
Strings that come back often are read as codes (a dictionary), which is faster to read and to count.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from naively.data.files.batches import ReadProgress
from naively.data.files.open_quote import refuse_open_quote
from naively.data.files.paths import DataFile
from naively.data.files.zero_bytes import refuse_zero_bytes
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BLOCK",
    "MISSING_CELLS",
    "Layout",
    "OtherTypeError",
    "as_given",
    "comes_back",
    "explained",
    "how_to_read",
    "layout_of",
    "read_delimited",
    "settled",
]

BLOCK = 4 << 20
PEEK = 1 << 20
MISSING_CELLS = ("", "NA", "N/A", "#N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL")  # as R and pandas have them


OTHER_COLUMNS = "\0"  # in a mapping of types, stands for all columns that it does not name; not in any file's header


class OtherTypeError(InputError):
    """A cell that does not have the type of its column so far; `column` may be read as `wider` instead."""

    def __init__(self, message: str, column: str, wider: str) -> None:
        """Say which column, and what it can be read as."""
        super().__init__(message)
        self.column = column
        self.wider = wider


@dataclass(frozen=True)
class Layout:
    """How a file is written."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]


def read_delimited(
    file: DataFile, types: Mapping[str, Any], raw: bool = False, progress: ReadProgress | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows in batches; `types` are given by name, "number" or "string", or an Arrow type; raw: all strings."""
    import pyarrow as pa

    layout = _layout(file)
    try:
        kinds = {name: pa.string() for name in layout.names} if raw else _types(file, layout, types)
        unknown = [name for name, kind in kinds.items() if kind is None]
        whole: dict[str, Any] = {name: kind or pa.int64() for name, kind in kinds.items()}
        stream = file.open()
        if progress is not None:
            progress.follow(stream, file)
        last: pa.RecordBatch | None = None
        for batch in _open(stream, layout, whole, raw):
            refuse_zero_bytes(file.given, batch, layout.encoding, file.open)
            yield _with_gaps(batch, unknown)
            last = batch.slice(max(batch.num_rows - 1, 0))
        if last is not None:
            refuse_open_quote(file.given, last, file.open)
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error):  # a header only: who reads all files says so, if none has a row
            return
        raise explained(file.given, layout, str(error), file.open) from None
    except (OSError, UnicodeError, EOFError) as error:
        raise InputError(f"{file.given}: cannot be read to its end ({error}).") from None


def _with_gaps(batch: pa.RecordBatch, unknown: list[str]) -> pa.RecordBatch:
    """Columns that had no value so far as columns without a type."""
    import pyarrow as pa

    for name in unknown:
        place = batch.schema.get_field_index(name)
        if batch.column(place).null_count == batch.num_rows:
            batch = batch.set_column(place, name, pa.nulls(batch.num_rows))
    return batch


def _layout(file: DataFile) -> Layout:
    try:
        with file.open() as stream:
            head = stream.read(PEEK)
    except OSError as error:
        raise InputError(f"{file.given}: cannot be read ({error}).") from None
    return layout_of(file.given, head, "\t" if file.format == "tsv" else None)


def layout_of(given: str, head: bytes, delimiter: str | None = None) -> Layout:
    """How a file is written, by its first bytes."""
    head = head[:PEEK]
    encoding = _encoding(given, head)
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not text.strip():
        raise InputError(f"{given}: the file is empty.")
    delimiter = delimiter or _delimiter(text)
    names = next(row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    double = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if double:
        listed = ", ".join(name or "'' (no name)" for name in double)
        raise InputError(f"{given}, line 1: column names found more than once: {listed}. Rename them.")
    return Layout(encoding, delimiter, tuple(names))


def _encoding(given: str, head: bytes) -> str:
    """UTF-16 by its mark; UTF-8; or Windows-1252's superset of Latin-1, where every byte is a letter."""
    if head[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        raise InputError(f"{given}: is UTF-32, which is not read: convert it to UTF-8 with iconv.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if b"\0" in head:
        raise InputError(
            f"{given}: is not text (it holds zero bytes): give CSV (UTF-16 with its mark), JSON lines, Parquet, Arrow."
        )
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4 or len(head) < PEEK:  # else a letter was cut in two
            return "latin-1"
    return "utf-8"


def _delimiter(text: str) -> str:
    """The sign that splits the first lines into most cells, the same number in each; a comma if none does."""
    lines = text.splitlines(keepends=True)[:20]
    best, most = ",", 1
    for sign in ",;\t|":
        widths = [len(row) for row in csv.reader(lines, delimiter=sign) if row]
        if widths and widths[0] > most and sum(width == widths[0] for width in widths) * 2 > len(widths):
            best, most = sign, widths[0]
    return best


def _open(stream: Any, layout: Layout, types: Mapping[str, Any], raw: bool = False) -> Any:
    from pyarrow import csv as arrow_csv

    encoding = layout.encoding.replace("utf-8", "utf8")
    return arrow_csv.open_csv(
        stream,
        read_options=arrow_csv.ReadOptions(block_size=BLOCK, encoding=encoding),
        **how_to_read(layout, types, raw),
    )


def how_to_read(layout: Layout, types: Mapping[str, Any], raw: bool) -> dict[str, Any]:
    """What Arrow must know of cells and gaps."""
    from pyarrow import csv as arrow_csv

    return {
        "parse_options": arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict(types), strings_can_be_null=not raw, null_values=list(MISSING_CELLS)
        ),
    }


def _types(file: DataFile, layout: Layout, given: Mapping[str, Any]) -> dict[str, Any]:
    """The type of each column: as given, or that of the first block; None for a column without a value there."""
    import pyarrow as pa

    fixed = as_given(layout, given)
    reader = _open(file.open(), layout, fixed)
    first = next(iter(reader), None)
    if first is None:
        return {field.name: None if pa.types.is_null(field.type) else field.type for field in reader.schema}
    if any(pa.types.is_binary(field.type) for field in first.schema):
        raise pa.ArrowInvalid("invalid UTF8 data")  # Arrow takes it for bytes instead, if it is in the first block
    return {name: fixed.get(name, settled(first.column(i))) for i, name in enumerate(reader.schema.names)}


def as_given(layout: Layout, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types given for columns of the file as Arrow types; "date" and "unknown" are left to be inferred."""
    import pyarrow as pa

    words = {"number": pa.float64(), "string": pa.string(), "boolean": pa.bool_()}
    default = given.get(OTHER_COLUMNS)
    types = {name: given.get(name, default) for name in layout.names}
    types = {name: words.get(kind, kind) for name, kind in types.items()}
    return {name: kind for name, kind in types.items() if isinstance(kind, pa.DataType)}


def settled(column: Any) -> Any:
    """The type to read on with; few strings that come back often are a dictionary."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return None
    if pa.types.is_string(column.type) and comes_back(column):
        return pa.dictionary(pa.int32(), pa.string())
    return column.type


def comes_back(column: Any) -> bool:
    """Whether the strings of a column come twice or more on average; else it may be text: `schema.reads_like_text`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes: Any = column.indices if pa.types.is_dictionary(column.type) else column  # a dictionary may have more
    return bool(2 * int(pc.count_distinct(codes).as_py()) <= len(column) - column.null_count)


def explained(given: str, layout: Layout, message: str, opened: Callable[[], Any], before: int = 0) -> InputError:
    """Arrow's message as one that names file, line and column, and what to do.

    `opened` gives the bytes again, from the line after the first `before` on.
    """

    def line_where(found: Callable[[list[str]], bool]) -> int | str:
        return _line_where(opened(), layout, found, before)

    cell = re.search(r"In CSV column #(\d+):.*? to ([\w\[\], <>=]+): invalid value '(.*)'", message, re.DOTALL)
    if cell:
        place, kind, value = int(cell[1]), cell[2], cell[3]
        name = layout.names[place]
        line = line_where(lambda row: len(row) > place and row[place] == value)
        wider = "number" if kind == "int64" and _is_number(value) else "string"
        expected = {"double": "a number", "int64": "a whole number", "bool": "true or false"}.get(kind, f"a {kind}")
        return OtherTypeError(
            f"{given}, line {line}: column {name!r} is {value!r}, but should be {expected}.", name, wider
        )
    ragged = re.search(r"Expected (\d+) columns, got (\d+)", message)
    if ragged:
        line = line_where(lambda row: len(row) != len(layout.names))
        return InputError(
            f"{given}, line {line}: {ragged[2]} cells where the header has {ragged[1]}: mend the line, or put "
            "cells that hold the delimiter in quotes."
        )
    if "Empty CSV file" in message:
        return InputError(f"{given}: has a header and no rows.")
    if "UTF8" in message:
        line = _line_not_utf8(opened(), before)
        return InputError(f"{given}, line {line}: is not UTF-8, as all before it is: convert the file with iconv.")
    return InputError(f"{given}: cannot be read as CSV ({message}).")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _line_where(stream: Any, layout: Layout, found: Callable[[list[str]], bool], before: int) -> int | str:
    """The line where the first row begins for which something holds; only asked when there is an error to report."""
    with stream:
        text = io.TextIOWrapper(stream, encoding=layout.encoding, errors="replace", newline="")
        rows = csv.reader(text, delimiter=layout.delimiter)
        line = before + 1
        try:
            for row in rows:
                if row and line > 1 and found(row):
                    return line
                line = before + rows.line_num + 1
        except csv.Error:
            return line
    return "?"


def _line_not_utf8(stream: Any, before: int) -> int | str:
    """The number of the first line that is not UTF-8."""
    with stream:
        for number, line in enumerate(io.BufferedReader(stream), start=before + 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return "?"
