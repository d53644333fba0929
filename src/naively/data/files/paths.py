"""Find the files that a name stands for: a path, a glob, a folder, a list, or a database with `::` and a query.

The address of a database server is a name too.

The name gives the format (`.csv.gz`); if it does not, the first bytes do. `Files` says how they are read.
"""

from __future__ import annotations

import codecs
import glob
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeGuard, cast

from naively.data.files.addresses import Address, is_address, parse_address, shown_name
from naively.errors import InputError

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
BadRowRule = Literal["stop", "empty", "skip"]

MISSING_CELLS = ("", "NA", "N/A", "#N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL")  # as R and pandas have them

SUFFIXES = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "json": (".json", ".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".feather", ".arrow", ".ipc"),
    "sqlite": (".sqlite", ".sqlite3"),
    "duckdb": (".duckdb",),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "text": (".txt",),
}
DATABASES = ("sqlite", "duckdb", "excel")  # files with several tables
ZIP_MAGIC, OLE_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # of Excel files, and of others
STANDARD_INPUT = "standard input"  # as messages name it
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
COMPRESSION_MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".zst": b"\x28\xb5\x2f\xfd"}  # first bytes, by suffix


@dataclass(frozen=True)
class Files:
    """Files and how they are read: accepted wherever a path is.

    Parameters
    ----------
    where
        A path, a glob, a folder, the address of a table in a database, a list of these, or "-" for standard input.
    delimiter
        The character between the cells of CSV; by default the one that splits the first lines best.
    decimal
        The decimal sign of numbers in CSV: "." or ",".
    missing_values
        Cells of CSV that are missing values, instead of NA, NaN, null and the like. An empty cell always is one.
    header
        Whether the first line of CSV names the columns. If not, they are x0, x1, …, as those of an array.
    encoding
        The encoding of CSV, JSON lines and texts, by a name that Python knows; by default UTF-8, UTF-16 with a mark, or
        Latin-1.
    bad_rows
        What happens to a cell that should be a number, a boolean or a date for a model and is not: "stop" is an error,
        "empty" reads it as missing, "skip" leaves its row out. A line of CSV with too few or too many cells is left out
        unless it is "stop". A warning at the end lists file, line and reason.

    >>> Files("sales.csv", delimiter=";", decimal=",").bad_rows
    'stop'
    """

    where: Paths
    delimiter: str | None = None
    decimal: str = "."
    missing_values: Sequence[str] = MISSING_CELLS
    header: bool = True
    encoding: str | None = None
    bad_rows: BadRowRule = "stop"

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n'):
            raise InputError(f"delimiter={self.delimiter!r}: it is one character, such as ; or | or a tab.")
        if self.decimal not in (".", ","):
            raise InputError(f'decimal={self.decimal!r}: it is "." or ",".')
        if self.decimal == "," == self.delimiter:
            raise InputError("delimiter and decimal are both a comma: cells could not be told from fractions.")
        if self.bad_rows not in ("stop", "empty", "skip"):
            raise InputError(f'bad_rows={self.bad_rows!r}: it is "stop", "empty" or "skip".')
        given = (self.missing_values,) if isinstance(self.missing_values, str) else self.missing_values
        object.__setattr__(self, "missing_values", tuple(dict.fromkeys(("", *given))))
        if self.encoding is not None:
            try:
                object.__setattr__(self, "encoding", codecs.lookup(self.encoding).name)
            except LookupError:
                raise InputError(f"encoding={self.encoding!r} is not known: use utf-8, latin-1, cp1252, …") from None

    @classmethod
    def of(cls, where: Where) -> Files:
        """Return the files, read by the usual rules unless others are given."""
        return where if isinstance(where, Files) else cls(where)

    def __repr__(self) -> str:
        values = {f.name: getattr(self, f.name) for f in fields(self)} | {"where": self.given}
        return f"Files({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names as they were given; that of a server may have a password."""
        where = [self.where] if isinstance(self.where, (str, os.PathLike)) else self.where
        return tuple(os.fspath(path) for path in where)

    @property
    def given(self) -> tuple[str, ...]:
        """Return the names without passwords, for messages and the log."""
        return tuple(map(shown_name, self.names))

    @property
    def is_standard_input(self) -> bool:
        """Return whether this is standard input, which is read once."""
        return self.where == "-"

    def data_files(self) -> list[DataFile]:
        """Return all files in the order given; those of a glob or a folder sorted by name."""
        return data_files(self.where)


Where = Paths | Files


@dataclass(frozen=True)
class DataFile:
    """One file, the name it was given by, its format and compression; `query` is a table or query in a database.

    A database server has an address instead of a path.
    """

    path: Path
    given: str
    format: str
    compression: str | None = None
    query: str | None = None
    address: Address | None = None

    @property
    def size(self) -> int:
        """Return the number of bytes, 1 if the file is a server."""
        return 1 if self.address is not None else self.path.stat().st_size

    def unreadable(self, error: object) -> InputError:
        """Return the error that the file cannot be read as its format."""
        return InputError(f"{self.given}: cannot be read as {self.format} ({error}).")

    def open(self) -> BinaryIO:
        """Return a stream of its bytes, decompressed."""
        return self.open_both()[1]

    def is_json_array(self) -> bool:
        """Return whether the file holds a JSON array, not JSON lines."""
        with self.open() as stream:
            return stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")

    def open_both(self) -> tuple[BinaryIO, BinaryIO]:
        """Return the file as it is on the disk, and a stream of its bytes, decompressed; both may be the same."""
        import pyarrow as pa

        file = pa.OSFile(str(self.path), "r")
        if self.compression is None:
            return cast("BinaryIO", file), cast("BinaryIO", file)
        compression: Any = self.compression
        stream = CountedStream(cast("BinaryIO", pa.CompressedInputStream(file, compression)))
        return cast("BinaryIO", file), cast("BinaryIO", stream)


