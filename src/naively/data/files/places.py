"""Name the place of a row for messages: file and line, counted from 1 with the header, or the row where no lines are.

Rows are found by reading the files again, which only happens when there is something to report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from naively.data.files.bad_rows import BadRows, wrong_width
from naively.data.files.batches import ReadProgress
from naively.data.files.columnar import read_columnar
from naively.data.files.csv import Layout, OtherTypeError, Source, layout_of
from naively.data.files.lines import line_blocks
from naively.data.files.paths import STANDARD_INPUT, DataFile, Files
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user

MAX_REPORTED = 20  # bad rows of a report


def places_of_rows(files: Files, rows: Iterable[int]) -> dict[int, str]:
    """Return the place of rows, which are counted from 0 over all files."""
    wanted = set(rows)
    if files.is_standard_input:
        return {row: f"{STANDARD_INPUT}, row {row + 1:,}" for row in wanted}
    places: dict[int, str] = {}
    n_rows = 0
    for file in files.data_files():
        for place in _places(file, files):
            if n_rows in wanted:
                places[n_rows] = f"{file.given}{place}"
                if len(places) == len(wanted):
                    return places
            n_rows += 1
    return places


def _places(file: DataFile, how: Files) -> Iterator[str]:
    """Yield the place of each row within a file."""
    if file.format in ("csv", "tsv"):
        layout = layout_of(file, how)
        with file.open() as stream:
            yield from (f", line {n:,}" for n, row in layout.rows(stream) if len(row) == len(layout.names))
    elif file.format == "text":
        yield ""
    elif file.format == "json" and not file.is_json_array():
        with file.open() as stream:
            n_lines = 0
            for _, block in line_blocks(file.given, b"", stream, has_quotes=False):
                for line in block.splitlines():
                    n_lines += 1
                    if line.strip():
                        yield f", line {n_lines:,}"
    else:
        n_rows = 0
        for batch in read_columnar(file, how, {}, True, ReadProgress()):
            yield from (f", row {n:,}" for n in range(n_rows + 1, n_rows + batch.num_rows + 1))
            n_rows += batch.num_rows


def with_place(error: OtherTypeError, files: Files | None) -> InputError:
    """Return the error with file and line of its row, if it does not name them yet."""
    if error.row is None or files is None:
        return error
    place = places_of_rows(files, [error.row]).get(error.row, f"row {error.row + 1:,}")
    return OtherTypeError(f"{place}: {error.message}", error.column, error.wider, advice=error.advice)


def report_bad_rows(bad: BadRows) -> None:
    """Warn about the bad rows that were collected: what happened to them, and where they are."""
    if bad.files is None or not (bad.lines or bad.cells):
        return
    wrong_lines = [
        f"{source.given}, line {line:,}: {wrong_width(n_cells, len(layout.names))}"
        for source, layout in bad.lines
        for line, n_cells in _wrong_lines(source, layout)
    ]
    places = places_of_rows(bad.files, bad.cells)
    wrong_cells = [f"{places.get(row, f'row {row + 1:,}')}: {reason}" for row, reason in sorted(bad.cells.items())]
    for wrong, done in (
        (wrong_lines, "left out"),
        (wrong_cells, "left out" if bad.files.bad_rows == "skip" else "read with empty cells"),
    ):
        if wrong:
            rows = "1 row was" if len(wrong) == 1 else f"{len(wrong):,} rows were"
            warn_user(f"{rows} {done}:\n  {listed(wrong, MAX_REPORTED, separator=chr(10) + '  ')}", LeftOutWarning)


def _wrong_lines(source: Source, layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield the lines with too few or too many cells, and their number of cells."""
    with source.open() as stream:
        for line, row in layout.rows(stream, source.n_lines_before):
            if len(row) != len(layout.names):
                yield line, len(row)
