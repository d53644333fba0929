"""What each column has learnt of each class: bars of values and bins, curves with the histogram of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.names import listed
from naively.errors import InputError
from naively.explanation.bins import interval_words
from naively.explanation.explain import scored_blocks
from naively.explanation.tokens import coin_scores
from naively.families import Bernoulli, Presence
from naively.families.binned import BinnedParameters
from naively.families.categorical import CategoricalParameters
from naively.families.evidence import shown_value
from naively.families.gaussian import GaussianParameters
from naively.families.multinomial import TokenParameters
from naively.model.model import Model
from naively.plot.style import MANY, colour_of, empty_figure, legend_below, name_of, names_of, plain_axes, title
from naively.schema.schema import Block
from naively.statistics import Histogram, Numbers, NumberSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["distributions"]

MOST_VALUES = 12  # values or bins of a column that are drawn, the most frequent


def distributions(model: Model, columns: Sequence[str] | None = None, most: int = 9) -> Figure:
    """One panel per column (the first `most`, or those named), one colour per class; many classes are rows of shades.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain"], "wind": [1.0, 2.0, 9.0]}, ["yes", "yes", "no"])
    >>> figure = distributions(model)
    """
    found = {name: (block, fitted, j) for block, fitted, j, name in _columns(model)}
    there = {name: found[name] for name in model.schema.names if name in found}
    absent = [name for name in columns or () if name not in there]
    if absent:
        reason = model.chosen.left_out.get(absent[0], "it has words, or is not in the model")
        raise InputError(
            f"column {absent[0]!r} has no distribution to draw ({reason}); drawn are {listed(list(there))}."
        )
    names = list(columns) if columns else [name for name in there if _tells(*there[name])][:most]
    if not names:
        raise InputError("the model has no column of values or numbers: draw its words instead.")
    many = len(model.classes) > MANY
    across = 1 if len(names) == 1 else 2 if len(names) <= 4 or many else 3
    down = -(-len(names) // across)
    tall = 1.2 + 0.16 * len(model.classes) if many else 2.5
    figure = empty_figure(max(11 / 3 * across, 6.5), 1.3 + tall * down)
    panels = figure.subplots(down, across, squeeze=False)
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(panels.flat, names, strict=False):
        _panel(panel, model, name, *there[name], many)
        panel.set_title(name_of(name, 30), fontsize=9, loc="left")
    if not many:
        from matplotlib.patches import Patch

        handles = [Patch(color=colour_of(c)) for c in range(len(model.classes))]
        legend_below(figure, handles, names_of(model.classes), columns=6)
    cut = f"; {len(names)} of {len(there)} columns" if len(names) < len(there) else ""
    shade = (
        "darker is more probable"
        if many
        else "curves are densities, with the data's histogram behind them where it is kept"
    )
    title(
        figure,
        f"What each column has learnt of {name_of(model.target)}",
        f"probability of each value within a class; {shade}{cut}",
    )
    return figure


def _columns(model: Model) -> Iterator[tuple[Block, Any, int, str]]:
    """The columns that have a distribution of their own."""
    for block, _, fitted in scored_blocks(model):
        drawn = (CategoricalParameters, BinnedParameters, GaussianParameters, np.ndarray)
        coins = isinstance(block.family, Bernoulli) and not isinstance(block.family, Presence)
        if isinstance(fitted, drawn) or (coins and isinstance(fitted, TokenParameters)):
            yield from ((block, fitted, j, name) for j, name in enumerate(block.names))


def _tells(block: Block, fitted: Any, j: int) -> bool:
    """Whether a column can be more than one thing: a number that no cut divides says nothing."""
    return not isinstance(fitted, BinnedParameters) or len(fitted.column_cuts(j)) > 0


def _panel(panel: Any, model: Model, name: str, block: Block, fitted: Any, j: int, many: bool) -> None:
    if isinstance(fitted, (GaussianParameters, np.ndarray)):
        _curves(panel, model, name, block, fitted, j, many)
        return
    marks, share = _shares(block, fitted, j)
    if len(marks) > MOST_VALUES and not isinstance(fitted, BinnedParameters):
        order = np.sort(np.argsort(-share.sum(axis=1), kind="stable")[:MOST_VALUES])
        panel.set_xlabel(f"the {MOST_VALUES} most frequent of {len(marks)} values", fontsize=7)
        marks, share = [marks[k] for k in order], share[order]
    if many:
        _shades(panel, model, share)
    else:
        width = 0.8 / len(model.classes)
        for c in range(len(model.classes)):
            at = np.arange(len(marks)) + (c - (len(model.classes) - 1) / 2) * width
            panel.bar(at, share[:, c], width=width * 0.95, color=colour_of(c))
        panel.set_ylabel("probability", fontsize=8)
        plain_axes(panel, "y")
    step = -(-len(marks) // (2 * MOST_VALUES))  # marks that have a name
    letters = max(len(mark) for mark in marks) * len(marks)
    names = names_of(marks[::step], 18)
    panel.set_xticks(range(0, len(marks), step), names, rotation=0 if letters < 34 else 90, fontsize=7)
    panel.tick_params(axis="y", labelsize=7)


def _shares(block: Block, fitted: Any, j: int) -> tuple[list[str], NDArray[np.float64]]:
    """What a column can be, and the probability of each in every class, (value, class)."""
    if isinstance(fitted, CategoricalParameters):
        return [str(value) for value in fitted.values[j]], np.exp(fitted.log_probability[j])
    if isinstance(fitted, BinnedParameters):
        cuts = fitted.column_cuts(j)
        marks = [interval_words(cuts, b, block.kind(j)) for b in range(len(cuts) + 1)]
        return marks, np.exp(fitted.column_log_probability(j))
    sides = [coin_scores(fitted.form, np.array([j]), up)[0] for up in (False, True)]
    return ["no", "yes"], np.exp(np.array(sides))


def _shades(panel: Any, model: Model, share: NDArray[np.float64]) -> None:
    """A row for each class."""
    panel.imshow(share.T, aspect="auto", cmap="Blues", vmin=0, interpolation="nearest")
    panel.set_yticks(range(len(model.classes)), names_of(model.classes))


def _curves(panel: Any, model: Model, name: str, block: Block, fitted: Any, j: int, many: bool) -> None:
    """The density of each class over what is usual, with the data's histogram where it is kept."""
    whole = block.family.support == "count"
    grid = _grid(block, fitted, j)
    rows = np.full((len(grid), len(block.names)), np.nan)
    rows[:, j] = grid
    scores = np.zeros((len(grid), len(model.classes)))
    block.family.log_likelihood(Numbers((rows,)), fitted, scores)
    density = np.exp(scores)
    if many:
        _shades(panel, model, density / np.maximum(density.max(axis=0), 1e-300))
        ticks = np.linspace(0, len(grid) - 1, 5).astype(int)
        panel.set_xticks(ticks, [shown_value(float(f"{grid[k]:.3g}"), block.kind(j))[1] for k in ticks], fontsize=7)
        panel.tick_params(axis="y", labelsize=7)
        return
    kept = _histogram(model, name)
    for c in range(len(model.classes)):
        if kept is not None:
            values, weight = kept[0], kept[1][:, c]
            panel.hist(
                values,
                bins=24,
                range=(grid[0], grid[-1]),
                weights=weight,
                density=bool(weight.sum()),
                color=colour_of(c),
                alpha=0.22,
            )
        panel.plot(grid, density[:, c], color=colour_of(c), linewidth=1.5, marker="o" if whole else None, markersize=3)
    if block.kind(j) == "date":
        ticks = np.linspace(0, len(grid) - 1, 4).astype(int)
        panel.set_xticks(grid[ticks], [shown_value(grid[k], "date")[1][:10] for k in ticks])
    panel.yaxis.set_major_formatter("{x:.3g}")
    panel.set_ylabel("probability" if whole else "density", fontsize=8)
    panel.tick_params(labelsize=7)
    plain_axes(panel, "y")


