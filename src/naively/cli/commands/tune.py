"""`naively tune`: another tuning or class prior for a model file; no count changes."""

from __future__ import annotations

from contextlib import nullcontext

import click

from naively.cli.ledgers import comment_option, json_option, target_option, tell, where
from naively.cli.pairs import classes_by_name, prior_of

__all__ = ["command"]


@click.command("tune", short_help="Tune a model anew, or change its prior.")
@click.argument("model")
@click.argument("data", nargs=-1)
@target_option
@click.option("--weight", metavar="C", help="The column that says how often a row counted.")
@click.option("--prior", help="Another class prior: empirical, uniform, or CLASS=P,CLASS=P,…")
@click.option("--textbook", is_flag=True, help="No tuning: no smoothing, family or calibration is chosen.")
@comment_option
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    prior: str | None,
    textbook: bool,
    comment: str,
    as_json: bool,
) -> None:
    """Choose smoothing, families and calibration of MODEL anew, by DATA: rows that it has counted, all or many of them.

    update, forget and merge keep the tuning that there is; after many of them another one may do better. No count
    changes. The log keeps the former settings, and undo brings them back.

    \b
    naively tune spam.naively mail.csv --comment "after a year"
    naively tune spam.naively --prior spam=0.1,ham=0.9
    naively tune spam.naively --textbook
    """
    if not data and prior is None and not textbook:
        raise click.UsageError("give DATA that the model has counted, --prior or --textbook.")
    if data and textbook:
        raise click.UsageError("give DATA to tune by, or --textbook, not both.")
    given = None if prior is None else prior_of(prior)
    import naively
    from naively.cli.naming import naming

    with naively.open(model) as ledger, naming(data, model) if data else nullcontext():
        if isinstance(given, dict):
            classes = classes_by_name(ledger.model())
            given = {classes.get(name, name): p for name, p in given.items()}
        entry = ledger.tune(
            where(data) if data else None,
            target,
            weight=weight,
            prior=given,
            textbook=textbook,
            source=" ".join(data),
            comment=comment,
        )
    tell([entry], as_json)
