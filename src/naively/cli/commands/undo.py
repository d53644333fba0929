"""`naively undo`: cancel an entry of a model file."""

import click

from naively.cli import options


@click.command("undo", short_help="Undo an entry of the log.")
@click.argument("model")
@click.argument("entry", metavar="ID")
@options.comment
@options.as_json
def command(model: str, entry: str, comment: str, as_json: bool) -> None:
    """Undo an entry of MODEL. ID is the first digits shown by `naively log`. Undoing an undo restores the entry.

    An entry that was compacted or partly forgotten cannot be undone.

    \b
    naively undo spam.naively 3f2a81c0 --comment "wrong file"
    """
    from naively.cli.output import print_entries
    from naively.store.ledger import Ledger

    with Ledger(model) as ledger:
        undo = ledger.undo(entry, comment=comment)
    print_entries([undo], as_json)
