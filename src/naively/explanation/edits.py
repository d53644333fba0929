"""One row of a table, copied with some of its cells changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from naively.data import ArrowStrings, Column, ColumnTable, ListOfStrings, MatrixTable, Table
from naively.data.names import positions_of
from naively.data.views import is_sparse

__all__ = ["edited"]


def edited(table: Table, row: int, edits: Sequence[Mapping[str, Any]]) -> Table:
    """A copy of the row for each of the edits, which say the new value of some columns."""
    if isinstance(table, MatrixTable):
        return _edited_matrix(table, row, edits)
    assert isinstance(table, ColumnTable)
    columns = tuple(_edited_column(column, row, edits) for column in table.columns)
    return ColumnTable(table.names, len(edits), columns)


def _edited_matrix(table: MatrixTable, row: int, edits: Sequence[Mapping[str, Any]]) -> MatrixTable:
    place = positions_of(table.names) if len(edits) * 4 > len(table.names) else None
    matrix: Any = table.matrix[[row]]
    if not is_sparse(matrix):
        copies = np.repeat(matrix, len(edits), axis=0)
        whole = all(float(value).is_integer() for edit in edits for value in edit.values())
        copies = copies if whole and copies.dtype != np.bool_ else copies.astype(np.float64)
        for i, edit in enumerate(edits):
            for name, value in edit.items():
                copies[i, table.names.index(name) if place is None else place[name]] = value
        return MatrixTable(copies, table.names, table.checked)
    from scipy.sparse import csr_array, vstack

    line = csr_array(matrix)
    lines = []
    for edit in edits:
        changed = {table.names.index(name): value for name, value in edit.items()}
        copy = line.copy()
        copy.data = np.array(
            [changed.get(int(k), x) for k, x in zip(line.indices, line.data, strict=True)], dtype=line.data.dtype
        )
        lines.append(copy)
    stacked: Any = csr_array(vstack(lines)) if lines else line[:0]
    return MatrixTable(stacked, table.names, table.checked)


def _edited_column(column: Column, row: int, edits: Sequence[Mapping[str, Any]]) -> Column:
    new = [edit.get(column.name, _SAME) for edit in edits]
    if isinstance(column, (ListOfStrings, ArrowStrings)):
        own = column.strings[row] if isinstance(column, ListOfStrings) else column.array[row].as_py()
        texts = tuple(own if value is _SAME else value for value in new)
        return ListOfStrings(column.name, column.kind, np.zeros(0), None, texts)
    if column.values is None:
        own = column.x[row]
        numbers = np.array([own if value is _SAME else value for value in new], dtype=np.float64)
        return Column(
            column.name, column.kind, numbers if any(v is not _SAME for v in new) else column.x[[row] * len(new)]
        )
    values = dict.fromkeys((*column.values, *(value for value in new if value is not _SAME)))
    place = {value: code for code, value in enumerate(values)}
    codes = np.array([column.x[row] if value is _SAME else place[value] for value in new], dtype=np.int32)
    return Column(column.name, column.kind, codes, tuple(values))


_SAME = object()
