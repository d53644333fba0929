"""Leave-one-out evidence of words under many settings at once: the sample's words are read and looked up once.

    multinomial   s_c = Σ_k x_k log(N_kc + α) − L log(N_c + αK)                                           (1)
    boolean       the same of texts with the word, x_k ∈ {0, 1}
    complement    s_c = −Σ_k x_k log(N_k − N_kc + α) + L log(N − N_c + αK)                                (2)

with the row taken out of its own class's N_ky, hence of N_k, N_y and N; K words are known, and a word that only this
row had is not. `families/left_out_tokens.py` has the same equations for one setting; this one keeps the counts of the
sample's words as a dense table, so that another α costs a logarithm of it and one sparse product. (Only for a class
that is left without a single word they differ: it speaks by α alone here, by the words of all classes there.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.families import Family, Text
from naively.families.left_out_tokens import Entries
from naively.kernels.text import token_rows
from naively.statistics import Numbers, Texts, TokenCounts, WordCounts
from naively.statistics.cells import class_of_cells, class_sums

__all__ = ["Words"]

Floats = NDArray[np.float64]
CHUNK = 2**22  # numbers of an (entry, class) table held at a time


@dataclass(frozen=True, eq=False)
class Words:
    """The entries of the sample (row, place among the sample's words, count), and what all rows counted of them."""

    entries: Entries
    table: Floats  # (channel, word, class): occurrences, texts
    totals: Floats  # (channel, class)
    rows: NDArray[np.int64]  # (word,): of all classes
    n_known: float  # K
    shrinks: bool  # whether a word that vanishes leaves K
    label: NDArray[np.intp]
    leaving: Floats  # weight that leaves with each row
    leaving_rows: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        family: Family,
        view: Texts | Numbers,
        statistic: WordCounts | TokenCounts,
        label: NDArray[np.intp],
        leaving: Floats,
        leaving_rows: NDArray[np.int64],
        n_jobs: int,
    ) -> Words:
        """Read the sample, and look up its words."""
        if isinstance(view, Texts):
            assert isinstance(family, Text)
            assert isinstance(statistic, WordCounts)
            prepared = family.reading.prepare(view.columns[0])
            count, index, ends = token_rows(prepared, statistic.vocabulary, family.reading.options, n_jobs)
            row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
            entries = Entries(row, index.astype(np.intp), count.astype(np.float64), len(ends) - 1)
        else:
            found = Entries.of_numbers(view)
            order = np.lexsort((found.token, found.row))  # the pieces of a frame come column by column
            entries = Entries(found.row[order], found.token[order], found.count[order], found.n_rows)
        cells = statistic.cells
        words, place = np.unique(entries.token, return_inverse=True)
        table = np.zeros((2, len(words), statistic.n_classes))
        rows = np.zeros(len(words), dtype=np.int64)
        if len(words):
            at = np.minimum(np.searchsorted(words, cells.index), len(words) - 1)
            here = np.flatnonzero(words[at] == cells.index)
            table[:, at[here], class_of_cells(cells)[here]] = cells.sums[:, here]
            rows = np.bincount(at[here], weights=cells.rows[here], minlength=len(words)).astype(np.int64)
        n_known = statistic.n_tokens if isinstance(statistic, TokenCounts) else len(np.unique(cells.index))
        totals = np.stack([class_sums(cells, 0), class_sums(cells, 1)])
        known = Entries(entries.row, place.astype(np.intp), entries.count, entries.n_rows)
        shrinks = isinstance(statistic, WordCounts)
        return cls(known, table, totals, rows, float(n_known), shrinks, label, leaving, leaving_rows)

    def length(self, binary: bool) -> Floats:
        """Known words of each row, without those that only it had."""
        kept = self.entries.where(self._kept)
        return kept.sum_by_row(np.ones(len(kept.count)) if binary else kept.count)

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        return np.asarray(self.rows[self.entries.token] > self.leaving_rows[self.entries.row])

    def evidence(self, model: str, binary: bool, alpha: float) -> Floats:
        """Equation (1) or (2), (row, class)."""
        channel, keep = (1 if binary else 0), self._kept
        every = self.entries
        taken = self.leaving[every.row] * (np.ones(len(every.count)) if binary else every.count)
        kept = every.where(keep)
        x = np.ones(len(kept.count)) if binary else kept.count
        lost = every.sum_by_row((~keep).astype(np.float64)) if self.shrinks else np.zeros(every.n_rows)
        whole = alpha * (self.n_known - lost)[:, None]
        gone = every.sum_by_row(taken)[:, None]
        table, totals = self.table[channel], self.totals[channel]
        own = np.zeros((every.n_rows, len(totals)), dtype=np.bool_)
        own[np.arange(every.n_rows), self.label] = True
        length = kept.sum_by_row(x)[:, None]
        if model == "complement":
            rest = totals.sum() - totals[None, :] - np.where(own, 0.0, gone) + whole
            return np.asarray(
                length * np.log(np.maximum(rest, 1e-300)) - self._others(table, kept, x, taken[keep], alpha)
            )
        score = self._product(kept, x, np.log(np.maximum(table + alpha, 1e-300)))
        counted = table[kept.token, self.label[kept.row]]
        left = np.log(np.maximum(counted - taken[keep] + alpha, 1e-300)) - np.log(np.maximum(counted + alpha, 1e-300))
        score[own] += kept.sum_by_row(x * left)
        return np.asarray(score - length * np.log(np.maximum(totals - np.where(own, gone, 0.0) + whole, 1e-300)))

    def _others(self, table: Floats, kept: Entries, x: Floats, taken: Floats, alpha: float) -> Floats:
        """Σ_k x_k log(N_k − N_kc + α) without the row, (row, class), some entries at a time."""
        others = table.sum(axis=1, keepdims=True) - table
        out = self._product(kept, x, np.log(np.maximum(others + alpha, 1e-300)))
        ends = np.searchsorted(kept.row, np.arange(kept.n_rows + 1))
        step = max(1, CHUNK // others.shape[1])
        first = 0
        while first < kept.n_rows:  # entries stand row by row
            last = max(first + 1, int(np.searchsorted(ends, ends[first] + step, side="right")) - 1)
            some = slice(int(ends[first]), int(ends[last]))
            ratio = np.log1p(-np.minimum(taken[some, None] / (others[kept.token[some]] + alpha), 1.0 - 1e-15))
            ratio[np.arange(len(ratio)), self.label[kept.row[some]]] = 0.0
            held = np.flatnonzero(np.diff(ends[first : last + 1])) + first
            if len(held):
                out[held] += np.add.reduceat(x[some, None] * ratio, ends[held] - ends[first], axis=0)
            first = last
        return out

    def _product(self, kept: Entries, x: Floats, table: Floats) -> Floats:
        from scipy.sparse import csr_array

        matrix = csr_array((x, (kept.row, kept.token)), shape=(kept.n_rows, len(table)))
        return np.asarray(matrix @ table)
