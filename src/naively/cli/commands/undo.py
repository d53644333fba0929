"""`naively undo`: the sum without one entry."""

from __future__ import annotations

import click

from naively.cli.ledgers import comment_option, json_option, tell

__all__ = ["command"]


@click.command("undo", short_help="Undo one entry of a model.")
@click.argument("model")
@click.argument("id")
@comment_option
@json_option
def command(model: str, id: str, comment: str, as_json: bool) -> None:  # noqa: A002  (the log's own word)
    """Undo the entry of MODEL whose ID begins so (naively log); undo the undo to bring it back.

    An entry that was absorbed by a compaction, or partly forgotten, cannot be undone.

    \b
    naively undo spam.naively 3f2a81c0 --comment "wrong file"
    """
    import naively

    with naively.open(model) as ledger:
        entry = ledger.undo(id, comment=comment)
    tell([entry], as_json)
