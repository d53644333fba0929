"""Render an evaluation as HTML for notebooks."""

from __future__ import annotations

import numpy as np

from naively.data.html import more, paragraph, section, table_html
from naively.data.text_table import format_number
from naively.evaluation.evaluate import Evaluation
from naively.evaluation.render_text import TITLES, interval

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
        paragraph(f"Evaluation of {e.rows:,} rows, {len(e.classes)} classes"),
        paragraph(e.origin) if e.origin else "",
        table_html(["", "value", "95 % interval", "class shares"], estimates),
        table_html(["class", "weight", "precision", "recall", "AUC"], by_class),
        more(len(e.by_class) - len(largest), "classes"),
    ]
    return section("evaluation", *parts, _confusion(e))


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
