"""Render a model as HTML for notebooks: what it predicts, its classes, and the families of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from naively.data.html import more, paragraph, section, table_html
from naively.data.names import Names, counted

if TYPE_CHECKING:
    from naively.model.model import Model

MAX_LINES = 20  # of classes and of blocks
MAX_NAMES = 6  # of columns in a line


def as_html(model: Model) -> str:
    """Return the size of the model, the classes with their weight and prior, and the blocks of columns."""
    rows = int(model.class_weights.rows.sum())
    tuned = "tuned" if model.tuning is not None else "not tuned"
    classes = [
        [str(label), f"{weight:,.10g}", f"{prior:.4f}"]
        for label, weight, prior in zip(
            model.classes[:MAX_LINES],
            model.class_counts.tolist(),
            np.exp(model.log_prior).tolist(),
            strict=False,
        )
    ]
    blocks = model.chosen.schema.blocks
    columns = [[str(block.family), _names(block.names), f"{len(block.names):,}"] for block in blocks[:MAX_LINES]]
    left_out = list(model.chosen.left_out.items())
    parts = [
        paragraph(
            f"Model of {model.target!r}: {counted(rows, 'row')}, {counted(len(model.classes), 'class', 'classes')}, "
            f"{counted(len(model.schema.names), 'column')}, {tuned}"
        ),
        table_html(["class", "weight", "prior"], classes),
        more(len(model.classes) - MAX_LINES, "classes"),
        table_html(["family", "columns", "number"], columns, n_left=2) if columns else "",
        more(len(blocks) - MAX_LINES, "families"),
    ]
    if left_out:
        parts.append(table_html(["not used", "reason"], left_out[:MAX_LINES], n_left=2))
        parts.append(more(len(left_out) - MAX_LINES, "columns"))
    return section("model", *parts)


def _names(names: Names) -> str:
    """Return the first names of a block."""
    first = [str(name) for name, _ in zip(names, range(MAX_NAMES + 1), strict=False)]
    return ", ".join(first[:MAX_NAMES]) + (", …" if len(first) > MAX_NAMES else "")
