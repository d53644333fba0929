"""Plain data that families return to explanations, comparisons and plots; and intervals of log-odds.

    θ ~ Beta(a, A − a)  under a Dirichlet or Beta posterior                                (1)
    cumulants of log θ:  κ_n = ψ⁽ⁿ⁻¹⁾(a) − ψ⁽ⁿ⁻¹⁾(A)                                      (2)
    cumulants of log θ₁ − log θ₂:  κ_n(1) + (−1)ⁿ κ_n(2)                                  (3)

The 2.5 % and 97.5 % points follow from the first four cumulants by the Cornish–Fisher expansion. Compared with 10⁶
draws, they are within 0.15 standard deviations for a ≥ 0.5, and within 0.03 for small shares and counts from 3 on
(tests/explanation/test_interval.py). For a < 0.5 or A − a < 0.5 the expansion fails, and the points are integrated.
Source: Cornish & Fisher, Moments and cumulants in the specification of distributions, Revue de l'Institut
International de Statistique 5 (1938) 307–320; Abramowitz & Stegun (1964), 26.2.49.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from naively._kernels.cells import Cells
from naively._kernels.types import Bools, Floats, Index, Wholes
from naively.data.kinds import SECONDS_OF_A_DAY, Kind
from naively.data.names import Names
from naively.data.plain import CellValue
from naively.data.views import Codes, Numbers, Texts, is_sparse
from naively.errors import InputError
from naively.statistics.cells import class_of_cells

Z = 1.959963984540054  # the 97.5 % point of the standard normal distribution

MIN_CORNISH_FISHER = 0.5  # the expansion is used for values of a from here on
LOG_TINY = -600.0  # logarithms of shares below this are computed without the share

Spread = tuple[Floats, Floats]  # lower and upper ends of intervals
Pair = tuple[int, int]  # positions of the two classes that are compared
Counts = Mapping[str, float]  # "count" and "all"; or "rows", "mean" and "deviation"
Pieces = tuple[tuple[str, float], ...]  # a text cut into pieces, each with its log-odds
Label = tuple[str, CellValue, str]  # column, value, and the value as text
T = TypeVar("T")


class Beta(NamedTuple):
    """a and A of equation (1) in two classes, and by how much log θ₁ − log θ₂ is multiplied."""

    a: tuple[float, float]
    total: tuple[float, float]
    factor: float = 1.0


MAX_CELLS_WITHOUT = 2**15  # (value, class) pairs of the tables of a column without a row that are kept
MAX_SPREADS = 100_000
MAX_FORMATTED = 2**14  # numbers that are kept as text: those of bins and means are shown for many rows
_SPREADS: dict[Beta, tuple[float, float]] = {}  # lower and upper ends, for values that occur in many rows


@dataclass(frozen=True, slots=True)
class Term:
    """The evidence of one column or word, without the weight of its column.

    Attributes
    ----------
    column, value, shown
        The column, the value or word, and the value as text.
    scores
        The evidence in two classes.
    count
        How often a word is in the row.
    counts
        The counts behind the evidence, in each of the classes.
    posterior
        What the 95 % interval is computed from: the posterior of the shares, or the standard deviation of the log-odds.
    note
        What is special.
    """

    column: str
    value: CellValue
    shown: str
    scores: tuple[float, float] = (0.0, 0.0)
    count: float = 1.0
    counts: tuple[Counts, Counts] = ({}, {})
    posterior: Beta | float | None = None
    note: str = ""

    @property
    def log_odds(self) -> float:
        """The difference of the two scores."""
        return self.scores[0] - self.scores[1]

    @classmethod
    def missing(cls, column: str) -> Term:
        """Return the term of a missing value, which adds nothing."""
        return cls(column, None, "missing", note="missing")

    @classmethod
    def unseen(cls, column: str, value: CellValue, shown: str, count: float = 1.0) -> Term:
        """Return the term of a value or word that no training row has, which adds nothing."""
        return cls(column, value, shown, count=count, note="never seen in training")


Evidence = tuple[tuple[float, float], tuple[Counts, Counts], Beta]  # scores, counts and posterior of a term


@dataclass(frozen=True, eq=False)
class RowView:
    """One row of a block to be explained: its values, and the names and kinds of the columns.

    `weight` is the weight of each column under a tuning, for terms that add up several columns; None is 1. `cache`
    holds what a family computes once for the block of a model; it depends neither on the row nor on the two classes.
    `tables` are those of `Family.value_tables`. `scores` is the evidence of each column, (column, class), or of all
    columns of a joint family; None if it is not computed yet.
    """

    x: Numbers | Codes | Texts
    names: Names
    kinds: Kind | tuple[Kind, ...]
    classes: tuple[CellValue, ...]
    weight: Floats | None = None
    cache: dict[Hashable, object] = field(default_factory=dict)
    tables: Sequence[ValueTables] = ()
    scores: Floats | None = None

    def kind(self, column: int) -> Kind:
        """Return the kind of a column."""
        return self.kinds if isinstance(self.kinds, str) else self.kinds[column]

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what was computed for an earlier row of the block, or compute it."""
        value = self.cache.get(key)
        if value is None:
            value = self.cache[key] = compute()
        return cast("T", value)

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers of the row; NaN where one is missing."""
        assert isinstance(self.x, Numbers)
        return [float(x) for _, piece in self.x.dense() for x in piece[0].tolist()]

    def nonzero(self) -> tuple[Index, Floats]:
        """Return the columns whose number is not zero, and their numbers; a missing number is NaN."""
        assert isinstance(self.x, Numbers)
        _, columns, numbers = nonzero_entries(self.x)
        return columns, numbers

    @cached_property
    def values(self) -> list[CellValue]:
        """The value of each column: a number, a coded value or a text; None where it is missing."""
        if isinstance(self.x, Numbers):
            return [None if x != x else x for x in self.numbers]
        if isinstance(self.x, Texts):
            return [Texts.as_strings(texts)[0] for texts in self.x.columns]
        return coded_values(self.x)


def coded_values(x: Codes) -> list[CellValue]:
    """Return the value of each column of a single row; None where it is missing."""
    known, codes = x.values, [code for _, piece in x.placed() for code in piece[0].tolist()]
    return [known[j][int(k)] if k == k and 0 <= k < len(known[j]) else None for j, k in enumerate(codes)]


def intervals_of(terms: Sequence[Term]) -> list[tuple[float, float]]:
    """Return the 95 % interval of the log-odds of each term; NaN where it is not known. Equal terms cost nothing."""
    betas = [term.posterior if isinstance(term.posterior, Beta) else None for term in terms]
    spreads = [None if beta is None else _SPREADS.get(beta) for beta in betas]
    new = [beta for beta, spread in zip(betas, spreads, strict=True) if beta is not None and spread is None]
    if new:
        spread_of = _spreads_of(list(dict.fromkeys(new)))
        spreads = [
            spread_of[beta] if beta is not None and spread is None else spread
            for beta, spread in zip(betas, spreads, strict=True)
        ]
    return [_interval(term, spread) for term, spread in zip(terms, spreads, strict=True)]


def _interval(term: Term, spread: tuple[float, float] | None) -> tuple[float, float]:
    """Return the interval of a term: the ends of a spread, or as many standard deviations as it takes."""
    log_odds = term.scores[0] - term.scores[1]
    if spread is not None:
        return min(spread[0], log_odds), max(spread[1], log_odds)  # up to rounding
    half_width = math.nan if term.posterior is None or isinstance(term.posterior, Beta) else Z * term.posterior
    return log_odds - half_width, log_odds + half_width


def _spreads_of(betas: Sequence[Beta]) -> dict[Beta, tuple[float, float]]:
    """Return the lower and upper ends of intervals, and keep them for other rows."""
    low, high = beta_spread(np.array([beta.a for beta in betas]), np.array([beta.total for beta in betas]))
    factor = np.array([beta.factor for beta in betas])
    spreads = dict(zip(betas, zip((low * factor).tolist(), (high * factor).tolist(), strict=True), strict=True))
    if len(_SPREADS) + len(spreads) > MAX_SPREADS:
        _SPREADS.clear()
    _SPREADS.update(spreads)
    return spreads


def nonzero_entries(x: Numbers) -> tuple[Index, Index, Floats]:
    """Return row, column and number of the entries that are not zero, by row and column; a missing number is NaN."""
    rows, columns, numbers = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)], [np.zeros(0)]
    for place, piece in x.placed():
        if is_sparse(piece):
            entries = piece.tocoo()
            is_stored = entries.data != 0
            row, column, number = entries.row[is_stored], entries.col[is_stored], entries.data[is_stored]
        else:
            row, column = np.nonzero(piece)
            number = piece[row, column]
        rows.append(row.astype(np.intp))
        columns.append(column.astype(np.intp) + place.start)
        numbers.append(number.astype(np.float64))
    row, column, number = np.concatenate(rows), np.concatenate(columns), np.concatenate(numbers)
    order = np.lexsort((column, row))  # the pieces of a frame come column by column
    return row[order], column[order], number[order]


class Alternative(NamedTuple):
    """Another value that a column of a row could have; for a text, one word to leave out of it.

    `before` and `after` are for people; `value` is the new cell, or the text that the word is left out of.
    """

    column: str
    before: CellValue
    after: CellValue
    value: CellValue
    word: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        """Alternatives with the same key exclude each other."""
        return self.column, self.word


def short_number(number: float, kind: Kind) -> float:
    """Return a number of 4 digits to propose to people; a date as it is."""
    return number if kind == "date" else float(f"{number:.4g}")


def other_numbers_of(row: RowView, column: int, number: float, others: Iterable[float]) -> Iterator[Alternative]:
    """Yield other numbers for a column of a row; in place of a day, another day."""
    name, kind = row.names[column], row.kind(column)
    before, is_day = format_value(number, kind)[0], kind == "date" and number % SECONDS_OF_A_DAY == 0
    for given in others:
        other = float(round(given / SECONDS_OF_A_DAY) * SECONDS_OF_A_DAY) if is_day else given
        after = format_value(other, kind)[0]
        yield Alternative(name, before, after, float(other) if kind == "date" else after)


def number_alternatives(row: RowView, other_numbers: Callable[[int, float], Iterable[float]]) -> Iterator[Alternative]:
    """Yield other numbers for each finite number of a row; a boolean has one other value."""
    for j, x in enumerate(row.numbers):
        if not abs(x) < math.inf:
            continue
        is_boolean = row.kind(j) == "boolean"
        others = [1.0 - x] if is_boolean and x in (0.0, 1.0) else [] if is_boolean else other_numbers(j, x)
        for alternative in other_numbers_of(row, j, x, others):
            if alternative.before != alternative.after:
                yield alternative


@dataclass(frozen=True, eq=False)
class Grid:
    """Values of a column that cover what is usual in every class.

    `marks` are the names of the values of a column with a few of them; None for numbers on a scale.
    """

    values: Sequence[CellValue] | Floats
    marks: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words of a block with log p(x | c) = offset_c + Σ_k x_k log_weights_kc, for x_k up to `max_count`.

    `log_weights` is (word, class), `offset` is (class,).
    """

    names: tuple[str, ...]
    log_weights: Floats
    offset: Floats
    max_count: int


