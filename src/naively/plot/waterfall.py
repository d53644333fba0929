"""The evidence of one answer as a waterfall: from the prior, line by line, to the total."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from naively.explanation import Explanation
from naively.explanation.render_text import number
from naively.plot.style import AGAINST, FOR, GREY, empty_figure, name_of, names_of, plain_axes, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["waterfall"]


def waterfall(explanation: Explanation, most: int = 15) -> Figure:
    """How the log-odds of an answer come about, the strongest contributions first; the rest is one bar.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain"], "wind": [1.0, 2.0, 9.0]}, ["yes", "yes", "no"])
    >>> figure = waterfall(model.explain({"sky": ["rain"], "wind": [8.0]})[0])
    """
    e = explanation
    steps = [
        (f"{name_of(c.column)} = {name_of(c.shown, 28)}" if c.shown else name_of(c.column), c.log_odds)
        for c in e.contributions
        if c.log_odds != 0
    ]
    shown, cut = steps[:most], steps[most:]
    rest, n_rest = math.fsum((e.rest, *(x for _, x in cut if math.isfinite(x)))), e.n_rest + len(cut)
    bars = [("prior", e.prior), *shown] + ([(f"{n_rest} more", rest)] if n_rest else [])
    finite = [abs(x) for _, x in bars if math.isfinite(x)]
    beyond = 2 * math.fsum(finite) + 1  # an infinite log-odds is a bar as long as all others together
    figure = empty_figure(8.5, 1.6 + 0.3 * (len(bars) + 1))
    axes = figure.add_subplot()
    at, ends = 0.0, [0.0]
    for i, (_, odds) in enumerate(bars):
        length = odds if math.isfinite(odds) else math.copysign(beyond, odds)
        axes.barh(i, length, left=at, height=0.62, color=FOR if odds >= 0 else AGAINST)
        axes.annotate(
            number(odds), (max(at, at + length), i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
        )
        at += length
        ends.append(at)
        axes.plot([at, at], [i - 0.31, i + 1.31], color=GREY, linewidth=0.7)
    total = e.total if math.isfinite(e.total) else at
    axes.barh(len(bars), total, height=0.62, color=FOR if e.total >= 0 else AGAINST, hatch="//", edgecolor="white")
    p = e.posterior[e.of]
    told = f"{number(e.total)}, p = " + (f"1 − {1 - p:.1g}" if 0.9999 < p < 1 else f"{p:.4g}")
    axes.annotate(
        told, (max(total, 0.0), len(bars)), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
    )
    axes.set_yticks(range(len(bars) + 1), [name for name, _ in bars] + ["total"], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    low, high = min(ends), max(ends)
    axes.set_xlim(low - 0.04 * (high - low), high + 0.22 * (high - low))
    against, of = names_of([e.against, e.of])
    axes.set_xlabel(f"log-odds:  ← {against}      {of} →")
    plain_axes(axes, "x")
    title(
        figure, f"Why {name_of(e.of, 30)} and not {name_of(e.against, 30)}", "each bar starts where the one above ends"
    )
    return figure
