"""Draw calibration: of the predictions with probability p, is a share p right?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Bools, Floats, Wholes
from naively.plot.style import COLOURS, GREY, class_positions, clean_axes, legend_below, panels, short_name, with_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    labels: Sequence[object], posterior: Floats, classes: Sequence[object], of: object = None, bins: int = 15
) -> Figure:
    """Draw the share of the rows that are of a class against its probability.

    Parameters
    ----------
    labels, posterior, classes
        As in `roc`.
    of
        The class. Default: the last of two; with more classes, the prediction of each row.
    bins
        The number of bins, of equal width.

    >>> figure = calibration(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """
    label = np.array(class_positions(labels, classes))
    if of is None and len(classes) != 2:
        p, is_right, what, share = posterior.max(axis=1), posterior.argmax(axis=1) == label, "the answer", "right"
    else:
        (c,) = class_positions([classes[-1] if of is None else of], classes)
        what = share = short_name(classes[c])
        p, is_right = posterior[:, c], label == c
    mean, right, rows = reliability(p, is_right, bins)
    error = float((np.abs(mean - right) * rows).sum() / max(len(p), 1))
    figure, (upper, lower) = panels(6.2, 6.8, 2, height_ratios=(4, 1), sharex=True)
    ideal = upper.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=":")
    line = upper.plot(mean, right, color=COLOURS[0], marker="o", markersize=4, linewidth=1.5)
    half_width = 1.96 * np.sqrt(np.maximum(right * (1 - right), 1e-9) / rows)
    low, high = np.maximum(right - half_width, 0), np.minimum(right + half_width, 1)
    upper.vlines(mean, low, high, color=COLOURS[0], linewidth=0.8)
    upper.set_ylabel(f"share of rows that are {share}")
    upper.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    lower.bar(np.arange(bins) / bins + 0.5 / bins, np.histogram(p, bins, (0, 1))[0], width=0.9 / bins, color=GREY)
    lower.set_ylabel("rows")
    lower.set_xlabel(f"probability of {what}")
    for axes in (upper, lower):
        clean_axes(axes, "both")
    legend_below(figure, [*line, *ideal], [f"{len(p):,} rows, with 95 % error bars", "perfect calibration"])
    return with_title(
        figure,
        f"Calibration: is {what} right as often as its probability says?",
        f"mean distance from the dotted line: {error:.3f}",
    )
