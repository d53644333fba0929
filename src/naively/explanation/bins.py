"""Terms of a Binned column: the bin that the number falls into, as an interval, and the rows of each class in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.families import Binned
from naively.families.binned import LARGEST, BinnedParameters
from naively.families.evidence import BlockTerms, Term, beta_spread, counts_of, shown_value, two
from naively.schema.schema import Block
from naively.statistics import Histogram, Numbers

__all__ = ["BinTerms", "bin_counts", "interval_words", "number_row"]


def number_row(x: Numbers, row: int) -> NDArray[np.float64]:
    """One row of a block of numbers, dense."""
    pieces = [piece[row].astype(np.float64) for _, piece in x.dense()]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def bin_counts(counts: Histogram, fitted: BinnedParameters, j: int) -> NDArray[np.float64]:
    """Weight of the rows in each bin of a column, (bin, class)."""
    cells = counts.cells
    part = slice(int(cells.offsets[j]), int(cells.offsets[j + 1]))
    cuts = fitted.column_cuts(j)
    bins = np.searchsorted(cuts, counts.values[part], side="right")
    table = np.zeros((len(cuts) + 1, counts.n_classes))
    np.add.at(table, (bins, cells.classes[part]), cells.weight[part])
    return table


def interval_words(cuts: NDArray[np.float64], b: int, kind: str) -> str:
    """A bin as people write it: below 32.5, 32.5 to 60, 60 and more."""
    ends = (cuts[b - 1] if b > 0 else None, cuts[b] if b < len(cuts) else None)
    low, high = (None if end is None or abs(end) >= LARGEST else shown_value(end, kind)[1] for end in ends)
    if low is None and high is None:
        return "any"
    if low is None:
        return f"below {high}"
    return f"{low} and more" if high is None else f"{low} to {high}"


@dataclass(frozen=True, eq=False)
class BinTerms(BlockTerms):
    """A term for each column."""

    block: Block
    counts: Histogram
    fitted: BinnedParameters
    x: Numbers
    tables: dict[int, NDArray[Any]]

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""
        return [self._term(j, x, of, against) for j, x in enumerate(number_row(self.x, row).tolist())]

    def _term(self, j: int, x: float, of: int, against: int) -> Term:
        name, kind = self.block.names[j], self.block.kind(j)
        if x != x:
            return Term(name, None, "missing", note="missing")
        infinite = abs(x) == np.inf
        value, shown = (x, str(x)) if infinite else shown_value(x, kind)
        cuts = self.fitted.column_cuts(j)
        b = int(np.searchsorted(cuts, x, side="right"))
        if not len(cuts):
            return Term(name, value, shown, note="one bin: says nothing")
        if j not in self.tables:
            self.tables[j] = bin_counts(self.counts, self.fitted, j)
        table = self.tables[j]
        if not table[b].any():
            return Term(name, value, shown, note="never seen in training")
        scores = self.fitted.column_log_probability(j)[b, [of, against]]
        family = self.block.family
        assert isinstance(family, Binned)
        behind, ends = counts_of(table[b, [of, against]], table[:, [of, against]].sum(axis=0)), []
        for side in behind:
            count, every = side["count"], side["all"]
            smoothed = family.alpha * float((table.sum(axis=1) > 0).sum())
            lent = (count, every) if every else (float(table[b].sum()), float(table.sum()))
            ends += [np.array([lent[0] + family.alpha]), np.array([lent[1] + smoothed])]
        low, high = beta_spread(*ends)
        told = f"{shown} ({interval_words(cuts, b, kind)})"
        return Term(name, value, told, two(scores), 1.0, behind, (float(low[0]), float(high[0])))
