"""What columns say together about one row: in all, by column, and as rules with their counts.

    log-odds of the tables = Σ_m u_m (e_m,of − e_m,against) = Σ columns = Σ rules                          (1)

The share of a column is the sum of its steps over all tables (families/together.py, equation (3)). A rule is the
shortest beginning of the path of a table that says what the path says within a fifth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from naively.data.kinds import Kind
from naively.data.plain import as_plain
from naively.families.evidence import Pair, format_value
from naively.families.together import Rule, TablePlan, TableView, WeightedTables
from naively.model.model import Model

MAX_RULES = 3  # that are shown


@dataclass(frozen=True, slots=True)
class TableRule:
    """A rule of one table.

    Attributes
    ----------
    condition
        Columns and values, as text.
    columns
        The columns, in the order of the path.
    count, count_against, all
        The weight of the rows of both classes, and of all classes, that fulfil the condition.
    log_odds
        What the table adds to the log-odds.
    """

    condition: str
    columns: tuple[str, ...]
    count: float
    count_against: float
    all: float
    log_odds: float

    to_dict = as_plain


@dataclass(frozen=True, slots=True)
class Together:
    """What columns say together: `log_odds` in all, by column, and by rule, the strongest first; each adds up to it."""

    log_odds: float
    by_column: Mapping[str, float]
    rules: tuple[TableRule, ...]

    to_dict = as_plain


def together_of(model: Model, tables: WeightedTables, view: TableView, pair: Pair) -> Together:
    """Explain the tables of columns in the only row of a view, between two classes."""
    of, against = pair
    shares = tables.score_columns(view)[:, 0]
    by_column = dict(zip(tables.plan.columns, (shares[:, of] - shares[:, against]).tolist(), strict=True))
    ranked = {name: x for name, x in sorted(by_column.items(), key=lambda item: -abs(item[1])) if x}
    kinds = model.schema.kinds()
    rules = tuple(_table_rule(rule, tables.plan, pair, kinds) for rule in tables.rules(view, of, against))
    scores = np.zeros((1, len(model.classes)))
    tables.score(view, scores)
    return Together(float(scores[0, of] - scores[0, against]), ranked, rules)


def _table_rule(rule: Rule, plan: TablePlan, pair: Pair, kinds: Mapping[str, Kind]) -> TableRule:
    is_number = dict(zip(plan.columns, (values is None for values in plan.values), strict=True))
    conditions = [
        _interval(name, low, high, kinds[name])
        if is_number[name]
        else f"{name} has another value"
        if value is None
        else f"{name}={value}"
        for name, value, low, high in rule.columns
    ]
    count, count_against = rule.counts[list(pair)].tolist()
    names = tuple(name for name, *_ in rule.columns)
    return TableRule(", ".join(conditions), names, count, count_against, float(rule.counts.sum()), rule.log_odds)


def _interval(name: str, low: float, high: float, kind: Kind) -> str:
    """Return the condition that a number lies above `low` and not above `high`, each of which may be infinite."""
    if kind == "boolean":
        possible = [bool(x) for x in (0, 1) if low < x <= high]
        return f"{name}={possible[0]}" if len(possible) == 1 else f"{name} has a value"
    ends = [
        format_value(float(f"{end:.4g}") if kind == "number" else end, kind)[1] if np.isfinite(end) else ""
        for end in (low, high)
    ]
    if ends[0] and ends[1]:
        return f"{ends[0]} < {name} ≤ {ends[1]}"
    if ends[1]:
        return f"{name} ≤ {ends[1]}"
    return f"{name} > {ends[0]}" if ends[0] else f"{name} has a value"
