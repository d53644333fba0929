"""Render an evaluation as HTML for notebooks."""

from __future__ import annotations

import math

import numpy as np

from naively.data.html import more, paragraph, section, table_html
from naively.evaluation.evaluate import SUMMARY, Evaluation
from naively.evaluation.intervals import Estimate

MAX_CLASSES = 20  # lines; `to_dict` has all
MAX_CONFUSION_MATRIX_CLASSES = 12


def as_html(evaluation: Evaluation) -> str:
    """Return the estimates, the classes and the confusion matrix."""
    e = evaluation
    estimates = [
        [name.replace("_", " "), _number(estimate.value), _interval(estimate)]
        for name in SUMMARY
        for estimate in [getattr(e, name)]
    ]
    largest = sorted(range(len(e.by_class)), key=lambda c: -e.by_class[c].weight)[:MAX_CLASSES]
    by_class = [
        [
            str(metrics.label),
            f"{metrics.weight:,.10g}",
            *map(_number, (metrics.precision.value, metrics.recall.value, metrics.auc.value)),
        ]
        for metrics in (e.by_class[c] for c in sorted(largest))
    ]
    parts = [
        paragraph(f"Evaluation of {e.rows:,} rows, {len(e.classes)} classes"),
        table_html(["", "value", "95 % interval"], estimates),
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


def _number(x: float) -> str:
    return "–" if math.isnan(x) else f"{x:.4f}"


def _interval(estimate: Estimate) -> str:
    return "" if math.isnan(estimate.value) else f"{estimate.low:.4f} – {estimate.high:.4f}"
