"""An explanation in the terminal: a table with a bar for each contribution, by rich."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from naively.data.names import listed
from naively.explanation.explanation import Contribution, Explanation

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

__all__ = ["as_text", "behind_words", "number", "rendered", "shortened"]

LINES = 25  # contributions shown; `to_dict()` has all
BAR = 12  # letters on either side of zero; half of that in a narrow terminal
WIDE = 126  # letters from which there is room for intervals and counts
FOR, AGAINST = "blue", "dark_orange"  # told apart by the colour-blind too


def as_text(explanation: Explanation, width: int = 130) -> str:
    """The table in plain letters."""
    from rich.console import Console

    paper = io.StringIO()
    Console(file=paper, width=width, no_color=True, highlight=False).print(explanation)
    return "\n".join(line.rstrip() for line in paper.getvalue().rstrip("\n").split("\n"))


def number(x: float) -> str:
    """A log-odds with its sign, and two digits behind the point."""
    if math.isinf(x):
        return "+∞" if x > 0 else "−∞"
    return f"{x:+.2f}".replace("-", "−")


def shortened(name: object, most: int = 32) -> str:
    """A name that fits, with an ellipsis in its middle where it is too long; no line breaks, no control characters."""
    text = " ".join(str(name).split()) or repr(str(name))
    text = "".join(letter if letter.isprintable() else "�" for letter in text)
    return text if len(text) <= most else f"{text[: most - most // 3 - 1]}…{text[len(text) - most // 3 :]}"


def behind_words(counts: Mapping[str, float]) -> str:
    """The counts behind a contribution in one class: 3 of 40, or mean ± deviation."""
    if "all" in counts:
        return f"{counts['count']:,.6g} of {counts['all']:,.6g}"
    if "deviation" in counts:
        return f"{counts['mean']:.4g} ± {counts['deviation']:.3g}"
    return f"mean {counts['mean']:.4g}" if "mean" in counts else ""


def rendered(explanation: Explanation, width: int) -> Iterator[RenderableType]:
    """The head, the text if there is one, the table, and what would turn the answer."""
    from rich.text import Text

    e = explanation
    p = e.posterior[e.answer]
    yield Text.assemble(
        "answer ",
        (shortened(e.answer), "bold"),
        f"  p = {p:.4g};  log-odds of ",
        (shortened(e.of), FOR),
        " against ",
        (shortened(e.against), AGAINST),
    )
    for column, pieces in (e.texts or {}).items():
        yield _tinted(column, pieces)
    yield _table(e, width)
    if e.turn is not None:
        changes = listed((_change(str(change)) for change in e.turn.changes), separator="; ")
        turned = f"; then {shortened(e.turn.answer)}, p = {e.turn.probability:.4g}"
        yield Text(f"turns with {len(e.turn.changes)} change{'s' * (len(e.turn.changes) > 1)}: {changes}{turned}")


def _change(told: str) -> str:
    return shortened(told, 60)


def _tinted(column: str, pieces: tuple[tuple[str, float], ...]) -> Text:
    """The first words of a text, coloured by what they say."""
    from rich.text import Text

    most = max((abs(odds) for _, odds in pieces if math.isfinite(odds)), default=0.0) or 1.0
    text = Text(f"{shortened(column)}: ")
    for piece, odds in pieces[:400]:
        strong = abs(odds) > most / 3
        style = "" if abs(odds) < most / 20 else (FOR if odds > 0 else AGAINST) + (" bold" if strong else "")
        text.append("".join(letter if letter.isprintable() or letter == "\n" else " " for letter in piece), style)
    if len(pieces) > 400:
        text.append(" …")
    return text


def _table(e: Explanation, width: int) -> Table:
    """The contributions; a narrow terminal has shorter bars, shares instead of counts, and no intervals."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    wide, bar = width >= WIDE, BAR if width >= WIDE else BAR // 2
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("column", no_wrap=True)
    table.add_column("value", overflow="fold", min_width=14)
    table.add_column(Text(f"{shortened(e.against, bar):>{bar}}│{shortened(e.of, bar)}"), no_wrap=True)
    table.add_column("log-odds", justify="right", no_wrap=True)
    if wide:
        table.add_column("95 %", justify="right", no_wrap=True)
    for label in (e.of, e.against):
        table.add_column(Text(f"in {shortened(label, 16 if wide else 7)}"), justify="right", no_wrap=True)
    shown = e.contributions[:LINES]
    rest = math.fsum((e.rest, *(c.log_odds for c in e.contributions[LINES:] if math.isfinite(c.log_odds))))
    most = max((abs(x) for x in (e.prior, rest, *(c.log_odds for c in shown)) if math.isfinite(x)), default=0.0) or 1.0
    table.add_row("prior", "", _bar(e.prior, most, bar), number(e.prior))
    for line in shown:
        table.add_row(*_cells(line, most, bar, wide))
    n_rest = e.n_rest + len(e.contributions) - len(shown)
    if n_rest:
        table.add_row(Text(f"{n_rest} more", style="dim"), "", _bar(rest, most, bar), number(rest))
    table.add_section()
    table.add_row(Text("total", style="bold"), "", "", Text(number(e.total), style="bold"))
    return table


def _cells(line: Contribution, most: float, bar: int, wide: bool) -> list[RenderableType]:
    from rich.text import Text

    times = f" ×{line.count:g}" if line.count not in (0.0, 1.0) and line.shown == str(line.value) else ""
    value = Text(shortened(line.shown, 36) + times)
    if line.note and line.note != line.shown:
        value.append(f" ({shortened(line.note, 40)})", style="dim")
    cells: list[RenderableType] = [Text(shortened(line.column, 24 if wide else 16)), value]
    cells += [_bar(line.log_odds, most, bar), number(line.log_odds)]
    if wide:
        cells.append("" if line.low is None or line.high is None else f"{number(line.low)} … {number(line.high)}")
    return cells + [behind_words(side) if wide else _share(side) for side in (line.of, line.against)]


def _share(counts: Mapping[str, float]) -> str:
    """The counts behind a contribution in few letters: 1.2 %, or the mean."""
    if "all" in counts:
        return f"{100 * counts['count'] / counts['all']:.2g} %" if counts["all"] else "–"
    return f"{counts['mean']:.4g}" if "mean" in counts else ""


def _bar(x: float, most: float, size: int) -> Text:
    """A bar to the left or right of zero."""
    from rich.text import Text

    length = min(size, round(size * min(abs(x), most) / most))
    if x < 0:
        return Text(" " * (size - length) + "█" * length + "│" + " " * size, style=AGAINST)
    return Text(" " * size + "│" + "█" * length + " " * (size - length), style=FOR if x > 0 else "dim")
