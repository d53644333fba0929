"""The report of the Federalist Papers: one HTML file with its pictures in it, without scripts or network."""

import math
from collections.abc import Sequence
from html import escape

import naively
from naively.demos.papers import Paper, Word, table
from naively.explanation.nomogram import round_numbers
from naively.explanation.palette import GREY, GRID, INK, PAPER

COLOURS = dict(zip(("Hamilton", "Madison", "joint", "disputed"), PAPER, strict=False))
STYLE = f"""body{{font:15px/1.5 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:{INK}}}
table{{border-collapse:collapse;margin:.6em 0}}td,th{{padding:.15em .7em;text-align:right}}
td:first-child,th:first-child{{text-align:left}}th{{border-bottom:1px solid {GREY}}}
summary{{cursor:pointer}}svg{{max-width:100%;height:auto}}"""
HEAD = f'<meta charset="utf-8"><title>The Federalist Papers</title><style>{STYLE}</style>'


def report(
    model: naively.Model,
    tuned: naively.Model,
    papers: Sequence[Paper],
    words: Sequence[Word],
    left_out: Sequence[float],
) -> str:
    """Return the page.

    Parameters
    ----------
    model, tuned
        Plain Naive Bayes, and the tuned model.
    papers
        All papers.
    words
        The most telling words.
    left_out
        The leave-one-out log-odds of the papers whose author is known.
    """
    unknown = [paper for paper in papers if paper.status != "known"]
    known = [paper for paper in papers if paper.author in model.classes]
    wrong = [p for p, odds in zip(known, left_out, strict=True) if (odds > 0) != (p.author == "Hamilton")]
    parts = [
        "<h1>Who wrote the disputed Federalist Papers?</h1>",
        f"<p>A Naive Bayes model of the {len(model.schema.names)} stop words that Hamilton and Madison used, trained "
        f"on the {len(known)} papers whose author is known. All numbers are computed from the counts that come with "
        "naively.</p>",
        "<h2>Hamilton or Madison? The log-odds of every paper</h2>",
        _scatter(model, [paper for paper in papers if paper.author != "Jay"]),
        "<h2>The class priors</h2>",
        _priors(model),
        "<h2>The most telling words</h2>",
        _words(words),
        "<h2>How good is it?</h2>",
        "<p>Each known paper was taken out of the counts and its author predicted: "
        f"{len(known) - len(wrong)} of {len(known)} are right "
        f"(wrong: {', '.join(f'No. {paper.number}' for paper in wrong) or 'none'}).</p>",
        "<h2>The unknown papers</h2>",
        _predictions(model, tuned, unknown),
        *_explanations(model, unknown),
    ]
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{HEAD}</head><body>\n{body}\n</body></html>\n'


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = ["".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows]
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in (head, *cells))}</table>"


def _priors(model: naively.Model) -> str:
    priors = zip(model.classes, model.class_counts, model.log_prior, strict=True)
    rows = [(author, f"{n:.0f}", f"{math.exp(log_p):.3f}", f"{log_p:.3g}") for author, n, log_p in priors]
    return _table(("author", "papers", "p", "log p"), rows)


def _words(words: Sequence[Word]) -> str:
    """Return a bar for each word: the log-odds of one occurrence, to the right for Hamilton."""
    largest = max((abs(word.log_odds) for word in words), default=1.0)
    lines = []
    for i, word in enumerate(words):
        length = 200 * abs(word.log_odds) / largest
        x, colour = (330.0, COLOURS["Hamilton"]) if word.log_odds > 0 else (330 - length, COLOURS["Madison"])
        y = 22 * i
        note = f"{word.log_odds:+.2f}; Hamilton {word.hamilton:,}, Madison {word.madison:,} times"
        lines.append(
            f'<text x="110" y="{y + 15}" text-anchor="end">{escape(word.word)}</text>'
            f'<rect x="{x:.1f}" y="{y + 4}" width="{length:.1f}" height="14" fill="{colour}"/>'
            f'<text x="545" y="{y + 15}" font-size="12">{escape(note)}</text>'
        )
    axis = f'<line x1="330" x2="330" y1="0" y2="{22 * len(words)}" stroke="{GREY}"/>'
    size = f'viewBox="0 0 840 {22 * len(words) + 4}" width="840"'
    caption = "<p>The log-odds that one occurrence adds: to the left for Madison, to the right for Hamilton.</p>"
    return f'{caption}<svg {size} role="img" font-size="14">{axis}{"".join(lines)}</svg>'


