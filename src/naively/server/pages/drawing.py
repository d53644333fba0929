"""Pictures as SVG. Colours are attributes, so that a saved picture has them; the style sheet changes them on a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from naively.data.plain import JsonObject
from naively.explanation.nomogram import PROBABILITIES
from naively.explanation.palette import INK, LINE, MUTED, PAPER
from naively.reports import svg

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
CHARACTER_WIDTH = 6.4  # pixels, of a text of 12 pixels
MAX_MARK = 16  # characters of a mark of an axis
AXIS_HEIGHT = 56
LINE_HEIGHT = 14  # of names below an axis
MAX_LINES = 3
MARGIN = 14


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """Return an element, as `svg.element` does, around children that are escaped unless they are markup."""
    return Markup(svg.element(tag, *map(escape, children), **attributes))


def picture(width: float, height: float, title: str, parts: Iterable[Markup], class_: str = "picture") -> Markup:
    """Return an SVG document with a title for screen readers."""
    return element(
        "svg",
        element("title", title),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        class_=class_,
        font_family=FONT,
        font_size=12,
        aria_label=title,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str = "line", **attributes: object) -> Markup:
    """Return a thin line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, stroke=LINE, **attributes)


def ticks(xs: Iterable[float], y: float) -> Markup:
    """Return short lines across an axis, as one path."""
    path = "".join(f"M{x:.1f} {y - 4:.1f}v8" for x in xs)
    return element("path", d=path, class_="axis", stroke=MUTED, fill="none")


def text(x: float, y: float, content: str, anchor: str = "start", class_: str = "ink", **attributes: object) -> Markup:
    """Return a text."""
    fill = MUTED if class_ == "muted" else INK
    return element("text", content, x=x, y=y, text_anchor=anchor, class_=class_, fill=fill, **attributes)


def shorten(content: str, limit: int = MAX_MARK) -> str:
    """Return a text of a limited length; no text is left without one."""
    content = content if content.strip() else "(empty)"
    return content if len(content) <= limit else content[: limit - 1] + "…"


def nomogram_picture(nomogram: JsonObject, width: int, colour: int, title: str) -> Markup:
    """Draw the axes of a nomogram with the chosen values, the sum of points, and the probability."""
    left, right = MARGIN + 6.0, width - MARGIN - 10.0
    parts: list[Markup] = []
    y = 22.0
    parts.append(text(left, y - 8, "points", class_="muted"))
    for points in range(0, 101, 10):
        x = left + (right - left) * points / 100
        parts += [line(x, y, x, y + 5), text(x, y + 18, str(points), "middle", "muted")]
    parts.append(line(left, y, right, y))
    y += 56
    for axis in nomogram["axes"]:
        parts.append(
            text(left, y - 12, shorten(axis["name"], int((right - left) / CHARACTER_WIDTH) - 2), font_weight=600)
        )
        xs = [left + (right - left) * points / 100 for points in axis["points"]]
        parts.append(line(min(xs), y, max(xs), y, "axis", stroke_width=2))
        parts.append(ticks(xs, y))
        labels, n_lines = _marks(list(zip(xs, axis["marks"], strict=True)), y + 18, width)
        parts += labels
        chosen = axis["position"]
        if chosen:
            fill = PAPER[colour]
            parts.append(element("circle", cx=xs[chosen - 1], cy=y, r=6, class_=f"fill c{colour}", fill=fill))
        y += AXIS_HEIGHT + (n_lines - 1) * LINE_HEIGHT
    parts += _total(nomogram, left, right, y, width, colour)
    return picture(width, y + 84 + 2 * LINE_HEIGHT, title, parts)


def _marks(
    marks: Sequence[tuple[float, str]], y: float, width: float, max_lines: int = MAX_LINES
) -> tuple[list[Markup], int]:
    """Return the names of values in lines below an axis, and the number of lines; the ends come first.

    A name goes to the first line in which it does not overlap another one, and is left out if there is no such line.
    """
    ordered = sorted(marks)
    order = [ordered[0], ordered[-1], *ordered[1:-1]] if len(ordered) > 1 else ordered
    lines: list[list[tuple[float, float]]] = [[] for _ in range(max_lines)]
    parts = []
    for x, mark in order:
        label = shorten(mark)
        half = CHARACTER_WIDTH * len(label) / 2 + 3
        middle = min(max(x, half + 2), width - half - 2)
        for i, placed in enumerate(lines):
            if all(middle + half < low or middle - half > high for low, high in placed):
                placed.append((middle - half, middle + half))
                parts.append(text(middle, y + i * LINE_HEIGHT, label, "middle", "muted"))
                break
    return parts, max(1, sum(map(bool, lines)))


