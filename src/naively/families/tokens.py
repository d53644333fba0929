"""What the families of tokens share: Multinomial, Complement and Bernoulli over columns, and Text over words.

All of them score a row by a linear form of its counts (`linear_form.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from naively._kernels.cells import Cells
from naively._kernels.types import Floats, Index
from naively.data.views import Numbers
from naively.families import evidence
from naively.families.base import EventModel, Family, Feature, Labels, Lengths, LinearPart, times
from naively.families.compare import W, compare_words
from naively.families.evidence import Alternative, Label, LikelihoodRatio, Pair, RowView, Term, WordShares, WordTable
from naively.families.learnt import Learnt
from naively.families.linear_form import EVERY, LogLinear
from naively.priors import Alpha, Dirichlet, pseudo_counts
from naively.statistics.cells import cells_of_entries, class_of_cells, values_in_class
from naively.statistics.token_counts import TokenCounts

MAX_WORD_COUNT = 3  # occurrences of a word that a nomogram marks


@dataclass(frozen=True, slots=True, eq=False)
class TokenParameters:
    """The log-linear form of the estimates, and the mean length of a row per class, for samples."""

    form: LogLinear
    mean_length: Floats


F = TypeVar("F", bound=TokenParameters)


class WordFamily(Family[W, F]):
    """A family whose evidence is a sum over words: the words of a text, or the columns of a block."""

    alpha: Alpha

    @property
    def event_model(self) -> EventModel:
        """How words are scored."""
        return "multinomial"

    @property
    def is_likelihood(self) -> bool:
        """Whether the scores are probabilities; complement evidence is not."""
        return self.event_model != "complement"

    @property
    def counts_presence(self) -> bool:
        """Whether a word counts once per row."""
        return self.event_model == "bernoulli"

    @property
    def pseudo_count(self) -> float | None:
        """The pseudo-count of each word; None if words differ in it."""
        return self.alpha if isinstance(self.alpha, float) else None

    def pseudo_counts(self, stats: W, classes: Labels) -> Floats:
        """Return the pseudo-counts, (word,) or (word, class)."""
        n = stats.n_tokens
        words = stats.names_of(np.arange(n)) if isinstance(self.alpha, Dirichlet) else range(n)
        alpha = pseudo_counts(self.alpha, words, classes)
        return alpha if alpha.ndim == 2 else np.broadcast_to(alpha, (n,))

    def frequent_words(self, stats: W, parameters: F, names: Sequence[str], min_count: float) -> WordTable | None:
        """Return the words that occur at least `min_count` times."""
        form, cells = parameters.form, stats.cells
        occurrences = np.bincount(cells.index, cells.sums[0], minlength=len(form.score.base))
        numbers = np.flatnonzero((occurrences >= min_count) & ~form.is_unknown())
        log_weights = form.log_weights(numbers)
        if self.event_model == "bernoulli":
            log_weights = form.log_presence(numbers, True) - form.log_presence(numbers, False)
        words = stats.names_of(numbers)
        labels = tuple(f"{names[0]}: {word}" for word in words) if self.own_block else tuple(words)
        return WordTable(labels, log_weights, form.score.offset, 1 if self.counts_presence else MAX_WORD_COUNT)

    def word_shares(self, stats: W) -> WordShares | None:
        """Return the counts of all words."""
        kind = self.event_model == "bernoulli", self.counts_presence
        return WordShares(stats.names_of, stats.n_tokens, stats.cells, stats.seen.weight, self.pseudo_count, *kind)

    def learnt_words(
        self,
        numbers: Index,
        shown: Sequence[str],
        form: LogLinear,
        cells: Cells,
        totals: Floats,
        alpha: Floats,
        total_alpha: Floats,
        n_words: int,
    ) -> Learnt:
        """Return words: occurrences (rows with the word if it counts once), pseudo-count and log θ, in each class.

        The parameters are as in `word_terms`. A weight of `Complement` is evidence, not the logarithm of a share.
        """
        sums, n_classes = cells.sums[1 if self.counts_presence else 0], len(totals)
        counts = np.stack([values_in_class(cells, c, numbers, sums) for c in range(n_classes)], axis=1)
        is_bernoulli = self.event_model == "bernoulli"
        scores = form.log_presence(numbers, True) if is_bernoulli else form.log_weights(numbers)
        alpha, total_alpha = np.broadcast_to(alpha, counts.shape), np.broadcast_to(total_alpha, n_classes)
        return Learnt(tuple(shown), tuple(shown), counts, alpha, scores, totals, total_alpha, {}, n_words)

    def compare(self, one: W, two: W, top: int = 20) -> list[LikelihoodRatio]:
        """Test all words together: which of them are in a row."""
        return [compare_words(*one.aligned(two), top)]

    def word_terms(
        self,
        labels: Sequence[Label],
        numbers: Index,
        occurrences: Floats,
        form: LogLinear,
        cells: Cells,
        totals: Floats,
        pair: Pair,
        alpha: Floats,
        total_alpha: Floats,
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
        alpha, total_alpha
            The pseudo-counts of the words, (word, 2) or (word, 1), and of all words together, (2,) or (1,).
        """
        sums = cells.sums[1 if self.counts_presence else 0]
        counts = np.stack([values_in_class(cells, c, numbers, sums) for c in pair], axis=1)
        of_all = np.broadcast_to(totals[list(pair)], counts.shape)
        beta = None
        if self.is_likelihood:
            n, n_of_all = counts, of_all
            if not of_all.all():
                pooled = np.bincount(cells.index, sums, minlength=int(numbers.max(initial=-1)) + 1)[numbers]
                n, n_of_all = np.where(of_all == 0, pooled[:, None], n), np.where(of_all == 0, totals.sum(), of_all)
            beta = n + alpha, n_of_all + total_alpha
        is_bernoulli = self.event_model == "bernoulli"
        scores = (form.log_presence(numbers, True) if is_bernoulli else form.log_weights(numbers))[:, list(pair)]
        factor = None if self.counts_presence else occurrences
        return evidence.share_terms(labels, scores, counts, of_all, beta, occurrences, factor)


