"""`naively export`: write a model as SQL, as an ONNX graph, or as JSON."""

from __future__ import annotations

import click

from naively.cli import options

DIALECTS = ("duckdb", "postgresql", "sqlite", "spark")


@click.command("export", short_help="Write a model as SQL, ONNX or JSON.")
@click.argument("model")
@click.option("--to", "kind", type=click.Choice(["sql", "onnx", "json"]), required=True, help="What to write.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="sql: the database that will run the query.")
@click.option("--table", metavar="NAME", default="data", show_default=True, help="sql: table to score, or SCHEMA.NAME.")
@click.option("--key", "keys", multiple=True, metavar="COLUMN", help="sql: column to return as well, such as an id.")
@click.option("--log", is_flag=True, help="sql: return the logarithms of the probabilities.")
@options.rows_output
@options.force
def command(
    model: str, kind: str, dialect: str | None, table: str, keys: tuple[str, ...], log: bool, output: str, force: bool
) -> None:
    """Write MODEL in a form that scores rows without naively.

    \b
    sql     a query that returns the prediction and the probability of each class
    onnx    a graph for onnxruntime (needs onnx: pip install "naively[onnx]")
    json    a scorecard: what each value adds to the score of each class

    \b
    naively export income.naively --to sql --dialect postgresql --table people --key id -o income.sql
    naively export income.naively --to onnx -o income.onnx
    """
    if kind == "sql" and dialect is None:
        raise click.UsageError(f"give --dialect, one of {', '.join(DIALECTS)}.")
    if kind != "sql" and (dialect or keys or log or table != "data"):
        raise click.UsageError(f"--dialect, --table, --key and --log are for --to sql, not for {kind}.")
    if kind == "onnx" and output == "-":
        raise click.UsageError("an ONNX graph cannot be written to standard output. Name a file with -o.")
    options.refuse_output(output, force, model)

    from naively.cli.output import json_text
    from naively.store.running_sum import load
    from naively.store.write import atomic_write

    loaded = load(model)
    if kind == "onnx":
        content = loaded.to_onnx().SerializeToString()
    elif kind == "json":
        content = f"{json_text(loaded.to_dict())}\n".encode()
    else:
        content = loaded.to_sql(str(dialect), table.split("."), keys=keys, log=log).encode()
    if output == "-":
        click.echo(content, nl=False)
        return
    with atomic_write(output) as unfinished:
        unfinished.write_bytes(content)
