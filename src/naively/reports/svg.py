"""Elements of HTML and SVG as text, everything escaped, and the scales of pictures.

Colours are classes of the style sheet (`c0` … `c7`, `ink`, `muted`, `line`), so that they follow light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from naively.explanation.palette import N_COLOURS
from naively.explanation.render_text import shorten

LETTER_WIDTH = 7.3  # pixels, of a text of 12 pixels; wide letters take more


def element(tag: str, *children: str, **attributes: object) -> str:
    """Return an element with attributes, which are escaped, around children, which are not.

    `class_` stands for `class`, and `_` within a name for `-`.

    >>> element("text", escape("a < b"), x=1.50, text_anchor="end", class_="ink")
    '<text x="1.5" text-anchor="end" class="ink">a &lt; b</text>'
    """
    pairs = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"' for name, value in attributes.items()
    )
    return f"<{tag}{pairs}>{''.join(children)}</{tag}>"


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def picture(width: float, height: float, title: str, parts: Iterable[str], class_: str = "") -> str:
    """Return a picture with a title for screen readers, as wide as it is drawn or as the page allows."""
    return element(
        "svg",
        element("title", escape(title)),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        class_=class_,
    )


def both_widths(draw: Iterable[tuple[str, str]]) -> str:
    """Return the same picture for wide and for narrow screens; the style sheet shows one of them."""
    return "".join(element("div", svg, class_=name) for name, svg in draw)


def line(x1: float, y1: float, x2: float, y2: float, class_: str = "line", **attributes: object) -> str:
    """Return a line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, **attributes)


def text(x: float, y: float, content: str, anchor: str = "start", class_: str = "ink", width: float = 1e9) -> str:
    """Return a text that fits a width in pixels; one that is too long has its whole content as a tooltip."""
    fitting = shorten(content, max(3, int(width / LETTER_WIDTH)))
    tooltip = element("title", escape(content)) if fitting != content else ""
    return element("text", tooltip, escape(fitting), x=x, y=y, text_anchor=anchor, class_=class_)


def colour(c: int) -> str:
    """Return the style of a class by its position."""
    return f"c{c % N_COLOURS}"


def place_marks(marks: Sequence[tuple[float, str]], y: float, left: float, right: float) -> list[str]:
    """Return marks below a scale, without those that would touch others; the first and the last go first."""
    ordered = sorted(marks)
    occupied: list[tuple[float, float]] = []
    parts = []
    for x, mark in dict.fromkeys((*ordered[:1], *ordered[-1:], *ordered)):
        label = shorten(mark, max(16, int((right - left) / LETTER_WIDTH / 3)))
        half = LETTER_WIDTH * len(label) / 2 + 3
        middle = min(max(x, left + half), right - half)
        if all(middle + half <= low or middle - half >= high for low, high in occupied):
            occupied.append((middle - half, middle + half))
            parts.append(text(middle, y, label, "middle", "muted"))
    return parts


def bdi(content: object) -> str:
    """Return a text of the user, escaped, whose direction does not change that of its neighbours."""
    return element("bdi", escape(str(content)) or "&nbsp;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = (), class_: str = "") -> str:
    """Return a table of cells that are HTML; `numbers` are the positions of columns that are aligned to the right."""
    rows = [[cell.replace(" %", "\u00a0%") if i in numbers else cell for i, cell in enumerate(row)] for row in rows]
    style = dict.fromkeys(numbers, ' class="number"')
    titles = "".join(f"<th{style.get(i, '')}>{title}</th>" if title else "<td></td>" for i, title in enumerate(head))
    lines = "".join(
        "<tr>" + "".join(f"<td{style.get(i, '')}>{cell}</td>" for i, cell in enumerate(row)) + "</tr>" for row in rows
    )
    content = f"<thead><tr>{titles}</tr></thead><tbody>{lines}</tbody>"
    return f'<div class="scroll"><table class="{class_}">{content}</table></div>'
