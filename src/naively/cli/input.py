"""Read data for a command: progress on the terminal, and errors that name the file."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from naively.cli.options import RowsToCount, label_of
from naively.cli.output import print_note
from naively.data.files.bad_rows import BadRows
from naively.data.files.batches import ReadProgress, rebatch
from naively.data.files.cells import Cells
from naively.data.files.csv import OtherTypeError
from naively.data.files.paths import MISSING_CELLS, STANDARD_INPUT, Files
from naively.data.files.places import report_bad_rows, with_place
from naively.data.files.read import read_files
from naively.data.labelled import Label
from naively.data.names import counted, listed, nearest, similar_names
from naively.data.table import Table, concat_tables
from naively.data.views import Texts
from naively.errors import InputError
from naively.model.model import Model
from naively.model.score import as_trained, read_like
from naively.store.ledger import Ledger

SECONDS_BETWEEN_REPORTS = 0.2


def read_with_progress(files: Files, types: Mapping[str, str] | None = None) -> Iterator[pa.RecordBatch]:
    """Read files in batches, and report the progress on standard error if that is a terminal; see `read_files`."""
    progress = ReadProgress()
    return show_progress(read_files(files, types, progress=progress), progress)


def show_progress(batches: Iterator[pa.RecordBatch], progress: ReadProgress) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and report the progress on standard error if that is a terminal."""
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
def name_file_in_errors(data: Files | None, *others: str) -> Iterator[None]:
    """Put the name of the data before an error that names neither a file of it nor one of the other names.

    >>> with name_file_in_errors(Files("-")):
    ...     raise InputError("no rows to count.")
    Traceback (most recent call last):
    ...
    naively.errors.InputError: standard input: no rows to count.
    """
    try:
        yield
    except InputError as error:
        if data is None:
            raise
        names = [STANDARD_INPUT] if data.is_standard_input else [file.given for file in data.data_files()]
        if any(name in str(error) for name in (*names, *others)):
            raise
        error.args = (f"{listed(names, 1)}: {error}",)
        raise


def read_numbered_rows(model: Model, data: Files, numbers: tuple[int, ...]) -> Table:
    """Read single rows of the data by their numbers, counted from 1."""
    rows: dict[int, Table] = {}
    n_rows, warned, bad, progress = 0, set[str](), BadRows(data), ReadProgress()
    with name_file_in_errors(data):
        try:
            for table in rebatch(show_progress(read_files(data, raw=True, progress=progress, bad=bad), progress)):
                for number in numbers:
                    if n_rows < number <= n_rows + table.num_rows:
                        row = table.slice(number - 1 - n_rows, 1)
                        rows[number] = as_trained(model, row, warned, number - 1, bad)
                n_rows += table.num_rows
                if n_rows >= max(numbers):
                    break
        except OtherTypeError as error:
            raise with_place(error, data) from None
        report_bad_rows(bad)
        if absent := [number for number in numbers if number not in rows]:
            raise InputError(f"there is no row {absent[0]}: the data has {counted(n_rows, 'row')}.")
    return concat_tables([rows[number] for number in numbers])


def row_of_options(model: Model, values: tuple[str, ...], text: str | None) -> pa.Table:
    """Return the row that --set and --text give, as cells of CSV; other columns are not in it."""
    cells: dict[str, str] = {}
    for item in values:
        name, value = _name_and_value(model, item)
        if name in cells:
            raise InputError(f"--set {item}: column {name!r} has the value {cells[name]!r} already: give it once.")
        cells[name] = value
    if text is not None:
        column = model.schema.text_column()
        if column is None:
            names = [name for name, family in model.schema.families() if family.statistic.view is Texts]
            described = f"{len(names)} ({listed(names, 4)})" if names else "none"
            raise InputError(f"--text needs a model with one text column; this model has {described}. Use --set.")
        if column in cells:
            raise InputError(f"--text is the column {column!r}, which --set gives too: give one of them.")
        cells[column] = text
    for column, cell, near in _unseen_values(model, cells):
        hint = "" if near is None else f"; the nearest is {near!r}"
        print_note(f"{column}: the model has not seen {cell!r}{hint}.")
    return pa.table({name: pa.array([cell], pa.string()) for name, cell in cells.items()}, metadata=Cells().mark())


def _unseen_values(model: Model, cells: Mapping[str, str]) -> Iterator[tuple[str, str, str | None]]:
    """Yield the cells of columns of categories that the model has not counted, with the nearest value it has."""
    for block, statistic in zip(model.chosen.schema.blocks, model.chosen.statistics, strict=True):
        for j, name in enumerate(block.names):
            cell = cells.get(name, "")
            if block.kind(j) != "string" or cell in MISSING_CELLS:
                continue
            table = statistic.table(j)
            known = [] if table is None else [str(value) for value in table.values]
            if known and cell not in known:
                yield name, cell, nearest(cell, known)


def read_one_row(model: Model, values: tuple[str, ...], text: str | None) -> Table:
    """Return the row that --set and --text give, as the columns that the model reads."""
    [(_, row)] = read_like(model, [row_of_options(model, values, text)])
    return row


def rows_and_labels(ledger: Ledger, rows: RowsToCount) -> tuple[Files | Table, str | list[Label | None] | None]:
    """Return what a command counts: DATA and the name of its target, or one row and its label."""
    if rows.data is not None:
        return rows.data, rows.target
    model = ledger.model()
    return read_one_row(model, rows.values, rows.text), [label_of(model, rows.label)]


def _name_and_value(model: Model, item: str) -> tuple[str, str]:
    """Split COLUMN=VALUE where the name is a column of the model, up to case and blanks."""
    parts = item.split("=")
    for n in range(1, len(parts)):
        name, value = "=".join(parts[:n]), "=".join(parts[n:])
        known = name if name in model.schema.names else similar_names((name,), model.schema.names).get(name)
        if known is not None:
            return known, value
    if len(parts) < 2:
        raise InputError(f"--set {item}: give COLUMN=VALUE.")
    raise InputError(f"--set {item}: the model has no such column; it has {listed(model.schema.names)}.")


def read_text(path: Path) -> str:
    """Return the text of a file; InputError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
