"""`naively sample`: plausible rows, drawn from a model."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("sample", short_help="Draw plausible rows from a model.")
@click.argument("model")
@click.option("-n", "n", type=click.IntRange(min=0), default=5, help="How many rows.", show_default=True)
@click.option("--label", metavar="CLASS", help="Of this class; by default classes are drawn from the prior.")
@click.option("--seed", type=click.IntRange(min=0), help="The same seed draws the same rows.")
@click.option("-o", "--output", default="-", help="Where to write; - is standard output.", show_default=True)
@click.option(
    "--format", "kind", type=click.Choice(["csv", "jsonl", "json", "parquet"]), help="By default as OUTPUT is named."
)
def command(model: str, n: int, label: str | None, seed: int | None, output: str, kind: str | None) -> None:
    """Draw rows from MODEL: a class from the prior, then each column from what the model has learnt of that class.

    Texts are bags of words: so many as usual in the class, in no order.

    \b
    naively sample spam.naively -n 5 --label spam
    naively sample income.naively -n 1000 --seed 1 -o rows.parquet
    """
    from naively.cli.commands.predict import by_name

    kind = kind or by_name(output)
    if kind == "parquet" and output == "-":
        raise click.UsageError("Parquet is not written to standard output: name a file with -o.")
    import naively
    from naively.cli.output import write_tables
    from naively.cli.pairs import classes_by_name

    loaded = naively.load(model)
    rows = loaded.sample(n, None if label is None else classes_by_name(loaded).get(label, label), seed)
    if kind == "json":
        import json

        text = json.dumps(rows.to_pylist(), ensure_ascii=False, indent=1, default=str)
        if output == "-":
            click.echo(text)
            return
        from naively.store.write import written_whole

        with written_whole(output) as unfinished:
            unfinished.write_text(text + "\n", encoding="utf-8")
        return
    write_tables([rows], output, kind)
