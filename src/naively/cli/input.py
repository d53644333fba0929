"""Read data for a command: progress on the terminal, and errors that name the file."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from naively.cli.options import as_paths
from naively.data.files.batches import ReadProgress, rebatch
from naively.data.files.paths import data_files
from naively.data.files.read import read_files
from naively.data.names import listed
from naively.data.read import read
from naively.data.table import Table, concat_tables
from naively.data.views import Texts
from naively.errors import InputError
from naively.model.model import Model
from naively.model.predict_batches import as_trained

SECONDS_BETWEEN_REPORTS = 0.2


def read_with_progress(
    paths: str | list[Path], types: Mapping[str, str] | None = None, raw: bool = False
) -> Iterator[pa.RecordBatch]:
    """Read files in batches, and report the progress on standard error if that is a terminal; see `read_files`."""
    progress = ReadProgress()
    batches = read_files(paths, types, raw, progress)
    if not sys.stderr.isatty():
        yield from batches
        return
    started = reported = time.monotonic()
    n_rows = 0
    try:
        for n_batches, batch in enumerate(batches, start=1):
            yield batch
            n_rows += batch.num_rows
            now = time.monotonic()
            if now - reported > SECONDS_BETWEEN_REPORTS:
                reported = now
                sys.stderr.write(f"\r{format_progress(n_rows, now - started, progress.share(n_batches))}\x1b[K")
                sys.stderr.flush()
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def format_progress(n_rows: int, seconds: float, share: float | None) -> str:
    """Return the progress line: rows, rate and, if the share read so far is known, that and the time left.

    >>> format_progress(1_200_000, 4.0, 0.25)
    '1,200,000 rows, 300,000 a second, 25 %, 12 s left'
    >>> format_progress(50, 0.5, None)
    '50 rows, 100 a second'
    """
    line = f"{n_rows:,} rows, {n_rows / max(seconds, 1e-9):,.0f} a second"
    if not share:
        return line
    left = round(seconds * (1 - share) / share)
    clock = f"{left} s" if left < 100 else f"{left // 60} min" if left < 7200 else f"{left // 3600} h"
    return f"{line}, {100 * share:.0f} %, {clock} left"


@contextmanager
def name_file_in_errors(data: tuple[str, ...], *others: str) -> Iterator[None]:
    """Put the name of the data before an error that names neither a file of it nor one of the other names.

    >>> with name_file_in_errors(("-",)):
    ...     raise InputError("no rows to count.")
    Traceback (most recent call last):
    ...
    naively.errors.InputError: standard input: no rows to count.
    """
    try:
        yield
    except InputError as error:
        names = ["standard input"] if data == ("-",) else [file.given for file in data_files(as_paths(data))]
        if any(name in str(error) for name in (*names, *others)):
            raise
        error.args = (f"{listed(names, 1)}: {error}",)
        raise


def read_tables(model: Model, data: tuple[str, ...]) -> Iterator[tuple[pa.Table, Table]]:
    """Yield the rows of the data in tables: as they are written, and as the columns that the model reads."""
    missing_names: set[str] = set()
    n_rows = 0
    for table in rebatch(read_with_progress(as_paths(data), raw=True)):
        yield table, as_trained(model, table, missing_names, n_rows)
        n_rows += table.num_rows


def read_rows(model: Model, data: tuple[str, ...], numbers: tuple[int, ...]) -> Table:
    """Read single rows of the data by their numbers, counted from 1."""
    rows: dict[int, Table] = {}
    n_rows, missing_names = 0, set[str]()
    with name_file_in_errors(data):
        for table in rebatch(read_with_progress(as_paths(data), raw=True)):
            for number in numbers:
                if n_rows < number <= n_rows + table.num_rows:
                    rows[number] = as_trained(model, table.slice(number - 1 - n_rows, 1), missing_names, number - 1)
            n_rows += table.num_rows
            if n_rows >= max(numbers):
                break
        if absent := [number for number in numbers if number not in rows]:
            raise InputError(f"there is no row {absent[0]}: the data has {n_rows} rows.")
    return concat_tables([rows[number] for number in numbers])


def row_of_text(model: Model, text: str) -> Table:
    """Return one row with this text in the model's only text column; the other columns are absent."""
    columns = [name for name, family in model.schema.families() if family.statistic.view is Texts]
    if len(columns) != 1:
        names = f"{len(columns)} ({listed(columns, 4)})" if columns else "none"
        raise InputError(f"--text needs a model with one text column; this model has {names}. Give DATA instead.")
    return read({columns[0]: [text]}).with_absent_columns(model.schema.names)[0]
