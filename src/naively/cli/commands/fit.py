"""`naively fit`: data in, a model file out, and a word on what was seen."""

from __future__ import annotations

from pathlib import Path

import click

from naively.cli.pairs import pair, prior_of

__all__ = ["command"]


@click.command("fit", short_help="Learn a model from data.")
@click.argument("data", nargs=-1, required=True)
@click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The model file.")
@click.option("--column", "families", multiple=True, metavar="C=FAMILY", help="Count column C by this family.")
@click.option("--ignore", multiple=True, metavar="C", help="Leave column C out.")
@click.option("--prior", default="empirical", help="empirical, uniform, or CLASS=P,CLASS=P,…", show_default=True)
@click.option("--weight", metavar="C", help="The column that says how often a row counts.")
@click.option("--missing", multiple=True, metavar="C", help="That column C is missing is a value of its own.")
@click.option("--no-tune", is_flag=True, help="The textbook: no smoothing, family or calibration is chosen.")
@click.option("--force", is_flag=True, help="Overwrite the model file.")
@click.option("--source", help="Where the rows come from, for the log; by default the names of the files.")
@click.option("--comment", default="", help="A word on it, for the log.")
@click.option("--remember-rows", is_flag=True, help="Keep 16 bytes of each row, so that no other can be forgotten.")
def command(
    data: tuple[str, ...],
    target: str,
    output: Path,
    families: tuple[str, ...],
    ignore: tuple[str, ...],
    prior: str,
    weight: str | None,
    missing: tuple[str, ...],
    no_tune: bool,
    force: bool,
    source: str | None,
    comment: str,
    remember_rows: bool,
) -> None:
    """Learn from DATA: files, globs, folders, a table in a database (FILE::TABLE), or - for standard input.

    \b
    naively fit people.csv --target income -o income.naively
    naively fit 'logs/*.parquet' --target failed --ignore id --column price=lognormal -o failed.naively
    naively fit mail/spam mail/ham --target class -o spam.naively
    """
    if output.exists() and not force:
        raise click.UsageError(f"{output} is there already: give --force to overwrite it, or another name.")
    if not output.absolute().parent.is_dir():
        raise click.UsageError(f"{output}: there is no such folder.")
    columns = dict(pair("--column", item) for item in families)
    from naively.cli.counting import fit_files

    model, notes = fit_files(data, target, columns, missing, ignore, weight, prior_of(prior), not no_tune)
    named = " ".join(data) if source is None else source
    if remember_rows:
        from naively.cli.ledgers import where
        from naively.store.remembering import write_remembered

        write_remembered(output, model, where(data), target, weight, source=named, comment=comment)
    else:
        model.save(output, source=named, comment=comment)
    click.echo("\n".join(notes))
