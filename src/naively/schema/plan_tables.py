"""Plan tables of columns from the first rows: which columns each table reads, and where it cuts numbers.

Labels play no part, so that a plan can be fixed before anything is counted: the counts of parts then add up, and the
evidence of a row without itself is exact (families/together.py).

The order of columns in a table is random, by hashes of their names: the same columns have the same orders everywhere.
Tables begin with different columns as far as there are any: the log-loss of free orders depends more on luck.
A number is cut at values of five random rows, a new choice in each table. If there are fewer than eight columns,
numbers come again with other cuts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from naively._kernels.row_hash import mix
from naively._kernels.text import hash_texts
from naively._kernels.together import MAX_COLUMNS, MAX_CUTS
from naively._kernels.types import Floats, Hashes, Index
from naively.data.names import positions_of
from naively.data.table import Table
from naively.data.views import Codes, Texts, Values
from naively.errors import TuningWarning, warn_user
from naively.families.together import MAX_VALUES, TableColumn, TablePlan
from naively.schema.schema import Schema

N_TABLES = 32
MIN_PLANNED_COLUMNS, MAX_PLANNED_COLUMNS = 2, 256
MAX_PLANNED_ROWS, MAX_PLANNED_CELLS = 32_768, 2**23


def n_planned_rows(schema: Schema) -> int:
    """Return how many of the first rows make a plan: fewer if there are more than 256 columns.

    It depends on the columns only: frames, files and other sources with the same rows have the same plan.
    """
    return min(MAX_PLANNED_ROWS, max(1, MAX_PLANNED_CELLS // max(1, len(schema.names))))


def with_tables(schema: Schema, table: Table, left_out: Collection[str] = ()) -> Schema:
    """Return a schema with a plan of tables from the first rows; warn and return the same schema if there can be none.

    Parameters
    ----------
    schema
        The columns and their families.
    table
        The first rows; see `n_planned_rows`.
    left_out
        Columns that the rules of the families drop, such as identifiers.
    """
    plan = plan_if_possible(schema, table, left_out)
    if plan is None:
        n_columns = len(_planned_names(schema, left_out))
        warn_user(
            f"together=True changes nothing: tables of columns read {MIN_PLANNED_COLUMNS} to {MAX_PLANNED_COLUMNS} "
            "columns of numbers or values, and no texts, identifiers or sparse matrices. "
            + ("This matrix is sparse." if table.is_sparse else f"{n_columns} columns can be read."),
            TuningWarning,
        )
        return schema
    return replace(schema, tables=plan)


def plan_if_possible(
    schema: Schema, table: Table, left_out: Collection[str] = (), n_tables: int = N_TABLES
) -> TablePlan | None:
    """Return the plan of `with_tables`, or its first tables; None if there can be none."""
    names = _planned_names(schema, left_out)
    if table.is_sparse or not MIN_PLANNED_COLUMNS <= len(names) <= MAX_PLANNED_COLUMNS or not table.n_rows:
        return None
    return plan_tables(schema, table, names, n_tables)


def _planned_names(schema: Schema, left_out: Collection[str]) -> list[str]:
    return [name for name in suitable_columns(schema).names if name not in left_out]


def suitable_columns(schema: Schema) -> Schema:
    """Return the columns that tables can read: numbers, dates, booleans and categories, each with its own family."""
    blocks = tuple(
        block
        for block in schema.blocks
        if not (block.family.joint or block.family.awaits_values or block.family.statistic.view is Texts)
    )
    return Schema(tuple(name for block in blocks for name in block.names), blocks)


def plan_tables(schema: Schema, table: Table, names: Sequence[str], n_tables: int = N_TABLES) -> TablePlan:
    """Return the plan of these columns."""
    categories = {name for b in schema.blocks if b.family.statistic.view is Codes for name in b.names}
    ordered = sorted(names, key=lambda name: (name in categories, name))
    n_numbers = sum(name not in categories for name in ordered)
    position = positions_of(table.names)
    places = [position[name] for name in ordered]
    numbers = [_present(x) for x in _columns(table, places[:n_numbers])]
    values = _frequent_values(table, places[n_numbers:])
    # A random number for each use of a column in a table: the first time, and again until it has eight columns.
    hashes = mix(hash_texts(ordered))
    seed = mix(np.array([hashes.sum(dtype=np.uint64)]))
    tables = []
    n_beginnings: Counter[frozenset[int]] = Counter()
    for m in range(n_tables):
        order = _new_order(_mixed(hashes, seed, 2 * m), n_beginnings)
        again = np.argsort(_mixed(hashes[:n_numbers], seed, 2 * m + 1), kind="stable")
        n_missing = max(0, MAX_COLUMNS - len(order))
        uses = np.concatenate([order[:MAX_COLUMNS], np.tile(again, -(-n_missing // max(len(again), 1)))[:n_missing]])
        nth_use: Hashes = 1000 * (m + 1) + np.arange(len(uses)).astype(np.uint64)
        nth_cut: Hashes = np.tile(np.arange(MAX_CUTS).astype(np.uint64), len(uses))
        draws = mix((hashes[uses] + mix(seed + nth_use)).repeat(MAX_CUTS) + nth_cut)
        columns = zip(uses.tolist(), draws.reshape(-1, MAX_CUTS), strict=True)
        tables.append(
            tuple(TableColumn(j, _cuts(numbers[j], of_column) if j < n_numbers else ()) for j, of_column in columns)
        )
    return TablePlan(tuple(ordered), (*(None for _ in numbers), *values), tuple(tables))


def _new_order(draws: Hashes, n_beginnings: Counter[frozenset[int]]) -> Index:
    """Return up to eight columns in random order, and count its beginnings.

    The next column is one of those whose beginning, as a set, the fewest tables have: a second table that begins with
    the same columns has the same counts there.
    """
    order: list[int] = []
    rest = np.argsort(draws, kind="stable").tolist()
    while rest and len(order) < MAX_COLUMNS:
        column = min(rest, key=lambda j: n_beginnings[frozenset((*order, j))])  # the first of equals
        rest.remove(column)
        order.append(column)
        n_beginnings[frozenset(order)] += 1
    return np.array(order)


def _mixed(hashes: Hashes, seed: Hashes, number: int) -> Hashes:
    """Return random numbers of 64 bits, one for each hash; other numbers give others."""
    return mix(hashes + mix(seed + np.uint64(number)))


def _columns(table: Table, places: Sequence[int]) -> list[Floats]:
    """Return columns as arrays of numbers."""
    if not places:
        return []
    pieces = [piece for _, piece in table.numbers(places).dense()]
    return [piece[:, j].astype(np.float64) for piece in pieces for j in range(piece.shape[1])]


def _present(x: Floats) -> Floats:
    """Return the finite numbers of a column, sorted."""
    return np.sort(x[np.isfinite(x)])


def _cuts(sorted_numbers: Floats, draws: Hashes) -> tuple[float, ...]:
    """Return the values of random rows; equal ones are one cut. Tables are cut above them."""
    if not len(sorted_numbers):
        return ()
    share = (draws >> np.uint64(11)).astype(np.float64) / 2.0**53
    rows: Index = (share * len(sorted_numbers)).astype(np.intp)
    return tuple(sorted(set(sorted_numbers[rows].tolist())))


def _frequent_values(table: Table, places: Sequence[int]) -> list[Values]:
    """Return the most frequent values of each category; of equally frequent ones the first by name."""
    if not places:
        return []
    coded = table.coded(places)
    frequent = []
    pieces = [piece[:, j] for _, piece in coded.placed() for j in range(piece.shape[1])]
    for codes, values in zip(pieces, coded.values, strict=True):
        is_value = (codes >= 0) & (codes < len(values))
        counts = np.bincount(codes[is_value].astype(np.intp), minlength=len(values))
        order = sorted(range(len(values)), key=lambda k: (-int(counts[k]), str(values[k])))
        frequent.append(tuple(values[k] for k in order[:MAX_VALUES] if counts[k]))
    return frequent
