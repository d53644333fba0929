"""An evaluation as text for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from naively.evaluation import Evaluation
    from naively.evaluation.intervals import Figure
    from naively.evaluation.thresholds import Thresholds

__all__ = ["as_text"]

CLASSES, CONFUSIONS = 20, 10  # shown; all are in `to_dict`


def as_text(found: Evaluation) -> str:
    """The figures, the classes, the confusions, and what was asked for."""
    weight = "" if found.weight == found.rows else f" of weight {found.weight:,.10g}"
    names = ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "lift")
    parts = [f"{found.rows:,} rows{weight}, {len(found.classes)} classes; 95 % intervals in brackets"]
    parts.append(_figures([(_LABELS[name], getattr(found, name)) for name in names]))
    parts.append(_classes(found))
    parts.append(_confusion(found))
    if found.answered is not None:
        a = found.answered
        parts.append(
            f"answered where the posterior reaches {a.unsure:g}\n"
            + _figures([("share answered", a.share), ("error among these", a.error)])
        )
    if found.thresholds is not None and found.thresholds.asked:
        parts.append(_thresholds(found.thresholds))
    return "\n\n".join(parts)


_LABELS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "lift": "lift over the prior",
}


def _figures(rows: list[tuple[str, Figure]]) -> str:
    """Figures under each other, digit under digit, whether or not one is below zero."""
    widths = [max(len(_number(figure[k])) for _, figure in rows) for k in range(3)]
    label = max(len(name) for name, _ in rows)
    lines = []
    for name, figure in rows:
        value, low, high = (f"{_number(x):>{width}}" for x, width in zip(figure, widths, strict=True))
        lines.append(f"{name:<{label}}  {value}" + ("" if math.isnan(figure.value) else f"  ({low} – {high})"))
    return "\n".join(lines)


def _classes(found: Evaluation) -> str:
    largest = sorted(found.by_class, key=lambda one: -one.weight)[:CLASSES]
    rows = [["class", "weight", "precision", "recall", "AUC", "average precision"]]
    for one in [c for c in found.by_class if c in largest]:
        figures = (one.precision.value, one.recall.value, one.auc.value, one.average_precision)
        rows.append([str(one.label), f"{one.weight:,.10g}", *map(_number, figures)])
    return _aligned(rows) + _more(len(found.by_class) - CLASSES, "smaller classes")


def _confusion(found: Evaluation) -> str:
    n = len(found.classes)
    if n <= 8:
        rows = [["true \\ answer", *map(str, found.classes)]]
        for label, line in zip(found.classes, found.confusion.tolist(), strict=True):
            rows.append([str(label), *(f"{w:,.10g}" for w in line)])
        return _aligned(rows)
    wrong = found.confusion * ~np.eye(n, dtype=bool)
    pairs = np.argwhere(wrong > 0)
    order = np.argsort(-wrong[tuple(pairs.T)], kind="stable")
    rows = [["true", "answer", "weight"]]
    for a, b in pairs[order][:CONFUSIONS].tolist():
        rows.append([str(found.classes[a]), str(found.classes[b]), f"{wrong[a, b]:,.10g}"])
    return "most frequent errors\n" + _aligned(rows) + _more(len(pairs) - CONFUSIONS, "kinds of error")


def _thresholds(found: Thresholds) -> str:
    costs = not math.isnan(found.table[0].cost)
    rows = [["threshold", "answered", "precision", "recall", "false positives", "cost"][: 6 if costs else 5]]
    for line in found.table if found.best is None else (*found.table, found.best):
        figures = [line.answered, line.precision, line.recall, line.false_positive_rate, line.cost]
        mark = " *" if line is found.best else ""
        rows.append([f"{line.threshold:.4g}{mark}", *map(_number, figures[: 5 if costs else 4])])
    best = f"no threshold has a {found.asked}" if found.best is None else f"* {found.asked}"
    return f"{found.of!r} is answered above a probability of\n{_aligned(rows)}\n{best}"


def _number(x: float) -> str:
    return "–" if math.isnan(x) else f"{x:.4f}"


def _more(n: int, what: str) -> str:
    return f"\n… and {n} {what}" if n > 0 else ""


def _aligned(rows: list[list[str]]) -> str:
    """Columns under each other: the first to the left, the others to the right if they are numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:<{w}}" if j == 0 else f"{cell:>{w}}" for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ).rstrip()
