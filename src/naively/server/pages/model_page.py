"""Model: its classes, the family and the importance of each column, dropped columns, and the top words."""

from __future__ import annotations

import numpy as np

from naively.data.plain import CellValue, JsonObject
from naively.data.views import Texts
from naively.model.model import Model
from naively.server.pages.page import Page

MAX_COLUMNS = 150
MAX_CLASSES = 50
MAX_WORDS = 12
MAX_WORD_CLASSES = 6
MAX_WORD_TABLES = 18
MIN_WORD_COUNT = 5


async def model_page(page: Page) -> JsonObject:
    """Return what the model has learnt."""
    return await page.service.run(describe, page.model)


def describe(model: Model) -> JsonObject:
    """Return classes, columns and words as plain data."""
    priors = np.exp(model.log_prior).tolist()
    counted = zip(model.classes, model.class_weights.rows.tolist(), model.class_counts.tolist(), priors, strict=True)
    classes = [{"class": c, "rows": n, "weight": w, "prior": p} for c, n, w, p in counted]
    classes.sort(key=lambda line: -line["weight"])
    ranked = model.next_question({})
    importance = {question.column: question.gain for question in ranked.questions}
    weights = {
        name: float(weight)
        for block in model.chosen.schema.blocks
        if model.tuning is not None and block.role == "value"
        for name, weight in zip(block.names, np.broadcast_to(model.tuning.weight(block), len(block.names)), strict=True)
    }
    columns: list[JsonObject] = [
        {"column": name, "family": family, "importance": importance.get(name), "weight": weights.get(name)}
        for name, family in model.chosen.families().items()
        if name not in model.chosen.left_out
    ]
    columns.sort(key=lambda line: -(line["importance"] or 0.0))
    tuning = model.tuning
    return {
        "target": model.target,
        "n_rows": int(model.class_weights.rows.sum()),
        "entropy": ranked.entropy,
        "classes": classes[:MAX_CLASSES],
        "n_classes": len(classes),
        "columns": columns[:MAX_COLUMNS],
        "n_columns": len(columns),
        "dropped": [{"column": c, "reason": r} for c, r in list(model.chosen.left_out.items())[:MAX_COLUMNS]],
        "tuning": None if tuning is None else {"rows": tuning.rows, "report": dict(tuning.report)},
        "words": _words(model, [line["class"] for line in classes[:MAX_WORD_CLASSES]]),
    }


def _words(model: Model, classes: list[CellValue]) -> list[JsonObject]:
    """Return the top words of each column of text, for the most frequent classes."""
    columns = []
    for block in model.chosen.schema.blocks:
        if block.family.statistic.view is not Texts or block.role != "value":
            continue
        weights = model.evidence(block.names[0])
        if weights.shares.alpha is None or len(model.classes) < 2:
            continue
        top = [
            {"class": c, "words": weights.top(c, MAX_WORDS, min_count=MIN_WORD_COUNT, by="evidence").to_dict()["words"]}
            for c in classes
        ]
        columns.append({"column": block.names[0], "classes": top})
        if (len(columns) + 1) * len(top) > MAX_WORD_TABLES:
            break
    return columns
