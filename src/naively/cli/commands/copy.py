"""`naively copy`: a copy of a file in use, or of what is intact in a damaged one."""

from __future__ import annotations

from pathlib import Path

import click

from naively.cli.ledgers import comment_option, json_option

__all__ = ["command"]


@click.command("copy", short_help="Copy a model file, also one in use.")
@click.argument("model")
@click.argument("to", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--salvage", is_flag=True, help="Recover the entries of a damaged file that are intact, and list the lost."
)
@click.option("--force", is_flag=True, help="Overwrite TO.")
@comment_option
@json_option
def command(model: str, to: Path, salvage: bool, force: bool, comment: str, as_json: bool) -> None:
    """Copy MODEL as it is now, whoever has it open: a copy by other means may be half of one state, half of another.

    With a comment the copy has one entry more, which counts nothing and says what it is a copy of. A salvage always has
    one, which says what was lost.

    \b
    naively copy spam.naively backup.naively --comment "before the holidays"
    naively copy damaged.naively rest.naively --salvage
    """
    import json

    from naively.store.copy import copy as copy_file
    from naively.store.copy import salvage as salvage_file

    if to.exists() and not force:
        raise click.UsageError(f"{to} is there already: give --force to overwrite it, or another name.")
    if not salvage:
        copy_file(model, to, comment=comment)
        if as_json:
            click.echo(json.dumps({"copied": model, "to": str(to)}, ensure_ascii=False))
        return
    found = salvage_file(model, to, comment=comment)
    if as_json:
        recovered = [entry.id for entry in found.recovered]
        click.echo(json.dumps({"recovered": recovered, "lost": found.lost, "notes": found.notes}, ensure_ascii=False))
        return
    click.echo(f"{len(found.recovered)} entries recovered, {len(found.lost)} lost.")
    for line in (*found.notes, *(why for _, why in found.lost)):
        click.echo(f"  {line}")
