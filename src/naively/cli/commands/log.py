"""`naively log`: list the history of a model file."""

import click

from naively.cli import options


@click.command("log", short_help="List the history of a model.")
@click.argument("model")
@options.as_json
def command(model: str, as_json: bool) -> None:
    """List the entries of MODEL: ID, time, action, rows and source. Checks the checksum of every entry.

    \b
    naively log spam.naively
    naively log spam.naively --json
    """
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    print_entries(Ledger(model).log(), as_json)
