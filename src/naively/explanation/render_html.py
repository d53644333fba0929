"""Render an explanation as HTML for notebooks and reports: one table with bars, no script, everything escaped."""

from html import escape

from naively.explanation.explanation import Contribution, Explanation
from naively.explanation.palette import GREY, Pair
from naively.explanation.render_text import (
    LEFT_OUT,
    Layout,
    evidence_and_weight,
    format_counterfactual,
    format_counts,
    format_together,
    interval,
    largest,
    number,
    occurrences_and_note,
    shorten,
)
from naively.families.evidence import Pieces

BAR_WIDTH = 60  # pixels on either side of zero
CELL = "padding:2px 8px;white-space:nowrap"


def as_html(explanation: Explanation) -> str:
    """Return the heading, the coloured texts, the table, and what would change the prediction."""
    e = explanation
    colour_for, colour_against = e.colours
    parts = [
        f"<p>answer <b>{escape(shorten(e.answer))}</b>, p = {e.posterior[e.answer]:.4g}; log-odds of "
        f'<b style="color:{colour_for.terminal}">{escape(shorten(e.of))}</b> against '
        f'<b style="color:{colour_against.terminal}">{escape(shorten(e.against))}</b></p>'
    ]
    parts += [coloured_html(column, pieces, e.colours) for column, pieces in (e.texts or {}).items()]
    parts.append(_table(e))
    parts += [f"<p>{escape(line.strip())}</p>" for line in format_together(e)]
    if e.is_left_out:
        parts.append(f"<p>{LEFT_OUT}</p>")
    if e.counterfactual is not None:
        parts.append(f"<p>{escape(format_counterfactual(e.counterfactual))}</p>")
    return f'<div class="naively-explanation">{"".join(parts)}</div>'


def coloured_html(column: str, pieces: Pieces, colours: Pair) -> str:
    """Return a text whose words are coloured by their log-odds: the stronger, the darker."""
    strongest = largest(tuple(odds for _, odds in pieces))
    spans = []
    for piece, odds in pieces:
        strength = min(abs(odds) / strongest, 1.0)
        if strength < 0.02:
            spans.append(escape(piece))
            continue
        colour = f"{colours[odds < 0].terminal}{round(255 * (0.08 + 0.5 * strength)):02x}"  # with its opacity
        spans.append(f'<span style="background:{colour}" title="{number(odds)}">{escape(piece)}</span>')
    return f'<p style="white-space:pre-wrap"><b>{escape(shorten(column))}</b>: {"".join(spans)}</p>'


def _table(e: Explanation) -> str:
    layout = Layout.of(e)
    weights = ("evidence", "weight") if layout.has_weights else ()
    titles = ("column", "value", "", *weights, "log-odds", "95 %")
    titles += tuple(f"in {shorten(label, 20)}" for label in (e.of, e.against))
    head = "".join(f'<th style="text-align:left;{CELL}">{escape(title)}</th>' for title in titles)
    no_weight = ("",) * len(weights)
    rows = [_row(name, "", log_odds, layout, no_weight) for name, log_odds in layout.starts(e)]
    rows += [_contribution(line, layout) for line in layout.shown]
    rows += [
        _row(
            *((shorten(group.text), str(group)) if group.text is not None else (str(group), "")),
            group.log_odds,
            layout,
            no_weight,
        )
        for group in layout.others
    ]
    rows += [_row(name, "", log_odds, layout, no_weight) for name, log_odds in layout.ends(e)]
    total = "<td></td>" * (2 + len(weights)) + f'<td style="text-align:right;{CELL}"><b>{number(e.total)}</b></td>'
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse"><tr>{head}</tr>{"".join(rows)}'
        f'<tr><td style="{CELL}"><b>total</b></td>{total}</tr></table></div>'
    )


def _contribution(line: Contribution, layout: Layout) -> str:
    occurs, note = occurrences_and_note(line)
    value = shorten(line.shown, 40) + occurs + (f" ({note})" if note else "")
    counts = format_counts(line.counts, line.is_date), format_counts(line.counts_against, line.is_date)
    weight = evidence_and_weight(line) if layout.has_weights else ()
    return _row(shorten(line.column), value, line.log_odds, layout, weight, interval(line), *counts)


def _row(column: str, value: str, log_odds: float, layout: Layout, weight: tuple[str, ...], *cells: str) -> str:
    names = "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in (column, value))
    numbers = "".join(
        f'<td style="text-align:right;{CELL}">{escape(cell)}</td>' for cell in (*weight, number(log_odds))
    )
    others = "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in cells)
    return f"<tr>{names}<td>{_bar(log_odds, layout)}</td>{numbers}{others}</tr>"


def _bar(log_odds: float, layout: Layout) -> str:
    """Return a bar to the left or right of zero, as an inline picture."""
    length = BAR_WIDTH * min(abs(log_odds), layout.longest) / layout.longest
    colour = layout.colours[log_odds < 0].terminal
    start = BAR_WIDTH - length if log_odds < 0 else float(BAR_WIDTH)
    return (
        f'<svg width="{2 * BAR_WIDTH}" height="12" role="img">'
        f'<line x1="{BAR_WIDTH}" x2="{BAR_WIDTH}" y1="0" y2="12" stroke="{GREY}"/>'
        f'<rect x="{start:.1f}" y="2" width="{length:.1f}" height="8" fill="{colour}"/></svg>'
    )
