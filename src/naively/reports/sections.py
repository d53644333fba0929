"""The sections of a report: what was learnt, how good it is, which columns matter, rows explained, and provenance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import Label
from naively.data.names import counted
from naively.data.text_table import format_number
from naively.errors import InputError
from naively.evaluation import Estimate, Evaluation
from naively.explanation import Explanation
from naively.explanation.column_curves import column_curves
from naively.explanation.nomogram import make_nomogram, order_of_classes
from naively.explanation.palette import N_COLOURS
from naively.explanation.render_text import (
    LEFT_OUT,
    Layout,
    evidence_and_weight,
    format_counterfactual,
    format_counts,
    format_together,
    interval,
    number,
    occurrences_and_note,
)
from naively.model.model import Model
from naively.reports.pictures import (
    MAX_VALUES,
    draw_calibration,
    draw_distribution,
    draw_nomogram,
    most_frequent_values,
)
from naively.reports.svg import bdi, both_widths, colour, table
from naively.store.entries import Entry

MAX_CLASSES = 20  # of a table
MAX_CONFUSED = 12  # classes of a confusion matrix
MAX_COLUMNS = 25  # of a table of columns
MAX_PANELS = 9  # distributions
MAX_ENTRIES = 30  # of the log, the latest ones
WIDE, NARROW = 940.0, 330.0  # pixels of a picture


@dataclass(frozen=True)
class Worth:
    """What a column is worth: a number, its interval if it is known, and a remark, such as "redundant"."""

    column: str
    value: float
    low: float = math.nan
    high: float = math.nan
    remark: str = ""


def section(title: str, lead: str, *parts: str) -> str:
    """Return a section with a title and a sentence that says how to read it."""
    return f'<section><h2>{title}</h2><p class="lead">{lead}</p>{"".join(parts)}</section>'


def tile(value: str, caption: str) -> str:
    """Return a large figure with a caption."""
    return f'<div class="tile"><b>{value}</b><span>{caption}</span></div>'


def dot(c: int) -> str:
    """Return the mark of a class in its colour."""
    return f'<i class="dot {colour(c)}"></i>'


def bar(share: float, style: str = "neutral") -> str:
    """Return a bar of a share of the width."""
    return f'<div class="bar"><i class="{style}" style="width:{100 * min(max(share, 0.0), 1.0):.2f}%"></i></div>'


FIGURES = (  # title, meaning, name in an evaluation, whether it is a share
    ("accuracy", "share of the rows that are right", "accuracy", True),
    ("balanced accuracy", "mean over the classes", "balanced_accuracy", True),
    ("F1", "of precision and recall, mean over the classes", "f1", False),
    ("MCC", "correlation of classes and predictions", "mcc", False),
    ("log-loss", "surprise per row, in nats; lower is better", "log_loss", False),
    ("Brier score", "squared error of the probabilities; lower is better", "brier", False),
    ("calibration error", "distance of probabilities from shares", "calibration_error", False),
)


def percent(share: float) -> str:
    """Return a share as text with three digits."""
    return "–" if math.isnan(share) else f"{100 * share:.3g} %"


def with_interval(estimate: Estimate, is_share: bool) -> tuple[str, str]:
    """Return an estimate and its 95 % interval as text."""
    if math.isnan(estimate.value):
        return "–", ""
    if is_share:
        return f"{100 * estimate.value:.1f} %", f"{100 * estimate.low:.1f} – {100 * estimate.high:.1f} %"
    value, low, high = map(format_number, estimate)
    return value, f"{low} – {high}"


def classes_section(model: Model) -> str:
    """Return the classes with their rows and priors."""
    prior = np.exp(model.log_prior)
    order = np.argsort(-model.class_weights.rows, kind="stable").tolist()
    rows = [
        (
            f"{dot(c)}{bdi(model.classes[c])}",
            f"{int(model.class_weights.rows[c]):,}",
            percent(float(prior[c])),
            bar(float(prior[c]), colour(c)),
        )
        for c in order[:MAX_CLASSES]
    ]
    more = f'<p class="note">and {len(order) - MAX_CLASSES} more classes</p>' if len(order) > MAX_CLASSES else ""
    return section(
        "What it predicts",
        f"The model predicts {bdi(model.target)}. The prior is the probability of a class before any column is known.",
        table(("class", "rows", "prior", ""), rows, (1, 2)),
        more,
    )


def quality_section(model: Model, evaluation: Evaluation | None, source: str) -> str:
    """Return how good the predictions are, with intervals and the figures of a guess by class shares."""
    if evaluation is None:
        report = {} if model.tuning is None else model.tuning.report
        if not report:
            return section(
                "How good it is",
                "The model has not been measured. Give rows whose class is known: naively report MODEL DATA.",
            )
        rows = [
            ("accuracy", f"{100 * report['accuracy']:.1f} %", ""),
            ("log-loss", f"{report['log_loss']:.4f}", f"{report['prior_log_loss']:.4f}"),
        ]
        return section(
            "How good it is",
            f"Expected on new rows, by leave-one-out on {model.tuning.rows if model.tuning else 0:,} training rows. "
            "The figures are too good if rows belong together. The baseline knows only the class shares.",
            table(("figure", "model", "baseline"), rows, (1, 2)),
        )
    rows_of_figures = []
    for title, meaning, name, is_share in FIGURES:
        value, interval = with_interval(getattr(evaluation, name), is_share)
        baseline = evaluation.baseline[name]
        shown = percent(baseline) if is_share else format_number(baseline)
        rows_of_figures.append((f"{title}<span class='note'>{meaning}</span>", f"<b>{value}</b>", interval, shown))
    return section(
        "How good it is",
        f"Measured on {counted(evaluation.rows, 'row')}{source}. The interval is that of 95 %. "
        "The baseline gives every row the class shares as probabilities, and the most frequent class as its answer.",
        table(("figure", "model", "95 %", "baseline"), rows_of_figures, (1, 2, 3)),
        _by_class(model, evaluation),
    )


def _by_class(model: Model, evaluation: Evaluation) -> str:
    """Return precision, recall and area of each class, and the confusion matrix if it is small."""
    position = {label: c for c, label in enumerate(model.classes)}
    rows = []
    for metrics in sorted(evaluation.by_class, key=lambda m: -m.weight)[:MAX_CLASSES]:
        c = position.get(metrics.label, 0)  # type: ignore[call-overload]
        estimates = (metrics.precision, metrics.recall)
        cells = [f"{100 * e.value:.1f} %" if not math.isnan(e.value) else "–" for e in estimates]
        auc = "–" if math.isnan(metrics.auc.value) else f"{metrics.auc.value:.3f}"
        rows.append((f"{dot(c)}{bdi(metrics.label)}", f"{metrics.weight:,.6g}", *cells, auc))
    parts = table(("class", "rows", "precision", "recall", "area under ROC"), rows, (1, 2, 3, 4))
    if not 1 < len(evaluation.classes) <= MAX_CONFUSED:
        return f'<div style="margin-top:1.75rem"><h3>By class</h3>{parts}</div>'
    most = max(float(evaluation.confusion.max()), 1.0)
    head = ("class ↓ predicted →", *(f"{dot(c)}{bdi(label)}" for c, label in enumerate(evaluation.classes)))
    matrix = [
        (f"{dot(c)}{bdi(label)}", *(_confused(float(x), most, c == d) for d, x in enumerate(line)))
        for c, (label, line) in enumerate(zip(evaluation.classes, evaluation.confusion.tolist(), strict=True))
    ]
    confusion = table(head, matrix, range(1, len(head)), "matrix")
    return (
        f'<div class="split" style="margin-top:1.75rem"><div><h3>By class</h3>{parts}</div>'
        f"<div><h3>Which classes are confused</h3>{confusion}</div></div>"
    )


def _confused(count: float, most: float, is_right: bool) -> str:
    weight = "650" if is_right else "400"
    return f'<span style="font-weight:{weight}">{count:,.6g}</span>' if count else '<span class="muted">0</span>'


def calibration_section(model: Model, evaluation: Evaluation) -> str:
    """Return the picture of calibration, with its table."""
    if len(evaluation.classes) == 2:
        metrics, c = evaluation.by_class[1], 1
        bins, event = metrics.calibration, f"predicted probability of {metrics.label}"
        lead = f"Of the rows with probability p of {bdi(metrics.label)}, a share p should have this class."
    else:
        bins, c, event = evaluation.calibration, 0, "predicted probability"
        lead = "Of the predictions with probability p, a share p should be right."
    shares = [(b.probability, *b.observed, b.weight) for b in bins]
    rows = [
        (percent(p), percent(share), f"{percent(low)} – {percent(high)}", f"{n:,.6g}")
        for p, share, low, high, n in shares
    ]
    svg = draw_calibration(bins, c, "Calibration", event)
    drawn = f"<figure>{svg}<figcaption>dashed: perfect calibration</figcaption></figure>"
    numbers = table(("predicted", "observed", "95 %", "rows"), rows, (0, 1, 2, 3))
    return section(
        "Do the probabilities hold?",
        lead,
        f'<div class="split picture-first">{drawn}<div>{numbers}</div></div>',
    )


def columns_section(model: Model, worths: Sequence[Worth], meaning: str) -> str:
    """Return what each column is worth, with its family and weight."""
    families = model.chosen.families()
    largest = max((worth.value for worth in worths), default=0.0) or 1.0
    has_interval = any(math.isfinite(worth.low) for worth in worths)
    rows = []
    for worth in worths[:MAX_COLUMNS]:
        remark = f'<span class="note">{worth.remark}</span>' if worth.remark else ""
        cells = [bdi(worth.column) + remark, bar(worth.value / largest), format_number(worth.value, ".3g")]
        if has_interval:
            low, high = (format_number(x, ".2g") for x in (worth.low, worth.high))
            cells.append(f"{low} – {high}" if math.isfinite(worth.low) else "")
        rows.append((*cells, _weight_of(model, worth.column), escape(families.get(worth.column, ""))))
    head = ("column", "", "worth", *(["95 %"] if has_interval else []), "weight", "family")
    numbers = (2, 3, 4) if has_interval else (2, 3)
    n_more = len(worths) - MAX_COLUMNS
    more = f'<p class="note">and {n_more} more columns</p>' if n_more > 0 else ""
    unused = [(bdi(name), escape(reason)) for name, reason in list(model.chosen.left_out.items())[:MAX_COLUMNS]]
    left_out = (
        f'<div style="margin-top:1.5rem"><h3>Columns that are not used</h3>{table(("column", "reason"), unused)}</div>'
    )
    return section(
        "Which columns matter", meaning, table(head, rows, numbers, "worth"), more, left_out if unused else ""
    )


def _weight_of(model: Model, column: str) -> str:
    if model.tuning is None:
        return "1"
    for block in model.chosen.schema.blocks:
        if column in block.names and block.role == "value":
            return f"{model.tuning.weight_of_column(block, block.names.index(column)):.2f}"
    return ""


def legend(model: Model, classes: Sequence[int]) -> str:
    """Return the colours of classes."""
    keys = "".join(f'<span class="key"><i class="{colour(c)}"></i>{bdi(model.classes[c])}</span>' for c in classes)
    return f'<p class="legend">{keys}</p>'


def drawn_classes(model: Model) -> list[int]:
    """Return the positions of the classes that have a colour: the most frequent ones, in their order."""
    return sorted(np.argsort(-model.class_weights.rows, kind="stable")[:N_COLOURS].tolist())


def distributions_section(model: Model, columns: Sequence[str]) -> str:
    """Return the distribution of each column in each class, those that matter most first."""
    curves = {curve.name: curve for curve in column_curves(model) if len(curve.grid.values) > 1}
    names = [name for name in columns if name in curves][:MAX_PANELS]
    if not names:
        return ""
    classes = drawn_classes(model)
    figures = []
    for name in names:
        curve = curves[name]
        svg = draw_distribution(curve, classes, f"{name} by class")
        marks = curve.grid.marks
        caption = ""
        if marks is not None and len(marks) > MAX_VALUES:
            caption = (
                f"<figcaption>the {len(most_frequent_values(curve))} most frequent of {len(marks)} values</figcaption>"
            )
        figures.append(f"<figure><h3>{bdi(name)}</h3>{svg}{caption}</figure>")
    cut = (
        f" Shown are the {len(classes)} most frequent of {len(model.classes)} classes."
        if len(classes) < len(model.classes)
        else ""
    )
    return section(
        "How the columns differ between classes",
        "Bars are the share of each value within a class, curves its density, as the model has estimated them." + cut,
        legend(model, classes),
        f'<div class="multiples">{"".join(figures)}</div>',
    )


def nomogram_section(model: Model) -> str:
    """Return the model as scales of points, with a table of the same points."""
    first, second = order_of_classes(model)[:2]
    title = "The model on one page"
    try:
        nomogram = make_nomogram(model, model.classes[first], model.classes[second], top=10)
    except InputError as error:
        return section(title, f"There is no nomogram of this model: {escape(str(error))}")
    if not nomogram.axes:
        return ""
    pictures = both_widths(
        (name, draw_nomogram(nomogram, first, width, "Nomogram"))
        for name, width in (("wide", WIDE), ("narrow", NARROW))
    )
    rows = [
        (bdi(axis.column), bdi(mark), f"{(x - axis.minimum) * nomogram.unit:.0f}", number(x))
        for axis in nomogram.axes
        for mark, x in list(zip(axis.marks, axis.log_odds.tolist(), strict=True))[:30]
    ]
    points = table(("column", "value", "points", "log-odds"), rows, (2, 3))
    details = f"<details><summary>The same as a table</summary>{points}</details>"
    pair = f"{dot(first)}{bdi(nomogram.of)} against {dot(second)}{bdi(nomogram.against)}"
    hidden = f" Columns without a scale count as unknown: {len(nomogram.hidden)}." if nomogram.hidden else ""
    return section(
        title,
        "Find the points of each value, add them, and read the probability below the total. ○: value unknown."
        f"{hidden} {nomogram.note}",
        f'<p class="legend">{pair}</p>',
        pictures,
        details,
    )


def rows_section(model: Model, explained: Sequence[tuple[str, Label | None, Explanation]], lead: str) -> str:
    """Return rows with their explanations."""
    parts = [_row(model, title, truth, explanation) for title, truth, explanation in explained]
    return section("A few rows, explained", lead, *parts) if parts else ""


def _row(model: Model, title: str, truth: Label | None, e: Explanation) -> str:
    position = {label: c for c, label in enumerate(model.classes)}
    of, against = position[e.of], position[e.against]
    layout = Layout.of(e, 12)

    def log_odds_bar(x: float) -> str:
        share = 50 * min(abs(x), layout.longest) / layout.longest
        start, c = (50 - share, against) if x < 0 else (50.0, of)
        return f'<div class="diverging"><i class="{colour(c)}" style="left:{start:.2f}%;width:{share:.2f}%"></i></div>'

    no_weight = ("", "") if layout.has_weights else ()
    rows: list[tuple[str, ...]] = [
        (name, "", log_odds_bar(x), *no_weight, number(x), "", "") for name, x in layout.starts(e)
    ]
    for line in layout.shown:
        occurs, note = occurrences_and_note(line)
        value = bdi(line.shown + occurs) + (f'<span class="note">{escape(note)}</span>' if note else "")
        counts = " · ".join(
            filter(None, (format_counts(side, line.is_date) for side in (line.counts, line.counts_against)))
        )
        weight = tuple(cell.replace(" ", "&nbsp;") for cell in evidence_and_weight(line)) if layout.has_weights else ()
        rows.append(
            (
                bdi(line.column),
                value,
                log_odds_bar(line.log_odds),
                *weight,
                number(line.log_odds),
                interval(line),
                counts,
            )
        )
    for group in layout.others:
        name = bdi(group.text) if group.text is not None else str(group)
        rows.append(
            (
                name,
                str(group) if group.text is not None else "",
                log_odds_bar(group.log_odds),
                *no_weight,
                number(group.log_odds),
                "",
                "",
            )
        )
    rows += [(name, "", log_odds_bar(x), *no_weight, number(x), "", "") for name, x in layout.ends(e)]
    rows.append(("<b>total</b>", "", "", *no_weight, f"<b>{number(e.total)}</b>", "", ""))
    head = (
        "column",
        "value",
        "",
        *(("evidence", "weight") if layout.has_weights else ()),
        "log-odds",
        "95 %",
        "counts",
    )
    numbers = range(3, len(head))
    known = "" if truth is None else f" Its class is {dot(position.get(truth, 0))}{bdi(truth)}."
    notes = [*format_together(e), *([LEFT_OUT] if e.is_left_out else [])]
    notes += [format_counterfactual(e.counterfactual)] if e.counterfactual is not None else []
    return (
        f'<div class="row"><h3>{escape(title)}</h3><p class="answer">'
        f"Predicted {dot(position[e.answer])}<b>{bdi(e.answer)}</b> with probability "
        f"{e.posterior[e.answer]:.3g}.{known}</p>"
        f'<p class="legend">log-odds: <span class="key"><i class="{colour(against)}"></i>← {bdi(e.against)}</span>'
        f'<span class="key"><i class="{colour(of)}"></i>{bdi(e.of)} →</span></p>'
        f"{table(head, rows, numbers, 'explained')}"
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
        + "</div>"
    )


def settings_section(model: Model, n_used: int) -> str:
    """Return how the model was made: prior, tuning, how many columns are used, offsets."""
    tuning = model.tuning
    if tuning is None:
        kind = "not tuned: plain Naive Bayes"
    elif tuning.is_textbook:
        kind = "tuned; plain Naive Bayes stays, because nothing else was better by more than chance"
    else:
        kind = f"tuned by leave-one-out on {tuning.rows:,} rows"
    facts = [
        ("tuning", kind),
        ("class prior", "uniform" if model.prior.uniform else "given" if model.prior.given else "class shares"),
        ("columns", f"{len(model.schema.names):,}, of which {n_used:,} {'is' if n_used == 1 else 'are'} used"),
        ("rows", f"{int(model.class_weights.rows.sum()):,}"),
    ]
    offsets = [] if tuning is None else [(label, b) for label, b in tuning.offsets.items() if b]
    parts = [table(("setting", "value"), [(name, escape(value)) for name, value in facts])]
    if tuning is not None and (together := tuning.describe_together()):
        parts.append(f'<p class="note">{escape(together)}</p>')
    if offsets:
        position = {label: c for c, label in enumerate(model.classes)}
        rows = [(f"{dot(position.get(label, 0))}{bdi(label)}", number(b)) for label, b in offsets[:MAX_CLASSES]]
        if (n_more := len(offsets) - MAX_CLASSES) > 0:
            rows.append((f"and {n_more:,} more", ""))
        parts.append(
            f'<div style="margin-top:1.5rem"><h3>Class offsets</h3>{table(("class", "offset"), rows, (1,))}</div>'
        )
    return section("How it was made", "Settings that the predictions depend on.", *parts)


def provenance_section(entries: Sequence[Entry]) -> str:
    """Return the log of the model file: which rows were counted, when, and from where."""
    if not entries:
        return ""
    sign = {1: "+", -1: "−", 0: ""}
    rows = [
        (
            escape(entry.written[:16].replace("T", " ")),
            escape(entry.act) + ("" if entry.is_current else " (undone)"),
            f"{sign[entry.sign]}{entry.rows:,}" if entry.rows else "",
            bdi(entry.source) if entry.source else "",
            " ".join(bdi(part) for part in (entry.note, entry.comment) if part),
        )
        for entry in entries[-MAX_ENTRIES:]
    ]
    n_more = len(entries) - MAX_ENTRIES
    more = f'<p class="note">and {n_more:,} earlier entries</p>' if n_more > 0 else ""
    return section(
        "Where the rows came from",
        "The log of the model file. Times are UTC.",
        table(("time", "entry", "rows", "source", "note"), rows, (2,), "log"),
        more,
    )


def mean_contributions(names: Sequence[str], contributions: Floats) -> list[Worth]:
    """Return the mean size of each column's contribution, the largest first."""
    with np.errstate(invalid="ignore"):
        size = (
            np.nan_to_num(np.abs(contributions), posinf=0.0).mean(axis=0)
            if len(contributions)
            else np.zeros(len(names))
        )
    order = np.argsort(-size, kind="stable").tolist()
    return [Worth(names[j], float(size[j])) for j in order if size[j] > 0]
