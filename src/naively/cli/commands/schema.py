"""`naively schema`: decide what to count of each column, for parts that are counted apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from naively.cli import options
from naively.data.files.paths import Files

if TYPE_CHECKING:
    from naively.schema.schema import Schema


@click.command("schema", short_help="Decide what to count of each column.")
@click.option("--target", required=True, metavar="COLUMN", help="Column to predict.")
@click.option("-o", "--output", required=True, type=options.NEW_FILE, help="File to write, in JSON.")
@options.families
@options.ignore
@options.missing
@options.weight
@options.many_classes
@options.together
@options.force
@options.reads_data()
def command(
    data: Files,
    target: str,
    output: Path,
    families: tuple[str, ...],
    ignore: tuple[str, ...],
    missing: tuple[str, ...],
    weight: str | None,
    many_classes: bool,
    together: bool,
    force: bool,
) -> None:
    """Decide from the first rows of DATA what to count of each column, and write it to a file.

    Parts of the data that are counted under one schema, by `fit --schema`, can be merged.

    \b
    naively schema 'logs/*.csv' --target failed -o schema.json
    naively fit logs/1.csv --target failed --schema schema.json --no-tune --keep-sample -o 1.naively
    naively fit logs/2.csv --target failed --schema schema.json --no-tune --keep-sample -o 2.naively
    naively merge 1.naively 2.naively -o failed.naively
    naively tune failed.naively
    """
    options.refuse_output(output, force, *data.names)
    family_names = dict(options.parse_family(item) for item in families)

    from naively.cli.hints import BatchSummary
    from naively.cli.input import name_file_in_errors
    from naively.cli.output import print_note
    from naively.data.files.read import read_files, retry_with_wider_types
    from naively.fitting import infer_schema
    from naively.store.write import atomic_write

    columns = options.given_families(family_names, missing)
    summary = BatchSummary(data, frozenset(ignore), frozenset((target, *family_names)))

    def read_and_infer(types: Mapping[str, str]) -> Schema:
        batches = summary.add(read_files(data, types))
        return infer_schema(
            batches, target, columns=columns or None, weight=weight, many_classes=many_classes, together=together
        )

    with name_file_in_errors(data):
        texts, can_retry = options.text_types(family_names), not data.is_standard_input
        schema = retry_with_wider_types(read_and_infer, texts, can_retry=can_retry)
    for hint in summary.hints:
        print_note(hint)
    with atomic_write(output) as unfinished:
        unfinished.write_text(schema.to_json() + "\n", encoding="utf-8")
    click.echo(str(schema))
