"""Leave-one-out evidence of words under many settings: the words of the rows are read and looked up once.

    multinomial   s_c = Σ_k x_k log(N_kc + α) − L log(N_c + αK)                                           (1)
    boolean       the same with D_kc, the texts with the word, and x_k ∈ {0, 1}
    complement    s_c = −Σ_k x_k log(N_k − N_kc + α) + L log(N − N_c + αK)                                (2)
    bernoulli     s_c = Σ_k log(D_c − D_kc + α) − K log(D_c + 2α)
                        + Σ_{k in the row} log(D_kc + α) − log(D_c − D_kc + α)                            (3)

The row is taken out of N_ky of its own class y, and with it out of N_k, N_y and N. K words are known; a word that only
this row had is not. The core sums over the words of a row. It gets the counts of the rows' own words, and all other
words as a single one that no row has. The first sum of (3), over all words, is the same for all rows of one class and
weight: without the row, D_y is less by the row's weight, and so is D_y − D_ky of every word that the row does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import LeftTokens, TokenCells
from naively.data.views import Numbers
from naively.families.base import EventModel, Leaving, NotCountedError
from naively.families.leave_one_out.tokens import Entries
from naively.statistics import TokenCounts, WordCounts
from naively.statistics.cells import class_of_cells

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

MAX_LOGS_PER_ALPHA = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class BernoulliCounts:
    """The texts of each class, and in how many of them each word is; words with equal counts are grouped."""

    texts_per_class: Floats  # D_c
    group_class: NDArray[np.intp]
    texts_with_word: Floats  # D_kc of the words of a group
    n_words: Floats  # in each group
    n_known: int  # K
    has_text: NDArray[np.bool_]  # per row

    @classmethod
    def of(cls, statistic: WordCounts, n_known: int, has_text: NDArray[np.bool_]) -> BernoulliCounts | None:
        """Group the words of each class; None if a class has no text."""
        cells, texts_per_class = statistic.cells, statistic.seen.weight
        if not (texts_per_class > 0).all():
            return None
        texts, n_words = cells.sums[1], np.ones(len(cells.index))
        width, whole_texts = int(texts_per_class.max()) + 2, texts.astype(np.intp)
        if width * len(texts_per_class) <= max(MAX_LOGS_PER_ALPHA, 4 * len(texts)) and (whole_texts == texts).all():
            spans = pairwise(cells.indptr.tolist())
            table = np.stack([np.bincount(whole_texts[a:b], minlength=width) for a, b in spans])
            group_class, n_texts = np.nonzero(table)
            texts, n_words = n_texts.astype(np.float64), table[group_class, n_texts].astype(np.float64)
        else:
            group_class = class_of_cells(cells).astype(np.intp)
        return cls(texts_per_class, group_class, texts, n_words, n_known, has_text)

    def is_affordable(self, leaving: Leaving) -> bool:
        """Return whether the logarithms are few enough to take them for every weight that leaves."""
        return len(self.texts_with_word) * (1 + len(np.unique(leaving.weight))) <= MAX_LOGS_PER_ALPHA

    def add_absent_words(self, present: Floats, alpha: float, leaving: Leaving, n_vanished: Floats) -> Floats:
        """Return equation (3) from its last sum; `n_vanished` words leave K with each row."""
        rows, label = np.arange(len(leaving)), leaving.label
        own = self.texts_per_class[label]
        score = present + self._absent(alpha, 0.0)
        score -= n_vanished[:, None] * (np.log(self.texts_per_class + alpha) - np.log(self.texts_per_class + 2 * alpha))
        weights, weight_index = np.unique(leaving.weight, return_inverse=True)
        absent = np.stack([self._absent(alpha, w) for w in weights])[weight_index, label]
        vanished = _log_texts(own - 2 * leaving.weight, alpha) - np.log(
            np.maximum(own - leaving.weight, 0.0) + 2 * alpha
        )
        score[rows, label] = present[rows, label] + absent - n_vanished * vanished
        return np.where(self.has_text[:, None], score, 0.0)

    def _absent(self, alpha: float, weight: float) -> Floats:
        """Return the first line of (3) for each class, with D_c less by a weight."""
        texts, n_classes = self.texts_per_class - weight, len(self.texts_per_class)
        grouped = self.n_words * _log_texts(texts[self.group_class] - self.texts_with_word, alpha)
        n_unseen = self.n_known - np.bincount(self.group_class, self.n_words, n_classes)
        absent = np.bincount(self.group_class, grouped, n_classes) + n_unseen * _log_texts(texts, alpha)
        return np.asarray(absent - self.n_known * np.log(np.maximum(texts, 0.0) + 2 * alpha))


def _log_texts(texts: Floats, alpha: float) -> Floats:
    """Return log(texts + α), and 0 where a word is in too many texts for the row not to have it, as in the core."""
    smoothed = texts + alpha
    return np.asarray(np.log(np.where(smoothed > alpha / 2, smoothed, 1.0)))


def rows_of_counts(x: Numbers) -> tuple[Wholes, NDArray[np.int32], Floats]:
    """Return ends, tokens and counts of the rows of a block of counts."""
    entries = Entries.of_numbers(x)
    order = np.lexsort((entries.token, entries.row))  # the pieces of a frame come column by column
    row_ends = np.concatenate([[0], np.cumsum(np.bincount(entries.row, minlength=entries.n_rows))])
    return row_ends.astype(np.int64), entries.token[order].astype(np.int32), entries.count[order]


@dataclass(frozen=True, eq=False)
class WordScorer:
    """The words of some rows, and what all rows counted of them; the last word stands for all words of other rows."""

    row_ends: Wholes
    token: NDArray[np.int32]
    count: Floats
    cells: tuple[Wholes, NDArray[np.int32], Floats, Wholes]  # by word: offsets, classes, sums (channel, cell), rows
    n_other_words: float  # words that none of the rows has
    alpha_vanishes_too: bool  # whether a word that vanishes leaves K
    n_classes: int
    leaving: Leaving
    bernoulli: BernoulliCounts | None  # for texts

    @classmethod
    def of(
        cls,
        rows: tuple[Wholes, NDArray[np.int32], Floats],
        statistic: WordCounts | TokenCounts,
        leaving: Leaving,
        has_text: NDArray[np.bool_] | None = None,
    ) -> WordScorer:
        """Look up the words of rows, given as (ends, tokens, counts); `has_text` is given for texts."""
        row_ends, token, count = rows
        n_tokens = int(max(statistic.cells.index.max(initial=-1), token.max(initial=-1))) + 1
        position = np.full(n_tokens, -1, dtype=np.int32)
        position[token] = 0
        own_words = np.flatnonzero(position == 0)
        position[own_words] = np.arange(len(own_words), dtype=np.int32)
        start, owner, sums, cell_rows, n_seen = kernels.some_tokens(statistic.cells, position, len(own_words))
        n_known = statistic.n_tokens if isinstance(statistic, TokenCounts) else n_seen
        bernoulli = None
        if isinstance(statistic, WordCounts) and has_text is not None:
            bernoulli = BernoulliCounts.of(statistic, n_known, has_text)
        return cls(
            row_ends=row_ends,
            token=position[token],
            count=count,
            cells=(start, owner, sums, cell_rows),
            n_other_words=float(n_known - len(own_words)),
            alpha_vanishes_too=isinstance(statistic, WordCounts),
            n_classes=statistic.n_classes,
            leaving=leaving,
            bernoulli=bernoulli,
        )

    @property
    def n_cells(self) -> int:
        """Number of (word, class) cells of the rows' words."""
        return len(self.cells[1])

    @property
    def can_score_bernoulli(self) -> bool:
        """Whether (3) can be computed, at an affordable price."""
        return self.bernoulli is not None and self.bernoulli.is_affordable(self.leaving)

    def length(self, binary: bool) -> Floats:
        """Return the number of known words of each row, without those that only it had; each once if `binary`."""
        return self._lengths[binary]

    def evidence(self, event_model: EventModel, binary: bool, alpha: float) -> Floats:
        """Return equation (1), (2) or (3), (row, class)."""
        settings = event_model, binary, alpha
        if settings not in self._scores:
            self._scores[settings] = self._score(*settings)
        return self._scores[settings]

    def _score(self, event_model: EventModel, binary: bool, alpha: float) -> Floats:
        if event_model != "bernoulli":
            return self._rows_left(binary).score(alpha, event_model == "complement")
        assert self.bernoulli is not None
        present = self._rows_left(True).score_coins(alpha, self.bernoulli.texts_per_class)
        n_vanished = np.diff(self.row_ends) - self.length(True)
        return self.bernoulli.add_absent_words(present, alpha, self.leaving, n_vanished)

    def _rows_left(self, binary: bool) -> LeftTokens:
        """Return the reader of rows; the last word has as large a pseudo-count as all words that it stands for."""
        if binary not in self._readers:
            start, owner, sums, rows = self.cells
            vanishes = np.arange(len(start) - 1) < len(start) - 2
            reader = LeftTokens(
                (self.row_ends, self.token, np.ones(len(self.count)) if binary else self.count),
                self.leaving.arrays,
                TokenCells(
                    start,
                    owner,
                    sums[1 if binary else 0],
                    rows,
                    alpha=np.where(vanishes, 1.0, self.n_other_words),
                    known=vanishes | (self.n_other_words > 0),
                    fades=vanishes,
                    shrinks=self.alpha_vanishes_too,
                ),
                self.n_classes,
            )
            if reader.bad is not None:
                row, _, left, times = reader.bad
                message = f"{left} rows that have it {times:g} times"
                raise NotCountedError(row, int(self.leaving.label[row]), None, message)
            self._readers[binary] = reader
        return self._readers[binary]

    @cached_property
    def _lengths(self) -> tuple[Floats, Floats]:
        """Known words of each row, without those that only it had: all of them, and distinct ones."""
        start, _, _, cell_rows = self.cells
        word_rows = np.bincount(np.repeat(np.arange(len(start) - 1), np.diff(start)), cell_rows, len(start) - 1)
        n_rows = len(self.leaving)
        row = np.repeat(np.arange(n_rows), np.diff(self.row_ends))
        stays = word_rows[self.token] > self.leaving.rows[row]
        every, distinct = np.bincount(row, stays * self.count, n_rows), np.bincount(row, stays, n_rows)
        return every.astype(np.float64), distinct.astype(np.float64)

    @cached_property
    def _readers(self) -> dict[bool, LeftTokens]:
        return {}

    @cached_property
    def _scores(self) -> dict[tuple[EventModel, bool, float], Floats]:
        return {}
