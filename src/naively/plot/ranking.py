"""Draw how well probabilities rank the rows: ROC and precision–recall, each class against all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Floats
from naively.errors import InputError
from naively.evaluation.ranking import Ranking
from naively.plot.style import COLOURS, GREY, class_positions, clean_axes, legend_below, panels, short_names, with_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = Callable[[Ranking], tuple[Floats, Floats, float]]  # x, y, area

MAX_NAMED = 6  # curves that have a colour and a name; the others are thin and grey


def roc(labels: Sequence[object], posterior: Floats, classes: Sequence[object], of: object = None) -> Figure:
    """Draw true against false positives at every threshold.

    Parameters
    ----------
    labels
        The class of each row.
    posterior
        The probabilities (row, class), as `Model.posterior` returns them.
    classes
        The classes.
    of
        Draw the curve of this class only. Default: the last of two classes, or all of more.

    >>> figure = roc(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """

    def curve(ranking: Ranking) -> tuple[Floats, Floats, float]:
        return *ranking.roc(), ranking.area

    figure, axes, note = _draw_curves(labels, posterior, classes, of, curve, "area")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("false positives, share of the other classes")
    axes.set_ylabel("true positives, share of the class")
    return with_title(figure, "ROC: true against false positives at every threshold", f"dotted: guessing{note}")


def precision_recall(
    labels: Sequence[object], posterior: Floats, classes: Sequence[object], of: object = None
) -> Figure:
    """Draw precision against recall at every threshold; the parameters are those of `roc`.

    >>> figure = precision_recall(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """

    def curve(ranking: Ranking) -> tuple[Floats, Floats, float]:
        return *ranking.precision_recall(), ranking.average_precision

    figure, axes, note = _draw_curves(labels, posterior, classes, of, curve, "mean precision")
    axes.set_xlabel("recall: share of the class that is predicted as such")
    axes.set_ylabel("precision: share of these predictions that are right")
    return with_title(figure, "Precision and recall at every threshold", f"to the right and up is better{note}")


def _draw_curves(
    labels: Sequence[object], posterior: Floats, classes: Sequence[object], of: object, curve: Curve, score: str
) -> tuple[Figure, Axes, str]:
    """Draw a curve for each class that some rows have and others have not; only the worst ones are named."""
    label = np.array(class_positions(labels, classes))
    drawn = range(len(classes)) if len(classes) != 2 else [1]
    if of is not None:
        drawn = class_positions([of], classes)
    curves = [
        (c, *curve(Ranking.of(label == c, posterior[:, c]))) for c in drawn if 0 < (label == c).sum() < len(label)
    ]
    if not curves:
        raise InputError("a ranking needs rows of the class and rows of others: the labels have only one kind.")
    curves.sort(key=lambda part: part[3])
    figure, (axes,) = panels(6.2, 6.4)
    for _, x, y, _ in curves[MAX_NAMED:]:
        axes.plot(x, y, color="#b5b5b5", linewidth=0.7, zorder=1)
    handles, names = [], []
    class_names = short_names([classes[c] for c, *_ in curves[:MAX_NAMED]])
    for (_, x, y, area), name, colour in zip(curves, class_names, COLOURS, strict=False):
        handles += axes.plot(x, y, color=colour, linewidth=1.6, zorder=3)
        names.append(f"{name}: {score} {area:.3f}")
    legend_below(figure, handles, names, columns=2)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    clean_axes(axes, "both")
    note = f"; named are the {MAX_NAMED} worst of {len(curves)} classes" if len(curves) > MAX_NAMED else ""
    return figure, axes, note
