"""`naively forget`: remove rows from a model file, exactly."""

import click

from naively.cli import options


@click.command("forget", short_help="Remove rows from a model.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.target
@options.weight
@click.option("--entry", metavar="ID", help="Entry to take the rows from.")
@click.option("--source", help="Source to take the rows from.")
@options.comment
@options.as_json
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    entry: str | None,
    source: str | None,
    comment: str,
    as_json: bool,
) -> None:
    """Remove the rows of DATA from MODEL, as if it had never learnt them. Rows that it never learnt are an error.

    Give --entry or --source, so that models of a period or of a source forget the rows too. If the file remembers its
    rows, neither is needed. A forget can be undone, and the words of the rows stay in the file, until it is compacted.

    \b
    naively forget spam.naively mistakes.csv --comment "wrong labels"
    naively forget spam.naively anna.csv --entry 3f2a81c0
    """
    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(data, model):
        paths = options.as_paths(data)
        entries = ledger.forget(paths, target, weight=weight, entry=entry, source=source, comment=comment)
    print_entries(entries, as_json)
