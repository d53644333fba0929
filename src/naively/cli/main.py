"""The command line: one command per file, each imported only when it is used, so that --help is quick."""

import importlib
import sys
import warnings
from functools import cache
from typing import Any

import click

from naively.cli.output import print_note
from naively.errors import InputError

FILE_COMMANDS = ("update", "forget", "undo", "tune", "log", "merge", "diff", "compact", "copy")
COMMANDS = ("fit", "predict", "evaluate", "explain", "show", "plot", "sample", *FILE_COMMANDS, "demo")
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(click.Group):
    """A group whose commands are the modules of `naively.cli.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they are usually needed."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"naively.cli.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print wrong input as one sentence on standard error and exit with code 1."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            note = cache(print_note)  # once: a warning about a batch may come with every batch
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            try:
                return super().invoke(ctx)
            except (InputError, MemoryError) as error:
                if ctx.params.get("debug"):
                    raise
                click.echo(f"naively: {error or 'not enough memory.'}", err=True)
                sys.exit(1)


@click.command(cls=Commands, context_settings=SETTINGS)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="naively", message="%(version)s")
def main(debug: bool) -> None:
    """Naive Bayes for tables and text: fit a model, predict with it, explain it, keep it up to date.

    \b
    naively fit people.csv --target income -o income.naively
    naively predict income.naively new.csv -o predictions.csv
    naively explain income.naively new.csv --row 1
    """
