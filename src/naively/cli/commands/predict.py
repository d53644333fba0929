"""`naively predict`: add predictions to rows."""

import click

from naively.cli import options
from naively.data.files.paths import Files


@click.command("predict", short_help="Predict the class of each row.")
@click.argument("model")
@options.takes_one_row
@options.rows_output
@options.force
@click.option("--proba", is_flag=True, help="Add the probability of every class, as p_CLASS.")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Add the K most probable classes.")
@click.option(
    "--reasons",
    type=click.IntRange(min=1),
    metavar="K",
    help="Add the K strongest reasons, as reason_1 and log_odds_1 (against the most probable other class), … A row "
    "that MODEL has counted is then answered by MODEL without the row.",
)
@click.option("--no-leave-out", is_flag=True, help="With --reasons: answer every row by MODEL as it is.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Predict the class given by --of only if its probability is above this.",
)
@click.option("--of", metavar="CLASS", help="Class for --threshold. Default: the last class.")
@click.option(
    "--min-probability",
    type=options.PROBABILITY,
    metavar="P",
    help="Leave the prediction empty if no class reaches this probability.",
)
@click.option(
    "--as",
    "name",
    default="prediction",
    show_default=True,
    metavar="NAME",
    help="Name of the column of predictions. The other columns are then NAME_p_CLASS and so on.",
)
@click.option("--keep", multiple=True, metavar="C", help="Write only this column of DATA. Repeatable. Default: all.")
@options.format_of("csv", "jsonl", "parquet")
@options.reads_data(required=False)
def command(
    model: str,
    data: Files | None,
    values: tuple[str, ...],
    text: str | None,
    output: str,
    force: bool,
    proba: bool,
    top: int | None,
    reasons: int | None,
    no_leave_out: bool,
    threshold: float | None,
    of: str | None,
    min_probability: float | None,
    name: str,
    keep: tuple[str, ...],
    kind: str | None,
) -> None:
    """Add the column `prediction` to the rows of DATA, or predict one row given by --set and --text.

    DATA is files, globs, folders, a table in a database or a sheet (FILE::TABLE), or - for standard input. A name that
    ends in .gz, .bz2 or .zst is compressed. Rows of a folder of texts have the column `file`.

    The columns of DATA come out as they went in. Where CSV becomes JSON lines, the columns that MODEL reads as numbers
    are numbers, and all others strings. Where it becomes Parquet, a column is of numbers if all of its cells are. Cells
    such as 007 or +1 are strings, and an empty cell is null.

    \b
    naively predict income.naively new.csv -o predictions.csv --proba
    cat new.csv | naively predict income.naively - | head
    naively predict income.naively --set age=30 --set sex=male --proba
    naively predict spam.naively --text "Cheap pills, now!"
    naively predict spam.naively mail.parquet --threshold 0.99 --of spam -o predictions.parquet
    naively predict spam.naively mail.csv --as spam --keep id --min-probability 0.9
    naively predict income.naively new.csv --reasons 3
    """
    options.refuse_rows_and_row(data, values, text)
    if threshold is not None and min_probability is not None:
        raise click.UsageError("give only one of --threshold and --min-probability.")
    if of is not None and threshold is None:
        raise click.UsageError("--of needs --threshold.")
    if no_leave_out and reasons is None:
        raise click.UsageError("--no-leave-out needs --reasons: other predictions never leave a row out.")
    kind = options.output_format(output, kind)
    options.refuse_output(output, force, model)

    from naively.cli.input import name_file_in_errors, row_of_options, show_progress
    from naively.cli.output import print_note
    from naively.cli.write import write_predictions
    from naively.data.names import counted
    from naively.explanation.reasons import Reasons
    from naively.model.decide import decision_rule
    from naively.model.predict_batches import N_ROWS, predict_tables
    from naively.store.running_sum import load

    loaded = load(model)
    label = options.find_class(loaded, of)
    rule = decision_rule(loaded.classes, threshold=threshold, of=label, min_probability=min_probability)
    rows = [row_of_options(loaded, values, text)] if data is None else data
    prompt = data is not None and data.is_standard_input and kind != "parquet"
    with name_file_in_errors(data, output):
        follow = None if data is None else show_progress
        answer = None if reasons is None else Reasons(loaded, reasons, leave_out=not no_leave_out)
        pairs = predict_tables(loaded, rows, rule, proba, top, name, 0 if prompt else N_ROWS, follow, answer)
        numbers = {name for name, column_kind in loaded.schema.kinds().items() if column_kind == "number"}
        write_predictions(pairs, output, kind, numbers, keep)
    if answer is not None and answer.n_left_out:
        print_note(
            f"the model has counted {counted(answer.n_left_out, 'row')} of these: each was answered by the model "
            "without it, as in `naively explain`. --no-leave-out answers by the model as it is."
        )