@dataclass(frozen=True, eq=False)
class WordShares:
    """The counts of words in each class, and how they become probabilities θ.

    Attributes
    ----------
    names_of
        Returns the words of numbers below `n_words`.
    cells
        Occurrences of each word, and texts with it, by class.
    texts
        The weight of all texts of each class.
    alpha
        The pseudo-count of each word; None if words differ in it.
    per_text
        Whether θ is the share of the texts that have the word, so that absence counts; else a share of all words.
    binary
        Whether a word counts once per text.
    """

    names_of: Callable[[Index], list[str]]
    n_words: int
    cells: Cells
    texts: Floats
    alpha: float | None
    per_text: bool = False
    binary: bool = False

    def counts(self, classes: Bools) -> tuple[Floats, Floats]:
        """Return the occurrences of each word, and the texts with it, in some classes together."""
        chosen = classes[class_of_cells(self.cells)]
        index = self.cells.index[chosen]
        occurrences, texts = (np.bincount(index, sums[chosen], self.n_words) for sums in self.cells.sums[:2])
        return occurrences.astype(np.float64), texts.astype(np.float64)

    def log_share(self, classes: Bools) -> Floats:
        """Return log θ of each word in some classes together; −∞ where a word without pseudo-count is missing."""
        if self.alpha is None:
            raise InputError("top() needs one alpha for all words; this model has several.")
        occurrences, texts = self.counts(classes)
        if self.per_text:
            counts, total = texts, float(self.texts[classes].sum()) + 2 * self.alpha
        else:
            counts = texts if self.binary else occurrences
            total = float(counts.sum()) + self.alpha * np.count_nonzero(np.bincount(self.cells.index))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(counts + self.alpha) - np.log(max(total, 1e-300)))


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value or word: by how many nats its log-probability changed in each class, with its test."""

    name: str
    nats: tuple[float, ...]
    G: float
    p: float
    q: float


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """The likelihood-ratio test of a column between two models.

    G is twice the log-likelihood ratio, with `freedom` degrees of freedom over `n_rows` rows. `changes` are the values
    or words that differ most.
    """

    G: float
    freedom: int
    n_rows: float
    p: float
    changes: tuple[ValueChange, ...] = ()


def beta_spread(a: Floats, total: Floats) -> Spread:
    """Return the 2.5 % and 97.5 % points of log θ₁ − log θ₂ by (1) to (3); NaN where a posterior is improper.

    Where an `a` or an A − a is below `MIN_CORNISH_FISHER`, the points are integrated instead. The interval is widened
    to its own estimate, log of the mean of θ₁ − that of θ₂: below a = 0.006 it can lie above the 97.5 % point.
    `a` and `total` are (item, 2): a and A in each of two classes.
    """
    is_proper = np.asarray(((a > 0) & (total >= a)).all(axis=1))
    a, total = (np.where(is_proper[:, None], x, 1.0) for x in (a, total))
    low, high = _expanded_spread(a, total)
    is_skewed = (np.minimum(a, total - a) < MIN_CORNISH_FISHER).any(axis=1)
    if is_skewed.any():
        low[is_skewed], high[is_skewed] = _integrated_spread(a[is_skewed], total[is_skewed])
    estimate = np.log(a[:, 0] / total[:, 0]) - np.log(a[:, 1] / total[:, 1])
    ends = np.minimum(low, estimate), np.maximum(high, estimate)
    return np.where(is_proper, ends[0], np.nan), np.where(is_proper, ends[1], np.nan)


def _expanded_spread(a: Floats, total: Floats) -> Spread:
    """Return the points by the Cornish–Fisher expansion of (3)."""
    from scipy.special import polygamma

    derivatives = polygamma(np.arange(4)[:, None, None, None], np.stack([a, total]))
    cumulants = derivatives[:, 0] - derivatives[:, 1]
    k1, k2, k3, k4 = (k[:, 0] + (-1) ** (n + 1) * k[:, 1] for n, k in enumerate(cumulants))
    deviation = np.sqrt(np.maximum(k2, 1e-18))
    skewness, kurtosis = k3 / deviation**3, k4 / deviation**4
    points = []
    for z in (-Z, Z):
        w = z + (z**2 - 1) * skewness / 6 + (z**3 - 3 * z) * kurtosis / 24 - (2 * z**3 - 5 * z) * skewness**2 / 36
        points.append(k1 + np.where(k2 > 1e-18, w, 0.0) * deviation)
    return points[0], points[1]


def _integrated_spread(a: Floats, total: Floats) -> Spread:
    """Return the points by P(log θ₁ − log θ₂ ≤ d) = E[F₁(d + log θ₂)], where log θ₂ has the smaller variance.

    log θ₁ spreads more than log θ₂, so that the integrand is smooth: 24 nodes give the points to 0.01 of their
    distance. Where A − a is small, θ is close to 1 most of the time, the integrand has a step, and 192 are needed.
    """
    low, high = np.empty(len(a)), np.empty(len(a))
    has_step = (total - a < MIN_CORNISH_FISHER).any(axis=1)
    for items, n_nodes in ((~has_step, 24), (has_step, 192)):
        if items.any():
            low[items], high[items] = _spread_by_nodes(a[items], total[items], n_nodes)
    return low, high


def _spread_by_nodes(a: Floats, total: Floats, n_nodes: int) -> Spread:
    """Return the points with this number of nodes."""
    from scipy.special import polygamma

    variance = polygamma(1, a) - polygamma(1, total)
    is_reversed = variance[:, 0] < variance[:, 1]
    a, total = (np.where(is_reversed[:, None], x[:, ::-1], x) for x in (a, total))
    b = np.maximum(total - a, 1e-9)
    nodes, weights = _legendre(n_nodes)
    log_theta = _log_beta_quantile(a[:, 1:], b[:, 1:], (nodes + 1) / 2)
    ends = []
    for p in (0.025, 0.975):
        quantile = _log_beta_quantile(a[:, :1], b[:, :1], p)[:, 0]
        low, high = quantile - log_theta.max(axis=1), quantile - log_theta.min(axis=1)
        for _ in range(20):
            middle = (low + high) / 2
            is_below = _log_beta_cdf(a[:, :1], b[:, :1], middle[:, None] + log_theta) @ (weights / 2) < p
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        ends.append((low + high) / 2)
    return np.where(is_reversed, -ends[1], ends[0]), np.where(is_reversed, -ends[0], ends[1])


@cache
def _legendre(n: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss–Legendre quadrature."""
    return np.polynomial.legendre.leggauss(n)


