"""Why: the prediction as a sum, its texts tinted, and what would change it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from naively.data.labelled import Label
from naively.data.names import Names
from naively.data.plain import CellValue, JsonObject
from naively.explanation.explanation import Explanation
from naively.explanation.render_text import format_together
from naively.families.text import without_words
from naively.model.model import Model
from naively.server.pages.address import Row, table_of
from naively.server.pages.ask import MAX_CLASSES, posterior_of
from naively.server.pages.page import Page
from naively.server.problems import Problem

MAX_LINES = 25  # of a sum
MAX_PIECES = 1200  # of a tinted text
N_TINTS = 5


async def why(page: Page) -> JsonObject:
    """Return the explanation of the row between two classes."""
    of, against = page.class_named(page.parameter("of")), page.class_named(page.parameter("against"))
    model = page.model
    explanation, probabilities = await page.service.run(_explain, model, page, of, against)
    return {
        "prediction": explanation.answer,
        "of": explanation.of,
        "against": explanation.against,
        "prior": explanation.prior + explanation.offset,
        "contributions": [line.to_dict() for line in explanation.contributions],
        "rest": explanation.rest,
        "n_rest": explanation.n_rest,
        "floor": explanation.floor,
        "shown_floor": explanation.shown_floor,
        "together": None if explanation.together is None else explanation.together.log_odds,
        "rules": format_together(explanation),
        "total": explanation.total,
        "posterior": posterior_of(model, probabilities),
        "n_more_classes": max(0, len(model.classes) - MAX_CLASSES),
        "texts": {column: _tinted(pieces) for column, pieces in (explanation.texts or {}).items()},
        "counterfactual": _counterfactual(page, explanation),
        "waterfall": waterfall(explanation),
        "row": page.row,
        **await _lesson(page),
    }


def _explain(model: Model, page: Page, of: Label | None, against: Label | None) -> tuple[Explanation, list[float]]:
    """Return the explanation, and the probabilities as predictions have them, to the last digit."""
    table = table_of(model, page.columns)
    [explanation] = model.explain(table, of, against, MAX_LINES, leave_out=False)
    return explanation, model.posterior(table)[0].tolist()


def _counterfactual(page: Page, explanation: Explanation) -> JsonObject | None:
    """Return the changes that would change the prediction, each with the parameter that makes it."""
    counterfactual = explanation.counterfactual
    if counterfactual is None:
        return None
    changes = [{"column": c.column, "before": c.before, "after": c.after} for c in counterfactual.changes]
    return {
        "prediction": counterfactual.answer,
        "probability": counterfactual.probability,
        "changes": [{**change, "parameter": _parameter([change])} for change in changes],
        "parameter": _parameter(changes),
    }


def _parameter(changes: Sequence[Mapping[str, CellValue]]) -> str:
    """Return changes as JSON: a list of column and new value, or of column, null and the word to leave out."""
    return json.dumps(
        [[c["column"], None, c["before"]] if c["after"] is None else [c["column"], c["after"]] for c in changes],
        ensure_ascii=False,
        default=str,
    )


def changed_row(row: Row, names: Names, parameter: str) -> Row:
    """Return the row after the changes of a parameter.

    >>> changed_row({"sky": "sun", "text": "a b c"}, ("sky", "text"), '[["sky", "rain"], ["text", null, "b"]]')
    {'sky': 'rain', 'text': 'a  c'}
    """
    row = dict(row)
    try:
        changes = json.loads(parameter)
        for column, after, *words in changes:
            if column not in names or not isinstance(after, (str, int, float, bool, NoneType)):
                raise ValueError("not a change")
            row[column] = str(after) if after is not None else without_words(row.get(column, ""), set(map(str, words)))
    except (ValueError, TypeError, RecursionError):
        raise Problem(400, "change is a list of columns with their new values, in JSON.") from None
    return row


def waterfall(explanation: Explanation) -> list[JsonObject]:
    """Return the steps of the sum: where each begins and ends, as shares of the width; infinite ones fill it."""
    steps: list[tuple[float, float]] = []
    at = 0.0
    lines = [explanation.prior + explanation.offset, *(line.log_odds for line in explanation.contributions)]
    lines += [explanation.rest] if explanation.n_rest else []
    lines += [] if explanation.together is None else [explanation.together.log_odds]
    lines += [explanation.shown_floor] if explanation.shown_floor else []
    finite = [x for x in lines if abs(x) != float("inf")]
    bound = 1.5 * sum(map(abs, finite)) + 1.0
    for log_odds in lines:
        step = max(-bound, min(bound, log_odds))
        steps.append((at, at + step))
        at += step
    steps.append((0.0, at))
    low, high = min(0.0, *(min(step) for step in steps)), max(0.0, *(max(step) for step in steps))
    width = (high - low) or 1.0
    return [
        {
            "low": (min(step) - low) / width,
            "width": abs(step[1] - step[0]) / width,
            "zero": -low / width,
            "is_for": step[1] >= step[0],
        }
        for step in steps
    ]


def _tinted(pieces: Any) -> JsonObject:
    """Return pieces of a text with their log-odds and the strength of their tint."""
    strongest = max((abs(odds) for _, odds in pieces if abs(odds) < float("inf")), default=0.0) or 1.0
    shown = [
        {"text": text, "log_odds": odds, "tint": 0 if abs(odds) < 0.02 * strongest else _tint(odds / strongest)}
        for text, odds in pieces[:MAX_PIECES]
    ]
    return {"pieces": shown, "n_more": max(0, len(pieces) - MAX_PIECES)}


def _tint(share: float) -> int:
    return max(1, min(N_TINTS, round(N_TINTS * min(abs(share), 1.0))))


async def _lesson(page: Page) -> JsonObject:
    """Return what was taught a moment ago, if the address names the entry: its label, and whether it can be undone."""
    entry = page.parameter("entry")
    if entry is None:
        return {"lesson": None}
    matches = [e for e in await page.served.log() if e.id.startswith(entry)]
    if len(matches) != 1:
        return {"lesson": None}
    return {
        "lesson": {
            "entry": matches[0].id,
            "label": page.parameter("label") or "",
            "before": page.parameter("before"),
            "is_undone": not matches[0].is_current,
        }
    }
