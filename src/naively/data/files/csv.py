"""Read files of cells between commas, tabs or semicolons: in blocks, in one pass, in a bounded memory.

The first block decides the types. A later cell that does not have its column's type raises `OtherTypeError`, which
names a type that fits, so that the caller can read again from the start: no cell is lost. Strings that repeat are read
as codes of a dictionary, which are faster to read and to count.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import numpy as np

from naively.data.files.bad_rows import BadRows, skip_silently, wrong_width
from naively.data.files.batches import ReadProgress
from naively.data.files.cells import Cells
from naively.data.files.lines import BLOCK_BYTES, line_blocks
from naively.data.files.paths import STANDARD_INPUT, DataFile, Files
from naively.data.names import Numbered, unique_names
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    from naively.data.columns import ArrowArray, ArrowColumn

    ArrowOptions = tuple[arrow_csv.ReadOptions, arrow_csv.ParseOptions, arrow_csv.ConvertOptions]

Types: TypeAlias = Mapping[str, "str | pa.DataType"]  # "number", "string", "boolean", or an Arrow type, by column name

SMALL_BLOCK_BYTES = 1 << 20  # of blocks whose cells are strings: as fast as larger ones
LARGE_BLOCK_BYTES = 16 << 20  # if a row is longer
STRADDLING = "straddling object"  # in Arrow's message: a row is longer than a block
MAX_CELL_CHARACTERS = 100_000  # for Python's reader of CSV
HEAD_BYTES = 1 << 20  # that show encoding, delimiter and header
OTHER_COLUMNS = "\0"  # in a mapping of types, stands for all columns that it does not name; not in any file's header
UNDECODED = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as Python's "surrogateescape" has them
EXPECTED_VALUES = {"double": "a number", "int64": "a whole number", "bool": "true or false"}


class OtherTypeError(InputError):
    """A cell that does not have the type of its column so far; `column` may be read as `wider` instead.

    `row` is its row, counted from 0 over all files, if file and line are not known yet. `message` is without advice.
    """

    def __init__(self, message: str, column: str, wider: str, row: int | None = None, advice: str = "") -> None:
        """Name the column, and the type that it can be read as."""
        text = f"{message} {advice}".rstrip()
        super().__init__(text if row is None else f"row {row + 1:,}: {text}")
        self.message, self.advice = message, advice
        self.column = column
        self.wider = wider
        self.row = row


@dataclass(frozen=True)
class Layout:
    """How a file is written; `encoding` is a name that Python and Arrow know."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    has_header: bool = True

    def rows(self, stream: BinaryIO, n_lines_before: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a file or a block, each with the line in which it begins; not the header."""
        text = io.TextIOWrapper(stream, encoding=self.encoding, errors="replace", newline="")
        rows = csv.reader(text, delimiter=self.delimiter)
        line, is_header = n_lines_before + 1, self.has_header and not n_lines_before
        for row in rows:
            if row and not is_header:
                yield line, row
            is_header = is_header and not row
            line = n_lines_before + rows.line_num + 1


@dataclass(frozen=True)
class Source:
    """A file or a block of standard input, opened again to find the line of an error."""

    given: str
    open: Callable[[], BinaryIO]
    n_lines_before: int = 0

    def line_of_row(self, layout: Layout, is_it: Callable[[list[str]], bool]) -> int | str:
        """Return the line in which the first row begins for which `is_it` is true."""
        try:
            with self.open() as stream:
                for line, row in layout.rows(stream, self.n_lines_before):
                    if is_it(row):
                        return line
        except csv.Error:
            pass
        return "?"

    def first_line(self, encoding: str, is_it: Callable[[str], bool]) -> int | str:
        """Return the first line for which `is_it` is true; bytes that cannot be decoded are surrogates."""
        with self.open() as stream:
            lines = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="\n")
            return next((number for number, line in enumerate(lines, self.n_lines_before + 1) if is_it(line)), "?")


def read_csv(
    file: DataFile, how: Files, types: Types, raw: bool, progress: ReadProgress, bad: BadRows
) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches; with `raw`, all cells as strings, none of them missing, marked by `Cells.mark`."""
    import pyarrow as pa

    layout, source = layout_of(file, how), Source(file.given, file.open)
    try:
        column_types = _infer_types(file, how, layout, _arrow_types(layout, types, raw))
        empty = [name for name, kind in column_types.items() if kind is None]
        known = {name: kind or pa.int64() for name, kind in column_types.items()}
        skip = bad.skip_line(source, layout) if bad.are_allowed else None
        options = partial(_arrow_options, how, layout, known, raw, layout.has_header, skip=skip)
        last: pa.RecordBatch | None = None
        mark = Cells.in_files(how).mark()
        is_small = raw and skip is None  # reading again would report rows that are skipped twice
        blocks = (
            _read_long_rows(file, options, layout.encoding, progress)
            if is_small
            else _read_blocks(file, options, BLOCK_BYTES, layout.encoding, progress)
        )
        for batch in blocks:
            _refuse_zero_bytes(source, batch, layout)
            yield batch.replace_schema_metadata(mark) if raw else _with_null_columns(batch, empty)
            last = batch.slice(max(batch.num_rows - 1, 0))
        if last is not None:
            _refuse_open_quote(source, last)
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error):  # a header only; an error if all files are so
            return
        raise _translate_error(source, how, layout, str(error)) from None
    except (OSError, UnicodeError, EOFError) as error:
        raise InputError(f"{file.given}: cannot be read to its end ({error}).") from None


