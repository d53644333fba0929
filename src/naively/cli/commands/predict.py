"""`naively predict`: the same rows, in order, with the answers added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

__all__ = ["by_name", "command"]


@click.command("predict", short_help="Predict with a model.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@click.option("-o", "--output", default="-", help="Where to write; - is standard output.", show_default=True)
@click.option("--proba", is_flag=True, help="Add the probability of every class, as p_CLASS.")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Add the K most probable classes.")
@click.option("--odds", type=click.FloatRange(min=0), help="Answer --of only if its odds are above this.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Answer --of only if its probability is above this.")
@click.option(
    "--unsure", type=click.FloatRange(0, 1, min_open=True), help="Answer only if the probability reaches this."
)
@click.option("--of", metavar="CLASS", help="The class that --odds and --threshold are about; the last by default.")
@click.option("--format", "kind", type=click.Choice(["csv", "jsonl", "parquet"]), help="By default as OUTPUT is named.")
def command(
    model: str,
    data: tuple[str, ...],
    output: str,
    proba: bool,
    top: int | None,
    odds: float | None,
    threshold: float | None,
    unsure: float | None,
    of: str | None,
    kind: str | None,
) -> None:
    """Add the column `prediction` to the rows of DATA (files, globs, folders, a table, or - for standard input).

    \b
    naively predict income.naively new.csv -o answers.csv --proba
    cat new.csv | naively predict income.naively - | head
    naively predict spam.naively mail.parquet --threshold 0.99 --of spam -o answers.parquet
    naively predict spam.naively mail.csv --unsure 0.9    # an empty prediction where none reaches 0.9
    """
    if sum(option is not None for option in (odds, threshold, unsure)) > 1:
        raise click.UsageError("give one of --odds, --threshold and --unsure, not several.")
    if of is not None and odds is None and threshold is None:
        raise click.UsageError("--of goes with --odds or --threshold.")
    kind = kind or by_name(output)
    if kind == "parquet" and output == "-":
        raise click.UsageError("Parquet is not written to standard output: name a file with -o.")

    import naively
    from naively.cli.answering import answer
    from naively.cli.naming import naming
    from naively.cli.pairs import classes_by_name

    loaded = naively.load(model)
    decision: dict[str, Any] = {"odds": odds, "threshold": threshold, "unsure": unsure}
    if of is not None:
        decision["of"] = classes_by_name(loaded).get(of, of)
    where = "-" if data == ("-",) else list(data)
    with naming(data, output):
        answer(loaded, where, output, kind, {"proba": proba, "top": top, **decision})


def by_name(output: str) -> str:
    """The format that the name of a file tells."""
    kinds = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet"}
    suffix = Path(output).suffix.lower()
    if output != "-" and suffix not in kinds:
        raise click.UsageError(f"{output}: give --format, or a name that ends in .csv, .jsonl or .parquet.")
    return kinds.get(suffix, "csv")