class CountedStream(io.RawIOBase):
    """A stream that knows its position; Arrow's decompressed streams do not."""

    def __init__(self, stream: BinaryIO) -> None:
        """Start at the first byte."""
        self._stream = stream
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        content = self._stream.read(-1 if size is None else size)
        self._position += len(content)
        return content

    def tell(self) -> int:
        """Return how many bytes have been read."""
        return self._position

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        super().close()


def is_path(X: object, is_text: bool = False) -> TypeGuard[Where]:
    """Return whether X names files. This is the one rule, for every function that takes rows.

    `Files`, a path object and a list of path objects do; a list of strings is a list of texts. A string does, unless it
    may be a text (`is_text`): then it does if a file or folder has this name, if it ends as the name of a data file
    (.csv, .jsonl.gz, …), if it has `::`, if it is the address of a server, or if it is "-".

    >>> is_path("cheap pills"), is_path("cheap pills", is_text=True), is_path("mail.csv", is_text=True)
    (True, False, True)
    """
    if isinstance(X, (Files, os.PathLike)):
        return True
    if isinstance(X, str):
        return not is_text or _looks_like_a_path(X)
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(item, os.PathLike) for item in X)


def _looks_like_a_path(text: str) -> bool:
    if is_address(text):
        return True
    if "\n" in text or "\0" in text:
        return False
    if text == "-" or "::" in text or _format_by_name(Path(text))[0] is not None:
        return True
    try:
        return os.path.exists(text)
    except (OSError, ValueError):
        return False


def is_readable_again(X: object) -> bool:
    """Return whether X names files that can be read a second time."""
    return is_path(X) and not Files.of(X).is_standard_input


def data_files(where: Paths) -> list[DataFile]:
    """Return all files in the order given; those of a glob or a folder sorted by name."""
    items = [where] if isinstance(where, (str, os.PathLike)) else where
    files = [file for item in items for file in _files(os.fspath(item))]
    if not files:
        raise InputError("no files: give at least one path.")
    return files


def _files(given: str) -> list[DataFile]:
    if is_address(given):
        address = parse_address(given)
        return [DataFile(Path(), address.shown, "postgresql", None, address.query, address)]
    name, _, query = given.partition("::")
    path = Path(name)
    if query or path.is_file():
        return [_data_file(path, name, query or None)]
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
        if not inside:
            raise InputError(f"{given}: the folder is empty.")
        tables = [p for p in inside if _format_by_name(p)[0] not in (None, "text")]
        return [_data_file(p, str(p)) if tables else DataFile(p, str(p), "text") for p in tables or inside]
    matching = sorted(glob.glob(name, recursive=True))
    if not matching:
        problem = "no file matches it" if glob.has_magic(name) else "there is no such file"
        raise InputError(f"{given}: {problem}.")
    return [_data_file(Path(p), p) for p in matching if os.path.isfile(p)]


def _format_by_name(path: Path) -> tuple[str | None, str | None]:
    """Return the format and the compression that the name gives."""
    compression = COMPRESSIONS.get(path.suffix.lower())
    suffix = Path(path.stem).suffix if compression else path.suffix
    return next((name for name, suffixes in SUFFIXES.items() if suffix.lower() in suffixes), None), compression


def format_by_content(head: bytes) -> str | None:
    """Return the format that the first bytes show, None for lines of text."""
    if head[8:12] == b"DUCK":
        return "duckdb"
    magic = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"SQLite format 3\0": "sqlite"}
    magic |= {OLE_MAGIC: "excel", ZIP_MAGIC: "excel"}
    return next((name for start, name in magic.items() if head.startswith(start)), None)


def _data_file(path: Path, given: str, query: str | None = None) -> DataFile:
    format_, compression = _format_by_name(path)
    try:
        with path.open("rb") as file:
            head = file.read(16)
        if not head:
            raise InputError(f"{given}: the file is empty.")
        if compression and format_ is None:
            with DataFile(path, given, "", compression).open() as stream:
                head = stream.read(16)
    except OSError as error:
        raise InputError(f"{given}: cannot be read ({error.strerror or error}).") from None
    by_content = format_by_content(head)
    if query and by_content not in DATABASES:
        raise InputError(f"{given}: is no SQLite, DuckDB or Excel file, so '{query}' cannot be read from it.")
    if format_ in ("parquet", "arrow", *DATABASES) and by_content is None:
        raise InputError(f"{given}: is not a file in the format {format_}, though its name says so.")
    if format_ is None or by_content:
        format_ = by_content or ("json" if re.match(rb"\s*(\{|\[\s*(\{|$))", head) else "csv")
    return DataFile(path, given, format_, compression, query)
