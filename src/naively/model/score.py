"""Score rows: the log prior, the offsets and the weighted evidence of every block, (row, class)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from naively._kernels.posterior import best_class, normalise, repeat_row
from naively._kernels.threads import on_own_threads
from naively._kernels.types import Codes32, Floats
from naively.data.convert import convert_columns
from naively.data.files.bad_rows import BadRows
from naively.data.files.batches import ReadProgress, arrow_tables, rebatch
from naively.data.files.csv import OtherTypeError
from naively.data.files.paths import Files, is_path
from naively.data.files.places import report_bad_rows, with_place
from naively.data.files.read import read_files
from naively.data.frames import table_of_frame
from naively.data.kinds import refuse_infinite
from naively.data.labelled import is_stream
from naively.data.names import (
    refuse_other_data,
    require_same_width,
    similar_names,
    warn_missing_columns,
    warn_similar_names,
)
from naively.data.read import TableLike, files_or_table, read
from naively.data.table import Table, concat_tables
from naively.errors import ImpossibleRowsWarning, warn_user
from naively.families.gaussian import InfiniteValueError
from naively.families.together import TableView
from naively.model.count import View, views_of
from naively.model.decide import Rule

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.model.calibrate import WeightedBlocks
    from naively.model.model import Model

Follow = Callable[["Iterator[pa.RecordBatch]", ReadProgress], "Iterator[pa.RecordBatch]"]

MAX_SCORES = 2**21  # in a table of scores that is only needed for a decision: 16 MB
MIN_ROWS = 1024  # of such a table, if there are many classes


def read_rows(model: Model, X: TableLike) -> Table:
    """Return rows to be scored: a table in memory, files, batches, or one text.

    A column of the model that they do not have says nothing. Names of columns are matched up to case and blanks.
    """
    if isinstance(X, Table):
        table = X
    else:
        X = files_or_table(X, model.schema.text_column() if isinstance(X, str) else None)
        if is_path(X) or is_stream(X):
            return concat_tables([rows for _, rows in read_like(model, X)])
        table = read(X)
    if table.names == model.schema.names:
        return table
    require_same_width(table.names, model.schema.names)
    table, renamed = table.with_similar_names(model.used_columns)
    warn_similar_names(renamed)
    names = table.names
    table, absent = table.with_absent_columns(model.used_columns)
    refuse_other_data(names, absent, model.used_columns, table.n_rows)
    warn_missing_columns(absent)
    return table


def read_like(
    model: Model, X: TableLike, rows_at_once: int | None = None, follow: Follow | None = None
) -> Iterator[tuple[pa.Table, Table]]:
    """Yield the rows of files or batches in tables: as they were read, and as the columns that the model reads.

    Parameters
    ----------
    model
        The model.
    X
        Files, or an iterable of batches.
    rows_at_once
        The number of rows of each table; 0 is one table for each batch, as soon as it is there.
    follow
        Yields the batches of files that are given to it, and shows how much has been read.
    """
    files = Files.of(X) if is_path(X) else None
    bad, progress = BadRows(files), ReadProgress()
    batches = X if files is None else read_files(files, raw=True, progress=progress, bad=bad)
    batches = batches if follow is None else follow(batches, progress)
    warned: set[str] = set()
    n_rows = 0
    try:
        for chunks in arrow_tables(batches) if rows_at_once == 0 else rebatch(batches, rows_at_once):
            table = chunks.combine_chunks()  # each chunk costs a call of every function below
            rows = as_trained(model, table, warned, n_rows, bad)
            good_rows = bad.rows_to_keep(n_rows, table.num_rows)
            n_rows += table.num_rows
            yield (table, rows) if good_rows is None else (table.take(good_rows), rows.take(good_rows))
    except OtherTypeError as error:
        raise with_place(error, files) from None
    report_bad_rows(bad)


def as_trained(
    model: Model, table: pa.Table, warned: set[str], first_row: int = 0, bad: BadRows | None = None
) -> Table:
    """Return the columns of the model, with text cells converted to the types that it was trained with.

    Parameters
    ----------
    model
        The model.
    table
        Some rows.
    warned
        The columns that were warned about; new ones are added.
    first_row
        The number of rows before the table, so that an error can name the row.
    bad
        Collects rows with a cell that cannot be converted; by default it is an error.
    """
    renamed = similar_names(tuple(table.column_names), model.schema.names)
    warn_similar_names({name: new for name, new in renamed.items() if name not in warned})
    warned.update(renamed)
    given = {renamed.get(name, name): name for name in table.column_names}
    names = [name for name in model.schema.names if name in given]
    columns = table.select([given[name] for name in names]).rename_columns(names)
    columns = columns.replace_schema_metadata(table.schema.metadata)
    columns = convert_columns(columns, model.schema.kinds(), first_row, set(model.schema.coded_numbers()), bad)
    rows, absent = table_of_frame(columns).with_absent_columns(model.schema.names)
    absent_used = [name for name in model.used_columns if name in set(absent)]
    refuse_other_data(tuple(table.column_names), absent_used, model.used_columns, table.num_rows)
    unreported = [name for name in absent_used if name not in warned]
    warned.update(unreported)
    warn_missing_columns(unreported)
    return rows


class ScoredViews(NamedTuple):
    """The columns of rows as each block reads them, and as the tables of columns do."""

    blocks: Sequence[View]
    tables: TableView | None = None

    @classmethod
    def of(cls, table: Table, blocks: WeightedBlocks) -> ScoredViews:
        """Read the columns of a table."""
        return cls(views_of(table, blocks.schema), None if blocks.tables is None else blocks.tables.view(table))

    def rows(self, start: int, stop: int) -> ScoredViews:
        """Return the rows from start to stop."""
        tables = None if self.tables is None else self.tables.rows(start, stop)
        return ScoredViews([view.rows(start, stop) for view in self.blocks], tables)


def score(blocks: WeightedBlocks, views: ScoredViews, log_prior: Floats, n_rows: int) -> Floats:
    """Return equation (1) of `model/calibrate.py` before it is normalised, (row, class)."""
    scores = repeat_row(log_prior + blocks.offset, n_rows)
    parts = zip(blocks.schema.blocks, views.blocks, blocks.parameters, blocks.factors, strict=True)
    for block, view, parameters, factor in parts:
        try:
            if factor is None:
                block.family.log_likelihood(view, parameters, scores)
                continue
            weight, exponent = factor
            evidence = np.zeros(scores.shape)
            length = np.zeros(n_rows) if exponent else None
            block.family.log_likelihood(view, parameters, evidence, length)
        except InfiniteValueError as error:
            refuse_infinite(block.names[error.column])
        if length is not None:
            evidence *= np.maximum(length, 1.0)[:, None] ** -exponent
        if weight:  # 0 · −∞ is 0: evidence without weight excludes no class
            scores += evidence if weight == 1 else weight * evidence
    if blocks.tables is not None and views.tables is not None:
        blocks.tables.score(views.tables, scores)
    return scores


def score_rows(model: Model, X: TableLike, blocks: WeightedBlocks) -> Floats:
    """Return the scores of all rows, (row, class)."""
    table = read_rows(model, X)
    return score(blocks, ScoredViews.of(table, blocks), model.log_prior, table.n_rows)


@on_own_threads
def predict_positions(model: Model, X: TableLike, rule: Rule | None = None) -> Codes32:
    """Return the position of each row's class, −1 for none; without a rule, the most probable class.

    Rows are scored in chunks, which take little memory.
    """
    table = read_rows(model, X)
    blocks, n_rows = model.weighted_blocks, table.n_rows
    views = ScoredViews.of(table, blocks)
    positions = np.empty(n_rows, dtype=np.int32)
    step = max(MIN_ROWS, MAX_SCORES // max(1, len(model.classes)))
    n_impossible = 0
    for start in range(0, max(1, n_rows), step):
        chunk = slice(start, min(start + step, n_rows))
        chunk_views = views if n_rows <= step else views.rows(chunk.start, chunk.stop)
        scores = score(blocks, chunk_views, model.log_prior, chunk.stop - start)
        if rule is None:
            n_impossible += best_class(scores, model.log_prior, positions[chunk])
        else:
            n_impossible += normalise(scores, model.log_prior, 0, model.floor)
            positions[chunk] = rule(scores)
    warn_of_impossible_rows(n_impossible, n_rows)
    return positions


def predict_with_posterior(model: Model, X: TableLike, rule: Rule | None = None) -> tuple[Codes32, Floats]:
    """Return the position of each row's class, −1 for none, and the posteriors, (row, class), from one scoring."""
    positions, posterior, n_impossible = score_positions(model, X, rule)
    warn_of_impossible_rows(n_impossible, len(posterior))
    return positions, posterior


@on_own_threads
def score_positions(model: Model, X: TableLike, rule: Rule | None = None) -> tuple[Codes32, Floats, int]:
    """Return the same and the number of rows that are impossible in every class, without a warning."""
    scores = score_rows(model, X, model.weighted_blocks)
    positions = np.empty(len(scores), dtype=np.int32)
    if rule is None:
        best_class(scores, model.log_prior, positions)
    else:
        log_posterior = scores.copy()
        normalise(log_posterior, model.log_prior, 0, model.floor)
        positions[:] = rule(log_posterior)
    n_impossible = normalise(scores, model.log_prior, 1, model.floor)
    return positions, scores, n_impossible


def warn_of_impossible_rows(n_impossible: int, n_rows: int) -> None:
    """Warn if rows have probability zero in every class."""
    if n_impossible:
        warn_user(
            f"{n_impossible} of {n_rows} rows are impossible under every class (a probability of zero in each); they "
            "get the class prior. Smooth the model (alpha > 0, a and b > 0) to tell such rows apart.",
            ImpossibleRowsWarning,
        )
