"""`naively copy`: copy a model file that may be in use, or what is intact in a damaged one."""

from pathlib import Path

import click

from naively.cli import options


@click.command("copy", short_help="Copy a model file safely.")
@click.argument("model")
@click.argument("to", type=options.NEW_FILE)
@click.option("--salvage", "is_damaged", is_flag=True, help="Recover the intact entries of a damaged file.")
@options.force
@click.option("--comment", default="", help="With --salvage: comment for the log.")
@options.as_json
def command(model: str, to: Path, is_damaged: bool, force: bool, comment: str, as_json: bool) -> None:
    """Copy MODEL safely while other processes use it. Plain `cp` of a file in use can give a broken copy.

    A salvage adds an entry to the log of the copy that lists what was lost.

    \b
    naively copy spam.naively backup.naively
    naively copy damaged.naively rest.naively --salvage
    """
    if comment and not is_damaged:
        raise click.UsageError("--comment needs --salvage.")
    options.refuse_output(to, force, model)

    from naively.cli.output import print_json
    from naively.data.names import counted
    from naively.store.copy import copy, salvage

    if not is_damaged:
        copy(model, to, overwrite=force)
        if as_json:
            print_json({"copied": model, "to": str(to)})
        return
    result = salvage(model, to, comment=comment, overwrite=force)
    if as_json:
        ids = [entry.id for entry in result.recovered]
        print_json({"recovered": ids, "lost": result.lost, "notes": result.notes})
        return
    click.echo(f"{counted(len(result.recovered), 'entry', 'entries')} recovered, {len(result.lost)} lost.")
    for line in (*result.notes, *(reason for _, reason in result.lost)):
        click.echo(f"  {line}")