def _scatter(model: naively.Model, papers: Sequence[Paper]) -> str:
    """Return a plot of the log-odds of Hamilton by number of the paper, coloured by author."""
    rows = table(papers, model.schema.names)
    log_odds = model.log_odds(rows, of="Hamilton").tolist()
    ticks = round_numbers(min(0.0, *log_odds), max(0.0, *log_odds)).tolist()
    low, high = min(ticks[0], *log_odds), max(ticks[-1], *log_odds)

    def position(number: float, log_odds: float) -> tuple[float, float]:
        return round(60 + 8.8 * number, 1), round(20 + 300 * (high - log_odds) / (high - low), 1)

    marks = []
    for tick in ticks:
        _, y = position(0, tick)
        marks.append(f'<line x1="60" x2="820" y1="{y}" y2="{y}" stroke="{GRID if tick else GREY}"/>')
        marks.append(f'<text x="50" y="{y + 5}" text-anchor="end">{f"{tick:+g}" if tick else "0"}</text>')
    marks += [f'<text x="{position(n, 0)[0]}" y="342" text-anchor="middle">{n}</text>' for n in range(5, 86, 10)]
    for paper, odds, p in zip(papers, log_odds, model.posterior(rows)[:, 0].tolist(), strict=True):
        author, (x, y) = paper.author or paper.status, position(paper.number, odds)
        marks.append(
            f'<circle cx="{x}" cy="{y}" r="5" fill="{COLOURS[author]}" fill-opacity="0.75">'
            f"<title>No. {paper.number}, {escape(author)}: log-odds {odds:+.1f}, p(Hamilton) = {p:.3g}</title></circle>"
        )
    for i, (author, colour) in enumerate(COLOURS.items()):
        x = 90 + 150 * i
        marks.append(f'<circle cx="{x}" cy="386" r="5" fill="{colour}"/><text x="{x + 12}" y="391">{author}</text>')
    marks.append('<text x="440" y="364" text-anchor="middle">number of the paper</text>')
    caption = (
        "<p>The log-odds of Hamilton against Madison: above 0 for Hamilton, below it for Madison. The model was "
        "trained on the known papers. Point at a dot for its numbers.</p>"
    )
    return f'{caption}<svg viewBox="0 0 840 400" width="840" role="img" font-size="13">{"".join(marks)}</svg>'


def _predictions(model: naively.Model, tuned: naively.Model, papers: Sequence[Paper]) -> str:
    x = table(papers, model.schema.names)
    columns = (model.log_odds(x, of="Hamilton"), model.posterior(x)[:, 0], tuned.posterior(x)[:, 0])
    rows = [
        (f"No. {paper.number}", paper.status, f"{odds:+.2f}", f"{plain:.3g}", f"{calibrated:.3g}")
        for paper, odds, plain, calibrated in zip(papers, *columns, strict=True)
    ]
    header = ("paper", "status", "log-odds for Hamilton", "plain p(Hamilton)", "calibrated p(Hamilton)")
    return _table(header, rows)


def _explanations(model: naively.Model, papers: Sequence[Paper]) -> list[str]:
    explanations = model.explain(
        table(papers, model.schema.names), of="Hamilton", against="Madison", top=12, leave_out=False
    )
    return [
        f"<details><summary>No. {paper.number} ({escape(paper.status)})</summary>{explanation._repr_html_()}</details>"
        for paper, explanation in zip(papers, explanations, strict=True)
    ]
