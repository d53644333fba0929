"""Terms of a Categorical column: the value, and how often each class showed it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.families import Categorical
from naively.families.categorical import CategoricalParameters
from naively.families.evidence import BlockTerms, Term, beta_spread, counts_of, two
from naively.priors import pseudo_counts
from naively.schema.schema import Block
from naively.statistics import Codes, Value, ValueCounts

__all__ = ["ValueTerms"]


@dataclass(frozen=True, eq=False)
class ValueTerms(BlockTerms):
    """A term for each column."""

    block: Block
    counts: ValueCounts
    fitted: CategoricalParameters
    x: Codes
    classes: tuple[Any, ...]

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Counts of all columns, (class, slot)."""
        return self.counts.dense()

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""
        values = self.x.values
        found = []
        for place, codes in self.x.placed():
            for j, code in zip(range(place.start, place.stop), codes[row].tolist(), strict=True):
                there = code == code and 0 <= code < len(values[j])
                found.append(self._term(j, values[j][int(code)] if there else None, of, against))
        return found

    def _term(self, j: int, value: Value | None, of: int, against: int) -> Term:
        name = self.block.names[j]
        if value is None:
            return Term(name, None, "missing", note="missing")
        if value not in self.fitted.values[j]:
            return Term(name, value, str(value), note="never seen in training")
        at = self.fitted.values[j].index(value)
        scores = self.fitted.log_probability[j][at, [of, against]]
        family = self.block.family
        assert isinstance(family, Categorical)
        alpha = pseudo_counts(family.alpha, self.fitted.values[j], self.classes)
        alpha = np.broadcast_to(alpha if alpha.ndim else alpha[None], (len(self.fitted.values[j]), *alpha.shape[1:]))
        counted, totals, ends = [], [], []
        for c in (of, against):
            count, every, pooled, all_pooled = self._counts(j, value, c)
            counted.append(count)
            totals.append(every)
            own = alpha[:, c] if alpha.ndim == 2 else alpha
            ends += [np.array([(count if every else pooled) + own[at]]), np.array([(every or all_pooled) + own.sum()])]
        low, high = beta_spread(*ends)
        spread = float(low[0]), float(high[0])
        return Term(name, value, str(value), two(scores), 1.0, counts_of(counted, totals), spread)

    def _counts(self, j: int, value: Value, c: int) -> tuple[float, float, float, float]:
        """Rows of a class with the value and with any value; the same of all classes together."""
        family = self.block.family
        assert isinstance(family, Categorical)
        columns = range(len(self.counts.values)) if family.shared else [j]
        count = every = pooled = all_pooled = 0.0
        for i in columns:
            table = self._table(i)
            every += float(table[c].sum())
            all_pooled += float(table.sum())
            if value in self.counts.values[i]:
                at = self.counts.values[i].index(value)
                count += float(table[c, at])
                pooled += float(table[:, at].sum())
        return count, every, pooled, all_pooled

    def _table(self, j: int) -> NDArray[np.float64]:
        """Counts of one column, (class, value)."""
        offsets = self.counts.offsets
        return self.table[:, int(offsets[j]) : int(offsets[j + 1])]
