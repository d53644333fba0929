"""Read tables and queries of a PostgreSQL server through ADBC, in batches.

The server converts what Arrow does not know: see `CONVERSIONS`. All statements run in one transaction that reads one
snapshot and cannot write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from naively.data.files.addresses import Address
from naively.data.files.batches import ReadProgress
from naively.data.files.databases import adbc_statement, execute, follow_rows, query_of, quote
from naively.data.files.paths import DataFile
from naively.data.names import unique_names
from naively.data.plain import CellValue
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import AdbcStatement

# The SQL that converts a column x to a type that Arrow knows, by the name of its type in pg_type, else by its category.
# Any other type is refused by name when the column is counted.
AS_IT_IS, AS_NUMBER, AS_TEXT = "{x}", "CAST({x} AS float8)", "CAST({x} AS text)"
CONVERSIONS = {
    **dict.fromkeys(("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "name"), AS_IT_IS),
    **dict.fromkeys(("date", "time", "timestamp", "timestamptz"), AS_IT_IS),
    **dict.fromkeys(("bpchar", "char", "citext", "uuid", "json", "jsonb", "macaddr", "macaddr8"), AS_TEXT),
    "numeric": AS_NUMBER,
    "money": "CAST(CAST({x} AS numeric) AS float8)",
    "oid": "CAST({x} AS int8)",
}
CONVERSIONS_BY_CATEGORY = {"E": AS_TEXT, "I": AS_TEXT}  # enumerations and network addresses

COPY = "adbc.postgresql.use_copy"  # how the driver fetches rows: the option of a statement
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
TABLES = """
SELECT n.nspname, c.relname, pg_table_is_visible(c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
  AND n.nspname !~ '^pg_(catalog|toast)' AND n.nspname <> 'information_schema'
ORDER BY c.relname
"""
# A domain has the base type of its own base type, and so on.
TYPES = """
WITH RECURSIVE types (position, type) AS (
  SELECT u.position, u.type
  FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM {source} LIMIT 0) AS source ON true,
    unnest(ARRAY[{types}]) WITH ORDINALITY AS u (type, position)
  UNION ALL
  SELECT position, typbasetype FROM types JOIN pg_type ON oid = type WHERE typtype = 'd'
)
SELECT typname, typcategory, format_type(type, NULL)
FROM types JOIN pg_type ON oid = type
WHERE typtype <> 'd' ORDER BY position
"""
_REASON = re.compile(r"(?:ERROR|FATAL|PANIC):\s+(.*)")


@dataclass(frozen=True)
class _Column:
    """A column of the result: its name, its name in the query, and its type as PostgreSQL shows it.

    `conversion` is None if the type cannot be counted.
    """

    name: str
    reference: str
    type_name: str
    conversion: str | None

    def sql(self, raw: bool) -> str:
        """Return the SQL of the column: if it cannot be counted, as text to be written, else nothing."""
        other = AS_TEXT if raw else "CAST(NULL AS text)"
        return f"{(self.conversion or other).format(x=self.reference)} AS {quote(self.name)}"


def read_postgresql(file: DataFile, raw: bool, progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table or query on a server."""
    try:
        import adbc_driver_postgresql
        from adbc_driver_manager import Error
    except ImportError:
        raise InputError(
            f"{file.given}: is a PostgreSQL server; install adbc-driver-postgresql to read it "
            '(pip install "naively[postgres]").'
        ) from None
    assert file.address is not None
    try:
        with adbc_statement(adbc_driver_postgresql.connect(file.address.uri)) as statement:
            execute(statement, SNAPSHOT)
            source, columns = _source(statement, file)
            query = f"SELECT {', '.join(column.sql(raw) for column in columns)} FROM {source}"
            n_rows = _estimated_rows(statement, query)
            for batch in follow_rows(execute(statement, query), n_rows, progress):
                yield batch if raw else _with_other_types(batch, columns)
    except (Error, OSError) as error:
        raise InputError(f"{file.given}: {_reason(file.address, error)}.") from None


def _source(statement: AdbcStatement, file: DataFile) -> tuple[str, list[_Column]]:
    """Return what is selected from, whose columns are c1, c2, …, and the columns."""
    source = f"({_query(statement, file)}\n) AS source"
    names = unique_names(execute(statement, f"SELECT * FROM {source} LIMIT 0").schema.names, f"{file.given}: ")
    references = [f"c{i}" for i in range(1, len(names) + 1)]
    source += f" ({', '.join(references)})"
    oids = ", ".join(f"CAST(pg_typeof({reference}) AS oid)" for reference in references)
    types = _rows(statement, TYPES.format(source=source, types=oids))
    columns = [
        _Column(name, reference, shown, CONVERSIONS.get(kind) or CONVERSIONS_BY_CATEGORY.get(category))
        for name, reference, (kind, category, shown) in zip(names, references, types, strict=True)
    ]
    return source, columns


def _query(statement: AdbcStatement, file: DataFile) -> str:
    """Return the given query, or that of a table: TABLE if its schema is in the search path, or SCHEMA.TABLE."""
    rows = _rows(statement, TABLES)
    visible = {name: (schema, name) for schema, name, is_visible in rows if is_visible}
    tables = {f"{schema}.{name}": (schema, name) for schema, name, _ in rows} | visible
    if file.query is None or file.query not in tables:
        return query_of(file, tuple(visible))
    return f"SELECT * FROM {'.'.join(map(quote, tables[file.query]))}"


def _with_other_types(batch: pa.RecordBatch, columns: Sequence[_Column]) -> pa.RecordBatch:
    """Return the batch with the names of the types that cannot be counted, which messages show."""
    import pyarrow as pa

    types: Any = pa  # whose stubs do not know opaque types
    arrays = [
        array
        if column.conversion
        else types.ExtensionArray.from_storage(types.opaque(array.type, column.type_name, "PostgreSQL"), array)
        for array, column in zip(batch.columns, columns, strict=True)
    ]
    return pa.record_batch(arrays, batch.schema.names)


def _rows(statement: AdbcStatement, query: str) -> Sequence[tuple[CellValue, ...]]:
    """Return the rows of a query as Python values."""
    columns = execute(statement, query).read_all().columns
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def _estimated_rows(statement: AdbcStatement, query: str) -> int:
    """Return how many rows the server expects."""
    statement.set_options(**{COPY: "false"})  # a plan cannot be copied
    [(plan,)] = _rows(statement, f"EXPLAIN (FORMAT JSON) {query}")
    statement.set_options(**{COPY: "true"})
    return int(json.loads(plan)[0]["Plan"]["Plan Rows"])


def _reason(address: Address, error: Exception) -> str:
    """Return why the server, or the connection to it, failed."""
    message = str(error)
    reason = _REASON.search(message)
    text = reason[1] if reason else " ".join(message.split())
    return address.without_secrets(text).strip().rstrip(".")
