"""Find the files that a name stands for: a path, a glob, a folder, a list, or a database with `::` and a query.

The name gives the format (`.csv.gz`); if it does not, the first bytes do.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard, cast

from naively.errors import InputError

Where = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

SUFFIXES = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "json": (".json", ".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".feather", ".arrow", ".ipc"),
    "sqlite": (".sqlite", ".sqlite3"),
    "duckdb": (".duckdb",),
    "text": (".txt",),
}
STANDARD_INPUT = "standard input"  # as messages name it
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
COMPRESSION_MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".zst": b"\x28\xb5\x2f\xfd"}  # first bytes, by suffix


@dataclass(frozen=True)
class DataFile:
    """One file, the name it was given by, its format and compression; `query` is a table or query in a database."""

    path: Path
    given: str
    format: str
    compression: str | None = None
    query: str | None = None

    def open(self) -> BinaryIO:
        """Return a stream of its bytes, decompressed."""
        return self.open_both()[1]

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


def is_path(X: object) -> TypeGuard[Where]:
    """Return whether X names files: a string, a path, or a list of paths; a list of strings is a list of texts."""
    if isinstance(X, (str, os.PathLike)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(item, os.PathLike) for item in X)


def data_files(where: Where) -> list[DataFile]:
    """Return all files in the order given; those of a glob or a folder sorted by name."""
    items = [where] if isinstance(where, (str, os.PathLike)) else where
    files = [file for item in items for file in _files(os.fspath(item))]
    if not files:
        raise InputError("no files: give at least one path.")
    return files


def _files(given: str) -> list[DataFile]:
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
    if query and by_content not in ("sqlite", "duckdb"):
        raise InputError(f"{given}: is neither a SQLite nor a DuckDB file, so '{query}' cannot be read from it.")
    if format_ in ("parquet", "arrow", "sqlite", "duckdb") and by_content is None:
        raise InputError(f"{given}: is not a {format_} file, though its name says so.")
    if format_ is None or by_content:
        format_ = by_content or ("json" if head.lstrip()[:1] == b"{" else "csv")
    return DataFile(path, given, format_, compression, query)
