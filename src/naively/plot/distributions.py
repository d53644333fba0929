"""Draw the distribution of each column in each class: bars of values and bins, curves over the data's histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Floats
from naively.data.names import listed
from naively.data.text_table import format_number
from naively.errors import InputError
from naively.explanation.column_curves import ColumnCurve, column_curves
from naively.explanation.nomogram import round_dates, round_numbers
from naively.explanation.palette import PAPER
from naively.families.evidence import format_value
from naively.model.model import Model, ModelLike
from naively.plot.style import clean_axes, dashes, legend_below, panels, short_name, short_names, with_title

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MAX_VALUES = 12  # of a categorical column, the most frequent ones
N_HISTOGRAM_BINS = 24
MAX_DATES = 4  # below a panel
MAX_TICKS = 6  # below rows of shades


def distributions(
    model: ModelLike, columns: Sequence[str] | None = None, top: int = 9, *, ax: Axes | None = None
) -> Figure:
    """Draw the distribution of each column in each class, as the model has estimated it.

    Parameters
    ----------
    model
        A model, its file, or a fitted estimator.
    columns
        The columns to draw. Default: the `top` ones that are worth the most; without a tuning, the first ones.
    top
        The number of columns without `columns`.
    ax
        Draw in these axes of matplotlib, not in a new figure; `columns` has one column then.

    Returns
    -------
    Figure
        One panel per column, one colour per class; more than eight classes are rows of shades.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain"], "wind": [1.0, 2.0, 9.0]}, ["yes", "yes", "no"])
    >>> figure = distributions(model)
    """
    model = Model.of(model)
    curves = {curve.name: curve for curve in column_curves(model)}
    curves = {name: curves[name] for name in _by_importance(model) if name in curves}
    for name in columns or ():
        if name not in curves:
            reason = model.chosen.left_out.get(name, "it has words, no known range, or is not in the model")
            raise InputError(f"column {name!r} has no distribution to draw ({reason}); drawn are {listed([*curves])}.")
    names = list(columns) if columns else [name for name, c in curves.items() if len(c.grid.values) > 1][:top]
    if not names:
        blocks = model.chosen.schema.blocks
        families = listed(sorted({type(block.family).__name__ for block in blocks})) if blocks else "none"
        texts = [name for block in blocks if block.family.own_block for name in block.names]
        advice = f": draw the words of {texts[0]!r} instead" if texts else ""
        raise InputError(
            f"the model uses no column whose distribution can be drawn (families of its columns: {families}){advice}."
        )
    n_classes = len(model.classes)
    in_shades = n_classes > len(PAPER)
    n_across = 1 if len(names) == 1 else 2 if len(names) <= 4 or in_shades else 3
    n_down = -(-len(names) // n_across)
    panel_height = 1.2 + 0.16 * n_classes if in_shades else 2.5
    figure, axes = panels(max(11 / 3 * n_across, 6.5), 1.3 + panel_height * n_down, n_down, n_across, len(names), ax=ax)
    for panel, name in zip(axes, names, strict=True):
        if in_shades:
            _draw_shades(panel, curves[name], model.classes)
        elif curves[name].grid.marks is not None:
            _draw_bars(panel, curves[name])
        else:
            _draw_curves(panel, curves[name], _histogram(model, name))
        if ax is None:
            panel.set_title(short_name(name, 30), fontsize=9, loc="left")
    if not in_shades:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Artist] = [Patch(color=PAPER[c]) for c in range(n_classes)]
        if n_classes > 2 and all(curves[name].grid.marks is None for name in names):
            lines = ((PAPER[c], dashes(c, n_classes)) for c in range(n_classes))
            handles = [Line2D([], [], color=colour, linestyle=style, linewidth=2.5) for colour, style in lines]
        legend_below(figure, handles, short_names(model.classes), columns=6, ax=ax)
    cut = f"; {len(names)} of {len(curves)} columns, by what they are worth" if len(names) < len(curves) else ""
    key = "darker is more probable" if in_shades else "bars: share within the class; curve: fitted density"
    what = "each column" if ax is None else short_name(names[0], 30)
    return with_title(figure, f"{short_name(model.target)}: distribution of {what} by class", key + cut, ax)


def _by_importance(model: Model) -> list[str]:
    """Return all columns, those that are worth the most first; a model without a tuning does not know it."""
    worth = () if model.tuning is None else model.tuning.importance
    return list(dict.fromkeys((*(column.name for column in worth), *model.schema.names)))


def _draw_bars(panel: Axes, curve: ColumnCurve) -> None:
    """Draw the probability of each value, side by side for the classes."""
    marks, density = _most_frequent(panel, curve)
    n_classes = density.shape[1]
    width = 0.8 / n_classes
    for c in range(n_classes):
        at = np.arange(len(marks)) + (c - (n_classes - 1) / 2) * width
        panel.bar(at, density[:, c], width=width * 0.95, color=PAPER[c])
    panel.set_ylabel("probability", fontsize=8)
    clean_axes(panel, "y")
    _name_values(panel, marks)


def _most_frequent(panel: Axes, curve: ColumnCurve) -> tuple[list[str], Floats]:
    """Return the most frequent values of a column with many, and say so; bins of numbers are never left out."""
    marks, density = list(curve.grid.marks or ()), curve.density
    is_binned = isinstance(curve.grid.values, np.ndarray)
    if len(marks) <= MAX_VALUES or is_binned:
        return marks, density
    order = np.sort(np.argsort(-density.sum(axis=1), kind="stable")[:MAX_VALUES])
    panel.set_xlabel(f"the {MAX_VALUES} most frequent of {len(marks)} values", fontsize=7)
    return [marks[k] for k in order], density[order]


def _name_values(panel: Axes, marks: Sequence[str]) -> None:
    """Write the values below the panel, upright if they are long."""
    step = -(-len(marks) // (2 * MAX_VALUES))
    n_letters = max(map(len, marks)) * len(marks)
    rotation = 0 if n_letters < 34 else 90
    panel.set_xticks(range(0, len(marks), step), short_names(marks[::step], 18), rotation=rotation, fontsize=7)
    panel.tick_params(axis="y", labelsize=7)


def _draw_shades(panel: Axes, curve: ColumnCurve, classes: Sequence[object]) -> None:
    """Draw a row of shades for each class."""
    if curve.grid.marks is not None:
        marks, density = _most_frequent(panel, curve)
    else:
        marks, density = [], curve.density / np.maximum(curve.density.max(axis=0), 1e-300)
    panel.imshow(density.T, aspect="auto", cmap="Blues", vmin=0, interpolation="nearest")
    panel.set_yticks(range(len(classes)), short_names(classes))
    if marks:
        _name_values(panel, marks)
        return
    x = np.asarray(curve.grid.values, dtype=np.float64)
    ticks = round_dates(x[0], x[-1]) if curve.kind == "date" else round_numbers(x[0], x[-1])
    ticks = ticks[:: -(-len(ticks) // MAX_TICKS)]
    names = [format_value(t, "date")[1] if curve.kind == "date" else format_number(t, "g") for t in ticks.tolist()]
    panel.set_xticks(np.interp(ticks, x, np.arange(len(x))), names, fontsize=7)
    panel.tick_params(axis="y", labelsize=7)


def _draw_curves(panel: Axes, curve: ColumnCurve, histogram: tuple[Floats, Floats] | None) -> None:
    """Draw the density of each class over the histogram of the data, if the model has it."""
    x = np.asarray(curve.grid.values, dtype=np.float64)
    n_classes = curve.density.shape[1]
    for c in range(n_classes):
        colour, style = PAPER[c], dashes(c, n_classes)
        if histogram is not None:
            values, weight = histogram[0], histogram[1][:, c]
            panel.hist(
                values,
                N_HISTOGRAM_BINS,
                range=(x[0], x[-1]),
                density=bool(weight.sum()),
                weights=weight,
                color=colour,
                alpha=0.22,
            )
        marker = "o" if curve.is_count else None
        panel.plot(x, curve.density[:, c], color=colour, linestyle=style, linewidth=1.5, marker=marker, markersize=3)
    if curve.kind == "date":
        ticks = round_dates(x[0], x[-1])
        ticks = ticks[:: -(-len(ticks) // MAX_DATES)]
        panel.set_xticks(ticks, [format_value(t, "date")[1] for t in ticks.tolist()])
    panel.yaxis.set_major_formatter("{x:.3g}")
    panel.set_ylabel("probability" if curve.is_count else "density", fontsize=8)
    panel.tick_params(labelsize=7)
    clean_axes(panel, "y")


def _histogram(model: Model, name: str) -> tuple[Floats, Floats] | None:
    """Return the counted numbers of a column and their weight, (value, class); None if the statistic has only sums."""
    for block, statistic in zip(model.schema.blocks, model.statistics, strict=True):
        if name in block.names:
            table = statistic.table(block.names.index(name))
            return None if table is None else (np.array(table.values, dtype=np.float64), table.weight)
    return None
