"""Families that are chosen later: what is counted of a column follows from its type, what scores it from the counts.

    AutoNumber     numbers and dates: histogram and moments, then Binned, Gaussian or Categorical
    AutoString     strings: value counts, then Categorical
    AutoBoolean    booleans: counts of yes, then Bernoulli
    NoValuesYet    no value yet: nothing, until the type is known
    Identifier     strings of which nearly every row has its own: nothing

`decide` chooses from the statistics, so that batches, order and merging do not change the choice. Columns are decided
by the first rule that holds:

    numbers    no value                                                             dropped
               one value only                                                       dropped
               a running number (no date): 50 rows or more, each another integer,
               which fill at least half of their range                              dropped
               at most 10 values (no dates), none beyond 2⁵³, and 5 times as
               many rows; 0 and 1 in any number of rows                             Categorical
               fewer than 30 rows, too few for bins                                 Gaussian, shrunk
               anything else                                                        Binned
    strings    no value; one value only                                             dropped
               an identifier: 20 rows or more, 19 of 20 of them with another value  dropped
               anything else                                                        Categorical
    booleans   no value; one value only                                             dropped
               anything else                                                        Bernoulli

The rules look at rows, not at classes. Strings that read like sentences are `Text` from the start, and strings that
are an identifier in the first 65,536 rows are not counted (`schema/infer.py`). Each automatic family is also a
likelihood: that of its first choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from naively._kernels.histogram import key_values
from naively._kernels.types import Array, Floats, Index
from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.kinds import Kind
from naively.data.table import Table
from naively.data.views import Codes, Numbers, Texts
from naively.errors import LostDigitsWarning, warn_user
from naively.families.base import ALL_KINDS, Dropped, Family, Labels, Leaving, LinearPart
from naively.families.bernoulli import Bernoulli
from naively.families.binned import Binned
from naively.families.categorical import Categorical
from naively.families.evidence import LikelihoodRatio, Pair, RowView, Term, format_value
from naively.families.gaussian import Gaussian
from naively.families.scores import ValueScores
from naively.statistics.arrays import rows_written_out
from naively.statistics.empty import EmptyStatistic
from naively.statistics.number_summary import NumberSummary
from naively.statistics.token_counts import TokenCounts
from naively.statistics.value_counts import ValueCounts

MIN_RUNNING_ROWS = 50
MIN_IDENTIFIER_ROWS = 20
MAX_CATEGORIES, MIN_ROWS_PER_CATEGORY = 10, 5  # of a column of numbers
MIN_BINNED_ROWS = 30
NO_VALUE = Dropped("no value")
IDENTIFIER = Dropped("an identifier, nearly every row has its own")
SHRUNK = Gaussian(ddof=1.0, pooled_rows=2.0)  # two nearly equal numbers of a class are chance, not a tiny variance


def n_integers_between(low: Floats, high: Floats) -> Floats:
    """Return the number of integers from `low` to `high`; NaN between infinities.

    >>> n_integers_between(np.array([0.5, 2.0]), np.array([0.7, 4.5])).tolist()
    [0.0, 3.0]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(np.floor(high) - np.ceil(low) + 1)


