"""`naively evaluate`: measure how good a model is on rows whose class is known, or compare two models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from naively.cli import options
from naively.data.files.paths import Files

if TYPE_CHECKING:
    from naively.evaluation.evaluate import Goals


@click.command("evaluate", short_help="Measure how good a model is, or compare two.")
@click.argument("model")
@options.target
@options.weight
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    metavar="K",
    help="Fit models like MODEL to DATA without each of K folds, and evaluate them on these.",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column with the name of a group: rows of a group are left out together, because they belong together.",
)
@click.option(
    "--min-probability",
    type=options.PROBABILITY,
    metavar="P",
    help="Show how many rows reach this probability, and the error rate among them.",
)
@click.option("--of", metavar="CLASS", help="Class for --cost and --precision. Default: the last class.")
@click.option(
    "--cost", type=float, metavar="X", help="Find the best threshold if a miss costs this and a false alarm costs 1."
)
@click.option("--precision", type=options.PROBABILITY, metavar="P", help="Find the threshold with this precision.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all curves.")
@options.reads_data()
def command(
    model: str,
    data: Files,
    target: str | None,
    weight: str | None,
    cv: int | None,
    group: str | None,
    min_probability: float | None,
    of: str | None,
    cost: float | None,
    precision: float | None,
    as_json: bool,
) -> None:
    """Measure how good the predictions and probabilities of MODEL are on the rows of DATA.

    Rows that the model has counted are recognised, and scored as if it had not (leave-one-out). If the first DATA is
    a model file, both models are compared on the other rows.

    \b
    naively evaluate income.naively test.csv
    naively evaluate spam.naively mail.parquet --min-probability 0.9 --json
    naively evaluate spam.naively mail.csv --of spam --precision 0.99
    naively evaluate income.naively people.csv --cv 10
    naively evaluate old.naively new.naively test.csv
    """
    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_json
    from naively.evaluation.training import cross_validate, evaluate_training
    from naively.store.running_sum import load
    from naively.store.sqlite import is_model_file

    loaded = load(model)
    target = target or loaded.target
    first, *others = data.names
    if is_model_file(first):
        if not others:
            raise click.UsageError("give DATA after the models.")
        given = {"--cv": cv, "--group": group, "--min-probability": min_probability, "--of": of, "--cost": cost}
        if used := [name for name, value in (given | {"--precision": precision}).items() if value is not None]:
            raise click.UsageError(f"{used[0]} is for one model: leave it out to compare two.")
        rest = replace(data, where=others[0] if len(others) == 1 else others)
        _compare(model, first, rest, target, weight, as_json)
        return
    goals: Goals = {
        "of": options.find_class(loaded, of),
        "costs": cost,
        "precision": precision,
        "min_probability": min_probability,
    }
    with name_file_in_errors(data):
        if cv is not None:
            evaluation = cross_validate(loaded, data, target, weight, cv, group, **goals)
        elif group is not None:
            evaluation = evaluate_training(loaded, data, target, weight, group, **goals)
        else:
            evaluation = loaded.evaluate(data, target, weight, **goals)
    if as_json:
        print_json(evaluation.to_dict())
    else:
        click.echo(str(evaluation))


def _compare(a: str, b: str, data: Files, target: str, weight: str | None, as_json: bool) -> None:
    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_json
    from naively.evaluation.comparison import compare
    from naively.store.running_sum import load

    with name_file_in_errors(data, a, b):
        comparison = compare(load(a), load(b), data, target, weight)
    if as_json:
        print_json(comparison.to_dict())
    else:
        click.echo(f"A: {a}\nB: {b}\n{comparison}")
