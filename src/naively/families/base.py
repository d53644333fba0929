"""The interface of a family: one likelihood p(x | c) for a column, or for several columns together.

A family is a frozen dataclass. Its fields are the settings of its prior. Three members make a family:

    statistic         what is counted of the columns
    estimate          statistic → parameters, under the prior
    log_likelihood    rows and parameters → log p(x | c), one row per x and one column per class

Everything else has a default. A default either follows from these three or refuses and names the family; it never
guesses. Override a default where a family can do it faster or say more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple

import numpy as np

from naively._kernels.types import Array, Codes32, Floats, Index, Wholes
from naively.data.kinds import Kind, Support, check_support
from naively.data.names import Names, listed, select
from naively.data.plain import CellValue
from naively.data.table import Table
from naively.data.views import Codes, Numbers, Texts, Value
from naively.errors import InputError
from naively.families.compare import compare_values
from naively.families.evidence import (
    Alternative,
    Counts,
    Grid,
    LikelihoodRatio,
    Pair,
    Pieces,
    RowView,
    Term,
    ValueTables,
    WordShares,
    WordTable,
    format_value,
)
from naively.families.learnt import Learnt
from naively.families.scores import ColumnScores, ValueScores
from naively.statistics.arrays import NegativeCountError, require
from naively.statistics.base import PLAN, CountPlan, Statistic, View

Lengths = Floats | None  # the number of known words of each row, if it is to be added up
Labels = Sequence[Value]  # the classes of a model, in order: strings, numbers or booleans
Missing = Literal["skip", "value"]
EventModel = Literal["multinomial", "bernoulli", "complement"]  # of words
Role = Literal["value", "presence"]

NUMBER_KINDS: tuple[Kind, ...] = ("number", "boolean", "date")
ALL_KINDS: tuple[Kind, ...] = ("number", "boolean", "string", "date")
MAX_GRID_POINTS = 10_000
N_GRID_POINTS = 300  # of a curve
COLUMNS_AT_A_TIME = 64  # scored on their own together: bounds a table of 64 × columns numbers

if TYPE_CHECKING:  # `Family` alone is a family of any statistic and parameters
    from typing_extensions import TypeVar

    from naively.families.leave_one_out.tokens import WordScorer

    S = TypeVar("S", bound=Statistic, default=Any)
    P = TypeVar("P", default=Any)
else:
    from typing import TypeVar

    S, P = TypeVar("S", bound=Statistic), TypeVar("P")


Feature = tuple[str, CellValue]  # a column and a value


@dataclass(frozen=True, slots=True, eq=False)
class LinearPart:
    """The share of one block in a linear form: features, a weight for each, and a bias.

    A feature is a column and one of its values or words; the value is None for the number in the column.
    """

    features: tuple[Feature, ...]
    weights: Floats
    bias: float

    @classmethod
    def between(cls, features: Iterable[Feature], weights: Floats, pair: Pair, bias: float = 0.0) -> LinearPart:
        """Return the difference of the weights, (feature, class), of two classes; refuse weights that are infinite."""
        if not (np.isfinite(weights[:, list(pair)]).all() and np.isfinite(bias)):
            raise InputError(
                "linear() has no finite weights here: some probabilities are exactly zero (maximum likelihood). "
                "Smooth them (alpha > 0), or use log_odds(), which handles zeros."
            )
        return cls(tuple(features), weights[:, pair[0]] - weights[:, pair[1]], bias)


@dataclass(frozen=True, slots=True)
class Dropped:
    """The decision to leave a column out of the model, and the reason."""

    reason: str


class Leaving(NamedTuple):
    """Rows that leave the statistics, each on its own: class, weight taken out, and number of rows taken out.

    A row may leave with part of the weight of equal rows and as zero rows. Weight 0 and zero rows: nothing leaves.
    """

    label: Codes32
    weight: Floats
    rows: Wholes

    @classmethod
    def of(cls, label: Array, weight: Array, rows: Array) -> Leaving:
        """Convert the arrays to the types that the families and the compiled core expect."""
        return cls(
            label.astype(np.int32, copy=False), weight.astype(np.float64, copy=False), rows.astype(np.int64, copy=False)
        )

    def part(self, rows: slice | Index) -> Leaving:
        """Return the rows at these positions."""
        return Leaving(self.label[rows], self.weight[rows], self.rows[rows])


class Estimate(NamedTuple):
    """The statistic of a block, the parameters that are estimated from it, and the tables of its values.

    `scores` is the evidence of each column, (column, class), of the row without which it was estimated, if it is known.
    """

    statistic: Any
    parameters: Any
    tables: Sequence[ValueTables] = ()
    scores: Floats | None = None


class NotCountedError(ValueError):
    """A row that is to leave was never counted; `row` and `column` are positions; `remainder` is what would be left."""

    def __init__(self, row: int, class_position: int, column: int | None, remainder: str) -> None:
        """Store the position and the counts that would be left."""
        super().__init__(remainder)
        self.row, self.class_position, self.column, self.remainder = row, class_position, column, remainder


@dataclass(frozen=True, kw_only=True)
class Family(ABC, Generic[S, P]):
    """One likelihood for a column, or for several columns together (`joint`).

    A missing value adds nothing to the evidence. With `missing="value"`, whether the value is missing is evidence too.

    Attributes
    ----------
    statistic
        The statistic that `estimate` reads.
    kinds
        The kinds of columns that the family accepts.
    role
        "value", or "presence" if the evidence is whether a column has a value at all.
    own_block
        Whether each column is a block of its own.
    support
        The numbers that have a probability.
    joint
        Whether the columns of a block are one distribution, instead of one each.
    automatic
        Whether `decide` chooses another family from the statistics.
    awaits_values
        Whether the columns had no value yet, so that their kind is unknown.
    replaces_automatic
        Whether the family replaces an automatic one of the same column when models are added.
    has_length
        Whether a row has a length, the number of its known words, which `log_likelihood` can report.
    tunes_alpha
        Whether tuning may change the field `alpha`, a pseudo-count, if the columns are not joint.
    has_groupings
        Whether `groupings` may return families: tuning may group the rare values of a column.
    has_parts
        Whether a column is scored in several parts, each with its own family and weight; see `parts`.
    """

    missing: Missing = field(default="skip", repr=False)

    statistic: ClassVar[type[Statistic]]
    kinds: ClassVar[tuple[Kind, ...]] = NUMBER_KINDS
    role: ClassVar[Role] = "value"
    own_block: ClassVar[bool] = False
    support: ClassVar[Support] = "real"
    joint: ClassVar[bool] = False
    automatic: ClassVar[bool] = False
    awaits_values: ClassVar[bool] = False
    replaces_automatic: ClassVar[bool] = False
    has_length: ClassVar[bool] = False
    tunes_alpha: ClassVar[bool] = False
    has_groupings: ClassVar[bool] = False
    has_parts: ClassVar[bool] = False

    def __str__(self) -> str:
        """Return the name and the settings that differ from the default."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return type(self).__name__ + (f"({', '.join(f'{k}={v!r}' for k, v in changed)})" if changed else "")

    @property
    def is_likelihood(self) -> bool:
        """Whether `log_likelihood` is the logarithm of a probability, so that rows have a marginal."""
        return True

    def accepts(self, kind: Kind) -> bool:
        """Return whether a column of this kind can be counted."""
        return kind in self.kinds or kind == "unknown"

    def read_columns(self, table: Table, positions: Sequence[int]) -> View:
        """Return columns of a table as `count` and `log_likelihood` take them; refuse numbers without a probability."""
        if self.statistic.view is Texts:
            return table.texts(positions)
        if self.statistic.view is Codes:
            return table.coded(positions)
        numbers = table.numbers(positions)
        if not (table.checked or self.support in ("real", "any")):
            is_boolean = self.support != "positive" and all(table.kind(position) == "boolean" for position in positions)
            if not is_boolean:
                check_support(numbers, self.support, select(table.names, positions), type(self).__name__)
        return numbers

    def count(self, x: Any, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN) -> S:
        """Count rows of columns into the family's statistic."""
        return self.statistic.count(self.transform(x), label, weight, n_classes, plan)  # type: ignore[return-value]

    def transform(self, x: Any) -> Any:
        """Return the values that are counted; the values themselves by default."""
        return x

    @abstractmethod
    def estimate(self, stats: S, classes: Labels, structure: Any = None) -> P:
        """Estimate the parameters; with a `structure`, keep it instead of choosing one."""

    @abstractmethod
    def log_likelihood(self, x: Any, parameters: P, out: Floats, length: Lengths = None) -> None:
        """Add log p(x | c) to `out`, (row, class). A missing value adds nothing.

        Families with `has_length` also add the number of known words of each row to `length`, if it is given.
        """

    # What follows has a default.

    def score_columns(self, x: Any, parameters: P, out: Floats) -> None:
        """Add log p(x_j | c) of each column to `out`, (column, row, class); over all columns they add up to the row's.

        A text is one column. The columns of a joint family that cannot be separated are in the first one.
        """
        if self.joint or self.own_block:
            self.log_likelihood(x, parameters, out[0])
            return
        for column, alone in each_column_alone(x):
            self.log_likelihood(alone, parameters, out[column])

    def structure(self, stats: S) -> Any:
        """Return what `estimate` would choose by the labels or the pooled counts (bins, a vocabulary), or None."""
        return None

    def has_structure(self, stats: S) -> bool:
        """Return whether `structure` has anything to choose from these statistics."""
        return self.structure(stats) is not None

    def leave_one_out(self, x: Any, stats: S, classes: Labels, structure: Any, leaving: Leaving, out: Floats) -> None:
        """Add log p(x | c) of counted rows to `out`, each estimated without the row itself.

        `out` is (row, column, class), with one column for joint families and texts. A missing value adds nothing.
        """
        refit_without_each_row(self, x, stats, classes, structure, leaving, out)

    def value_tables(self, stats: S, parameters: P, classes: Labels) -> Sequence[ValueTables]:
        """Return the values of each column with their counts; none by default, for families without such a list."""
        return ()

    def estimate_without(self, x: Any, counted: Estimate, c: int, classes: Labels, structure: Any) -> Estimate:
        """Estimate without one counted row of class c; raise NegativeCountError if it was not counted.

        The result is only used for this row and changes of it. So a family that changes its parameters, and the tables
        or counts that its terms read, need not subtract the row from its statistic.
        """
        leaving = Leaving(np.array([c], np.int32), np.ones(1), np.ones(1, np.int64))
        rest = without_row(self, x, counted.statistic, leaving)
        parameters = self.estimate(rest, classes, structure)
        return Estimate(rest, parameters, self.value_tables(rest, parameters, classes))

    def check(self, stats: S, n_classes: int, names: Names) -> None:
        """Raise ValueError unless a statistic, read from a file, is sound for this family and these columns."""
        require(isinstance(stats, self.statistic), f"the statistic of {names[:1]}")
        stats.check(n_classes, names)

    def learnt(
        self, stats: S, parameters: P, column: int, classes: Labels, kind: Kind = "number", top: int | None = None
    ) -> Learnt:
        """Return what was learnt of a column as numbers; by default the numbers that were counted.

        Of a text, the `top` most frequent words; None is all of them.
        """
        described = stats.describe(column)
        names = [name for name, number in described[0].items() if isinstance(number, (int, float))]
        return Learnt(parameters={name: np.array([of_class[name] for of_class in described]) for name in names})

    def decide(self, stats: S, kinds: Sequence[Kind]) -> Sequence[Family | Dropped]:
        """Return for each column the family that scores it, or the reason why it is dropped."""
        return [self] * len(kinds)

    def counted_as(self) -> Family:
        """Return the family that counts a column for which this one is given; itself, as a rule."""
        return self

    def parts(self, stats: S) -> Sequence[tuple[str, Family, Statistic]]:
        """Return the role, the family and the statistic of each part of a column, if it `has_parts`.

        The first has the role "value".
        """
        return ()

    def word_scores(self, text: str, parameters: P) -> tuple[list[str], Floats]:
        """Return the known words of a text, and what each adds to the score of each class; none by default."""
        return [], np.zeros((0, 0))

    def weighted(self, parameters: P, weight: Floats) -> P | None:
        """Return parameters whose log-likelihood is weight[j] times that of column j; None if they cannot hold it."""
        return None

    def columns_of(self, parameters: P, positions: Sequence[int], stats: S, classes: Labels) -> P:
        """Return the parameters of some columns, by default estimated from `stats`, the statistic of these alone.

        Override it where the estimate of a column depends on others.
        """
        return self.estimate(stats, classes)

    def rivals(self, stats: S) -> Sequence[Family]:
        """Return the families among which tuning may choose for a column that was counted so, the simplest first."""
        return ()

    def groupings(self, stats: S) -> Sequence[Family]:
        """Return families with fewer values of one column among which tuning may choose, the most values first."""
        return ()

    @property
    def event_model(self) -> EventModel:
        """How words are scored."""
        return "multinomial"

    @property
    def counts_presence(self) -> bool:
        """Whether a word counts once per row."""
        return False

    @property
    def tunes_words(self) -> bool:
        """Whether tuning may choose the event model and the smoothing of words."""
        return False

    @property
    def word_alpha(self) -> float | None:
        """The pseudo-count of each word, for a multinomial of words that has one above 0; else None."""
        return None

    def with_word_settings(self, event_model: EventModel, binary: bool, alpha: float) -> Family | None:
        """Return the family of words with other settings; None if it has no such settings."""
        return None

    def word_scorer(self, x: Any, stats: S, leaving: Leaving, structure: Any = None) -> WordScorer:
        """Return leave-one-out scores of the words of rows, for families with `has_length`."""
        raise InputError(f"{type(self).__name__} has no words to score.")

    def leave_words_out(
        self, x: Any, stats: S, classes: Labels, structure: Any, leaving: Leaving, out: Floats, length: Floats
    ) -> None:
        """Do `leave_one_out` for words, and add to `length` how many words each row has that another row has too.

        For families with a `word_alpha`. It is faster than a `word_scorer`, where no other settings are scored.
        """
        raise InputError(f"{type(self).__name__} has no words to score.")

    def terms(self, row: RowView, stats: S, parameters: P, pair: Pair) -> list[Term]:
        """Return the evidence of a row between two classes, as terms whose sum is the block's log-odds."""
        return terms_by_column(self, row, parameters, pair)

    def pieces(self, row: RowView, terms: Sequence[Term], log_odds: Mapping[Any, float]) -> Pieces | None:
        """Return the text of a row in pieces, each with the log-odds of its words; None unless it is a text.

        `log_odds` is what each word adds under the weights of the tuning, by its value.
        """
        return None

    def alternatives(self, row: RowView, parameters: P, rival: int) -> Iterable[Alternative]:
        """Return values that the row could have instead, to find what would change the prediction to `rival`."""
        return ()

    def grid(self, stats: S, parameters: P, column: int, kind: Kind = "number") -> Grid | None:
        """Return values of a column that cover what is usual in every class; None if they are not known."""
        return usual_counts(self, stats, parameters, column)

    def quantiles(self, stats: S, parameters: P, column: int, levels: Floats) -> Floats | None:
        """Return the quantiles of a column in each class, (level, class); None if its values are not known."""
        return quantiles_of_grid(self, stats, parameters, column, levels)

    def frequent_words(self, stats: S, parameters: P, names: Sequence[str], min_count: float) -> WordTable | None:
        """Return the words that occur at least `min_count` times; None unless the evidence is a sum over words."""
        return None

    def compare(self, one: S, two: S, top: int = 20) -> list[LikelihoodRatio]:
        """Test whether each column has the same distribution in two models; one test if the columns are words.

        `top` is the number of values or words that are listed.
        """
        return compare_values(type(self).__name__, one, two, top)

    def word_shares(self, stats: S) -> WordShares | None:
        """Return the counts of words; None unless the evidence is a sum over words."""
        return None

    def linear(self, parameters: P, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return weights and bias of log p(x | of) − log p(x | against) as a linear function of x."""
        raise InputError(
            f"{type(self).__name__} is not linear in x (columns {listed(names, 3)}): "
            "linear() needs Bernoulli, Categorical, Multinomial or Complement in every column."
        )

    def column_scores(self, parameters: P, names: Sequence[str], n_classes: int) -> Sequence[ColumnScores]:
        """Return the score of each column as plain data, to export it.

        By default, a family of 0 and 1 is scored at these values, and any other family is refused.
        """
        is_tried_out = (
            self.support == "binary" and self.statistic.view is Numbers and not (self.joint or self.own_block)
        )
        if not is_tried_out:
            raise InputError(
                f"{type(self).__name__} cannot be exported (column {names[0]!r}): it does not define column_scores()."
            )
        tables = np.zeros((2, len(names), n_classes))
        for x in (0, 1):
            score_each_column(self, Numbers((np.full((1, len(names)), float(x)),)), parameters, tables[x])
        return [ValueScores((0, 1), tables[:, j], None, np.zeros(n_classes)) for j in range(len(names))]

    def sample(self, parameters: P, label: Index, generator: np.random.Generator) -> list[Array]:
        """Return one array per column, with a random value for each class code in `label`."""
        raise InputError(f"{type(self).__name__} cannot sample: it does not define sample().")


def times(weight: float | Floats, log_probability: Floats) -> Floats:
    """Return a weight times a logarithm, where 0 times −∞ is 0: evidence without weight excludes no class."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(weight == 0, 0.0, weight * log_probability))


def draw_positions(log_probability: Floats, label: Index, generator: np.random.Generator) -> Index:
    """Return a random value or bin for each class code in `label`, by its log probability, (value, class)."""
    edges = np.cumsum(np.exp(log_probability), axis=0)[:, label]
    drawn = (generator.random(len(label)) * edges[-1] >= edges).sum(axis=0)
    return np.asarray(np.minimum(drawn, len(edges) - 1))


def one_column_each(x: View) -> Iterator[tuple[slice, View]]:
    """Yield one row per column of a single row, in which all other columns are missing, some columns at a time."""
    if isinstance(x, Texts):
        yield slice(0, 1), x
        return
    pieces = [piece for _, piece in (x.dense() if isinstance(x, Numbers) else x.placed())]
    values = np.concatenate([piece[0].astype(np.float64) for piece in pieces])
    for start in range(0, len(values), COLUMNS_AT_A_TIME):
        place = slice(start, min(start + COLUMNS_AT_A_TIME, len(values)))
        alone = np.full((place.stop - start, len(values)), np.nan)
        alone[np.arange(len(alone)), np.arange(start, place.stop)] = values[place]
        yield place, Numbers((alone,)) if isinstance(x, Numbers) else Codes((alone,), x.listed, x.max_codes)


def each_column_alone(x: Numbers | Codes) -> Iterator[tuple[int, Numbers | Codes]]:
    """Yield the rows once for each column, with all other columns missing."""
    for place, piece in x.dense() if isinstance(x, Numbers) else x.placed():
        for i, column in enumerate(range(place.start, place.stop)):
            alone = np.full((len(piece), x.n_columns), np.nan)
            alone[:, column] = piece[:, i]
            yield column, Numbers((alone,)) if isinstance(x, Numbers) else Codes((alone,), x.listed, x.max_codes)


def score_each_column(family: Family[S, P], x: View, parameters: P, out: Floats) -> None:
    """Add log p(x_j | c) of each column of a single row to `out`, (column, class); one column if they are joint."""
    if family.joint or family.own_block or len(out) == 1:
        family.log_likelihood(x, parameters, out)
        return
    for place, alone in one_column_each(x):
        family.log_likelihood(alone, parameters, out[place])


def refit_without_each_row(
    family: Family[S, P],
    x: View,
    stats: S,
    classes: Labels,
    structure: Any,
    leaving: Leaving,
    out: Floats,
    rows: Iterable[int] | None = None,
) -> None:
    """Leave rows out (all, or some) by subtracting each and estimating again: right for any family."""
    if structure is None:
        structure = family.structure(stats)
    for i in range(len(leaving.label)) if rows is None else rows:
        row = x.rows(i, i + 1)
        part = leaving.part(slice(i, i + 1))
        try:
            rest = without_row(family, row, stats, part)
        except NegativeCountError as error:
            raise NotCountedError(i, int(leaving.label[i]), error.column, error.remainder) from None
        score_each_column(family, row, family.estimate(rest, classes, structure), out[i])


def without_row(family: Family[S, P], row: View, stats: S, leaving: Leaving) -> S:
    """Return the statistics less one row, which leaves as any number of rows."""
    weight, rows = float(leaving.weight[0]), int(leaving.rows[0])
    if weight == 0 and rows == 0:
        return stats
    plan = CountPlan(like=stats, only_to_add=True)

    def count(of_weight: float) -> S:
        weights = None if of_weight == 1 else np.array([of_weight])
        return family.count(row, leaving.label, weights, stats.n_classes, plan)

    if rows == 0:  # one row of twice the weight leaves and one comes back: the number of rows stays
        return stats + count(weight) - count(2 * weight)
    for _ in range(rows):
        stats = stats - count(weight / rows)
    return stats


def terms_by_column(
    family: Family[S, P],
    row: RowView,
    parameters: P,
    pair: Pair,
    counts: Sequence[Sequence[Counts]] = (),
    variance: Floats | None = None,
) -> list[Term]:
    """Return one term per column (one for all columns of a joint family), from `log_likelihood`.

    Parameters
    ----------
    family, row, parameters, pair
        As in `Family.terms`.
    counts
        For each class of the pair, the counts of each column; a term has none by default.
    variance
        The variance of the log-odds of each column; None without intervals.
    """
    single = family.joint or family.own_block
    n_terms = 1 if single else len(row.names)
    scores = row.scores
    if scores is None:
        scores = np.zeros((n_terms, len(row.classes)))
        if single:
            family.log_likelihood(row.x, parameters, scores)
        else:
            family.score_columns(row.x, parameters, scores[:, None])
    deviations: Sequence[float | None] = [None] * n_terms
    if variance is not None:
        with np.errstate(invalid="ignore"):
            deviations = np.sqrt(variance).tolist()
    terms = []
    for j, (value, of_classes) in enumerate(zip(row.values[:n_terms], scores.tolist(), strict=True)):
        name = row.names[j] if n_terms == len(row.names) else ", ".join(row.names[:3])
        if value is None and n_terms == len(row.names):
            terms.append(Term.missing(name))
            continue
        plain, shown = format_value(value, row.kind(j)) if isinstance(value, float) else (value, str(value))
        if n_terms < len(row.names):
            plain, shown = None, f"{len(row.names)} columns together"
        of_pair = of_classes[pair[0]], of_classes[pair[1]]
        if not counts:
            terms.append(Term(name, plain, shown, of_pair))
            continue
        first, second = counts[0][j], counts[1][j]
        note = "" if first["rows"] or second["rows"] else "never seen in these classes"
        terms.append(Term(name, plain, shown, of_pair, 1.0, (first, second), deviations[j], note))
    return terms


def usual_counts(family: Family[S, P], stats: S, parameters: P, column: int) -> Grid | None:
    """Return the counts that hold 99.5 % of the probability in every class; None unless the support is countable."""
    if family.joint or family.support not in ("count", "binary"):
        return None
    if family.support == "binary":
        return Grid((0.0, 1.0), ("no", "yes"))
    n_values = 16
    while n_values <= MAX_GRID_POINTS:
        values = np.arange(n_values, dtype=np.float64)
        total = np.exp(score_column(family, stats, parameters, column, values)).cumsum(axis=0)
        if bool((total[-1] >= 0.995).all()):
            end = int((total < 0.995).sum(axis=0).max())
            return Grid(values[: max(end + 1, 2)])
        n_values *= 4
    return None


def quantiles_of_grid(family: Family[S, P], stats: S, parameters: P, column: int, levels: Floats) -> Floats | None:
    """Return quantiles by the likelihood at the points of the grid, which need not be equally far apart."""
    grid = family.grid(stats, parameters, column)
    if grid is None or len(grid.values) < 2:
        return None
    points = np.asarray(grid.values, dtype=np.float64)
    scores = score_column(family, stats, parameters, column, points)
    mass = np.exp(scores - scores.max(axis=0)) * np.gradient(points)[:, None]
    cumulative = (np.cumsum(mass, axis=0) - mass / 2) / mass.sum(axis=0)
    return np.stack([np.interp(levels, cumulative[:, c], points) for c in range(stats.n_classes)], axis=1)


def score_column(
    family: Family[S, P], stats: S, parameters: P, column: int, values: Sequence[CellValue] | Floats
) -> Floats:
    """Return log p(x | c) of values of one column, (value, class), with every other column missing."""
    scores = np.zeros((len(values), stats.n_classes))
    if stats.view is Codes:
        codes = np.full((len(values), stats.n_columns), -1, dtype=np.int32)
        codes[:, column] = np.arange(len(values))
        listed = tuple(tuple(values) if j == column else () for j in range(stats.n_columns))
        family.log_likelihood(Codes((codes,), listed), parameters, scores)
    else:
        numbers = np.full((len(values), stats.n_columns), np.nan)
        numbers[:, column] = values
        family.log_likelihood(Numbers((numbers,)), parameters, scores)
    return scores
