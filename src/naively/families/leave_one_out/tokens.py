"""Leave-one-out for models of tokens: words of texts, columns of counts, values of columns that share a distribution.

    multinomial   s_c = Σ_k x_k log(N_kc + α_kc) − L log(N_c + A_c)                                       (1)
    binary        the same with D_kc, the rows with the token, and x_k ∈ {0, 1}
    complement    s_c = −Σ_k x_k log(N_k − N_kc + α_k) + L log(N − N_c + A)                               (2)
    bernoulli     s_c = Σ_k log(D_c − D_kc + α) − K log(D_c + 2α)
                        + Σ_{k in the row} log(D_kc + α) − log(D_c − D_kc + α)                            (3)

The row, w times x_k, is taken out of N_ky of its own class y, and with it out of N_k, N_y and N. A token whose last row
leaves is no evidence for any class (L counts the others). Where only known tokens share the probability, A loses its
pseudo-count too. The compiled core computes (1), (2) and the second line of (3).

The first line of (3), over all K known words, is the same for all rows of one class and weight: without the row, D_y is
less by the row's weight, and so is D_y − D_ky of every word that the row does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively._kernels.cells import Cells, by_token, select_tokens
from naively._kernels.leave_one_out import LeftOutRows, Model, TokenCells, UncountedRow, leave_tokens_out
from naively._kernels.types import Bools, Floats, Index, Wholes
from naively.data.views import Numbers
from naively.families.base import EventModel, Leaving, NotCountedError
from naively.families.evidence import nonzero_entries
from naively.statistics.cells import class_of_cells

MAX_LOGS_PER_ALPHA = 2**22


class TokenRows(NamedTuple):
    """The tokens of rows: those of row i are at ends[i] to ends[i + 1], each with its number."""

    ends: Wholes
    token: NDArray[np.int32]
    counts: Floats
    times: Wholes | None = None  # how many rows of the statistic an entry was, for each row that leaves; None is 1

    @classmethod
    def of(
        cls, row: Index, token: NDArray[np.integer], counts: Floats, n_rows: int, times: Wholes | None = None
    ) -> TokenRows:
        """Return the rows of entries, whose rows ascend."""
        ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))]).astype(np.int64)
        return cls(ends, token.astype(np.int32), counts, times)

    @classmethod
    def of_numbers(cls, x: Numbers) -> TokenRows:
        """Return the entries of a block of counts that are neither zero nor missing."""
        row, token, count = nonzero_entries(x)
        present = ~np.isnan(count)
        return cls.of(row[present], token[present], count[present], x.pieces[0].shape[0])

    def with_cells(self, cells: Cells) -> TokenRows:
        """Return the entries whose token has a cell; rows that were counted have no others."""
        n_tokens = int(max(cells.index.max(initial=-1), self.token.max(initial=-1))) + 1
        keep = np.bincount(cells.index, minlength=n_tokens)[self.token] > 0
        if keep.all():
            return self
        return TokenRows.of(self.row[keep], self.token[keep], self.counts[keep], len(self.ends) - 1)

    @property
    def row(self) -> Index:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))


def token_cells(cells: Cells, alpha: Floats, known: Bools, vanishes: Bools, alpha_vanishes: bool) -> TokenCells:
    """Return the first channel of cells, with pseudo-counts, (token,) or (token, class), in the order of the core.

    `known` tokens are evidence. Those in `vanishes` are not once their last row has left; if `alpha_vanishes`, the
    pseudo-counts of tokens that are not known are no part of A.
    """
    start, owner, position = by_token(cells, len(known))
    sums, rows = cells.sums[0][position], cells.rows[position]
    return TokenCells(start, owner, sums, rows, np.ascontiguousarray(alpha), known, vanishes, alpha_vanishes)


def leave_rows_out(rows: TokenRows, tokens: TokenCells, leaving: Leaving, model: Model, out: Floats) -> None:
    """Add (1) or (2) for rows of tokens to `out`, (row, class)."""
    check_counted(leave_tokens_out(rows, leaving, tokens, model, out), leaving)


def check_counted(uncounted: UncountedRow | None, leaving: Leaving) -> None:
    """Raise NotCountedError for the row and token that the core reports, if any."""
    if uncounted is not None:
        row, token, rows, count = uncounted
        raise NotCountedError(row, int(leaving.label[row]), token, f"{rows} rows that have it {count:g} times")


@dataclass(frozen=True, slots=True, eq=False)
class BernoulliCounts:
    """The texts of each class, and in how many of them each word is; words with equal counts are grouped."""

    texts_per_class: Floats  # D_c
    group_class: Index
    texts_with_word: Floats  # D_kc of the words of a group
    n_words: Floats  # in each group
    n_known: int  # K
    has_text: Bools  # per row

    @classmethod
    def of(cls, cells: Cells, texts_per_class: Floats, n_known: int, has_text: Bools) -> BernoulliCounts | None:
        """Group the words of each class by the last channel of the cells; None if a class has no text."""
        if not (texts_per_class > 0).all():
            return None
        texts, n_words = cells.sums[-1], np.ones(len(cells.index))
        width, whole_texts = int(texts_per_class.max()) + 2, texts.astype(np.intp)
        if width * len(texts_per_class) <= max(MAX_LOGS_PER_ALPHA, 4 * len(texts)) and (whole_texts == texts).all():
            spans = pairwise(cells.indptr.tolist())
            table = np.stack([np.bincount(whole_texts[a:b], minlength=width) for a, b in spans])
            group_class, n_texts = np.nonzero(table)
            texts, n_words = n_texts.astype(np.float64), table[group_class, n_texts].astype(np.float64)
        else:
            group_class = class_of_cells(cells)
        return cls(texts_per_class, group_class, texts, n_words, n_known, has_text)

    def is_affordable(self, leaving: Leaving) -> bool:
        """Return whether the logarithms are few enough to take them for every weight that leaves."""
        return len(self.texts_with_word) * (1 + len(np.unique(leaving.weight))) <= MAX_LOGS_PER_ALPHA

    def add_absent_words(self, present: Floats, alpha: float, leaving: Leaving, n_vanished: Floats) -> Floats:
        """Return (3), given the second line of it; `n_vanished` words of each row leave K."""
        rows, label, own = np.arange(len(present)), leaving.label, self.texts_per_class[leaving.label]
        score = present + self._absent(alpha, 0.0)
        score -= n_vanished[:, None] * (np.log(self.texts_per_class + alpha) - np.log(self.texts_per_class + 2 * alpha))
        weights, weight_index = np.unique(leaving.weight, return_inverse=True)
        absent = np.stack([self._absent(alpha, w) for w in weights])[weight_index, label]
        texts_left = np.maximum(own - leaving.weight, 0.0)
        vanished = _log_texts(own - 2 * leaving.weight, alpha) - np.log(texts_left + 2 * alpha)
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


@dataclass(frozen=True, eq=False)
class WordScorer:
    """The words of some rows, read and looked up once, to be scored under many settings.

    The core gets the counts of these words, and all other words as a single one that no row has: the last.
    """

    rows: TokenRows
    cells: tuple[Wholes, NDArray[np.int32], Floats, Wholes]  # by word: offsets, classes, sums (channel, cell), rows
    n_other_words: float  # words that none of the rows has
    alpha_vanishes_too: bool  # whether a word that vanishes leaves K
    n_classes: int
    leaving: Leaving
    bernoulli: BernoulliCounts | None
    _readers: dict[bool, LeftOutRows] = field(default_factory=dict)
    _scores: dict[tuple[EventModel, bool, float], Floats] = field(default_factory=dict)

    @classmethod
    def of_counts(cls, rows: TokenRows, cells: Cells, n_tokens: int, leaving: Leaving) -> WordScorer:
        """Look up the tokens of rows of counts, of which there are `n_tokens`, counted or not."""
        looked_up, words, _ = _look_up(rows, cells)
        n_other_words = float(n_tokens - (len(words[0]) - 2))
        return cls(looked_up, words, n_other_words, False, len(cells.indptr) - 1, leaving, None)

    @classmethod
    def of_texts(
        cls, rows: TokenRows, cells: Cells, texts_per_class: Floats, has_text: Bools, leaving: Leaving
    ) -> WordScorer:
        """Look up the words of texts; only words with a cell are known."""
        looked_up, words, n_known = _look_up(rows.with_cells(cells), cells)
        bernoulli = BernoulliCounts.of(cells, texts_per_class, n_known, has_text)
        n_other_words = float(n_known - (len(words[0]) - 2))
        return cls(looked_up, words, n_other_words, True, len(cells.indptr) - 1, leaving, bernoulli)

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
        if settings in self._scores:
            return self._scores[settings]
        if event_model != "bernoulli":
            score = self._rows_left(binary).score(alpha, event_model)
        else:
            assert self.bernoulli is not None
            present = self._rows_left(True).score_bernoulli(alpha, self.bernoulli.texts_per_class)
            n_vanished = np.diff(self.rows.ends) - self.length(True)
            score = self.bernoulli.add_absent_words(present, alpha, self.leaving, n_vanished)
        self._scores[settings] = score
        return score

    def _rows_left(self, binary: bool) -> LeftOutRows:
        """Return the reader of rows; the last word has as large a pseudo-count as all words that it stands for."""
        if binary not in self._readers:
            start, owner, sums, rows = self.cells
            vanishes = np.arange(len(start) - 1) < len(start) - 2
            known, alpha = vanishes | (self.n_other_words > 0), np.where(vanishes, 1.0, self.n_other_words)
            words = start, owner, sums[1 if binary else 0], rows, alpha, known, vanishes, self.alpha_vanishes_too
            count = np.ones(len(self.rows.counts)) if binary else self.rows.counts
            entries = self.rows.ends, self.rows.token, count, None
            reader = LeftOutRows(entries, self.leaving, TokenCells(*words), self.n_classes)
            check_counted(reader.uncounted, self.leaving)
            self._readers[binary] = reader
        return self._readers[binary]

    @cached_property
    def _lengths(self) -> tuple[Floats, Floats]:
        """Known words of each row, without those that only it had: all of them, and distinct ones."""
        start, _, _, cell_rows = self.cells
        word_rows = np.bincount(np.repeat(np.arange(len(start) - 1), np.diff(start)), cell_rows, len(start) - 1)
        n_rows, row = len(self.leaving.label), self.rows.row
        stays = word_rows[self.rows.token] > self.leaving.rows[row]
        every, distinct = np.bincount(row, stays * self.rows.counts, n_rows), np.bincount(row, stays, n_rows)
        return every.astype(np.float64), distinct.astype(np.float64)


def _look_up(rows: TokenRows, cells: Cells) -> tuple[TokenRows, tuple[Wholes, NDArray[np.int32], Floats, Wholes], int]:
    """Number the tokens of rows from 0; return the rows, the cells by token, and the number of tokens with a cell."""
    n_tokens = int(max(cells.index.max(initial=-1), rows.token.max(initial=-1))) + 1
    position = np.full(n_tokens, -1, dtype=np.int32)
    position[rows.token] = 0
    own = np.flatnonzero(position == 0)
    position[own] = np.arange(len(own), dtype=np.int32)
    start, owner, sums, cell_rows, n_known = select_tokens(cells, position, len(own))
    return rows._replace(token=position[rows.token]), (start, owner, sums, cell_rows), n_known
