"""`naively fit`: fit a model to data and save it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from naively.cli import options
from naively.data.files.paths import Files

if TYPE_CHECKING:
    from naively.cli.hints import BatchSummary
    from naively.families.base import Family
    from naively.model.model import Model


@click.command("fit", short_help="Fit a model to data.")
@click.option("--target", required=True, metavar="COLUMN", help="Column to predict.")
@click.option("-o", "--output", required=True, type=options.NEW_FILE, help="Model file.")
@click.option(
    "--column",
    "families",
    multiple=True,
    metavar="C=FAMILY",
    help="Model column C with this family (bernoulli, categorical, gaussian, binned, poisson, text, …), also with "
    "settings: 'C=Bernoulli(alpha=0)'. Repeatable.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Smoothing: pseudo-count of every value and word, with --no-tune. Default: 1.",
)
@click.option("--ignore", multiple=True, metavar="C", help="Leave out column C. Repeatable.")
@click.option(
    "--missing",
    multiple=True,
    metavar="C",
    help="Treat an empty cell in column C as information, not as unknown. Repeatable.",
)
@click.option(
    "--prior", default="empirical", show_default=True, help="Class prior: empirical, uniform, or CLASS=P,CLASS=P,…"
)
@options.weight
@click.option("--no-tune", is_flag=True, help="Do not tune: plain Naive Bayes with add-one smoothing.")
@click.option(
    "--remember-rows",
    is_flag=True,
    help="Store a 16-byte fingerprint of each row, so that `forget` can reject rows that were never learnt.",
)
@click.option(
    "--many-classes",
    is_flag=True,
    help="Accept a target with nearly as many values as rows, which is refused otherwise.",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column with the name of a group: rows of a group belong together. It is not a column of the model.",
)
@click.option(
    "--together",
    is_flag=True,
    help="Count columns together too, and use what they say together where it helps. Takes longer.",
)
@click.option("--test", metavar="FILE", help="Evaluate the model on the rows of this file.")
@click.option(
    "--test-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Evaluate the model on this share of the rows, which it does not learn from.",
)
@options.source
@options.comment
@options.force
@options.reads_data()
def command(
    data: Files,
    target: str,
    output: Path,
    families: tuple[str, ...],
    alpha: float | None,
    ignore: tuple[str, ...],
    missing: tuple[str, ...],
    prior: str,
    weight: str | None,
    no_tune: bool,
    remember_rows: bool,
    many_classes: bool,
    group: str | None,
    together: bool,
    test: str | None,
    test_share: float | None,
    source: str | None,
    comment: str,
    force: bool,
) -> None:
    """Fit a model to the rows of DATA and save it.

    DATA is files, globs, folders, a table in a database or a sheet (FILE::TABLE), or - for standard input.

    \b
    naively fit people.csv --target income -o income.naively
    naively fit 'logs/*.parquet' --target failed --ignore id --column price=lognormal -o failed.naively
    naively fit people.csv --target income --no-tune --alpha 0.5 --column 'sex=Bernoulli(alpha=0)' -o plain.naively
    naively fit mail/spam mail/ham --target class -o spam.naively
    naively fit visits.csv --target ill --group patient --test-share 0.2 -o ill.naively
    """
    options.refuse_output(output, force)
    if test is not None and test_share is not None:
        raise click.UsageError("give --test or --test-share, not both.")
    if remember_rows and test_share is not None:
        raise click.UsageError("--remember-rows reads all rows again: split the file yourself, and give --test.")
    if remember_rows and group is not None:
        raise click.UsageError("--remember-rows does not go with --group.")
    family_names = dict(options.parse_family(item) for item in families)
    parsed_prior = options.parse_prior(prior)
    if alpha is not None and not no_tune:
        raise click.UsageError("--alpha needs --no-tune: tuning chooses the smoothing. Or set it by --column.")
    if together and no_tune:
        raise click.UsageError("--together needs tuning, which decides whether it helps: leave out --no-tune.")

    from naively.cli.held_out import HeldOutRows
    from naively.cli.hints import BatchSummary
    from naively.cli.input import name_file_in_errors, read_with_progress
    from naively.cli.output import print_note
    from naively.data.files.read import retry_with_wider_types
    from naively.fitting import fit
    from naively.schema.infer import Automatic, family_of
    from naively.store.fingerprints import remember
    from naively.store.write import write_model

    columns: dict[str, Family | Automatic] = {name: family_of(family) for name, family in family_names.items()}
    for name in missing:
        columns[name] = replace(columns[name], missing="value") if name in columns else Automatic("value")

    def read_and_fit(types: Mapping[str, str]) -> tuple[Model, BatchSummary, HeldOutRows]:
        summary = BatchSummary(data, frozenset(ignore), frozenset((target, *family_names)))
        test_rows = HeldOutRows(test_share, group)
        model = fit(
            test_rows.split(summary.add(read_with_progress(data, types))),
            target,
            columns=columns or None,
            weight=weight,
            tune=not no_tune,
            alpha=alpha,
            many_classes=many_classes,
            group=group,
            together=together,
        )
        return model, summary, test_rows

    texts = {
        name: "string" for name, family in family_names.items() if family.lower().partition("(")[0].strip() == "text"
    }
    with name_file_in_errors(data):
        model, summary, test_rows = retry_with_wider_types(read_and_fit, texts, can_retry=not data.is_standard_input)
    for hint in summary.hints:
        print_note(hint)
    model = model.with_prior(options.with_classes(parsed_prior, model))
    remembered = remember(model, data, target, weight) if remember_rows else (None, None)
    source = options.source_name(data, source)
    write_model(output, model, source=source, comment=comment, remembered=remembered, overwrite=force)
    click.echo(_report(model, summary))
    if test is not None or test_share is not None:
        test_data = iter(test_rows.batches) if test is None else replace(data, where=test)
        with name_file_in_errors(data if isinstance(test_data, Iterator) else test_data):
            evaluation = model.evaluate(test_data, target, weight)
        click.echo(f"\nOn the test rows:\n{evaluation}")


def _report(model: Model, summary: BatchSummary) -> str:
    """Return what was learnt: rows, classes, columns and the expected quality."""
    from naively.cli.describe import describe_classes, describe_columns, describe_quality

    n_rows, n_classes = int(model.class_weights.rows.sum()), len(model.classes)
    of_all = f" of {summary.n_rows:,}" if n_rows < summary.n_rows else ""
    parts = [
        f"Learnt {model.target!r} from {n_rows:,}{of_all} rows.",
        describe_classes(model),
        describe_columns(model, summary.n_missing),
        describe_quality(model),
    ]
    if n_classes == 1:
        parts.append(f"All rows have the class {model.classes[0]!r}, so every prediction will be that class.")
    if summary.ignore:
        parts.append(f"Ignored: {', '.join(sorted(summary.ignore))}")
    return "\n\n".join(filter(None, parts))