@dataclass(frozen=True)
class AutoNumber(Binned):
    """Numbers and dates: `Binned`, unless their values suggest another family."""

    statistic = NumberSummary
    automatic = True

    def read_columns(self, table: Table, positions: Sequence[int]) -> Numbers | Codes | Texts:
        """Return columns of a table as numbers; warn if different integers become the same number."""
        for position in table.columns_with_lost_digits(positions):
            warn_user(
                f"column {table.names[position]!r} holds integers beyond 2**53, of which different ones become the "
                "same number. If they are identifiers or codes, give the column as text or as Categorical().",
                LostDigitsWarning,
            )
        return super().read_columns(table, positions)

    def decide(self, stats: NumberSummary, kinds: Sequence[Kind]) -> list[Family | Dropped]:  # type: ignore[override]
        """Apply the rules for numbers."""
        histogram = stats.histogram
        cells, p, is_date = histogram.cells, histogram.n_columns, np.array([kind == "date" for kind in kinds], bool)
        first = np.flatnonzero(histogram.first_of_keys())
        n_values = np.diff(np.searchsorted(first, cells.offsets))
        rows = rows_written_out(cells.rows, cells.weight)
        n_rows, n_cell_rows = histogram.sums_by_column(rows), histogram.sums_by_column(cells.rows)
        ends = np.stack([cells.offsets[:-1], cells.offsets[1:] - 1])[:, n_values > 0]  # the first and the last cell
        low, high = key_values(cells.keys[ends], cells.levels[n_values > 0])
        lowest, highest = np.full(p, np.inf), np.full(p, -np.inf)
        lowest[n_values > 0], highest[n_values > 0] = low[0], high[1]
        may_be_running = np.zeros(p, bool)
        may_be_running[n_values > 0] = n_integers_between(low[0], high[0]) > 0  # else its numbers are not all whole
        is_candidate = np.repeat(may_be_running, n_values)
        owner = np.repeat(np.flatnonzero(may_be_running), n_values[may_be_running])
        n_integers = n_integers_between(*key_values(cells.keys[first[is_candidate]], cells.levels[owner]))
        rows_of_keys = np.add.reduceat(rows, first)[is_candidate] if len(owner) else np.zeros(0)
        is_distinct = may_be_running & (np.bincount(owner, ~(rows_of_keys <= n_integers), minlength=p) == 0)
        is_finite = np.isfinite(lowest) & np.isfinite(highest)
        span = np.where(is_finite, highest, 0.0) - np.where(is_finite, lowest, 0.0) + 1
        is_exact = is_finite & (cells.levels == 0) & ~is_date & (np.maximum(-lowest, highest) <= MAX_EXACT_INTEGER)
        is_constant = (n_values == 1) & (cells.levels == 0)
        is_running = is_finite & ~is_date & is_distinct & (n_rows >= MIN_RUNNING_ROWS) & (2 * n_rows >= span)
        is_binary = is_exact & (n_values == 2) & (lowest == 0) & (highest == 1)
        has_few_values = is_exact & (n_values <= MAX_CATEGORIES) & (n_rows >= MIN_ROWS_PER_CATEGORY * n_values)
        is_small = (n_rows < MIN_BINNED_ROWS) & (stats.moments.rows.sum(axis=0) == n_cell_rows)  # all have a variance
        categorical, gaussian = Categorical(self.alpha, missing=self.missing), replace(SHRUNK, missing=self.missing)
        binned = Binned(self.alpha, missing=self.missing)
        return [
            NO_VALUE
            if n_values[j] == 0
            else Dropped(f"one value only, {format_value(lowest[j], 'date' if is_date[j] else 'number')[1]}")
            if is_constant[j]
            else Dropped("a running number, another one in each row")
            if is_running[j]
            else categorical
            if is_binary[j] or has_few_values[j]
            else gaussian
            if is_small[j]
            else binned
            for j in range(p)
        ]

    def rivals(self, stats: NumberSummary) -> Sequence[Family]:  # type: ignore[override]
        """Return Gaussian and binned, if all numbers are small enough to have a variance."""
        if not stats.all_in_moments().all():
            return ()
        return replace(SHRUNK, missing=self.missing), Binned(missing=self.missing)

    def __str__(self) -> str:
        return "automatic, from the numbers seen"


@dataclass(frozen=True)
class AutoString(Categorical):
    """Strings: `Categorical`, unless there is one value only or nearly each row has its own."""

    automatic = True

    def decide(self, stats: ValueCounts, kinds: Sequence[Kind]) -> list[Family | Dropped]:
        """Apply the rules for strings."""
        rows = rows_written_out(stats.cells.rows, stats.cells.sums[0])
        n_rows = np.bincount(stats.column, rows, minlength=stats.n_columns)
        categorical = Categorical(self.alpha, missing=self.missing)
        return [
            NO_VALUE
            if not values
            else Dropped(f"one value only, {values[0]!r}")
            if len(values) == 1
            else IDENTIFIER
            if n >= MIN_IDENTIFIER_ROWS and 20 * len(values) >= 19 * n
            else categorical
            for values, n in zip(stats.values, n_rows.tolist(), strict=True)
        ]

    def __str__(self) -> str:
        return "automatic, from the values seen"


