"""Draw the confusion matrix: which class was predicted for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively.plot.style import class_positions, panels, short_names, with_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def confusion(labels: Sequence[object], answers: Sequence[object], classes: Sequence[object] | None = None) -> Figure:
    """Draw the number of rows of each true class (row) and predicted class (column), shaded by the share of the row.

    Parameters
    ----------
    labels
        The class of each row.
    answers
        The predicted class of each row.
    classes
        The classes, in the order in which they are drawn. Default: as they occur.

    >>> figure = confusion(["ham", "spam", "spam"], ["ham", "spam", "ham"])
    """
    classes = list(dict.fromkeys([*labels, *answers])) if classes is None else list(classes)
    n_classes = len(classes)
    table = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(table, (class_positions(labels, classes), class_positions(answers, classes)), 1)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    size = 2.4 + max(0.42 * n_classes, 2.2)
    figure, (axes,) = panels(size + 1.2, size + 0.5)
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    font_size = 9 if n_classes <= 6 else 7 if n_classes <= 14 else 5.5
    for (i, j), count in np.ndenumerate(table):
        if count:
            colour = "white" if share[i, j] > 0.55 else "black"
            axes.text(j, i, f"{count:,}", ha="center", va="center", fontsize=font_size, color=colour)
    names = short_names(classes, 26)
    rotation = 0 if n_classes * max(map(len, names)) <= 24 else 90
    axes.set_xticks(range(n_classes), names, rotation=rotation, fontsize=max(font_size, 7))
    axes.set_yticks(range(n_classes), names, fontsize=max(font_size, 7))
    axes.set_xlabel("answer")
    axes.set_ylabel("true class")
    figure.colorbar(image, ax=axes, shrink=0.6, label="share of the true class")
    n_right, n_rows = int(np.trace(table)), int(table.sum())
    return with_title(
        figure,
        f"{n_right:,} of {n_rows:,} answers are right ({n_right / max(n_rows, 1):.1%})",
        "rows: the true class; columns: the answer",
    )
