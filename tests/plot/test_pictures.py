"""Draw every picture with two and with twenty classes and long, odd names: no text covers another."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

import naively as nb
from naively import plot
from naively.explanation.palette import PAPER

ODD = ["$x^2$ <script>", "a rather long name that goes on and on", "", "ß\nnew line"]


@cache
def example(n_classes: int) -> tuple[nb.Model, dict[str, Any], list[str]]:
    generator = np.random.default_rng(n_classes)
    code = generator.integers(0, n_classes, 600)
    label = [f"{ODD[c % 4]} {c}" for c in code]
    words = np.array([f"word{k}" for k in range(60)])
    table = {
        "a quite long name of a column of numbers": generator.normal(code, 3),
        "$value_": [f"{ODD[v % 4]} {v}" for v in (code // 4 + generator.integers(0, 4, 600))],
        "bins": generator.normal(code % 3, 1),
        "visits": generator.poisson(1 + code / 4),
        "wait": generator.exponential(1 + code),
        "flag": generator.random(600) < (code + 1) / (n_classes + 2),
        "text": [" ".join(generator.choice(words[3 * c % 50 :], 8)) for c in code],
    }
    families = {
        "a quite long name of a column of numbers": nb.Gaussian(),
        "visits": nb.Poisson(),
        "wait": nb.Exponential(),
        "text": nb.Text(),
    }
    return nb.fit(table, label, columns=families), table, label


def pictures(n_classes: int) -> Iterator[tuple[str, Figure]]:
    model, table, label = example(n_classes)
    posterior = model.posterior(table)
    answers = [model.classes[c] for c in posterior.argmax(axis=1)]
    yield "waterfall", plot.waterfall(model.explain({name: values[:1] for name, values in table.items()})[0])
    yield "nomogram", plot.nomogram(model)
    yield "importance", plot.importance(model)
    yield "distributions", plot.distributions(model)
    yield "words", plot.words(model)
    yield "calibration", plot.calibration(label, posterior, model.classes)
    yield "roc", plot.roc(label, posterior, model.classes)
    yield "precision_recall", plot.precision_recall(label, posterior, model.classes)
    yield "confusion", plot.confusion(label, answers, model.classes)


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Return pairs of texts that overlap by more than a pixel."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    not_drawn = {id(text) for text in _not_drawn(figure)}
    texts = [t for t in figure.findobj(Text) if isinstance(t, Text) and t.get_visible() and t.get_text().strip()]
    shown = [(t, t.get_window_extent(renderer).padded(-1)) for t in texts if id(t) not in not_drawn]
    return [(a.get_text(), b.get_text()) for (a, x), (b, y) in combinations(shown, 2) if x.overlaps(y)]


def _not_drawn(figure: Figure) -> Iterator[Any]:
    """Yield texts of panels that are not drawn, and ticks beyond the ends of their axis."""
    for axes in figure.axes:
        if not axes.get_visible():
            yield from axes.findobj(Text)
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not axes.axison or not low <= tick.get_loc() <= high:
                    yield from (tick.label1, tick.label2)


@pytest.mark.parametrize("n_classes", [2, 20])
def test_every_picture_is_drawn_and_readable(n_classes: int) -> None:
    drawn = dict(pictures(n_classes))
    assert sorted(drawn) == sorted(plot.__all__)
    for name, figure in drawn.items():
        assert overlaps(figure) == [], name
        for kind in ("svg", "png"):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind)
            assert len(buffer.getvalue()) > 2000
            assert b"<script>" not in buffer.getvalue()
        assert figure.get_suptitle()


def test_infinite_log_odds_and_refusals() -> None:
    table = {"x": ["a", "b", "a"]}
    model = nb.fit(table, [0, 1, 1], columns=nb.Categorical(alpha=0))
    sure = model.explain({"x": ["b"]}, leave_out=False)[0]
    assert not np.isfinite(sure.total)
    assert plot.waterfall(sure)
    with pytest.raises(nb.InputError, match="above zero"):
        plot.nomogram(model)
    with pytest.raises(nb.InputError, match="no column of words"):
        plot.words(model)
    with pytest.raises(nb.InputError, match="only one kind"):
        plot.roc([0, 0], np.array([[0.5, 0.5], [0.2, 0.8]]), [0, 1])
    with pytest.raises(nb.InputError, match="'y' has no distribution"):
        plot.distributions(nb.fit(table, [0, 1, 1]), ["y"])


def test_histogram_behind_the_curve() -> None:
    model = nb.fit({"x": np.arange(20.0) ** 1.5}, [0, 1] * 10)
    assert model.chosen.families() == {"x": "Gaussian(ddof=1.0, pooled_rows=2.0)"}
    (panel,) = (axes for axes in plot.distributions(model).axes if axes.get_visible())
    assert len(panel.patches) == 2 * 24


JUDGED: dict[str, Any] = {name: getattr(plot, name) for name in ("calibration", "roc", "precision_recall", "confusion")}


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_a_model_an_estimator_and_an_evaluation_can_be_drawn(name: str) -> None:
    draw = JUDGED[name]
    numbers = np.random.default_rng(3).normal(size=(60, 2)) + np.arange(60)[:, None] % 3
    labels = np.array(["a", "b", "c"])[np.arange(60) % 3]
    estimator = nb.GaussianNB().fit(numbers, labels)
    evaluation = estimator.model_.evaluate(numbers, labels)
    for arguments in ((evaluation,), (estimator.model_, numbers, labels), (estimator, numbers, labels)):
        assert draw(*arguments)._repr_png_().startswith(b"\x89PNG")
        own = Figure(figsize=(8, 4))
        panel, other = own.subplots(1, 2)
        assert draw(*arguments, ax=panel) is own
        assert panel.get_title(loc="left")
        assert not other.has_data()
    with pytest.raises(nb.InputError, match="rows"):
        draw(estimator)


def test_pictures_of_a_model_take_an_estimator_and_axes() -> None:
    rows = {"a": ["x", "y", "x", "y"] * 5, "b": np.arange(20.0) % 7}
    estimator = nb.NaiveBayes().fit(rows, ["yes", "no", "yes", "yes"] * 5)
    mail = nb.fit(["cheap pills", "lunch"], ["spam", "ham"])
    own = Figure(figsize=(12, 8))
    first, second, third, fourth, fifth, _ = own.subplots(2, 3).flat
    assert plot.distributions(estimator, ["a"], ax=first) is own
    assert plot.nomogram(estimator, ax=second) is own
    assert plot.waterfall(estimator.model_.explain(rows)[0], ax=third) is own
    assert plot.words(mail, classes=["spam"], min_count=1, ax=fourth) is own
    assert plot.importance(estimator, ax=fifth) is own
    with pytest.raises(nb.InputError, match="room for one panel"):
        plot.distributions(estimator, ["a", "b"], ax=first)
    with pytest.raises(nb.InputError, match="fit an estimator"):
        plot.nomogram(nb.NaiveBayes())


def test_a_class_has_the_colour_of_its_position_in_curves_too() -> None:
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.5, 0.4], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    figure: Any = plot.roc(["a", "b", "c", "c"], p, ["a", "b", "c"])
    (legend,) = figure.legends
    colour = {text.get_text()[0]: line.get_color() for text, line in zip(legend.texts, legend.get_lines(), strict=True)}
    assert [colour[label] for label in "abc"] == list(PAPER[:3])


def test_matplotlib_is_imported_only_to_draw() -> None:
    code = "import sys, naively.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_titles_name_the_target() -> None:
    labels = ["yes", "no"] * 10
    rows = {"sky": ["sun", "rain"] * 10, "wind": ["calm", "gusty", "calm", "calm", "gusty"] * 4}
    model = nb.fit(rows | {"play": labels}, "play", tune=False)
    pictures = [
        plot.nomogram(model),
        plot.distributions(model),
        plot.roc(model, rows, labels),
        plot.calibration(model, rows, labels),
        plot.confusion(model, rows, labels),
        plot.precision_recall(model, rows, labels),
        plot.waterfall(model.explain({"sky": ["sun"], "wind": ["calm"]})[0], target=model.target),
    ]
    for picture in pictures:
        assert picture.get_suptitle().startswith("play: ")


def test_distributions_come_in_the_order_of_importance() -> None:
    labels = ["yes", "no"] * 40
    rows = {"noise": ["p", "q", "q", "p"] * 20, "signal": [label[0] for label in labels[:70]] + ["n", "y"] * 5}
    model = nb.fit(rows, labels)
    assert model.importance()[0].name == "signal"
    figure = plot.distributions(model, top=1)
    assert figure.axes[0].get_title(loc="left") == "signal"


def test_values_of_a_short_scale_without_a_name_are_listed_with_their_points() -> None:
    values = [f"value number {i}" for i in range(8)]
    labels = ["yes", "no"] * 80
    rows = {"wide": ["a", "b"] * 80, "short": [values[(i * i + i // 7) % 8] for i in range(160)]}
    figure = plot.nomogram(nb.fit(rows, labels, tune=False))
    written = " ".join(text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in figure.axes[0].texts)
    assert all(value in written for value in values)


def test_calibration_has_wilson_intervals_and_the_colour_of_its_class() -> None:
    """A bin of one row that is right has no interval of width zero."""
    posterior = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    figure = plot.calibration(["b", "a", "a"], posterior, ["a", "b"])
    intervals, curve = figure.axes[0].collections[0], figure.axes[0].lines[1]
    assert curve.get_color() == PAPER[1]
    assert isinstance(intervals, LineCollection)
    ends = {round(float(x[0, 0]), 2): (float(x[0, 1]), float(x[1, 1])) for x in intervals.get_segments()}
    assert ends[0.9] == pytest.approx((1 / (1 + 1.96**2), 1.0), abs=1e-4)
    assert ends[0.2] == pytest.approx((0.0, 1.96**2 / (1 + 1.96**2)), abs=1e-4)


def test_dates_on_scales_are_first_days_of_months() -> None:
    days = np.datetime64("2023-01-10") + np.arange(500).astype("timedelta64[D]")
    rows = {"day": days, "x": np.arange(500.0) % 7}
    families = {"day": nb.Gaussian(), "x": nb.Gaussian()}
    model = nb.fit(rows, ["a" if i < 200 else "b" for i in range(500)], columns=families)
    for figure in (plot.nomogram(model), plot.distributions(model)):
        figure.draw_without_rendering()
        dates = [t.get_text() for t in figure.findobj(Text) if t.get_text().startswith(("2022-", "2023-", "2024-"))]
        assert len(dates) >= 2
        assert all(date.endswith("-01") for date in dates)


def test_a_long_scale_lists_its_other_values_below_it() -> None:
    values = [f"value {i}" for i in range(24)] * 10
    labels = ["a" if (7 * i) % 24 + i // 24 < 15 else "b" for i in range(240)]
    figure = plot.nomogram(nb.fit({"v": values}, labels, columns={"v": nb.Categorical()}, tune=False))
    text = " ".join(t.get_text() for t in figure.findobj(Text)).replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")
    assert all(f"value {i}" in text for i in range(24))


def test_a_waterfall_of_something_else_gets_advice() -> None:
    with pytest.raises(nb.InputError, match=r"give model\.explain\(X\)\[0\]"):
        plot.waterfall(example(2)[0])  # type: ignore[arg-type]