def _read_long_rows(
    file: DataFile, options: Callable[..., ArrowOptions], encoding: str, progress: ReadProgress
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of small blocks. From the first row that is longer than a block on, read larger blocks."""
    import pyarrow as pa

    n_yielded = 0
    try:
        for batch in _read_blocks(file, options, SMALL_BLOCK_BYTES, encoding, progress):
            yield batch
            n_yielded += batch.num_rows
        return
    except pa.ArrowInvalid as error:
        if STRADDLING not in str(error):
            raise
    for batch in _read_blocks(file, options, LARGE_BLOCK_BYTES, encoding, progress):
        n_known = min(n_yielded, batch.num_rows)
        n_yielded -= n_known
        if n_known < batch.num_rows:
            yield batch.slice(n_known)


def _read_blocks(
    file: DataFile, options: Callable[..., ArrowOptions], block_bytes: int, encoding: str, progress: ReadProgress
) -> Iterator[pa.RecordBatch]:
    """Yield a batch for each block. Arrow reads 32 blocks ahead."""
    from pyarrow import csv as arrow_csv

    n_batches = 0
    on_disk, stream = file.open_both()
    is_transcoded = encoding != "utf8"  # then the size of a block is not that of its bytes in the file
    progress.follow(on_disk, stream, None if is_transcoded else lambda: n_batches * block_bytes)
    with on_disk, stream:
        for batch in arrow_csv.open_csv(stream, *options(block_bytes=block_bytes)):
            n_batches += 1
            yield batch


def layout_of(file: DataFile, how: Files) -> Layout:
    """Return how a file is written."""
    try:
        with file.open() as stream:
            head = stream.read(HEAD_BYTES)
    except OSError as error:
        raise InputError(f"{file.given}: cannot be read ({error}).") from None
    return _find_layout(file.given, head, how, "\t" if file.format == "tsv" else None)


def _with_null_columns(batch: pa.RecordBatch, empty: list[str]) -> pa.RecordBatch:
    """Return the batch with columns that have had no value so far as columns without a type."""
    import pyarrow as pa

    for name in empty:
        position = batch.schema.get_field_index(name)
        if batch.column(position).null_count == batch.num_rows:
            batch = batch.set_column(position, name, pa.nulls(batch.num_rows))
    return batch


def read_csv_lines(
    head: bytes, stream: BinaryIO, how: Files, types: Types, raw: bool, bad: BadRows
) -> Generator[pa.RecordBatch]:
    """Yield the rows of standard input as they come, so that predictions are written while more rows arrive.

    `head` is what has been read already. There is no copy on disk, so the types of the first block stay.
    """
    layout: Layout | None = None
    column_types: dict[str, pa.DataType | None] = {}
    n_rows = 0
    for n_lines_before, block in line_blocks(STANDARD_INPUT, head, stream, has_quotes=True, prompt=raw):
        source = Source(STANDARD_INPUT, partial(io.BytesIO, block), n_lines_before)
        if layout is None:
            layout = _find_layout(STANDARD_INPUT, block, how)
            column_types = dict(_arrow_types(layout, types, raw))
        batch = _parse(block, how, layout, column_types, raw, source, bad)
        _refuse_zero_bytes(source, batch, layout)
        _refuse_open_quote(source, batch)
        batch = batch.replace_schema_metadata(Cells.in_files(how).mark()) if raw else _settle_types(batch, column_types)
        n_rows += batch.num_rows
        if batch.num_rows:
            yield batch
    if not n_rows:
        raise InputError(f"{STANDARD_INPUT}: has a header and no rows.")


def _settle_types(batch: pa.RecordBatch, types: dict[str, pa.DataType | None]) -> pa.RecordBatch:
    """Decide the types of columns that have their first values in this batch, and return the batch in its types.

    Whole numbers are read as numbers, so that a fraction may follow.
    """
    import pyarrow as pa

    for i, field in enumerate(batch.schema):
        column = batch.column(i)
        kind = types.get(field.name) or _type_to_read_as(column)
        kind = pa.float64() if kind is not None and pa.types.is_integer(kind) else kind
        types[field.name] = kind
        if kind is not None and field.type != kind:
            converted = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind, safe=False)
            batch = batch.set_column(i, field.name, converted)
    return batch


def _parse(
    block: bytes,
    how: Files,
    layout: Layout,
    types: dict[str, pa.DataType | None],
    raw: bool,
    source: Source,
    bad: BadRows,
) -> pa.RecordBatch:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    known = {name: kind for name, kind in types.items() if kind is not None}
    has_header = layout.has_header and source.n_lines_before == 0
    skip = bad.skip_line(source, layout) if bad.are_allowed else None
    options = _arrow_options(how, layout, known, raw, has_header, len(block) + 1, skip)
    try:
        table = arrow_csv.read_csv(io.BytesIO(block), *options)
        _refuse_binary(table.schema)
    except pa.ArrowInvalid as error:
        problem = _translate_error(source, how, layout, str(error))
        if isinstance(problem, OtherTypeError):
            problem = InputError(
                f"{problem.message} Standard input cannot be read again as another type: save it to a file."
            )
        raise problem from None
    if not table.num_rows:
        return pa.RecordBatch.from_pylist([], schema=table.schema)
    return table.combine_chunks().to_batches()[0]


def _find_layout(given: str, head: bytes, how: Files, delimiter: str | None = None) -> Layout:
    """Return how a file is written, as its first bytes show, unless it is given."""
    head = head[:HEAD_BYTES]
    encoding = how.encoding if how.encoding not in (None, "utf-8", "utf-8-sig") else _encoding(given, head)
    if how.encoding in ("utf-8", "utf-8-sig") and encoding == "latin-1":
        encoding = "utf8"  # so that the reader names the line that is not UTF-8
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not text.strip():
        raise InputError(f"{given}: the file is empty.")
    delimiter = how.delimiter or delimiter or _delimiter(text, how.decimal)
    try:
        first = next(row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    except csv.Error as error:
        raise InputError(f"{given}, line 1: cannot be read as names of columns ({error}).") from None
    if not how.header:
        return Layout(encoding, delimiter, tuple(Numbered(len(first))), has_header=False)
    return Layout(encoding, delimiter, unique_names(first, f"{given}, line 1: "))


def _encoding(given: str, head: bytes) -> str:
    """Return UTF-16 by its byte-order mark, UTF-8, or Latin-1, in which every byte is a character."""
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
        if error.start < len(head) - 4 or len(head) < HEAD_BYTES:  # else the head ends within a character
            return "latin-1"
    return "utf8"


def _delimiter(text: str, decimal: str = ".") -> str:
    """Return the character that splits the first lines into most cells, equally many in most lines; else a comma.

    A comma that is the decimal sign is a delimiter only if no other character is.
    """
    lines = list(
        islice(io.StringIO(text[:MAX_CELL_CHARACTERS], newline=""), 20)
    )  # `splitlines` also splits at form feeds and the like
    best, most_cells = ",", 1
    for delimiter in ";\t|" if decimal == "," else ",;\t|":
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if widths and widths[0] > most_cells and sum(width == widths[0] for width in widths) * 2 > len(widths):
            best, most_cells = delimiter, widths[0]
    return best


def _arrow_options(
    how: Files,
    layout: Layout,
    types: Types,
    raw: bool,
    has_header: bool,
    block_bytes: int | None = None,
    skip: Callable[[arrow_csv.InvalidRow], Literal["skip", "error"]] | None = None,
) -> ArrowOptions:
    """Return Arrow's options for blocks, cells and missing values."""
    from pyarrow import csv as arrow_csv

    names = None if has_header else list(layout.names)
    return (
        arrow_csv.ReadOptions(block_size=block_bytes or BLOCK_BYTES, encoding=layout.encoding, column_names=names),
        arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True, invalid_row_handler=skip),
        arrow_csv.ConvertOptions(
            column_types=dict(types),
            strings_can_be_null=not raw,
            null_values=list(how.missing_values),
            decimal_point=how.decimal,
        ),
    )


