"""`naively compact`: replace the history of a model file by one entry."""

import click

from naively.cli import options


@click.command("compact", short_help="Replace the history by one entry.")
@click.argument("model")
@click.option("--force", is_flag=True, help="Do not ask for confirmation.")
@options.comment
@options.as_json
def command(model: str, force: bool, comment: str, as_json: bool) -> None:
    """Replace the history of MODEL by a single entry. Predictions do not change.

    This is the only command that destroys anything: the entries so far can no longer be undone, nor selected by time or
    source. Forgotten words are erased from the file, and so are the rows that `fit --keep-sample` kept.

    \b
    naively compact spam.naively --force --comment "end of year"
    """
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger:
        n_entries = len(ledger.log())
        become = "1 entry is written again." if n_entries == 1 else f"{n_entries:,} entries become one."
        click.echo(
            f"{model}: {become} They can no longer be undone, nor selected by time or source.",
            err=True,
        )
        if not force:
            click.confirm("Continue?", abort=True, err=True)
        entry = ledger.compact(comment=comment)
    print_entries([entry], as_json)
