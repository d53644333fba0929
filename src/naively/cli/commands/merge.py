"""`naively merge`: merge model files into one."""

from pathlib import Path

import click

from naively.cli import options

MAX_CLASSES = 8  # in the line that is printed


@click.command("merge", short_help="Merge model files.")
@click.argument("models", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=options.NEW_FILE, help="New model file.")
@options.force
@options.as_json
def command(models: tuple[str, ...], output: Path, force: bool, as_json: bool) -> None:
    """Merge MODELS into one file with all of their entries. Entries that several files have in common are counted once.

    Words, values and classes are matched by name. All files must have the same columns. Target, class prior and tuning
    are those of the first file; a warning names files with another tuning.

    \b
    naively merge anna.naively ben.naively -o both.naively
    """
    options.refuse_output(output, force, *models)

    from naively.cli.describe import model_data
    from naively.cli.output import print_json
    from naively.data.names import listed
    from naively.store.merge import merge

    model = merge(models, output, overwrite=force)
    if as_json:
        print_json(model_data(model))
        return
    counts = [f"{label} {n:,}" for label, n in zip(model.classes, model.class_weights.rows.tolist(), strict=True)]
    click.echo(f"{output}: {int(model.class_weights.rows.sum()):,} rows ({listed(counts, MAX_CLASSES)})")
