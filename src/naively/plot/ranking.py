"""Draw how well probabilities rank the rows: ROC and precision–recall, each class against all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Floats
from naively.errors import InputError
from naively.evaluation import Evaluation
from naively.evaluation.ranking import Ranking
from naively.explanation.palette import GREY, PAPER
from naively.plot.style import class_positions, clean_axes, dashes, legend_below, panels, short_names, with_title
from naively.plot.subject import about, labels_and_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from naively.data.labelled import LabelsLike
    from naively.evaluation import ClassMetrics
    from naively.plot.subject import Judged, Rows, about

Curve = Callable[[Ranking], tuple[Floats, Floats, float]]  # x, y, area

ClassCurve = tuple[int, Floats, Floats, float]  # class, x, y, area

MAX_NAMED = 6  # curves that have a colour and a name; the others are thin and grey


def roc(
    labels: Judged,
    posterior: Rows | None = None,
    classes: LabelsLike = None,
    of: object = None,
    *,
    ax: Axes | None = None,
    target: str | None = None,
) -> Figure:
    """Draw true against false positives at every threshold.

    Call it in one of three ways: `roc(evaluation)`; `roc(model, rows, labels)`, which scores rows that the model has
    counted by leave-one-out, and takes a model file or an estimator too; or `roc(labels, posterior, classes)`.

    Parameters
    ----------
    labels
        The class of each row; or a model, its file, a fitted estimator, or an `Evaluation`.
    posterior
        The probabilities (row, class), as `Model.posterior` returns them; after a model, the rows.
    classes
        The classes; after a model, the labels of the rows.
    of
        Draw the curve of this class only. Default: the last of two classes, or all of more.
    ax
        Draw in these axes of matplotlib, not in a new figure.
    target
        What is predicted, for the title. Default: that of the model.

    >>> figure = roc(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """

    def curve(ranking: Ranking) -> tuple[Floats, Floats, float]:
        return *ranking.roc(), ranking.area

    curves, names = _curves(labels, posterior, classes, of, curve, lambda c: (c.roc, c.auc.value))
    figure, axes, note = _draw_curves(curves, names, "area", ax)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("false positives, share of the other classes")
    axes.set_ylabel("true positives, share of the class")
    return with_title(
        figure,
        about(labels, target) + "ROC: true against false positives at every threshold",
        f"dotted: guessing{note}",
        ax,
    )


def precision_recall(
    labels: Judged,
    posterior: Rows | None = None,
    classes: LabelsLike = None,
    of: object = None,
    *,
    ax: Axes | None = None,
    target: str | None = None,
) -> Figure:
    """Draw precision against recall at every threshold; the parameters are those of `roc`.

    >>> figure = precision_recall(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """

    def curve(ranking: Ranking) -> tuple[Floats, Floats, float]:
        return *ranking.precision_recall(), ranking.average_precision

    curves, names = _curves(labels, posterior, classes, of, curve, lambda c: (c.precision_recall, c.average_precision))
    figure, axes, note = _draw_curves(curves, names, "mean precision", ax)
    axes.set_xlabel("recall: share of the class that is predicted as such")
    axes.set_ylabel("precision: share of these predictions that are right")
    return with_title(
        figure,
        about(labels, target) + "precision and recall at every threshold",
        f"to the right and up is better{note}",
        ax,
    )


def _curves(
    labels: Judged,
    posterior: Rows | None,
    classes: LabelsLike,
    of: object,
    curve: Curve,
    stored: Callable[[ClassMetrics], tuple[Floats, float]],
) -> tuple[list[ClassCurve], Sequence[object]]:
    """Return a curve for each class that some rows have and others have not, the worst first; and all classes."""
    if isinstance(labels, Evaluation):
        names: Sequence[object] = labels.classes
        points = [(c, *stored(labels.by_class[c])) for c in _drawn(names, of)]
        curves = [(c, xy[:, 0], xy[:, 1], area) for c, xy, area in points if len(xy)]
    else:
        truth, p, names = labels_and_posterior(labels, posterior, classes)
        label = np.array(class_positions(truth, names))
        drawn = [c for c in _drawn(names, of) if 0 < (label == c).sum() < len(label)]
        curves = [(c, *curve(Ranking.of(label == c, p[:, c]))) for c in drawn]
    if not curves:
        raise InputError("a ranking needs rows of the class and rows of others: the labels have only one kind.")
    return sorted(curves, key=lambda part: part[3]), names


def _drawn(classes: Sequence[object], of: object) -> Sequence[int]:
    """Return the positions of the classes that have a curve."""
    if of is not None:
        return class_positions([of], classes)
    return range(len(classes)) if len(classes) != 2 else [1]


def _draw_curves(
    curves: Sequence[ClassCurve], classes: Sequence[object], score: str, ax: Axes | None
) -> tuple[Figure | SubFigure, Axes, str]:
    """Draw curves; only the first ones are named. A class has the colour of its position."""
    figure, (axes,) = panels(6.2, 6.4, ax=ax)
    for _, x, y, _ in curves[MAX_NAMED:]:
        axes.plot(x, y, color=GREY, linewidth=0.5, alpha=0.6, zorder=1)
    handles, names = [], []
    class_names = short_names([classes[c] for c, *_ in curves[:MAX_NAMED]])
    in_order = len(classes) > len(PAPER)  # more classes than colours: the named ones must differ
    for i, ((c, x, y, area), name) in enumerate(zip(curves, class_names, strict=False)):
        k = i if in_order else c
        handles += axes.plot(x, y, color=PAPER[k], linestyle=dashes(k, len(classes)), linewidth=1.6, zorder=3)
        names.append(f"{name}: {score} {area:.3f}")
    legend_below(figure, handles, names, columns=2, ax=ax)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    clean_axes(axes, "both")
    note = f"; named are the {MAX_NAMED} worst of {len(curves)} classes" if len(curves) > MAX_NAMED else ""
    return figure, axes, note
