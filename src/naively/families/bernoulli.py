"""Bernoulli likelihood: yes or no in each column; a no counts too.

    x_j | c ~ Bernoulli(θ_jc),   θ_jc ~ Beta(a, b)                          (1)
    θ_jc = (n_jc + a) / (N_jc + a + b)                                      (2)
    log p(x | c) = Σ_j x_j log θ_jc + (1 − x_j) log(1 − θ_jc)               (3)

n_jc rows of class c have x_j = 1, of N_jc in which x_j is not missing (`TokenCounts`). (3) is computed as a constant
per class and a weight for each x_j that is 1:

    Σ_j log(1 − θ_jc) + Σ_{j: x_j = 1} log(θ_jc / (1 − θ_jc))               (4)

A column without values in a class takes the counts of all classes. A column without any value is no evidence.

`Presence` is the same model of whether a column has a value at all, as evidence of its own (`missing="value"`):

    value present | c ~ Bernoulli(φ_jc),   φ_jc = (rows with a value + 1) / (rows + 2)       (5)

The family of the column models the value, if there is one. Together they are one distribution over "missing" and the
values.
Source: McCallum & Nigam, A comparison of event models for naive Bayes text classification, AAAI-98 workshop; Bishop,
Pattern Recognition and Machine Learning (2006), §2.1; documents 000, (3)–(17); 003; 004, (5.19)–(5.29), where α and mα
of (5.22) are a = α, b = (m − 1)α.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from naively import priors
from naively._kernels.cells import Cells, merge_cells
from naively._kernels.leave_one_out import ValueArrays
from naively._kernels.types import Array, Bools, Floats, Index
from naively.data.kinds import Kind
from naively.data.plain import CellValue
from naively.data.table import Table
from naively.data.views import Numbers
from naively.errors import InputError
from naively.families import evidence
from naively.families.base import ALL_KINDS, Estimate, Labels, Leaving, times
from naively.families.evidence import Alternative, Grid, Pair, RowView, Term, ValueTables, WordTable
from naively.families.learnt import Learnt
from naively.families.leave_one_out.columns import dense_numbers, leave_values_out
from naively.families.linear_form import EVERY, LinearForm, LogLinear, dense_form, sparse_form
from naively.families.scores import ValueScores
from naively.families.tokens import TokenFamily, TokenParameters, share_with_empty
from naively.statistics.cells import class_of_cells, sum_by_class, table_of_cells, values_in_class
from naively.statistics.class_weights import ClassWeights
from naively.statistics.token_counts import TokenCounts

MAX_DENSE_CELLS = 2**20  # (column, class) pairs; beyond, only those that differ from a column without ones are stored
MAX_COLUMNS_LISTED = 256  # wider blocks are explained with one term for all zeros


@dataclass(frozen=True)
class Bernoulli(TokenFamily):
    """Yes or no, 1 or 0, with a Beta(a, b) prior; a and b may have one number per column. `alpha` is both of them.

    >>> word, label = np.array([[1], [1], [0], [0]]), np.array([0, 0, 0, 1])
    >>> stats = TokenCounts.count(word, label, None, n_classes=2)
    >>> fitted = Bernoulli().estimate(stats, classes=("spam", "ham"))
    >>> out = np.zeros((1, 2))
    >>> Bernoulli().log_likelihood(Numbers.of(np.array([[1]])), fitted, out)
    >>> np.exp(out).round(3).tolist()                              # (2+1)/(3+2), (0+1)/(1+2)
    [[0.6, 0.333]]
    """

    a: Any = 1.0
    b: Any = 1.0
    alpha: InitVar[Any] = None

    support = "binary"
    event_model = "bernoulli"
    zeros: ClassVar[str] = "that are 0"  # how explanations call columns without a 1

    def __post_init__(self, alpha: Any) -> None:
        for name in ("a", "b"):
            value = getattr(self, name) if alpha is None else alpha
            priors.pseudo_count(name if alpha is None else "alpha", value)
            frozen = tuple(map(float, value)) if isinstance(value, (tuple, list, np.ndarray)) else float(value)
            object.__setattr__(self, name, frozen)

    @property
    def pseudo_count(self) -> float | None:
        """The pseudo-count of a 1 in each column; None if columns differ in it."""
        return self.a if isinstance(self.a, float) else None

    def estimate(self, stats: TokenCounts, classes: Labels, structure: None = None) -> TokenParameters:
        """Estimate equation (2), as the linear form (4)."""
        n_missing = np.bincount(stats.missing.index, weights=stats.missing.rows, minlength=stats.n_tokens)
        known = n_missing < stats.seen.rows.sum()
        form = bernoulli_form(stats.cells, stats.missing, stats.seen, known, self.a, self.b)
        return TokenParameters(form, np.ones(stats.n_classes))

    def columns_of(
        self, parameters: TokenParameters, positions: Sequence[int], stats: TokenCounts, classes: Labels
    ) -> TokenParameters:
        """Return the parameters of some columns, estimated from `stats` with their numbers a and b."""
        a, b = (value if isinstance(value, float) else tuple(value[j] for j in positions) for value in (self.a, self.b))
        return replace(self, a=a, b=b).estimate(stats, classes)

    def score_columns(self, x: Numbers, parameters: TokenParameters, out: Floats) -> None:
        """Add equation (3) of each column."""
        zero, one = (parameters.form.log_presence(EVERY, is_present)[:, None] for is_present in (False, True))
        for columns, piece in x.dense():
            values = piece.T[:, :, None]
            out[columns] += np.where(values != values, 0.0, np.where(values != 0, one[columns], zero[columns]))

    def leave_one_out(
        self, x: Numbers, stats: TokenCounts, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (3) without the row: each column has two values, 0 and 1."""
        cells = self._zeros_and_ones(stats)
        values = dense_numbers(x)
        slot = np.where(np.isnan(values), -1, cells.start + (values != 0))
        leave_values_out(cells, slot, leaving, out)

    def _zeros_and_ones(self, stats: TokenCounts) -> ValueArrays:
        """Return the two values of each column: 0, then 1."""
        n, n_classes, ones, absent = stats.n_tokens, stats.n_classes, stats.cells, stats.missing
        one, one_rows = (table_of_cells(ones, n, counts).T for counts in (ones.sums[-1], ones.rows))
        missing, missing_rows = (table_of_cells(absent, n, counts).T for counts in (absent.sums[0], absent.rows))
        zero_rows = stats.seen.rows - one_rows - missing_rows
        zero = np.where(zero_rows > 0, stats.seen.weight - one - missing, 0.0)
        rows = np.stack([zero_rows, one_rows], axis=1).astype(np.int64)
        prior = np.stack([np.broadcast_to(np.asarray(alpha), n) for alpha in (self.b, self.a)], axis=1)
        alpha = np.repeat(prior[:, :, None], n_classes, axis=2)
        return ValueArrays(
            weight=np.stack([zero, one], axis=1).reshape(-1, n_classes),
            rows=rows.reshape(-1, n_classes),
            alpha=alpha.reshape(-1, n_classes),
            total_alpha=alpha.sum(axis=1),
            start=2 * np.arange(n),
            rows_until_unknown=np.repeat(rows.sum(axis=(1, 2)), 2),
        )

    def terms(self, row: RowView, stats: TokenCounts, parameters: TokenParameters, pair: Pair) -> list[Term]:
        """Return one term per column; in a wide block all zeros are one term, which includes the weights of columns."""
        if row.tables:
            return self._terms_of_tables(row, pair)
        columns, numbers = row.nonzero()
        is_missing = np.isnan(numbers)
        terms = [Term.missing(row.names[j]) for j in columns[is_missing].tolist()]
        terms += self._column_terms(row, stats, parameters, pair, columns[~is_missing], is_one=True)
        zeros = np.setdiff1d(np.arange(stats.n_tokens), columns)
        if stats.n_tokens <= MAX_COLUMNS_LISTED:
            return terms + self._column_terms(row, stats, parameters, pair, zeros, is_one=False)
        form, weight = parameters.form, np.ones(1) if row.weight is None else row.weight
        if (weight == weight[0]).all():
            scores = times(weight[0], form.log_absence_except(columns))
        else:
            scores = times(weight[zeros, None], form.log_presence(zeros, is_present=False)).sum(axis=0)
        name = f"{len(zeros)} columns {self.zeros}"
        return [*terms, Term(name, 0, "0", evidence.pair_of(scores[list(pair)]), count=0.0, note="together")]

    def _column_terms(
        self, row: RowView, stats: TokenCounts, parameters: TokenParameters, pair: Pair, columns: Index, is_one: bool
    ) -> list[Term]:
        """Return the terms of columns that are all 1, or all 0."""
        labels = [(row.names[j], *self._format(is_one, row.kind(j))) for j in columns.tolist()]
        a, b = (np.broadcast_to(np.asarray(prior), stats.n_tokens)[columns, None] for prior in (self.a, self.b))
        sides = [_ones_in_class(stats, columns, c) for c in pair]
        ones, totals = (np.stack(part, axis=1) for part in zip(*sides, strict=True))
        counts = ones if is_one else totals - ones
        scores, beta = parameters.form.log_presence(columns, is_one), (counts + (a if is_one else b), totals + a + b)
        terms = evidence.share_terms(labels, scores[:, list(pair)], counts, totals, beta)
        is_unknown = parameters.form.is_unknown(columns).tolist()
        return [Term.unseen(*labels[i]) if unknown else terms[i] for i, unknown in enumerate(is_unknown)]

    def _terms_of_tables(self, row: RowView, pair: Pair) -> list[Term]:
        """Return the terms of a narrow block: missing values first, then ones."""
        missing, zeros, ones = list[Term](), list[Term](), list[Term]()
        for j, (name, x, table) in enumerate(zip(row.names, row.numbers, row.tables, strict=True)):
            if x != x:
                missing.append(Term.missing(name))
            else:
                label = (name, *self._format(x != 0, row.kind(j)))
                (ones if x else zeros).append(table.term(label, int(x != 0), pair))
        return missing + ones + zeros

    def value_tables(self, stats: TokenCounts, parameters: TokenParameters, classes: Labels) -> list[ValueTables]:
        """Return 0 and 1 of each column of a narrow block; none if a class has no value in a column."""
        n, always = stats.n_tokens, np.zeros(2, np.bool_)
        if not 0 < n <= MAX_COLUMNS_LISTED:
            return []
        cells, columns = self._zeros_and_ones(stats), np.arange(n)
        if not np.add.reduceat(cells.rows, cells.start).all():
            return []
        log_probability = np.stack([parameters.form.log_presence(columns, is_one) for is_one in (False, True)], axis=1)
        tables = []
        for j in range(n):
            pair = slice(2 * j, 2 * j + 2)
            arrays = cells.weight[pair], cells.rows[pair], cells.alpha[pair]
            tables.append(ValueTables(*arrays, log_probability[j], always))
        return tables

    def estimate_without(self, x: Numbers, counted: Estimate, c: int, classes: Labels, structure: None) -> Estimate:
        """Estimate without one counted row of class c, from the tables of a narrow block."""
        tables, missing = list(counted.tables), counted.statistic.missing
        scores = np.zeros((len(tables), len(classes)))
        for j, number in enumerate(dense_numbers(x)[0].tolist() if tables else ()):
            if number != number:
                if not values_in_class(missing, c, np.array([j]), missing.rows)[0] > 0:
                    return super().estimate_without(x, counted, c, classes, structure)
                continue
            position = int(number != 0)
            table = tables[j].without(position, c)
            if table is None or not table.totals[c] > 0:  # the class takes the counts of all classes
                return super().estimate_without(x, counted, c, classes, structure)
            tables[j], scores[j] = table, table.log_probability[position]
        logs = np.array([table.log_probability for table in tables])
        if not (tables and np.isfinite(logs).all()):
            return super().estimate_without(x, counted, c, classes, structure)
        zero, one, known = logs[:, 0], logs[:, 1], np.ones(len(logs), np.bool_)
        form = LogLinear(dense_form(one - zero, known, zero.sum(axis=0)), None, LogLinear(dense_form(-zero, known)))
        return Estimate(counted.statistic, TokenParameters(form, counted.parameters.mean_length), tables, scores)

    def learnt(
        self,
        stats: TokenCounts,
        parameters: TokenParameters,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return 0 and 1: weight of the rows, pseudo-count and log θ, in each class."""
        columns = np.array([column])
        sides = [_ones_in_class(stats, columns, c) for c in range(stats.n_classes)]
        ones, totals = (np.concatenate(part) for part in zip(*sides, strict=True))
        prior = [np.broadcast_to(np.asarray(prior), stats.n_tokens)[column] for prior in (self.b, self.a)]
        scores = [parameters.form.log_presence(columns, is_one)[0] for is_one in (False, True)]
        values, shown = zip(*(self._format(is_one, kind) for is_one in (False, True)), strict=True)
        counts, alpha = np.stack([totals - ones, ones]), np.array(prior)[:, None]
        return Learnt.of_values(values, shown, counts, alpha, np.stack(scores))

    def _format(self, is_one: bool, kind: str) -> tuple[CellValue, str]:
        """Return a 1 or 0 as plain data and as text."""
        return evidence.format_value(float(is_one), kind)

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row with a 0 for each 1; in a narrow block also with a 1 for each 0."""
        yield from super().alternatives(row, parameters, rival)
        if len(row.names) <= MAX_COLUMNS_LISTED:
            for j in np.setdiff1d(np.arange(len(row.names)), row.nonzero()[0]).tolist():
                yield from evidence.other_numbers_of(row, j, 0.0, [1.0])

    def frequent_words(
        self, stats: TokenCounts, parameters: TokenParameters, names: Sequence[str], min_count: float
    ) -> WordTable | None:
        """Return the columns of a wide block that are 1 at least `min_count` times."""
        is_wide = stats.n_tokens > MAX_COLUMNS_LISTED
        return super().frequent_words(stats, parameters, names, min_count) if is_wide else None

    def column_scores(self, parameters: TokenParameters, names: Sequence[str], n_classes: int) -> list[ValueScores]:
        """Return log(1 − θ) for 0 and log θ for 1."""
        columns, zeros = np.arange(len(names)), np.zeros(n_classes)
        tables = np.stack([parameters.form.log_presence(columns, is_present) for is_present in (False, True)], axis=1)
        return [ValueScores((0, 1), table, None, zeros) for table in tables]

    def sample(self, parameters: TokenParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1)."""
        log_odds, absent = parameters.form.log_weights(), parameters.form.absent
        probability = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -700.0, 700.0)))
        probability[log_odds == -np.inf] = 0.0
        if absent is not None and absent.forbidden is not None:
            probability[absent.forbidden.at(EVERY) < -0.5] = 1.0
        return [generator.random(len(label)) < p for p in probability[:, label]]


@dataclass(frozen=True)
class Presence(Bernoulli):
    """Whether a row has a value, for each column."""

    kinds = ALL_KINDS
    role = "presence"
    zeros = "without a value"

    def read_columns(self, table: Table, positions: Sequence[int]) -> Numbers:
        """Return 1 where a column has a value and 0 where it is missing."""
        return table.present(positions)

    def _format(self, is_one: bool, kind: str) -> tuple[bool, str]:
        """Return whether there is a value."""
        return is_one, "has a value" if is_one else "empty (counts as information)"

    def grid(self, stats: TokenCounts, parameters: TokenParameters, column: int, kind: Kind = "number") -> Grid:
        """Return the two cases."""
        return Grid((0.0, 1.0), ("missing", "has a value"))

    def column_scores(self, parameters: TokenParameters, names: Sequence[str], n_classes: int) -> list[ValueScores]:
        """Return log φ for any value, and log(1 − φ) for a missing one."""
        columns, no_scores = np.arange(len(names)), np.zeros((0, n_classes))
        missing, present = (parameters.form.log_presence(columns, is_present) for is_present in (False, True))
        return [ValueScores((), no_scores, p, m) for p, m in zip(present, missing, strict=True)]

    def word_shares(self, stats: TokenCounts) -> None:
        """Return None: whether a value is missing is not a word."""
        return

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """Return nothing: whether a value is missing cannot be changed."""
        return iter(())


def bernoulli_form(cells: Cells, missing: Cells, seen: ClassWeights, known: Bools, a: Any, b: Any) -> LogLinear:
    """Return equation (4) over the last channel of the cells (rows with a 1); only known columns are evidence."""
    ones = _Ones.of(cells, missing, seen, known)
    if isinstance(a, float) and isinstance(b, float) and len(known) * seen.n_classes > MAX_DENSE_CELLS:
        return _sparse(ones, a, b)
    for name, prior in (("a", a), ("b", b)):
        if isinstance(prior, tuple) and len(prior) != len(known):
            raise InputError(f"Bernoulli has {len(prior)} numbers {name} for {len(known)} columns: give one for each.")
    return _dense(ones, *(np.broadcast_to(np.asarray(prior), known.shape) for prior in (a, b)))


def _ones_in_class(stats: TokenCounts, columns: Index, c: int) -> tuple[Floats, Floats]:
    """Return the weight of ones, and of any value, in a class; that of all classes where the class has no value."""
    cells, missing, seen = stats.cells, stats.missing, stats.seen
    ones = values_in_class(cells, c, columns, cells.sums[-1])
    total = seen.weight[c] - values_in_class(missing, c, columns, missing.sums[0])
    has_values = seen.rows[c] - values_in_class(missing, c, columns, missing.rows) > 0
    pooled_ones = np.bincount(cells.index, cells.sums[-1], stats.n_tokens)[columns]
    pooled = seen.weight.sum() - np.bincount(missing.index, missing.sums[0], stats.n_tokens)[columns]
    return np.where(has_values, ones, pooled_ones), np.where(has_values, total, pooled)


@dataclass(frozen=True, slots=True, eq=False)
class _Ones:
    """The cells that have a 1 or a missing value, with the weight of their ones and of their zeros."""

    cells: Cells
    ones: Floats
    zeros: Floats
    rest: Floats  # (class,): the zeros of all other cells
    known: Bools  # (column,): whether it has any value

    @classmethod
    def of(cls, cells: Cells, missing: Cells, seen: ClassWeights, known: Bools) -> _Ones:
        """Merge the cells of ones and of missing values; a class without values gets the counts of all classes."""
        ones = _channels(cells, cells.sums[-1], is_missing=False)
        union = merge_cells(ones, _channels(missing, missing.sums[0], is_missing=True), 1)
        union = share_with_empty(union, np.flatnonzero(seen.rows == 0))
        rows = np.where(seen.rows > 0, seen.rows, seen.rows.sum())
        weight = np.where(seen.rows > 0, seen.weight, seen.weight.sum())
        one, no_value, one_rows, no_value_rows = union.sums
        owner = class_of_cells(union)
        zero_rows = rows[owner] - one_rows - no_value_rows
        zero = np.where(zero_rows > 0, weight[owner] - one - no_value, 0.0)
        pooled_one = np.bincount(cells.index, weights=cells.sums[-1], minlength=len(known))
        pooled_no_value = np.bincount(missing.index, weights=missing.sums[0], minlength=len(known))
        pooled_zero = seen.weight.sum() - pooled_one - pooled_no_value
        is_empty = (one_rows == 0) & (zero_rows == 0)
        one = np.where(is_empty, pooled_one[union.index], one)
        return cls(union, one, np.where(is_empty, pooled_zero[union.index], zero), weight, known)


def _channels(cells: Cells, weight: Floats, is_missing: bool) -> Cells:
    """Return cells with four channels: weight of ones and of missing values, rows of ones and of missing values."""
    zeros, rows = np.zeros_like(weight), cells.rows.astype(np.float64)
    return cells._replace(sums=np.stack((zeros, weight, zeros, rows) if is_missing else (weight, zeros, rows, zeros)))


@dataclass(frozen=True, slots=True, eq=False)
class _Logs:
    """log θ/(1−θ) and log(1−θ), with 0 for −∞, and whether a 1 or a 0 is impossible."""

    log_odds: Floats
    log_absent: Floats
    no_one: Floats
    no_zero: Floats

    @classmethod
    def of(cls, ones: Floats, zeros: Floats, a: Any, b: Any) -> _Logs:
        one, zero = ones + a, zeros + b
        log_one, log_zero, log_all = (np.log(np.where(n > 0, n, 1.0)) for n in (one, zero, one + zero))
        return cls(
            log_one - log_zero, log_zero - log_all, (one <= 0).astype(np.float64), (zero <= 0).astype(np.float64)
        )


def _dense(seen: _Ones, a: Floats, b: Floats) -> LogLinear:
    """Return equation (4) as a dense table."""
    at = (seen.cells.index, class_of_cells(seen.cells))
    ones, zeros = np.zeros((len(a), len(seen.rest))), np.tile(seen.rest, (len(a), 1))
    ones[at], zeros[at] = seen.ones, seen.zeros
    logs = _Logs.of(ones, zeros, a[:, None], b[:, None])
    known = seen.known

    def forms(present: Floats, absent: Floats) -> tuple[LinearForm, LinearForm]:
        offset = np.ascontiguousarray(absent[known].T).sum(axis=1)
        return dense_form(present, known, offset), dense_form(-absent, known)

    score, back = forms(logs.log_odds, logs.log_absent)
    if not (logs.no_one.any() or logs.no_zero.any()):
        return LogLinear(score, None, LogLinear(back))
    forbidden, allowed = forms(logs.no_one - logs.no_zero, logs.no_zero)
    return LogLinear(score, forbidden, LogLinear(back, allowed))


def _sparse(seen: _Ones, a: float, b: float) -> LogLinear:
    """Return equation (4) as the scores of a column without ones, and the differences of the cells from them."""
    owner = class_of_cells(seen.cells)
    cell, blank = _Logs.of(seen.ones, seen.zeros, a, b), _Logs.of(np.zeros_like(seen.rest), seen.rest, a, b)
    base = np.where(seen.known, 0.0, np.nan)

    def forms(present: tuple[Floats, Floats], absent: tuple[Floats, Floats]) -> tuple[LinearForm, LinearForm]:
        more, gone = present[0] - present[1][owner], absent[0] - absent[1][owner]
        gone = np.where(seen.known[seen.cells.index], gone, 0.0)
        offset = seen.known.sum() * absent[1] + sum_by_class(seen.cells, gone)
        form = sparse_form(seen.cells, more, base, present[1], offset)
        return form, sparse_form(seen.cells, -gone, base, -absent[1])

    score, back = forms((cell.log_odds, blank.log_odds), (cell.log_absent, blank.log_absent))
    if not (blank.no_one.any() or cell.no_one.any() or cell.no_zero.any()):
        return LogLinear(score, None, LogLinear(back))
    present = cell.no_one - cell.no_zero, blank.no_one - blank.no_zero
    forbidden, allowed = forms(present, (cell.no_zero, blank.no_zero))
    return LogLinear(score, forbidden, LogLinear(back, allowed))
