"""Read sources that know their types: Parquet, Arrow (Feather), JSON, Excel, and tables in databases."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, BinaryIO

from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.files.batches import MAX_ROWS, ReadProgress
from naively.data.files.csv import Types, repeats
from naively.data.files.databases import choose_table, read_duckdb
from naively.data.files.lines import read_json
from naively.data.files.paths import DataFile, Files
from naively.data.files.postgresql import read_postgresql
from naively.data.files.sqlite import read_sqlite
from naively.data.names import Numbered, unique_names
from naively.data.plain import CellValue
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # the name that pandas gives an index without a name
ARROW_FILE = b"ARROW1"  # how a file of Arrow begins; else it is a stream


def read_columnar(
    file: DataFile, how: Files, types: Types, raw: bool, progress: ReadProgress
) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches.

    Unless `raw`, strings of Parquet that repeat are codes of a dictionary, an index without a name that pandas has
    written into Parquet is left out, and texts of SQLite that are dates are dates.
    """
    import pyarrow as pa

    try:
        if file.format == "parquet":
            yield from _read_parquet(file, types, raw, progress)
        elif file.format == "json":
            yield from _read_json(file, how, raw, progress)
        elif file.format == "duckdb":
            yield from read_duckdb(file, progress)
        elif file.format == "excel":
            yield from _read_excel(file, how)
        elif file.format == "arrow":
            yield from _read_arrow(file)
        else:
            yield from {"sqlite": read_sqlite, "postgresql": read_postgresql}[file.format](file, raw, progress)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise file.unreadable(error) from None


def _read_parquet(file: DataFile, types: Types, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.path, read_dictionary=[] if raw else _dictionary_columns(file, types)) as parquet:
        n_read = 0
        names = parquet.schema_arrow.names
        columns = names if raw else [name for name in names if not _PANDAS_INDEX.fullmatch(name)]
        for batch in parquet.iter_batches(MAX_ROWS, columns=None if columns == names else columns):
            n_read += batch.num_rows
            progress.rows(n_read, parquet.metadata.num_rows)
            yield batch


def _dictionary_columns(file: DataFile, types: Types) -> list[str]:
    """Return the columns of strings that repeat among the first rows, as in CSV; Parquet stores codes of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    strings = [f.name for f in pq.read_schema(file.path) if pa.types.is_string(f.type) and "." not in f.name]
    given = [name for name in strings if isinstance(types.get(name), pa.DictionaryType)]
    others = [name for name in strings if name not in types]
    if not others:
        return given
    with pq.ParquetFile(file.path, read_dictionary=others) as parquet:  # codes are counted faster than strings
        first = next(parquet.iter_batches(MAX_ROWS, columns=others), None)
    return given if first is None else given + [name for name in others if repeats(first[name])]


def _read_arrow(file: DataFile) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with pa.memory_map(str(file.path)) as mapped:
        if mapped.read(len(ARROW_FILE)) != ARROW_FILE:
            mapped.seek(0)
            with pa.ipc.open_stream(mapped) as stream:
                yield from stream
            return
        with pa.ipc.open_file(mapped) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)


def _read_json(file: DataFile, how: Files, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    on_disk, stream = file.open_both()
    with on_disk, stream:
        progress.follow(on_disk, stream)
        if how.encoding not in (None, "utf-8", "utf-8-sig"):
            stream = _as_utf8(file, stream, how.encoding)
        yield from read_json(file.given, b"", stream, raw=raw)


def _as_utf8(file: DataFile, stream: BinaryIO, encoding: str) -> BinaryIO:
    try:
        return io.BytesIO(stream.read().decode(encoding).encode())
    except UnicodeDecodeError as error:
        raise InputError(f"{file.given}: is not {encoding} ({error.reason} at byte {error.start}).") from None


def _read_excel(file: DataFile, how: Files) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a sheet: its first row names the columns, and the type of a column is decided over all rows."""
    import pyarrow as pa

    try:
        import python_calamine
    except ImportError:
        raise InputError(
            f'{file.given}: is an Excel file; install python-calamine to read it (pip install "naively[excel]").'
        ) from None
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(file.path))
        sheet = book.get_sheet_by_name(choose_table(file, book.sheet_names, "sheet"))
        rows = [row for row in sheet.to_python() if any(cell != "" for cell in row)]
    except python_calamine.CalamineError as error:
        raise file.unreadable(error) from None
    if not rows:
        raise InputError(f"{file.given}: the sheet is empty.")
    header = [str(cell).strip() for cell in rows[0]] if how.header else list(Numbered(len(rows[0])))
    names = unique_names(header, f"{file.given}, row 1: ")
    cells = zip(*rows[1:], strict=True) if how.header else zip(*rows, strict=True)
    columns = [_excel_column(column, frozenset(how.missing_values)) for column in cells]
    if columns:
        yield from pa.table(columns, names=list(names)).to_batches(MAX_ROWS)


def _excel_column(cells: Sequence[CellValue], missing: frozenset[str]) -> pa.Array[Any]:
    """Return the cells of a column as whole numbers, numbers, booleans or dates if all are such, else as strings."""
    import pyarrow as pa

    values = [None if isinstance(cell, str) and cell in missing else cell for cell in cells]
    types = {type(value) for value in values} - {type(None)}
    if types and types <= {int, float}:
        is_whole = all(value is None or float(value).is_integer() for value in values)
        is_exact = all(value is None or abs(value) <= MAX_EXACT_INTEGER for value in values)
        if is_whole and is_exact:
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if types == {bool}:
        return pa.array(values, pa.bool_())
    if types and types <= {date, datetime}:
        times = [datetime.combine(value, time()) if type(value) is date else value for value in values]
        return pa.array(times, pa.timestamp("us"))
    if not types:
        return pa.nulls(len(values))
    return pa.array([None if value is None else _shown(value) for value in values], pa.string())


def _shown(value: object) -> str:
    """Return a cell among strings as it is shown: 12, not 12.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT_INTEGER:
        return str(int(value))
    return str(value)
