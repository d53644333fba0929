"""`naively evaluate`: measure how good a model is on rows whose class is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from naively.cli.options import as_paths, find_class, min_probability_type, target_option, weight_option

if TYPE_CHECKING:
    from naively.evaluation import Evaluation
    from naively.model.model import Model


TOO_GOOD = 0.8  # of the log-loss that is expected on new rows


@click.command("evaluate", short_help="Measure how good a model is.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@target_option
@weight_option
@click.option(
    "--min-probability",
    type=min_probability_type,
    help="Show how many rows reach this probability, and the error rate among them.",
)
@click.option("--of", metavar="CLASS", help="Class for --cost and --precision. Default: the last class.")
@click.option("--cost", type=float, help="Find the best threshold if a miss costs this and a false alarm costs 1.")
@click.option("--precision", type=min_probability_type, help="Find the threshold with this precision.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all curves.")
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    min_probability: float | None,
    of: str | None,
    cost: float | None,
    precision: float | None,
    as_json: bool,
) -> None:
    """Measure how good the predictions and probabilities of MODEL are. The rows of DATA should be new to the model.

    \b
    naively evaluate income.naively test.csv
    naively evaluate spam.naively mail.parquet --min-probability 0.9 --json
    naively evaluate spam.naively mail.csv --of spam --precision 0.99
    """
    from naively.cli.input import name_file_in_errors, read_with_progress
    from naively.cli.output import print_json
    from naively.store.load import load

    loaded = load(model)
    options: dict[str, Any] = {"of": find_class(loaded, of), "cost": cost, "precision": precision}
    options["unsure"] = min_probability
    with name_file_in_errors(data):
        batches = read_with_progress(as_paths(data), raw=True)
        evaluation = evaluated(loaded, batches, target or loaded.target, weight, options)
    if as_json:
        print_json(evaluation.to_dict())
    else:
        click.echo(str(evaluation))
    expected = None if loaded.tuning is None else loaded.tuning.report.get("log_loss")
    if expected is not None and evaluation.log_loss.high < TOO_GOOD * expected:
        click.echo(
            "naively: note: these look like training rows, so the figures are too good. On new rows expect a log-loss "
            f"near {expected:.4f} (in Python: Model.evaluate_training).",
            err=True,
        )


def evaluated(
    model: Model, batches: Iterable[Any], target: str, weight: str | None, asked: dict[str, Any]
) -> Evaluation:
    """The evaluation of all batches together; rows without a class are left out, and said so."""
    import numpy as np

    from naively import data as sources
    from naively.errors import InputError
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

    from naively.data import GAPS
    from naively.errors import InputError

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

    from naively import data as sources
    from naively.errors import InputError

    weights = np.zeros(len(found))
    for i in np.flatnonzero(known).tolist():
        try:
            weights[i] = float(found[i])
        except (TypeError, ValueError):
            raise InputError(f"column {name!r} holds {found[i]!r}: weights are numbers.") from None
    return sources.read_weight(weights, len(weights)) if weights.any() else weights
