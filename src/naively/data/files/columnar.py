"""Files that know their types: Parquet, Arrow (Feather), JSON lines; and tables in SQLite and DuckDB files."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from naively.data.files.batches import ReadProgress
from naively.data.files.csv import comes_back
from naively.data.files.paths import DataFile
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["categories_in", "not_json_lines", "read_columnar"]

ROWS = 65_536
_KINDS: dict[type, str] = {
    int: "number",
    float: "number",
    str: "string",
    bool: "boolean",
    dict: "object",
    list: "array",
}


def read_columnar(
    file: DataFile, types: Mapping[str, Any], raw: bool, progress: ReadProgress | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows in batches; unless raw, strings of Parquet that come back often are codes, or as `types` say."""
    import pyarrow as pa

    read = {"arrow": _arrow, "json": _json, "sqlite": _sqlite, "duckdb": _duckdb}
    try:
        yield from _parquet(file, types, raw, progress) if file.format == "parquet" else read[file.format](file)
    except pa.ArrowInvalid as error:
        if file.format == "json":
            raise not_json_lines(file.given, str(error), file.open()) from None
        raise InputError(f"{file.given}: cannot be read as {file.format} ({error}).") from None
    except (pa.ArrowException, OSError, sqlite3.Error) as error:
        raise InputError(f"{file.given}: cannot be read as {file.format} ({error}).") from None


def _parquet(
    file: DataFile, types: Mapping[str, Any], raw: bool, progress: ReadProgress | None
) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    often = [] if raw else _often(file, types)
    with pq.ParquetFile(file.path, read_dictionary=often) as parquet:
        done = 0
        for batch in parquet.iter_batches(ROWS):
            done += batch.num_rows
            if progress is not None:
                progress.rows(done, parquet.metadata.num_rows)
            yield batch


def _often(file: DataFile, types: Mapping[str, Any]) -> list[str]:
    """The columns of strings that come back often, by the first rows, as in CSV; Parquet has codes of them already."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = pq.read_schema(file.path)
    strings = [f.name for f in kinds if pa.types.is_string(f.type) and "." not in f.name]
    asked = [
        name for name in strings if isinstance(types.get(name), pa.DataType) and pa.types.is_dictionary(types[name])
    ]
    free = [name for name in strings if name not in types]
    if not free:
        return asked
    with pq.ParquetFile(file.path, read_dictionary=free) as parquet:  # codes are counted sooner than strings
        first = next(parquet.iter_batches(ROWS, columns=free), None)
    return asked if first is None else asked + [name for name in free if comes_back(first[name])]


def categories_in(file: DataFile) -> frozenset[str]:
    """The columns of a Parquet or Arrow file that are categories by its own schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if file.format == "parquet":
            schema = pq.read_schema(file.path)
        else:
            with pa.memory_map(str(file.path)) as mapped, pa.ipc.open_file(mapped) as reader:
                schema = reader.schema
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.given}: cannot be read as {file.format} ({error}).") from None
    return frozenset(f.name for f in schema if pa.types.is_dictionary(f.type))


