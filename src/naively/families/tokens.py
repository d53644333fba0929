"""What the families of tokens share: Multinomial, Complement and Bernoulli over columns, and Text over words.

All of them score a row by a linear form of its counts (`linear_form.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from naively._kernels.cells import Cells
from naively._kernels.types import Floats, Index
from naively.data.views import Numbers
from naively.families import evidence
from naively.families.base import EventModel, Family, Lengths, LinearPart
from naively.families.compare import compare_words
from naively.families.evidence import Alternative, Label, LikelihoodRatio, Pair, RowView, Term, WordShares, WordTable
from naively.families.linear_form import LogLinear
from naively.statistics.cells import class_of_cells, values_in_class
from naively.statistics.token_counts import TokenCounts
from naively.statistics.word_counts import WordCounts

MAX_WORD_COUNT = 3  # occurrences of a word that a nomogram marks


class HasForm(Protocol):
    """Parameters that hold the linear form."""

    @property
    def form(self) -> LogLinear:
        """Return the form."""


W = TypeVar("W", TokenCounts, WordCounts)
F = TypeVar("F", bound=HasForm)


class WordFamily(Family[W, F]):
    """A family whose evidence is a sum over words: the words of a text, or the columns of a block."""

    @property
    def event_model(self) -> EventModel:
        """How words are scored."""
        return "multinomial"

    @property
    def counts_presence(self) -> bool:
        """Whether a word counts once per row."""
        return self.event_model == "bernoulli"

    @property
    def pseudo_count(self) -> float | None:
        """The pseudo-count of each word; None if words differ in it."""
        return None

    def frequent_words(self, stats: W, parameters: F, names: Sequence[str], min_count: float) -> WordTable | None:
        """Return the words that occur at least `min_count` times."""
        form, cells = parameters.form, stats.cells
        occurrences = np.bincount(cells.index, cells.sums[0], minlength=len(form.score.base))
        numbers = np.flatnonzero((occurrences >= min_count) & ~np.isnan(form.score.base))
        log_weights = form.log_weights(numbers)
        if self.event_model == "bernoulli":
            log_weights = form.log_presence(numbers, True) - form.log_presence(numbers, False)
        words = stats.names_of(numbers)
        labels = tuple(f"{names[0]}: {word}" for word in words) if self.own_block else tuple(words)
        return WordTable(labels, log_weights, form.score.offset, 1 if self.counts_presence else MAX_WORD_COUNT)

    def word_shares(self, stats: W) -> WordShares | None:
        """Return the counts of all words."""
        kind = self.event_model == "bernoulli", self.counts_presence
        return WordShares(stats.names_of, stats.n_numbers(), stats.cells, stats.seen.weight, self.pseudo_count, *kind)

    def compare(self, one: W, two: W, top: int = 20) -> list[LikelihoodRatio]:
        """Test all words together: which of them are in a row."""
        one, two = one.aligned(two)
        used = np.union1d(one.cells.index, two.cells.index)
        return [compare_words((one.cells, two.cells), (one.seen, two.seen), used, one.names_of(used), top)]

    def word_terms(
        self,
        labels: Sequence[Label],
        numbers: Index,
        occurrences: Floats,
        form: LogLinear,
        cells: Cells,
        totals: Floats,
        pair: Pair,
        pseudo_counts_in: Callable[[int], tuple[Floats | float, float]],
    ) -> list[Term]:
        """Return the terms of known words of a row.

        Parameters
        ----------
        labels, numbers, occurrences
            Of each word: how it is shown, its number, and how often it is in the row.
        form, cells
            The log-linear form, and the counts.
        totals
            What the words of each class are counted of. A class without words has the counts of all classes.
        pair
            The two classes.
        pseudo_counts_in
            Returns the pseudo-counts of the words, and of all words, in a class.
        """
        sums = cells.sums[1 if self.counts_presence else 0]
        counts = np.stack([values_in_class(cells, c, numbers, sums) for c in pair], axis=1)
        beta = None
        if self.is_likelihood:
            a, total = np.empty_like(counts), np.empty_like(counts)
            for side, c in enumerate(pair):
                n, n_total = counts[:, side], totals[c]
                if n_total == 0:
                    pooled = np.bincount(cells.index, sums, minlength=int(numbers.max(initial=-1)) + 1)
                    n, n_total = pooled[numbers].astype(np.float64), totals.sum()
                alpha, alpha_total = pseudo_counts_in(c)
                a[:, side], total[:, side] = n + alpha, n_total + alpha_total
            beta = a, total
        is_bernoulli = self.event_model == "bernoulli"
        scores = (form.log_presence(numbers, True) if is_bernoulli else form.log_weights(numbers))[:, list(pair)]
        of_all = np.broadcast_to(totals[list(pair)], counts.shape)
        factor = None if self.counts_presence else occurrences
        return evidence.share_terms(labels, scores, counts, of_all, beta, occurrences, factor)


@dataclass(frozen=True, slots=True, eq=False)
class TokenParameters:
    """The log-linear form of the estimates, and the mean length of a row per class, for samples."""

    form: LogLinear
    n_tokens: int
    mean_length: Floats


class TokenFamily(WordFamily[TokenCounts, TokenParameters]):
    """A family of columns of counts that is linear in the counts."""

    statistic = TokenCounts

    def log_likelihood(self, x: Numbers, parameters: TokenParameters, out: Floats, length: Lengths = None) -> None:
        """Add the linear form of each row."""
        parameters.form.add_to(out, x, length)

    def linear(self, parameters: TokenParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return log θ_k,of − log θ_k,against of each token, and the difference of the offsets as bias."""
        form, offset = parameters.form, parameters.form.score.offset
        is_possible = form.forbidden is None or not form.forbidden.offset[[of, against]].any()
        bias = float(offset[of] - offset[against]) if is_possible else np.nan
        return LinearPart.between(names, form.weights(parameters.n_tokens), (of, against), bias)

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row without each of its tokens."""
        for token, number in zip(*(array.tolist() for array in row.nonzero()), strict=True):
            if number == number:
                yield evidence.number_alternative(row, token, number, 0.0)


def share_with_empty(cells: Cells, empty: Index) -> Cells:
    """Return cells in which the empty classes have those of all classes together."""
    if not len(empty) or not len(cells.index):
        return cells
    tokens, position = np.unique(cells.index, return_inverse=True)
    sums = np.stack([np.bincount(position, weights=channel) for channel in cells.sums])
    rows = np.bincount(position, weights=cells.rows).astype(np.int64)
    owner = np.concatenate([class_of_cells(cells), np.repeat(empty, len(tokens))])
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(cells.indptr) - 1)
    return Cells(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([cells.index, np.tile(tokens, len(empty))])[order].astype(np.int32),
        np.ascontiguousarray(np.concatenate([cells.sums, np.tile(sums, len(empty))], axis=1)[:, order]),
        np.concatenate([cells.rows, np.tile(rows, len(empty))])[order],
    )
