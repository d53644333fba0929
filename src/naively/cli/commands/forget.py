"""`naively forget`: remove rows from a model file, exactly."""

import click

from naively.cli import options


@click.command("forget", short_help="Remove rows from a model.")
@click.argument("model")
@options.reads_rows_to_count
@options.takes_entry
@options.comment
@options.as_json
def command(
    model: str,
    rows: options.RowsToCount,
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
    from naively.cli.input import name_file_in_errors, rows_and_labels
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger, name_file_in_errors(rows.data, model):
        X, y = rows_and_labels(ledger, rows)
        entries = ledger.forget(X, y, weight=rows.weight, entry=entry, source=source, comment=comment)
    print_entries(entries, as_json)
