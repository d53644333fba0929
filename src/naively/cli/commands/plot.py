"""`naively plot`: a picture of a model, of one answer, or of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    import naively

__all__ = ["command"]

OF_MODEL = ("distributions", "nomogram", "words")
OF_ROWS = ("posterior", "calibration", "roc", "precision-recall", "confusion")
KINDS = ("waterfall", *OF_MODEL, *OF_ROWS)


@click.command("plot", short_help="Draw a model, an answer, or many answers.")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("model")
@click.argument("data", nargs=-1)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="FILE.svg, FILE.png or FILE.pdf.",
)
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="waterfall: the Nth row of DATA.",
    show_default=True,
)
@click.option("--text", metavar="TEXT", help="waterfall: this text instead of DATA.")
@click.option("--of", metavar="CLASS", help="The class in question.")
@click.option("--against", metavar="CLASS", help="waterfall, nomogram: the class to compare it with.")
@click.option("--column", "columns", multiple=True, metavar="C", help="distributions, words: these columns only.")
def command(
    kind: str,
    model: str,
    data: tuple[str, ...],
    output: Path,
    row: int,
    text: str | None,
    of: str | None,
    against: str | None,
    columns: tuple[str, ...],
) -> None:
    """Draw a picture (needs matplotlib: pip install "naively[plot]").

    \b
    waterfall         why one row gets its answer; needs DATA or --text
    distributions     what each column has learnt of each class
    nomogram          the whole model between two classes, to be worked by hand
    words             the words that speak most for each class
    posterior         the probability of a class for all rows of DATA, in order
    calibration, roc, precision-recall, confusion
                      how good the answers for DATA are; DATA has the column to predict

    \b
    naively plot nomogram income.naively -o income.svg
    naively plot waterfall income.naively new.csv --row 3 -o why.png
    naively plot calibration income.naively test.csv -o calibration.svg
    """
    if output.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise click.UsageError(f"{output}: pictures are written as .svg, .png or .pdf; name one of them.")
    if not output.absolute().parent.is_dir():
        raise click.UsageError(f"{output}: there is no such folder.")
    if kind in OF_MODEL and (data or text is not None):
        raise click.UsageError(f"{kind} is a picture of the model alone: leave out the data.")
    if kind in OF_ROWS and not data:
        raise click.UsageError(f"{kind} needs DATA, rows with the column to predict.")
    if kind == "waterfall" and (text is None) == (not data):
        raise click.UsageError("waterfall needs DATA or --text, one of them.")

    import naively
    from naively.cli.pairs import classes_by_name

    loaded = naively.load(model)
    named = classes_by_name(loaded)
    pair = {
        "of": None if of is None else named.get(of, of),
        "against": None if against is None else named.get(against, against),
    }
    if kind == "waterfall":
        figure = _waterfall(loaded, data, row, text, pair)
    elif kind in OF_MODEL:
        figure = _of_model(loaded, kind, pair, columns)
    else:
        from naively.cli.naming import naming

        with naming(data):
            figure = _of_rows(loaded, kind, data, pair["of"])
    from naively.store.write import written_whole

    with written_whole(output) as unfinished:
        figure.savefig(unfinished, format=output.suffix[1:].lower())


def _waterfall(model: naively.Model, data: tuple[str, ...], row: int, text: str | None, pair: dict[str, Any]) -> Figure:
    from naively.cli.commands.explain import of_rows, of_text
    from naively.plot import waterfall

    table = of_text(model, text) if text is not None else of_rows(model, data, (row,))
    return waterfall(model.explain(table, **pair, changes=False)[0])


def _of_model(model: naively.Model, kind: str, pair: dict[str, Any], columns: tuple[str, ...]) -> Figure:
    from naively import plot

    if kind == "nomogram":
        return plot.nomogram(model, **pair)
    if kind == "distributions":
        return plot.distributions(model, columns or None)
    if len(columns) > 1:
        raise click.UsageError("words draws one column: give --column once.")
    return plot.words(model, columns[0] if columns else None)


def _of_rows(model: naively.Model, kind: str, data: tuple[str, ...], of: Any) -> Figure:
    """Pictures of the answers to all rows, against the labels that they have."""
    import numpy as np

    from naively import plot
    from naively.errors import InputError
    from naively.model import decide as decisions

    labels, log_posterior = _answers(model, data)
    if not labels:
        raise InputError("the data has no rows to draw.")
    position = model._position(of)
    if kind == "posterior":
        return plot.posterior(decisions.log_odds_of(log_posterior, position), labels, model.classes[position])
    known = np.array([label is not None for label in labels])
    if not known.any():
        raise InputError(f"{kind} needs rows whose {model.target!r} is known to the model: the data has none.")
    truth = [label for label in labels if label is not None]
    posterior = np.exp(log_posterior[known])
    if kind == "confusion":
        return plot.confusion(truth, [model.classes[c] for c in posterior.argmax(axis=1)], model.classes)
    draw = {"calibration": plot.calibration, "roc": plot.roc, "precision-recall": plot.precision_recall}[kind]
    return draw(truth, posterior, model.classes, of)


def _answers(model: naively.Model, data: tuple[str, ...]) -> tuple[list[Any], Any]:
    """The label of each row (None where it is missing or no class of the model) and its log posterior."""
    import warnings

    import numpy as np

    from naively import data as sources
    from naively.cli.input import counted
    from naively.cli.pairs import classes_by_name
    from naively.errors import LeftOutWarning
    from naively.model.predict_batches import as_trained

    where = "-" if data == ("-",) else list(data)
    named, said = classes_by_name(model), set[str]()
    labels: list[Any] = []
    scores = [np.zeros((0, len(model.classes)))]
    for table in sources.gathered(counted(sources.read_files(where, raw=True))):
        scores.append(model.log_posterior(as_trained(model, table, said, len(labels))))
        column = table[model.target].to_pylist() if model.target in table.column_names else [None] * table.num_rows
        labels += [None if label is None else named.get(str(label)) for label in column]
    unknown = sum(label is None for label in labels)
    if unknown:
        warnings.warn(
            f"{unknown} of {len(labels)} rows have no {model.target!r} that the model knows.",
            LeftOutWarning,
            stacklevel=2,
        )
    return labels, np.concatenate(scores)
