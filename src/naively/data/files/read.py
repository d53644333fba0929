"""Read files as Arrow record batches with the same columns, in one pass, in a bounded memory; see docs/tables.md."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from naively.data.files.batches import ReadProgress, prefetch
from naively.data.files.columnar import read_columnar
from naively.data.files.csv import OtherTypeError, Types, read_csv, read_csv_lines
from naively.data.files.lines import read_available, read_json_lines
from naively.data.files.paths import COMPRESSION_MAGIC, STANDARD_INPUT, DataFile, Where, data_files, format_by_content
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

TEXTS_PER_BATCH = 1024
_RAW_FORMATS = {"csv": "cells", "tsv": "cells", "json": "lines"}  # others have types
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_files(
    where: Where, types: Types | None = None, raw: bool = False, progress: ReadProgress | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files, in order.

    Parameters
    ----------
    where
        A path, a glob, a folder, a list of these, or "-" for standard input.
    types
        How columns of CSV are read, by name: "number", "string" or "boolean". Others have the type of the first block.
    raw
        Read rows so that they can be written as they are: every cell of CSV as a string, none of them missing (the
        schema is marked by `csv.CELLS`), and JSON lines with their text (in the column `lines.LINE`).
    progress
        Follows how much has been read.

    Raises
    ------
    OtherTypeError
        If a cell does not have the type of its column.
    """
    types, progress = types or {}, progress or ReadProgress()
    if where == "-":
        return prefetch(_read_stdin(types, raw, progress))
    return prefetch(_read_all(data_files(where), types, raw, progress))


def read_one(file: DataFile) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one file whose format is known, `raw`; see `read_files`."""
    return prefetch(_read_all([file], {}, True, ReadProgress()))


def retry_with_wider_types(
    read: Callable[[Mapping[str, str]], T], types: Mapping[str, str] | None = None, *, can_retry: bool, advice: str = ""
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
    advice
        The end of the error's message.
    """
    types = types or {}
    while True:
        try:
            return read(types)
        except OtherTypeError as error:
            if not can_retry or types.get(error.column) == error.wider:
                raise OtherTypeError(f"{error} {advice}".rstrip(), error.column, error.wider) from None
            types = {**types, error.column: error.wider}
            warn_user(f"{error} It is read as {error.wider}.", LeftOutWarning)


def _read_all(files: list[DataFile], types: Types, raw: bool, progress: ReadProgress) -> Generator[pa.RecordBatch]:
    """Yield the rows of files, which all have the columns of the first file."""
    if len({file.format == "text" for file in files}) > 1:
        raise InputError(f"{files[0].given} and others: text files and tables cannot be read together.")
    if files[0].format == "text":
        yield from _read_texts(files)
        return
    if raw and len({_RAW_FORMATS.get(file.format) for file in files}) > 1:
        raise InputError(f"{files[0].given} and others: read CSV, JSON lines and files of other formats one by one.")
    schema: pa.Schema | None = None
    n_rows = 0
    for file in files:
        progress.begin(file, files)
        read = read_csv if file.format in ("csv", "tsv") else read_columnar
        for batch in read(file, types, raw, progress):
            n_rows += batch.num_rows
            if schema is None:
                schema = batch.schema
                types = {f.name: f.type for f in schema if str(f.type) != "null"} | dict(types)
            progress.note_batch()
            yield batch if raw and file.format == "json" else _with_columns_of(schema, batch, file)
    if not n_rows:
        header = "a header and " if files[0].format in ("csv", "tsv") else ""
        raise InputError(f"{listed([file.given for file in files], 1)}: has {header}no rows.")


def _read_stdin(types: Types, raw: bool, progress: ReadProgress) -> Generator[pa.RecordBatch]:
    """Yield the rows of standard input; copied to a file first unless it is lines of text.

    Parquet, Arrow and SQLite need random access; UTF-16 and compressed input are not cut into lines.
    """
    head, stream = read_available(sys.stdin.buffer, wait=not raw), sys.stdin.buffer
    if not head:
        raise InputError(f"{STANDARD_INPUT}: is empty.")
    suffix = next((suffix for suffix, magic in COMPRESSION_MAGIC.items() if head.startswith(magic)), "")
    if suffix or format_by_content(head) or head.startswith(UTF_16_MARKS):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"standard_input{suffix}"
            with path.open("wb") as out:
                out.write(head)
                shutil.copyfileobj(stream, out, 1 << 20)
            yield from _read_all(
                [replace(file, given=STANDARD_INPUT) for file in data_files(path)], types, raw, progress
            )
    elif head.lstrip()[:1] in (b"{", b"["):
        yield from read_json_lines(STANDARD_INPUT, head, stream, prompt=True, raw=raw)
    else:
        yield from read_csv_lines(head, stream, types, raw)


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


def _read_texts(files: list[DataFile]) -> Iterator[pa.RecordBatch]:
    """Yield a row for each file: its `text`, and the name of its folder as its `class`."""
    import pyarrow as pa

    for start in range(0, len(files), TEXTS_PER_BATCH):
        batch = files[start : start + TEXTS_PER_BATCH]
        folders = [file.path.absolute().parent.name for file in batch]
        yield pa.record_batch({"text": pa.array([_text(file) for file in batch]), "class": pa.array(folders)})


def _text(file: DataFile) -> str:
    """Return the text of a file: UTF-8, or Latin-1 if it is not that."""
    try:
        content = file.path.read_bytes()
    except OSError as error:
        raise InputError(f"{file.given}: cannot be read ({error.strerror}).") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")
