"""Tables of columns: what columns say together, beyond what each says alone.

A table reads up to eight columns, one after the other: a path. Categories have a code for each value, numbers for each
interval between the table's cuts. The path ends at a missing value. Keys of paths are counted by `Histogram`
(core/together/together.hpp has their layout). With the weight n_tc of class c and N_t of all classes in rows that begin
with the row's first t codes,

    s_0 = class shares,   s_t = (n_t + s_{t−1}) / (N_t + 1),   t = 1 … T, where the path ends             (1)
    e_m = log s_T − log s_1                                                                               (2)
    log s_T − log s_1 = Σ_{t ≥ 2} (log s_t − log s_{t−1})                                                 (3)

e_m is the evidence of table m beyond its first column alone. A term of (3) is "column t, given those before it". A
beginning that was never counted adds nothing. (1) is the back-off of MacKay & Peto, A hierarchical Dirichlet language
model (1995); tables of random columns are random ferns (Özuysal, Calonder, Lepetit & Fua, IEEE TPAMI 32(3), 2010).

The evidence is not a likelihood: `log_joint`, `log_marginal`, `sample` and `linear` are those of the columns alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from naively._kernels.together import (
    MAX_COLUMNS,
    MAX_CUTS,
    PlanArrays,
    TreeArrays,
    find_nodes,
    leave_out_of_tables,
    make_tree,
    pack_keys,
    score_tables,
)
from naively._kernels.types import Array, Codes32, Floats, Index, Wholes
from naively.data.names import positions_of
from naively.data.table import Table
from naively.data.views import Numbers, Value, Values
from naively.families.base import Leaving, NotCountedError
from naively.statistics import CountPlan, Histogram

MAX_VALUES = 125  # of a category that have a code of their own
OTHER_CODE = 126  # all other values
ROWS_AT_A_TIME = 32_768  # whose keys are scored together, on up to eight threads: 8 MB
MAX_COUNTED_ROWS = 2**17  # whose keys are counted together: 32 MB
LEAST_SHARE = 1e-100  # of a class without rows: its evidence is that of the limit
RULE_SHARE = 0.2  # of the evidence of a path that a rule may differ by


class TableColumn(NamedTuple):
    """A column of a table, by its position in the plan; the cuts of a number, ascending."""

    position: int
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True)
class TablePlan:
    """The tables of a model. It never looks at labels, and never changes.

    Parameters
    ----------
    columns
        The columns that tables read, numbers before categories.
    values
        The values of each category, by code from 1; None for a column of numbers.
    tables
        The columns of each table, in the order of its path.
    """

    columns: tuple[str, ...]
    values: tuple[Values | None, ...]
    tables: tuple[tuple[TableColumn, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "columns": list(self.columns),
            "values": [None if values is None else list(values) for values in self.values],
            "tables": [[[position, list(cuts)] for position, cuts in table] for table in self.tables],
        }

    @classmethod
    def from_json(cls, data: Any) -> TablePlan:
        """Return the plan that `to_json` wrote; refuse anything else with TypeError."""
        columns, values, tables = data["columns"], data["values"], data["tables"]
        plan = cls(
            tuple(columns),
            tuple(None if of_column is None else tuple(of_column) for of_column in values),
            tuple(tuple(TableColumn(position, tuple(cuts)) for position, cuts in table) for table in tables),
        )
        plan._check()
        return plan

    def _check(self) -> None:
        is_sound = len(self.columns) == len(self.values) == len(set(self.columns)) and bool(self.tables)
        is_sound &= all(isinstance(name, str) for name in self.columns)
        is_sound &= all(v is None or (len(v) <= MAX_VALUES and len(set(v)) == len(v)) for v in self.values)
        is_sound &= list(self.values) == sorted(self.values, key=lambda values: values is not None)
        for table in self.tables:
            is_sound &= 1 <= len(table) <= MAX_COLUMNS
            for position, cuts in table:
                is_sound &= type(position) is int and 0 <= position < len(self.columns) and len(cuts) <= MAX_CUTS
                is_sound &= all(type(cut) in (int, float) and np.isfinite(cut) for cut in cuts)
                is_sound &= list(cuts) == sorted(cuts)
        if not is_sound:
            raise TypeError("tables of columns have names, values, and up to eight columns each")

    @property
    def n_numbers(self) -> int:
        """The number of columns of numbers, which come first."""
        return sum(values is None for values in self.values)

    @cached_property
    def _arrays(self) -> tuple[Codes32, Floats]:
        """The columns and the cuts of all tables, as the core reads them."""
        columns = np.full((len(self.tables), MAX_COLUMNS), -1, np.int32)
        cuts = np.full((len(self.tables), MAX_COLUMNS, MAX_CUTS), np.inf)
        for m, table in enumerate(self.tables):
            for t, column in enumerate(table):
                columns[m, t] = column.position
                cuts[m, t, : len(column.cuts)] = column.cuts
        return columns, cuts

    @cached_property
    def _codes(self) -> tuple[dict[Value, int], ...]:
        """The code of each value of each category."""
        categories = [values for values in self.values if values is not None]
        return tuple({value: code for code, value in enumerate(values, 1)} for values in categories)

    def view(self, table: Table) -> TableView:
        """Return the columns of the plan in a table, ready to be packed."""
        position = positions_of(table.names)
        places = [position[name] for name in self.columns]
        numbers, categories = places[: self.n_numbers], places[self.n_numbers :]
        pieces: list[Array] = [piece for _, piece in table.numbers(numbers).dense()] if numbers else []
        codes: list[Array] = []
        if categories:
            coded = table.coded(categories)
            pieces += [piece for _, piece in coded.placed()]
            for code_of, values in zip(self._codes, coded.values, strict=True):
                listed = [code_of.get(value, OTHER_CODE) for value in values]
                codes.append(np.array(listed or [0], np.uint8))  # a column without codes would be numbers
        sizes = np.array([0] * len(numbers) + [len(of_column) for of_column in codes], np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        packed = np.concatenate([np.zeros(0, np.uint8), *codes])
        return TableView(tuple(pieces), PlanArrays(*self._arrays, packed, offsets), table.n_rows)

    def count(
        self, table: Table, label: Codes32, weight: Floats | None, n_classes: int, like: Histogram | None = None
    ) -> Histogram:
        """Return the counts of the keys of rows, a column for each table of columns.

        With `like`, the result is only good for being added to it.
        """
        return self.view(table).count(label, weight, n_classes, like)

    def describe(self, table: int, codes: Sequence[int]) -> list[tuple[str, Value | None, float, float]]:
        """Return the columns of the beginning of a path with their values, or the interval of a number (low, high].

        A number that the path reads twice has the intersection of both intervals. A value of None is any other value.
        """
        described: dict[str, tuple[str, Value | None, float, float]] = {}
        for (position, cuts), code in zip(self.tables[table], codes, strict=False):
            name, values = self.columns[position], self.values[position]
            if values is not None:
                value = values[code - 1] if code <= len(values) else None
                described[name] = name, value, -np.inf, np.inf
                continue
            ends = (-np.inf, *cuts, np.inf)
            _, _, low, high = described.get(name, (name, None, -np.inf, np.inf))
            described[name] = name, None, max(low, ends[code - 1]), min(high, ends[code])
        return list(described.values())


def count_keys(
    keys: Wholes, label: Codes32, weight: Floats | None, n_classes: int, like: Histogram | None = None
) -> Histogram:
    """Return the counts of keys (table, row), a column for each table; see `TablePlan.count`."""
    plan = CountPlan(like=like, only_to_add=like is not None)
    return Histogram.count(Numbers((keys.view(np.float64).T,)), label, weight, n_classes, plan)


@dataclass(frozen=True, slots=True, eq=False)
class TableView:
    """The columns of a plan in some rows."""

    pieces: tuple[Array, ...]
    plan: PlanArrays
    n_rows: int

    def rows(self, start: int, stop: int) -> TableView:
        """Return the rows from start to stop."""
        return TableView(tuple(piece[start:stop] for piece in self.pieces), self.plan, stop - start)

    def count(self, label: Codes32, weight: Floats | None, n_classes: int, like: Histogram | None = None) -> Histogram:
        """Return the counts of the keys of rows, a column for each table of columns; see `TablePlan.count`."""
        parts: list[Histogram] = []
        for start in range(0, max(self.n_rows, 1), MAX_COUNTED_ROWS):
            rows = slice(start, min(start + MAX_COUNTED_ROWS, self.n_rows))
            keys, weights = self.rows(rows.start, rows.stop).keys(), None if weight is None else weight[rows]
            parts.append(
                count_keys(keys, label[rows], weights, n_classes, parts[0] if parts and like is None else like)
            )
        return parts[0] if len(parts) == 1 else Histogram.sum_of(parts)

    def keys(self) -> Wholes:
        """Return the keys of all rows, (table, row)."""
        return pack_keys(self.pieces, self.plan, self.n_rows)

    def without_column(self, position: int) -> TableView:
        """Return the same rows with tables that do not read a column of the plan."""
        columns, cuts = np.full_like(self.plan.columns, -1), np.full_like(self.plan.cuts, np.inf)
        for m, of_table in enumerate(self.plan.columns):
            stays = np.flatnonzero((of_table >= 0) & (of_table != position))
            columns[m, : len(stays)], cuts[m, : len(stays)] = of_table[stays], self.plan.cuts[m, stays]
        return TableView(self.pieces, self.plan._replace(columns=columns, cuts=cuts), self.n_rows)

    def take_tables(self, tables: Index) -> TableView:
        """Return the same rows with some of the tables."""
        plan = self.plan._replace(columns=self.plan.columns[tables], cuts=self.plan.cuts[tables])
        return TableView(self.pieces, plan, self.n_rows)


@dataclass(frozen=True, eq=False)
class TableTree:
    """The counted paths of tables: each node is the beginning of a path, with the weight of each class.

    Nodes of fewer columns come first; `ends[t]` is the end of those of t + 1 columns. `tables` has the table of each
    node. `total` is the weight of each class.
    """

    arrays: TreeArrays
    tables: Index
    counts: Floats
    ends: tuple[int, ...]
    total: Floats

    @classmethod
    def of(cls, histogram: Histogram, total: Floats) -> TableTree:
        """Return the tree of all paths that were counted, cut to the whole bytes of the level of their table."""
        cells, table, n_classes = histogram.cells, histogram.column, histogram.n_classes
        n_bytes = (64 - cells.levels) // 8
        masks = np.where(n_bytes > 0, np.int64(-1) << np.minimum(64 - 8 * n_bytes, 63), 0)
        path = (cells.keys << cells.levels[table]) & masks[table]
        keep = path != 0
        of_cells = path[keep], table[keep], cells.classes[keep], cells.weight[keep]
        arrays, nodes = make_tree(*of_cells, masks, n_classes)
        return cls(arrays, *nodes, total)

    def evidence(self) -> Floats:
        """Return equation (2) of each node, (node, class)."""
        share = np.maximum(self.total / max(float(self.total.sum()), LEAST_SHARE), LEAST_SHARE)
        shares, first = np.empty_like(self.counts), np.empty_like(self.counts)
        start = 0
        for t, end in enumerate(self.ends):
            parents, counts = self.arrays.parents[start:end], self.counts[start:end]
            before = shares[parents] if t else share
            shares[start:end] = (counts + before) / (counts.sum(axis=1, keepdims=True) + 1.0)
            first[start:end] = first[parents] if t else shares[start:end]
            start = end
        return np.asarray(np.log(shares) - np.log(first))

    def leave_one_out(self, keys: Wholes, leaving: Leaving) -> Floats:
        """Return equation (2) of counted rows without themselves, (table, row, class), by their keys."""
        rows = leaving.label.astype(np.int32), leaving.weight.astype(np.float64)
        out, not_counted = leave_out_of_tables(self.arrays, keys, self.counts, self.total, *rows)
        if not_counted >= 0:
            c = int(leaving.label[not_counted])
            raise NotCountedError(not_counted, c, None, "a row that its tables of columns do not have")
        return out


class Rule(NamedTuple):
    """A beginning of the path of one table that says nearly what the whole path says.

    `columns` are those of `TablePlan.describe`; `counts` is the weight of each class; `log_odds` is what the whole
    table adds between two classes.
    """

    table: int
    columns: list[tuple[str, Value | None, float, float]]
    counts: Floats
    log_odds: float


@dataclass(frozen=True, eq=False)
class WeightedTables:
    """The tables of a model that have a weight, and the weighted evidence of their nodes, (node, class)."""

    plan: TablePlan
    tables: Index
    tree: TableTree
    evidence: Floats

    @classmethod
    def of(cls, plan: TablePlan, histogram: Histogram, total: Floats, weights: Floats) -> WeightedTables:
        """Return the tables with their weights, without those whose weight is 0."""
        used = np.flatnonzero(weights)
        tree = TableTree.of(histogram.take_columns(used), total)
        evidence = tree.evidence() * weights[used][tree.tables, None]
        return cls(plan, used, tree, evidence)

    def view(self, table: Table) -> TableView:
        """Return rows as the tables read them."""
        return self.plan.view(table).take_tables(self.tables)

    def score(self, view: TableView, out: Floats) -> None:
        """Add the weighted evidence of all tables to out (row, class)."""
        for start in range(0, view.n_rows, ROWS_AT_A_TIME):
            stop = min(start + ROWS_AT_A_TIME, view.n_rows)
            score_tables(self.tree.arrays, view.rows(start, stop).keys(), self.evidence, out[start:stop])

    def score_columns(self, view: TableView) -> Floats:
        """Return the terms of (3) with their weights, added up by column, (column of the plan, row, class)."""
        out = np.zeros((len(self.plan.columns), view.n_rows, self.evidence.shape[1]))
        for column, rows, before, after in self._steps(find_nodes(self.tree.arrays, view.keys())):
            out[column, rows] += self.evidence[after] - self.evidence[before]
        return out

    def _steps(self, nodes: Codes32) -> Iterator[tuple[int, Index, Codes32, Codes32]]:
        """Yield each step of the paths beyond the first column: its column, the rows, the nodes before and after it."""
        depth = self._depth
        for m, of_table in enumerate(nodes):
            columns = self.plan.tables[self.tables[m]]
            for t in range(len(columns) - 1, 0, -1):
                rows = np.flatnonzero((of_table >= 0) & (depth[of_table] == t + 1))
                if len(rows):
                    after = of_table[rows]
                    before = self.tree.arrays.parents[after]
                    yield columns[t].position, rows, before, after
                    of_table[rows] = before

    @cached_property
    def _depth(self) -> Index:
        """The number of columns of each node."""
        return np.repeat(np.arange(1, MAX_COLUMNS + 1), np.diff((0, *self.tree.ends)))

    def rules(self, view: TableView, of: int, against: int) -> list[Rule]:
        """Return a rule for each table that adds anything in the only row of a view, the strongest first."""
        [keys] = view.keys().T
        [nodes] = find_nodes(self.tree.arrays, keys[:, None]).T
        difference = self.evidence[:, of] - self.evidence[:, against]
        rules = []
        for m, node in enumerate(nodes.tolist()):
            path: list[int] = []
            while node >= 0:
                path.insert(0, node)
                node = int(self.tree.arrays.parents[node])
            if not path or not difference[path[-1]]:
                continue
            total = float(difference[path[-1]])
            is_near = np.abs(difference[path] - total) <= RULE_SHARE * abs(total)
            length = int(np.argmax(is_near)) + 1
            codes = [(int(keys[m]) >> (56 - 8 * t)) & 0xFF for t in range(length)]
            table = int(self.tables[m])
            columns = self.plan.describe(table, codes)
            rules.append(Rule(table, columns, self.tree.counts[path[length - 1]], total))
        return sorted(rules, key=lambda rule: -abs(rule.log_odds))
