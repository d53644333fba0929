"""The colours of classes, in one place: a class has the hue of its position in terminals, HTML, pictures and pages.

There are eight hues, near those of Okabe & Ito, Color Universal Design (2008). Each has three shades: for white paper,
for dark pages, and for terminals, whose background is not known. Shades for paper and for dark pages also differ in
grey: the lightness L* of CIELAB of any two is at least 4 apart, and that of the first two at least 9.
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """The shades of a hue."""

    light: str  # on white
    dark: str  # on a dark page
    terminal: str  # on black and on white


Pair = tuple[Colour, Colour]

COLOURS = (
    Colour("#00639b", "#04a5ff", "#0075b6"),  # blue
    Colour("#ec6a00", "#ffa358", "#e76800"),  # orange
    Colour("#008763", "#3bdfaf", "#009069"),  # green
    Colour("#713261", "#c274ad", "#9d4586"),  # purple
    Colour("#695205", "#ffe55c", "#8a6d00"),  # gold
    Colour("#1a8bca", "#aaddf7", "#1b8ecf"),  # sky
    Colour("#6d1224", "#e04564", "#ba1f3e"),  # red
    Colour("#656c79", "#a7abb5", "#707786"),  # grey
)
N_COLOURS = len(COLOURS)
PAPER = tuple(colour.light for colour in COLOURS)
GREY, GRID, INK, MUTED, LINE = "#767676", "#e6e6e6", "#1c1e21", "#5b616a", "#c9cdd3"  # lines and texts on white


def colour_of(position: int) -> Colour:
    """Return the colour of the class at a position; with more than eight classes, colours occur again."""
    return COLOURS[position % N_COLOURS]


def pair(of: int, against: int) -> Pair:
    """Return the colours of two classes; the second one has the next colour if they would be the same.

    >>> pair(1, 9) == (COLOURS[1], COLOURS[2])
    True
    """
    is_same = of % N_COLOURS == against % N_COLOURS
    return colour_of(of), colour_of(against + 1 if is_same else against)


def style_sheet() -> str:
    """Return the colours as variables of CSS, `--c0` to `--c7`, for light and dark pages and for print."""
    light = " ".join(f"--c{i}: {colour.light};" for i, colour in enumerate(COLOURS))
    dark = " ".join(f"--c{i}: {colour.dark};" for i, colour in enumerate(COLOURS))
    return (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ {light} }} }}\n"
    )
