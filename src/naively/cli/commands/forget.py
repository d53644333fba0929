"""`naively forget`: take rows away, exactly."""

from __future__ import annotations

import click

from naively.cli.ledgers import comment_option, json_option, target_option, tell, where

__all__ = ["command"]


@click.command("forget", short_help="Make a model forget rows.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@target_option
@click.option("--weight", metavar="C", help="The column that says how often a row counted.")
@click.option("--entry", metavar="ID", help="The entry that counted them; by default the latest that can have.")
@comment_option
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    entry: str | None,
    comment: str,
    as_json: bool,
) -> None:
    """Take the rows of DATA away from MODEL, as if they had never been counted; refused if they were not.

    What was forgotten can be undone, and its words are still in the file, until it is compacted.

    \b
    naively forget spam.naively mistakes.csv --comment "wrong labels"
    naively forget spam.naively anna.csv --entry 3f2a81c0
    """
    import naively
    from naively.cli.naming import naming

    with naively.open(model) as ledger, naming(data, model):
        entries = ledger.forget(where(data), target, weight=weight, entry=entry, comment=comment)
    tell(entries, as_json)