def _log_beta_quantile(a: Floats, b: Floats, p: Floats | float) -> Floats:
    """Return the p-quantile of log θ, θ ~ Beta(a, b); F(θ) = θᵃ / (a B(a, b)) where θ itself would be zero."""
    from scipy.special import betaincinv, betaln

    with np.errstate(divide="ignore"):
        quantile = np.log(betaincinv(a, b, p))
    lowest = (np.log(p) + np.log(a) + betaln(a, b)) / a
    return np.where(quantile > LOG_TINY, quantile, np.minimum(lowest, LOG_TINY))


def _log_beta_cdf(a: Floats, b: Floats, log_theta: Floats) -> Floats:
    """Return P(log θ ≤ `log_theta`), θ ~ Beta(a, b)."""
    from scipy.special import betainc, betaln

    share = betainc(a, b, np.exp(np.clip(log_theta, LOG_TINY, 0.0)))
    share_near_zero = np.exp(np.minimum(a * log_theta - np.log(a) - betaln(a, b), 0.0))
    return np.where(log_theta > LOG_TINY, share, share_near_zero)


def share_terms(
    labels: Sequence[Label],
    scores: Floats,
    counts: Floats,
    totals: Floats,
    beta: tuple[Floats, Floats] | None = None,
    occurrences: Floats | None = None,
    factor: Floats | None = None,
) -> list[Term]:
    """Return the terms of values or words, from their counts in two classes.

    Parameters
    ----------
    labels
        Column, value and text of each.
    scores, counts, totals
        log θ in each class, the count, and what it is counted of, (item, 2).
    beta
        a and A of equation (1), (item, 2); None without intervals.
    occurrences, factor
        How often each occurs in the row, and by how much its score is multiplied.
    """
    ones = np.ones(len(labels))
    occurrences, factor = (ones if x is None else x for x in (occurrences, factor))
    posteriors: list[Beta | None] = [None] * len(labels)
    if beta is not None:
        parts = zip(*(x.tolist() for x in (*beta, factor)), strict=True)
        posteriors = [Beta((a, b), (total, other_total), f) for (a, b), (total, other_total), f in parts]
    items = zip(
        labels, *(x.tolist() for x in (scores * factor[:, None], occurrences, counts, totals)), posteriors, strict=True
    )
    return [
        Term(name, value, shown, (s, t), n, ({"count": k, "all": k_of}, {"count": m, "all": m_of}), posterior)
        for (name, value, shown), (s, t), n, (k, m), (k_of, m_of), posterior in items
    ]


