"""Draw one prediction as a waterfall: from the prior, contribution by contribution, to the total."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from naively.errors import InputError
from naively.explanation import Explanation
from naively.explanation.palette import GREY
from naively.explanation.render_text import Layout, number
from naively.plot.style import annotate, clean_axes, panels, short_name, short_names, with_title
from naively.plot.subject import about

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR_HEIGHT = 0.62


def waterfall(explanation: Explanation, top: int = 15, *, ax: Axes | None = None, target: str | None = None) -> Figure:
    """Draw how the log-odds of a prediction add up.

    Parameters
    ----------
    explanation
        One of `Model.explain`.
    top
        The number of contributions that have a bar, the strongest ones; the others are one bar.
    ax
        Draw in these axes of matplotlib, not in a new figure.
    target
        What is predicted, for the title.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain"], "wind": [1.0, 2.0, 9.0]}, ["yes", "yes", "no"])
    >>> figure = waterfall(model.explain({"sky": ["rain"], "wind": [8.0]})[0])
    """
    if not isinstance(explanation, Explanation):
        raise InputError(
            f"a waterfall draws an explanation, not a {type(explanation).__name__}: give model.explain(X)[0]."
        )
    e, layout = explanation, Layout.of(explanation, top)
    colour_for, colour_against = (colour.light for colour in e.colours)
    steps = [
        (f"{short_name(c.column)} = {short_name(c.shown, 28)}" if c.shown else short_name(c.column), c.log_odds)
        for c in layout.shown
        if c.log_odds != 0
    ]
    others = [(str(group), group.log_odds) for group in layout.others if group.log_odds != 0]
    bars = [*layout.starts(e), *steps, *others, *layout.ends(e)]
    infinite_length = 2 * math.fsum(abs(x) for _, x in bars if math.isfinite(x)) + 1
    figure, (axes,) = panels(8.5, 1.6 + 0.3 * (len(bars) + 1), ax=ax)
    start, ends = 0.0, [0.0]
    for i, (_, log_odds) in enumerate(bars):
        length = log_odds if math.isfinite(log_odds) else math.copysign(infinite_length, log_odds)
        axes.barh(i, length, left=start, height=BAR_HEIGHT, color=colour_for if log_odds >= 0 else colour_against)
        annotate(axes, number(log_odds), max(start, start + length), i)
        start += length
        ends.append(start)
        axes.plot([start, start], [i - BAR_HEIGHT / 2, i + 1 + BAR_HEIGHT / 2], color=GREY, linewidth=0.7)
    total, colour = e.total if math.isfinite(e.total) else start, colour_for if e.total >= 0 else colour_against
    axes.barh(len(bars), total, height=BAR_HEIGHT, color=colour, hatch="//", edgecolor="white")
    p = e.posterior[e.of]
    probability = f"1 − {1 - p:.1g}" if 0.9999 < p < 1 else f"{p:.4g}"
    annotate(axes, f"{number(e.total)}, p = {probability}", max(total, 0.0), len(bars))
    axes.set_yticks(range(len(bars) + 1), [name for name, _ in bars] + ["total"], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    low, high = min(ends), max(ends)
    axes.set_xlim(low - 0.04 * (high - low), high + 0.22 * (high - low))
    against, of = short_names([e.against, e.of])
    axes.set_xlabel(f"log-odds:  ← {against}      {of} →")
    clean_axes(axes, "x")
    return with_title(
        figure,
        about(None, target) + f"why {short_name(e.of, 30)} and not {short_name(e.against, 30)}?",
        "each bar starts where the one above ends" + ("; the model without this row" if e.is_left_out else ""),
        ax,
    )
