"""Draw the pictures of a report as SVG: distributions, nomogram, calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from naively.evaluation.curves import CalibrationBin
from naively.explanation.column_curves import ColumnCurve
from naively.explanation.nomogram import PROBABILITIES, Nomogram, round_dates, round_numbers
from naively.families.evidence import format_value
from naively.reports.svg import colour, element, line, picture, place_marks, text

DISTRIBUTION_WIDTH, CALIBRATION_WIDTH = 300.0, 340.0  # pixels
MAX_VALUES = 8  # of a column, the most frequent ones
BAR_HEIGHT, VALUE_GAP = 11.0, 7.0


def draw_distribution(curve: ColumnCurve, classes: Sequence[int], title: str) -> str:
    """Draw the shares of values as bars, or densities as curves, of some classes."""
    if curve.grid.marks is not None:
        return _draw_bars(curve, classes, title)
    return _draw_density(curve, classes, title)


def most_frequent_values(curve: ColumnCurve) -> list[int]:
    """Return the positions of the values that are drawn, in their order; bins are all drawn if there are few."""
    order = np.argsort(-curve.density.mean(axis=1), kind="stable")[:MAX_VALUES]
    return sorted(order.tolist())


def _draw_bars(curve: ColumnCurve, classes: Sequence[int], title: str) -> str:
    width = DISTRIBUTION_WIDTH
    values, marks = most_frequent_values(curve), curve.grid.marks or ()
    label_width = 0.4 * width
    scale = (width - label_width - 44) / max(float(curve.density[values][:, classes].max(initial=0.0)), 1e-12)
    parts: list[str] = []
    y = 4.0
    for k in values:
        height = BAR_HEIGHT * len(classes)
        parts.append(text(label_width - 8, y + height / 2 + 4, marks[k], "end", width=label_width - 8))
        for i, c in enumerate(classes):
            share = float(curve.density[k, c])
            top = y + i * BAR_HEIGHT
            parts.append(
                element(
                    "rect", x=label_width, y=top, width=share * scale, height=BAR_HEIGHT - 1, class_=f"fill {colour(c)}"
                )
            )
            if len(classes) <= 3:
                parts.append(
                    text(
                        label_width + share * scale + 4,
                        top + 8.5,
                        f"{100 * share:.2g} %" if share >= 0.001 else "< 0.1 %",
                        class_="muted small",
                    )
                )
        y += height + VALUE_GAP
    parts.append(line(label_width, 0, label_width, y - VALUE_GAP + 4, "axis"))
    return picture(width, y, title, parts)


def _draw_density(curve: ColumnCurve, classes: Sequence[int], title: str) -> str:
    width = DISTRIBUTION_WIDTH
    height, bottom = 150.0, 124.0
    x = np.asarray(curve.grid.values, dtype=np.float64)
    low, high = float(x[0]), float(x[-1])
    span = (high - low) or 1.0
    top = max(float(curve.density[:, classes].max(initial=0.0)), 1e-300)
    step = max(1, len(x) // 120)
    parts = []
    for c in classes:
        points = [
            (8 + (width - 16) * (value - low) / span, bottom - (bottom - 8) * density / top)
            for value, density in zip(x[::step].tolist(), curve.density[::step, c].tolist(), strict=True)
        ]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        ends = f"{points[0][0]:.1f},{bottom} {path} {points[-1][0]:.1f},{bottom}"
        parts.append(element("polygon", points=ends, class_=f"area {colour(c)}"))
        parts.append(element("polyline", points=path, class_=f"stroke {colour(c)}"))
    parts.append(line(8, bottom, width - 8, bottom, "axis"))
    ticks = (round_dates if curve.kind == "date" else round_numbers)(low, high).tolist()
    marks = [(8 + (width - 16) * (t - low) / span, format_value(t, curve.kind)[1]) for t in ticks]
    parts += [line(at, bottom, at, bottom + 4, "axis") for at, _ in marks]
    parts += place_marks(marks, bottom + 18, 0, width)
    return picture(width, height, title, parts)


def draw_nomogram(nomogram: Nomogram, of: int, width: float, title: str) -> str:
    """Draw the scales of points, their sum, and the probability below it."""
    left, right = 6.0, width - 8.0

    def place(points: float) -> float:
        return left + (right - left) * points / 100

    y = 30.0
    parts = [text(left, 14, "points", class_="ink strong")]
    parts += _scale(left, right, y, [(place(p), str(p)) for p in range(0, 101, 10)], width)
    y += 62
    for axis in nomogram.axes:
        points = ((axis.log_odds - axis.minimum) * nomogram.unit).tolist()
        marks = [(place(p), mark) for p, mark in zip(points, axis.marks, strict=True)]
        parts.append(text(left, y - 11, axis.column, class_="ink strong", width=right - left))
        parts += _scale(place(min(points)), place(max(points)), y, marks, width)
        missing = nomogram.points(axis)
        if 0 <= missing <= max(points):
            parts.append(element("circle", cx=place(missing), cy=y, r=4, class_="open"))
        y += 56
    most = sum(axis.range for axis in nomogram.axes) * nomogram.unit or 1.0
    parts.append(text(left, y - 11, "total points", class_="ink strong"))
    ticks = [(left + (right - left) * t / most, f"{t:g}") for t in round_numbers(0.0, most).tolist()]
    parts += _scale(left, right, y, ticks, width)
    y += 56
    parts.append(
        text(left, y - 11, f"probability of {nomogram.of}", class_=f"fill strong {colour(of)}", width=right - left)
    )
    marks = []
    for p in PROBABILITIES:
        points = (math.log(p / (1 - p)) - nomogram.start) * nomogram.unit
        if 0 <= points <= most:
            marks.append((left + (right - left) * points / most, f"{100 * p:g} %"))
    parts += _scale(left, right, y, marks, width)
    return picture(width, y + 30, title, parts)


def _scale(low: float, high: float, y: float, marks: Sequence[tuple[float, str]], width: float = 1e9) -> list[str]:
    """Return a line with marks below it."""
    parts = [line(low, y, high, y, "axis")]
    parts += [line(at, y - 3, at, y + 4, "axis") for at, _ in marks]
    return parts + place_marks(marks, y + 19, 0, min(width, max(high + 70, 150)))


def draw_calibration(bins: Sequence[CalibrationBin], c: int, title: str, x_label: str) -> str:
    """Draw the observed share against the probability, with intervals, and the diagonal of perfect calibration."""
    width = CALIBRATION_WIDTH
    left, bottom, size = 46.0, width - 44.0, width - 72.0

    def at(x: float, y: float) -> tuple[float, float]:
        return left + size * x, bottom - size * y

    parts = [
        line(*at(0, 0), *at(1, 0), "axis"),
        line(*at(0, 0), *at(0, 1), "axis"),
        line(*at(0, 0), *at(1, 1), "guide"),
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(text(at(tick, 0)[0], bottom + 17, f"{100 * tick:g} %", "middle", "muted"))
        parts.append(text(left - 7, at(0, tick)[1] + 4, f"{100 * tick:g} %", "end", "muted"))
        if tick:
            parts.append(line(*at(0, tick), *at(1, tick)))
    parts.append(text(left + size / 2, bottom + 37, x_label, "middle", "muted", width=size))
    path = " ".join("{:.1f},{:.1f}".format(*at(b.probability, b.observed.value)) for b in bins)
    parts.append(element("polyline", points=path, class_=f"stroke {colour(c)}"))
    for b in bins:
        x, y = at(b.probability, b.observed.value)
        parts.append(line(x, at(0, b.observed.low)[1], x, at(0, b.observed.high)[1], f"stroke {colour(c)}"))
        tip = f"{100 * b.probability:.3g} % predicted, {100 * b.observed.value:.3g} % observed, {b.weight:,.6g} rows"
        parts.append(element("circle", element("title", tip), cx=x, cy=y, r=4, class_=f"fill {colour(c)}"))
    return picture(width, width, title, parts)
