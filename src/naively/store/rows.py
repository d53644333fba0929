"""Rows to teach or to forget: a table, files or batches with their labels → counts like those of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from naively._kernels.threads import use_threads
from naively.data.labelled import LabelledRows, labelled_batches
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user
from naively.model import merge as merging
from naively.model.count import count, schema_for
from naively.model.model import Model
from naively.priors import ClassPrior

__all__ = ["count_rows", "read_rows", "refuse_other_classes", "saying_what_is_left_out"]

FEW = 64  # rows that are not worth a second thread


def read_rows(model: Model, X: Any, y: Any = None, weight: Any = None) -> Iterator[LabelledRows]:
    """Rows for a model; y is their labels or the name of their column, by default that of the model.

    Files are read as the types that the model was trained with.
    """
    y = model.target if y is None else y
    return labelled_batches(X, y, weight, like=model)


def saying_what_is_left_out(model: Model, rows: Iterable[LabelledRows]) -> Iterator[LabelledRows]:
    """The rows, with a word on columns that the model does not have."""
    known: set[str] | None = None
    for some in rows:
        if known is None and some.table.names != model.schema.names:
            known = set(model.schema.names)
            others = [name for name in some.table.names if name not in known]
            if others:
                names = listed(map(repr, others))
                warn_user(
                    f"the model has no column {names}: not counted. To count it, fit a new model.", LeftOutWarning
                )
        yield some


def refuse_other_classes(path: Path, prior: ClassPrior, classes: Sequence[Any]) -> None:
    """Refuse a class to which a given prior gives no probability."""
    new = [label for label in classes if prior.given is not None and label not in prior.given]
    if new:
        raise InputError(
            f"{path}: its class prior was given by hand and has no probability for {new[0]!r}: give it the empirical "
            "one (tune with prior='empirical'), teach it, and give it a prior that names this class."
        )


def count_rows(model: Model, rows: LabelledRows) -> Model:
    """The model of these rows alone, with the classes that they have, under the settings of the model."""
    merging.union_of_classes(model.classes, rows.classes)  # refuses labels of another type
    schema = schema_for(model, rows.table)
    with use_threads(1 if rows.table.n_rows < FEW else model.n_jobs):
        part = Model(schema, rows.classes, *count(rows, schema))
    there = part.class_weights.rows > 0
    if there.all():
        return part
    kept = tuple(label for label, seen in zip(part.classes, there.tolist(), strict=True) if seen)
    return merging.with_layout(part, part.schema, kept or part.classes)
