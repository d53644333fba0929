"""Render an evaluation as HTML for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from naively.data.html import more, paragraph, section, table_html
from naively.data.names import counted
from naively.data.text_table import format_number
from naively.evaluation.evaluate import Evaluation
from naively.evaluation.render_text import TITLES, interval

if TYPE_CHECKING:
    from naively.evaluation.comparison import Comparison

MAX_CLASSES = 20  # lines; `to_dict` has all
MAX_CONFUSION_MATRIX_CLASSES = 12


def as_html(evaluation: Evaluation) -> str:
    """Return the estimates, the classes and the confusion matrix."""
    e = evaluation
    estimates = [
        [title, format_number(getattr(e, name).value), interval(getattr(e, name)), _baseline(e, name)]
        for name, title in TITLES.items()
    ]
    largest = sorted(range(len(e.by_class)), key=lambda c: -e.by_class[c].weight)[:MAX_CLASSES]
    by_class = [
        [
            str(metrics.label),
            f"{metrics.weight:,.10g}",
            *map(format_number, (metrics.precision.value, metrics.recall.value, metrics.auc.value)),
        ]
        for metrics in (e.by_class[c] for c in sorted(largest))
    ]
    parts = [
        paragraph(f"Evaluation of {counted(e.rows, 'row')}, {counted(len(e.classes), 'class', 'classes')}"),
        paragraph(e.origin) if e.origin else "",
        table_html(["", "value", "95 % interval", "class shares"], estimates),
        table_html(["class", "weight", "precision", "recall", "AUC"], by_class),
        more(len(e.by_class) - len(largest), "classes"),
    ]
    return section("evaluation", *parts, _confusion(e))


def comparison_as_html(comparison: Comparison) -> str:
    """Return the figures of both models and their differences, with intervals."""
    a, b = comparison.a, comparison.b
    lines = []
    for name, difference in comparison.difference.items():
        values = getattr(a, name).value, getattr(b, name).value, difference.value
        lines.append([TITLES[name], *map(format_number, values), interval(difference)])
    origins = [paragraph(f"{model}: {e.origin}") for model, e in (("A", a), ("B", b)) if e.origin]
    return section(
        "comparison",
        paragraph(f"Comparison of two models, A and B, on {counted(comparison.rows, 'row')}"),
        *origins,
        table_html(["", "A", "B", "B − A", "95 % interval"], lines),
    )


def _confusion(e: Evaluation) -> str:
    """Return the confusion matrix; of many classes, only how many rows have another class than the answer."""
    if len(e.classes) > MAX_CONFUSION_MATRIX_CLASSES:
        wrong = float(e.confusion.sum() - np.trace(e.confusion))
        return paragraph(f"{wrong:,.10g} answers are wrong; `confusion` has the classes of each.")
    rows = [
        [str(label), *(f"{weight:,.10g}" for weight in weights)]
        for label, weights in zip(e.classes, e.confusion.tolist(), strict=True)
    ]
    return table_html(["true class \\ answer", *map(str, e.classes)], rows)


def _baseline(e: Evaluation, name: str) -> str:
    """Return what the class shares alone would give."""
    return format_number(e.baseline[name]) if name in e.baseline else ""
