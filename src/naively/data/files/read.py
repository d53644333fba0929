"""Files → Arrow record batches with the same columns, one pass, a bounded memory; docs/tables.md says what is read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from naively.data.files.batches import ReadProgress, prefetch
from naively.data.files.columnar import categories_in, read_columnar
from naively.data.files.csv import OtherTypeError, read_delimited
from naively.data.files.paths import DataFile, data_files
from naively.data.files.stdin import NAME, is_lines, read_piped, some
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

TEXTS = 1024  # texts in a batch
COMPRESSED = ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\x28\xb5\x2f\xfd", ".zst"))


def read_files(
    where: Any, types: Mapping[str, Any] | None = None, raw: bool = False, progress: ReadProgress | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of all files that `where` names, in order.

    `types` says how columns of CSV are read, by name: "number", "string" or "boolean". With `raw` every cell of CSV is
    a string as it stands. Cells that do not fit raise `OtherTypeError`. `progress` follows how much has been read.
    """
    if where != "-":
        yield from prefetch(_batches(data_files(where), types, raw, progress))
        return
    head = some(sys.stdin.buffer, patient=not raw)
    if not head:
        raise InputError(f"{NAME}: is empty.")
    if is_lines(head):
        yield from prefetch(read_piped(head, sys.stdin.buffer, types or {}, raw))
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from prefetch(_batches(_spooled(Path(folder), head), types, raw, progress))


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


def categories_of(where: Any) -> frozenset[str]:
    """The columns that the first file itself has as categories (an Arrow dictionary), and not only our reader."""
    if where == "-":
        return frozenset()
    first = data_files(where)[0]
    return categories_in(first) if first.format in ("parquet", "arrow") else frozenset()


def _batches(
    files: list[DataFile], types: Mapping[str, Any] | None, raw: bool, progress: ReadProgress | None
) -> Generator[pa.RecordBatch]:
    if progress is not None:
        progress.expect(files)
    kinds = {file.format == "text" for file in files}
    if len(kinds) > 1:
        raise InputError(f"{files[0].given} and others: text files and tables cannot be read together.")
    if files[0].format == "text":
        yield from _texts(files)
        return
    known: dict[str, Any] = dict(types or {})
    first: pa.Schema | None = None
    rows = 0
    for file in files:
        if progress is not None:
            progress.begin(file)
        for batch in _read(file, known, raw, progress):
            rows += batch.num_rows
            if first is None:
                first = batch.schema
                known = {f.name: f.type for f in first if str(f.type) != "null"} | known
            yield _alike(batch, first, file)
    if not rows:
        header = "a header and " if files[0].format in ("csv", "tsv") else ""
        raise InputError(f"{listed([file.given for file in files], 1)}: has {header}no rows.")


def _spooled(folder: Path, head: bytes) -> list[DataFile]:
    """Standard input as a file, because it cannot be read from its start to its end; it needs disk, not memory."""
    suffix = next((end for magic, end in COMPRESSED if head.startswith(magic)), "")
    path = folder / f"standard_input{suffix}"
    with path.open("wb") as out:
        out.write(head)
        shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
    return [replace(file, given=NAME) for file in data_files(path)]


def _read(
    file: DataFile, types: Mapping[str, Any], raw: bool, progress: ReadProgress | None
) -> Iterator[pa.RecordBatch]:
    if file.format in ("csv", "tsv"):
        return read_delimited(file, types, raw, progress)
    return read_columnar(file, types, raw, progress)


def _alike(batch: pa.RecordBatch, first: pa.Schema, file: DataFile) -> pa.RecordBatch:
    """The batch with the columns in the order of the first file's; gaps may come to have a type."""
    if batch.schema.names == first.names:
        return batch
    unlike = set(batch.schema.names) ^ set(first.names)
    if unlike:
        name = min(unlike)
        has = "lacks" if name in first.names else "has another"
        raise InputError(f"{file.given}: {has} column {name!r}; all files must have the columns of the first.")
    return batch.select(first.names)


def _texts(files: list[DataFile]) -> Iterator[pa.RecordBatch]:
    """A row per file: its `text`, and as its `class` the name of the folder that it is in."""
    import pyarrow as pa

    left = iter(files)
    while some := list(islice(left, TEXTS)):
        texts, folders = [_text(file) for file in some], [file.path.absolute().parent.name for file in some]
        yield pa.record_batch({"text": pa.array(texts), "class": pa.array(folders)})


def _text(file: DataFile) -> str:
    """UTF-8, or Latin-1 where that cannot be."""
    try:
        found = file.path.read_bytes()
    except OSError as error:
        raise InputError(f"{file.given}: cannot be read ({error.strerror}).") from None
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        return found.decode("latin-1")
