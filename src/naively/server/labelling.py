"""Choose the row of a pool that is most useful to label next.

    margin = p(most probable class | x) − p(second class | x)                               (1)
    distance of two rows = mean over the columns of their distance, each from 0 to 1        (2)

The row of the smallest margin comes first, unless it is close by (2) to a row that was just labelled: two
near-duplicates teach little more than one. In (2) the distance of numbers is that of their ranks in the pool, as a
share; that of values is 0 or 1; that of texts is the share of their words that only one of them has (Jaccard).

All rows are scored once, in the background again whenever the model has changed. For the next row the current model
scores the rows of smallest margin only.
Source: Settles, Active Learning Literature Survey (2009), §3.1.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from naively._kernels.types import Floats, Index
from naively.data.columns import ranks
from naively.data.files.batches import rebatch
from naively.data.files.read import read_files
from naively.data.table import Table, concat_tables
from naively.data.views import Codes, Texts
from naively.errors import InputError
from naively.model.model import Model
from naively.model.score import as_trained
from naively.store.entries import Entry

N_CANDIDATES = 512  # rows of smallest margin that the current model scores again
N_RECENT = 20  # rows labelled last, whose near-duplicates are not shown
MAX_DISTANCE = 0.15  # of near-duplicates, by equation (2)
ROWS_AT_A_TIME = 65_536
WORD = re.compile(r"\w+")
COMMENT = re.compile(r"label row (\d+) of (.*)", re.DOTALL)


def comment_of(path: Path, row: int) -> str:
    """Return the comment of the entry that counts a row of a pool; rows are numbered from 1 there."""
    return f"label row {row + 1} of {path.name}"


def labelled_rows(entries: Iterable[Entry], path: Path) -> dict[int, Entry]:
    """Return the entries that count rows of a pool, by row, in the order of the log; undone ones are left out."""
    labelled: dict[int, Entry] = {}
    for entry in entries:
        match = COMMENT.fullmatch(entry.comment) if entry.act == "update" and entry.is_current else None
        if match and match[2] == path.name:
            labelled[int(match[1]) - 1] = entry
    return labelled


@dataclass(frozen=True)
class Choice:
    """A row to label: its position in the pool, its margin and the probability of each class."""

    row: int
    margin: float
    posterior: Floats


class Pool:
    """Rows without a label, and the margin of each by the model that has scored them all last.

    Parameters
    ----------
    model
        The model whose columns are read.
    path
        A file of rows.
    version
        The version of the model.
    """

    def __init__(self, model: Model, path: str | Path, version: int) -> None:
        """Read the rows and score them."""
        self.path = Path(path)
        tables = list(rebatch(read_files(self.path, raw=True), ROWS_AT_A_TIME))
        if not sum(table.num_rows for table in tables):
            raise InputError(f"{self.path}: there are no rows to label.")
        starts = np.cumsum([0, *(table.num_rows for table in tables)]).tolist()
        warned: set[str] = set()
        parts = [as_trained(model, table, warned, start) for table, start in zip(tables, starts, strict=False)]
        self._table: Table = concat_tables(parts)
        self.cells: pa.Table = pa.concat_tables([_as_texts(table, model) for table in tables])
        self._columns = _distance_columns(model, self._table)
        self._words: dict[tuple[int, int], frozenset[str]] = {}
        self._lock = threading.Lock()
        self._is_scoring = False
        self.version = version
        self._margins = self._score_all(model)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._table.n_rows

    def texts(self, row: int) -> dict[str, str]:
        """Return the values of a row as texts, without missing ones."""
        cells = {name: self.cells[name][row].as_py() for name in self.cells.column_names}
        return {name: cell for name, cell in cells.items() if cell is not None and cell.strip()}

    def next_row(
        self, model: Model, done: set[int], recent: Sequence[int] = (), skipped: Iterable[int] = ()
    ) -> Choice | None:
        """Return the row to label next; None if all are labelled.

        Parameters
        ----------
        model
            The current model.
        done
            The rows that have a label.
        recent
            The rows that were labelled last: near-duplicates of them come after all other candidates.
        skipped
            Rows that come last.
        """
        margins = self._margins.copy()
        margins[[row for row in skipped if row < len(margins)]] += 2.0  # above every margin
        margins[list(done)] = np.inf
        n_left = int(np.isfinite(margins).sum())
        if not n_left:
            return None
        n_candidates = min(N_CANDIDATES, n_left)
        rows = np.sort(np.argpartition(margins, n_candidates - 1)[:n_candidates])
        posterior = model.posterior(self._table.take(rows))
        margin = margin_of(posterior)
        is_near = self._near(rows, list(recent)[-N_RECENT:])
        is_skipped = margins[rows] >= 2.0
        best = int(np.lexsort((rows, margin, is_near, is_skipped))[0])
        return Choice(int(rows[best]), float(margin[best]), posterior[best])

    def choice(self, model: Model, row: int) -> Choice:
        """Return a given row with its margin."""
        posterior = model.posterior(self._table.take(np.array([row])))
        return Choice(row, float(margin_of(posterior)[0]), posterior[0])

    def refresh(self, model: Model, version: int) -> None:
        """Score all rows again, unless that is under way or done for this version."""
        with self._lock:
            if self._is_scoring or version == self.version:
                return
            self._is_scoring = True
        try:
            self._margins = self._score_all(model)
            self.version = version
        finally:
            self._is_scoring = False

    def _score_all(self, model: Model) -> Floats:
        margins = [
            margin_of(model.posterior(self._table.take(np.arange(start, min(start + ROWS_AT_A_TIME, self.n_rows)))))
            for start in range(0, self.n_rows, ROWS_AT_A_TIME)
        ]
        return np.concatenate(margins)

    def _near(self, rows: Index, recent: Sequence[int]) -> Any:
        """Return which rows are near-duplicates of one of the recent ones."""
        if not recent or not self._columns:
            return np.zeros(len(rows), dtype=bool)
        distance = np.zeros((len(rows), len(recent)))
        for position, values in self._columns:
            if values is None:
                distance += self._text_distance(position, rows, recent)
                continue
            one, two = values[rows][:, None], values[list(recent)][None, :]
            is_missing = np.isnan(one) | np.isnan(two)
            if position < 0:  # ranks of numbers
                distance += np.where(is_missing, np.isnan(one) != np.isnan(two), np.abs(one - two))
            else:
                distance += np.where(is_missing, np.isnan(one) != np.isnan(two), one != two)
        return (distance / len(self._columns) < MAX_DISTANCE).any(axis=1)

    def _text_distance(self, position: int, rows: Index, recent: Sequence[int]) -> Floats:
        """Return the Jaccard distance of texts."""
        ones = [self._words_of(position, int(row)) for row in rows]
        twos = [self._words_of(position, row) for row in recent]
        return np.array([[1.0 - len(a & b) / len(a | b) if a | b else 0.0 for b in twos] for a in ones])

    def _words_of(self, position: int, row: int) -> frozenset[str]:
        key = (position, row)
        if key not in self._words:
            if len(self._words) > 100 * N_CANDIDATES:
                self._words.clear()
            cell = self.cells[self.cells.column_names[position]][row].as_py()
            self._words[key] = frozenset(WORD.findall((cell or "").lower()))
        return self._words[key]


def margin_of(posterior: Floats) -> Floats:
    """Return equation (1) for each row; 1 if there is one class.

    >>> margin_of(np.array([[0.5, 0.2, 0.3], [1.0, 0.0, 0.0]])).tolist()
    [0.2, 1.0]
    """
    if posterior.shape[1] < 2:
        return np.ones(len(posterior))
    second, first = np.partition(posterior, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def _as_texts(table: pa.Table, model: Model) -> pa.Table:
    """Return the columns of the model as texts, for people and for forms."""
    names = [name for name in model.schema.names if name in table.column_names]
    return pa.table({name: _strings(table[name]) for name in names})


def _strings(column: Any) -> Any:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column.cast(pa.large_string())
    cells = column.to_pylist()
    return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells], pa.large_string())


def _distance_columns(model: Model, table: Table) -> list[tuple[int, Floats | None]]:
    """Return the columns of equation (2): codes of values, ranks of numbers (position −1), or None for a text."""
    columns: list[tuple[int, Floats | None]] = []
    position = {name: j for j, name in enumerate(table.names)}
    shown = [name for name in model.schema.names if name in position]
    for block in model.chosen.schema.blocks:
        if block.role != "value":
            continue
        for name in block.names:
            j = position[name]
            if block.family.statistic.view is Texts:
                columns.append((shown.index(name), None))
            elif block.family.statistic.view is Codes:
                coded = table.coded([j])
                codes = np.concatenate([piece for _, piece in coded.placed()], axis=1)[:, 0].astype(np.float64)
                columns.append((j, np.where(codes < 0, np.nan, codes)))
            else:
                numbers = np.concatenate([piece for _, piece in table.numbers([j]).dense()], axis=1)[:, 0]
                rank = ranks(numbers.astype(np.float64))
                n_ranks = np.nanmax(rank, initial=0.0)
                columns.append((-1, rank / max(1.0, n_ranks)))
    return columns
