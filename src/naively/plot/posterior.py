"""The probability of one class for many rows, in their order, coloured by the class that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.plot.style import COLOURS, GREY, empty_figure, legend_below, name_of, names_of, plain_axes, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["posterior"]

MARKERS = "osD^vPXp"
NAMED = 7  # groups that have a colour; of more, the rarest are one grey group
MANY_ROWS = 20_000  # dots drawn; of more rows every k-th, and said so


def posterior(
    log_odds: NDArray[np.float64], groups: Sequence[Any] | None = None, of: Any = "the class", row: str = "row"
) -> Figure:
    """p(of) of every row, in order, on a scale of log-odds so that 0.99 and 0.9999 are not the same dot.

    `groups` colour the rows: the class of each, None where it is not known.

    >>> figure = posterior(np.array([2.0, -1.0, 5.0]), ["spam", "ham", None], of="spam")
    """
    groups = ["rows"] * len(log_odds) if groups is None else ["not known" if g is None else g for g in groups]
    step = -(-len(log_odds) // MANY_ROWS) if len(log_odds) else 1
    number, odds = np.arange(len(log_odds))[::step] + 1, np.clip(log_odds[::step], -30, 30)
    some = np.array([str(group) for group in groups], dtype=object)[::step]
    names, cases = np.unique(some.astype(str), return_counts=True)
    order = [str(name) for name in names[np.argsort(-cases, kind="stable")]]
    order.sort(key=lambda name: name != str(of))  # the class itself is always told apart
    figure = empty_figure(9.5, 4.6)
    axes = figure.add_subplot()
    handles, shown, told = [], [], names_of(order[:NAMED])
    size = 16 if len(odds) < 500 else 6 if len(odds) < 5000 else 2
    for i, name in enumerate(order[:NAMED] + ([None] if len(order) > NAMED else [])):
        here = some == name if name is not None else ~np.isin(some.astype(str), order[:NAMED])
        colour, marker = (COLOURS[i], MARKERS[i]) if name is not None else (GREY, ".")
        handles.append(axes.scatter(number[here], odds[here], s=size, color=colour, marker=marker, linewidths=0))
        shown.append(
            f"{told[i]} ({here.sum():,})" if name is not None else f"{len(order) - NAMED} more ({here.sum():,})"
        )
    axes.axhline(0, color="black", linewidth=0.8)
    _probabilities(axes, odds)
    axes.set_xlabel(f"{row}, in order" + (f" (every {step}th is drawn)" if step > 1 else ""))
    axes.set_ylabel(f"p({name_of(of)})")
    plain_axes(axes, "y")
    legend_below(figure, handles, shown)
    title(figure, f"p({name_of(of, 30)}) of every {row}", "on a scale of log-odds: equal steps are equal evidence")
    return figure


def _probabilities(axes: Any, odds: NDArray[np.float64]) -> None:
    """Ticks at round probabilities within reach, written so that 0.9999 is not 1."""
    steps = [0.0, *(np.log(10.0**k - 1) for k in range(1, 14))]
    low, high = (float(odds.min(initial=0.0)), float(odds.max(initial=0.0)))
    ticks: list[tuple[float, str]] = [(0.0, "0.5")]
    for k in range(1, 14):
        if max(-low, high) < 14 or k % 2 == 0:
            ticks += [(steps[k], "0." + "9" * k if k < 6 else f"1 − 1e-{k}"), (-steps[k], f"{10.0**-k:g}")]
    inside = sorted(tick for tick in ticks if low - 1.5 <= tick[0] <= high + 1.5)
    axes.set_yticks([at for at, _ in inside], [name for _, name in inside], fontsize=8)
