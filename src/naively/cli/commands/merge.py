"""`naively merge`: all entries of several model files, each once."""

from __future__ import annotations

from pathlib import Path

import click

from naively.cli.ledgers import comment_option, json_option

__all__ = ["command"]


@click.command("merge", short_help="Merge model files.")
@click.argument("models", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The new file.")
@click.option("--force", is_flag=True, help="Overwrite the new file.")
@comment_option
@json_option
def command(models: tuple[str, ...], output: Path, force: bool, comment: str, as_json: bool) -> None:
    """Merge MODELS into one file that holds all of their entries, each once: copies taught apart share what they share.

    Words, values and classes are matched by name; columns must agree. Target, class prior and tuning are the first's.
    With a comment there is one entry more, which counts nothing and says what was merged.

    \b
    naively merge anna.naively ben.naively -o both.naively --comment "end of the month"
    """
    import json

    from naively.cli.describe import model_data
    from naively.store.merge import merge as merge_files

    if output.exists() and not force:
        raise click.UsageError(f"{output} is there already: give --force to overwrite it, or another name.")
    model = merge_files(models, output, comment=comment)
    if as_json:
        click.echo(json.dumps(model_data(model), ensure_ascii=False, indent=1))
        return
    counted = ", ".join(f"{c} {n:,}" for c, n in zip(model.classes[:8], model.seen.rows[:8].tolist(), strict=True))
    click.echo(f"{output}: {int(model.seen.rows.sum()):,} rows ({counted}{', …' if len(model.classes) > 8 else ''})")
