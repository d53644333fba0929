"""The command line: one command per file, each imported only when it is used, so that --help is quick."""

import atexit
import importlib
import os
import sys
import threading
import warnings
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

import click

from naively.cli.output import print_note
from naively.errors import InputError

FILE_COMMANDS = ("update", "forget", "relabel", "undo", "tune", "log", "merge", "diff", "compact", "copy")
READ_COMMANDS = ("predict", "evaluate", "explain", "show", "plot", "report", "sample", "export")
COMMANDS = ("fit", "schema", *READ_COMMANDS, *FILE_COMMANDS, "serve", "mail", "demo")
ERROR_CODES = {"diff": 2, "mail": 3}  # the exit code for wrong data, if it is not 1
INTERRUPTED_CODE = 130  # 128 + SIGINT
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
        """Run a command; print wrong input as one sentence on standard error and exit with code 1.

        Ctrl-C ends with code 130, without a traceback.
        """
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
                sys.exit(ERROR_CODES.get(ctx.invoked_subcommand or "", 1))
            except (KeyboardInterrupt, click.Abort) as error:
                cause = error.__context__ if isinstance(error, click.Abort) else error  # a prompt raises Abort
                if not isinstance(cause, KeyboardInterrupt) or ctx.params.get("debug"):
                    raise
                _end_interrupted()


def _end_interrupted() -> NoReturn:
    """End the process as the shell expects after Ctrl-C. What was being written has been removed by now.

    A thread that waits for standard input would keep the process alive, so it is not waited for.
    """
    from naively.data.files.batches import READER_NAME

    click.echo("naively: interrupted.", err=True)
    if any(thread.name.startswith(READER_NAME) for thread in threading.enumerate()):
        warnings.simplefilter("ignore")
        atexit._run_exitfuncs()  # removes temporary folders
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(INTERRUPTED_CODE)
    sys.exit(INTERRUPTED_CODE)


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
