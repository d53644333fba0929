"""Draw calibration: of the predictions with probability p, is a share p right?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Bools, Floats, Wholes
from naively.errors import InputError
from naively.evaluation import Evaluation
from naively.evaluation.intervals import wilson
from naively.explanation.palette import GREY, MUTED, PAPER
from naively.plot.style import class_positions, clean_axes, legend_below, panels, short_name, with_title
from naively.plot.subject import about, labels_and_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from naively.data.labelled import LabelsLike
    from naively.plot.subject import Judged, Rows, about


def reliability(p: Floats, is_right: Bools, bins: int) -> tuple[Floats, Floats, Wholes]:
    """Return the mean probability, the share that is right and the number of rows of each bin of equal width.

    Bins without rows are left out.

    >>> mean, share, rows = reliability(np.array([0.9, 0.95, 0.1]), np.array([True, False, False]), bins=5)
    >>> mean.round(3).tolist(), share.tolist(), rows.tolist()
    ([0.1, 0.925], [0.0, 0.5], [1, 2])
    """
    bin_of_row = np.minimum((p * bins).astype(np.intp), bins - 1)
    rows = np.bincount(bin_of_row, minlength=bins)
    used = rows > 0
    mean = np.bincount(bin_of_row, p, bins)[used] / rows[used]
    share = np.bincount(bin_of_row, is_right, bins)[used] / rows[used]
    return mean, share, rows[used]


def calibration(
    labels: Judged,
    posterior: Rows | None = None,
    classes: LabelsLike = None,
    of: object = None,
    bins: int = 15,
    *,
    ax: Axes | None = None,
    target: str | None = None,
) -> Figure:
    """Draw the share of the rows that are of a class against its probability.

    Parameters
    ----------
    labels, posterior, classes
        As in `roc`: an evaluation; a model or an estimator, rows and labels; or labels, probabilities and classes.
    of
        The class. Default: the last of two; with more classes, the prediction of each row.
    bins
        The number of bins, of equal width. An evaluation has its own bins, of equal weight.
    ax
        Draw in these axes of matplotlib, without the number of rows, not in a new figure.
    target
        What is predicted, for the title. Default: that of the model.

    >>> figure = calibration(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """
    bars: tuple[Floats, Floats, float | Floats]  # where, how many rows, how wide
    if isinstance(labels, Evaluation):
        c = _position(labels.classes, of)
        stored = labels.calibration if c is None else labels.by_class[c].calibration
        if not stored:
            raise InputError("the evaluation has no calibration of this class: draw it from a model and rows.")
        names: Sequence[object] = labels.classes
        mean, rows = np.array([b.probability for b in stored]), np.array([b.weight for b in stored])
        right, low, high = np.array([b.observed for b in stored]).T
        bars = mean, rows, 0.012
    else:
        truth, posterior, names = labels_and_posterior(labels, posterior, classes)
        label, c = np.array(class_positions(truth, names)), _position(names, of)
        if c is None:
            p, is_right = posterior.max(axis=1), posterior.argmax(axis=1) == label
        else:
            p, is_right = posterior[:, c], label == c
        mean, right, rows = reliability(p, is_right, bins)
        _, low, high = np.array([wilson(*bin_) for bin_ in zip(right.tolist(), rows.tolist(), strict=True)]).T
        bars = np.arange(bins) / bins + 0.5 / bins, np.histogram(p, bins, (0, 1))[0], 0.9 / bins
    colour = MUTED if c is None else PAPER[c % len(PAPER)]
    what, share = ("the answer", "right") if c is None else (short_name(names[c]),) * 2
    n_rows = float(rows.sum())
    error = float((np.abs(mean - right) * rows).sum() / max(n_rows, 1e-300))
    if ax is None:
        figure, (upper, lower) = panels(6.2, 6.8, 2, height_ratios=(4, 1), sharex=True)
        lower.bar(bars[0], bars[1], width=bars[2], color=GREY)
        lower.set_ylabel("rows")
        clean_axes(lower, "both")
    else:
        figure, (upper,) = panels(6.2, 6.8, ax=ax)
        lower = upper
    ideal = upper.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=":")
    line = upper.plot(mean, right, color=colour, marker="o", markersize=4, linewidth=1.5)
    upper.vlines(mean, low, high, color=colour, linewidth=0.8)
    upper.set_ylabel(f"share of rows that are {share}")
    upper.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    lower.set_xlabel(f"probability of {what}")
    clean_axes(upper, "both")
    legend_below(figure, [*line, *ideal], [f"{n_rows:,.10g} rows, with 95 % error bars", "perfect calibration"], ax=ax)
    return with_title(
        figure,
        about(labels, target) + f"is {what} right as often as its probability says?",
        f"mean distance from the dotted line: {error:.3f}",
        ax,
    )


def _position(classes: Sequence[object], of: object) -> int | None:
    """Return the class to draw; None is the prediction of each row."""
    if of is None and len(classes) != 2:
        return None
    return class_positions([classes[-1] if of is None else of], classes)[0]
