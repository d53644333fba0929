"""`naively update`: teach a model file more rows."""

from __future__ import annotations

import click

from naively.cli.ledgers import comment_option, json_option, named_source, target_option, tell, where

__all__ = ["command"]


@click.command("update", short_help="Teach a model more rows.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@target_option
@click.option("--weight", metavar="C", help="The column that says how often a row counts.")
@click.option("--source", help="Where the rows come from; by default the names of the files.")
@comment_option
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    source: str | None,
    comment: str,
    as_json: bool,
) -> None:
    """Add the rows of DATA to MODEL: one entry, whole or not at all. Others may use the file meanwhile.

    \b
    naively update spam.naively monday.csv --source anna --comment "first batch"
    cat one.csv | naively update spam.naively -
    """
    import naively
    from naively.cli.naming import naming

    with naively.open(model) as ledger, naming(data, model):
        entry = ledger.update(where(data), target, weight=weight, source=named_source(data, source), comment=comment)
    tell([entry], as_json)
