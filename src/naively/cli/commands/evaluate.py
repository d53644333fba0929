"""`naively evaluate`: measure how good a model is on rows whose class is known."""

import click

from naively.cli import options
from naively.data.files.paths import Files

TOO_GOOD = 0.8  # of the log-loss that is expected on new rows


@click.command("evaluate", short_help="Measure how good a model is.")
@click.argument("model")
@options.target
@options.weight
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
    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_json, print_note
    from naively.store.running_sum import load

    loaded = load(model)
    target = target or loaded.target
    with name_file_in_errors(data):
        evaluation = loaded.evaluate(
            data,
            target,
            weight,
            of=options.find_class(loaded, of),
            costs=cost,
            precision=precision,
            min_probability=min_probability,
        )
    if as_json:
        print_json(evaluation.to_dict())
    else:
        click.echo(str(evaluation))
    expected = None if loaded.tuning is None else loaded.tuning.report.get("log_loss")
    if expected is not None and evaluation.log_loss.high < TOO_GOOD * expected:
        print_note(
            "these look like training rows, so the figures are too good. On new rows expect a log-loss near "
            f"{expected:.4f} (in Python: Model.evaluate_training)."
        )
