"""Tables of columns: pack the codes of columns into keys, find their paths in a tree, and score them.

The layout of keys and the equations are in core/together/together.hpp. Results are the same, bit for bit, for any
number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _core
from naively._kernels.cells import readable
from naively._kernels.threads import thread_count
from naively._kernels.types import Array, Codes32, Floats, Wholes

MAX_COLUMNS = 8  # of a table
MAX_CUTS = 5  # of a number in a table


class PlanArrays(NamedTuple):
    """Which columns each table reads, and their cuts and codes.

    `columns` is (table, 8), −1 after the last column; `cuts` is (table, 8, 5), +∞ after the last cut. `codes` has the
    codes of the values of each category; column j has [code_offsets[j], code_offsets[j + 1]), numbers have none.
    """

    columns: NDArray[np.int32]
    cuts: Floats
    codes: NDArray[np.uint8]
    code_offsets: Wholes


class TreeArrays(NamedTuple):
    """An index of the nodes of each table by their paths, [offsets[m], offsets[m + 1]), as `index_paths` returns it.

    `masks` cuts the keys of a table to whole bytes. `parents` has the node before each node, −1 for one of a single
    column.
    """

    offsets: Wholes
    keys: Wholes
    masks: Wholes
    nodes: Codes32
    parents: Codes32


def pack_keys(pieces: Sequence[Array], plan: PlanArrays, n_rows: int, n_jobs: int | None = None) -> Wholes:
    """Return the keys of rows, (table, row), from the columns of several (row, column) arrays.

    >>> columns, cuts = np.full((1, 8), -1, np.int32), np.full((1, 8, 5), np.inf)
    >>> columns[0, :2], cuts[0, 0, :2] = (0, 1), (1.0, 5.0)
    >>> plan = PlanArrays(columns, cuts, np.array([7, 9], np.uint8), np.array([0, 0, 2]))
    >>> keys = pack_keys([np.array([[3.0, 1.0], [9.0, np.nan]])], plan, 2)
    >>> [hex(key) for key in keys[0]]
    ['0x209000000000000', '0x300000000000000']
    """
    keys = np.empty((len(plan.columns), n_rows), np.int64)
    _core.pack_keys([readable(piece) for piece in pieces], plan, keys, thread_count(n_jobs))
    return keys


def index_paths(paths: Wholes, tables: Wholes, n_tables: int) -> tuple[Wholes, Wholes, Codes32]:
    """Return offsets, keys and nodes of the index of nodes, of which each has a path and a table."""
    return _core.index_paths(paths, tables, n_tables)


def find_nodes(tree: TreeArrays, keys: Wholes, n_jobs: int | None = None) -> Codes32:
    """Return the last node of each path that has rows, (table, row); −1 if none has."""
    nodes = np.empty(keys.shape, np.int32)
    _core.find_nodes(tree, keys, nodes, thread_count(n_jobs))
    return nodes


def score_tables(tree: TreeArrays, keys: Wholes, evidence: Floats, out: Floats, n_jobs: int | None = None) -> None:
    """Increase out (row, class) by the evidence (node, class) of the last node of each path."""
    _core.score_tables(tree, keys, evidence, out, thread_count(n_jobs))


def leave_out_of_tables(
    tree: TreeArrays,
    keys: Wholes,
    counts: Floats,
    total: Floats,
    label: Codes32,
    weight: Floats,
    n_jobs: int | None = None,
) -> tuple[Floats, int]:
    """Return the evidence of counted rows without themselves, (table, row, class), and the first row not counted or −1.

    `counts` is (node, class), `total` the weight of each class; `label` and `weight` are those of the rows.
    """
    out = np.empty((*keys.shape, len(total)))
    not_counted = _core.leave_out_of_tables(tree, keys, counts, total, label, weight, out, thread_count(n_jobs))
    return out, not_counted
