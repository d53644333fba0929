"""A stream of batches → tables with class codes and weights, each large enough to be worth counting."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError, LeftOutWarning
from naively.sources.frames import column_of_arrow
from naively.sources.labels import read_labels, read_weight
from naively.sources.table import ColumnTable, Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Part", "gathered", "is_stream", "parts"]

ROWS = 65_536  # rows in a part, and those on which the schema is decided


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows: their columns, classes, class codes and weights."""

    table: Table
    classes: tuple[Any, ...]
    label: NDArray[np.int32]
    weight: NDArray[np.float64] | None


def is_stream(X: Any) -> bool:
    """Whether X gives batches of rows one after the other."""
    return isinstance(X, Iterator) or type(X).__name__ == "RecordBatchReader"


def gathered(batches: Iterable[Any], rows: int = ROWS) -> Iterator[pa.Table]:
    """The same rows in tables of at least so many rows, but for the last."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    n = 0
    for batch in batches:
        table = _arrow(batch)
        if len(set(table.column_names)) < table.num_columns:
            double = min(name for name in table.column_names if table.column_names.count(name) > 1)
            raise InputError(f"column names must be unique; found more than once: {double}. Rename them.")
        waiting.append(table)
        n += table.num_rows
        if n >= rows:
            yield pa.concat_tables(waiting, promote_options="permissive")
            waiting, n = [], 0
    if waiting:
        yield pa.concat_tables(waiting, promote_options="permissive")


def _arrow(batch: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    if isinstance(batch, pa.Table):
        return batch
    if isinstance(batch, dict) or hasattr(batch, "__arrow_c_stream__"):
        return pa.table(batch)
    raise InputError(
        f"a stream of {type(batch).__name__}: give Arrow batches, frames or mappings, one after the other."
    )


def parts(batches: Iterable[Any], target: Any, weight: Any = None, ignore: Iterable[str] = ()) -> Iterator[Part]:
    """Columns, class codes and weights, table by table; rows without a target are left out, and counted."""
    left_out = seen = 0
    counted = False
    for table in gathered(batches):
        for name in filter(None, (target, weight)):
            if name not in table.column_names:
                listed = ", ".join(table.column_names[:8]) + (" …" if table.num_columns > 8 else "")
                what = "to predict" if name is target else "of weights"
                raise InputError(f"there is no column {name!r} {what}; the data has {listed}.")
        seen += table.num_rows
        gone = int(table[target].null_count) + _nans(table[target])
        left_out += gone
        part = _part(table, target, weight, set(ignore), gone > 0)
        if part is not None:
            counted = True
            yield part
    if not counted:
        raise InputError(f"no rows to count: {seen} in the data, {left_out} of them without a {target!r}.")
    if left_out:
        warnings.warn(f"{left_out} of {seen} rows have no {target!r} and were left out.", LeftOutWarning, stacklevel=4)


def _nans(column: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    return int(pc.sum(pc.is_nan(column)).as_py() or 0) if pa.types.is_floating(column.type) else 0


def _part(table: pa.Table, target: str, weight: str | None, ignore: set[str], gaps: bool) -> Part | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if gaps:
        table = table.filter(pc.invert(pc.is_null(table[target], nan_is_null=True)))
    weights = None
    if weight is not None:
        if not (pa.types.is_integer(table[weight].type) or pa.types.is_floating(table[weight].type)):
            raise InputError(f"column {weight!r} holds {table[weight].type}: weights are numbers.")
        given: Any = table[weight]
        zero = pc.equal(given.fill_null(1), pa.scalar(0.0))
        table = table.filter(pc.invert(zero))  # rows of weight zero are invisible
        weights = read_weight(table[weight].to_numpy(), table.num_rows) if table.num_rows else None
    if not table.num_rows:
        return None
    classes, label = _labels(table[target])
    rest = table.drop_columns([name for name in table.column_names if name in {target, weight} | ignore])
    if not rest.num_columns:
        raise InputError(f"there is no column beside {target!r} to learn from.")
    columns = tuple(column_of_arrow(name, column) for name, column in zip(rest.column_names, rest.columns, strict=True))
    return Part(ColumnTable(tuple(rest.column_names), rest.num_rows, columns), classes, label, weights)


def _labels(column: Any) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """Classes and codes; only the distinct labels are looked at one by one."""
    import pyarrow as pa

    whole: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    coded: Any = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    classes, places = read_labels(coded.dictionary.to_pylist())
    codes = coded.indices.to_numpy(zero_copy_only=False)
    present = np.unique(places[codes])  # a dictionary may list classes of other rows
    kept = tuple(classes[c] for c in present.tolist())
    return kept, np.searchsorted(present, places[codes]).astype(np.int32)
