"""`naively relabel`: correct the labels of rows that a model file has learnt."""

import click

from naively.cli import options


@click.command("relabel", short_help="Correct the labels of rows.")
@click.argument("model")
@click.option("--to", "new_label", required=True, metavar="CLASS", help="The right class of the rows.")
@options.reads_rows_to_count
@options.takes_entry
@options.new_classes
@options.comment
@options.as_json
def command(
    model: str,
    rows: options.RowsToCount,
    new_label: str,
    entry: str | None,
    source: str | None,
    new_classes: bool,
    comment: str,
    as_json: bool,
) -> None:
    """Give rows that MODEL has learnt another class: forget them with their label, and learn them with --to.

    The rows are those of DATA, with the label that they were learnt with, or one row with its --label. The log gets one
    entry, which `naively undo` takes back.

    \b
    naively relabel spam.naively --text "Lunch at noon?" --label spam --to ham
    naively relabel spam.naively mistakes.csv --to ham --entry 3f2a81c0
    """
    from naively.cli.input import name_file_in_errors, rows_and_labels
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(rows.data, model):
        X, y = rows_and_labels(ledger, rows)
        to = options.label_of(ledger.model(), new_label)
        relabelled = ledger.relabel(
            X, y, to=to, weight=rows.weight, entry=entry, source=source, comment=comment, new_classes=new_classes
        )
    print_entries([relabelled], as_json)
