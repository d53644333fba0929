"""Small tables in HTML, for notebooks: no script, no style sheet, every text escaped, readable in light and dark."""

from collections.abc import Iterable, Sequence
from html import escape

LINE = "1px solid rgba(128,128,128,0.4)"  # visible on white and on black
CELL = "padding:2px 10px 2px 0;vertical-align:top;background:transparent;color:inherit"


def table_html(titles: Sequence[str], rows: Iterable[Sequence[str]], n_left: int = 1) -> str:
    """Return a table; the first `n_left` columns are texts, to the left, and the others numbers, to the right.

    >>> "<td" in table_html(["class", "rows"], [["<b>", "2"]]) and "<b>" not in table_html(["class"], [["<b>"]])
    True
    """
    alignment = ["left" if j < n_left else "right" for j in range(len(titles))]
    head = "".join(
        f'<th scope="col" style="{CELL};border-bottom:{LINE};text-align:{side}">{escape(title)}</th>'
        for title, side in zip(titles, alignment, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{CELL};text-align:{side}">{escape(cell)}</td>'
            for cell, side in zip(row, alignment, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<table style="border-collapse:collapse;color:inherit;margin:4px 0 8px 0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def paragraph(text: str) -> str:
    """Return a text as a paragraph."""
    return f'<p style="margin:4px 0">{escape(text)}</p>'


def section(name: str, *parts: str) -> str:
    """Return parts together, with a class by which a style sheet can find them."""
    return f'<div class="naively-{name}" style="overflow-x:auto">{"".join(parts)}</div>'


def more(n: int, what: str) -> str:
    """Return a paragraph that says how many lines are not shown; nothing if all are."""
    return paragraph(f"… and {n:,} more {what}") if n > 0 else ""
