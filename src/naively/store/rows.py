"""Rows to teach or to forget: a table, files or batches with their labels → counts like those of a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import data as sources
from naively._kernels.threads import use_threads
from naively.data import Table
from naively.errors import InputError, LeftOutWarning
from naively.families import Text
from naively.model import merge as merging
from naively.model.model import Model, counting
from naively.priors import ClassPrior
from naively.statistics import ClassWeights, WordCounts

__all__ = ["Rows", "count_rows", "count_texts", "read_rows", "refuse_other_classes", "saying_what_is_left_out"]

TEXT = ("text",)  # what the column of a list of texts is called
FEW = 64  # rows that are not worth a second thread


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows that have been read and checked."""

    table: Table
    classes: tuple[Any, ...]
    label: NDArray[np.int32]
    weight: NDArray[np.float64] | None

    def where(self, chosen: NDArray[np.bool_]) -> Rows:
        """Some of them."""
        weight = None if self.weight is None else self.weight[chosen]
        return Rows(self.table.where(chosen), self.classes, self.label[chosen], weight)


def read_rows(model: Model, X: Any, y: Any = None, weight: Any = None) -> Iterator[Rows]:
    """Rows for a model; y is their labels or the name of their column, by default that of the model.

    Files are read as the types that the model was trained with.
    """
    y = model.target if y is None else y
    whole = hasattr(X, "__arrow_c_stream__") and not isinstance(y, str)
    if sources.is_path(X) or (sources.is_stream(X) and not whole):
        batches = sources.read_files(X, _types(model, y)) if sources.is_path(X) else X
        for part in sources.parts(batches, y, weight):
            yield Rows(part.table, part.classes, part.label, part.weight)
        return
    table = sources.read(X)
    if isinstance(y, str):
        table, y = sources.split_target(table, y)
    table, y, weight = sources.with_labels(table, y, weight, model.target)
    classes, label = sources.read_labels(y, table.n_rows)
    weights = sources.read_weight(weight, table.n_rows)
    if weights is not None and not weights.all():
        table, label, weights = counting(table, label, weights)
    yield Rows(table, classes, label, weights)


def saying_what_is_left_out(model: Model, rows: Iterable[Rows]) -> Iterator[Rows]:
    """The rows, with a word on columns that the model does not have."""
    known: set[str] | None = None
    for some in rows:
        if known is None and some.table.names != model.schema.names:
            known = set(model.schema.names)
            others = [name for name in some.table.names if name not in known]
            if others:
                listed = ", ".join(map(repr, others[:8])) + (", …" if len(others) > 8 else "")
                told = f"the model has no column {listed}: not counted. To count it, fit a new model."
                warnings.warn(told, LeftOutWarning, stacklevel=4)
        yield some


def refuse_other_classes(path: Path, prior: ClassPrior, classes: Sequence[Any]) -> None:
    """Refuse a class to which a given prior gives no probability."""
    new = [label for label in classes if prior.given is not None and label not in prior.given]
    if new:
        raise InputError(
            f"{path}: its class prior was given by hand and has no probability for {new[0]!r}: give it the empirical "
            "one (tune with prior='empirical'), teach it, and give it a prior that names this class."
        )


def _types(model: Model, target: str) -> dict[str, str]:
    """How the cells of CSV are read: as at training."""
    read = {"number": "number", "string": "string", "boolean": "boolean"}
    kinds = {name: block.kind(i) for block in model.schema.blocks for i, name in enumerate(block.names)}
    types = {name: read[kind] for name, kind in kinds.items() if kind in read}
    if model.classes:
        first = model.classes[0]
        types[target] = "boolean" if isinstance(first, bool) else "string" if isinstance(first, str) else "number"
    return types


def count_texts(model: Model, X: Any, y: Any, weight: Any) -> Model | None:
    """The model of a few texts with their labels, for one that counts nothing else; None of anything else.

    It is what `read_rows` and `count_rows` make of them, by a shorter way: a mail at a time is what such models see.
    """
    if model.schema.names != TEXT or weight is not None or not (sources.are_texts(X) and sources.are_texts(y)):
        return None
    (block,) = model.schema.blocks
    if not isinstance(block.family, Text) or len(X) != len(y) or len(X) >= FEW:
        return None
    classes, label = sources.read_labels(y)
    merging.union_of_classes(model.classes, classes)  # refuses labels of another type
    seen = ClassWeights.count(None, label, None, len(classes))
    return Model(model.schema, classes, seen, (WordCounts.of_texts(X, label, seen, block.family.reading),))


def count_rows(model: Model, rows: Rows) -> Model:
    """The model of these rows alone, with the classes that they have, under the settings of the model."""
    merging.union_of_classes(model.classes, rows.classes)  # refuses labels of another type
    schema, _ = model.schema_for(rows.table)
    with use_threads(1 if rows.table.n_rows < FEW else model.n_jobs):
        part = Model.count(rows.table, rows.label, rows.weight, rows.classes, schema)
    there = part.seen.rows > 0
    if there.all():
        return part
    kept = tuple(label for label, seen in zip(part.classes, there.tolist(), strict=True) if seen)
    return merging.laid_out(part, part.schema, kept or part.classes)
