"""The words that speak most for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from naively.errors import InputError
from naively.families import Bernoulli, Multinomial, Text
from naively.model.model import Model
from naively.plot.style import colour_of, empty_figure, name_of, names_of, plain_axes, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["words"]


def words(
    model: Model, column: str | None = None, classes: Sequence[Any] | None = None, n: int = 10, min_count: float = 5
) -> Figure:
    """For each class the n words with the largest log-odds against all others, with how often the class had them.

    >>> import naively
    >>> model = naively.fit(["cheap pills", "cheap cash", "lunch at noon"], ["spam", "spam", "ham"])
    >>> figure = words(model, min_count=1)
    """
    column = _column(model) if column is None else column
    evidence = model.evidence(column)
    chosen = list(model.classes if classes is None else classes)
    tops = [(label, [w for w in evidence.top(label, n, min_count=min_count) if w.log_odds > 0]) for label in chosen]
    across = min(4, len(tops))
    down = -(-len(tops) // across)
    figure = empty_figure(1 + 2.6 * across, 1.1 + down * (0.5 + 0.2 * n))
    panels = figure.subplots(down, across, squeeze=False)
    for panel in panels.flat[len(tops) :]:
        panel.set_visible(False)
    told = names_of(chosen, 24)
    for panel, name, (label, found) in zip(panels.flat, told, tops, strict=False):
        colour = colour_of(model.classes.index(label))
        panel.barh(range(len(found)), [word.log_odds for word in found], color=colour, height=0.7)
        panel.set_yticks(range(len(found)), [name_of(word.word, 14) for word in found], fontsize=8)
        panel.set_ylim(max(len(found), 1) - 0.4, -0.6)
        panel.set_title(name, fontsize=9, loc="left")
        panel.tick_params(axis="x", labelsize=7)
        for i, word in enumerate(found):
            place = (word.log_odds, i)
            panel.annotate(
                f"{word.count:,.0f}", place, xytext=(2, 0), textcoords="offset points", va="center", fontsize=6.5
            )
        panel.set_xlim(0, 1.22 * max((word.log_odds for word in found), default=1.0))
        if not found:
            panel.text(
                0.5,
                0.5,
                f"no such word occurs\n{min_count:g} times",
                ha="center",
                va="center",
                fontsize=8,
                transform=panel.transAxes,
            )
            panel.set_xticks([])
        plain_axes(panel, "x")
    for panel in panels[-1]:
        panel.set_xlabel("log-odds per word", fontsize=8)
    title(
        figure,
        f"The words of {name_of(column)} that speak most for each class",
        "log-odds of one occurrence against all other classes together; after each bar, how often the class has it",
    )
    return figure


def _column(model: Model) -> str:
    """The first column, or block of columns, that has words."""
    for block in model.chosen.schema.blocks:
        tokens = isinstance(block.family, (Multinomial, Bernoulli)) and len(block.names) > 1
        if tokens or isinstance(block.family, Text):
            return block.names[0]
    raise InputError("the model has no column of words: name another picture, such as distributions.")
