"""`naively log`: what a model was taught, when and by whom."""

from __future__ import annotations

import click

from naively.cli.ledgers import json_option, tell

__all__ = ["command"]


@click.command("log", short_help="List what a model was taught.")
@click.argument("model")
@json_option
def command(model: str, as_json: bool) -> None:
    """List the entries of MODEL: id, time, act, rows, source. Every entry is read and its checksum compared.

    \b
    naively log spam.naively
    naively log spam.naively --json
    """
    import naively

    tell(naively.open(model).log(), as_json)
