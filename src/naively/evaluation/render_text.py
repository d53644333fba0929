"""Print an evaluation as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from naively.data.names import counted
from naively.data.text_table import format_number

if TYPE_CHECKING:
    from naively.evaluation import Estimate, Evaluation, Thresholds
    from naively.evaluation.comparison import Comparison

MAX_CLASSES, MAX_CONFUSIONS = 20, 10  # lines; `to_dict` has all
MAX_CONFUSION_MATRIX_CLASSES = 8
TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1, mean of the classes",
    "mcc": "MCC",
    "log_loss": "log-loss",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "lift": "lift over the prior",
}


def as_text(evaluation: Evaluation) -> str:
    """Return the estimates, the classes, the confusion matrix, and the coverage and thresholds if there are any."""
    e = evaluation
    weight = "" if e.weight == e.rows else f" of weight {e.weight:,.10g}"
    parts = [f"{counted(e.rows, 'row')}{weight}, {counted(len(e.classes), 'class', 'classes')}"]
    parts[0] += f"\n{e.origin}" if e.origin else ""
    parts += [_figures(e), _classes(e), _confusion(e)]
    if e.coverage is not None:
        covered = {"share of the rows": e.coverage.share, "error among them": e.coverage.error}
        parts.append(
            f"rows predicted with a probability of {e.coverage.min_probability:g} or more\n{_estimates(covered)}"
        )
    if e.thresholds is not None and e.thresholds.goal:
        parts.append(_thresholds(e.thresholds))
    return "\n\n".join(parts)


def _figures(e: Evaluation) -> str:
    """Return each figure, its interval, and what the class shares alone would give."""
    rows = [["", "value", "95 % interval", "class shares"]]
    for name, title in TITLES.items():
        if name == "lift":
            continue
        figure, baseline = getattr(e, name), e.baseline.get(name, math.nan)
        rows.append([title, format_number(figure.value), interval(figure), format_number(baseline)])
        if name == "f1" and len(e.classes) == 2:
            of_class = e.by_class[1]
            numbers = (format_number(of_class.f1.value), interval(of_class.f1), format_number(of_class.f1_baseline))
            rows.insert(-1, [f"F1 of {of_class.label}", *numbers])
    rows.append([TITLES["lift"], format_number(e.lift.value), interval(e.lift), ""])
    return _table(rows)


def interval(estimate: Estimate) -> str:
    """Return the ends of an interval; an empty string if the estimate is undefined."""
    return "" if math.isnan(estimate.value) else f"{format_number(estimate.low)} – {format_number(estimate.high)}"


def comparison_as_text(comparison: Comparison) -> str:
    """Return the figures of both models and their differences; a star marks an interval without zero."""
    a, b = comparison.a, comparison.b
    rows = [["", "A", "B", "B − A", "95 % interval", ""]]
    for name, difference in comparison.difference.items():
        mark = "*" if difference.low > 0 or difference.high < 0 else ""
        values = (getattr(a, name).value, getattr(b, name).value, difference.value)
        rows.append([TITLES[name], *map(format_number, values), interval(difference), mark])
    lines = [
        f"{counted(comparison.rows, 'row')}, {counted(len(a.classes), 'class', 'classes')}",
        f"A: {a.origin}",
        f"B: {b.origin}",
        "",
        _table(rows),
    ]
    return "\n".join([*lines, "", "* the difference is more than chance (95 %)"])


def _estimates(estimates: dict[str, Estimate]) -> str:
    """Return one estimate per line, the digits of all lines under each other."""
    widths = [max(len(format_number(estimate[k])) for estimate in estimates.values()) for k in range(3)]
    label = max(map(len, estimates))
    lines = []
    for name, estimate in estimates.items():
        value, low, high = (f"{format_number(x):>{width}}" for x, width in zip(estimate, widths, strict=True))
        lines.append(f"{name:<{label}}  {value}" + ("" if math.isnan(estimate.value) else f"  ({low} – {high})"))
    return "\n".join(lines)


def _classes(e: Evaluation) -> str:
    largest = sorted(e.by_class, key=lambda metrics: -metrics.weight)[:MAX_CLASSES]
    rows = [["class", "weight", "precision", "recall", "AUC", "average precision"]]
    for metrics in e.by_class:
        if metrics in largest:
            numbers = (metrics.precision.value, metrics.recall.value, metrics.auc.value, metrics.average_precision)
            rows.append([str(metrics.label), f"{metrics.weight:,.10g}", *map(format_number, numbers)])
    return _table(rows) + _more(len(e.by_class) - MAX_CLASSES, "smaller classes")


def _confusion(e: Evaluation) -> str:
    n_classes = len(e.classes)
    if n_classes <= MAX_CONFUSION_MATRIX_CLASSES:
        rows = [["true \\ answer", *map(str, e.classes)]]
        for label, weights in zip(e.classes, e.confusion.tolist(), strict=True):
            rows.append([str(label), *(f"{w:,.10g}" for w in weights)])
        return _table(rows)
    errors = e.confusion * ~np.eye(n_classes, dtype=bool)
    pairs = np.argwhere(errors > 0)
    order = np.argsort(-errors[tuple(pairs.T)], kind="stable")
    rows = [["true", "answer", "weight"]]
    for a, b in pairs[order][:MAX_CONFUSIONS].tolist():
        rows.append([str(e.classes[a]), str(e.classes[b]), f"{errors[a, b]:,.10g}"])
    return "most frequent errors\n" + _table(rows) + _more(len(pairs) - MAX_CONFUSIONS, "kinds of error")


def _thresholds(t: Thresholds) -> str:
    has_costs = not math.isnan(t.table[0].cost)
    rows = [["threshold", "answered", "precision", "recall", "false positives", "cost"][: 6 if has_costs else 5]]
    for line in t.table if t.best is None else (*t.table, t.best):
        numbers = [line.answered, line.precision, line.recall, line.false_positive_rate, line.cost]
        mark = " *" if line is t.best else ""
        rows.append([f"{line.threshold:.4g}{mark}", *map(format_number, numbers[: 5 if has_costs else 4])])
    best = f"no threshold has a {t.goal}" if t.best is None else f"* {t.goal}"
    return f"{t.of!r} is predicted above a probability of\n{_table(rows)}\n{best}"


def _more(n: int, what: str) -> str:
    return f"\n… and {n} {what}" if n > 0 else ""


def _table(rows: list[list[str]]) -> str:
    """Return columns under each other, the first to the left and the others to the right."""
    from rich.cells import cell_len  # Chinese characters take two places

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        cells = [row[0] + first, *(space + cell for space, cell in zip(others, row[1:], strict=True))]
        lines.append("  ".join(cells))
    return "\n".join(lines).rstrip()
