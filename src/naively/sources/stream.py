"""A stream of batches → tables with class codes and weights, each large enough to be worth counting."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import kernels
from naively.errors import InputError, LeftOutWarning
from naively.sources.arrow_arrays import filled_codes
from naively.sources.frames import Lists, column_of_arrow
from naively.sources.labels import read_labels, read_weight
from naively.sources.table import ColumnTable, Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Part", "gathered", "is_stream", "parts"]

ROWS = 65_536  # rows of a table to be answered
# A table to be counted has about so many cells (64 MB of numbers), and rows within these bounds; fewer if it has more
# bytes: texts may be long. Each takes some time beside that for its rows, so small ones cost more; large ones leave the
# caches, their memory is not used again before the system has taken it back, and the last is counted when nothing is
# left to read.
CELLS, FEWEST, MOST, BYTES = 2**23, 1024, 2**16, 2**27


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


def gathered(batches: Iterable[Any], rows: int | None = ROWS) -> Iterator[pa.Table]:
    """The same rows in tables of so many rows but for the last, or less where they hold much.

    None, to be counted: as many as are worth counting at once, by the number of columns; after the first table about as
    many, cut where batches end if that can be. 0: each batch as it comes.
    """
    import pyarrow as pa

    waiting: list[pa.Table] = []
    n = size = 0
    wanted, loosely = rows, False
    for batch in batches:
        table = _arrow(batch)
        if len(set(table.column_names)) < table.num_columns:
            double = min(name for name in table.column_names if table.column_names.count(name) > 1)
            raise InputError(f"column names must be unique; found more than once: {double}. Rename them.")
        if rows == 0:
            yield table
            continue
        wanted = wanted or min(max(CELLS // max(table.num_columns, 1), FEWEST), MOST)
        waiting.append(table)
        n, size = n + table.num_rows, size + _bytes(table)
        if n < (wanted // 2 if loosely else wanted) and size < BYTES:
            continue
        rest = waiting[0] if len(waiting) == 1 else pa.concat_tables(waiting, promote_options="permissive")
        while rest.num_rows >= (2 * wanted if loosely else wanted):
            yield rest.slice(0, wanted)
            rest = rest.slice(wanted)
        if rest.num_rows and (loosely or size >= BYTES):
            yield rest
            rest = rest.slice(rest.num_rows)
        waiting, n, size = ([rest], rest.num_rows, _bytes(rest)) if rest.num_rows else ([], 0, 0)
        loosely = rows is None
    if waiting:
        yield pa.concat_tables(waiting, promote_options="permissive")


def _bytes(table: pa.Table) -> int:
    """How much the columns hold whose cells may be long; asking all of them takes longer than reading some."""
    import pyarrow as pa

    short = (pa.types.is_primitive, pa.types.is_dictionary, pa.types.is_null)
    return sum(column.nbytes for column in table.columns if not any(is_so(column.type) for is_so in short))


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
    lists, left_aside = Lists(), set(ignore)
    for table in gathered(batches, None):
        for name in filter(None, (target, weight)):
            if name not in table.column_names:
                padded = any(column != column.strip() for column in table.column_names[:8])
                shown = map(repr, table.column_names[:8]) if padded else table.column_names[:8]  # spaces can be seen
                listed = ", ".join(shown) + (" …" if table.num_columns > 8 else "")
                what = "to predict" if name is target else "of weights"
                raise InputError(f"there is no column {name!r} {what}; the data has {listed}.")
        seen += table.num_rows
        gone = int(table[target].null_count) + _nans(table[target])
        left_out += gone
        part = _part(table, target, weight, left_aside, gone > 0, lists)
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


def _part(table: pa.Table, target: str, weight: str | None, ignore: set[str], gaps: bool, lists: Lists) -> Part | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if gaps:
        table = table.filter(pc.invert(pc.is_null(table[target], nan_is_null=True)))
    weights = None
    if weight is not None:
        kind = table[weight].type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            found = "text" if pa.types.is_dictionary(kind) or pa.types.is_string(kind) else kind
            raise InputError(f"column {weight!r} holds {found}: weights are numbers.")
        given: Any = table[weight]
        zero = pc.equal(given.fill_null(1), pa.scalar(0.0))
        table = table.filter(pc.invert(zero))  # rows of weight zero are invisible
        weights = read_weight(table[weight].to_numpy(), table.num_rows) if table.num_rows else None
    if not table.num_rows:
        return None
    classes, label = _labels(table[target])
    aside = {target, weight} | ignore
    rest = [(name, table.column(j)) for j, name in enumerate(table.column_names) if name not in aside]
    if not rest:
        raise InputError(f"there is no column beside {target!r} to learn from.")
    columns = tuple(column_of_arrow(name, column, lists) for name, column in rest)
    return Part(ColumnTable(tuple(name for name, _ in rest), table.num_rows, columns), classes, label, weights)


def _labels(column: Any) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """Classes and codes; only the distinct labels are looked at one by one."""
    import pyarrow as pa

    whole: Any = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    coded: Any = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    classes, places = read_labels(coded.dictionary.to_pylist())
    codes = filled_codes(coded)
    seen = kernels.count_labels(codes, len(places)) > 0  # a dictionary may list classes of other rows
    if seen.all() and (places == np.arange(len(places))).all():
        return classes, codes
    there = np.zeros(len(classes), dtype=np.bool_)
    there[places[seen]] = True
    position = (np.cumsum(there) - 1).astype(np.int32)
    return tuple(classes[c] for c in np.flatnonzero(there).tolist()), position[places].take(codes)
