"""An explanation as plain data: frozen values, `to_dict()` for JSON and `to_arrow()` for tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from naively.data.plain import JsonObject, as_plain
from naively.explanation.counterfactual import Counterfactual
from naively.explanation.palette import Pair, pair
from naively.explanation.together import Together
from naively.families.evidence import Pieces

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console, ConsoleOptions, RenderResult

    from naively.data.labelled import Label


MIN_SHOWN_FLOOR = 0.01  # log-odds


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one column, or one word, adds to the log-odds.

    Attributes
    ----------
    column, value
        The column, and the value or word of the row.
    shown
        The value as text; a binned number has its interval.
    count
        How often a word or token is in the row.
    log_odds
        What the column or word adds: `weight` times `evidence`.
    evidence
        The log-odds by the counts alone, before the weight.
    weight
        The weight of the column under the tuning; for texts, also the effect of the length. 1 without a tuning.
    counts, counts_against
        What was counted of it in the two classes: `count` and `all`, or `rows`, `mean` and `deviation`.
    low, high
        The 95 % interval of `log_odds`, given the counts; None if it is not known.
    note
        What is special: missing, never seen, not used, used only together with others, impossible under a class.
    """

    column: str
    value: object
    shown: str
    count: float
    log_odds: float
    evidence: float
    weight: float
    counts: Mapping[str, float]
    counts_against: Mapping[str, float]
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def is_date(self) -> bool:
        """Whether the value is a date: it is text then, though a mean and a deviation were counted."""
        return isinstance(self.value, str) and "deviation" in self.counts

    to_dict = as_plain


@dataclass(frozen=True, slots=True)
class Others:
    """Contributions that are not listed: how many words of a text, or columns (`text` is None), and their sum."""

    text: str | None
    n: int
    log_odds: float

    to_dict = as_plain

    def __str__(self) -> str:
        what = (
            ("word" if self.n == 1 else "words") if self.text is not None else ("column" if self.n == 1 else "columns")
        )
        return f"{self.n} other {what}"


def group_others(lines: Iterable[tuple[str, float]], texts: Collection[str]) -> tuple[Others, ...]:
    """Return the sums of contributions, given as column and log-odds: one for the words of each text, one for columns.

    >>> group_others([("text", 0.5), ("age", 1.0), ("text", -0.25)], {"text"})
    (Others(text='text', n=2, log_odds=0.25), Others(text=None, n=1, log_odds=1.0))
    """
    groups: dict[str | None, list[float]] = {}
    for column, log_odds in lines:
        groups.setdefault(column if column in texts else None, []).append(log_odds)
    return tuple(Others(text, len(group), math.fsum(group)) for text, group in groups.items())


@dataclass(frozen=True)
class Explanation:
    """Why a row is `of` rather than `against`: the log-odds of the model, `total`, as a sum.

    prior + offset + Σ contributions + rest + together + floor = total

    It prints as a table, in a notebook as HTML.

    Attributes
    ----------
    of, against
        The two classes.
    answer
        The predicted class.
    prior
        The log-odds of the class prior.
    offset
        The difference of the class offsets of the tuning; 0 without one.
    contributions
        One for each column or word, the strongest first.
    rest, n_rest
        The sum and the number of the contributions beyond `top`.
    others
        The same, separately for the words of each text and for columns.
    total
        The log-odds of the model.
    posterior
        The probability of each class.
    counterfactual
        The fewest changes that would change the prediction; None if there are none, or they were not searched for.
    together
        What columns say together, if the model uses tables of columns; `together.log_odds` is the term of the sum.
    floor
        What the floor of the tuning changes: it makes sure predictions less sure. The table shows it if it is more than
        0.01. Where a class is impossible but for the floor, it is infinite, and so is a contribution.
    is_left_out
        Whether the model has counted the row, which is explained by the model without it.
    texts
        The texts of the row in pieces, each with the log-odds of its words.
    """

    of: Label
    against: Label
    answer: Label
    prior: float
    offset: float
    contributions: tuple[Contribution, ...]
    rest: float
    n_rest: int
    others: tuple[Others, ...]
    total: float
    posterior: Mapping[Label, float]
    counterfactual: Counterfactual | None = None
    is_left_out: bool = False
    texts: Mapping[str, Pieces] | None = None
    together: Together | None = None
    floor: float = 0.0

    @property
    def colours(self) -> Pair:
        """The colours of the two classes, which they have everywhere."""
        classes = list(self.posterior)
        return pair(classes.index(self.of), classes.index(self.against))

    @property
    def shown_floor(self) -> float:
        """The floor if tables and pictures show it, else 0."""
        return self.floor if abs(self.floor) > MIN_SHOWN_FLOOR else 0.0

    def to_dict(self) -> JsonObject:
        """Return plain data; the keys of `posterior` are the names of the classes."""
        plain: JsonObject = as_plain(self)
        del plain["texts"]
        return plain | {"posterior": {str(label): p for label, p in self.posterior.items()}}

    def to_arrow(self) -> pa.Table:
        """Return a table with one row per contribution; the counts are maps."""
        import pyarrow as pa

        rows = [contribution.to_dict() | {"value": contribution.shown} for contribution in self.contributions]
        types: dict[str, pa.DataType] = {"column": pa.string(), "value": pa.string()}
        types |= dict.fromkeys(("count", "evidence", "weight", "log_odds", "low", "high"), pa.float64())
        types |= dict.fromkeys(("counts", "counts_against"), pa.map_(pa.string(), pa.float64()))
        types["note"] = pa.string()
        return pa.table({name: pa.array([_cell(row[name]) for row in rows], kind) for name, kind in types.items()})

    def __str__(self) -> str:
        from naively.explanation.render_text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return (
            f"<Explanation of {self.of!r} against {self.against!r}: log-odds {self.total:+.4g}, "
            f"answer {self.answer!r}, {len(self.contributions)} contributions>"
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from naively.explanation.render_text import render

        yield from render(self, options.max_width)

    def _repr_html_(self) -> str:
        from naively.explanation.render_html import as_html

        return as_html(self)


def _cell(value: object) -> object:
    """Return a map as the list of pairs that Arrow reads."""
    return list(value.items()) if isinstance(value, Mapping) else value
