"""`naively report`: write a report of a model as one HTML file."""

from pathlib import Path

import click

from naively.cli import options
from naively.data.files.paths import Files


@click.command("report", short_help="Write a report of a model as HTML.")
@click.argument("model")
@click.option("-o", "--output", required=True, type=options.NEW_FILE, help="FILE.html.")
@options.force
@options.target
@options.weight
@options.reads_data(required=False)
def command(model: str, data: Files | None, output: Path, force: bool, target: str | None, weight: str | None) -> None:
    """Write what MODEL has learnt, how good it is, which columns matter and a few rows explained, as one HTML file.

    DATA is rows whose class is known, best new ones: MODEL is measured on them. The file has no script and loads
    nothing, follows light and dark, and can be printed.

    \b
    naively report income.naively test.csv -o report.html
    naively report income.naively -o report.html
    """
    options.refuse_output(output, force, model)

    from naively.cli.input import name_file_in_errors, read_with_progress
    from naively.data.labelled import kinds_to_read
    from naively.reports import report
    from naively.store.running_sum import load

    if data is None:
        report(model).save(output, overwrite=force)
        return
    loaded = load(model)
    target = target or loaded.target
    with name_file_in_errors(data):
        batches = read_with_progress(data, kinds_to_read(loaded, target, weight))
        source = options.source_name(data, None)
        report(model, batches, target, weight, source=source).save(output, overwrite=force)
