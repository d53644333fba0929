"""How well the probabilities rank: ROC and precision–recall, each class against all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError
from naively.plot.style import COLOURS, GREY, empty_figure, legend_below, names_of, plain_axes, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["precision_recall", "roc"]

NAMED = 6  # curves that have a colour and a name; of more classes the others are thin and grey


def roc(labels: Sequence[Any], posterior: NDArray[np.float64], classes: Sequence[Any], of: Any = None) -> Figure:
    """True against false positives at every threshold; with two classes one curve, of the last class or of `of`.

    >>> figure = roc(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """
    from sklearn.metrics import roc_auc_score, roc_curve

    def curve(truth: NDArray[np.bool_], p: NDArray[np.float64]) -> tuple[Any, Any, float]:
        false, true, _ = roc_curve(truth, p)
        return false, true, float(roc_auc_score(truth, p))

    figure, axes, worst = _curves(labels, posterior, classes, of, curve, "area")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("false positives, share of the other classes")
    axes.set_ylabel("true positives, share of the class")
    title(figure, "ROC: true against false positives at every threshold", f"dotted: guessing{worst}")
    return figure


def precision_recall(
    labels: Sequence[Any], posterior: NDArray[np.float64], classes: Sequence[Any], of: Any = None
) -> Figure:
    """Precision against recall at every threshold; with two classes one curve, of the last class or of `of`.

    >>> figure = precision_recall(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    def curve(truth: NDArray[np.bool_], p: NDArray[np.float64]) -> tuple[Any, Any, float]:
        precision, recall, _ = precision_recall_curve(truth, p)
        return recall, precision, float(average_precision_score(truth, p))

    figure, axes, worst = _curves(labels, posterior, classes, of, curve, "mean precision")
    axes.set_xlabel("recall: share of the class that is found")
    axes.set_ylabel("precision: share of what is found that is right")
    title(figure, "Precision and recall at every threshold", f"to the right and up is better{worst}")
    return figure


def _curves(
    labels: Sequence[Any], posterior: NDArray[np.float64], classes: Sequence[Any], of: Any, curve: Any, score: str
) -> tuple[Figure, Any, str]:
    """A curve for each class that has cases and others; the worst ones have names."""
    truth = np.array([list(classes).index(label) for label in labels])
    wanted = (
        [list(classes).index(of)]
        if of is not None
        else [len(classes) - 1]
        if len(classes) == 2
        else range(len(classes))
    )
    found = [(c, *curve(truth == c, posterior[:, c])) for c in wanted if 0 < (truth == c).sum() < len(truth)]
    if not found:
        raise InputError("a ranking needs rows of the class and rows of others: the labels have only one kind.")
    found.sort(key=lambda part: part[3])
    figure = empty_figure(6.2, 6.4)
    axes = figure.add_subplot()
    for _, x, y, _ in found[NAMED:]:
        axes.plot(x, y, color="#b5b5b5", linewidth=0.7, zorder=1)
    handles, names, told = [], [], names_of([classes[c] for c, _, _, _ in found[:NAMED]])
    for i, (_, x, y, area) in enumerate(found[:NAMED]):
        handles += axes.plot(x, y, color=COLOURS[i], linewidth=1.6, zorder=3)
        names.append(f"{told[i]}: {score} {area:.3f}")
    legend_below(figure, handles, names, columns=2)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    plain_axes(axes, "both")
    more = f"; named are the {NAMED} worst of {len(found)} classes" if len(found) > NAMED else ""
    return figure, axes, more
