"""What `naively fit` does once its arguments are read: count files, and say what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import naively
from naively import data as sources
from naively.cli.describe import aligned, columns_of, quality_of
from naively.cli.hints import hints_about
from naively.cli.input import read_told
from naively.cli.naming import naming
from naively.cli.pairs import classes_by_name
from naively.schema.schema import family_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fit_files"]


def fit_files(
    data: Sequence[str],
    target: str,
    columns: Mapping[str, str],
    missing: Sequence[str],
    ignore: Sequence[str],
    weight: str | None,
    prior: Any,
    tune: bool,
) -> tuple[naively.Model, list[str]]:
    """The model, and what to tell about it."""
    where = "-" if tuple(data) == ("-",) else list(data)
    types: dict[str, str] = {name: "string" for name, family in columns.items() if family.lower() in _OF_STRINGS}
    specs: dict[str, Any] = {name: family_of(family) for name, family in columns.items()}
    for name in missing:
        given = specs.get(name)
        specs[name] = naively.Automatic("value") if given is None else replace(given, missing="value")
    while True:
        seen = Seen(set(ignore), {target, *columns})
        try:
            with naming(data):
                batches = seen.look(read_told(where, types))
                model = naively.fit(batches, target, columns=specs or None, weight=weight, tune=tune)
            break
        except sources.OtherTypeError as error:
            if where == "-" or types.get(error.column) == error.wider:
                raise
            types[error.column] = error.wider
            click.echo(f"naively: note: {error} It is read as {error.wider}.", err=True)
    for hint in seen.hints:
        click.echo(f"naively: note: {hint}", err=True)
    if isinstance(prior, dict):
        prior = {classes_by_name(model).get(name, name): p for name, p in prior.items()}
    model = model.with_prior(prior)
    return model, seen.told(model)


_OF_STRINGS = ("text",)
FEW_ROWS, FEW_CLASSES = 10, 10  # rows of a class, if classes are numbers: with fewer, they may be amounts


class Seen:
    """Rows and missing cells of the batches that went by."""

    def __init__(self, ignore: set[str], decided: set[str]) -> None:
        """Nothing yet; what columns are that are `decided` needs no hint."""
        self.ignore = ignore
        self.decided = decided
        self.rows = 0
        self.missing: dict[str, int] = {}
        self.hints: tuple[str, ...] = ()

    def look(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches without the columns to ignore."""
        for batch in batches:
            absent = self.ignore - set(batch.schema.names)
            if absent:
                listed = ", ".join(batch.schema.names[:8])
                raise naively.InputError(f"--ignore {min(absent)}: there is no such column; the data has {listed}.")
            if not self.rows:
                about = [name for name in batch.schema.names if name not in self.ignore | self.decided]
                self.hints = tuple(hints_about(batch.select(about)))
            kept = batch.select([name for name in batch.schema.names if name not in self.ignore])
            self.rows += kept.num_rows
            for name, column in zip(kept.schema.names, kept.columns, strict=True):
                self.missing[name] = self.missing.get(name, 0) + column.null_count
            yield kept

    def told(self, model: naively.Model) -> list[str]:
        """Lines about rows, classes and columns."""
        counted_rows = int(model.seen.rows.sum())
        lines = [f"{self.rows:,} rows, {counted_rows:,} counted; predicts {model.target!r}"]
        total = float(model.class_counts.sum())
        rows = [("class", "share", "weight")]
        rows += [
            (str(c), f"{w / total:.4f}", f"{w:,.10g}") for c, w in zip(model.classes, model.class_counts, strict=True)
        ]
        lines += ["", *aligned(rows)]
        lines += ["", *columns_of(model, self.missing)]
        lines += quality_of(model)
        if len(model.classes) == 1:
            lines += ["", f"all rows are of the class {model.classes[0]!r}: every answer will be that."]
        n, numbers = len(model.classes), not any(isinstance(c, (str, bool)) for c in model.classes)
        if numbers and n > FEW_CLASSES and FEW_ROWS * n > counted_rows:
            lines += [
                "",
                f"{model.target!r} holds {n:,} different numbers, and each is a class of its own: if they are",
                "amounts, write classes instead, such as low and high.",
            ]
        if self.ignore:
            lines += ["", f"ignored, as asked: {', '.join(sorted(self.ignore))}"]
        return lines