def log_shares(counts: Floats, alpha: Floats, start: Index) -> Floats:
    """Return log (N_k + α_k) / Σ (N + α) within each column, (value, class); the values of column j begin at start[j].

    A class without counts in a column takes those of all classes. A probability of zero is −∞.
    """
    if not len(counts):
        return np.zeros(counts.shape)
    size = np.diff(start, append=len(counts))
    total = np.repeat(np.add.reduceat(counts, start), size, axis=0)
    smoothed = np.where(total > 0, counts, counts.sum(axis=1, keepdims=True)) + alpha
    smoothed_total = np.repeat(np.add.reduceat(smoothed, start), size, axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(smoothed) - np.log(np.where(smoothed_total > 0, smoothed_total, 1.0)))


@dataclass(frozen=True, eq=False)
class ValueTables:
    """The values of a column, (value, class): weight, rows, pseudo-count and log θ of each.

    A value that `vanishes` is known only while some row has it. `shown` holds texts that the family computes once.
    """

    weight: Floats
    rows: Wholes
    alpha: Floats
    log_probability: Floats
    vanishes: Bools
    shown: dict[Hashable, Any] = field(default_factory=dict)
    evidence: dict[tuple[int, Pair], Evidence] = field(default_factory=dict)
    rest: dict[tuple[int, int], ValueTables] = field(default_factory=dict)  # without one row: its value, its class

    @cached_property
    def is_known(self) -> Bools:
        """Whether each value is evidence."""
        return np.asarray(~self.vanishes | self.rows.any(axis=1))

    def without(self, position: int, c: int) -> ValueTables | None:
        """Return the column without one row of class c that has the value at a position.

        None unless all such rows have the weight 1.
        """
        rest = self.rest.get((position, c))
        if rest is not None:
            return rest
        if not self.weight[position, c] == self.rows[position, c] >= 1:
            return None
        weight, rows, alpha = self.weight.copy(), self.rows.copy(), self.alpha
        weight[position, c] -= 1.0
        rows[position, c] -= 1
        is_unknown = self.vanishes[position] and not rows[position].any()
        if is_unknown:
            alpha = alpha.copy()
            alpha[position] = 0.0
        log_probability = log_shares(weight, alpha, np.zeros(1, np.intp))
        rest = ValueTables(weight, rows, alpha, log_probability, self.vanishes, self.shown)
        log_probability[~rest.is_known] = 0.0
        if (len(self.rest) + 1) * weight.size > MAX_CELLS_WITHOUT:
            self.rest.clear()
        self.rest[position, c] = rest
        return rest

    @cached_property
    def totals(self) -> Floats:
        """The weight of all values in each class."""
        return np.asarray(self.weight.sum(axis=0))

    @cached_property
    def smoothed_totals(self) -> list[float]:
        """The same with pseudo-counts; a class without values has the weight of all classes."""
        smoothed = np.where(self.totals > 0, self.totals, self.totals.sum()) + self.alpha.sum(axis=0)
        return cast("list[float]", smoothed.tolist())

    def term(self, label: Label, position: int, pair: Pair) -> Term:
        """Return the term of the value at a position."""
        evidence = self.evidence.get((position, pair))
        if evidence is None:
            evidence = self.evidence[position, pair] = self._evidence(position, pair)
        scores, counts, posterior = evidence
        column, value, shown = label
        return Term(column, value, shown, scores, 1.0, counts, posterior)

    def _evidence(self, position: int, pair: Pair) -> Evidence:
        """Return the scores, the counts and the posterior of the value at a position."""
        (first, second), totals = pair, self.totals.tolist()
        weight, alpha, scores = (
            of_all[position].tolist() for of_all in (self.weight, self.alpha, self.log_probability)
        )
        a, b = ((weight[c] if totals[c] > 0 else float(self.weight[position].sum())) + alpha[c] for c in pair)
        posterior = Beta((a, b), (self.smoothed_totals[first], self.smoothed_totals[second]))
        of_first, of_second = ({"count": weight[c], "all": totals[c]} for c in pair)
        return (scores[first], scores[second]), (of_first, of_second), posterior


