"""`naively demo`: run a worked example."""

import importlib

import click


@click.command("demo", short_help="Run a worked example.")
@click.argument("name", type=click.Choice(["federalist", "spam", "play"]), default="federalist")
def command(name: str) -> None:
    """Run a worked example on data that comes with naively.

    \b
    naively demo              # who wrote the disputed Federalist Papers?
    naively demo spam         # a model that writes mail, and learns from it
    naively demo play         # twelve rows by hand, each number shown
    """
    importlib.import_module(f"naively.demos.{name}").main()
