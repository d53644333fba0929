"""Write rows as an Arrow table that keeps every value, and read them back: what tuning samples are sent and stored as.

A column of a frame is an Arrow column of its values, whose metadata names its kind where the type does not: dates are
seconds, and integers beyond 64 bits are strings. An array is one column of lists, a sparse matrix two: the positions
and the values of the entries that are not zero.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.arrow import column_of_arrow, in_one_piece
from naively.data.columns import (
    AbsentColumn,
    Column,
    NumberColumn,
    array_of_arrow,
    as_core_type,
    fixed_width_array,
    python_strings,
)
from naively.data.names import Numbered, unique_names
from naively.data.table import ColumnTable, MatrixTable, Table
from naively.data.values import column_of_numbers

if TYPE_CHECKING:
    import pyarrow as pa

LAYOUT, KIND, WIDTH = b"layout", b"kind", b"columns"


def arrow_of_table(table: Table) -> pa.Table:
    """Return the rows of a table as an Arrow table.

    >>> from naively.data.read import read
    >>> table = read({"age": [30, None], "job": ["cook", "smith"]})
    >>> (table_of_arrow(arrow_of_table(table)).row_hashes() == table.row_hashes()).all()
    np.True_
    """
    import pyarrow as pa

    if isinstance(table, MatrixTable):
        return _arrow_of_matrix(table)
    assert isinstance(table, ColumnTable)
    arrays = [column.to_arrow() for column in table.columns]
    types = zip(table.columns, arrays, strict=True)
    fields = [pa.field(column.name, array.type, metadata=_metadata(column)) for column, array in types]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={LAYOUT: b"columns"}))


def _metadata(column: Column) -> dict[bytes, bytes] | None:
    """Return what the Arrow type of a column does not say about it."""
    if isinstance(column, AbsentColumn):
        return {KIND: b"absent"}
    if isinstance(column, NumberColumn) and column.exact is not None and column.exact.dtype == object:
        return {KIND: b"large integers"}
    return {KIND: b"date"} if column.kind == "date" else None


def _arrow_of_matrix(table: MatrixTable) -> pa.Table:
    import pyarrow as pa

    layout: dict[bytes | str, bytes | str] = {
        LAYOUT: b"sparse" if table.is_sparse else b"dense",
        WIDTH: str(len(table.names)).encode(),
    }
    if not isinstance(table.names, Numbered):
        layout[b"names"] = json.dumps(table.names).encode()
    matrix: Any = table.matrix
    if not table.is_sparse:
        values = fixed_width_array(np.ascontiguousarray(matrix).ravel())
        lists: list[Any] = [pa.FixedSizeListArray.from_arrays(values, max(len(table.names), 1))]
        return pa.Table.from_arrays(lists, schema=pa.schema([("values", lists[0].type)], metadata=layout))
    rows = matrix.tocsr()
    ends: Any = fixed_width_array(rows.indptr.astype(np.int64))
    parts = (rows.indices.astype(np.int32), rows.data)
    lists = [pa.LargeListArray.from_arrays(ends, fixed_width_array(part)) for part in parts]
    fields = [("positions", lists[0].type), ("values", lists[1].type)]
    return pa.Table.from_arrays(lists, schema=pa.schema(fields, metadata=layout))


def table_of_arrow(arrow: pa.Table) -> Table:
    """Return the table that `arrow_of_table` wrote; ValueError, KeyError or InputError if it is not one.

    The Arrow table must have been validated.
    """
    metadata = arrow.schema.metadata or {}
    if metadata[LAYOUT] == b"columns":
        names = unique_names(arrow.column_names)
        kinds = [(field.metadata or {}).get(KIND) for field in arrow.schema]
        columns = tuple(map(_column, names, kinds, arrow.columns))
        return ColumnTable(names, arrow.num_rows, columns)
    width = int(metadata[WIDTH])
    names_of_matrix: Any = Numbered(width)
    if b"names" in metadata:
        names_of_matrix = unique_names(json.loads(metadata[b"names"]))
    if len(names_of_matrix) != width or width < 0:
        raise ValueError("the names of a matrix are not those of its columns")
    if metadata[LAYOUT] == b"dense":
        return MatrixTable(_flat(arrow, "values").reshape(arrow.num_rows, width), names_of_matrix)
    return MatrixTable(_sparse_matrix(arrow, width), names_of_matrix)


def _column(name: str, kind: bytes | None, array: Any) -> Column:
    if kind == b"absent":
        return AbsentColumn(name, len(array))
    if kind == b"large integers":
        numbers = [None if text is None else _number(text) for text in python_strings(name, in_one_piece(array))]
        return column_of_numbers(name, numbers)
    column = column_of_arrow(name, array)
    return NumberColumn(name, "date", column.numbers()) if kind == b"date" else column


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _flat(arrow: pa.Table, name: str) -> NDArray[Any]:
    """Return the values of a column of lists one after the other."""
    import pyarrow as pa

    values: Any = in_one_piece(arrow.column(name)).flatten()  # type: ignore[attr-defined]
    if values.null_count:
        raise ValueError("an array has no nulls")
    is_boolean = pa.types.is_boolean(values.type)
    flat = array_of_arrow(values.cast(pa.uint8()) if is_boolean else values, None)
    return flat.astype(np.bool_) if is_boolean else as_core_type(flat)


def _sparse_matrix(arrow: pa.Table, width: int) -> Any:
    from scipy.sparse import csr_array

    lists: Any = in_one_piece(arrow.column("positions"))
    n_entries = array_of_arrow(lists.value_lengths(), None)
    indptr = np.concatenate([[0], np.cumsum(n_entries)])
    indices, values = _flat(arrow, "positions").astype(np.int32), _flat(arrow, "values")
    if len(indices) != len(values) or (len(indices) and (indices.min() < 0 or indices.max() >= width)):
        raise ValueError("an entry of a sparse matrix is not in one of its columns")
    return csr_array((values, indices, indptr), shape=(arrow.num_rows, width))
