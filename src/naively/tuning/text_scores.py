"""Leave-one-out evidence of words under many settings: the sample's words are read and looked up once.

    multinomial   s_c = Σ_k x_k log(N_kc + α) − L log(N_c + αK)                                           (1)
    boolean       the same of texts with the word, x_k ∈ {0, 1}
    complement    s_c = −Σ_k x_k log(N_k − N_kc + α) + L log(N − N_c + αK)                                (2)
    bernoulli     every word, there or not, is a coin: see `coins.py`                                     (3)

with the row taken out of its own class's N_ky, hence of N_k, N_y and N; K words are known, and a word that only this
row had is not. The core does it (`core/left_out.hpp`), as it does for the families; here it gets the counts of the
sample's words alone, and all other words as a single one that no row has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import LeftTokens, TokenCells
from naively._kernels.text import token_rows
from naively.families import Family, Text
from naively.families.base import NotCountedError
from naively.families.leave_one_out.tokens import Entries
from naively.statistics import Numbers, Texts, TokenCounts, WordCounts
from naively.tuning.coins import Coins

__all__ = ["Words"]

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Words:
    """The sample's words, row by row, and what all rows counted of them; the last word stands for all others."""

    ends: Wholes  # of the rows
    token: NDArray[np.int32]
    count: Floats
    cells: tuple[Wholes, NDArray[np.int32], Floats, Wholes]  # by word: offsets, classes, sums (channel, cell), rows
    n_others: float  # words that no row of the sample has
    shrinks: bool  # whether a word that vanishes leaves K
    n_classes: int
    label: NDArray[np.int32]
    leaving: Floats  # weight that leaves with each row
    leaving_rows: Wholes
    coins: Coins | None  # of texts

    @classmethod
    def of(
        cls,
        family: Family,
        view: Texts | Numbers,
        statistic: WordCounts | TokenCounts,
        label: NDArray[np.intp],
        leaving: Floats,
        leaving_rows: Wholes,
    ) -> Words:
        """Read the sample, and look up its words."""
        ends, token, count = _read(family, view, statistic)
        whole = statistic.cells
        n_tokens = int(max(whole.index.max(initial=-1), token.max(initial=-1))) + 1
        place = np.full(n_tokens, -1, dtype=np.int32)
        place[token] = 0
        asked = np.flatnonzero(place == 0)
        place[asked] = np.arange(len(asked), dtype=np.int32)
        start, owner, sums, rows, n_seen = kernels.some_tokens(whole, place, len(asked))
        n_known = statistic.n_tokens if isinstance(statistic, TokenCounts) else n_seen
        return cls(
            ends,
            place[token],
            count,
            (start, owner, sums, rows),
            float(n_known - len(asked)),
            isinstance(statistic, WordCounts),
            statistic.n_classes,
            label.astype(np.int32),
            leaving,
            leaving_rows,
            _coins(view, statistic, n_known),
        )

    @property
    def size(self) -> int:
        """How many cells the sample's words have."""
        return len(self.cells[1])

    @cached_property
    def _lengths(self) -> tuple[Floats, Floats]:
        """Known words of each row, without those that only it had: all of them, and different ones."""
        start, _, _, rows = self.cells
        whole = np.bincount(np.repeat(np.arange(len(start) - 1), np.diff(start)), rows, len(start) - 1)
        row = np.repeat(np.arange(len(self.label)), np.diff(self.ends))
        kept = whole[self.token] > self.leaving_rows[row]
        n = len(self.label)
        every, different = np.bincount(row, kept * self.count, n), np.bincount(row, kept, n)
        return every.astype(np.float64), different.astype(np.float64)

    def length(self, binary: bool) -> Floats:
        """Known words of each row, without those that only it had."""
        return self._lengths[binary]

    @cached_property
    def _read_as(self) -> dict[bool, LeftTokens]:
        return {}

    def _left(self, binary: bool) -> LeftTokens:
        """What is left without each row; the last word has as large a pseudo-count as all that it stands for."""
        if binary not in self._read_as:
            start, owner, sums, rows = self.cells
            fades = np.arange(len(start) - 1) < len(start) - 2
            found = LeftTokens(
                (self.ends, self.token, np.ones(len(self.count)) if binary else self.count),
                (self.label, self.leaving, self.leaving_rows),
                TokenCells(
                    start,
                    owner,
                    sums[1 if binary else 0],
                    rows,
                    alpha=np.where(fades, 1.0, self.n_others),
                    known=fades | (self.n_others > 0),
                    fades=fades,
                    shrinks=self.shrinks,
                ),
                self.n_classes,
            )
            if found.bad is not None:
                row, _, left, times = found.bad
                raise NotCountedError(row, int(self.label[row]), None, f"{left} rows that have it {times:g} times")
            self._read_as[binary] = found
        return self._read_as[binary]

    def evidence(self, model: str, binary: bool, alpha: float) -> Floats:
        """Equation (1), (2) or (3), (row, class)."""
        if (model, binary, alpha) not in self._scored:
            self._scored[model, binary, alpha] = self._score(model, binary, alpha)
        return self._scored[model, binary, alpha]

    def _score(self, model: str, binary: bool, alpha: float) -> Floats:
        if model == "bernoulli":
            return self._tossed(alpha)
        return self._left(binary).score(alpha, model == "complement")

    def _tossed(self, alpha: float) -> Floats:
        assert self.coins is not None
        there = self._left(True).score_coins(alpha, self.coins.tossed)
        lost = np.diff(self.ends) - self.length(True)
        return self.coins.with_absent(there, alpha, self.label, self.leaving, lost)

    @cached_property
    def _scored(self) -> dict[tuple[str, bool, float], Floats]:
        return {}


def _read(
    family: Family, view: Texts | Numbers, statistic: WordCounts | TokenCounts
) -> tuple[Wholes, NDArray[np.int32], Floats]:
    """Ends of the rows, words and counts."""
    if isinstance(view, Texts):
        assert isinstance(family, Text)
        assert isinstance(statistic, WordCounts)
        prepared = family.tokeniser.prepare(view.columns[0])
        count, index, ends = token_rows(prepared, statistic.vocabulary, family.tokeniser.options, ordered=False)
        return ends.astype(np.int64), index.astype(np.int32), count.astype(np.float64)
    found = Entries.of_numbers(view)
    order = np.lexsort((found.token, found.row))  # the pieces of a frame come column by column
    ends = np.concatenate([[0], np.cumsum(np.bincount(found.row, minlength=found.n_rows))])
    return ends.astype(np.int64), found.token[order].astype(np.int32), found.count[order]


def _coins(view: Texts | Numbers, statistic: WordCounts | TokenCounts, n_known: int) -> Coins | None:
    if isinstance(view, Texts) and isinstance(statistic, WordCounts):
        return Coins.of(view, statistic, n_known)
    return None
