"""An explanation as plain data: frozen values, `to_dict()` for JSON and `to_arrow()` for tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["Change", "Contribution", "Explanation", "Turn"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one column, or one word, adds to the log-odds.

    `value` is the row's own, `shown` how it is told (a bin as an interval), `count` how often a word or token is in the
    row. `of` and `against` are the counts behind it in the two classes: `count` and `all`, or `rows`, `mean` and
    `deviation`. `low` and `high` bound `log_odds` in 95 of 100 models that the counts allow (docs/explanations.md);
    None where that is not known. `note` says what is special: missing, never seen, impossible under a class.
    """

    column: str
    value: Any
    shown: str
    count: float
    log_odds: float
    of: Mapping[str, float]
    against: Mapping[str, float]
    low: float | None = None
    high: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "column": self.column,
            "value": self.value,
            "shown": self.shown,
            "count": self.count,
            "log_odds": self.log_odds,
            "low": self.low,
            "high": self.high,
            "of": dict(self.of),
            "against": dict(self.against),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """One value to change, or a word to leave out (`after` is None)."""

    column: str
    before: Any
    after: Any = None

    def __str__(self) -> str:
        if self.after is None:
            return f"leave out {self.before!r} in {self.column}"
        return f"{self.column}: {self.before!r} → {self.after!r}"


@dataclass(frozen=True, slots=True)
class Turn:
    """The fewest changes found that turn the answer, and the answer and probability that the model then gives."""

    changes: tuple[Change, ...]
    answer: Any
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        changes = [{"column": c.column, "before": c.before, "after": c.after} for c in self.changes]
        return {"changes": changes, "answer": self.answer, "probability": self.probability}


@dataclass(frozen=True)
class Explanation:
    """Why a row is `of` rather than `against`: prior + Σ contributions + rest = total, all in log-odds.

    `rest` is what the `n_rest` contributions add that `top` cut off; `texts` are the row's texts in pieces, each
    with the log-odds of its words; prints as a table, in a notebook too.
    """

    of: Any
    against: Any
    answer: Any
    prior: float
    contributions: tuple[Contribution, ...]
    total: float
    posterior: Mapping[Any, float]
    rest: float = 0.0
    n_rest: int = 0
    turn: Turn | None = None
    texts: Mapping[str, tuple[tuple[str, float], ...]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; classes are keys of `posterior` by their names."""
        return {
            "of": self.of,
            "against": self.against,
            "answer": self.answer,
            "prior": self.prior,
            "contributions": [contribution.to_dict() for contribution in self.contributions],
            "rest": self.rest,
            "n_rest": self.n_rest,
            "total": self.total,
            "posterior": {str(label): p for label, p in self.posterior.items()},
            "turn": None if self.turn is None else self.turn.to_dict(),
        }

    def to_arrow(self) -> pa.Table:
        """One row per contribution; the counts behind it are maps."""
        import pyarrow as pa

        types: dict[str, pa.DataType] = dict.fromkeys(("column", "value", "note"), pa.string())
        types |= dict.fromkeys(("count", "log_odds", "low", "high"), pa.float64())
        types |= dict.fromkeys(("of", "against"), pa.map_(pa.string(), pa.float64()))
        names = ("column", "value", "count", "log_odds", "low", "high", "of", "against", "note")
        rows = [
            (c.column, c.shown, c.count, c.log_odds, c.low, c.high, list(c.of.items()), list(c.against.items()), c.note)
            for c in self.contributions
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        arrays = {name: pa.array(list(column), types[name]) for name, column in zip(names, columns, strict=True)}
        return pa.table(arrays)

    def __str__(self) -> str:
        from naively.explanation.render_text import as_text

        return as_text(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from naively.explanation.render_text import rendered

        yield from rendered(self, options.max_width)

    def _repr_html_(self) -> str:
        from naively.explanation.render_html import as_html

        return as_html(self)
