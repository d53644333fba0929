"""Rows that cannot be read as they are: collected while files are read, and reported at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from naively.data.files.paths import Files

if TYPE_CHECKING:
    from pyarrow import csv as arrow_csv

    from naively.data.files.csv import Layout, Source


class BadRows:
    """The bad rows of some files; by default none is allowed.

    `lines` are the files, or blocks of standard input, that have lines with too few or too many cells, which the reader
    leaves out. `cells` holds, for rows counted from 0 without these, what is wrong with a cell.
    """

    def __init__(self, files: Files | None = None) -> None:
        """Start without bad rows."""
        self.files = files
        self.lines: list[tuple[Source, Layout]] = []
        self.cells: dict[int, str] = {}

    @property
    def are_allowed(self) -> bool:
        """Return whether bad rows are collected; if not, they are errors."""
        return self.files is not None and self.files.bad_rows != "stop"

    def skip_line(self, source: Source, layout: Layout) -> Callable[[arrow_csv.InvalidRow], Literal["skip", "error"]]:
        """Return the function that Arrow calls for a line with too few or too many cells."""

        def skip(_: arrow_csv.InvalidRow) -> Literal["skip", "error"]:
            if not self.lines or self.lines[-1][0] is not source:
                self.lines.append((source, layout))
            return "skip"

        return skip

    def rows_to_keep(self, first_row: int, n_rows: int) -> NDArray[np.intp] | None:
        """Return the positions of the rows of a table that are not left out; None if all are kept."""
        if self.files is None or self.files.bad_rows != "skip" or not self.cells:
            return None
        bad = [row - first_row for row in self.cells if first_row <= row < first_row + n_rows]
        return np.delete(np.arange(n_rows), bad) if bad else None


def skip_silently(_: arrow_csv.InvalidRow) -> Literal["skip", "error"]:
    """Leave out a line with too few or too many cells, which is reported when it is read again."""
    return "skip"


def wrong_width(n_cells: int | str, n_names: int | str) -> str:
    """Return what is wrong with a line.

    >>> wrong_width(1, 3)
    '1 cell where the header has 3'
    """
    return f"{n_cells} cell{'' if str(n_cells) == '1' else 's'} where the header has {n_names}"
