"""`naively relabel`: correct the labels of rows that a model file has learnt."""

import click

from naively.cli import options
from naively.data.files.paths import Files


@click.command("relabel", short_help="Correct the labels of rows.")
@click.argument("model")
@click.option("--to", "new_label", required=True, metavar="CLASS", help="The right class of the rows.")
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
    new_label: str,
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
    """Give rows that MODEL has learnt another class: forget them with their label, and learn them with --to.

    The rows are those of DATA, with the label that they were learnt with, or one row with its --label. The log gets an
    entry for the forgotten rows and one for the learnt ones, both or none of them.

    \b
    naively relabel spam.naively --text "Lunch at noon?" --label spam --to ham
    naively relabel spam.naively mistakes.csv --to ham --entry 3f2a81c0
    """
    options.refuse_rows_and_row(data, values, text)
    options.refuse_label(data, label)

    from naively.cli.input import name_file_in_errors, rows_and_labels
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(data, model):
        rows, labels = rows_and_labels(ledger, data, values, text, label, target)
        to = options.find_class(ledger.model(), new_label)
        entries = ledger.relabel(rows, labels, to=to, weight=weight, entry=entry, source=source, comment=comment)
    print_entries(entries, as_json)
