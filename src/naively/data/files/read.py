"""Read files as Arrow record batches with the same columns, in one pass, in a bounded memory; see docs/tables.md."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from naively.data.files.bad_rows import BadRows
from naively.data.files.batches import ReadProgress, prefetch
from naively.data.files.columnar import read_columnar
from naively.data.files.csv import OtherTypeError, Types, read_csv, read_csv_lines
from naively.data.files.lines import read_available, read_json
from naively.data.files.paths import (
    COMPRESSION_MAGIC,
    STANDARD_INPUT,
    DataFile,
    Files,
    Where,
    data_files,
    format_by_content,
)
from naively.data.files.places import report_bad_rows
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

TEXTS_PER_BATCH = 1024
_RAW_FORMATS = {"csv": "cells", "tsv": "cells", "json": "lines"}  # others have types
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_files(
    where: Where,
    types: Types | None = None,
    raw: bool = False,
    progress: ReadProgress | None = None,
    bad: BadRows | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files, in order.

    Parameters
    ----------
    where
        A path, a glob, a folder, a list of these, or "-" for standard input; or `Files`, which says how to read them.
    types
        How columns of CSV are read, by name: "number", "string" or "boolean". Others have the type of the first block.
    raw
        Read rows so that they can be written as they are: every cell of CSV as a string, none of them missing (the
        schema is marked by `Cells.mark`), JSON with the text of each object (in the column `lines.LINE`), and texts
        with the name of their file.
    progress
        Follows how much has been read.
    bad
        Collects bad rows, which the caller reports. By default they are reported at the end.

    Raises
    ------
    OtherTypeError
        If a cell does not have the type of its column.
    """
    types, progress, how = types or {}, progress or ReadProgress(), Files.of(where)
    collected = bad or BadRows(how)
    if how.is_standard_input:
        batches = prefetch(_read_stdin(how, types, raw, progress, collected))
    else:
        batches = prefetch(_read_all(how.data_files(), how, types, raw, progress, collected))
    return batches if bad is not None or how.bad_rows == "stop" else _with_report(batches, collected)


def _with_report(batches: Iterator[pa.RecordBatch], bad: BadRows) -> Iterator[pa.RecordBatch]:
    yield from batches
    report_bad_rows(bad)


def read_one(file: DataFile) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one file whose format is known, `raw`; see `read_files`."""
    return prefetch(_read_all([file], Files(file.path), {}, True, ReadProgress(), BadRows()))


def retry_with_wider_types(
    read: Callable[[Mapping[str, str]], T], types: Mapping[str, str] | None = None, *, can_retry: bool
) -> T:
    """Return `read(types)`; call it again with a wider type, and warn, when a cell does not have its column's type.

    Parameters
    ----------
    read
        Reads the data from the start, with columns of CSV as `types` says.
    types
        The types to begin with.
    can_retry
        Whether the data can be read again. If not, the error is raised.
    """
    types = types or {}
    while True:
        try:
            return read(types)
        except OtherTypeError as error:
            if not can_retry or types.get(error.column) == error.wider:
                raise
            types = {**types, error.column: error.wider}
            warn_user(f"{error.message} It is read as {error.wider}.", LeftOutWarning)


def _read_all(
    files: list[DataFile], how: Files, types: Types, raw: bool, progress: ReadProgress, bad: BadRows
) -> Generator[pa.RecordBatch]:
    """Yield the rows of files, which all have the columns of the first file."""
    if len({file.format == "text" for file in files}) > 1:
        raise InputError(f"{files[0].given} and others: text files and tables cannot be read together.")
    if files[0].format == "text":
        yield from _read_texts(files, how, raw)
        return
    if raw and len({_RAW_FORMATS.get(file.format) for file in files}) > 1:
        raise InputError(f"{files[0].given} and others: read CSV, JSON lines and files of other formats one by one.")
    schema: pa.Schema | None = None
    n_rows = 0
    for file in files:
        progress.begin(file, files)
        if file.format in ("csv", "tsv"):
            batches = read_csv(file, how, types, raw, progress, bad)
        else:
            batches = read_columnar(file, how, types, raw, progress)
        for batch in batches:
            n_rows += batch.num_rows
            if schema is None:
                schema = batch.schema
                types = {f.name: f.type for f in schema if str(f.type) != "null"} | dict(types)
            progress.note_batch()
            yield batch if raw and file.format == "json" else _with_columns_of(schema, batch, file)
    if not n_rows:
        header = "a header and " if files[0].format in ("csv", "tsv") and how.header else ""
        raise InputError(f"{listed([file.given for file in files], 1)}: has {header}no rows.")


def _read_stdin(how: Files, types: Types, raw: bool, progress: ReadProgress, bad: BadRows) -> Generator[pa.RecordBatch]:
    """Yield the rows of standard input; copied to a file first unless it is lines of text.

    Parquet, Arrow and SQLite need random access; UTF-16 and compressed input are not cut into lines.
    """
    head, stream = read_available(sys.stdin.buffer, wait=not raw), sys.stdin.buffer
    if not head:
        raise InputError(f"{STANDARD_INPUT}: is empty.")
    suffix = next((suffix for suffix, magic in COMPRESSION_MAGIC.items() if head.startswith(magic)), "")
    is_transcoded = how.encoding not in (None, "utf-8", "utf-8-sig")
    if suffix or format_by_content(head) or head.startswith(UTF_16_MARKS) or is_transcoded:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"standard_input{suffix}"
            with path.open("wb") as out:
                out.write(head)
                shutil.copyfileobj(stream, out, 1 << 20)
            files = [replace(file, given=STANDARD_INPUT) for file in data_files(path)]
            yield from _read_all(files, how, types, raw, progress, bad)
    elif head.lstrip()[:1] in (b"{", b"["):
        yield from read_json(STANDARD_INPUT, head, stream, prompt=True, raw=raw)
    else:
        yield from read_csv_lines(head, stream, how, types, raw, bad)


def _with_columns_of(schema: pa.Schema, batch: pa.RecordBatch, file: DataFile) -> pa.RecordBatch:
    """Return the batch with the columns of the first file, in its order."""
    if batch.schema.names == schema.names:
        return batch
    different = set(batch.schema.names) ^ set(schema.names)
    if different:
        name = min(different)
        problem = "does not have the" if name in schema.names else "has another"
        raise InputError(f"{file.given}: {problem} column {name!r}; all files must have the columns of the first.")
    return batch.select(schema.names)


def _read_texts(files: list[DataFile], how: Files, raw: bool) -> Iterator[pa.RecordBatch]:
    """Yield a row for each file: its `text`, and the name of its folder as its `class`; if `raw`, its `file` first."""
    import pyarrow as pa

    for start in range(0, len(files), TEXTS_PER_BATCH):
        batch = files[start : start + TEXTS_PER_BATCH]
        columns = {"file": [file.given for file in batch]} if raw else {}
        columns["text"] = [_text(file, how.encoding) for file in batch]
        columns["class"] = [file.path.absolute().parent.name for file in batch]
        yield pa.record_batch({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _text(file: DataFile, encoding: str | None) -> str:
    """Return the text of a file: UTF-8, or Latin-1 if it is not that, unless another encoding is given."""
    try:
        content = file.path.read_bytes()
    except OSError as error:
        raise InputError(f"{file.given}: cannot be read ({error.strerror}).") from None
    try:
        return content.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise InputError(f"{file.given}: is not {encoding} ({error.reason} at byte {error.start}).") from None
        return content.decode("latin-1")
