"""Render templates: numbers, names and classes as HTML, everything escaped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from naively.server.pages.page import Page

MAX_SHORT = 60  # characters of a name where it is repeated
MAX_LINE = 200  # characters of a name that is not folded
MIN_ENTROPY = 1e-9  # nats; below it the class is certain
MIN_PLAIN, MAX_PLAIN = 1e-4, 1e15  # numbers between them are written without an exponent
MINUS = "\u2212"


def percent(probability: float) -> Markup:
    r"""Return a probability for people, with the exact number as data.

    >>> print(percent(0.25).replace("\N{NO-BREAK SPACE}", " "))
    <data value="0.25">25.0 %</data>
    """
    return Markup('<data value="{}">{}</data>').format(repr(float(probability)), percent_text(probability))


def percent_text(probability: float) -> str:
    """Return a probability for people; only a certain one is 0 or 100 %."""
    if 0.9995 <= probability < 1:
        return "> 99.9\N{NO-BREAK SPACE}%"
    return "< 0.1\N{NO-BREAK SPACE}%" if 0 < probability < 0.0005 else f"{100 * probability:.1f}\N{NO-BREAK SPACE}%"


def share_of(gain: float, entropy: float) -> float:
    """Return the share of an entropy that is removed, from 0 to 1; 0 if there is none."""
    return min(max(gain / entropy, 0.0), 1.0) if entropy > MIN_ENTROPY else 0.0


def signed(number: float | None, digits: int = 2) -> str:
    """Return log-odds with their sign.

    >>> signed(-1.234), signed(math.inf), signed(None)
    ('−1.23', '+∞', '')
    """
    if number is None or math.isnan(number):
        return ""
    text = f"{abs(number):.{digits}f}" if math.isfinite(number) else "∞"
    return (MINUS if number < 0 else "+") + text


def exact(number: float | None, digits: int = 2) -> Markup:
    """Return log-odds with the exact number as data."""
    return Markup('<data value="{}">{}</data>').format("" if number is None else repr(number), signed(number, digits))


def plain(number: float, digits: int = 4) -> str:
    """Return a number of a few digits, with separators.

    >>> plain(12345.0), plain(0.123456), plain(-3), plain(3752.41, 3)
    ('12,345', '0.1235', '−3', '3,750')
    """
    rounded = float(f"{number:.{digits}g}")
    if float(number).is_integer() and abs(number) < MAX_PLAIN:
        text = f"{number:,.0f}"
    elif MIN_PLAIN <= abs(rounded) < MAX_PLAIN:
        text = f"{rounded:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{number:.{digits}g}"
    return text.replace("-", MINUS)


def name(text: object, limit: int = MAX_SHORT) -> Markup:
    """Return a name as it is, up to a number of characters; its direction does not change that of the sentence."""
    text = str(text)
    if not text.strip():
        return Markup('<i class="empty">(empty)</i>') if not text else Markup("<bdi>“{}”</bdi>").format(text)
    return Markup("<bdi>{}</bdi>").format(text if len(text) <= limit else text[: limit - 1] + "…")


def full(text: object) -> Markup:
    """Return the full name; a long one is folded."""
    text = str(text)
    if len(text) <= MAX_LINE:
        return name(text, MAX_LINE)
    fold = '<details class="fold"><summary>{} ({:,} characters)</summary><bdi>{}</bdi></details>'
    return Markup(fold).format(name(text), len(text), text)


def counts(of: Any) -> str:
    """Return what was counted in a class: "34 of 40", or the mean of the rows."""
    if "all" in of:
        return f"{plain(of['count'])} of {plain(of['all'])}"
    if "mean" in of:
        deviation = f" ± {plain(of['deviation'], 3)}" if "deviation" in of else ""
        return f"mean {plain(of['mean'], 3)}{deviation} in {plain(of['rows'])} rows"
    return ", ".join(f"{key} {plain(value)}" for key, value in of.items())


ENVIRONMENT = Environment(
    loader=PackageLoader("naively.server.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters.update(
    percent=percent, signed=signed, exact=exact, plain=plain, name=name, full=full, counts=counts
)


def render(template: str, **context: Any) -> str:
    """Return a template with its values."""
    return ENVIRONMENT.get_template(template).render(context)


def class_mark(page: Page, label: object) -> Markup:
    """Return the name of a class behind a square of its colour."""
    square = '<span class="class c{}"><svg class="dot" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" '
    square += 'height="10" rx="2"/></svg>{}</span>'
    return Markup(square).format(page.colour_of(label), name(page.text_of(label)))
