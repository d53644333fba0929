"""Tables as plain text, with aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


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