def _infer_types(
    file: DataFile, how: Files, layout: Layout, given: Mapping[str, pa.DataType]
) -> Mapping[str, pa.DataType | None]:
    """Return the type of each column: as given, or that of the first block; None for a column without a value."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if len(given) == len(layout.names):
        return given
    skip = None if how.bad_rows == "stop" else skip_silently
    options = _arrow_options(how, layout, given, False, layout.has_header, skip=skip)
    reader = arrow_csv.open_csv(file.open(), *options)
    first = next(iter(reader), None)
    if first is None:
        return {field.name: None if pa.types.is_null(field.type) else field.type for field in reader.schema}
    _refuse_binary(first.schema)
    return {name: given.get(name) or _type_to_read_as(first.column(i)) for i, name in enumerate(reader.schema.names)}


def _refuse_binary(schema: pa.Schema) -> None:
    """Raise Arrow's error for bytes that are not UTF-8: where Arrow infers types, it reads them as binary."""
    import pyarrow as pa

    if any(pa.types.is_binary(field.type) for field in schema):
        raise pa.ArrowInvalid("invalid UTF8 data")


def _arrow_types(layout: Layout, types: Types, raw: bool) -> dict[str, pa.DataType]:
    """Return the types given for columns of the file: strings if `raw`. Dates are left to be inferred."""
    import pyarrow as pa

    if raw:
        return dict.fromkeys(layout.names, pa.string())
    arrow: dict[str, pa.DataType] = {"number": pa.float64(), "string": pa.string(), "boolean": pa.bool_()}
    default = types.get(OTHER_COLUMNS, "unknown")
    given: dict[str, str | pa.DataType] = {name: types.get(name, default) for name in layout.names}
    return {
        name: arrow[kind] if isinstance(kind, str) else kind
        for name, kind in given.items()
        if not isinstance(kind, str) or kind in arrow
    }


