"""Draw the probability of one class for many rows, in their order, coloured by the class that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Floats
from naively.plot.style import COLOURS, GREY, clean_axes, legend_below, panels, short_name, short_names, with_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPXp"
MAX_NAMED = 7  # groups that have a colour; the rarest of more are one grey group
MAX_DOTS = 20_000  # of more rows, every k-th is drawn
MAX_LOG_ODDS = 30.0


def posterior(
    log_odds: Floats, groups: Sequence[object] | None = None, of: object = "the class", row: str = "row"
) -> Figure:
    """Draw p(of) of every row, in order, on a scale of log-odds: 0.99 and 0.9999 are different dots.

    Parameters
    ----------
    log_odds
        The log-odds of each row, as `Model.log_odds` returns them.
    groups
        What rows are coloured by: the class of each, None if it is not known.
    of
        The class.
    row
        What a row is called.

    >>> figure = posterior(np.array([2.0, -1.0, 5.0]), ["spam", "ham", None], of="spam")
    """
    groups = ["rows"] * len(log_odds) if groups is None else ["not known" if g is None else str(g) for g in groups]
    step = max(1, -(-len(log_odds) // MAX_DOTS))
    x, y = np.arange(len(log_odds))[::step] + 1, np.clip(log_odds[::step], -MAX_LOG_ODDS, MAX_LOG_ODDS)
    group_of_row = np.array(groups, dtype=str)[::step]
    names, counts = np.unique(group_of_row, return_counts=True)
    order = [str(name) for name in names[np.argsort(-counts, kind="stable")]]
    order.sort(key=lambda name: name != str(of))  # the class itself always has a colour
    named, n_others = order[:MAX_NAMED], len(order) - MAX_NAMED
    figure, (axes,) = panels(9.5, 4.6)
    size = 16 if len(y) < 500 else 6 if len(y) < 5000 else 2
    styles = [(group_of_row == name, *style) for name, *style in zip(named, COLOURS, MARKERS, strict=False)]
    titles = short_names(named)
    if n_others > 0:
        styles.append((~np.isin(group_of_row, named), GREY, "."))
        titles.append(f"{n_others} more")
    handles = [axes.scatter(x[k], y[k], s=size, color=colour, marker=m, linewidths=0) for k, colour, m in styles]
    axes.axhline(0, color="black", linewidth=0.8)
    _set_probability_ticks(axes, y)
    axes.set_xlabel(f"{row}, in order" + (f" (every {step}th is drawn)" if step > 1 else ""))
    axes.set_ylabel(f"p({short_name(of)})")
    clean_axes(axes, "y")
    legend_below(figure, handles, [f"{name} ({k.sum():,})" for name, (k, *_) in zip(titles, styles, strict=True)])
    return with_title(
        figure, f"p({short_name(of, 30)}) of every {row}", "on a scale of log-odds: equal steps are equal evidence"
    )


def _set_probability_ticks(axes: Axes, log_odds: Floats) -> None:
    """Set ticks at round probabilities, written with enough digits that 0.9999 is not 1."""
    low, high = float(log_odds.min(initial=0.0)), float(log_odds.max(initial=0.0))
    ticks = [(0.0, "0.5")]
    for k in range(1, 14):
        if max(-low, high) < 14 or k % 2 == 0:
            at = float(np.log(10.0**k - 1))
            ticks += [(at, "0." + "9" * k if k < 6 else f"1 − 1e-{k}"), (-at, f"{10.0**-k:g}")]
    shown = sorted(tick for tick in ticks if low - 1.5 <= tick[0] <= high + 1.5)
    axes.set_yticks([at for at, _ in shown], [name for _, name in shown], fontsize=8)
