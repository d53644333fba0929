"""Compare two models: which columns, values and words differ by more than chance.

Each family tests its columns by a likelihood ratio G (`families/compare.py`). With f degrees of freedom over N rows:

    nats = (G − f) / 2N                                                                             (1)

This is the information, per row, that a value gives about which of the two models it came from, if its class is known.
Chance alone makes G about as large as f. q corrects p for the number of columns (Benjamini & Hochberg).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from naively.data.names import counted, listed
from naively.families.compare import compare_table, false_discovery_rates
from naively.families.evidence import LikelihoodRatio, ValueChange
from naively.model.merge import align
from naively.model.model import Model

MAX_SHOWN = 4  # columns in a line


@dataclass(frozen=True)
class ColumnDiff:
    """The difference of a column (or of the classes themselves) between two models.

    Attributes
    ----------
    column
        The column; "(classes)" for the shares of the classes.
    nats
        Equation (1).
    G, freedom, p
        The likelihood ratio, its degrees of freedom, and its p-value.
    q
        The false discovery rate: of the columns with this q or less, at most this share differs by chance.
    changes
        The values or words that changed most.
    """

    column: str
    nats: float
    G: float
    freedom: int
    p: float
    q: float
    changes: tuple[ValueChange, ...]


class ColumnDiffs(tuple[ColumnDiff, ...]):
    """The difference of the classes, then that of every column, the most significant first."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = [f"{diff.column} q={diff.q:.2g}" for diff in self[:MAX_SHOWN]]
        more = ", …" if len(self) > MAX_SHOWN else ""
        return f"<ColumnDiffs of {counted(len(self) - 1, 'column')}: {', '.join(shown)}{more}>"


def diff_models(a: Model, b: Model, top: int) -> ColumnDiffs:
    """Return what `naively.diff` does for two models without common rows."""
    a, b = align(a, b)
    class_rows = np.stack([a.class_weights.rows, b.class_weights.rows]).astype(np.float64)
    columns = [_column("(classes)", compare_table(class_rows[:, None, :], [str(c) for c in a.classes], top))]
    for block, one, two in zip(a.schema.blocks, a.statistics, b.statistics, strict=True):
        tests = block.family.compare(one, two, top)
        names = block.names if len(tests) == len(block.names) else [listed(block.names, 3)]
        columns += map(_column, names, tests)
    q = false_discovery_rates([column.p for column in columns])
    columns = [replace(column, q=float(value)) for column, value in zip(columns, q, strict=True)]
    return ColumnDiffs((columns[0], *sorted(columns[1:], key=lambda column: (column.p, -column.nats))))


def _column(name: str, test: LikelihoodRatio) -> ColumnDiff:
    """Return the difference of a column by equation (1)."""
    nats = max(test.G - test.freedom, 0.0) / (2.0 * test.n_rows) if test.n_rows else 0.0
    return ColumnDiff(name, nats, test.G, test.freedom, test.p, test.p, test.changes)
