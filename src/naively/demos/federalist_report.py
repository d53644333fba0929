"""The report of the Federalist Papers: one HTML file with its pictures in it, no script and no network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import naively
from naively.demos.papers import Paper, table

if TYPE_CHECKING:
    from naively.demos.federalist import Word

__all__ = ["report"]

COLOURS = {"Hamilton": "#0072b2", "Madison": "#d55e00", "joint": "#009e73", "disputed": "#000000"}
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.6em 0}td,th{padding:.15em .7em;text-align:right}
td:first-child,th:first-child{text-align:left}th{border-bottom:1px solid #888}
summary{cursor:pointer}svg{max-width:100%;height:auto}"""


def report(
    model: naively.Model, tuned: naively.Model, papers: Sequence[Paper], words: Sequence[Word], without: Sequence[float]
) -> str:
    """The whole page; `words` are the most telling ones, `without` the leave-one-out log-odds of the known papers."""
    unknown = [paper for paper in papers if paper.status != "known"]
    known = [paper for paper in papers if paper.author in model.classes]
    wrong = [p for p, odds in zip(known, without, strict=True) if (odds > 0) != (p.author == "Hamilton")]
    parts = [
        "<h1>Who wrote the disputed Federalist Papers?</h1>",
        f"<p>A Naive Bayes model of the {len(model.schema.names)} stop words that Hamilton and Madison used, counted "
        f"in the {len(known)} papers whose author is known. Every number below is computed from the counts that come "
        "with naively.</p>",
        "<h2>p(Hamilton) of every paper</h2>",
        _scatter(model, [paper for paper in papers if paper.author != "Jay"]),
        "<h2>The class priors</h2>",
        _priors(model),
        "<h2>The most telling words</h2>",
        _words(words),
        "<h2>Is it any good?</h2>",
        "<p>Each known paper was taken out of the counts and asked for its author: "
        f"{len(known) - len(wrong)} of {len(known)} are right "
        f"(wrong: {', '.join(f'No. {paper.number}' for paper in wrong) or 'none'}).</p>",
        "<h2>The papers in question</h2>",
        _answers(model, tuned, unknown),
        "<h2>Every answer in full</h2>",
        *_explanations(model, unknown),
    ]
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>The Federalist Papers</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _row(cells: Sequence[object], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def _priors(model: naively.Model) -> str:
    rows = [_row(("author", "papers", "p", "log p"), "th")]
    for author, n, log_p in zip(model.classes, model.class_counts, model.log_prior, strict=True):
        rows.append(_row((author, f"{n:.0f}", f"{math.exp(log_p):.3f}", f"{log_p:.3g}")))
    return f"<table>{''.join(rows)}</table>"


def _words(words: Sequence[Word]) -> str:
    """A bar for each word: what one occurrence adds to the log-odds, to the right for Hamilton."""
    most = max((abs(word.log_odds) for word in words), default=1.0)
    lines = []
    for i, word in enumerate(words):
        length = 200 * abs(word.log_odds) / most
        side, colour = (330, COLOURS["Hamilton"]) if word.log_odds > 0 else (330 - length, COLOURS["Madison"])
        y = 22 * i
        told = f"{word.log_odds:+.2f}; Hamilton {word.hamilton:,}, Madison {word.madison:,} times"
        lines.append(
            f'<text x="110" y="{y + 15}" text-anchor="end">{escape(word.word)}</text>'
            f'<rect x="{side:.1f}" y="{y + 4}" width="{length:.1f}" height="14" fill="{colour}"/>'
            f'<text x="545" y="{y + 15}" font-size="12">{escape(told)}</text>'
        )
    axis = f'<line x1="330" x2="330" y1="0" y2="{22 * len(words)}" stroke="#888"/>'
    size = f'viewBox="0 0 840 {22 * len(words) + 4}" width="840"'
    said = "<p>What one occurrence adds to the log-odds: to the left for Madison, to the right for Hamilton.</p>"
    return f'{said}<svg {size} role="img" font-size="14">{axis}{"".join(lines)}</svg>'


def _scatter(model: naively.Model, papers: Sequence[Paper]) -> str:
    """Number of the paper against p(Hamilton), coloured by author, as document 002 plots it."""
    dots = []
    for paper, p in zip(papers, model.posterior(table(papers, model.schema.names))[:, 0].tolist(), strict=True):
        who = paper.author or paper.status
        x, y = 60 + 8.8 * paper.number, 20 + 300 * (1 - p)
        dots.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[who]}" fill-opacity="0.75">'
            f"<title>No. {paper.number}, {escape(who)}: p(Hamilton) = {p:.3g}</title></circle>"
        )
    lines = []
    for p in (0, 0.25, 0.5, 0.75, 1):
        y = 20 + 300 * (1 - p)
        lines.append(f'<line x1="60" x2="820" y1="{y}" y2="{y}" stroke="#ddd"/>')
        lines.append(f'<text x="50" y="{y + 5}" text-anchor="end">{p:g}</text>')
    lines += [f'<text x="{60 + 8.8 * n:.1f}" y="342" text-anchor="middle">{n}</text>' for n in range(5, 86, 10)]
    key = [
        f'<circle cx="{90 + 150 * i}" cy="386" r="5" fill="{colour}"/><text x="{102 + 150 * i}" y="391">{who}</text>'
        for i, (who, colour) in enumerate(COLOURS.items())
    ]
    axis = '<text x="440" y="364" text-anchor="middle">number of the paper</text>'
    body = "".join((*lines, *dots, *key, axis))
    said = "<p>The known papers were counted; point at a dot for its numbers.</p>"
    return f'{said}<svg viewBox="0 0 840 400" width="840" role="img" font-size="13">{body}</svg>'


def _answers(model: naively.Model, tuned: naively.Model, papers: Sequence[Paper]) -> str:
    rows = [_row(("paper", "status", "log-odds for Hamilton", "p textbook", "p calibrated"), "th")]
    asked = table(papers, model.schema.names)
    found = zip(
        papers,
        model.log_odds(asked, of="Hamilton").tolist(),
        model.posterior(asked)[:, 0].tolist(),
        tuned.posterior(asked)[:, 0].tolist(),
        strict=True,
    )
    for paper, odds, p, calibrated in found:
        rows.append(_row((f"No. {paper.number}", paper.status, f"{odds:+.2f}", f"{p:.3g}", f"{calibrated:.3g}")))
    return f"<p>p is that of Hamilton.</p><table>{''.join(rows)}</table>"


def _explanations(model: naively.Model, papers: Sequence[Paper]) -> list[str]:
    explained = model.explain(table(papers, model.schema.names), of="Hamilton", against="Madison", top=12)
    return [
        f"<details><summary>No. {paper.number} ({escape(paper.status)})</summary>{found._repr_html_()}</details>"
        for paper, found in zip(papers, explained, strict=True)
    ]
