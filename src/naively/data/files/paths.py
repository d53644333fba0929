"""What a person calls a file: a path, a glob, a list of them, a folder, `-`, or a database with `::` and a query.

The format is known by the name (`.csv.gz`), and where the name says nothing by the first bytes.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naively.errors import InputError

__all__ = ["DataFile", "data_files", "is_path"]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
    ".txt": "text",
}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"SQLite format 3\0", "sqlite"))


@dataclass(frozen=True)
class DataFile:
    """One file, the name it was given by, its format and compression; `query` is a table or query in a database."""

    path: Path
    given: str
    format: str
    compression: str | None = None
    query: str | None = None

    def open(self) -> Any:
        """Its bytes, decompressed."""
        import pyarrow as pa

        named: Any = self.compression
        return pa.input_stream(str(self.path), compression=named)


def is_path(X: Any) -> bool:
    """Whether X names files: a string, a path, or a list of paths; a list of strings is a list of texts."""
    if isinstance(X, (str, os.PathLike)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(item, os.PathLike) for item in X)


def data_files(where: Any) -> list[DataFile]:
    """All files that are meant, in the order given; those of a glob or a folder sorted by name."""
    wanted: Sequence[Any] = where if isinstance(where, (list, tuple)) else [where]
    found = [file for item in wanted for file in _files(os.fspath(item))]
    if not found:
        raise InputError("no files: give at least one path.")
    return found


def _files(given: str) -> list[DataFile]:
    place, _, query = given.partition("::")
    path = Path(place)
    if query or path.is_file():
        return [_data_file(path, place, query or None)]
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
        if not inside:
            raise InputError(f"{given}: the folder is empty.")
        data = [p for p in inside if _by_name(p)[0] not in (None, "text")]
        return [_data_file(p, str(p)) if data else DataFile(p, str(p), "text") for p in data or inside]
    matching = sorted(glob.glob(place, recursive=True))
    if not matching:
        what = "nothing matches it" if glob.has_magic(place) else "there is no such file"
        raise InputError(f"{given}: {what}.")
    return [_data_file(Path(p), p) for p in matching if os.path.isfile(p)]


def _by_name(path: Path) -> tuple[str | None, str | None]:
    """Format and compression as the name tells them."""
    compression = COMPRESSIONS.get(path.suffix.lower())
    suffix = Path(path.stem).suffix if compression else path.suffix
    return FORMATS.get(suffix.lower()), compression


def _data_file(path: Path, given: str, query: str | None = None) -> DataFile:
    kind, compression = _by_name(path)
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise InputError(f"{given}: cannot be read ({error.strerror}).") from None
    if not head:
        raise InputError(f"{given}: the file is empty.")
    by_content = next((name for magic, name in MAGIC if head.startswith(magic)), None)
    if head[8:12] == b"DUCK":
        by_content = "duckdb"
    if query and by_content not in ("sqlite", "duckdb"):
        raise InputError(f"{given}: is neither a SQLite nor a DuckDB file, so there is nothing to ask '{query}' of.")
    if kind in ("parquet", "arrow", "sqlite", "duckdb") and by_content is None:
        raise InputError(f"{given}: is not a {kind} file, whatever its name says.")
    if kind is None or by_content:
        kind = by_content or ("json" if head.lstrip()[:1] == b"{" else "csv")
    return DataFile(path, given, kind, compression, query)