def pair_of(x: Sequence[float] | Floats) -> tuple[float, float]:
    """Return the first two numbers as Python floats."""
    return float(x[0]), float(x[1])


def format_mean_of_dates(mean: float, deviation: float) -> tuple[str, str]:
    """Return the mean of dates and their deviation as text: days, or minutes and hours if the deviation is small.

    >>> format_mean_of_dates(90_061.0, 259_200.0), format_mean_of_dates(90_061.0, 5_400.0)
    (('1970-01-02', '3 days'), ('1970-01-02 01:01', '1.5 hours'))
    """
    if not np.isfinite(mean):
        return "", ""
    if deviation < 2 * SECONDS_OF_A_DAY:
        return format_value(60 * (mean // 60), "date")[1], f"{deviation / 3600:.4g} hours"
    day = SECONDS_OF_A_DAY * (mean // SECONDS_OF_A_DAY)
    return format_value(day, "date")[1], f"{deviation / SECONDS_OF_A_DAY:.4g} days"


@lru_cache(maxsize=MAX_FORMATTED)
def format_value(value: CellValue, kind: str) -> tuple[CellValue, str]:
    """Return a number as plain data and as text: a date as a date, a boolean as such, no point in whole numbers.

    >>> [format_value(seconds, "date")[1] for seconds in (86_400, 90_000, 90_001)]
    ['1970-01-02', '1970-01-02 01:00', '1970-01-02 01:00:01']
    """
    if kind == "date":
        date = str(np.datetime64(round(float(value)), "s")).removesuffix("T00:00:00")
        return date, date.replace("T", " ").removesuffix(":00") if "T" in date else date
    number = float(value)
    if kind == "boolean" and number in (0.0, 1.0):
        return bool(number), str(bool(number))
    plain = int(number) if number.is_integer() and abs(number) < 2**53 else number
    return plain, f"{plain:g}" if isinstance(plain, float) else str(plain)
