"""Batches of rows on their way from a reader: tables of equal length, read ahead by a thread, with their progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from naively.data.files.paths import DataFile
from naively.data.names import unique_names
from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

MAX_ROWS = 2**18  # rows of a table: counting fewer at a time takes longer
MIN_ROWS = 2**10  # rows of a table, if it has many columns
MAX_CELLS = 2**23  # cells of a table that has more than MIN_ROWS rows: 64 MB of numbers
MAX_BYTES = 2**27  # of strings in a table, whose cells may be long
READER_NAME = "naively-reader"  # of threads that read ahead
SECONDS_OF_A_WAIT = 0.2
MAX_WAITING = 2  # batches read ahead, of 4 MB of CSV or 65,536 rows each


def rebatch(batches: Iterable[object], rows: int | None = None) -> Iterator[pa.Table]:
    """Yield the same rows in Arrow tables of equal length; one whose strings take much space has fewer rows.

    Parameters
    ----------
    batches
        Arrow batches or tables, frames, or mappings from column name to values.
    rows
        The number of rows of each table but the last. By default 262,144, fewer if there are more than 32 columns.
    """
    waiting: list[pa.Table] = []
    n_rows = n_bytes = 0
    for table in arrow_tables(batches):
        rows = rows or min(max(MAX_CELLS // max(table.num_columns, 1), MIN_ROWS), MAX_ROWS)
        waiting.append(table)
        n_rows, n_bytes = n_rows + table.num_rows, n_bytes + _string_bytes(table)
        if n_rows < rows and n_bytes < MAX_BYTES:
            continue
        rest = _concat(waiting)
        while rest.num_rows >= rows or (rest.num_rows and n_bytes >= MAX_BYTES):
            yield rest.slice(0, rows)
            rest = rest.slice(rows)
        waiting = [rest] if rest.num_rows else []
        n_rows, n_bytes = rest.num_rows, _string_bytes(rest)
    if waiting:
        yield _concat(waiting)


def _concat(tables: list[pa.Table]) -> pa.Table:
    """Return the rows of tables one below the other; a column that a table does not have is missing there."""
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(f"a column has different types in different batches ({error}): convert it.") from None


def arrow_tables(batches: Iterable[object]) -> Iterator[pa.Table]:
    """Yield each batch as an Arrow table; refuse a column name that occurs twice."""
    import pyarrow as pa

    from naively.data.frames import arrow_table  # imports NumPy, which the command line does not need for its help

    for batch in batches:
        if isinstance(batch, pa.RecordBatch):
            table = pa.Table.from_batches([batch])
        elif isinstance(batch, pa.Table):
            table = batch
        elif isinstance(batch, Mapping) or hasattr(batch, "__arrow_c_stream__"):
            table = arrow_table(batch)
        else:
            raise InputError(
                f"a stream of {type(batch).__name__}: give Arrow batches, frames or mappings, one after the other."
            )
        unique_names(table.schema.names)
        yield table


def _string_bytes(table: pa.Table) -> int:
    """Return the size of the columns whose cells may be long; the size of all columns takes longer to compute."""
    import pyarrow as pa

    has_short_cells = (pa.types.is_primitive, pa.types.is_dictionary, pa.types.is_null)
    types = enumerate(table.schema.types)
    return sum(table.column(j).nbytes for j, kind in types if not any(is_kind(kind) for is_kind in has_short_cells))


def prefetch(batches: Generator[T]) -> Iterator[T]:
    """Yield the same batches, the next ones read by a thread while the caller works on the last one.

    An exception of the reader is raised here. The reader is closed when the caller stops. After Ctrl-C it is not waited
    for: it may wait for standard input.

    >>> list(prefetch(x * x for x in range(4)))
    [0, 1, 4, 9]
    """
    end, is_interrupted = object(), False
    reader = ThreadPoolExecutor(1, READER_NAME)  # one thread opens, reads and closes: SQLite requires it
    waiting = deque(reader.submit(next, batches, end) for _ in range(MAX_WAITING))
    try:
        while (batch := _result(waiting.popleft())) is not end:
            waiting.append(reader.submit(next, batches, end))
            yield cast("T", batch)
    except KeyboardInterrupt:
        is_interrupted = True
        raise
    finally:
        for future in waiting:
            future.cancel()
        reader.submit(batches.close)
        reader.shutdown(wait=not is_interrupted)


def _result(future: Future[T]) -> T:
    """Wait for a result, a moment at a time: a signal handler of polars keeps Ctrl-C from ending a wait."""
    while wait([future], SECONDS_OF_A_WAIT).not_done:
        pass
    return future.result()


class ReadProgress:
    """The share of the bytes of some files that each batch has brought.

    A reader follows a file in its thread, and notes the share with every batch. Readers read ahead, so the caller asks
    for the share by the number of batches that it has taken.
    """

    def __init__(self) -> None:
        """Start with an unknown share."""
        self._total = self._before = self._size = 0
        self._share: Callable[[], float | None] = _unknown
        self._shares: list[float | None] = []

    def begin(self, file: DataFile, files: Sequence[DataFile]) -> None:
        """Start the next one of the files; the share of it that has been read is not known yet."""
        self._total = self._total or sum(file.size for file in files)
        self._before, self._size, self._share = self._before + self._size, file.size, _unknown

    def follow(self, file: BinaryIO, stream: BinaryIO, n_parsed: Callable[[], int] | None = None) -> None:
        """Follow the position in a file.

        Parameters
        ----------
        file
            The file as it is on the disk, perhaps compressed.
        stream
            Its bytes, decompressed; the file itself if it is not compressed.
        n_parsed
            Returns how many of the bytes of the stream are in the batches so far. By default all that have been read.
        """

        def share() -> float | None:
            position, n_read = file.tell(), stream.tell()
            parsed = 1.0 if n_parsed is None or not n_read else min(1.0, n_parsed() / n_read)
            return position / max(1, self._size) * parsed

        self._share = share

    def rows(self, n_read: int, n_rows: int | None) -> None:
        """Set how many of the file's rows have been read; None, or fewer than these, is an unknown number of rows."""
        self._share = _unknown if n_rows is None or n_rows < n_read else lambda: n_read / max(1, n_rows)

    def note_batch(self) -> None:
        """Note the share that the next batch brings."""
        try:
            share = self._share()
        except (ValueError, OSError):  # the stream has been closed in the meantime
            share = None
        if share is None or not self._total:
            self._shares.append(None)
            return
        last = self._shares[-1] if self._shares else None
        share = (self._before + self._size * min(1.0, share)) / self._total
        self._shares.append(min(1.0, max(share, last or 0.0)))  # of a compressed file it is an estimate

    def share(self, n_batches: int) -> float | None:
        """Return the share of all bytes that the first batches have brought, None if it is unknown."""
        return self._shares[n_batches - 1] if 0 < n_batches <= len(self._shares) else None


def _unknown() -> None:
    return None
