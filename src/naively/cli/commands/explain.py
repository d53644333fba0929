"""`naively explain`: explain predictions."""

import click

from naively.cli import options

UNLIMITED_WIDTH = 1000  # a file or a pipe has no width: do not shorten lines


@click.command("explain", short_help="Explain a prediction.")
@click.argument("model")
@click.argument("data", nargs=-1)
@click.option(
    "--row",
    "rows",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Row to explain, counted from 1. Repeatable.  [default: 1]",
)
@click.option("--text", metavar="TEXT", help="Explain this text instead of DATA.")
@click.option("--of", metavar="CLASS", help="Class to explain. Default: the predicted class.")
@click.option("--against", metavar="CLASS", help="Class to compare it with. Default: the second most probable class.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="K",
    help="Show the K strongest contributions, and sum up the others in one line.",
)
@options.as_json
@click.option("--html", "as_html", is_flag=True, help="Print HTML.")
def command(
    model: str,
    data: tuple[str, ...],
    rows: tuple[int, ...],
    text: str | None,
    of: str | None,
    against: str | None,
    top: int | None,
    as_json: bool,
    as_html: bool,
) -> None:
    """Explain the prediction for a row of DATA: how much the prior and each column or word adds to the log-odds.

    \b
    naively explain income.naively new.csv --row 3
    naively explain spam.naively --text "Cheap pills, now!"
    naively explain income.naively new.csv --of '>50K' --against '<=50K' --top 5 --json
    """
    if (text is None) == (not data):
        raise click.UsageError("give DATA or --text, one of them.")
    if text is not None and rows:
        raise click.UsageError("--text is one row: leave out --row.")
    if as_json and as_html:
        raise click.UsageError("give --json or --html, not both.")

    from naively.cli.input import read_rows, row_of_text
    from naively.cli.output import print_json
    from naively.store.running_sum import load

    loaded = load(model)
    numbers = rows or (1,)
    table = read_rows(loaded, data, numbers) if text is None else row_of_text(loaded, text)
    explanations = loaded.explain(
        table, of=options.find_class(loaded, of), against=options.find_class(loaded, against), top=top
    )
    if as_json:
        print_json([explanation.to_dict() for explanation in explanations])
        return
    if as_html:
        click.echo("\n".join(explanation._repr_html_() for explanation in explanations))
        return
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = UNLIMITED_WIDTH
    for number, explanation in zip(numbers, explanations, strict=True):
        if len(explanations) > 1:
            console.print(f"\nrow {number}")
        console.print(explanation)
