"""`naively evaluate`: how good a model is on rows whose class is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import naively
    from naively.evaluation import Evaluation

__all__ = ["command"]


@click.command("evaluate", short_help="Tell how good a model is.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@click.option("--target", metavar="COLUMN", help="The column with the classes; by default the one at training.")
@click.option("--weight", metavar="COLUMN", help="The column of the rows' weights.")
@click.option(
    "--unsure",
    type=click.FloatRange(0, 1, min_open=True),
    help="Tell what share of the rows has a probability that reaches this, and the error among those.",
)
@click.option("--of", metavar="CLASS", help="The class that --cost and --precision are about; the last by default.")
@click.option("--cost", type=float, help="Find the best threshold if a miss costs this and a false alarm costs 1.")
@click.option("--precision", type=click.FloatRange(0, 1, min_open=True), help="Find the threshold with this precision.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with all curves.")
def command(
    model: str, data: tuple[str, ...], target: str | None, weight: str | None, as_json: bool, **asked: Any
) -> None:
    """Tell how good the answers and probabilities of MODEL are on the rows of DATA, which should be new to it.

    \b
    naively evaluate income.naively test.csv
    naively evaluate spam.naively mail.parquet --unsure 0.9 --json
    naively evaluate spam.naively mail.csv --of spam --precision 0.99
    """
    import json

    import naively
    from naively import data as sources
    from naively.cli.input import counted
    from naively.cli.naming import naming
    from naively.cli.pairs import classes_by_name

    loaded = naively.load(model)
    if asked["of"] is not None:
        asked["of"] = classes_by_name(loaded).get(asked["of"], asked["of"])
    where = "-" if data == ("-",) else list(data)
    with naming(data):
        batches = counted(sources.read_files(where, raw=True))
        found = evaluated(loaded, batches, target or loaded.target, weight, asked)
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1) if as_json else str(found))
    _say_if_too_good(loaded, found)


TOO_GOOD = 0.8  # of the log-loss that is expected on new rows


def _say_if_too_good(model: naively.Model, found: Evaluation) -> None:
    """Rows that the model has counted look easy: say so where they look as if they were such."""
    expected = None if model.tuning is None else model.tuning.report.get("log_loss")
    if expected is not None and found.log_loss.high < TOO_GOOD * expected:
        click.echo(
            f"naively: note: the log-loss was {expected:.4f} when rows were predicted as if they had not been counted: "
            "if the model has counted these rows, the figures above are too good (Model.evaluate_training is honest).",
            err=True,
        )


def evaluated(
    model: naively.Model, batches: Iterable[Any], target: str, weight: str | None, asked: dict[str, Any]
) -> Evaluation:
    """The evaluation of all batches together; rows without a class are left out, and said so."""
    import numpy as np

    from naively import InputError
    from naively import data as sources
    from naively.evaluation import Evaluation
    from naively.model.predict_batches import as_trained

    said: set[str] = set()
    parts: list[tuple[Any, Any, Any]] = []
    rows = left_out = 0
    for table in sources.gathered(batches):
        for name in filter(None, (target, weight)):
            if name not in table.column_names:
                listed = ", ".join(table.column_names[:8])
                raise InputError(f"there is no column {name!r}; the data has {listed}.")
        label, known = _codes(table[target].to_pylist(), model.classes, target)
        weights = np.ones(len(label)) if weight is None else _weights(table[weight].to_pylist(), weight, known)
        posterior = model.log_posterior(as_trained(model, table, said, rows))
        rows, left_out = rows + len(label), left_out + int((~known).sum())
        parts.append((posterior[known], label[known], weights[known]))
    if left_out < rows and left_out:
        click.echo(f"naively: note: {left_out} of {rows} rows have no {target!r} and were left out.", err=True)
    if left_out == rows:
        raise InputError(f"no rows to evaluate: {rows} in the data, {left_out} of them without a {target!r}.")
    posterior, label, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Evaluation.of(posterior, label, model.classes, weights, log_prior=model.log_prior, **asked)


def _codes(labels: list[Any], classes: tuple[Any, ...], target: str) -> tuple[Any, Any]:
    """Positions among the classes, by how they are written; and which rows have a class at all."""
    import numpy as np

    from naively import InputError
    from naively.data import GAPS

    place = {_written(label): c for c, label in enumerate(classes)}
    codes = np.full(len(labels), -1, dtype=np.intp)
    gaps = {None, *GAPS}
    for i, label in enumerate(labels):
        if label in gaps and _written(label) not in place:
            continue
        if _written(label) not in place:
            raise InputError(
                f"column {target!r} holds {label!r}, and the model knows only {', '.join(map(str, classes[:8]))}: "
                "leave such rows out, or fit a model that has seen the class."
            )
        codes[i] = place[_written(label)]
    return codes, codes >= 0


def _written(label: Any) -> Any:
    """A class as it may be written in any file: numbers by their value, the rest by their letters."""
    text = str(label).strip()
    if isinstance(label, bool) or text.lower() in ("true", "false"):
        return text.lower()
    try:
        return float(text)
    except ValueError:
        return text


def _weights(found: list[Any], name: str, known: Any) -> Any:
    """Weights as numbers; only those of rows with a class have to be."""
    import numpy as np

    from naively import InputError
    from naively import data as sources

    weights = np.zeros(len(found))
    for i in np.flatnonzero(known).tolist():
        try:
            weights[i] = float(found[i])
        except (TypeError, ValueError):
            raise InputError(f"column {name!r} holds {found[i]!r}: weights are numbers.") from None
    return sources.read_weight(weights, len(weights)) if weights.any() else weights
