"""Tables one below the other: the rows kept of a stream, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from naively.data.strings import ArrowStrings, ListOfStrings
from naively.data.table import Column, ColumnTable, MatrixTable, Table

__all__ = ["concatenated"]


def concatenated(tables: Sequence[Table]) -> Table:
    """The rows of tables that have the same columns."""
    if len(tables) == 1:
        return tables[0]
    if isinstance(tables[0], MatrixTable):
        return _matrices([table for table in tables if isinstance(table, MatrixTable)])
    columns = []
    for position in range(len(tables[0].names)):
        columns.append(_column([table.columns[position] for table in tables if isinstance(table, ColumnTable)]))
    return ColumnTable(tuple(tables[0].names), sum(table.n_rows for table in tables), tuple(columns))


def _matrices(tables: Sequence[MatrixTable]) -> MatrixTable:
    pieces: list[Any] = [table.matrix for table in tables]
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return MatrixTable(np.concatenate(pieces), tables[0].names)
    from scipy.sparse import vstack

    return MatrixTable(vstack(pieces, format="csr"), tables[0].names)


def _column(parts: Sequence[Column]) -> Column:
    """The values of several columns; one without a value takes the kind of the others."""
    known = [part for part in parts if part.kind != "unknown"]
    if not known:
        return Column(parts[0].name, "unknown", np.concatenate([part.x for part in parts]))
    if known[0].kind == "string":
        return _strings(parts)
    missing: Any = np.nan if known[0].values is None else -1
    pieces = [np.full(len(part), missing) if part.kind == "unknown" else part.x for part in parts]
    return Column(known[0].name, known[0].kind, np.concatenate(pieces), known[0].values)


def _strings(parts: Sequence[Column]) -> Column:
    lists = [part.strings for part in parts if isinstance(part, ListOfStrings)]
    if len(lists) == len(parts):
        return ListOfStrings(parts[0].name, "string", np.zeros(0), None, tuple(chain.from_iterable(lists)))
    import pyarrow as pa

    arrays = []
    for part in parts:
        if isinstance(part, ArrowStrings):
            arrays.append(part.array.cast(pa.large_string()))
        elif part.kind == "unknown":
            arrays.append(pa.nulls(len(part), pa.large_string()))
        else:
            codes, values = part.coded
            arrays.append(pa.array([None if c < 0 else str(values[c]) for c in codes.tolist()], pa.large_string()))
    return ArrowStrings(parts[0].name, "string", np.zeros(0), None, pa.concat_arrays(arrays))