@dataclass(frozen=True)
class AutoBoolean(Bernoulli):
    """Booleans: `Bernoulli`, unless all are the same."""

    automatic = True

    def decide(self, stats: TokenCounts, kinds: Sequence[Kind]) -> list[Family | Dropped]:
        """Apply the rules for booleans."""
        n = stats.n_tokens
        n_true = np.bincount(stats.cells.index, stats.cells.rows, minlength=n)
        n_rows = stats.seen.rows.sum() - np.bincount(stats.missing.index, stats.missing.rows, minlength=n)
        bernoulli = Bernoulli(self.a, self.b, missing=self.missing)
        return [
            NO_VALUE if m == 0 else Dropped(f"one value only, {bool(k)}") if k in (0, m) else bernoulli
            for k, m in zip(n_true.tolist(), n_rows.tolist(), strict=True)
        ]

    def __str__(self) -> str:
        return "automatic, from the booleans seen"


@dataclass(frozen=True)
class Uncounted(Family[EmptyStatistic, int]):
    """A column that is not counted, for a reason: no evidence."""

    statistic = EmptyStatistic
    reason: ClassVar[str]

    def read_columns(self, table: Table, positions: Sequence[int]) -> Numbers:
        """Return a piece without numbers for each column, of any kind."""
        return Numbers(tuple(np.zeros((table.n_rows, 0)) for _ in positions))

    def estimate(self, stats: EmptyStatistic, classes: Labels, structure: None = None) -> int:
        """Return the number of columns; nothing else is known."""
        return stats.n_columns

    def log_likelihood(self, x: Numbers, parameters: int, out: Floats, length: Floats | None = None) -> None:
        """Add nothing."""

    def leave_one_out(
        self, x: Numbers, stats: EmptyStatistic, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add nothing."""

    def linear(self, parameters: int, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return no weights."""
        return LinearPart((), np.zeros(0), 0.0)

    def compare(self, one: EmptyStatistic, two: EmptyStatistic, top: int = 20) -> list[LikelihoodRatio]:
        """Return no tests."""
        return []

    def terms(self, row: RowView, stats: EmptyStatistic, parameters: int, pair: Pair) -> list[Term]:
        """Return terms that add nothing."""
        return [Term(name, None, "", note=f"not used: {self.reason}") for name in row.names]

    def column_scores(self, parameters: int, names: Sequence[str], n_classes: int) -> list[ValueScores]:
        """Return scores that add nothing."""
        zeros = np.zeros(n_classes)
        return [ValueScores((), np.zeros((0, n_classes)), zeros, zeros)] * len(names)

    def sample(self, parameters: int, label: Index, generator: np.random.Generator) -> list[Array]:
        """Return missing values."""
        return [np.full(len(label), None, dtype=object) for _ in range(parameters)]


@dataclass(frozen=True)
class NoValuesYet(Uncounted):
    """A column in which every value was missing so far.

    When two models are added, the column takes the family of the other model.
    """

    kinds = ALL_KINDS
    awaits_values = True
    reason = "it had no value in training"

    def __str__(self) -> str:
        return "left out: no value yet"


@dataclass(frozen=True)
class Identifier(Uncounted):
    """Strings that are an identifier in the first rows of large data, so that counting them would only cost memory.

    When two models are added, the column stays an identifier if the other model has an automatic family for it.
    """

    kinds = ("string",)
    automatic = True
    replaces_automatic = True
    reason = IDENTIFIER.reason

    def decide(self, stats: EmptyStatistic, kinds: Sequence[Kind]) -> list[Family | Dropped]:
        """Drop the columns."""
        return [IDENTIFIER] * len(kinds)

    def __str__(self) -> str:
        return f"left out: {self.reason}"
