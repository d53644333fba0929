"""Draw the confusion matrix: which class was predicted for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from naively._kernels.types import Floats
from naively.errors import InputError
from naively.evaluation import Evaluation
from naively.plot.style import class_positions, panels, short_names, with_title
from naively.plot.subject import about, is_model, labels_and_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from naively.data.labelled import LabelsLike
    from naively.plot.subject import Judged, Rows, about


def confusion(
    labels: Judged,
    answers: Rows | Sequence[object] | None = None,
    classes: LabelsLike = None,
    *,
    ax: Axes | None = None,
    target: str | None = None,
) -> Figure:
    """Draw the number of rows of each true class (row) and predicted class (column), shaded by the share of the row.

    Call it in one of three ways: `confusion(evaluation)`; `confusion(model, rows, labels)`, which scores rows that the
    model has counted by leave-one-out, and takes a model file or an estimator too; or `confusion(labels, answers,
    classes)`.

    Parameters
    ----------
    labels
        The class of each row; or a model, its file, a fitted estimator, or an `Evaluation`.
    answers
        The predicted class of each row; after a model, the rows.
    classes
        The classes, in the order in which they are drawn. Default: as they occur. After a model, the labels.
    ax
        Draw in these axes of matplotlib, not in a new figure.

    >>> figure = confusion(["ham", "spam", "spam"], ["ham", "spam", "ham"])
    """
    table, class_names = _table(labels, answers, classes)
    n_classes = len(class_names)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    size = 2.4 + max(0.42 * n_classes, 2.2)
    figure, (axes,) = panels(size + 1.2, size + 0.5, ax=ax)
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    font_size = 9 if n_classes <= 6 else 7 if n_classes <= 14 else 5.5
    for (i, j), count in np.ndenumerate(table):
        if count:
            colour = "white" if share[i, j] > 0.55 else "black"
            axes.text(j, i, f"{count:,.10g}", ha="center", va="center", fontsize=font_size, color=colour)
    names = short_names(class_names, 26)
    rotation = 0 if n_classes * max(map(len, names)) <= 24 else 90
    axes.set_xticks(range(n_classes), names, rotation=rotation, fontsize=max(font_size, 7))
    axes.set_yticks(range(n_classes), names, fontsize=max(font_size, 7))
    axes.set_xlabel("answer")
    axes.set_ylabel("true class")
    figure.colorbar(image, ax=axes, shrink=0.6, label="share of the true class")
    n_right, n_rows = float(np.trace(table)), float(table.sum())
    return with_title(
        figure,
        about(labels, target)
        + f"{n_right:,.10g} of {n_rows:,.10g} answers are right ({100 * n_right / max(n_rows, 1):.1f} %)",
        "rows: the true class; columns: the answer",
        ax,
    )


def _table(
    labels: Judged, answers: Rows | Sequence[object] | None, classes: LabelsLike
) -> tuple[Floats, Sequence[object]]:
    """Return the weight of the rows, (true class, predicted class), and the classes."""
    if isinstance(labels, Evaluation):
        return labels.confusion, labels.classes
    if is_model(labels):
        truth, posterior, names = labels_and_posterior(labels, answers, classes)
        predicted: Sequence[object] = [names[c] for c in posterior.argmax(axis=1).tolist()]
    else:
        if answers is None:
            raise InputError("give labels and answers; a model, rows and labels; or an evaluation.")
        truth, predicted = cast(Sequence[object], labels), cast(Sequence[object], answers)
        names = list(dict.fromkeys([*truth, *predicted]) if classes is None else cast(Sequence[object], classes))
    table = np.zeros((len(names), len(names)))
    np.add.at(table, (class_positions(truth, names), class_positions(predicted, names)), 1)
    return table, names
