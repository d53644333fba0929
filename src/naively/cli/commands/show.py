"""`naively show`: show what a model has learnt."""

import click

from naively.cli import options


@click.command("show", short_help="Show what a model has learnt.")
@click.argument("model")
@click.argument("column", required=False)
@options.as_json
def command(model: str, column: str | None, as_json: bool) -> None:
    """Show the classes, columns and tuning of MODEL, or what it has learnt of one COLUMN.

    \b
    naively show income.naively
    naively show income.naively age
    naively show income.naively age --json
    """
    from naively.cli import describe
    from naively.cli.output import print_json
    from naively.store.running_sum import load

    loaded = load(model)
    if as_json:
        print_json(describe.model_data(loaded) if column is None else describe.column_data(loaded, column))
    elif column is not None:
        click.echo(describe.describe_column(loaded, column))
    else:
        parts = [
            f"Predicts {loaded.target!r}.",
            describe.describe_classes(loaded),
            describe.describe_columns(loaded),
            describe.describe_tuning(loaded),
            describe.describe_quality(loaded),
            describe.describe_age(loaded),
        ]
        click.echo("\n\n".join(filter(None, parts)))
