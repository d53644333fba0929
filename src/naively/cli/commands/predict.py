"""`naively predict`: add predictions to rows."""

from collections.abc import Mapping

import click

from naively.cli import options


@click.command("predict", short_help="Predict the class of each row.")
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@options.rows_output
@click.option("--proba", is_flag=True, help="Add the probability of every class, as p_CLASS.")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Add the K most probable classes.")
@click.option(
    "--odds",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Predict the class given by --of only if its odds are above this.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Predict the class given by --of only if its probability is above this.",
)
@click.option("--of", metavar="CLASS", help="Class for --odds and --threshold. Default: the last class.")
@click.option(
    "--min-probability",
    type=options.PROBABILITY,
    metavar="P",
    help="Leave the prediction empty if no class reaches this probability.",
)
@options.format_of("csv", "jsonl", "parquet")
def command(
    model: str,
    data: tuple[str, ...],
    output: str,
    proba: bool,
    top: int | None,
    odds: float | None,
    threshold: float | None,
    of: str | None,
    min_probability: float | None,
    kind: str | None,
) -> None:
    """Add the column `prediction` to the rows of DATA.

    DATA is files, globs, folders, a table in a database (FILE::TABLE), or - for standard input. CSV cells are copied
    unchanged to CSV. JSON lines and Parquet have types, so numbers are written as numbers there.

    \b
    naively predict income.naively new.csv -o predictions.csv --proba
    cat new.csv | naively predict income.naively - | head
    naively predict spam.naively mail.parquet --threshold 0.99 --of spam -o predictions.parquet
    naively predict spam.naively mail.csv --min-probability 0.9
    """
    if sum(option is not None for option in (odds, threshold, min_probability)) > 1:
        raise click.UsageError("give only one of --odds, --threshold and --min-probability.")
    if of is not None and odds is None and threshold is None:
        raise click.UsageError("--of needs --odds or --threshold.")
    kind = options.output_format(output, kind)

    from naively.cli.input import name_file_in_errors, read_with_progress
    from naively.cli.write import with_numbers, without_dictionaries, write_tables
    from naively.data.files.columnar import categories_of
    from naively.data.files.read import retry_with_wider_types
    from naively.model.predict_batches import predict_batches
    from naively.store.running_sum import load

    loaded = load(model)
    paths, is_piped = options.as_paths(data), data == ("-",)
    copy_cells = kind == "csv" or (is_piped and kind == "jsonl")  # the other outputs need the types of the columns

    def write_predictions(types: Mapping[str, str]) -> None:
        batches = read_with_progress(paths, types, raw=copy_cells)
        tables = predict_batches(
            loaded,
            batches,
            proba=proba,
            top=top,
            odds=odds,
            threshold=threshold,
            of=options.find_class(loaded, of),
            min_probability=min_probability,
            prompt=is_piped and copy_cells,
        )
        if kind == "jsonl" and copy_cells:
            tables = (with_numbers(table, loaded.schema.kinds()) for table in tables)
        if kind == "parquet":
            categories = categories_of(paths)
            tables = (without_dictionaries(table, keep=categories) for table in tables)
        write_tables(tables, output, kind)

    strings = {name: "string" for name, column_kind in loaded.schema.kinds().items() if column_kind == "string"}
    advice = "Name a file with -o, so that the data can be read again." if output == "-" and not is_piped else ""
    with name_file_in_errors(data, output):
        retry_with_wider_types(write_predictions, strings, can_retry=not is_piped and output != "-", advice=advice)
