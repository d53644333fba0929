"""`naively explain`: explain predictions."""

import click

from naively.cli import options
from naively.data.files.paths import Files

UNLIMITED_WIDTH = 1000  # a file or a pipe has no width: do not shorten lines


@click.command("explain", short_help="Explain a prediction.")
@click.argument("model")
@options.takes_one_row
@click.option(
    "--row",
    "rows",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Row to explain, counted from 1. Repeatable.  [default: 1]",
)
@click.option("--of", metavar="CLASS", help="Class to explain. Default: the predicted class.")
@click.option("--against", metavar="CLASS", help="Class to compare it with. Default: the second most probable class.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="K",
    help="Show the K strongest contributions, and sum up the others in one line.",
)
@click.option(
    "--no-leave-out",
    is_flag=True,
    help="Explain a row that MODEL has counted by MODEL as it is. Default: by MODEL without the row.",
)
@options.as_json
@click.option("--html", "as_html", is_flag=True, help="Print HTML.")
@options.reads_data(required=False)
def command(
    model: str,
    data: Files | None,
    values: tuple[str, ...],
    text: str | None,
    rows: tuple[int, ...],
    of: str | None,
    against: str | None,
    top: int | None,
    no_leave_out: bool,
    as_json: bool,
    as_html: bool,
) -> None:
    """Explain the prediction for a row of DATA, or for one row given by --set and --text.

    Prints how much the prior and each column or word adds to the log-odds.

    \b
    naively explain income.naively new.csv --row 3
    naively explain spam.naively --text "Cheap pills, now!"
    naively explain income.naively --set age=30 --set sex=male
    naively explain income.naively new.csv --of '>50K' --against '<=50K' --top 5 --json
    """
    options.refuse_rows_and_row(data, values, text)
    if data is None and rows:
        raise click.UsageError("--set and --text give one row: leave out --row.")
    if as_json and as_html:
        raise click.UsageError("give --json or --html, not both.")

    from naively.cli.input import read_numbered_rows, read_one_row
    from naively.cli.output import print_json
    from naively.store.running_sum import load

    loaded = load(model)
    numbers = rows or (1,)
    table = read_one_row(loaded, values, text) if data is None else read_numbered_rows(loaded, data, numbers)
    explanations = loaded.explain(
        table,
        of=options.find_class(loaded, of),
        against=options.find_class(loaded, against),
        top=top,
        leave_out=not no_leave_out,
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