class TokenFamily(WordFamily[TokenCounts, TokenParameters]):
    """A family of columns of counts that is linear in the counts."""

    statistic = TokenCounts

    def log_likelihood(self, x: Numbers, parameters: TokenParameters, out: Floats, length: Lengths = None) -> None:
        """Add the linear form of each row."""
        parameters.form.add_to(out, x, length)

    def score_columns(self, x: Numbers, parameters: TokenParameters, out: Floats) -> None:
        """Add the count of each column times its weight."""
        for columns, piece in x.dense():
            counts = np.nan_to_num(piece.T[:, :, None].astype(np.float64))
            out[columns] += times(counts, parameters.form.log_weights(columns)[:, None])

    def linear(self, parameters: TokenParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return log θ_k,of − log θ_k,against of each token, and the difference of the offsets as bias."""
        return linear_part(parameters.form, [(name, None) for name in names], EVERY, (of, against))

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row without each of its tokens."""
        for token, number in zip(*(array.tolist() for array in row.nonzero()), strict=True):
            if number == number:
                yield from evidence.other_numbers_of(row, token, number, [0.0])


def linear_part(form: LogLinear, features: Iterable[Feature], tokens: Index | slice, pair: Pair) -> LinearPart:
    """Return the weights of tokens between two classes, and the difference of the offsets as bias."""
    first, second = form.score.offset[list(pair)].tolist()
    is_possible = form.forbidden is None or not form.forbidden.offset[list(pair)].any()
    return LinearPart.between(features, form.log_weights(tokens), pair, first - second if is_possible else np.nan)


def share_with_empty(cells: Cells, empty: Index) -> Cells:
    """Return cells in which the empty classes have those of all classes together."""
    if not len(empty) or not len(cells.index):
        return cells
    tokens, position = np.unique(cells.index, return_inverse=True)
    sums = np.stack([np.bincount(position, weights=channel) for channel in cells.sums])
    rows = np.bincount(position, weights=cells.rows).astype(np.int64)
    owner = np.concatenate([class_of_cells(cells), np.repeat(empty, len(tokens))])
    index = np.concatenate([cells.index, np.tile(tokens, len(empty))])
    all_sums = np.concatenate([cells.sums, np.tile(sums, len(empty))], axis=1)
    all_rows = np.concatenate([cells.rows, np.tile(rows, len(empty))])
    return cells_of_entries(owner, index, all_sums, all_rows, len(cells.indptr) - 1)
