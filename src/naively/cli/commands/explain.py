"""`naively explain`: why a row gets its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pyarrow as pa

    import naively

__all__ = ["command", "of_rows", "of_text"]


@click.command("explain", short_help="Tell why a row gets its answer.")
@click.argument("model")
@click.argument("data", nargs=-1)
@click.option(
    "--row",
    "rows",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="The Nth row; several are told in turn. [default: 1]",
)
@click.option("--text", metavar="TEXT", help="Explain this text instead of DATA.")
@click.option("--of", metavar="CLASS", help="The class to explain; the answer by default.")
@click.option("--against", metavar="CLASS", help="The class to compare it with; the runner-up by default.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="K",
    help="Tell the K strongest contributions, and the rest in one line.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON: a list, one object per row.")
@click.option("--html", "as_html", is_flag=True, help="As HTML, for a page or a report.")
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
    """Tell why MODEL answers as it does: the prior, and what each column or word of a row of DATA adds to the log-odds.

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

    import naively
    from naively.cli.pairs import classes_by_name

    loaded = naively.load(model)
    table = of_text(loaded, text) if text is not None else of_rows(loaded, data, rows or (1,))
    named = classes_by_name(loaded)
    first, second = (None if name is None else named.get(name, name) for name in (of, against))
    found = loaded.explain(table, of=first, against=second, top=top)
    if as_json:
        import json

        click.echo(json.dumps([_plain(explanation.to_dict()) for explanation in found], ensure_ascii=False, indent=1))
        return
    if as_html:
        click.echo("\n".join(explanation._repr_html_() for explanation in found))
        return
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 1000  # a file or a pipe has no width of its own, so nothing in it is cut
    for number, explanation in zip(rows or (1,), found, strict=True):
        if len(found) > 1:
            console.print(f"\nrow {number}")
        console.print(explanation)


def of_text(model: naively.Model, text: str) -> dict[str, Any]:
    """A row whose one column of text is this; all else is missing."""
    from naively.errors import InputError
    from naively.families import Text

    columns = [name for name, family in model.schema.families() if isinstance(family, Text)]
    if len(columns) != 1:
        there = f"has {len(columns)} of them ({', '.join(columns[:4])})" if columns else "has none"
        raise InputError(f"--text is for a model with one column of text, and this one {there}: give DATA.")
    return {name: [text if name == columns[0] else None] for name in model.schema.names}


def of_rows(model: naively.Model, data: tuple[str, ...], rows: tuple[int, ...]) -> pa.Table:
    """Some rows of the data, by their numbers from 1 on."""
    import pyarrow as pa

    from naively import data as sources
    from naively.cli.naming import naming
    from naively.errors import InputError
    from naively.model.predict_batches import as_trained

    where = "-" if data == ("-",) else list(data)
    found: dict[int, Any] = {}
    start, said = 0, set[str]()
    with naming(data):
        for table in sources.gathered(sources.read_files(where, raw=True)):
            for row in rows:
                if start < row <= start + table.num_rows:
                    found[row] = as_trained(model, table.slice(row - 1 - start, 1), said, row - 1)
            start += table.num_rows
            if start >= max(rows):
                break
        absent = [row for row in rows if row not in found]
        if absent:
            raise InputError(f"there is no row {absent[0]}: it has {start} rows.")
    return pa.concat_tables([found[row] for row in rows], promote_options="permissive")


def _plain(data: Any) -> Any:
    """Data that JSON has a word for: an infinite log-odds is the string "inf" or "-inf"."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    if isinstance(data, float) and abs(data) == float("inf"):
        return str(data)
    return data