def _grid(block: Block, fitted: Any, j: int) -> NDArray[np.float64]:
    """Numbers that cover what is usual in any class."""
    if isinstance(fitted, GaussianParameters):
        mean, deviation = fitted.mean[:, j], np.sqrt(fitted.variance[:, j])
        low, high = float((mean - 3.2 * deviation).min()), float((mean + 3.2 * deviation).max())
        if block.family.support == "positive":
            high = float((mean + 1.8 * deviation).max())
            return np.linspace(np.exp(low), np.exp(high), 300)
        return np.linspace(low, high, 300)
    rate = fitted[:, j][np.isfinite(fitted[:, j]) & (fitted[:, j] > 0)]
    if block.family.support == "count":
        top = float(rate.max(initial=1.0))
        return np.arange(0, np.ceil(top + 4 * np.sqrt(top)) + 2)
    return np.linspace(0, 5 / float(rate.min(initial=1e300)) if len(rate) else 1.0, 300)


def _histogram(model: Model, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The values of a column that were counted, and their weight, (value, class); None if only moments are kept."""
    for block, statistic in zip(model.schema.blocks, model.statistics, strict=True):
        found = statistic.histogram if isinstance(statistic, NumberSummary) else statistic
        if name in block.names and isinstance(found, Histogram):
            j = block.names.index(name)
            part = slice(int(found.cells.offsets[j]), int(found.cells.offsets[j + 1]))
            weight = np.zeros((part.stop - part.start, found.n_classes))
            weight[np.arange(len(weight)), found.cells.classes[part]] = found.cells.weight[part]
            return found.values[part], weight
    return None
