"""The nomogram: read the points of each value off its axis, add them up, and read the probability below the sum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.names import listed
from naively.errors import InputError
from naively.explanation.nomogram import Axis, Nomogram, nomogram_of
from naively.model.model import Model
from naively.plot.style import FOR, GREY, empty_figure, name_of, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["nomogram"]

LETTER = 0.98  # width of a small letter, in points of the scale
PROBABILITIES = (1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999999)


def nomogram(model: Model, of: Any = None, against: Any = None, most: int = 12) -> Figure:
    """The whole model between two classes, to be worked by hand; its sums are the model's own log-odds.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain", "rain"]}, ["yes", "yes", "no", "yes"])
    >>> figure = nomogram(model)
    """
    found = nomogram_of(model, of, against, most)
    if not found.axes:
        raise InputError("a nomogram needs a column that tells the two classes apart: the model has none.")
    rows = len(found.axes)
    figure = empty_figure(10, 2.1 + 0.58 * (rows + 2))
    axes = figure.add_subplot()
    axes.set_xlim(-24, 103)
    axes.set_ylim(rows + 2.5, -0.6)
    axes.axis("off")
    _scale(axes, 0, "points", [(x, f"{x:g}") for x in range(0, 101, 10)], 0, 100)
    for i, axis in enumerate(found.axes):
        _axis(axes, found, axis, i + 1)
    _sums(axes, found, rows + 1)
    hidden = f"; not shown, taken as missing: {_listed(found.hidden)}" if found.hidden else ""
    title(
        figure,
        f"{name_of(found.of, 30)} or {name_of(found.against, 30)}? Add up the points of each value",
        f"the probability stands below the sum; ○ is a missing value{hidden}",
    )
    return figure


def _listed(names: tuple[str, ...]) -> str:
    return listed([name_of(name, 24) for name in names], 3)


def _axis(axes: Any, found: Nomogram, axis: Axis, y: int) -> None:
    marks = [
        ((odds - axis.least) * found.unit, mark) for odds, mark in zip(axis.log_odds.tolist(), axis.marks, strict=True)
    ]
    _scale(axes, y, axis.column, marks, 0, axis.range * found.unit)
    missing = found.points(axis)
    if 0 <= missing <= axis.range * found.unit:
        axes.plot(missing, y, marker="o", markersize=4, markerfacecolor="white", markeredgecolor=GREY, zorder=4)


def _scale(axes: Any, y: float, name: str, marks: list[tuple[float, str]], low: float, high: float) -> None:
    """A line with marks; names that would touch another are left out, the first and the last placed before others."""
    axes.text(-1.5, y, name_of(name, 24), ha="right", va="center", fontsize=8.5)
    axes.plot([low, high], [y, y], color="black", linewidth=1)
    ordered = sorted(marks)
    taken: list[list[tuple[float, float]]] = [[], []]
    for at, _ in ordered:
        axes.plot([at, at], [y, y + 0.1], color="black", linewidth=0.8)
    for at, mark in dict.fromkeys((*ordered[:1], *ordered[-1:], *ordered)):
        told = name_of(mark, 18)
        half = LETTER * len(told) / 2 + 0.4
        for level, spans in enumerate(taken):
            if all(at + half <= start or at - half >= stop for start, stop in spans):
                spans.append((at - half, at + half))
                axes.text(at, y + 0.14 + 0.2 * level, told, ha="center", va="top", fontsize=7)
                break


def _sums(axes: Any, found: Nomogram, y: int) -> None:
    """The scale of sums, and the probabilities below it."""
    whole = sum(axis.range for axis in found.axes) * found.unit
    step = 10.0 ** math.floor(math.log10(whole / 4))
    step = next(step * k for k in (1, 2, 5, 10) if whole / (step * k) <= 8)
    ticks = np.arange(0, whole + 1e-9, step)
    _scale(axes, y, "total points", [(100 * x / whole, f"{x:g}") for x in ticks.tolist()], 0, 100)
    places = []
    for p in PROBABILITIES:
        at = 100 * (math.log(p / (1 - p)) - found.start) * found.unit / whole
        if 0 <= at <= 100:
            places.append((at, f"{p:g}"))
    ends = [places[0][0], places[-1][0]] if places else [0.0, 0.0]
    _scale(axes, y + 1, f"p({name_of(found.of, 18)})", places, *ends)
    if not places:
        p = found.probability(whole / 2)
        axes.text(50, y + 1, f"{p:.6g} whatever the values", ha="center", va="center", fontsize=8, color=FOR)
