"""`naively sample`: draw random rows from a model."""

import click

from naively.cli import options


@click.command("sample", short_help="Draw random rows from a model.")
@click.argument("model")
@click.option("-n", "n", type=click.IntRange(min=0), default=5, show_default=True, help="Number of rows.")
@click.option("--of", metavar="CLASS", help="Class of the rows. Default: classes are drawn from the prior.")
@click.option("--seed", type=click.IntRange(min=0), help="The same seed draws the same rows.")
@options.rows_output
@options.force
@options.format_of("csv", "jsonl", "json", "parquet")
def command(model: str, n: int, of: str | None, seed: int | None, output: str, force: bool, kind: str | None) -> None:
    """Draw rows from MODEL: a class from the prior, then each column from its distribution in that class.

    Texts are bags of words: as many words as usual in the class, in no order.

    \b
    naively sample spam.naively -n 5 --of spam
    naively sample income.naively -n 1000 --seed 1 -o rows.parquet
    """
    kind = options.output_format(output, kind)
    options.refuse_output(output, force, model)

    from naively.cli.write import write_tables
    from naively.store.running_sum import load

    loaded = load(model)
    write_tables([loaded.sample(n, options.find_class(loaded, of), seed)], output, kind)
