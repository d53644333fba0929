"""Draw the words with the most evidence for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from naively.data.labelled import Label
from naively.explanation.palette import PAPER
from naively.explanation.word_weights import first_column_of_words
from naively.model.model import Model, ModelLike
from naively.plot.style import annotate, clean_axes, panels, short_name, short_names, with_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def words(
    model: ModelLike,
    column: str | None = None,
    classes: Sequence[Label] | None = None,
    n: int = 10,
    min_count: float = 5,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw for each class the words with the most evidence: log-odds against all other classes × occurrences.

    Parameters
    ----------
    model
        A model, its file, or a fitted estimator.
    column
        A column of text, or one of a block of token counts. Default: the first one.
    classes
        The classes to draw. Default: all.
    n
        The number of words for each class.
    min_count
        The number of occurrences that a word must have.
    ax
        Draw in these axes of matplotlib, not in a new figure; `classes` has one class then.

    >>> import naively
    >>> model = naively.fit(["cheap pills", "cheap cash", "lunch at noon"], ["spam", "spam", "ham"])
    >>> figure = words(model, min_count=1)
    """
    model = Model.of(model)
    column = first_column_of_words(model) if column is None else column
    weights = model.evidence(column)
    classes = list(model.classes if classes is None else classes)
    n_across = min(4, len(classes))
    n_down = -(-len(classes) // n_across)
    figure, axes = panels(1 + 2.6 * n_across, 1.1 + n_down * (0.5 + 0.2 * n), n_down, n_across, len(classes), ax=ax)
    for i, (panel, name, label) in enumerate(zip(axes, short_names(classes, 24), classes, strict=True)):
        top = [word for word in weights.top(label, n, min_count=min_count, by="evidence") if word.log_odds > 0]
        colour = PAPER[model.classes.index(label) % len(PAPER)]
        panel.barh(range(len(top)), [word.log_odds for word in top], color=colour, height=0.7)
        panel.set_yticks(range(len(top)), [short_name(word.word, 14) for word in top], fontsize=8)
        panel.set_ylim(max(len(top), 1) - 0.4, -0.6)
        if ax is None:
            panel.set_title(name, fontsize=9, loc="left")
        panel.tick_params(axis="x", labelsize=7)
        for y, word in enumerate(top):
            annotate(panel, f"{word.count:,.0f}", word.log_odds, y, size=6.5, offset=2)
        panel.set_xlim(0, 1.22 * max((word.log_odds for word in top), default=1.0))
        if not top:
            text = f"no such word occurs\n{min_count:g} times"
            panel.text(0.5, 0.5, text, ha="center", va="center", fontsize=8, transform=panel.transAxes)
            panel.set_xticks([])
        clean_axes(panel, "x")
        if i >= (n_down - 1) * n_across:
            panel.set_xlabel("log-odds per word", fontsize=8)
    whose = "each class" if ax is None else short_name(classes[0])
    return with_title(
        figure,
        f"{short_name(model.target)}: which words of {short_name(column)} are evidence for {whose}?",
        "bar: log-odds of one occurrence against all other classes; after it, occurrences; ranked by the product",
        ax,
    )
