"""`naively tune`: tune a model file again, or change its class prior."""

import click

from naively.cli import options
from naively.data.files.paths import Files


@click.command("tune", short_help="Tune a model again, or change its prior.")
@click.argument("model")
@options.target
@options.weight
@click.option("--prior", help="New class prior: empirical, uniform, or CLASS=P,CLASS=P,…")
@click.option("--no-tune", is_flag=True, help="Remove the tuning: plain Naive Bayes with add-one smoothing.")
@options.comment
@options.as_json
@options.reads_data(required=False)
def command(
    model: str,
    data: Files | None,
    target: str | None,
    weight: str | None,
    prior: str | None,
    no_tune: bool,
    comment: str,
    as_json: bool,
) -> None:
    """Choose smoothing, families and calibration of MODEL again. DATA is all or many of the rows that it has learnt.

    Without DATA, a model tunes on the rows that it keeps, if `fit --keep-sample` wrote it, or all files merged into it.

    update, forget and merge keep the current tuning; after many of them another one may be better. The counts do not
    change. The log keeps the former settings, and undo restores them.

    \b
    naively tune spam.naively mail.csv --comment "after a year"
    naively tune merged.naively
    naively tune spam.naively --prior spam=0.1,ham=0.9
    naively tune spam.naively --no-tune
    """
    if data and no_tune:
        raise click.UsageError("give DATA to tune on, or --no-tune, not both.")
    parsed_prior = None if prior is None else options.parse_prior(prior)

    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_entries
    from naively.store.entries import open_file
    from naively.store.ledger import Ledger
    from naively.store.samples import n_kept_rows

    if not data and prior is None and not no_tune:
        with open_file(model) as (log, _):
            if n_kept_rows(log) == 0:
                raise click.UsageError(f"{model} keeps no rows: give DATA that it has learnt, --prior or --no-tune.")

    with Ledger(model) as ledger, name_file_in_errors(data, model):
        entry = ledger.tune(
            data,
            target,
            weight=weight,
            prior=None if parsed_prior is None else options.with_classes(parsed_prior, ledger.model()),
            textbook=no_tune,
            source=options.source_name(data, None),
            comment=comment,
        )
    print_entries([entry], as_json)
