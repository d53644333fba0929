"""`naively diff`: compare two models."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from naively.cli import options

if TYPE_CHECKING:
    from naively.evaluation.diff import ColumnDiff

MAX_Q = 0.05  # false discovery rate of the changes that are printed


@click.command("diff", short_help="Compare two models.")
@click.argument("a")
@click.argument("b")
@click.option(
    "--top", default=5, show_default=True, metavar="N", help="Show the N most changed values or words of each column."
)
@click.option("--all", "show_all", is_flag=True, help="Also list columns whose change may be chance.")
@options.as_json
def command(a: str, b: str, top: int, show_all: bool, as_json: bool) -> None:
    """Compare two models column by column and test each difference for significance.

    Prints the difference of each column that changed, in nats per row, and its q. q is the false discovery rate
    (Benjamini–Hochberg): of the changes with this q or less, at most that share is chance. Rows that both files have
    learnt are ignored.

    Ends with 0 if no column changed by more than chance (q below 0.05), with 1 if one did, and with 2 if the models
    cannot be compared.

    \b
    naively diff march.naively april.naively
    naively diff spam.naively spam-now.naively --json
    """
    from naively.cli.output import print_json
    from naively.data.text_table import format_table
    from naively.evaluation.diff import diff_models
    from naively.store.compare import disjoint_models

    one, two, note = disjoint_models(a, b)
    columns = diff_models(one, two, top)
    classes = [str(label) for label in sorted({*one.classes, *two.classes})]
    has_changed = any(column.q < MAX_Q for column in columns)
    if as_json:
        print_json({"note": note, "classes": classes, "columns": [asdict(column) for column in columns]})
        sys.exit(has_changed)
    if note:
        click.echo(f"{note}\n")
    click.echo(f"rows: {int(one.class_weights.rows.sum()):,} against {int(two.class_weights.rows.sum()):,}\n")
    changed = [column for column in columns if show_all or column.q < MAX_Q]
    if not changed:
        click.echo("No column changed by more than chance (--all lists all columns).")
        sys.exit(has_changed)
    rows = [line for column in changed for line in _lines(column, classes, show_all)]
    click.echo(format_table(("column", "nats/row", "q", "changes"), rows, right=("nats/row", "q")))
    if len(changed) < len(columns):
        click.echo(f"\n{len(columns) - len(changed)} more columns without a significant change (--all lists them).")
    sys.exit(has_changed)


def _lines(column: ColumnDiff, classes: list[str], show_all: bool) -> list[tuple[str, str, str, str]]:
    """Return the lines of a column: its own, and one for each changed value or word."""
    from naively.data.text_table import format_number

    lines = [(column.column, f"{column.nats:.4f}", f"{column.q:.2g}", "")]
    for change in column.changes:
        if show_all or change.q < MAX_Q:
            names = classes if len(change.nats) == len(classes) else ["share"]
            nats = [f"{name} {format_number(n, '+.2f')}" for name, n in zip(names, change.nats, strict=True) if n == n]
            lines.append((f"  {change.name}", "", f"{change.q:.2g}", ", ".join(nats)))
    return lines
