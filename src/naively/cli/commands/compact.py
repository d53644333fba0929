"""`naively compact`: one entry in the place of all."""

from __future__ import annotations

import click

from naively.cli.ledgers import comment_option, json_option, tell

__all__ = ["command"]


@click.command("compact", short_help="Make one entry of all.")
@click.argument("model")
@click.option("--yes", is_flag=True, help="Do not ask.")
@comment_option
@json_option
def command(model: str, yes: bool, comment: str, as_json: bool) -> None:
    """Make one entry of all entries of MODEL, and clear what is left of the others. The model stays what it is.

    This is the only command that destroys anything: it ends undo, periods and sources of the entries so far. Words that
    were forgotten are gone from the file afterwards.

    \b
    naively compact spam.naively --yes --comment "end of year"
    """
    import naively

    with naively.open(model) as ledger:
        n = len(ledger.log())
        click.echo(
            f"{model}: {n} entries become one; they can no longer be undone, nor told apart by time or source.",
            err=True,
        )
        if not yes:
            click.confirm("Go on?", abort=True, err=True)
        entry = ledger.compact(comment=comment)
    tell([entry], as_json)
