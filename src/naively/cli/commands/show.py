"""`naively show`: show what a model has learnt."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from naively.cli import options

if TYPE_CHECKING:
    from naively.explanation.tables import Tables

MAX_WORDS = 1_000  # of a text, in JSON; CSV has all of them


@click.command("show", short_help="Show what a model has learnt.")
@click.argument("model")
@click.argument("column", required=False)
@click.option("--of", metavar="CLASS", help="Class that log-odds are for. Default: the last.")
@click.option("--against", metavar="CLASS", help="Class to compare it with. Default: the first other one.")
@options.as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print all numbers of COLUMN, or of every column, as CSV.")
def command(model: str, column: str | None, of: str | None, against: str | None, as_json: bool, as_csv: bool) -> None:
    """Show the classes, columns and tuning of MODEL, or the table of one COLUMN.

    The table has the counts of each value or bin in each class, its probability p, and the log-odds that it adds.
    Other columns of numbers have means, deviations or rates. "age present" is whether age has a value.

    \b
    naively show income.naively
    naively show income.naively age
    naively show income.naively age --json
    naively show income.naively --csv > tables.csv
    """
    if as_json and as_csv:
        raise click.UsageError("give --json or --csv, not both.")
    if column is None and not as_csv and (of is not None or against is not None):
        raise click.UsageError("--of and --against are for the table of a COLUMN: name one.")

    from naively.cli import describe
    from naively.cli.output import print_json
    from naively.store.entries import open_file
    from naively.store.running_sum import read_sum
    from naively.store.samples import n_kept_rows

    with open_file(model) as (log, meta):
        loaded, n_kept = read_sum(log, meta).model, n_kept_rows(log)
    if as_csv or column is not None:
        first, second = (options.known_class(loaded, name) for name in (of, against))
        _show_tables(loaded.tables(first, second, None if as_csv else MAX_WORDS), column, as_json, as_csv)
    elif as_json:
        print_json(describe.model_data(loaded) | ({"kept_rows": n_kept} if n_kept else {}))
    else:
        parts = [
            f"Predicts {loaded.target!r}.",
            describe.describe_classes(loaded),
            describe.describe_columns(loaded),
            describe.describe_tuning(loaded),
            describe.describe_quality(loaded),
            describe.describe_age(loaded),
            f"Keeps {n_kept:,} rows of the data to tune by; `naively compact` drops them." if n_kept else "",
        ]
        click.echo("\n\n".join(filter(None, parts)))


def _show_tables(tables: Tables, column: str | None, as_json: bool, as_csv: bool) -> None:
    """Print the table of a column, or the tables of all columns as CSV."""
    from naively.cli.output import print_json
    from naively.cli.write import write_tables

    shown = tables.values() if column is None else tables.of_column(column)
    if as_csv:
        write_tables((table.to_arrow() for table in shown), "-", "csv")
    elif as_json:
        print_json([table.to_dict() for table in shown])
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        click.echo("\n\n".join(table.as_text(width) for table in shown))
