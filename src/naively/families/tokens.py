"""What the families of tokens share: Multinomial, Complement and Bernoulli over columns, and Text over words.

All of them score a row by a linear form of its counts (`linear_form.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from naively._kernels import Cells
from naively._kernels.types import Floats, Index
from naively.data.views import Numbers
from naively.errors import InputError
from naively.families import evidence
from naively.families.base import Family, Lengths, LinearPart
from naively.families.compare import compare_tokens
from naively.families.evidence import Alternative, LikelihoodRatio, Pair, RowView, Term
from naively.families.linear_form import LogLinear
from naively.statistics.cells import class_of_cells, values_in_class
from naively.statistics.token_counts import TokenCounts

MAX_WORD_COUNT = 3  # occurrences of a word that a nomogram marks


@dataclass(frozen=True, slots=True, eq=False)
class TokenParameters:
    """The log-linear form of the estimates, and the mean length of a row per class, for samples."""

    form: LogLinear
    n_tokens: int
    mean_length: Floats


class TokenFamily(Family[TokenCounts, TokenParameters]):
    """A family of columns of counts that is linear in the counts."""

    statistic = TokenCounts

    def log_likelihood(self, x: Numbers, parameters: TokenParameters, out: Floats, length: Lengths = None) -> None:
        """Add the linear form of each row."""
        parameters.form.add_to(out, x, length)

    def linear(self, parameters: TokenParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return log θ_k,of − log θ_k,against of each token, and the difference of the offsets as bias."""
        weights, form = parameters.form.weights(parameters.n_tokens), parameters.form
        pair, offset = [of, against], form.score.offset
        never = form.forbidden is not None and form.forbidden.offset[pair].any()
        if never or not np.isfinite(weights[:, pair]).all():
            raise InputError(
                "linear() has no finite weights here: some probabilities are exactly zero (maximum likelihood). "
                "Smooth them (alpha > 0), or use log_odds(), which handles zeros."
            )
        return LinearPart(tuple(names), weights[:, of] - weights[:, against], float(offset[of] - offset[against]))

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """Yield the row without each of its tokens."""
        for token, number in zip(*(array.tolist() for array in row.nonzero()), strict=True):
            if number == number:
                before, after = (evidence.format_value(n, row.kind(token))[0] for n in (number, 0.0))
                yield Alternative(row.names[token], before, after, after)

    def compare(self, one: TokenCounts, two: TokenCounts, top: int = 20) -> list[LikelihoodRatio]:
        """Test all columns together: which tokens are in a row."""
        one, two = one.aligned(two)
        used = np.union1d(one.cells.index, two.cells.index)
        names = [str(one.tokens[k]) for k in used.tolist()]
        return [compare_tokens((one.cells, two.cells), (one.seen, two.seen), used, names, top)]


class Entry(NamedTuple):
    """A token of a row: what an explanation calls it, and how often it counts and occurs."""

    column: str
    value: Any
    shown: str
    factor: float
    occurrences: float


class TokenEvidence(NamedTuple):
    """What was counted of tokens, for their terms: a channel of cells, and the sum of it that shares are parts of."""

    cells: Cells
    channel: int
    totals: Floats  # per class

    def terms(
        self,
        entries: Sequence[Entry],
        tokens: Index,
        scores: Floats,
        pair: Pair,
        pseudo_counts_in: Callable[[int], tuple[Floats, float]] | None,
    ) -> list[Term]:
        """Return one term per entry.

        Parameters
        ----------
        entries
            The tokens as they are shown.
        tokens
            The number of each token.
        scores
            log θ of each token, (token, class).
        pair
            The two classes.
        pseudo_counts_in
            Returns the pseudo-counts of the tokens and of all tokens in a class; None if the evidence is not a
            likelihood, which has no intervals.
        """
        cells, of_pair = self.cells, list(pair)
        counts = [values_in_class(cells, c, tokens, cells.sums[self.channel]) for c in pair]
        low = high = np.full(len(tokens), np.nan)
        if pseudo_counts_in is not None:
            low, high = self._spread(tokens, counts, pair, pseudo_counts_in)
        terms = []
        for i, (column, value, shown, factor, count) in enumerate(entries):
            counts_of_token = evidence.counts_of_pair([n[i] for n in counts], self.totals[of_pair])
            interval = factor * float(low[i]), factor * float(high[i])
            score = evidence.pair_of(factor * scores[i, of_pair])
            terms.append(Term(column, value, shown, score, count, counts_of_token, interval))
        return terms

    def _spread(
        self,
        tokens: Index,
        counts: Sequence[Floats],
        pair: Pair,
        pseudo_counts_in: Callable[[int], tuple[Floats, float]],
    ) -> evidence.Spread:
        """Return intervals of log θ_1 − log θ_2; a class without tokens has the counts of all classes."""
        ends = []
        for n, c in zip(counts, pair, strict=True):
            alpha, alpha_total = pseudo_counts_in(c)
            total = float(self.totals[c])
            if total == 0:
                sums = self.cells.sums[self.channel]
                pooled = np.bincount(self.cells.index, sums, minlength=int(tokens.max(initial=-1)) + 1)
                n, total = pooled[tokens].astype(np.float64), float(self.totals.sum())
            ends += [n + alpha, np.full(len(tokens), total + alpha_total)]
        return evidence.beta_spread(*ends)


def frequent_tokens(cells: Cells, form: LogLinear, min_count: float) -> Index:
    """Return the known tokens that occur at least `min_count` times in all classes together."""
    occurrences = np.bincount(cells.index, cells.sums[0], minlength=len(form.score.base))
    return np.flatnonzero((occurrences >= min_count) & ~np.isnan(form.score.base))


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
