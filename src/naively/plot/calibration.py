"""Calibration: of the answers given with probability p, are a share p right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.plot.style import COLOURS, GREY, empty_figure, legend_below, name_of, plain_axes, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Reliability", "calibration", "reliability"]


@dataclass(frozen=True, eq=False)
class Reliability:
    """In each bin the mean probability, the share that was right, and the cases; and the mean distance of the two."""

    mean: NDArray[np.float64]
    share: NDArray[np.float64]
    cases: NDArray[np.int64]
    error: float


def reliability(p: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 15) -> Reliability:
    """Bins of equal width between 0 and 1; those without a case are left out.

    >>> found = reliability(np.array([0.9, 0.95, 0.1]), np.array([True, False, False]), bins=5)
    >>> found.mean.round(3).tolist(), found.share.tolist(), found.cases.tolist(), round(found.error, 4)
    ([0.1, 0.925], [0.0, 0.5], [1, 2], 0.3167)
    """
    place = np.minimum((p * bins).astype(np.intp), bins - 1)
    cases = np.bincount(place, minlength=bins)
    some = cases > 0
    mean = np.bincount(place, p, bins)[some] / cases[some]
    share = np.bincount(place, right, bins)[some] / cases[some]
    error = float((np.abs(mean - share) * cases[some]).sum() / max(len(p), 1))
    return Reliability(mean, share, cases[some], error)


def calibration(
    labels: Sequence[Any], posterior: NDArray[np.float64], classes: Sequence[Any], of: Any = None, bins: int = 15
) -> Figure:
    """The share that was right against the probability given to `of`, the last of two classes, or else the answer.

    >>> figure = calibration(["a", "b", "b"], np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), ["a", "b"])
    """
    truth = np.array([list(classes).index(label) for label in labels])
    if of is None and len(classes) != 2:
        p, right, what = posterior.max(axis=1), posterior.argmax(axis=1) == truth, "the answer"
    else:
        c = len(classes) - 1 if of is None else list(classes).index(of)
        p, right, what = posterior[:, c], truth == c, name_of(classes[c])
    found = reliability(p, right, bins)
    figure = empty_figure(6.2, 6.8)
    upper, lower = figure.subplots(2, 1, height_ratios=(4, 1), sharex=True)
    ideal = upper.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=":")
    given = upper.plot(found.mean, found.share, color=COLOURS[0], marker="o", markersize=4, linewidth=1.5)
    spread = 1.96 * np.sqrt(np.maximum(found.share * (1 - found.share), 1e-9) / found.cases)
    upper.vlines(
        found.mean,
        np.maximum(found.share - spread, 0),
        np.minimum(found.share + spread, 1),
        color=COLOURS[0],
        linewidth=0.8,
    )
    upper.set_ylabel(f"share that is {what}" if what != "the answer" else "share of answers that are right")
    upper.set_xlim(-0.02, 1.02)
    upper.set_ylim(-0.02, 1.02)
    lower.bar(np.arange(bins) / bins + 0.5 / bins, np.histogram(p, bins, (0, 1))[0], width=0.9 / bins, color=GREY)
    lower.set_ylabel("rows")
    lower.set_xlabel(f"probability given to {what}")
    for axes in (upper, lower):
        plain_axes(axes, "both")
    legend_below(figure, [*given, *ideal], [f"{len(p):,} rows, with 95 % error bars", "as it should be"])
    title(
        figure,
        f"Calibration: is {what} right as often as it is said to be?",
        f"mean distance from the dotted line: {found.error:.3f}",
    )
    return figure
