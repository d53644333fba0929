"""`naively update`: add rows to a model file."""

import click

from naively.cli import options
from naively.data.files.paths import Files


@click.command("update", short_help="Add rows to a model.")
@click.argument("model")
@options.takes_one_row
@options.label
@options.target
@options.weight
@options.source
@options.comment
@options.as_json
@options.reads_data(required=False)
def command(
    model: str,
    data: Files | None,
    values: tuple[str, ...],
    text: str | None,
    label: str | None,
    target: str | None,
    weight: str | None,
    source: str | None,
    comment: str,
    as_json: bool,
) -> None:
    """Add the rows of DATA, or one row with its --label, to MODEL as one entry of its log, completely or not at all.

    Other processes can use the model file meanwhile.

    \b
    naively update spam.naively monday.csv --source anna --comment "first batch"
    naively update spam.naively --text "Cheap pills, now!" --label spam
    cat one.csv | naively update spam.naively -
    """
    options.refuse_rows_and_row(data, values, text)
    options.refuse_label(data, label)

    from naively.cli.input import name_file_in_errors, rows_and_labels
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(data, model):
        rows, labels = rows_and_labels(ledger, data, values, text, label, target)
        source = options.source_name(data, source)
        entry = ledger.update(rows, labels, weight=weight, source=source, comment=comment)
    print_entries([entry], as_json)
