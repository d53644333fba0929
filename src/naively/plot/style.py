"""What all pictures share: an empty figure, colours that the colour-blind can tell apart, names that fit.

The eight colours are those of Okabe & Ito, Color Universal Design (2008). No picture uses pyplot, so that none of them
changes what a program draws elsewhere.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from naively.errors import InputError
from naively.explanation.render_text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "AGAINST",
    "COLOURS",
    "FOR",
    "GREY",
    "MANY",
    "colour_of",
    "empty_figure",
    "legend_below",
    "name_of",
    "names_of",
    "plain_axes",
    "title",
]

FOR, AGAINST, GREY = "#0072b2", "#d55e00", "#767676"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a600")
MANY = len(COLOURS)  # more classes than that are not told apart by colour


def empty_figure(width: float, height: float) -> Figure:
    """A figure of so many inches, whose parts make room for each other."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError('pictures need matplotlib: pip install "naively[plot]".') from None
    return Figure(figsize=(width, height), dpi=120, layout="constrained")


def name_of(label: Any, most: int = 20) -> str:
    """A name that fits, and that matplotlib does not take for a formula."""
    return shortened(label, most).replace("$", r"\$")


def names_of(labels: Iterable[Any], most: int = 20) -> list[str]:
    """Names that fit and can be told apart: what all begin with is left out where shortening would make two the same.

    >>> names_of(["a very long name, number 1 of many", "a very long name, number 2 of many"], 14)
    ['…1 of many', '…2 of many']
    """
    known = list(labels)
    names = [name_of(label, most) for label in known]
    if len(set(names)) == len(names):
        return names
    start = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*map(str, known), strict=False)))
    while start and str(known[0])[start - 1].isalnum():  # a word or a number is left whole
        start -= 1
    names = [name_of("…" + str(label)[start:], most) for label in known]
    double = {name for name in names if names.count(name) > 1}
    return [f"{name} ({i + 1})" if name in double else name for i, name in enumerate(names)]


def colour_of(position: int) -> str:
    """The colour of a class by its place among the classes."""
    return COLOURS[position % len(COLOURS)]


def plain_axes(axes: Axes, grid: str = "") -> None:
    """No frame but the left and lower side; light lines across where they help to read."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.grid(axis="both" if grid == "both" else "x" if grid == "x" else "y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)


def title(figure: Figure, said: str, more: str = "") -> None:
    """What is seen, and below it in small letters how to read it."""
    width = int(12 * figure.get_figwidth())  # letters that fit
    lines = [*textwrap.wrap(said, width), *textwrap.wrap(more, width)]
    figure.suptitle("\n".join(lines), fontsize=10.5, x=0.02, ha="left")


def legend_below(figure: Figure, handles: Sequence[Any], names: Sequence[str], columns: int = 4) -> None:
    """A legend under the picture, where it covers nothing."""
    letters = 6 + max((len(name) for name in names), default=0)
    columns = max(1, min(columns, len(names), int(10 * figure.get_figwidth() / letters)))
    legend = figure.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False, fontsize=9)
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([30])
