"""An explanation as HTML for notebooks and reports: one table with bars, no script, everything escaped."""

from __future__ import annotations

import math
from html import escape

from naively.data.names import listed
from naively.explanation.explanation import Contribution, Explanation
from naively.explanation.render_text import behind_words, number, shortened

__all__ = ["as_html", "tinted_html"]

LINES = 25  # contributions shown; `to_dict()` has all
FOR, AGAINST = "#2166ac", "#b35806"  # blue and orange: told apart by the colour-blind too


def as_html(explanation: Explanation, lines: int = LINES) -> str:
    """A heading, the tinted texts, the table, and what would turn the answer."""
    e = explanation
    p = e.posterior[e.answer]
    parts = [
        f"<p>answer <b>{escape(shortened(e.answer))}</b>, p = {p:.4g}; log-odds of "
        f'<b style="color:{FOR}">{escape(shortened(e.of))}</b> against '
        f'<b style="color:{AGAINST}">{escape(shortened(e.against))}</b></p>'
    ]
    parts += [tinted_html(column, pieces) for column, pieces in (e.texts or {}).items()]
    parts.append(_table(e, lines))
    if e.turn is not None:
        changes = listed((escape(shortened(str(change), 60)) for change in e.turn.changes), 12, "; ")
        turned = f"{escape(shortened(e.turn.answer))}, p = {e.turn.probability:.4g}"
        parts.append(f"<p>What would turn the answer to {turned}: {changes}.</p>")
    return f'<div class="naively-explanation">{"".join(parts)}</div>'


def tinted_html(column: str, pieces: tuple[tuple[str, float], ...]) -> str:
    """A text with its words tinted by what they say: the stronger, the darker."""
    most = max((abs(odds) for _, odds in pieces if math.isfinite(odds)), default=0.0) or 1.0
    out = []
    for piece, odds in pieces:
        strength = min(abs(odds) / most, 1.0)
        if strength < 0.02:
            out.append(escape(piece))
            continue
        colour = "33,102,172" if odds > 0 else "179,88,6"
        out.append(
            f'<span style="background:rgba({colour},{0.08 + 0.5 * strength:.2f})" title="{number(odds)}">'
            f"{escape(piece)}</span>"
        )
    return f'<p style="white-space:pre-wrap"><b>{escape(shortened(column))}</b>: {"".join(out)}</p>'


def _table(e: Explanation, lines: int) -> str:
    shown = e.contributions[:lines]
    finite = [abs(x) for x in (e.prior, *(c.log_odds for c in shown)) if math.isfinite(x)]
    most = max(finite, default=0.0) or 1.0
    titles = ("column", "value", "", "log-odds", "95 %", f"in {shortened(e.of, 20)}", f"in {shortened(e.against, 20)}")
    head = "".join(f'<th style="text-align:left">{escape(title)}</th>' for title in titles)
    rows = [_row("prior", "", e.prior, most)]
    rows += [_line(line, most) for line in shown]
    n_rest = e.n_rest + len(e.contributions) - len(shown)
    if n_rest:
        rest = math.fsum((e.rest, *(c.log_odds for c in e.contributions[lines:] if math.isfinite(c.log_odds))))
        rows.append(_row(f"{n_rest} more", "", rest, most))
    total = f"<tr><td><b>total</b></td><td></td><td></td><td><b>{number(e.total)}</b></td></tr>"
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(rows)}{total}</table>'


def _line(line: Contribution, most: float) -> str:
    times = f" ×{line.count:g}" if line.count not in (0.0, 1.0) and line.shown == str(line.value) else ""
    note = f" ({line.note})" if line.note and line.note != line.shown else ""
    spread = "" if line.low is None or line.high is None else f"{number(line.low)} … {number(line.high)}"
    behind = (behind_words(line.of), behind_words(line.against))
    return _row(shortened(line.column), shortened(line.shown, 40) + times + note, line.log_odds, most, spread, *behind)


def _row(column: str, value: str, odds: float, most: float, *rest: str) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in rest)
    return (
        f"<tr><td>{escape(column)}</td><td>{escape(value)}</td><td>{_bar(odds, most)}</td>"
        f'<td style="text-align:right">{number(odds)}</td>{cells}</tr>'
    )


def _bar(odds: float, most: float) -> str:
    """A bar to the left or right of zero, in an inline picture."""
    length = 60 * min(abs(odds), most) / most
    start, colour = (60 - length, AGAINST) if odds < 0 else (60.0, FOR)
    return (
        '<svg width="120" height="12" role="img"><line x1="60" x2="60" y1="0" y2="12" stroke="#888"/>'
        f'<rect x="{start:.1f}" y="2" width="{length:.1f}" height="8" fill="{colour}"/></svg>'
    )
