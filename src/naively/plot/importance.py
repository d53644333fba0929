"""Draw what each column is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively.data.text_table import format_number
from naively.explanation.palette import MUTED
from naively.model.model import Model, ModelLike
from naively.plot.style import clean_axes, panels, short_name, with_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from naively.data.labelled import LabelsLike
    from naively.data.read import TableLike


def importance(
    model: ModelLike,
    n: int = 20,
    *,
    rows: TableLike | None = None,
    labels: LabelsLike = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw how much the log-loss grows without each column, with its interval, and what the column is worth alone.

    Parameters
    ----------
    model
        A model, its file, or a fitted estimator.
    n
        The number of columns, those that are worth the most.
    rows, labels
        The rows that the model was fitted on, with their classes: needed if it is not tuned, or has more than 256
        columns.
    ax
        Draw in these axes of matplotlib, not in a new figure.

    >>> import naively
    >>> rows = {"sky": ["sun", "sun", "rain", "rain"] * 5, "wind": ["calm", "gusty"] * 10}
    >>> figure = importance(naively.fit(rows, ["yes", "yes", "no", "no"] * 5))
    """
    model = Model.of(model)
    worth = model.importance(rows, labels)
    shown = worth[:n]
    figure, (axes,) = panels(7.4, 1.6 + 0.3 * len(shown), ax=ax)
    places = range(len(shown))
    axes.barh(places, [column.nats for column in shown], color=MUTED, height=0.6)
    reach = [[column.nats - column.low for column in shown], [column.high - column.nats for column in shown]]
    axes.errorbar([column.nats for column in shown], places, xerr=reach, fmt="none", ecolor="black", elinewidth=1)
    axes.set_yticks(places, [short_name(column.name, 28) for column in shown], fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("nats per row that the log-loss grows without the column", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    clean_axes(axes, "x")
    most = max((column.high for column in shown), default=1.0)
    for y, column in enumerate(shown):
        text = f"alone {format_number(column.alone, '.3f')}" + (f", {column.remark}" if column.remark else "")
        axes.text(max(column.high, 0.0) + 0.015 * most, y, text, va="center", fontsize=7)
    low = min(0.0, *(column.low for column in shown))
    axes.set_xlim(low - 0.02 * most, 1.42 * most)
    more = f"; {len(worth) - n} columns that are worth less are not shown" if len(worth) > n else ""
    return with_title(
        figure,
        f"{short_name(model.target)}: what each column is worth",
        f"by leave-one-out, with 95 % interval; alone: what it is worth without the others{more}",
        ax,
    )
