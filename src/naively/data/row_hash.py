"""A hash of each row's content, by which rows are sampled and fall into folds, whatever their order.

    h(row) = mix(key + label + Σ_columns mix(value + mix(name)))            modulo 2⁶⁴        (1)

The same value has the same hash as a Python object, in NumPy, pandas or Arrow, as a string or as a code of a
dictionary, in a dense or a sparse matrix. Numbers are hashed as their float64 (−0.0 as 0.0, True as 1.0), texts by
their bytes, a missing value by a constant. Columns are added up, so neither their order nor that of the rows matters.
Source of `mix`: Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014 (its finaliser).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.hashes import add_code_hashes, add_number_hashes
from naively._kernels.text import hash_texts
from naively.data.names import Names
from naively.data.strings import ArrowStrings, ListOfStrings
from naively.data.table import Column, ColumnTable, MatrixTable, Table
from naively.data.views import is_sparse

__all__ = ["row_hashes"]

Hashes = NDArray[np.uint64]

KEY = np.uint64(0x6E61697665_6C79)  # nobody chooses rows by it: it only has to be a constant
MISSING = np.uint64(0xA0761D6478BD642F)
STRIP = 2**22  # numbers of a matrix hashed at a time: 32 MB


def row_hashes(
    table: Table, classes: Sequence[Any] = (), label: NDArray[np.integer] | None = None, names: Names | None = None
) -> Hashes:
    """Equation (1): one number per row, over all columns or those named, and the class of the row if it has one.

    >>> from naively.data import read
    >>> one = row_hashes(read({"age": [30, 41], "job": ["cook", None]}), ("no", "yes"), np.array([1, 0]))
    >>> two = row_hashes(read({"job": [None, "cook"], "age": [41.0, 30.0]}), ("yes",  "no"), np.array([1, 0]))
    >>> (one[::-1] == two).all()
    np.True_
    """
    chosen = table.names if names is None else names
    salt = mix(hash_texts(list(chosen)))
    if isinstance(table, MatrixTable):
        total = _matrix(table, chosen, salt)
    else:
        assert isinstance(table, ColumnTable)
        total = np.zeros(table.n_rows, np.uint64)
        column = dict(zip(table.names, table.columns, strict=True))
        for name, own in zip(chosen, salt, strict=True):
            _add_column(total, column[name], own)
    total += KEY
    if label is not None:
        total += _values(classes)[label]
    return mix(total)


def mix(x: Hashes) -> Hashes:
    """A one-to-one map of 64 bits in which every bit depends on every other."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _numbers(x: NDArray[Any]) -> Hashes:
    """Numbers by the bits of their float64."""
    values = np.ascontiguousarray(x, dtype=np.float64) + 0.0  # −0.0 + 0.0 is 0.0
    return np.where(np.isnan(values), MISSING, values.view(np.uint64))


def _values(values: Sequence[Any]) -> Hashes:
    """Values one by one: strings by their bytes, numbers and booleans as numbers."""
    out = np.empty(len(values), np.uint64)
    texts = np.array([isinstance(value, str) for value in values], dtype=np.bool_)
    out[texts] = hash_texts([value for value in values if isinstance(value, str)])
    out[~texts] = _numbers(np.array([float(value) for value in values if not isinstance(value, str)]))
    return out


def _add_column(total: Hashes, column: Column, salt: np.uint64) -> None:
    """Add what a column has to the sum in (1); what was coded is hashed once for each of its values."""
    known = _coded(column)
    if known is not None:
        codes, values = known
        add_code_hashes(codes, mix(np.append(_values(values), MISSING) + salt), total)  # the code −1 is the last
        return
    if isinstance(column, (ArrowStrings, ListOfStrings)):
        found = hash_texts(column.texts())
        total += mix(np.where(found == 0, MISSING, found) + salt)
        return
    add_number_hashes(column.x, int(salt), int(MISSING), total)


def _coded(column: Column) -> tuple[NDArray[Any], Sequence[Any]] | None:
    """The codes of a column and their values, if it has any: strings have some once they were counted by value."""
    if column.kind == "unknown":
        return np.full(len(column), -1), ()
    if column.values is not None:
        return column.x, column.values
    found: tuple[NDArray[Any], Sequence[Any]] | None = vars(column).get("coded")
    return found


def _matrix(table: MatrixTable, names: Names, salt: Hashes) -> Hashes:
    """The sum over the columns of a matrix; a sparse one is that of all zeros, changed where it is not zero."""
    matrix: Any = table.matrix
    if names != table.names:
        place = {name: j for j, name in enumerate(table.names)}
        matrix = matrix[:, [place[name] for name in names]]
    if is_sparse(matrix):
        rows = matrix.tocsr()
        zeros = mix(salt)  # the bits of 0.0 are 0
        change = mix(_numbers(rows.data) + salt[rows.indices]) - zeros[rows.indices]
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(change, dtype=np.uint64)])
        return np.asarray(running[rows.indptr[1:]] - running[rows.indptr[:-1]] + zeros.sum(dtype=np.uint64))
    total = np.zeros(matrix.shape[0], np.uint64)
    step = max(1, STRIP // max(1, matrix.shape[0]))
    for start in range(0, matrix.shape[1], step):
        strip = _numbers(matrix[:, start : start + step])
        total += mix(strip + salt[start : start + step]).sum(axis=1, dtype=np.uint64)
    return total
