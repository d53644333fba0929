"""Pictures can be read in grey: lines of several classes have different dashes, and scales keep their distance."""

from collections.abc import Sequence

import numpy as np
import pytest
from matplotlib.lines import Line2D

import naively
from naively import plot


def model_of(n_classes: int) -> tuple[naively.Model, dict[str, list[float]], list[str]]:
    """Return a model of numbers with this many classes, and its rows."""
    rng = np.random.default_rng(1)
    label = np.arange(40 * n_classes) % n_classes
    table = {name: (label + rng.normal(size=len(label))).tolist() for name in ("a", "b")}
    names = [f"class {c}" for c in label]
    return naively.fit(table, names, columns=dict.fromkeys(table, naively.Gaussian()), tune=False), table, names


def styles(lines: Sequence[Line2D]) -> list[str]:
    return [str(line.get_linestyle()) + str(vars(line)["_dash_pattern"]) for line in lines]


@pytest.mark.parametrize(("n_classes", "n_styles"), [(2, 1), (3, 3), (8, 8)])
def test_lines_of_several_classes_differ_in_their_dashes(n_classes: int, n_styles: int) -> None:
    model, _, _ = model_of(n_classes)
    figure = plot.distributions(model)
    for axes in figure.axes:
        assert len(set(styles(axes.lines))) == n_styles
    assert len(set(styles(figure.legends[0].get_lines()))) == (n_styles if n_classes > 2 else 0)


def test_curves_that_are_named_differ_in_their_dashes() -> None:
    model, table, names = model_of(6)
    for draw in (plot.roc, plot.precision_recall):
        lines = [line for line in draw(model, table, names).axes[0].lines if line.get_linewidth() > 1]
        assert len(lines) == len(set(styles(lines))) == 6


def test_scales_of_a_nomogram_do_not_touch_the_list_above() -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 4000)
    table = {
        f"column {j}": [f"value {v:03}" for v in np.clip(rng.normal(30 + 20 * label, 12), 0, 80).astype(int).tolist()]
        for j in range(3)
    }
    figure = plot.nomogram(naively.fit(table, label, tune=False))
    figure.canvas.draw()
    axes = figure.axes[0]
    lists = [text for text in axes.texts if " = " in text.get_text().replace("\N{NO-BREAK SPACE}", " ")]
    assert lists
    scales = [line.get_window_extent() for line in axes.lines if len(np.asarray(line.get_xdata())) == 2]
    for text in lists:
        assert not any(text.get_window_extent().padded(12).overlaps(scale) for scale in scales)


def test_shades_have_round_numbers_below() -> None:
    model, _, _ = model_of(10)
    for axes in plot.distributions(model).axes:
        numbers = [float(tick.get_text().replace("−", "-")) for tick in axes.get_xticklabels()]
        assert 3 <= len(numbers) <= 6
        assert len(set(np.diff(numbers).round(9).tolist())) == 1
