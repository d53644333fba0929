"""What data lacks: columns that the model knows, and labels; left out, and said so."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from naively.data.names import Names, Numbered, listed
from naively.data.table import Column, ColumnTable, Table
from naively.errors import LeftOutWarning, SchemaError, warn_user


def lacking(names: Iterable[str], there: Names) -> list[str]:
    """The names that are not there, each once."""
    known: Collection[str] = there if isinstance(there, Numbered) else set(there)
    return [name for name in dict.fromkeys(names) if name not in known]


def refuse_lacking(names: Iterable[str], there: Names) -> None:
    """Refuse data without these columns."""
    absent = lacking(names, there)
    if absent:
        raise SchemaError(
            f"the data lacks the column{'s' * (len(absent) > 1)} {listed(map(repr, absent))}: the model was "
            f"trained with {'them' if len(absent) > 1 else 'it'}. The data has {listed(there)}."
        )


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
    warn_user(f"the data lacks {listed(map(repr, absent))}: taken as missing.", LeftOutWarning)
    gaps = np.full(table.n_rows, np.nan)
    more = tuple(Column(name, "unknown", gaps) for name in absent)
    return ColumnTable((*table.names, *absent), table.n_rows, (*table.columns, *more))


def _numbered(names: Names) -> bool:
    return len(names) > 0 and tuple(names) == tuple(Numbered(len(names)))
