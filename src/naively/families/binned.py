"""Binned likelihood: numbers of any distribution, in bins that separate the classes.

    x | c ~ bin b with probability θ_bc, then within b as in all classes together            (1)
    θ_bc = (N_bc + α) / (N_c + αB)                                                           (2)
    log p(x | c) = log θ_bc,   b = number of cuts ≤ x                                        (3)

N_bc is the weight of class c in bin b (`Histogram`), N_c its sum over the B bins. The cuts have the greatest posterior
probability, given the classes, under Boullé's prior over all discretisations (MODL; `core/histogram/discretise.cpp`).
So there is nothing to choose. Cuts are midway between neighbouring values, and the first and last bin are open.
±infinity have bins of their own if they were counted; otherwise they fall into the end bins.

(3) is the probability of the bin. By (1) the density within a bin is the same in every class, so it changes no
posterior and no log-odds and is left out: log_joint and log_marginal are those of the binned value.

(2) is Laplace's rule at α = 1, as for `Categorical`. (α/B per bin, and both spread over the bins like the rows of all
classes, were tried too: none had a lower log-loss on most of nine tables.) A class without rows in a column takes the
counts of all classes. A column without cuts is a single bin and no evidence. A bin without rows is no evidence either,
as between −infinity and +infinity if no finite number was counted.
Source: M. Boullé, MODL: a Bayes optimal discretization method for continuous attributes, Machine Learning 65 (2006)
131–165. Fayyad & Irani, IJCAI 1993, 1022–1027, is the criterion that it improves upon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import pairwise
from typing import ClassVar

import numpy as np

from naively._kernels import histogram as kernels
from naively._kernels.leave_one_out import ValueArrays
from naively._kernels.types import Array, Floats, Index, Wholes
from naively.data.kinds import SECONDS_OF_A_DAY, Kind
from naively.data.views import is_sparse, single_columns
from naively.families import evidence
from naively.families.base import Estimate, Family, Labels, Leaving, Lengths, draw_positions, times
from naively.families.evidence import Alternative, Grid, Pair, RowView, Term, ValueTables, log_shares
from naively.families.learnt import Learnt
from naively.families.leave_one_out.columns import dense_numbers, leave_values_out
from naively.families.scores import IntervalScores
from naively.priors import pseudo_count
from naively.statistics import Histogram, Numbers, Statistic

MAX_FLOAT = float(np.finfo(np.float64).max)
SHOWN_DIGITS = 4  # of a cut between two bins, if they tell the counted numbers apart


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """The structure of `Binned`: the cuts of all columns, and where those of each column begin."""

    cuts: Floats
    offsets: Wholes

    def column_cuts(self, j: int) -> Floats:
        """Return the cuts of one column, ascending."""
        return self.cuts[self.offsets[j] : self.offsets[j + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedParameters(Cuts):
    """The cuts of all columns, and log θ as (bin, class); column j has one bin more than cuts.

    `low`, `high` and `weight` describe the keys of all classes together, in order, from which samples are drawn.
    `first_key` is the first key of each bin.
    """

    log_probability: Floats
    low: Floats
    high: Floats
    weight: Floats
    first_key: Index

    def of_columns(self, columns: slice) -> tuple[Floats, Wholes, Floats]:
        """Return the cuts of some columns, where those of each begin, and log θ of their bins."""
        offsets = self.offsets[columns.start : columns.stop + 1]
        bins = slice(offsets[0] + columns.start, offsets[-1] + columns.stop)
        return self.cuts[offsets[0] : offsets[-1]], offsets - offsets[0], self.log_probability[bins]

    def column_bins(self, j: int) -> slice:
        """Return the place of the bins of one column among all bins."""
        return slice(int(self.offsets[j]) + j, int(self.offsets[j + 1]) + j + 1)


@dataclass(frozen=True)
class Binned(Family[Histogram, BinnedParameters]):
    """Numbers of any distribution: nothing to scale, transform or choose.

    >>> age, label = np.array([20.0, 22, 25, 40, 41, 60]), np.array([0, 0, 0, 1, 1, 1])
    >>> fitted = Binned(alpha=1).estimate(Histogram.count(age, label, None, n_classes=2), classes=("a", "b"))
    >>> fitted.cuts.tolist()
    [32.5]
    >>> np.exp(fitted.log_probability).T.round(3).tolist()      # (3+1)/(3+2), (0+1)/(3+2)
    [[0.8, 0.2], [0.2, 0.8]]
    """

    alpha: float = 1.0

    statistic: ClassVar[type[Statistic]] = Histogram
    tunes_alpha = True

    def __post_init__(self) -> None:
        pseudo_count("alpha", self.alpha)

    def estimate(self, stats: Histogram, classes: Labels, structure: Cuts | None = None) -> BinnedParameters:
        """Choose the cuts, unless they are given, and estimate equation (2)."""
        stats = stats.part(Histogram)
        cells, structure = stats.cells, self.structure(stats) if structure is None else structure
        cuts, offsets = structure.cuts, structure.offsets
        table, _ = kernels.bin_cells(cells, stats.n_classes, cuts, offsets)
        has_rows = table.any(axis=1, keepdims=True)  # other bins are no evidence
        shares = log_shares(table, np.where(has_rows, self.alpha, 0.0), offsets[:-1] + np.arange(stats.n_columns))
        log_probability = np.where(has_rows, shares, 0.0)
        first = np.flatnonzero(stats.first_of_keys())
        pooled = np.add.reduceat(cells.weight, first) if len(first) else np.zeros(0)
        low, high = kernels.key_values(cells.keys[first], cells.levels[stats.column[first]])
        first_key = _first_keys(low, np.searchsorted(first, cells.offsets), structure)
        return BinnedParameters(cuts, offsets, log_probability, low, high, pooled, first_key)

    def log_likelihood(self, x: Numbers, parameters: BinnedParameters, out: Floats, length: Lengths = None) -> None:
        """Add equation (3), summed over the columns."""
        for columns, pieces in _dense_pieces(x):
            kernels.score_bins(pieces, *parameters.of_columns(columns), out)

    def score_columns(self, x: Numbers, parameters: BinnedParameters, out: Floats) -> None:
        """Add equation (3) of each column."""
        for columns, pieces in _dense_pieces(x):
            kernels.score_bin_columns(single_columns(pieces), *parameters.of_columns(columns), out[columns])

    def weighted(self, parameters: BinnedParameters, weight: Floats) -> BinnedParameters:
        """Return the same bins, with log θ of each column times its weight."""
        per_bin = np.repeat(weight, np.diff(parameters.offsets) + 1)[:, None]
        return replace(parameters, log_probability=times(per_bin, parameters.log_probability))

    def structure(self, stats: Histogram) -> Cuts:
        """Return the cuts of all columns.

        A cut is above the left key and not above the right one, so a value falls into the bin of its key. By the same
        rule, the cut before +infinity is +infinity, and the cut after −infinity is the smallest float64.
        """
        stats = stats.part(Histogram)
        cells, column, n_columns = stats.cells, stats.column, stats.n_columns
        starts, finite_offsets = kernels.cut_histogram(cells, stats.n_classes)
        _, left = kernels.key_values(cells.keys[starts - 1], cells.levels[column[starts - 1]])
        right, _ = kernels.key_values(cells.keys[starts], cells.levels[column[starts]])
        middle = left / 2 + right / 2
        below, above = np.zeros((2, n_columns), bool)
        below[column[cells.keys == kernels.MINUS_INFINITY]] = True
        above[column[cells.keys == kernels.PLUS_INFINITY]] = True
        n_finite = np.diff(finite_offsets)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_finite + below + above)])
        cuts = np.empty(offsets[-1])
        cuts[offsets[:-1][below]] = -MAX_FLOAT
        cuts[offsets[1:][above] - 1] = np.inf
        shift = np.repeat(offsets[:-1] + below - finite_offsets[:-1], n_finite)
        cuts[np.arange(len(starts)) + shift] = np.where(middle > left, middle, right)
        return Cuts(cuts, offsets)

    def has_structure(self, stats: Histogram) -> bool:
        """Return True: the cuts are always chosen by the labels."""
        return True

    def leave_one_out(
        self, x: Numbers, stats: Histogram, classes: Labels, structure: Cuts | None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (3) without the row, in the bins of the structure."""
        stats = stats.part(Histogram)
        cuts = self.structure(stats) if structure is None else structure
        weight, rows = kernels.bin_cells(stats.cells, stats.n_classes, cuts.cuts, cuts.offsets)
        starts = cuts.offsets[:-1] + np.arange(stats.n_columns)
        has_rows = (rows.sum(axis=1) > 0).astype(np.float64)
        n_bins = np.add.reduceat(has_rows, starts) if len(starts) else np.zeros(0)
        cells = ValueArrays(
            weight=weight,
            rows=rows,
            alpha=np.full(weight.shape, self.alpha),
            total_alpha=np.repeat(self.alpha * n_bins[:, None], stats.n_classes, axis=1),
            start=starts,
            rows_until_unknown=rows.sum(axis=1),
        )
        pieces = [piece for _, piece in x.dense()]
        bins = kernels.find_bins(pieces, len(leaving.label), stats.cells.levels, cuts.cuts, cuts.offsets)
        leave_values_out(cells, bins, leaving, out)

    def learnt(
        self,
        stats: Histogram,
        parameters: BinnedParameters,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return the bins of a column in order: their ends, weight, pseudo-count and log θ, in each class."""
        cuts, bins = parameters.column_cuts(column), parameters.column_bins(column)
        cells = stats.part(Histogram).cells
        weight = kernels.bin_cells(cells, stats.n_classes, parameters.cuts, parameters.offsets)[0][bins]
        alpha = np.where(weight.any(axis=1, keepdims=True), self.alpha, 0.0)
        ends = [None, *(evidence.format_value(cut, kind)[0] for cut in cuts.tolist()), None]
        rounded = shown_cuts(parameters, column, kind)
        shown = [format_interval(rounded, b, kind) for b in range(len(cuts) + 1)]
        return Learnt.of_values(tuple(pairwise(ends)), shown, weight, alpha, parameters.log_probability[bins])

    def terms(self, row: RowView, stats: Histogram, parameters: BinnedParameters, pair: Pair) -> list[Term]:
        """Return one term per column, with the bin as an interval and the weight of each class in it."""
        return [self._term(row, parameters, pair, j, x) for j, x in enumerate(row.numbers)]

    def _term(self, row: RowView, parameters: BinnedParameters, pair: Pair, j: int, x: float) -> Term:
        name, kind, table = row.names[j], row.kind(j), row.tables[j]
        if x != x:
            return Term.missing(name)
        value, shown = (x, str(x)) if abs(x) == np.inf else evidence.format_value(x, kind)
        cuts = parameters.column_cuts(j)
        if not len(cuts):
            return Term(name, value, shown, note="same in all classes")
        b = int(cuts.searchsorted(x, side="right"))
        if not table.is_known[b]:
            return Term.unseen(name, value, shown)
        bin_name = table.shown.get(b)
        if bin_name is None:
            bin_name = table.shown[b] = format_interval(shown_cuts(parameters, j, kind), b, kind)
        return table.term((name, value, f"{shown} ({bin_name})"), b, pair)

    def value_tables(self, stats: Histogram, parameters: BinnedParameters, classes: Labels) -> list[ValueTables]:
        """Return the bins of each column."""
        cells = stats.part(Histogram).cells
        weight, rows = kernels.bin_cells(cells, stats.n_classes, parameters.cuts, parameters.offsets)
        alpha = np.where(weight.any(axis=1, keepdims=True), np.full(weight.shape, self.alpha), 0.0)
        tables, log_probability, vanishes = [], parameters.log_probability, np.ones(len(weight), np.bool_)
        for bins in map(parameters.column_bins, range(stats.n_columns)):
            tables.append(ValueTables(weight[bins], rows[bins], alpha[bins], log_probability[bins], vanishes[bins]))
        return tables

    def estimate_without(
        self, x: Numbers, counted: Estimate, c: int, classes: Labels, structure: Cuts | None
    ) -> Estimate:
        """Estimate without one counted row of class c, from the tables of the bins."""
        parameters, rest = counted.parameters, list(counted.tables)
        scores = np.zeros((len(rest), len(classes)))
        for j, number in enumerate(dense_numbers(x)[0].tolist()):
            if number == number:
                position = int(parameters.column_cuts(j).searchsorted(number, side="right"))
                table = rest[j].without(position, c)
                if table is None:
                    return super().estimate_without(x, counted, c, classes, structure)
                rest[j], scores[j] = table, table.log_probability[position]
        shares = np.concatenate([table.log_probability for table in rest])
        return Estimate(counted.statistic, replace(parameters, log_probability=shares), rest, scores)

    def alternatives(self, row: RowView, parameters: BinnedParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row with the nearest number of each other bin."""

        def others(j: int, x: float) -> list[float]:
            ends = row.tables[j].shown.get("ends of bins")
            if ends is None:
                ends = row.tables[j].shown["ends of bins"] = _ends_of_bins(parameters, j, row.kind(j))
            return _nearest_in_other_bins(parameters.column_cuts(j), ends, x)

        return evidence.number_alternatives(row, others)

    def grid(self, stats: Histogram, parameters: BinnedParameters, column: int, kind: Kind = "number") -> Grid:
        """Return the smallest number of each bin, marked with the interval."""
        cuts, place = shown_cuts(parameters, column, kind), parameters.column_bins(column)
        keys = parameters.first_key[place.start : place.stop + 1]
        bins = np.flatnonzero(np.diff(keys))
        return Grid(parameters.low[keys[bins]], tuple(format_interval(cuts, b, kind) for b in bins.tolist()))

    def column_scores(self, parameters: BinnedParameters, names: Sequence[str], n_classes: int) -> list[IntervalScores]:
        """Return log θ of each bin."""
        tables = [parameters.log_probability[parameters.column_bins(j)] for j in range(len(names))]
        return [IntervalScores(parameters.column_cuts(j), table) for j, table in enumerate(tables)]

    def quantiles(self, stats: Histogram, parameters: BinnedParameters, column: int, levels: Floats) -> Floats | None:
        """Return the quantiles of (1): the smallest number of a key; None if the column has no finite number."""
        place = parameters.column_bins(column)
        first = parameters.first_key[place.start : place.stop + 1]
        keys = slice(int(first[0]), int(first[-1]))
        bin_of_key = np.repeat(np.arange(len(first) - 1), np.diff(first))
        is_finite = np.isfinite(parameters.low[keys])
        if not is_finite.any():
            return None
        weight, probability = parameters.weight[keys], np.exp(parameters.log_probability[place])
        in_bin = np.bincount(bin_of_key, weight, len(first) - 1)
        mass = (weight / in_bin[bin_of_key])[:, None] * probability[bin_of_key] * is_finite[:, None]
        cumulative = np.cumsum(mass, axis=0) / mass.sum(axis=0)
        place_of_level = np.stack([np.searchsorted(side, levels) for side in cumulative.T], axis=1)
        return np.asarray(parameters.low[keys][np.minimum(place_of_level, len(mass) - 1)])

    def sample(self, parameters: BinnedParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw from (1): a bin, one of its keys by their weight, a number with that key; NaN for a bin without keys."""
        columns = []
        for j in range(len(parameters.offsets) - 1):
            place = parameters.column_bins(j)
            bins = place.start + draw_positions(parameters.log_probability[place], label, generator)
            columns.append(_draw_keys(parameters, bins, generator))
        return columns


def _first_keys(low: Floats, ends: Wholes, structure: Cuts) -> Index:
    """Return the first key of each bin, and the end; `low` are the smallest numbers of keys, by column up to `ends`."""
    first = [
        start + np.searchsorted(low[start:stop], [-np.inf, *structure.column_cuts(j)], side="left")
        for j, (start, stop) in enumerate(pairwise(ends.tolist()))
    ]
    return np.concatenate([*first, [len(low)]]).astype(np.intp)


def _dense_pieces(x: Numbers) -> Iterator[tuple[slice, Sequence[Array]]]:
    """Yield dense pieces together, so that one call scores all columns of a frame; a sparse one in parts."""
    if not any(is_sparse(piece) for piece in x.pieces):
        yield slice(0, x.n_columns), x.pieces
        return
    for columns, piece in x.dense():
        yield columns, [piece]


def format_interval(cuts: Floats, b: int, kind: str) -> str:
    """Return a bin as text.

    >>> [format_interval(np.array([32.5, 60.0]), b, "number") for b in range(3)]
    ['below 32.5', '32.5 to 60', '60 and more']
    """
    ends = (cuts[b - 1] if b > 0 else None, cuts[b] if b < len(cuts) else None)
    low, high = (None if end is None or abs(end) >= MAX_FLOAT else evidence.format_value(end, kind)[1] for end in ends)
    if low is None and high is None:
        return "any"
    if low is None:
        return f"below {high}"
    return f"{low} and more" if high is None else f"{low} to {high}"


def shown_cuts(parameters: BinnedParameters, j: int, kind: str) -> Floats:
    """Return the cuts of a column as they are shown: those of dates at the next second or midnight, others in 4 digits.

    They divide the same counted dates or numbers. A cut between two days lies at noon of one of them, or at midnight.
    """
    cuts, place = parameters.column_cuts(j), parameters.column_bins(j)
    smallest = np.append(parameters.low, np.inf)[parameters.first_key[place.start + 1 : place.stop]]
    scales = [1.0, 1 / SECONDS_OF_A_DAY]
    if kind != "date":
        with np.errstate(divide="ignore", over="ignore"):
            digits = SHOWN_DIGITS - 1 - np.floor(np.log10(np.abs(cuts)))
            scales = [10.0 ** np.clip(digits, -300, 300)]
    shown = cuts
    for scale in scales:
        next_one = np.ceil(cuts * scale) / scale
        shown = np.where(next_one <= smallest, next_one, shown)
    return shown


def _ends_of_bins(parameters: BinnedParameters, j: int, kind: Kind) -> list[tuple[float, float] | None]:
    """Return the smallest and the largest finite number of each bin of a column; None for a bin without one.

    Fractions are rounded to 4 digits into the bin, if it holds a number that short.
    """
    place = parameters.column_bins(j)
    ends: list[tuple[float, float] | None] = []
    for start, stop in pairwise(parameters.first_key[place.start : place.stop + 1].tolist()):
        low = parameters.low[start:stop]
        low = low[np.isfinite(low)]
        if not len(low):
            ends.append(None)
            continue
        first, last = float(low[0]), float(low[-1])
        short = (first, last) if kind == "date" else (_short(first, ROUND_CEILING), _short(last, ROUND_FLOOR))
        ends.append((short[0] if short[0] <= last else first, short[1] if short[1] >= first else last))
    return ends


def _short(number: float, rounding: str) -> float:
    """Return a number rounded to 4 digits; a whole number as it is."""
    if number.is_integer():
        return number
    return float(Context(prec=SHOWN_DIGITS, rounding=rounding).create_decimal_from_float(number))


def _nearest_in_other_bins(cuts: Floats, ends: Sequence[tuple[float, float] | None], x: float) -> list[float]:
    """Return the finite number nearest to x in each bin of a column but its own: an end of the bin."""
    own_bin = int(cuts.searchsorted(x, side="right"))
    return [end[0 if b > own_bin else 1] for b, end in enumerate(ends) if end is not None and b != own_bin]


def _draw_keys(parameters: BinnedParameters, bins: Index, generator: np.random.Generator) -> Floats:
    """Return a number from each of the bins."""
    edges = np.concatenate([[0.0], np.cumsum(parameters.weight)])
    start, stop = parameters.first_key[bins], parameters.first_key[bins + 1]
    at = edges[start] + generator.random(len(bins)) * (edges[stop] - edges[start])
    key = np.clip(np.searchsorted(edges, at, side="right") - 1, start, np.maximum(stop - 1, start))
    share = generator.random(len(bins))
    drawn = np.full(len(bins), np.nan)
    has_keys = stop > start
    low, high = parameters.low[key[has_keys]], parameters.high[key[has_keys]]
    with np.errstate(invalid="ignore"):
        between = low * (1 - share[has_keys]) + high * share[has_keys]
    drawn[has_keys] = np.where(low == high, low, np.clip(between, low, high))
    return drawn
