"""`naively diff`: what changed between two models."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from naively.cli.ledgers import json_option

if TYPE_CHECKING:
    from naively.evaluation.diff import Drift

__all__ = ["command"]


@click.command("diff", short_help="Tell what changed between two models.")
@click.argument("a")
@click.argument("b")
@click.option("--top", default=5, show_default=True, help="Words and values told of each column.")
@click.option("--all", "everything", is_flag=True, help="Also the columns of which chance would do as much.")
@json_option
def command(a: str, b: str, top: int, everything: bool, as_json: bool) -> None:
    """Tell what changed from A to B, in nats per row, column by column and word by word, and whether that is chance.

    q is the share of false alarms among all that is as improbable. Rows that both files have counted are left out.

    \b
    naively diff march.naively april.naively
    naively diff spam.naively spam-now.naively --json
    """
    from naively.evaluation.diff import drift
    from naively.store.compare import apart

    one, two, note = apart(a, b)
    found = drift(one, two, top)
    classes = [str(c) for c in sorted({*one.classes, *two.classes})]
    if as_json:
        data = [asdict(column) for column in found]
        click.echo(
            json.dumps({"note": note, "classes": classes, "columns": _plain(data)}, ensure_ascii=False, indent=1)
        )
        return
    if note:
        click.echo(f"{note}\n")
    click.echo(f"rows: {int(one.seen.rows.sum()):,} against {int(two.seen.rows.sum()):,}\n")
    told = [column for column in found if everything or column.q < 0.05]
    if not told:
        click.echo("nothing changed that chance would not do as well (--all lists all columns)")
        return
    wide = max((len(column.column) for column in told), default=6)
    click.echo(f"{'column':<{wide}}  nats/row  {'q':>8}")
    for column in told:
        _tell(column, wide, classes, everything)
    if len(told) < len(found):
        click.echo(f"\n{len(found) - len(told)} more of which chance would do as much (--all lists them)")


def _tell(column: Drift, wide: int, classes: list[str], everything: bool) -> None:
    click.echo(f"{column.column:<{wide}}  {column.nats:8.4f}  {column.q:8.2g}")
    for change in column.changes:
        if everything or change.q < 0.05:
            named = classes if len(change.nats) == len(classes) else ["share"]
            nats = ", ".join(f"{c} {n:+.2f}" for c, n in zip(named, change.nats, strict=True) if n == n)
            click.echo(f"    {change.name}  {nats}  (q {change.q:.2g})")


def _plain(found: Any) -> Any:
    """Without NaN, which JSON has no word for."""
    if isinstance(found, dict):
        return {key: _plain(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [_plain(value) for value in found]
    return None if isinstance(found, float) and found != found else found
