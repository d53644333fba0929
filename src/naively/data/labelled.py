"""A stream of batches → tables with class codes and weights, each large enough to be worth counting."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively.data.arrow_arrays import gapped
from naively.data.frames import Lists, column_of_arrow, in_one
from naively.data.labels import Labels, read_labels, read_weight
from naively.data.table import ColumnTable, Table
from naively.errors import InputError, LeftOutWarning

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


def gathered(batches: Iterable[Any], rows: int = ROWS) -> Iterator[pa.Table]:
    """The same rows in tables of so many rows but for the last, or less where they hold much. 0: as batches come."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    n = size = 0
    for batch in _uniquely_named(batches):
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        if rows == 0:
            yield table
            continue
        waiting.append(table)
        n, size = n + table.num_rows, size + _bytes(table)
        if n < rows and size < BYTES:
            continue
        rest = pa.concat_tables(waiting, promote_options="permissive")
        while rest.num_rows >= rows or (rest.num_rows and size >= BYTES):
            yield rest.slice(0, rows)
            rest = rest.slice(rows)
        waiting, n, size = ([rest], rest.num_rows, _bytes(rest)) if rest.num_rows else ([], 0, 0)
    if waiting:
        yield pa.concat_tables(waiting, promote_options="permissive")


def _to_count(batches: Iterable[Any]) -> Iterator[pa.Table | pa.RecordBatch]:
    """The same rows in tables that are worth counting: the first of so many rows, the others cut where batches end.

    So most batches are counted as they are, neither cut nor joined.
    """

    waiting: list[pa.Table | pa.RecordBatch] = []
    n = size = wanted = enough = 0
    for batch in _uniquely_named(batches):
        wanted = wanted or min(max(CELLS // max(batch.num_columns, 1), FEWEST), MOST)
        enough = enough or wanted
        waiting.append(batch)
        n, size = n + batch.num_rows, size + _bytes(batch)
        if n < enough and size < BYTES:
            continue
        rest = _joined(waiting)
        while rest.num_rows >= (wanted if enough == wanted else 2 * wanted):
            yield rest.slice(0, wanted)
            rest, enough = rest.slice(wanted), max(wanted // 16, 1)
        waiting, n, size = ([rest], rest.num_rows, _bytes(rest)) if rest.num_rows else ([], 0, 0)
        if waiting and (n >= enough or size >= BYTES):
            yield rest
            waiting, n, size = [], 0, 0
    if waiting:
        yield _joined(waiting)


def _joined(waiting: list[pa.Table | pa.RecordBatch]) -> pa.Table | pa.RecordBatch:
    import pyarrow as pa

    if len(waiting) == 1:
        return waiting[0]
    tables = [pa.Table.from_batches([some]) if isinstance(some, pa.RecordBatch) else some for some in waiting]
    return pa.concat_tables(tables, promote_options="permissive")


def _uniquely_named(batches: Iterable[Any]) -> Iterator[pa.Table | pa.RecordBatch]:
    """The batches as Arrow has them, no name twice."""
    last: list[str] = []
    for batch in batches:
        table = _arrow(batch)
        names = table.schema.names
        if names != last and len(set(names)) < len(names):
            double = min(name for name in names if names.count(name) > 1)
            raise InputError(f"column names must be unique; found more than once: {double}. Rename them.")
        last = names
        yield table


def _bytes(table: pa.Table | pa.RecordBatch) -> int:
    """How much the columns hold whose cells may be long; asking all of them takes longer than reading some."""
    import pyarrow as pa

    short = (pa.types.is_primitive, pa.types.is_dictionary, pa.types.is_null)
    types = enumerate(table.schema.types)
    return sum(table.column(j).nbytes for j, kind in types if not any(is_so(kind) for is_so in short))


def _arrow(batch: Any) -> pa.Table | pa.RecordBatch:
    import pyarrow as pa

    if isinstance(batch, (pa.RecordBatch, pa.Table)):
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
    lists, classes, aside = Lists(), _Classes(), {target, weight, *ignore}
    for table in _to_count(batches):
        _check_names(table, target, weight)
        seen += table.num_rows
        labels = table.column(target)
        gone = int(labels.null_count) + _nans(labels)
        left_out += gone
        some, weights = _counting(table, target, weight, gone > 0)
        if not some.num_rows:
            continue
        counted = True
        coded = classes.of(some.column(target))
        yield Part(_columns(some, aside, target, lists), *coded, weights)
    if not counted:
        raise InputError(f"no rows to count: {seen} in the data, {left_out} of them without a {target!r}.")
    if left_out:
        warnings.warn(f"{left_out} of {seen} rows have no {target!r} and were left out.", LeftOutWarning, stacklevel=4)


def _check_names(table: pa.Table | pa.RecordBatch, target: str, weight: str | None) -> None:
    names = table.schema.names
    for name in filter(None, (target, weight)):
        if name not in names:
            padded = any(column != column.strip() for column in names[:8])
            shown = map(repr, names[:8]) if padded else names[:8]  # spaces can be seen
            listed = ", ".join(shown) + (" …" if len(names) > 8 else "")
            what = "to predict" if name is target else "of weights"
            near = get_close_matches(name.strip().lower(), [column.strip().lower() for column in names], 1)
            meant = next((repr(column) for column in names if near == [column.strip().lower()]), "")
            hint = f" (did you mean {meant}?)" if meant else ""
            raise InputError(f"there is no column {name!r} {what}{hint}; the data has {listed}.")


def _nans(column: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    return int(pc.sum(pc.is_nan(column)).as_py() or 0) if pa.types.is_floating(column.type) else 0


def _counting(table: Any, target: str, weight: str | None, gaps: bool) -> tuple[Any, NDArray[np.float64] | None]:
    """The rows that count, and their weights."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if gaps:
        table = table.filter(pc.invert(pc.is_null(table.column(target), nan_is_null=True)))
    if weight is None:
        return table, None
    kind = table.column(weight).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        found = "text" if pa.types.is_dictionary(kind) or pa.types.is_string(kind) else kind
        raise InputError(f"column {weight!r} holds {found}: weights are numbers.")
    zero = pc.equal(table.column(weight).fill_null(1), pa.scalar(0.0))
    table = table.filter(pc.invert(zero))  # rows of weight zero are invisible
    if not table.num_rows:
        return table, None
    return table, read_weight(table.column(weight).to_numpy(zero_copy_only=False), table.num_rows)


def _columns(table: Any, aside: set[Any], target: str, lists: Lists) -> ColumnTable:
    """All columns but some."""
    rest = [(j, name) for j, name in enumerate(table.schema.names) if name not in aside]
    if not rest:
        raise InputError(f"there is no column beside {target!r} to learn from.")
    columns = tuple(column_of_arrow(name, table.column(j), lists) for j, name in rest)
    return ColumnTable(tuple(name for _, name in rest), table.num_rows, columns)


class _Classes:
    """Labels as classes and their codes; only the distinct labels are looked at one by one, and those once."""

    def __init__(self) -> None:
        self._last: tuple[Any, Labels] | None = None

    def of(self, column: Any) -> Labels:
        """The classes that there are, sorted, and the code of each row."""
        import pyarrow as pa

        whole = in_one(column)
        coded: Any = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        if self._last is None or not self._last[0].equals(coded.dictionary):
            self._last = coded.dictionary, read_labels(coded.dictionary.to_pylist())
        classes, places = self._last[1]
        codes = gapped(coded.indices)
        label, rows = kernels.relabel(codes, places)
        if rows.all():
            return classes, label
        there = np.zeros(len(classes), dtype=np.bool_)  # a dictionary may list classes of other rows
        there[places[rows > 0]] = True
        position = (np.cumsum(there) - 1).astype(np.int32)
        return tuple(classes[c] for c in np.flatnonzero(there).tolist()), position.take(label)