def _type_to_read_as(column: ArrowArray) -> pa.DataType | None:
    """Return the type for the rest of a column: a dictionary if its strings repeat, None if it has no value."""
    import pyarrow as pa

    kind: pa.DataType = column.type
    if pa.types.is_null(kind):
        return None
    return pa.dictionary(pa.int32(), pa.string()) if pa.types.is_string(kind) and repeats(column) else kind


def repeats(column: ArrowColumn) -> bool:
    """Return whether the strings of a column occur twice or more on average; if not, they may be texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    strings: Any = column
    codes = strings.indices if pa.types.is_dictionary(column.type) else strings  # a dictionary may list unused strings
    return bool(2 * int(pc.count_distinct(codes).as_py()) <= len(column) - column.null_count)


def _translate_error(source: Source, how: Files, layout: Layout, message: str) -> InputError:
    """Return Arrow's error as one that names file, line and column, and says what to do."""
    given = source.given
    cell = re.search(r"In CSV column #(\d+):.*? to ([\w\[\], <>=]+): invalid value '(.*)'", message, re.DOTALL)
    if cell:
        position, kind, value = int(cell[1]), cell[2], cell[3]
        name = layout.names[position]
        line = source.line_of_row(layout, lambda row: len(row) > position and row[position] == value)
        wider = "number" if kind == "int64" and is_number(value.replace(how.decimal, ".")) else "string"
        expected = EXPECTED_VALUES.get(kind, f"a {kind}")
        return OtherTypeError(
            f"{given}, line {line}: column {name!r} is {value!r}, but should be {expected}.",
            name,
            wider,
            advice="Correct the cell or leave it empty; --bad-rows skip leaves out such rows.",
        )
    ragged = re.search(r"Expected (\d+) columns, got (\d+)", message)
    if ragged:
        line = source.line_of_row(layout, lambda row: len(row) != len(layout.names))
        return InputError(
            f"{given}, line {line}: {wrong_width(ragged[2], ragged[1])}: correct the line, put cells that hold the "
            "delimiter in quotes, or leave such lines out (--bad-rows skip)."
        )
    if "Empty CSV file" in message:
        return InputError(f"{given}: has a header and no rows.")
    if STRADDLING in message:
        return InputError(f"{given}: a row has many MB: close all quotes, or cut the text.")
    if "UTF8" in message:
        line = source.first_line("utf8", lambda text: bool(UNDECODED.search(text)))
        return InputError(
            f"{given}, line {line}: is not UTF-8: give the encoding of the file (--encoding latin-1, "
            "encoding=…), or convert it with iconv."
        )
    return InputError(f"{given}: cannot be read as CSV ({message}).")


