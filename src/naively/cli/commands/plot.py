"""`naively plot`: draw a model, one prediction, or the predictions for many rows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from naively.cli import options
from naively.data.files.paths import Files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naively.data.labelled import Label
    from naively.model.model import Model

OF_MODEL = ("importance", "distributions", "nomogram", "words")
OF_ROWS = ("calibration", "roc", "precision-recall", "confusion")
KINDS = ("waterfall", *OF_MODEL, *OF_ROWS)


@click.command("plot", short_help="Draw a model or its predictions.")
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("model")
@click.option("-o", "--output", required=True, type=options.NEW_FILE, help="FILE.svg, FILE.png or FILE.pdf.")
@options.force
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="waterfall: row of DATA, counted from 1.",
    show_default=True,
)
@options.takes_one_row
@click.option("--of", metavar="CLASS", help="Class to draw.")
@click.option("--against", metavar="CLASS", help="waterfall, nomogram: class to compare it with.")
@click.option("--column", "columns", multiple=True, metavar="C", help="distributions, words: only this column.")
@options.reads_data(required=False)
def command(
    kind: str,
    model: str,
    data: Files | None,
    output: Path,
    force: bool,
    row: int,
    values: tuple[str, ...],
    text: str | None,
    of: str | None,
    against: str | None,
    columns: tuple[str, ...],
) -> None:
    """Draw a picture (needs matplotlib: pip install "naively[plot]").

    \b
    waterfall         explain the prediction for one row; needs DATA, or --set and --text
    importance        what each column is worth, by leave-one-out; of a model without tuning, by the rows of DATA
    distributions     the distribution of each column in each class
    nomogram          the model as scales of points, to predict by hand
    words             the words with the most evidence for each class
    calibration, roc, precision-recall, confusion
                      the quality of the predictions for DATA, which has the column to predict

    \b
    naively plot nomogram income.naively -o income.svg
    naively plot waterfall income.naively new.csv --row 3 -o why.png
    naively plot calibration income.naively test.csv -o calibration.svg
    """
    if output.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise click.UsageError(f"{output}: pictures are written as .svg, .png or .pdf. Give such a name.")
    options.refuse_output(output, force)
    has_row = bool(values) or text is not None
    if kind in OF_MODEL and (has_row or (data and kind != "importance")):
        raise click.UsageError(f"{kind} draws the model alone: leave out the data.")
    if kind in OF_ROWS and not data:
        raise click.UsageError(f"{kind} needs DATA, rows with the column to predict.")
    if kind in OF_ROWS and has_row:
        raise click.UsageError(f"{kind} needs many rows: leave out --set and --text.")
    if kind == "waterfall":
        options.refuse_rows_and_row(data, values, text)
    if kind == "words" and len(columns) > 1:
        raise click.UsageError("words draws one column: give --column once.")

    from naively import plot
    from naively.cli.input import name_file_in_errors, read_numbered_rows, read_one_row
    from naively.store.running_sum import load
    from naively.store.write import atomic_write

    loaded = load(model)
    label, other = options.known_class(loaded, of), options.known_class(loaded, against)
    if kind == "waterfall":
        table = read_one_row(loaded, values, text) if data is None else read_numbered_rows(loaded, data, (row,))
        figure = plot.waterfall(loaded.explain(table, of=label, against=other, changes=False)[0], target=loaded.target)
    elif kind == "nomogram":
        figure = plot.nomogram(loaded, of=label, against=other)
    elif kind == "importance":
        with name_file_in_errors(data):
            figure = plot.importance(loaded, rows=data, labels=loaded.target if data else None)
    elif kind == "distributions":
        figure = plot.distributions(loaded, columns or None)
    elif kind == "words":
        figure = plot.words(loaded, columns[0] if columns else None)
    else:
        assert data is not None
        with name_file_in_errors(data):
            figure = _draw_rows(loaded, kind, data, label)
    with atomic_write(output) as unfinished, note_missing_letters():
        figure.savefig(unfinished, format=output.suffix[1:].lower())


@contextmanager
def note_missing_letters() -> Iterator[None]:
    """Print one note for all letters that the font of a picture does not have; matplotlib warns of each."""
    from naively.cli.output import print_note
    from naively.data.names import listed

    with warnings.catch_warnings(record=True) as caught:
        yield
    letters = dict[str, None]()
    for warning in caught:
        if glyph := re.match(r"Glyph (\d+) ", str(warning.message)):
            letters[chr(int(glyph[1]))] = None
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if letters:
        print_note(
            f"the font of the picture does not have {listed([*letters])}. Draw it in Python, with the name of another "
            'font in matplotlib.rcParams["font.family"].'
        )


def _draw_rows(model: Model, kind: str, data: Files, of: Label | None) -> Figure:
    """Draw the predictions for all rows with a label; rows that the model has counted are scored by leave-one-out."""
    import numpy as np

    from naively import plot
    from naively.cli.output import print_note
    from naively.evaluation.scored_rows import score_rows

    scored = score_rows(model, data, model.target, skip_unknown=True)
    print_note(scored.origin)
    posterior = np.exp(scored.log_posterior[scored.is_scored])
    truth = [model.classes[c] for c in scored.label[scored.is_scored]]
    if kind == "confusion":
        return plot.confusion(
            truth, [model.classes[c] for c in posterior.argmax(axis=1)], model.classes, target=model.target
        )
    draw = {"calibration": plot.calibration, "roc": plot.roc, "precision-recall": plot.precision_recall}[kind]
    return draw(truth, posterior, model.classes, of, target=model.target)
