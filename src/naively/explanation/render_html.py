"""Render an explanation as HTML for notebooks and reports: one table with bars, no script, everything escaped."""

from html import escape

from naively.explanation.explanation import Contribution, Explanation
from naively.explanation.render_text import (
    Layout,
    format_counterfactual,
    format_counts,
    interval,
    largest,
    number,
    occurrences_and_note,
    shorten,
)
from naively.families.evidence import Pieces

FOR, AGAINST = "#2166ac", "#b35806"  # blue and orange, which the colour-blind can tell apart
FOR_RGB, AGAINST_RGB = "33,102,172", "179,88,6"
BAR_WIDTH = 60  # pixels on either side of zero


def as_html(explanation: Explanation) -> str:
    """Return the heading, the coloured texts, the table, and what would change the prediction."""
    e = explanation
    parts = [
        f"<p>answer <b>{escape(shorten(e.answer))}</b>, p = {e.posterior[e.answer]:.4g}; log-odds of "
        f'<b style="color:{FOR}">{escape(shorten(e.of))}</b> against '
        f'<b style="color:{AGAINST}">{escape(shorten(e.against))}</b></p>'
    ]
    parts += [coloured_html(column, pieces) for column, pieces in (e.texts or {}).items()]
    parts.append(_table(e))
    if e.counterfactual is not None:
        parts.append(f"<p>{escape(format_counterfactual(e.counterfactual))}</p>")
    return f'<div class="naively-explanation">{"".join(parts)}</div>'


def coloured_html(column: str, pieces: Pieces) -> str:
    """Return a text whose words are coloured by their log-odds: the stronger, the darker."""
    strongest = largest(tuple(odds for _, odds in pieces))
    spans = []
    for piece, odds in pieces:
        strength = min(abs(odds) / strongest, 1.0)
        if strength < 0.02:
            spans.append(escape(piece))
            continue
        colour = f"rgba({FOR_RGB if odds > 0 else AGAINST_RGB},{0.08 + 0.5 * strength:.2f})"
        spans.append(f'<span style="background:{colour}" title="{number(odds)}">{escape(piece)}</span>')
    return f'<p style="white-space:pre-wrap"><b>{escape(shorten(column))}</b>: {"".join(spans)}</p>'


def _table(e: Explanation) -> str:
    layout = Layout.of(e)
    titles = ("column", "value", "", "log-odds", "95 %", f"in {shorten(e.of, 20)}", f"in {shorten(e.against, 20)}")
    head = "".join(f'<th style="text-align:left">{escape(title)}</th>' for title in titles)
    rows = [_row("prior", "", e.prior, layout.longest)]
    rows += [_contribution(line, layout.longest) for line in layout.shown]
    if layout.n_rest:
        rows.append(_row(f"{layout.n_rest} more", "", layout.rest, layout.longest))
    total = f"<tr><td><b>total</b></td><td></td><td></td><td><b>{number(e.total)}</b></td></tr>"
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(rows)}{total}</table>'


def _contribution(line: Contribution, longest: float) -> str:
    occurs, note = occurrences_and_note(line)
    value = shorten(line.shown, 40) + occurs + (f" ({note})" if note else "")
    counts = format_counts(line.counts), format_counts(line.counts_against)
    return _row(shorten(line.column), value, line.log_odds, longest, interval(line), *counts)


def _row(column: str, value: str, log_odds: float, longest: float, *cells: str) -> str:
    more_cells = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return (
        f"<tr><td>{escape(column)}</td><td>{escape(value)}</td><td>{_bar(log_odds, longest)}</td>"
        f'<td style="text-align:right">{number(log_odds)}</td>{more_cells}</tr>'
    )


def _bar(log_odds: float, longest: float) -> str:
    """Return a bar to the left or right of zero, as an inline picture."""
    length = BAR_WIDTH * min(abs(log_odds), longest) / longest
    start, colour = (BAR_WIDTH - length, AGAINST) if log_odds < 0 else (float(BAR_WIDTH), FOR)
    return (
        f'<svg width="{2 * BAR_WIDTH}" height="12" role="img">'
        f'<line x1="{BAR_WIDTH}" x2="{BAR_WIDTH}" y1="0" y2="12" stroke="#888"/>'
        f'<rect x="{start:.1f}" y="2" width="{length:.1f}" height="8" fill="{colour}"/></svg>'
    )