def is_number(value: str) -> bool:
    """Return whether a cell is a number; Python also allows underscores, as in 1_000."""
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def _refuse_open_quote(source: Source, last_rows: pa.RecordBatch) -> None:
    """Refuse a file whose last cell spans lines and ends without a quote: Arrow reads all that follows as one cell.

    An open quote in another column leaves too few cells in its row, which Arrow reports.
    """
    cell = last_rows.column(last_rows.num_columns - 1)[-1].as_py() if last_rows.num_rows else None
    if not isinstance(cell, str) or "\n" not in cell:
        return
    n_lines, end = source.n_lines_before, b""
    with source.open() as stream:
        while chunk := stream.read(1 << 20):
            n_lines += chunk.count(b"\n")
            end = (end + chunk)[-64:].rstrip(b"\r\n\0 ") or end
    if not end.endswith(b'"'):
        raise InputError(
            f"{source.given}, line {n_lines - cell.count(chr(10)) + 1}: a quote is opened and not closed before the "
            'file ends: close it, or write a quote within a cell twice, "".'
        )


def _refuse_zero_bytes(source: Source, batch: pa.RecordBatch, layout: Layout) -> None:
    """Refuse a batch with a zero byte in a string: text has none, so the file is damaged; Arrow reads on."""
    if not any(_has_zero_byte(column) for column in batch.columns):
        return
    line = source.first_line(layout.encoding, lambda text: "\0" in text)
    raise InputError(
        f"{source.given}, line {line}: holds a zero byte, which is not text: the file is damaged, or not CSV from "
        "there on; correct the line."
    )


def _has_zero_byte(column: Any) -> bool:
    import pyarrow as pa

    strings = column.dictionary if pa.types.is_dictionary(column.type) else column
    if not pa.types.is_string(strings.type) or not len(strings):
        return False
    _, offsets, data = strings.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)
    start, stop = ends[strings.offset], ends[strings.offset + len(strings)]
    return stop > start and bool(np.frombuffer(data, dtype=np.uint8)[start:stop].min() == 0)
