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
    import pyarrow as pa

    from naively.cli.held_out import HeldOutRows
    from naively.cli.hints import BatchSummary
    from naively.model.model import Model


@click.command("fit", short_help="Fit a model to data.")
@click.option("--target", required=True, metavar="COLUMN", help="Column to predict.")
@click.option("-o", "--output", required=True, type=options.NEW_FILE, help="Model file.")
@options.families
@click.option(
    "--alpha",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Smoothing: pseudo-count of every value and word, with --no-tune. Default: 1.",
)
@options.ignore
@options.missing
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
@options.many_classes
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column with the name of a group: rows of a group belong together. It is not a column of the model.",
)
@options.together
@click.option(
    "--schema",
    "schema_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Count what this file says (naively schema writes it), so that files of several parts can be merged.",
)
@click.option(
    "--keep-sample",
    is_flag=True,
    help="Keep the rows that tuning looks at in the model file, so that `tune` needs no data. `show` reports them, and "
    "`compact` drops them.",
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
    schema_file: Path | None,
    keep_sample: bool,
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
    naively fit part1.csv --target income --schema schema.json --no-tune --keep-sample -o part1.naively
    """
    options.refuse_output(output, force, *data.names)
    if test is not None and test_share is not None:
        raise click.UsageError("give --test or --test-share, not both.")
    if remember_rows and test_share is not None:
        raise click.UsageError("--remember-rows reads all rows again: split the file yourself, and give --test.")
    if remember_rows and group is not None:
        raise click.UsageError("--remember-rows does not go with --group.")
    _refuse_conflicts(schema_file, bool(families or missing or alpha is not None), keep_sample, group, together, data)
    family_names = dict(options.parse_family(item) for item in families)
    parsed_prior = options.parse_prior(prior)
    _refuse_untuned(alpha, together, no_tune)

    from naively.cli.held_out import HeldOutRows
    from naively.cli.hints import BatchSummary
    from naively.cli.input import name_file_in_errors, read_text, read_with_progress
    from naively.cli.output import print_note
    from naively.data.files.read import retry_with_wider_types
    from naively.engines.parts import count
    from naively.fitting import fit, infer_schema, types_of
    from naively.schema.schema import Schema
    from naively.store.fingerprints import remember
    from naively.store.write import write_model

    columns = options.given_families(family_names, missing)
    schema = None if schema_file is None else Schema.from_json(read_text(schema_file))

    def rows_of(types: Mapping[str, str]) -> tuple[BatchSummary, Iterator[pa.RecordBatch]]:
        summary = BatchSummary(data, frozenset(ignore), frozenset((target, *family_names)))
        return summary, summary.add(read_with_progress(data, types))

    def read_and_fit(types: Mapping[str, str]) -> tuple[Model, bytes, BatchSummary, HeldOutRows]:
        if schema is not None or keep_sample:
            return read_and_count(types)
        summary, batches = rows_of(types)
        test_rows = HeldOutRows(test_share, group)
        model = fit(
            test_rows.split(batches),
            target,
            columns=columns or None,
            weight=weight,
            tune=not no_tune,
            alpha=alpha,
            many_classes=many_classes,
            group=group,
            together=together,
        )
        return model, b"", summary, test_rows

    def read_and_count(types: Mapping[str, str]) -> tuple[Model, bytes, BatchSummary, HeldOutRows]:
        settings = schema
        if settings is None:
            settings = infer_schema(
                rows_of(types)[1],
                target,
                columns=columns or None,
                weight=weight,
                alpha=alpha,
                many_classes=many_classes,
            )
        summary, batches = rows_of(types_of(settings))
        test_rows = HeldOutRows(test_share, None)
        part = count(test_rows.split(batches), settings, target, weight=weight, tune=keep_sample or not no_tune)
        sample = b"" if part.sample is None or not keep_sample else part.sample.to_bytes()
        model = (replace(part, sample=None) if no_tune else part).to_model(many_classes=many_classes)
        return model, sample, summary, test_rows

    texts = options.text_types(family_names)
    with name_file_in_errors(data):
        can_retry = schema is None and not data.is_standard_input
        model, sample, summary, test_rows = retry_with_wider_types(read_and_fit, texts, can_retry=can_retry)
    for hint in summary.hints:
        print_note(hint)
    model = model.with_prior(options.with_classes(parsed_prior, model))
    remembered = remember(model, data, target, weight) if remember_rows else (None, None)
    source = options.source_name(data, source)
    write_model(output, model, source=source, comment=comment, remembered=remembered, sample=sample, overwrite=force)
    click.echo(_report(model, summary))
    if test is not None or test_share is not None:
        test_data = data if test is None else replace(data, where=test)
        with name_file_in_errors(test_data):
            evaluation = (
                test_rows.evaluate(model, target, weight) if test is None else model.evaluate(test_data, target, weight)
            )
        click.echo(f"\nOn the test rows:\n{evaluation}")


def _refuse_untuned(alpha: float | None, together: bool, no_tune: bool) -> None:
    """Refuse options that do not go with tuning, or without it."""
    if alpha is not None and not no_tune:
        raise click.UsageError("--alpha needs --no-tune: tuning chooses the smoothing. Or set it by --column.")
    if together and no_tune:
        raise click.UsageError("--together needs tuning, which decides whether it helps: leave out --no-tune.")


def _refuse_conflicts(
    schema_file: Path | None, has_families: bool, keep_sample: bool, group: str | None, together: bool, data: Files
) -> None:
    """Refuse options that do not go with --schema and --keep-sample."""
    if schema_file is not None and has_families:
        raise click.UsageError("--schema decides what is counted: give no --column, --missing or --alpha with it.")
    for option, is_given in (("--group", group is not None), ("--together", together)):
        if is_given and (schema_file is not None or keep_sample):
            raise click.UsageError(f"{option} goes neither with --schema nor with --keep-sample.")
    if keep_sample and schema_file is None and data.is_standard_input:
        raise click.UsageError("--keep-sample reads the first rows of DATA twice: give a file, or --schema.")


def _report(model: Model, summary: BatchSummary) -> str:
    """Return what was learnt: rows, classes, columns and the expected quality."""
    from naively.cli.describe import describe_classes, describe_columns, describe_quality
    from naively.data.names import counted

    n_rows, n_classes = int(model.class_weights.rows.sum()), len(model.classes)
    learnt = f"{n_rows:,} of {summary.n_rows:,} rows" if n_rows < summary.n_rows else counted(n_rows, "row")
    parts = [
        f"Learnt {model.target!r} from {learnt}.",
        describe_classes(model),
        describe_columns(model, summary.n_missing),
        describe_quality(model),
        "" if model.tuning is None else model.tuning.describe_together(),
    ]
    if n_classes == 1:
        parts.append(f"All rows have the class {model.classes[0]!r}, so every prediction will be that class.")
    if summary.ignore:
        parts.append(f"Ignored: {', '.join(sorted(summary.ignore))}")
    return "\n\n".join(filter(None, parts))
