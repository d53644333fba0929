"""Score requests that arrive together in one call of the library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from types import NoneType

from naively._kernels.types import Codes32, Floats
from naively.data.plain import CellValue
from naively.data.table import ColumnTable, RowTable, Table
from naively.data.values import column_of_type
from naively.errors import InputError
from naively.model.decide import Rule
from naively.model.model import Model
from naively.model.score import score_positions
from naively.server.writer import Snapshot, Writer

Columns = Mapping[str, list[CellValue]]  # values by column name; None is a missing value
Scored = tuple[Snapshot, Codes32, Floats]

PLAIN_TYPES = frozenset((float, str))  # of one row: its values need not be looked at
MAX_ROWS_IN_LOOP = 64  # more rows are scored in a thread, so that other requests do not wait
MAX_CHARACTERS_IN_LOOP = 50_000  # … or more text


def score(
    model: Model, columns: Columns, n_rows: int, types: tuple[type, ...], rule: Rule | None = None
) -> tuple[Codes32, Floats]:
    """Return the position of each row's class, −1 for none, and the posteriors; nothing warns.

    `types` are those of the values of each column, NoneType if all are missing.
    """
    table: Table
    if n_rows == 1 and PLAIN_TYPES.issuperset(types):
        table = RowTable(tuple(columns), [values[0] for values in columns.values()])
    else:
        table = ColumnTable(tuple(columns), n_rows, tuple(map(column_of_type, columns, columns.values(), types)))
    if len(columns) < len(model.schema.names):
        table, _ = table.with_absent_columns(model.schema.names)
    positions, posterior, _ = score_positions(model, table, rule)
    return positions, posterior


@dataclass(eq=False, slots=True)
class _Job:
    """Rows to be scored, the type of the values of each column (NoneType if all are missing), and their scores."""

    columns: Columns
    n_rows: int
    types: tuple[type, ...]
    result: Scored | BaseException | None = None


class Scorer:
    """Collect the requests that are read in one turn of the event loop, and score them in one call."""

    def __init__(self, writer: Writer) -> None:
        """Score by the snapshots of this writer."""
        self.is_alone: Callable[[], bool] = lambda: False  # whether no other request has arrived; the server knows it
        self._writer = writer
        self._jobs: list[_Job] = []
        self._thread: asyncio.Future[None] | None = None  # scores jobs at present

    async def score(self, columns: Columns, n_rows: int, types: tuple[type, ...]) -> Scored:
        """Return the snapshot that has scored these rows, positions of classes and posteriors."""
        job = _Job(columns, n_rows, types)
        if self.is_alone() and _is_small([job]):
            snapshot = self._writer.snapshot
            return snapshot, *score(snapshot.model, columns, n_rows, types)
        self._jobs.append(job)
        await asyncio.sleep(0)  # other requests that have arrived are read; the first one scores all
        while job.result is None:
            if self._thread is None:
                self._score_all()
            else:
                await asyncio.wait([self._thread])
        if isinstance(job.result, BaseException):
            raise job.result
        return job.result

    def _score_all(self) -> None:
        """Score what has been collected: at once if it is little, else in a thread."""
        jobs, self._jobs = self._jobs, []
        if _is_small(jobs):
            _score_jobs(self._writer.snapshot, jobs)
            return
        loop = asyncio.get_running_loop()
        self._thread = loop.run_in_executor(None, _score_jobs, self._writer.snapshot, jobs)
        self._thread.add_done_callback(self._finish)

    def _finish(self, _: asyncio.Future[None]) -> None:
        self._thread = None


def types_of(columns: Columns) -> tuple[type, ...]:
    """Return the type of the values of each column, NoneType if all are missing; refuse several types."""
    types = []
    for name, values in columns.items():
        kinds = set(map(type, values)) - {NoneType}
        if len(kinds) > 1:
            raise InputError(f"column {name!r} mixes types: make it all numbers, all text or all booleans.")
        types.append(kinds.pop() if kinds else NoneType)
    return tuple(types)


def _is_small(jobs: list[_Job]) -> bool:
    """Return whether jobs take so little time that other requests can wait for them."""
    n_rows = n_characters = 0
    for job in jobs:
        n_rows += job.n_rows
        if str in job.types:
            for values, kind in zip(job.columns.values(), job.types, strict=True):
                if kind is str:
                    n_characters += sum(map(len, filter(None, values)))
    return n_rows <= MAX_ROWS_IN_LOOP and n_characters <= MAX_CHARACTERS_IN_LOOP


def _score_jobs(snapshot: Snapshot, jobs: list[_Job]) -> None:
    """Score all jobs: those with the same columns and types together."""
    groups: dict[tuple[tuple[str, ...], tuple[type, ...]], list[_Job]] = {}
    for job in jobs:
        groups.setdefault((tuple(job.columns), job.types), []).append(job)
    for group in groups.values():
        for job, result in zip(group, _score_together(snapshot, group), strict=True):
            job.result = result


def _score_together(snapshot: Snapshot, jobs: list[_Job]) -> list[Scored | BaseException]:
    """Score jobs with the same columns in one call; one by one if some of their rows cannot be scored."""
    first = jobs[0]
    try:
        if len(jobs) == 1:
            return [(snapshot, *score(snapshot.model, first.columns, first.n_rows, first.types))]
        merged = {name: list(chain.from_iterable(job.columns[name] for job in jobs)) for name in first.columns}
        positions, posterior = score(snapshot.model, merged, sum(job.n_rows for job in jobs), first.types)
    except Exception as error:
        return [error] if len(jobs) == 1 else [_score_together(snapshot, [job])[0] for job in jobs]
    results: list[Scored | BaseException] = []
    start = 0
    for job in jobs:
        stop = start + job.n_rows
        results.append((snapshot, positions[start:stop], posterior[start:stop]))
        start = stop
    return results
