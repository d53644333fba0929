"""`naively update`: add rows to a model file."""

import click

from naively.cli import options


@click.command("update", short_help="Add rows to a model.")
@click.argument("model")
@options.reads_rows_to_count
@options.source
@options.new_classes
@options.comment
@options.as_json
def command(
    model: str,
    rows: options.RowsToCount,
    source: str | None,
    new_classes: bool,
    comment: str,
    as_json: bool,
) -> None:
    """Add the rows of DATA, or one row with its --label, to MODEL as one entry of its log, completely or not at all.

    Prints how well MODEL predicted the rows before it learnt them. A class that MODEL does not have is refused as a
    typing error, unless --new-class is given. Other processes can use the model file meanwhile.

    \b
    naively update spam.naively monday.csv --source anna --comment "first batch"
    naively update spam.naively --text "Cheap pills, now!" --label spam
    cat one.csv | naively update spam.naively -
    """
    from naively.cli.describe import advise_tuning
    from naively.cli.input import name_file_in_errors, rows_and_labels
    from naively.cli.output import print_entries, print_note
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(rows.data, model):
        X, y = rows_and_labels(ledger, rows)
        source = options.source_name(rows.data, source)
        entry = ledger.update(
            X, y, weight=rows.weight, source=source, comment=comment, new_classes=new_classes, evaluate=True
        )
        learnt = ledger.model()
    print_entries([entry], as_json)
    if entry.before is not None and not as_json:
        click.echo(f"{entry.before}.")
    if advice := advise_tuning(learnt, entry):
        print_note(advice)
