"""Categorical likelihood: one of K values in each column.

    x_j | c ~ Categorical(θ_j1c … θ_jKc)                                    (1)
    θ_jkc = (N_jkc + α_k) / (N_jc + Σ α)                                    (2)
    log p(x | c) = Σ_j log θ_{j, x_j, c}                                    (3)

N_jkc counts value k of column j in class c (`ValueCounts`), N_jc the rows that have a value. With `shared=True` all
columns of the block have one distribution, and N_kc adds over the columns. The values are those that were counted, and
those in `values`, or the codes 0 … sizes[j] − 1 of column j. Any other value is no evidence. A class without a value in
a column takes the counts of all classes.

With `min_rows`, values of fewer rows share one cell, and a value that was not counted falls into it too:

    θ_jrc = (Σ_{k rare} N_jkc + α) / (N_jc + α · (number of frequent values + 1))                       (4)

Which values are rare depends on all rows together, not on their classes; a row of weight 3 is three rows. Leave-one-out
is exact: a value that has `min_rows` rows joins the others when one of its rows is left out.
Source: Mitchell, Machine Learning (1997), §6.9; documents 001 ("single distribution" is `shared`); 003 (K outcomes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, compress
from typing import Any

import numpy as np

from naively._kernels.cells import score_code_columns, score_codes
from naively._kernels.leave_one_out import ValueArrays
from naively._kernels.types import Array, Bools, Floats, Index, Wholes
from naively.data.kinds import Kind
from naively.data.names import Names
from naively.data.plain import CellValue
from naively.data.views import single_columns
from naively.errors import InputError
from naively.families.base import (
    ALL_KINDS,
    Estimate,
    Family,
    Labels,
    Leaving,
    Lengths,
    LinearPart,
    NotCountedError,
    draw_positions,
    times,
)
from naively.families.evidence import Alternative, Grid, Pair, RowView, Term, ValueTables, coded_values, log_shares
from naively.families.learnt import Learnt
from naively.families.leave_one_out.columns import leave_values_out
from naively.families.leave_one_out.tokens import TokenRows, leave_rows_out, token_cells
from naively.families.scores import ValueScores
from naively.priors import alpha_of, pseudo_counts
from naively.statistics import Codes, Value, ValueCounts, Values
from naively.statistics.arrays import require, rows_written_out
from naively.statistics.cells import cells_of_table
from naively.statistics.value_counts import in_order

MAX_ALTERNATIVES = 50  # other values of a column that a counterfactual tries
MAX_JOINED_VALUES = 2**16  # of all columns, whose scores are looked up at once: bounds the memory
MAX_DECLARED_VALUES = 2**24  # of all columns, by `sizes`: bounds the memory that a file can request
MAX_UNGROUPED_VALUES = 20  # of a column whose rare values tuning leaves as they are: they fit a screen
GROUPING_STEPS = (2, 4, 8, 16, 32, 64)  # rows below which a value is rare, as tuning tries them
NEVER_VANISHES = np.int64(2**62)  # rows of a value that stays known though no row has it


@dataclass(frozen=True, slots=True, eq=False)
class CountedValues:
    """The values of a column, counted and declared, with weight, rows and pseudo-counts, (value, class)."""

    values: Values
    weight: Floats
    rows: Wholes
    alpha: Floats
    vanishes: Bools  # (value,): whether it is known only while some row has it
    rare: Values = ()  # values that share the cell after those of `values`

    @property
    def rows_written_out(self) -> Floats:
        """The rows that decide whether a value is rare, (value, class): one of weight 3 is three."""
        return rows_written_out(self.rows, self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class RareValues:
    """The values of a column that share one cell: weight of each in all classes, and log θ of the cell, (class,)."""

    values: Values
    weight: Floats
    log_probability: Floats

    @property
    def shown(self) -> str:
        """What the cell is called."""
        return f"{len(self.values):,} rare values" if len(self.values) > 1 else "other values"

    def without(self, value: CellValue) -> RareValues | None:
        """Return the values without one row of weight 1; None if the value is not there, or no value is left."""
        if value not in self.values:
            return None
        position, weight = self.values.index(value), self.weight.copy()
        weight[position] -= 1.0
        is_left = weight > 0
        values = tuple(compress(self.values, is_left.tolist()))
        return RareValues(values, weight[is_left], self.log_probability) if values else None


@dataclass(frozen=True, eq=False)
class CategoricalParameters:
    """For each column its values and log θ as (value, class); shared columns point to the same table.

    `rare` has the values that share one cell, None for a column without any; it is empty if no column has them.
    """

    values: tuple[Values, ...]
    log_probability: tuple[Floats, ...]
    joined: tuple[Wholes, Floats] | None = None  # sizes and table of all columns, if values are codes
    rare: tuple[RareValues | None, ...] = ()

    def rare_of(self, column: int) -> RareValues | None:
        """Return the rare values of a column."""
        return self.rare[column] if self.rare else None

    def log_other(self, column: int) -> Floats:
        """Return log θ of any other value, (class,): that of the rare values; zeros without them."""
        rare, n_classes = self.rare_of(column), self.log_probability[column].shape[1]
        return np.zeros(n_classes) if rare is None else rare.log_probability

    @cached_property
    def positions(self) -> tuple[dict[Value, int], ...]:
        """For each column the position of each value; computed once for all batches."""
        return tuple({value: k for k, value in enumerate(values)} for values in self.values)

    @cached_property
    def _table(self) -> tuple[list[int], Floats]:
        """Log θ of each column and that of any other value, one below the other, and where each starts."""
        starts = list(accumulate((len(values) + 1 for values in self.values), initial=0))
        parts = ((table, self.log_other(j)[None]) for j, table in enumerate(self.log_probability))
        return starts, np.concatenate(list(chain.from_iterable(parts)))

    def tables_of(self, values: Sequence[Values], first_column: int) -> tuple[Wholes, Floats]:
        """Return the number of values of each column, from one on, and log θ of these values, column by column."""
        starts, table = self._table
        rows = []
        for j, values_of_column in enumerate(values, first_column):
            start, position = starts[j], self.positions[j]
            rows += [start + position.get(value, len(position)) for value in values_of_column]
        sizes = np.array([len(values_of_column) for values_of_column in values], dtype=np.int64)
        return sizes, table.take(np.array(rows, dtype=np.intp), axis=0)

    def with_log_probability(
        self, tables: Sequence[Floats], rare: Sequence[RareValues | None]
    ) -> CategoricalParameters:
        """Return the same values with another log θ, and other rare values."""
        joined = None if self.joined is None else (self.joined[0], np.concatenate(tables))
        parameters = CategoricalParameters(self.values, tuple(tables), joined, tuple(rare))
        parameters.__dict__["positions"] = self.positions
        return parameters

    @classmethod
    def of(
        cls, values: tuple[Values, ...], tables: tuple[Floats, ...], rare: Sequence[RareValues | None] = ()
    ) -> CategoricalParameters:
        """Join the tables of all columns if the values of each column are 0, 1, 2, …"""
        if any(part is not None for part in rare):
            return cls(values, tables, rare=tuple(rare))
        if not values or any(v != tuple(range(len(v))) or (v and isinstance(v[0], bool)) for v in values):
            return cls(values, tables)
        sizes = np.array([len(v) for v in values], dtype=np.int64)
        return cls(values, tables, (sizes, np.ascontiguousarray(np.concatenate(tables))))


@dataclass(frozen=True)
class Categorical(Family[ValueCounts, CategoricalParameters]):
    """One of several values, with a Dirichlet prior.

    Parameters
    ----------
    alpha
        The pseudo-count of each value: one number, one per value, or a mapping from value (or class) to number.
    values
        Values that are known even if no row has them.
    shared
        Whether all columns of the block have one distribution.
    sizes
        For each column the number of its values, which are the codes 0, 1, 2, …
    min_rows
        Values of fewer rows share one cell, (4); 0 is none.

    >>> colour, label = np.array(["red", "blue", "red"]), np.array([0, 0, 1])
    >>> stats = ValueCounts.count(colour, label, None, n_classes=2)
    >>> fitted = Categorical(alpha=1).estimate(stats, classes=("a", "b"))
    >>> np.exp(fitted.log_probability[0]).T.round(3).tolist()      # blue, red: (1+1)/(2+2) …, (0+1)/(1+2) …
    [[0.5, 0.5], [0.333, 0.667]]
    """

    alpha: Any = 1.0
    values: tuple[Value, ...] | None = None
    shared: bool = False
    sizes: tuple[int, ...] | None = None
    min_rows: int = 0

    statistic = ValueCounts
    kinds = ALL_KINDS
    tunes_alpha = True
    has_groupings = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", alpha_of("alpha", self.alpha))
        if self.values is not None:
            object.__setattr__(self, "values", tuple(self.values))
            if len(set(self.values)) < len(self.values):
                raise InputError(f"values={self.values!r}: each value once, please.")
        if self.sizes is not None and (min(self.sizes, default=0) < 0 or sum(self.sizes) > MAX_DECLARED_VALUES):
            limit = f"{MAX_DECLARED_VALUES:,}"
            raise InputError(f"sizes={self.sizes!r:.60}: whole numbers of values, {limit} at most of all columns.")

        if type(self.min_rows) is not int or self.min_rows < 0:
            raise InputError(f"min_rows={self.min_rows!r}: give a number of rows, 0 or more.")
        if self.min_rows and (self.shared or not isinstance(self.alpha, float)):
            raise InputError(f"min_rows={self.min_rows} needs one alpha for all values, and shared=False.")

    @property
    def joint(self) -> bool:  # type: ignore[override]
        """Whether all columns of the block have one distribution."""
        return self.shared

    def estimate(self, stats: ValueCounts, classes: Labels, structure: None = None) -> CategoricalParameters:
        """Estimate equation (2), per column."""
        columns = self._counted(stats, classes)
        grouped = list(map(self._group, columns))
        fitted: list[tuple[Values, Floats, RareValues | None]] = []
        for counted, cells, shares in zip(columns, grouped, _log_shares_of_columns(grouped), strict=True):
            rare = None
            if cells.rare:
                rare = RareValues(cells.rare, counted.weight[self._is_rare(counted)].sum(axis=1), shares[-1])
            fitted.append((cells.values, shares[: len(cells.values)], rare))
        if self.shared:
            fitted *= len(stats.values)
        return CategoricalParameters.of(
            tuple(v for v, _, _ in fitted), tuple(t for _, t, _ in fitted), [rare for _, _, rare in fitted]
        )

    def _is_rare(self, counted: CountedValues) -> Bools:
        """Return which values of a column share one cell."""
        return np.asarray(counted.vanishes & (counted.rows_written_out.sum(axis=1) < self.min_rows))

    def _group(self, counted: CountedValues) -> CountedValues:
        """Return the cells of a column: its frequent values, and a last cell for the rare ones together."""
        if not self.min_rows:
            return counted
        is_rare = self._is_rare(counted)
        if not is_rare.any():
            return counted
        values, rare = (tuple(compress(counted.values, chosen.tolist())) for chosen in (~is_rare, is_rare))
        weight, rows = (
            np.concatenate([table[~is_rare], table[is_rare].sum(axis=0, keepdims=True)])
            for table in (counted.weight, counted.rows)
        )
        alpha = np.concatenate([counted.alpha[~is_rare], counted.alpha[is_rare][:1]])
        return CountedValues(values, weight, rows, alpha, np.append(counted.vanishes[~is_rare], True), rare)

    def _counted(self, stats: ValueCounts, classes: Labels) -> list[CountedValues]:
        """Return the counts of each column, or of all together if they are shared, with the declared values."""
        weight, rows = stats.dense().T, stats.dense(rows=True).T.astype(np.int64)
        columns = [
            (values, weight[start : start + len(values)], rows[start : start + len(values)])
            for values, start in zip(stats.values, stats.offsets, strict=False)
        ]
        counted = []
        for j, (values, weight, rows) in enumerate([_sum_columns(columns)] if self.shared and columns else columns):
            declared = dict.fromkeys((self.values or ()) if self.sizes is None else range(self.sizes[j]))
            known = tuple(dict.fromkeys([*values, *declared]))
            shape = len(known), stats.n_classes
            alpha = pseudo_counts(self.alpha, known, classes)
            alpha = np.broadcast_to(alpha[:, None] if alpha.ndim == 1 else alpha, shape)
            vanishes = np.ones(len(known), np.bool_)
            if declared:
                n_zeros = ((0, len(known) - len(values)), (0, 0))
                weight, rows = np.pad(weight, n_zeros), np.pad(rows, n_zeros)
                vanishes[:] = [value not in declared for value in known]
            counted.append(CountedValues(known, weight, rows, alpha, vanishes))
        return counted

    def check(self, stats: ValueCounts, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the statistic is sound and `sizes` has a number for each column."""
        super().check(stats, n_classes, names)
        require(self.sizes is None or len(self.sizes) == len(names), "numbers of values")

    def log_likelihood(self, x: Codes, parameters: CategoricalParameters, out: Floats, length: Lengths = None) -> None:
        """Add equation (3); the values of x are matched with those that were counted."""
        if parameters.joined is not None and x.max_codes is not None:
            score_codes(x.pieces[:1], *parameters.joined, out)
            return
        is_small = sum(map(len, x.values)) <= MAX_JOINED_VALUES
        groups = [(slice(0, x.n_columns), x.pieces)] if is_small else [(place, (piece,)) for place, piece in x.placed()]
        for columns, pieces in groups:
            score_codes(pieces, *parameters.tables_of(x.values[columns], columns.start), out)

    def score_columns(self, x: Codes, parameters: CategoricalParameters, out: Floats) -> None:
        """Add equation (3) of each column."""
        score_code_columns(single_columns(x.pieces), *parameters.tables_of(x.values, 0), out)

    def weighted(self, parameters: CategoricalParameters, weight: Floats) -> CategoricalParameters | None:
        """Return the same values, with log θ of each column times its weight."""
        if self.shared:
            return None
        tables = [times(w, t) for w, t in zip(weight.tolist(), parameters.log_probability, strict=True)]
        rare = [
            part and replace(part, log_probability=times(w, part.log_probability))
            for w, part in zip(weight.tolist(), parameters.rare, strict=False)
        ]
        return parameters.with_log_probability(tables, rare)

    def leave_one_out(
        self, x: Codes, stats: ValueCounts, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (3) without the row; shared columns are draws from one distribution."""
        columns = [self._group(column) for column in self._counted(stats, classes)]
        starts = np.cumsum([0, *(len(column.weight) for column in columns)])
        slot = _slots_of(x, columns, starts, leaving)
        if self.min_rows:
            self._leave_last_rows_out(columns, starts, slot, leaving, out)
        if self.shared:
            _leave_shared_values_out(columns[0], slot, leaving, out[:, 0])
            return
        rows = np.concatenate([column.rows for column in columns])
        vanishes = np.concatenate([column.vanishes for column in columns])
        cells = ValueArrays(
            weight=np.concatenate([column.weight for column in columns]),
            rows=rows,
            alpha=np.concatenate([column.alpha for column in columns]),
            total_alpha=np.stack([column.alpha.sum(axis=0) for column in columns]),
            start=starts[:-1],
            rows_until_unknown=np.where(vanishes, rows.sum(axis=1), NEVER_VANISHES),
        )
        leave_values_out(cells, slot, leaving, out)

    def _leave_last_rows_out(
        self, columns: Sequence[CountedValues], starts: Index, slot: Index, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (4) where a value becomes rare without the row, and mark these values as done, −1."""
        for j, column in enumerate(columns):
            n_frequent, value = len(column.values), slot[:, j] - starts[j]
            n_rows, total = column.rows.sum(axis=1), column.weight.sum(axis=0)
            i = np.flatnonzero((slot[:, j] >= 0) & (value < n_frequent) & (leaving.rows + leaving.weight > 0))
            cell, written_out = (value[i], leaving.label[i]), column.rows_written_out
            left = rows_written_out(column.rows[cell] - leaving.rows[i], column.weight[cell] - leaving.weight[i])
            n_written_out = written_out.sum(axis=1)[value[i]] - written_out[cell] + left
            i = i[column.vanishes[value[i]] & (n_written_out < self.min_rows)]
            if not len(i):
                continue
            k, label, n_leaving = value[i], leaving.label[i], leaving.rows[i]
            slot[i, j] = -1
            n_left = column.rows[k, label] - n_leaving
            if (n_left < 0).any():
                first = int(np.argmax(n_left < 0))
                raise NotCountedError(int(i[first]), int(label[first]), j, f"{n_left[first]} rows with this value")
            is_label = np.arange(len(total)) == label[:, None]
            gone = is_label * leaving.weight[i, None]
            group, group_rows = (column.weight[-1], int(n_rows[-1])) if column.rare else (np.zeros_like(total), 0)
            of_value = np.where(is_label & (n_left == 0)[:, None], 0.0, np.maximum(column.weight[k] - gone, 0.0))
            weight, of_all = of_value + group, total - gone
            in_class = column.rows.sum(axis=0) - is_label * n_leaving[:, None]
            has_counts = (of_all > 0) & (in_class > 0)
            alpha = column.alpha[k]
            smoothed = np.where(has_counts, weight, weight.sum(axis=1, keepdims=True)) + alpha
            smoothed_total = np.where(has_counts, of_all, of_all.sum(axis=1, keepdims=True)) + alpha * n_frequent
            with np.errstate(divide="ignore"):
                scores = np.log(smoothed) - np.log(np.where(smoothed_total > 0, smoothed_total, 1.0))
            is_known = n_rows[k] - n_leaving + group_rows > 0
            out[i, j] += np.where(is_known[:, None], scores, 0.0)

    def groupings(self, stats: ValueCounts) -> Sequence[Categorical]:
        """Return the family with rare values grouped more and more, for a column of many values."""
        if self.shared or not isinstance(self.alpha, float) or self.values or self.sizes:
            return ()
        n_rows = rows_written_out(stats.dense(rows=True), stats.dense()).sum(axis=0)
        if len(n_rows) <= MAX_UNGROUPED_VALUES:
            return ()
        steps = [m for m in GROUPING_STEPS if 1 < (n_rows < m).sum() < len(n_rows)]
        return [replace(self, min_rows=m) for m in steps]

    def learnt(
        self,
        stats: ValueCounts,
        parameters: CategoricalParameters,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return the values of a column: weight, pseudo-count and log θ, in each class."""
        counted = self._group(self._counted(stats, classes)[0 if self.shared else column])
        values, log_probability = list[CellValue](counted.values), parameters.log_probability[column]
        shown, rare = list(map(str, values)), parameters.rare_of(column)
        if rare is not None:
            values, shown = [*values, rare.shown], [*shown, rare.shown]
            log_probability = np.concatenate([log_probability, rare.log_probability[None]])
        return Learnt.of_values(values, shown, counted.weight, counted.alpha, log_probability)

    def linear(self, parameters: CategoricalParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return one weight per column and value (one-hot), log θ_of − log θ_against; no bias."""
        features, tables = list[tuple[str, CellValue]](), list[Floats]()
        for j, (name, values) in enumerate(zip(names, parameters.values, strict=True)):
            rare = parameters.rare_of(j)
            features += [(name, value) for value in (*values, *(() if rare is None else rare.values))]
            tables.append(parameters.log_probability[j])
            if rare is not None:
                tables.append(np.tile(rare.log_probability, (len(rare.values), 1)))
        return LinearPart.between(features, np.concatenate(tables), (of, against))

    def terms(self, row: RowView, stats: ValueCounts, parameters: CategoricalParameters, pair: Pair) -> list[Term]:
        """Return one term per column, with the weight of the rows of each class that have the value."""
        terms = []
        for j, (name, value, table) in enumerate(zip(row.names, row.values, row.tables, strict=True)):
            if value is None:
                terms.append(Term.missing(name))
                continue
            position, shown = parameters.positions[j].get(value), str(value)
            if position is not None and table.is_known[position]:
                terms.append(table.term((name, value, shown), position, pair))
                continue
            rare = parameters.rare_of(j)
            if rare is None:
                terms.append(Term.unseen(name, value, shown))
                continue
            label = name, value, f"{shown} (one of {rare.shown})"
            terms.append(table.term(label, len(parameters.values[j]), pair))
        return terms

    def value_tables(self, stats: ValueCounts, parameters: CategoricalParameters, classes: Labels) -> list[ValueTables]:
        """Return the values of each column, and its rare values together as the last one."""
        columns = [self._group(column) for column in self._counted(stats, classes)]
        columns *= len(stats.values) if self.shared else 1
        tables = []
        for j, counted in enumerate(columns):
            log_probability, rare = parameters.log_probability[j], parameters.rare_of(j)
            if rare is not None:
                log_probability = np.concatenate([log_probability, rare.log_probability[None]])
            tables.append(ValueTables(counted.weight, counted.rows, counted.alpha, log_probability, counted.vanishes))
        return tables

    def estimate_without(self, x: Codes, counted: Estimate, c: int, classes: Labels, structure: None) -> Estimate:
        """Estimate without one counted row of class c, from the tables of the values."""
        parameters: CategoricalParameters = counted.parameters
        if self.shared:
            return super().estimate_without(x, counted, c, classes, structure)
        tables, rare = list(counted.tables), list(parameters.rare)
        scores = np.zeros((len(tables), len(classes)))
        for j, value in enumerate(coded_values(x)):
            if value is None:
                continue
            position, part = parameters.positions[j].get(value), parameters.rare_of(j)
            if position is None and part is not None:
                rare[j] = part.without(value)
                position = None if rare[j] is None else len(parameters.values[j])
            elif position is not None and self._is_nearly_rare(tables[j], position):
                position = None
            table = None if position is None else tables[j].without(position, c)
            if table is None:  # a frequent value is rare without the row, or the row was not counted
                return super().estimate_without(x, counted, c, classes, structure)
            tables[j], scores[j] = table, table.log_probability[position]
        shares = [t.log_probability[: len(values)] for values, t in zip(parameters.values, tables, strict=True)]
        rare = [
            part and replace(part, log_probability=t.log_probability[-1]) for part, t in zip(rare, tables, strict=False)
        ]
        return Estimate(counted.statistic, parameters.with_log_probability(shares, rare), tables, scores)

    def _is_nearly_rare(self, table: ValueTables, position: int) -> bool:
        """Return whether a value would be rare without one of its rows."""
        if not self.min_rows or not table.vanishes[position]:
            return False
        return float(rows_written_out(table.rows[position], table.weight[position]).sum()) - 1 < self.min_rows

    def alternatives(self, row: RowView, parameters: CategoricalParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row with each other value of each column."""
        for name, value, values in zip(row.names, row.values, parameters.values, strict=True):
            if value is not None:
                for other in [v for v in values if v != value][:MAX_ALTERNATIVES]:
                    yield Alternative(name, value, other, other)

    def grid(
        self, stats: ValueCounts, parameters: CategoricalParameters, column: int, kind: Kind = "number"
    ) -> Grid | None:
        """Return the values."""
        values, rare = parameters.values[column], parameters.rare_of(column)
        marks = tuple(map(str, values))
        if rare is not None:
            values, marks = (*values, rare.values[0]), (*marks, rare.shown)
        return Grid(values, marks) if values else None

    def column_scores(
        self, parameters: CategoricalParameters, names: Sequence[str], n_classes: int
    ) -> list[ValueScores]:
        """Return log θ of each value; any other value adds nothing."""
        zeros = np.zeros(n_classes)
        pairs = zip(parameters.values, parameters.log_probability, strict=True)
        return [ValueScores(values, table, parameters.log_other(j), zeros) for j, (values, table) in enumerate(pairs)]

    def sample(self, parameters: CategoricalParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        columns = []
        for j, (values, table) in enumerate(zip(parameters.values, parameters.log_probability, strict=True)):
            column, rare = np.full(len(label), None, dtype=object), parameters.rare_of(j)
            if rare is not None:
                shares = np.log(rare.weight / rare.weight.sum())[:, None]
                table = np.concatenate([table, rare.log_probability + shares])
                values = (*values, *rare.values)
            if values:
                column[:] = [values[k] for k in draw_positions(table, label, generator)]
            columns.append(column)
        return columns


Column = tuple[Values, Floats, Wholes]


def _log_shares_of_columns(columns: Sequence[CountedValues]) -> list[Floats]:
    """Return log θ of each column, (value, class)."""
    with_values = [column for column in columns if len(column.weight)]
    if not with_values:
        return [np.zeros(column.weight.shape) for column in columns]
    ends = np.cumsum([len(column.weight) for column in with_values])
    weight, alpha = (np.concatenate([getattr(column, name) for column in with_values]) for name in ("weight", "alpha"))
    shares = iter(np.split(log_shares(weight, alpha, np.append(0, ends[:-1])), ends[:-1]))
    return [next(shares) if len(column.weight) else np.zeros(column.weight.shape) for column in columns]


def _sum_columns(columns: list[Column]) -> Column:
    """Return the counts of several columns over the union of their values."""
    union = in_order({value for values, _, _ in columns for value in values})
    position = {value: k for k, value in enumerate(union)}
    shape = (len(union), columns[0][1].shape[1])
    weight, rows = np.zeros(shape), np.zeros(shape, np.int64)
    for values, weight_of_column, rows_of_column in columns:
        at = [position[value] for value in values]
        weight[at] += weight_of_column
        rows[at] += rows_of_column
    return union, weight, rows


def _slots_of(x: Codes, columns: Sequence[CountedValues], starts: Index, leaving: Leaving) -> Index:
    """Return the slot of each value (row, column), −1 where it is missing; columns that share one list share slots."""
    parts, values = [], x.values
    for columns_of_piece, codes in x.placed():
        slot = np.full(codes.shape, -1, dtype=np.intp)
        for i, j in enumerate(range(columns_of_piece.start, columns_of_piece.stop)):
            k = j if len(columns) > 1 else 0
            number = {value: int(starts[k]) + n for n, value in enumerate(columns[k].values)}
            of_rare = int(starts[k]) + len(number)
            number |= dict.fromkeys(columns[k].rare, of_rare)
            slot_of_code = np.array([number.get(value, -1) for value in values[j]], dtype=np.intp)
            present = np.flatnonzero((codes[:, i] >= 0) & (codes[:, i] < len(slot_of_code)))  # NaN is neither
            slot[present, i] = slot_of_code[codes[present, i].astype(np.intp)]
            is_uncounted = slot[present, i] < 0
            unknown = present[is_uncounted & (leaving.rows[present] + leaving.weight[present] > 0)]
            if columns[k].rare:
                slot[present[is_uncounted], i] = of_rare
            if len(unknown):
                first = int(unknown[0])
                left = f"-1 rows with the value {values[j][int(codes[first, i])]!r}"
                raise NotCountedError(first, int(leaving.label[first]), j, left)
        parts.append(slot)
    return np.concatenate(parts, axis=1)


def _leave_shared_values_out(column: CountedValues, slot: Index, leaving: Leaving, out: Floats) -> None:
    """Add scores (row, class) of columns with one distribution: a multinomial, of which each value is a draw."""
    n_values = max(len(column.values), 1)
    row, position = np.nonzero(slot >= 0)
    pair, times = np.unique(row * np.int64(n_values) + slot[row, position], return_counts=True)
    row, value = np.divmod(pair, n_values)
    rows = TokenRows.of(row, value, times.astype(np.float64), len(slot), times.astype(np.int64))
    known = np.ones(len(column.values), dtype=np.bool_)
    cells = cells_of_table(column.rows.T, column.weight.T)
    tokens = token_cells(cells, column.alpha, known, column.vanishes, alpha_vanishes=True)
    leave_rows_out(rows, tokens, leaving, "multinomial", out)
