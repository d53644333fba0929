"""The confusion matrix: which class was answered for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.plot.style import empty_figure, names_of, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["confusion"]


def confusion(labels: Sequence[Any], answers: Sequence[Any], classes: Sequence[Any] | None = None) -> Figure:
    """Rows are the true class, columns the answer; shaded by the share of the row, with the number of cases.

    >>> figure = confusion(["ham", "spam", "spam"], ["ham", "spam", "ham"])
    """
    classes = list(dict.fromkeys([*labels, *answers])) if classes is None else list(classes)
    place = {label: i for i, label in enumerate(classes)}
    table = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(table, ([place[label] for label in labels], [place[answer] for answer in answers]), 1)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    n = len(classes)
    size = 2.4 + max(0.42 * n, 2.2)
    figure = empty_figure(size + 1.2, size + 0.5)
    axes = figure.add_subplot()
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    small = 9 if n <= 6 else 7 if n <= 14 else 5.5
    for (i, j), count in np.ndenumerate(table):
        if count:
            axes.text(
                j,
                i,
                f"{count:,}",
                ha="center",
                va="center",
                fontsize=small,
                color="white" if share[i, j] > 0.55 else "black",
            )
    names = names_of(classes, 26)
    axes.set_xticks(range(n), names, rotation=0 if n * max(map(len, names)) <= 24 else 90, fontsize=max(small, 7))
    axes.set_yticks(range(n), names, fontsize=max(small, 7))
    axes.set_xlabel("answer")
    axes.set_ylabel("true class")
    figure.colorbar(image, ax=axes, shrink=0.6, label="share of the true class")
    right = int(np.trace(table))
    title(
        figure,
        f"{right:,} of {int(table.sum()):,} answers are right ({right / max(int(table.sum()), 1):.1%})",
        "rows: the true class; columns: the answer",
    )
    return figure
