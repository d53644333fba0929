"""What data lacks: columns that the model knows, and labels; left out, and said so."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from naively.data.labels import are_texts, as_array, missing_labels
from naively.data.names import Names, Numbered
from naively.data.table import Column, ColumnTable, Table
from naively.errors import InputError, LeftOutWarning, SchemaError

__all__ = ["completed", "lacking", "named", "refuse_lacking", "with_labels"]


def lacking(names: Iterable[str], there: Names) -> list[str]:
    """The names that are not there, each once."""
    known: Collection[str] = there if isinstance(there, Numbered) else set(there)
    return [name for name in dict.fromkeys(names) if name not in known]


def refuse_lacking(names: Iterable[str], there: Names) -> None:
    """Refuse data without these columns."""
    absent = lacking(names, there)
    if absent:
        more = f" and {len(there) - 8} more" if len(there) > 8 else ""
        raise SchemaError(
            f"the data lacks the column{'s' * (len(absent) > 1)} {named(absent)}: the model was "
            f"trained with {'them' if len(absent) > 1 else 'it'}. The data has {', '.join(there[:8])}{more}."
        )


def named(names: list[str]) -> str:
    """A few names for people."""
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def completed(table: Table, names: Iterable[str]) -> Table:
    """The table with the columns that it lacks as all missing, and a word about them by name.

    Columns without names (of an array) are not told apart by what they are, so an array too narrow is left as it is
    for the schema to refuse.
    """
    if not isinstance(table, ColumnTable) or _numbered(table.names):
        return table
    absent = lacking(names, table.names)
    if not absent:
        return table
    warnings.warn(f"the data lacks {named(absent)}: taken as missing.", LeftOutWarning, stacklevel=5)
    gaps = np.full(table.n_rows, np.nan)
    more = tuple(Column(name, "unknown", gaps) for name in absent)
    return ColumnTable((*table.names, *absent), table.n_rows, (*table.columns, *more))


def _numbered(names: Names) -> bool:
    return len(names) > 0 and tuple(names) == tuple(Numbered(len(names)))


def with_labels(table: Table, y: Any, weight: Any, target: Any) -> tuple[Table, Any, Any]:
    """The rows that have a label, their labels and weights; how many have none is said."""
    if are_texts(y):
        return table, y, weight
    labels = as_array(y)
    gone = missing_labels(labels) if labels.shape == (table.n_rows,) else np.zeros(0, dtype=bool)
    if not gone.any():
        return table, labels, weight
    what = f"{target!r}" if isinstance(target, str) else "label"
    if gone.all():
        raise InputError(f"no rows to count: {len(gone)} in the data, {len(gone)} of them without a {what}.")
    warnings.warn(
        f"{int(gone.sum())} of {len(gone)} rows have no {what} and were left out.", LeftOutWarning, stacklevel=4
    )
    kept = None if weight is None else np.asarray(weight)
    return table.where(~gone), labels[~gone], kept[~gone] if kept is not None and kept.shape == gone.shape else weight
