"""Ask: a form from the schema, the prediction for what is known, and the next best question."""

from __future__ import annotations

import numpy as np

from naively._kernels.types import Floats
from naively.data.kinds import Kind
from naively.data.plain import JsonObject
from naively.data.views import Codes, Texts
from naively.explanation.explain import scored_blocks
from naively.explanation.next_question import NextQuestion
from naively.families.evidence import format_value
from naively.model.counted_numbers import counted_range
from naively.model.model import Model
from naively.server.pages.address import parameter_of, table_of
from naively.server.pages.page import Page
from naively.server.pages.render import plain
from naively.server.writer import Snapshot

MAX_CLASSES = 10  # whose probability is shown
MAX_FIELDS = 40  # on a page
MAX_CHOICES = 30  # of a list to choose from
MAX_SUGGESTIONS = 60  # of a field to type into
MAX_CHOICE_LENGTH = 60  # characters
MAX_ALL_CHOICES = 30_000  # characters of all lists: bounds the size of the page
OPTION_LENGTH = 18  # characters around a choice
USUAL_LEVELS = np.array([0.01, 0.99])  # quantiles between which a number is usual


async def ask(page: Page) -> JsonObject:
    """Return the prediction, the fields of the form, and the questions."""
    answer = await page.served.predict(page.columns, 1)
    page.snapshot = Snapshot(answer.model, answer.version)  # the one that was used
    question = await page.service.run(answer.model.next_question, table_of(answer.model, page.columns))
    start = page.number("from", 0)
    fields = await page.service.run(_fields, answer.model, page, question, start)
    return {
        "prediction": answer.prediction[0],
        "posterior": posterior_of(answer.model, answer.posterior[0].tolist()),
        "n_more_classes": max(0, len(answer.model.classes) - MAX_CLASSES),
        **question.to_dict(),
        "fields": fields,
        "from": start,
        "n_columns": len(page.names),
        "row": page.row,
    }


def posterior_of(model: Model, probabilities: list[float]) -> list[JsonObject]:
    """Return the most probable classes with their probabilities."""
    order = sorted(range(len(probabilities)), key=lambda c: -probabilities[c])[:MAX_CLASSES]
    return [{"class": model.classes[c], "probability": probabilities[c]} for c in order]


def _fields(model: Model, page: Page, question: NextQuestion, start: int) -> list[JsonObject]:
    """Return the fields of the form: the next best question, then the columns in their order."""
    gains = {column.column: column.gain for column in question.questions}
    names = [name for name in page.names if name not in model.chosen.left_out]
    names = names[start : start + MAX_FIELDS]
    best = question.questions[0].column if question.questions else None
    if best is not None and start == 0:
        names = [best, *(name for name in names if name != best)]
    choices = _choices(model, set(names))
    return [
        {
            "column": name,
            "parameter": parameter_of(page.names, name),
            "value": page.row.get(name, ""),
            "gain": gains.get(name),
            "is_next": name == best,
            **choices[name],
        }
        for name in names
        if name in choices
    ]


def _choices(model: Model, names: set[str]) -> dict[str, JsonObject]:
    """Return for each column how it is asked for: its kind, its values or suggestions, and what is usual."""
    fields: dict[str, JsonObject] = {}
    n_left = MAX_ALL_CHOICES
    for block, statistic, parameters in scored_blocks(model):
        if block.family.role == "presence":
            continue
        for j, name in enumerate(block.names):
            if name not in names:
                continue
            kind = block.kind(j)
            if block.family.statistic.view is Texts:
                fields[name] = _field("text")
                continue
            grid = block.family.grid(statistic, parameters, j, kind)
            if kind == "boolean":
                fields[name] = _field("choice", ["True", "False"])
            elif block.family.statistic.view is Codes:
                values = [str(value) for value in grid.values] if grid is not None else []
                is_short = len(values) <= MAX_CHOICES and all(len(value) <= MAX_CHOICE_LENGTH for value in values)
                shown = [value for value in values if len(value) <= MAX_CHOICE_LENGTH and value.strip()]
                n_left -= sum(OPTION_LENGTH + len(value) for value in shown[:MAX_SUGGESTIONS])
                if is_short and n_left >= 0:
                    fields[name] = _field("choice", shown)
                else:
                    fields[name] = _field("value", shown[:MAX_SUGGESTIONS] if n_left >= 0 else [])
            else:
                quantiles = block.family.quantiles(statistic, parameters, j, USUAL_LEVELS)
                if quantiles is not None and statistic.table(j) is None:  # of a density, which knows no ends
                    quantiles = np.clip(quantiles, *counted_range(model, name))
                usual = _usual(quantiles, kind)
                fields[name] = _field("date" if kind == "date" else "number", usual=usual)
    return fields


def _field(control: str, values: list[str] | None = None, usual: str = "") -> JsonObject:
    return {"control": control, "values": values or [], "usual": usual}


def _usual(quantiles: Floats | None, kind: Kind) -> str:
    """Return the range in which nearly all numbers of every class are."""
    if quantiles is None or not np.isfinite(quantiles).all():
        return ""
    low, high = float(quantiles.min()), float(quantiles.max())
    if kind != "date":
        low, high = float(f"{low:.3g}"), float(f"{high:.3g}")
    texts = [format_value(number, kind)[1][:10] if kind == "date" else plain(number) for number in (low, high)]
    return " to ".join(dict.fromkeys(texts))