def _total(nomogram: JsonObject, left: float, right: float, y: float, width: float, colour: int) -> list[Markup]:
    """Return the scale of the sum of points, with probabilities below it, and the sum of the chosen values."""
    most = max(float(nomogram["max_points"]), 1e-9)
    y += 6

    def place(points: float) -> float:
        return left + (right - left) * float(min(max(points / most, 0.0), 1.0))

    parts = [text(left, y - 12, "sum of points", font_weight=600), line(left, y, right, y, "axis", stroke_width=2)]
    step = 10.0 ** math.floor(math.log10(most / 2)) if most >= 2 else 1.0
    step = next(step * k for k in (1, 2, 5, 10) if most / (step * k) <= 8)
    sums = [k * step for k in range(int(most / step) + 1)]
    parts.append(ticks([place(t) for t in sums], y))
    parts += _marks([(place(t), f"{t:g}") for t in sums], y + 18, width, 1)[0]
    y += 54
    parts += [text(left, y - 12, "probability", font_weight=600), line(left, y, right, y, "axis", stroke_width=2)]
    marks = []
    for p in PROBABILITIES:
        points = (math.log(p / (1 - p)) - nomogram["start"]) * nomogram["unit"]
        if 0 <= points <= most:
            marks.append((place(points), f"{100 * p:g} %"))
    parts.append(ticks([x for x, _ in marks], y))
    parts += _marks(marks, y + 18, width)[0]
    x = place(nomogram["total_points"])
    parts.append(line(x, y - 54, x, y, f"stroke c{colour}", stroke_width=2))
    parts.append(element("circle", cx=x, cy=y - 54, r=6, class_=f"fill c{colour}", fill=PAPER[colour]))
    parts.append(element("circle", cx=x, cy=y, r=6, class_=f"fill c{colour}", fill=PAPER[colour]))
    return parts


def square(title: str, x_label: str, y_label: str, parts: Iterable[Markup]) -> Markup:
    """Draw the frame of a picture whose axes run from 0 to 100 %."""
    frame = [
        line(*at(0, 0), *at(1, 0)),
        line(*at(0, 0), *at(0, 1)),
        line(*at(0, 0), *at(1, 1), "guide", stroke_dasharray="4 4"),
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = at(share, 0)
        frame.append(text(x, y + 16, f"{100 * share:g}", "middle", "muted"))
        x, y = at(0, share)
        frame.append(text(x - 6, y + 4, f"{100 * share:g}", "end", "muted"))
    x, y = at(0.5, 0)
    frame.append(text(x, y + 34, x_label, "middle", "muted"))
    frame.append(text(10, 14, y_label, "start", "muted"))
    return picture(330, 330, title, [*frame, *parts], "picture square")


def at(x: float, y: float) -> tuple[float, float]:
    """Return the place of two shares in a square picture."""
    return 42 + 270 * x, 288 - 260 * y


def calibration_picture(bins: Sequence[JsonObject]) -> Markup:
    """Draw the observed share of right predictions against their probability, with intervals."""
    parts = []
    for b in bins:
        (x, low), (_, high) = at(b["probability"], b["observed"]["low"]), at(0, b["observed"]["high"])
        parts.append(line(x, low, x, high, "stroke plain", stroke_width=1.5, stroke_opacity="0.6"))
    points = [at(b["probability"], b["observed"]["value"]) for b in bins]
    parts += [element("circle", cx=x, cy=y, r=4, class_="fill plain", fill=MUTED) for x, y in points]
    return square(
        "Calibration: observed share against predicted probability", "predicted probability, %", "right, %", parts
    )


def roc_picture(curves: Sequence[tuple[int, Sequence[Sequence[float]]]]) -> Markup:
    """Draw the ROC curve of each class, in its colour."""
    parts = []
    for i, (colour, curve) in enumerate(curves):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in curve))
        dash = {"stroke_dasharray": ("", "7 3", "2 3", "9 3 2 3")[i % 4]} if i % 4 else {}
        parts.append(
            element(
                "polyline",
                points=path,
                fill="none",
                stroke=PAPER[colour],
                class_=f"stroke c{colour}",
                stroke_width=2,
                **dash,
            )
        )
    return square("ROC curves of the classes", "false positives, %", "true positives, %", parts)
