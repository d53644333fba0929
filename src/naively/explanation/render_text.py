"""Print an explanation in the terminal: a table with a bar for each contribution."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from naively.data.text_table import MINUS
from naively.explanation.counterfactual import Counterfactual
from naively.explanation.explanation import Contribution, Explanation, Others, group_others
from naively.explanation.palette import Pair
from naively.explanation.together import MAX_RULES
from naively.families.evidence import Pieces, format_mean_of_dates

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

MAX_LINES = 20  # contributions; `to_dict()` has all
MAX_CHANGES = 8
MAX_SHARES = 6  # of columns in what they say together
MAX_PIECES = 400  # of a text
LEFT_OUT = "The model has counted this row. It is explained by the model without it."


class Detail(NamedTuple):
    """What a table of contributions has besides values and log-odds, and how wide its parts are in characters."""

    name_width: int
    min_value_width: int
    bar_width: int = 0  # on either side of zero
    has_weights: bool = False
    has_shares: bool = False
    is_full: bool = False  # intervals, and counts instead of shares


DETAILS = (  # from wide terminals to narrow ones
    Detail(24, 24, 12, has_weights=True, has_shares=True, is_full=True),
    Detail(16, 14, 6, has_weights=True, has_shares=True),
    Detail(16, 14, 6, has_weights=True),
    Detail(12, 14, 6),
    Detail(12, 8),
)


def as_text(explanation: Explanation, width: int = 160) -> str:
    """Return the table as plain text."""
    from rich.console import Console

    output = io.StringIO()
    Console(file=output, width=width, no_color=True, highlight=False).print(explanation)
    return "\n".join(line.rstrip() for line in output.getvalue().rstrip("\n").split("\n"))


@dataclass(frozen=True)
class Layout:
    """What tables of an explanation show: the first contributions, the sums of the others, and the scale of bars."""

    shown: tuple[Contribution, ...]
    others: tuple[Others, ...]
    longest: float  # log-odds of the longest bar
    has_weights: bool
    colours: Pair  # of the classes that are for and against

    @classmethod
    def of(cls, e: Explanation, max_lines: int = MAX_LINES) -> Layout:
        """Cut the contributions to the lines of a table; a single other line is shown as it is."""
        n_shown = max_lines if len(e.contributions) > max_lines + 1 else len(e.contributions)
        shown, cut = e.contributions[:n_shown], e.contributions[n_shown:]
        sums = {group.text: group for group in e.others}
        for group in group_others([(line.column, line.log_odds) for line in cut], e.texts or ()):
            before = sums.get(group.text, Others(group.text, 0, 0.0))
            sums[group.text] = Others(group.text, before.n + group.n, before.log_odds + group.log_odds)
        others = tuple(sums.values())
        ends = (e.shown_floor, 0.0 if e.together is None else e.together.log_odds)
        longest = largest((e.prior, e.offset, *ends, *(g.log_odds for g in others), *(line.log_odds for line in shown)))
        return cls(shown, others, longest, any(line.weight not in (0.0, 1.0) for line in e.contributions), e.colours)

    def starts(self, e: Explanation) -> list[tuple[str, float]]:
        """Return the lines before the contributions: the prior, and the class offset of a tuned model."""
        return [("prior", e.prior)] + ([("class offset", e.offset)] if e.offset else [])

    def ends(self, e: Explanation) -> list[tuple[str, float]]:
        """Return the lines after the contributions: columns together, and the floor of a tuned model if it matters."""
        together = [("columns together", e.together.log_odds)] if e.together is not None else []
        return together + ([("floor", e.shown_floor)] if e.shown_floor else [])


def largest(log_odds: tuple[float, ...]) -> float:
    """Return the largest finite log-odds without its sign, 1 if all are zero."""
    return max((abs(x) for x in log_odds if math.isfinite(x)), default=0.0) or 1.0


def number(x: float) -> str:
    """Return a log-odds with its sign and two decimals."""
    if math.isinf(x):
        return "+∞" if x > 0 else "−∞"
    return f"{x:+z.2f}".replace("-", MINUS)


def interval(line: Contribution) -> str:
    """Return the 95 % interval of a contribution; empty if it is not known."""
    return "" if line.low is None or line.high is None else f"{number(line.low)} … {number(line.high)}"


def shorten(name: object, width: int = 32) -> str:
    """Return a name that fits: an ellipsis in its middle if it is too long, no line breaks or control characters.

    >>> shorten("a name that is too long", 12), shorten("中文字符太长了", 8)
    ('a name …long', '中文…了')
    """
    from rich.cells import cell_len  # Chinese characters take two places

    def first_letters(text: str, width: int) -> str:
        return text[: sum(end <= width for end in accumulate(map(cell_len, text)))]

    text = " ".join(str(name).split()) or repr(str(name))
    text = "".join(letter if letter.isprintable() else "�" for letter in text)
    if cell_len(text) <= width:
        return text
    return f"{first_letters(text, width - width // 3 - 1)}…{first_letters(text[::-1], width // 3)[::-1]}"


def occurrences_and_note(line: Contribution) -> tuple[str, str]:
    """Return how often the value occurs, as ×2, and the note unless it repeats the value."""
    occurs = f" ×{line.count:g}" if line.count not in (0.0, 1.0) and line.shown == str(line.value) else ""
    return occurs, line.note if line.note != line.shown else ""


def format_counts(counts: Mapping[str, float], is_date: bool = False) -> str:
    """Return the counts of a contribution in one class: 3 of 40, or mean ± deviation, of dates in days."""
    if "all" in counts:
        return f"{counts['count']:,.6g} of {counts['all']:,.6g}"
    if "deviation" in counts and is_date:
        return " ± ".join(filter(None, format_mean_of_dates(counts["mean"], counts["deviation"])))
    if "deviation" in counts:
        return f"{counts['mean']:.4g} ± {counts['deviation']:.3g}"
    return f"mean {counts['mean']:.4g}" if "mean" in counts else ""


def format_counterfactual(counterfactual: Counterfactual) -> str:
    """Return the changes that would change the prediction, as a sentence."""
    changes = counterfactual.changes[:MAX_CHANGES]
    values = [f"{shorten(c.column)} were {shorten(repr(c.after), 40)}" for c in changes if c.after is not None]
    parts = ["if " + " and ".join(values)] if values else []
    for column in dict.fromkeys(c.column for c in changes if c.after is None):
        words = [shorten(repr(c.before), 40) for c in changes if c.after is None and c.column == column]
        parts.append(f"without {' and '.join(words)} in {shorten(column)}")
    n_more = len(counterfactual.changes) - len(changes)
    parts += [f"with {n_more} more changes"] if n_more else []
    answer = f"{shorten(counterfactual.answer)} (p = {counterfactual.probability:.4g})"
    return f"Would become {answer} {' and '.join(parts)}."


def format_together(e: Explanation) -> list[str]:
    """Return what columns say together: the share of each column, and the strongest rules with their counts."""
    if e.together is None or not e.together.by_column:
        return []
    shares = [f"{shorten(name)} {number(x)}" for name, x in list(e.together.by_column.items())[:MAX_SHARES]]
    n_more = len(e.together.by_column) - len(shares)
    lines = [f"Columns together: {', '.join(shares)}" + (f" and {n_more} more." if n_more else ".")]
    for rule in e.together.rules[:MAX_RULES]:
        label, count = (e.of, rule.count) if rule.log_odds > 0 else (e.against, rule.count_against)
        rows = f"{count:,.6g} of {rule.all:,.6g} {shorten(label)}"
        lines.append(f"  {shorten(rule.condition, 100)}: {rows}, {number(rule.log_odds)}")
    n_more = len(e.together.rules) - MAX_RULES
    return lines + ([f"  and {n_more} weaker rules"] if n_more > 0 else [])


def render(explanation: Explanation, width: int) -> Iterator[RenderableType]:
    """Yield the heading, the texts, the table, and what would change the prediction."""
    from rich.text import Text

    e = explanation
    yield Text.assemble(
        "answer ",
        (shorten(e.answer), "bold"),
        f"  p = {e.posterior[e.answer]:.4g};  log-odds of ",
        (shorten(e.of), e.colours[0].terminal),
        " against ",
        (shorten(e.against), e.colours[1].terminal),
    )
    for column, pieces in (e.texts or {}).items():
        yield _coloured_text(column, pieces, e.colours)
    yield _table(e, width)
    for line in format_together(e):
        yield Text(line)
    if e.is_left_out:
        yield Text(LEFT_OUT)
    if e.counterfactual is not None:
        yield Text(format_counterfactual(e.counterfactual))


def _coloured_text(column: str, pieces: Pieces, colours: Pair) -> Text:
    """Return the beginning of a text, its words coloured by their log-odds."""
    from rich.text import Text

    strongest = largest(tuple(odds for _, odds in pieces))
    text = Text(f"{shorten(column)}: ")
    for piece, odds in pieces[:MAX_PIECES]:
        style = "" if abs(odds) < strongest / 20 else colours[odds < 0].terminal
        style += " bold" if abs(odds) > strongest / 3 else ""
        text.append("".join(letter if letter.isprintable() or letter == "\n" else " " for letter in piece), style)
    if len(pieces) > MAX_PIECES:
        text.append(" …")
    return text


def _table(e: Explanation, width: int) -> Table:
    """Return the contributions, with as many details as have room."""
    layout = Layout.of(e)
    for detail in DETAILS:
        table = _table_with(detail, layout, e)
        if _min_width(table, detail) <= width:
            break
    return table


def _min_width(table: Table, detail: Detail) -> int:
    """Return the characters of a line if only the values are folded."""
    from rich.cells import cell_len

    widths = [max(cell_len(str(cell)) for cell in (c.header, *c.cells)) for c in table.columns]
    widths[1] = min(widths[1], detail.min_value_width)
    return sum(widths) + 3 * len(widths) - 1


def _table_with(detail: Detail, layout: Layout, e: Explanation) -> Table:
    """Return the contributions with these details."""
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    has_weights = detail.has_weights and layout.has_weights

    def add_row(
        name: Text | str, value: Text | str, log_odds: float, *weight: str, after: tuple[str, ...] = ()
    ) -> None:
        bar = [_bar(log_odds, layout, detail.bar_width)] if detail.bar_width else []
        table.add_row(name, value, *bar, *((weight or ("", "")) if has_weights else ()), number(log_odds), *after)

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("column", no_wrap=True)
    table.add_column("value", overflow="fold", min_width=min(detail.min_value_width, 14))
    if detail.bar_width:
        against, of = (shorten(label, detail.bar_width) for label in (e.against, e.of))
        table.add_column(Text(" " * (detail.bar_width - cell_len(against)) + f"{against}│{of}"), no_wrap=True)
    numbers = (["evidence", "weight"] if has_weights else []) + ["log-odds"] + (["95 %"] if detail.is_full else [])
    if detail.has_shares:
        numbers += [f"in {shorten(label, 16 if detail.is_full else 7)}" for label in (e.of, e.against)]
    for title in numbers:
        table.add_column(Text(title), justify="right", no_wrap=True)
    for name, log_odds in layout.starts(e):
        add_row(name, "", log_odds)
    for line in layout.shown:
        occurs, note = occurrences_and_note(line)
        value = Text(shorten(line.shown, 36) + occurs)
        if note:
            value.append(f" ({shorten(note, 40)})", style="dim")
        form = format_counts if detail.is_full else _format_share
        counts = tuple(form(side, line.is_date) for side in (line.counts, line.counts_against))
        after = ((interval(line),) if detail.is_full else ()) + (counts if detail.has_shares else ())
        column = Text(shorten(line.column, detail.name_width))
        add_row(column, value, line.log_odds, *evidence_and_weight(line), after=after)
    for group in layout.others:
        is_of_columns = group.text is None
        column = Text(str(group) if is_of_columns else shorten(group.text, detail.name_width), style="dim")
        add_row(column, Text("" if is_of_columns else str(group), style="dim"), group.log_odds)
    for name, log_odds in layout.ends(e):
        add_row(name, "", log_odds)
    table.add_section()
    before = ["", *([""] if detail.bar_width else []), *(["", ""] if has_weights else [])]
    table.add_row(Text("total", style="bold"), *before, Text(number(e.total), style="bold"))
    return table


def evidence_and_weight(line: Contribution) -> tuple[str, str]:
    """Return the log-odds before the weight, and the weight; empty if there is no evidence."""
    return ("", "") if line.evidence == 0.0 else (number(line.evidence), f"× {line.weight:.2f}")


def _format_share(counts: Mapping[str, float], is_date: bool) -> str:
    """Return the counts of a contribution in few characters: 1.2 %, or the mean."""
    if "all" in counts:
        return f"{format_percent(counts['count'] / counts['all'])} %" if counts["all"] else "–"
    if is_date:
        return format_mean_of_dates(counts["mean"], counts.get("deviation", math.inf))[0]
    return f"{counts['mean']:.4g}" if "mean" in counts else ""


def _bar(log_odds: float, layout: Layout, width: int) -> Text:
    """Return a bar to the left or right of zero."""
    from rich.text import Text

    length = min(width, round(width * min(abs(log_odds), layout.longest) / layout.longest))
    if log_odds < 0:
        return Text(" " * (width - length) + "█" * length + "│" + " " * width, style=layout.colours[1].terminal)
    return Text(
        " " * width + "│" + "█" * length + " " * (width - length),
        style=layout.colours[0].terminal if log_odds > 0 else "dim",
    )


def format_percent(share: float) -> str:
    """Return a share in percent, without an exponent.

    >>> format_percent(1.0), format_percent(0.484), format_percent(0.0012)
    ('100', '48', '0.12')
    """
    percent = 100 * share
    return f"{percent:.0f}" if percent >= 9.95 else f"{percent:.2g}" if percent >= 0.01 or not percent else "<0.01"
