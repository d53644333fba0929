"""The command line: one command per file, each loaded only when it is asked for, so that --help is quick."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

import click

from naively.errors import InputError

__all__ = ["main"]

LEDGER = ("update", "forget", "undo", "tune", "log", "merge", "diff", "compact", "copy")
COMMANDS = ("fit", "predict", "evaluate", "explain", "show", "plot", "sample", *LEDGER, "demo")


class Commands(click.Group):
    """A group whose commands are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are used."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"naively.cli.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what is wrong with the data is one sentence on standard error, and exit code 1."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = _note  # type: ignore[assignment]  # it takes whatever comes
            try:
                return super().invoke(ctx)
            except (InputError, MemoryError) as error:
                if ctx.params.get("debug"):
                    raise
                click.echo(f"naively: {error or 'not enough memory.'}", err=True)
                sys.exit(1)


def _note(message: Any, *_: Any) -> None:
    click.echo(f"naively: note: {message}", err=True)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where in the program an error came from.")
@click.version_option(package_name="naively", message="%(version)s")
def main(debug: bool) -> None:
    """Naive Bayes for any table: fit a model, predict with it, look into it.

    \b
    naively fit people.csv --target income -o income.naively
    naively predict income.naively new.csv -o answers.csv
    naively show income.naively
    """