def _arrow(file: DataFile) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with pa.memory_map(str(file.path)) as mapped, pa.ipc.open_file(mapped) as reader:
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def _json(file: DataFile) -> Iterator[pa.RecordBatch]:
    """The types are those of the first block; whole numbers are read as numbers, so that a fraction may follow."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    def opened(schema: pa.Schema | None) -> Any:
        return arrow_json.open_json(
            file.open(),
            read_options=arrow_json.ReadOptions(block_size=4 << 20),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )

    with arrow_json.open_json(
        file.open(),
        read_options=arrow_json.ReadOptions(block_size=4 << 20),
    ) as first:
        found = first.schema
    if not len(found):
        raise InputError(f"{file.given}: has no columns: give one JSON object per line.")
    settled = [f.with_type(pa.float64()) if pa.types.is_integer(f.type) else f for f in found]
    with opened(pa.schema(settled)) as reader:
        yield from reader


def not_json_lines(given: str, message: str, stream: Any, before: int = 0) -> InputError:
    """An error that names the first line that is no JSON object or has a cell of another kind, if there is one."""
    changed = re.search(r"Column\(/([^)/]+)\) changed from (\w+) to (\w+)", message)
    with stream:
        for number, line in enumerate(io.BufferedReader(stream), start=before + 1):
            try:
                row = json.loads(line) if line.strip() else {}
                if not isinstance(row, dict):
                    raise ValueError("no object")
            except ValueError as error:
                what = str(error).split(": line")[0]
                return InputError(f"{given}, line {number}: is no JSON object ({what}): give one object per line.")
            if changed is not None and _KINDS.get(type(row.get(changed[1]))) == changed[3]:
                shown = json.dumps(row[changed[1]], ensure_ascii=False)[:40]
                return InputError(
                    f"{given}, line {number}: column {changed[1]!r} holds {shown}, of kind {changed[3]}, where "
                    f"{changed[2]} stands before: mend it, or write null."
                )
    return InputError(f"{given}: cannot be read as JSON lines ({message}).")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _query(file: DataFile, tables: list[str]) -> str:
    """The query asked for, or all of the table asked for, or of the only one."""
    wanted = file.query
    if wanted is None and len(tables) == 1:
        wanted = tables[0]
    if wanted is None or (wanted not in tables and " " not in wanted.strip()):
        asked = "say which table" if wanted is None else f"there is no table {wanted!r}"
        raise InputError(f"{file.given}: {asked}, as {file.given}::TABLE; it has {', '.join(tables) or 'none'}.")
    return f"SELECT * FROM {_quoted(wanted)}" if wanted in tables else wanted.strip().rstrip(";")


def _sqlite(file: DataFile) -> Iterator[pa.RecordBatch]:
    """A SQLite cell has its own type: that of the column is decided over all rows before they are read."""
    import pyarrow as pa

    connection = sqlite3.connect(file.path.resolve().as_uri() + "?mode=ro", uri=True)
    try:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        query = _query(file, [name for (name,) in listed if not name.startswith("sqlite_")])
        names = [column[0] for column in connection.execute(f"SELECT * FROM ({query}) LIMIT 0").description]
        types = [_sqlite_type(connection, query, name) for name in names]
        schema = pa.schema(list(zip(names, types, strict=True)))
        rows = connection.execute(query)
        while some := rows.fetchmany(ROWS):
            columns = [_as(kind, values) for kind, values in zip(types, zip(*some, strict=True), strict=True)]
            yield pa.record_batch(columns, schema=schema)
    finally:
        connection.close()


def _sqlite_type(connection: sqlite3.Connection, query: str, name: str) -> Any:
    import pyarrow as pa

    kinds = {kind for (kind,) in connection.execute(f"SELECT DISTINCT typeof({_quoted(name)}) FROM ({query})")}
    kinds -= {"null"}
    if kinds <= {"integer"}:
        return pa.int64() if kinds else pa.null()
    return pa.float64() if kinds <= {"integer", "real"} else pa.string()


def _as(kind: Any, values: tuple[Any, ...]) -> Any:
    import pyarrow as pa

    if pa.types.is_string(kind):
        return pa.array([v if v is None or isinstance(v, str) else _text(v) for v in values], kind)
    return pa.array([float(v) if v is not None and pa.types.is_floating(kind) else v for v in values], kind)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _duckdb(file: DataFile) -> Iterator[pa.RecordBatch]:
    try:
        import duckdb
    except ImportError:
        raise InputError(f"{file.given}: is a DuckDB file; install the package duckdb to read it.") from None
    try:
        with duckdb.connect(str(file.path), read_only=True) as connection:
            tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
            yield from connection.sql(_query(file, tables)).to_arrow_reader(ROWS)
    except duckdb.Error as error:
        raise InputError(f"{file.given}: cannot be read as duckdb ({error}).") from None
