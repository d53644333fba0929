"""`naively update`: add rows to a model file."""

import click

from naively.cli import options


@click.command("update", short_help="Add rows to a model.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.target
@options.weight
@options.source
@options.comment
@options.as_json
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    source: str | None,
    comment: str,
    as_json: bool,
) -> None:
    """Add the rows of DATA to MODEL as one entry of its log, completely or not at all.

    Other processes can use the model file meanwhile.

    \b
    naively update spam.naively monday.csv --source anna --comment "first batch"
    cat one.csv | naively update spam.naively -
    """
    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(data, model):
        entry = ledger.update(
            options.as_paths(data), target, weight=weight, source=options.source_name(data, source), comment=comment
        )
    print_entries([entry], as_json)
