"""`naively forget`: remove rows from a model file, exactly."""

import click

from naively.cli import options
from naively.data.files.paths import Files


@click.command("forget", short_help="Remove rows from a model.")
@click.argument("model")
@options.takes_one_row
@options.label
@options.target
@options.weight
@click.option("--entry", metavar="ID", help="Entry to take the rows from.")
@click.option("--source", help="Source to take the rows from.")
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
    entry: str | None,
    source: str | None,
    comment: str,
    as_json: bool,
) -> None:
    """Remove the rows of DATA, or one row with its --label, from MODEL, as if it had never learnt them.

    Rows that it never learnt are an error.

    Give --entry or --source, so that models of a period or of a source forget the rows too. If the file remembers its
    rows, neither is needed. A forget can be undone, and the words of the rows stay in the file, until it is compacted.

    \b
    naively forget spam.naively mistakes.csv --comment "wrong labels"
    naively forget spam.naively anna.csv --entry 3f2a81c0
    naively forget spam.naively --text "Lunch at noon?" --label spam
    """
    options.refuse_rows_and_row(data, values, text)
    options.refuse_label(data, label)

    from naively.cli.input import name_file_in_errors, rows_and_labels
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(data, model):
        rows, labels = rows_and_labels(ledger, data, values, text, label, target)
        entries = ledger.forget(rows, labels, weight=weight, entry=entry, source=source, comment=comment)
    print_entries(entries, as_json)
