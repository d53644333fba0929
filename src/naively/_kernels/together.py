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
    """An index of the nodes of each table by their paths, [offsets[m], offsets[m + 1]), as `make_tree` returns it.

    An entry is a path and its node. `masks` cuts the keys of a table to whole bytes. `parents` has the node
    before each node, −1 for one of a single column.
    """

    offsets: Wholes
    entries: Wholes
    masks: Wholes
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


class TreeNodes(NamedTuple):
    """The nodes of a tree: those of one column first, then those of two; `ends[t]` is the end of those of t + 1.

    `tables` has the table of each node, `counts` is (node, class).
    """

    tables: Wholes
    counts: Floats
    ends: tuple[int, ...]


def make_tree(
    paths: Wholes, tables: Wholes, label: Codes32, weight: Floats, masks: Wholes, n_classes: int
) -> tuple[TreeArrays, TreeNodes]:
    """Return the tree of all beginnings of the paths of cells, which are in order of table and path.

    >>> paths = np.array([0x0201 << 48, 0x0203 << 48])
    >>> cells = paths, np.zeros(2, np.int64), np.array([0, 1], np.int32), np.array([5.0, 1.0])
    >>> arrays, nodes = make_tree(*cells, np.array([-1]), 2)
    >>> arrays.parents.tolist(), nodes.counts.tolist(), nodes.ends[:3]
    ([-1, 0, 0], [[5.0, 1.0], [5.0, 0.0], [0.0, 1.0]], (1, 3, 3))
    """
    made = _core.make_tree(paths, tables, label, weight, len(masks), n_classes)
    offsets, entries, parents, of_nodes, counts, ends = made
    return TreeArrays(offsets, entries, masks, parents), TreeNodes(of_nodes, counts, tuple(ends))


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
