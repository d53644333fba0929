"""Draw a nomogram: read the points of each value off its scale, add them, and read the probability below the total."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from naively.data.labelled import Label
from naively.data.names import listed
from naively.errors import InputError
from naively.explanation.nomogram import PROBABILITIES, Axis, Nomogram, make_nomogram, round_numbers
from naively.explanation.palette import GREY
from naively.model.model import Model, ModelLike
from naively.plot.style import panels, short_name, with_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LETTER_WIDTH = 0.85  # of a small letter, in points of the scale
LIST_LETTER_WIDTH = 0.7  # in lists of points
MAX_LABEL = 38  # letters of the name of a mark, as of a bin of times
MAX_LINES = 4  # of the list of points to the right of a scale
MAX_LINES_BELOW = 2  # of the list below a scale that has no room to its right
BELOW = 0.3  # more distance to the next scale there
NO_BREAK = "\N{NO-BREAK SPACE}"


def nomogram(
    model: ModelLike,
    of: Label | None = None,
    against: Label | None = None,
    top: int = 12,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw a model as scales of points, to compute the probability of one class against another by hand.

    Parameters
    ----------
    model
        A model, its file, or a fitted estimator.
    of
        The class whose probability is read off. Default: the last of two, the most common one of more.
    against
        The class to compare it with. Default: the most common other one.
    top
        The number of scales, of the columns and words that can change the log-odds most.
    ax
        Draw in these axes of matplotlib, not in a new figure.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain", "rain"]}, ["yes", "yes", "no", "yes"])
    >>> figure = nomogram(model)
    """
    model = Model.of(model)
    scales = make_nomogram(model, of, against, top)
    if not scales.axes:
        raise InputError("a nomogram needs a column that distinguishes the two classes: the model has none.")
    figure, (axes,) = panels(10, 2.1 + 0.58 * (len(scales.axes) + 2), ax=ax)
    axes.set_xlim(-24, 103)
    axes.axis("off")
    _draw_scale(axes, 0, "points", [(x, f"{x:g}") for x in range(0, 101, 10)], 0, 100)
    y = 1.0
    for axis in scales.axes:
        y += 1 + BELOW * _draw_axis(axes, scales, axis, y)
    _draw_total(axes, scales, y)
    axes.set_ylim(y + 1.5, -0.6)
    if ax is None and (root := figure.get_figure(root=True)) is not None:
        root.set_figheight(2.1 + 0.58 * (y + 1))
    names = listed((short_name(name, 24) for name in scales.hidden), limit=3)
    hidden = f"; not shown, taken as unknown: {names}" if scales.hidden else ""
    return with_title(
        figure,
        f"{short_name(model.target)}: {short_name(scales.of, 30)} or {short_name(scales.against, 30)}?",
        "Add the points of all values, then read the probability below the total. ○: value unknown; in grey: points of "
        f"other values{hidden}. {scales.note}".removesuffix(". "),
        ax,
    )


def _draw_axis(axes: Axes, scales: Nomogram, axis: Axis, y: float) -> bool:
    """Draw the scale of a column, with a circle for a missing value; return whether a list of points is below it."""
    points = (axis.log_odds - axis.minimum) * scales.unit
    length = axis.range * scales.unit
    marks = list(zip(points.tolist(), axis.marks, strict=True))
    unnamed = _draw_scale(axes, y, axis.column, marks, 0, length)
    last = max(marks)[1]
    is_below = _list_points(axes, y, unnamed, length + LETTER_WIDTH * len(short_name(last, MAX_LABEL)) / 2 + 2)
    missing = scales.points(axis)
    if 0 <= missing <= length:
        axes.plot(missing, y, marker="o", markersize=4, markerfacecolor="white", markeredgecolor=GREY, zorder=4)
    return is_below


def _draw_scale(
    axes: Axes, y: float, name: str, marks: list[tuple[float, str]], low: float, high: float
) -> list[tuple[float, str]]:
    """Draw a line with marks, and return those without a name: it would touch another. The ends are named first."""
    axes.text(-1.5, y, short_name(name, 24), ha="right", va="center", fontsize=8.5)
    axes.plot([low, high], [y, y], color="black", linewidth=1)
    marks = sorted(marks)
    occupied: list[list[tuple[float, float]]] = [[], []]
    unnamed = []
    for at, _ in marks:
        axes.plot([at, at], [y, y + 0.1], color="black", linewidth=0.8)
    for at, mark in dict.fromkeys((*marks[:1], *marks[-1:], *marks)):
        text = short_name(mark, MAX_LABEL)
        half_width = LETTER_WIDTH * len(text) / 2 + 0.4
        for level, spans in enumerate(occupied):
            if all(at + half_width <= start or at - half_width >= stop for start, stop in spans):
                spans.append((at - half_width, at + half_width))
                axes.text(at, y + 0.14 + 0.2 * level, text, ha="center", va="top", fontsize=7)
                break
        else:
            unnamed.append((at, text))
    return unnamed


def _list_points(axes: Axes, y: float, marks: list[tuple[float, str]], left: float) -> bool:
    """Write the points of marks without a name to the right of a scale or, if it is long, below it; return whether."""
    is_right = left < 65
    left, top, max_lines = (left, y - 0.12, MAX_LINES) if is_right else (0.0, y + 0.56, MAX_LINES_BELOW)
    n_letters = int((103 - left) / LIST_LETTER_WIDTH)
    items = [f"{text} = {at:.0f}".replace(" ", NO_BREAK) for at, text in marks]
    if not items:
        return False
    lines = textwrap.wrap(", ".join(items), n_letters)
    if len(lines) > max_lines:
        n_shown = sum(line.count("=") for line in lines[:max_lines]) - 1
        more = f"and {len(items) - n_shown} more".replace(" ", NO_BREAK)
        lines = textwrap.wrap(", ".join([*items[:n_shown], more]), n_letters)
    axes.text(left, top, "\n".join(lines), ha="left", va="top", fontsize=6.5, color=GREY, linespacing=1.15)
    return not is_right


def _draw_total(axes: Axes, scales: Nomogram, y: float) -> None:
    """Draw the scale of total points, and the probabilities below it."""
    most = sum(axis.range for axis in scales.axes) * scales.unit
    ticks = [(100 * x / most, f"{x:g}") for x in round_numbers(0.0, most).tolist()]
    _draw_scale(axes, y, "total points", ticks, 0, 100)
    marks = []
    for p in PROBABILITIES:
        at = 100 * (math.log(p / (1 - p)) - scales.start) * scales.unit / most
        if 0 <= at <= 100:
            marks.append((at, np.format_float_positional(p, trim="-")))
    ends = (marks[0][0], marks[-1][0]) if marks else (0.0, 0.0)
    _draw_scale(axes, y + 1, f"p({short_name(scales.of, 18)})", marks, *ends)
    if not marks:
        text = f"{scales.probability(most / 2):.6g} for all values"
        axes.text(50, y + 1, text, ha="center", va="center", fontsize=8)
