"""What all pictures share: an empty figure, names that fit, titles and legends.

No picture uses pyplot, so that none of them changes what a program draws elsewhere.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from naively.errors import InputError
from naively.explanation.palette import GRID
from naively.explanation.render_text import shorten

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


DASHES: tuple[Any, ...] = (  # of the curve of each class, which differ also in grey; in the order of the colours
    "solid",
    (0, (6, 2)),
    (0, (1, 1.2)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1.5)),
    (0, (6, 2, 1, 2, 1, 2)),
    (0, (10, 3)),
    (0, (2, 3)),
)


def dashes(c: int, n_classes: int) -> Any:
    """Return the style of the line of a class: solid if there are only two, whose colours differ in grey."""
    return DASHES[c % len(DASHES)] if n_classes > 2 else "solid"


def panels(
    width: float,
    height: float,
    n_rows: int = 1,
    n_columns: int = 1,
    n_panels: int | None = None,
    *,
    ax: Axes | None = None,
    **layout: Any,
) -> tuple[Figure | SubFigure, list[Axes]]:
    """Return a figure of this size in inches, and its panels row by row; the last ones of the grid stay empty.

    With `ax`, return these axes, which are the only panel, and their figure.
    """
    if ax is not None:
        if (n_panels or n_rows * n_columns) > 1:
            raise InputError("ax= has room for one panel: draw one column, or one class, in it.")
        return ax.figure, [ax]
    try:
        from naively.plot.figure import Picture
    except ImportError:
        raise InputError('pictures need matplotlib: pip install "naively[plot]".') from None
    figure = Picture(figsize=(width, height), dpi=120, layout="constrained")
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False, **layout).flat)
    for panel in grid[n_panels or len(grid) :]:
        panel.set_visible(False)
    return figure, grid[:n_panels]


def short_name(label: object, width: int = 20) -> str:
    """Return a name that fits, and that matplotlib does not read as a formula."""
    return shorten(label, width).replace("$", r"\$")


def short_names(labels: Iterable[object], width: int = 20) -> list[str]:
    """Return names that fit and differ: if shortening makes two names equal, their common beginning is left out.

    >>> short_names(["a very long name, number 1 of many", "a very long name, number 2 of many"], 14)
    ['…1 of many', '…2 of many']
    """
    texts = [str(label) for label in labels]
    names = [short_name(text, width) for text in texts]
    if len(set(names)) == len(names):
        return names
    start = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))
    while start and texts[0][start - 1].isalnum():  # do not cut a word or a number
        start -= 1
    names = [short_name("…" + text[start:], width) for text in texts]
    return [f"{name} ({i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def annotate(axes: Axes, text: str, x: float, y: float, size: float = 8, offset: float = 4) -> None:
    """Write a text to the right of a point."""
    axes.annotate(text, (x, y), xytext=(offset, 0), textcoords="offset points", va="center", fontsize=size)


def clean_axes(axes: Axes, grid: Literal["x", "y", "both"]) -> None:
    """Remove the upper and right frame, and draw light lines across."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)


def with_title(figure: Figure | SubFigure, title: str, subtitle: str, ax: Axes | None = None) -> Figure:
    """Write what the picture shows, and below it how to read it, above the figure or given axes; return the figure."""
    root = figure.get_figure(root=True)
    assert root is not None
    width = root.get_figwidth() * (1 if ax is None else ax.get_position().width)
    n_letters = max(int(12 * width), 12)
    lines = [*textwrap.wrap(title, n_letters), *textwrap.wrap(subtitle, n_letters)]
    if ax is None:
        figure.suptitle("\n".join(lines), fontsize=10.5, x=0.02, ha="left")
    else:
        ax.set_title("\n".join(lines), fontsize=9, loc="left")
    return root


def legend_below(
    figure: Figure | SubFigure,
    handles: Sequence[Artist],
    names: Sequence[str],
    columns: int = 4,
    ax: Axes | None = None,
) -> None:
    """Draw a legend below the picture, or in given axes."""
    if ax is not None:
        ax.legend(handles, names, frameon=False, fontsize=8)
        return
    n_letters = 6 + max((len(name) for name in names), default=0)
    columns = max(1, min(columns, len(names), int(10 * figure.bbox.width / figure.dpi / n_letters)))
    figure.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False, fontsize=9)


def class_positions(labels: Sequence[object], classes: Sequence[object]) -> list[int]:
    """Return the position of each label among the classes."""
    position = {label: c for c, label in enumerate(classes)}
    unknown = [label for label in labels if label not in position]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not among the classes: {', '.join(map(repr, classes[:8]))}.")
    return [position[label] for label in labels]
