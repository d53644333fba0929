"""Numbers and tables as plain text for people."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

MINUS = "−"


def format_number(x: float, form: str = ".4f") -> str:
    """Return a number for people: with a minus sign and not a hyphen, zero without a sign, ∞, and – if it is NaN.

    >>> [format_number(x) for x in (-0.25, -0.00001, math.inf, math.nan)], format_number(2, "+.4g")
    (['−0.2500', '0.0000', '∞', '–'], '+2')
    """
    if math.isnan(x):
        return "–"
    if math.isinf(x):
        return MINUS + "∞" if x < 0 else "+∞" if "+" in form else "∞"
    text = f"{x:{form}}"
    return text.lstrip("+-") if not text.strip("+-0.,") else text.replace("-", MINUS)


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> str:
    """Return rows of text in aligned columns; the columns named in `right` are aligned to the right.

    >>> print(format_table(["class", "rows"], [["no", "12"], ["yes", "1,200"]], right=["rows"]))
    class   rows
    no        12
    yes    1,200
    """
    from rich.cells import cell_len  # Chinese characters take two places

    lines = [header, *rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]

    def pad(name: str, cell: str, width: int) -> str:
        space = " " * (width - cell_len(cell))
        return space + cell if name in right else cell + space

    return "\n".join("  ".join(map(pad, header, line, widths)).rstrip() for line in lines)
