"""Terms of token counts: Bernoulli (absence counts too), Multinomial and Complement.

    present:  x_k · (base_k + value_kc + constant_c)                        `families/linear_form.py`, (1)
    a coin:   log θ_jc if x_j = 1, log(1 − θ_jc) if x_j = 0                 `families/bernoulli.py`, (3)

Tokens that are not in the row add nothing to a Multinomial, and have no line. The coins that came up 0 have a line
each in a narrow block; in a wide one (a document-term matrix) they are one line together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively.data.views import is_sparse
from naively.families import Bernoulli, Complement, Multinomial, Presence
from naively.families.base import times
from naively.families.evidence import BlockTerms, Spread, Term, beta_spread, counts_of, shown_value, two
from naively.families.linear_form import LogLinear
from naively.families.multinomial import TokenParameters
from naively.priors import Dirichlet, pseudo_counts
from naively.schema.schema import Block
from naively.statistics import Numbers, TokenCounts
from naively.statistics.cells import class_sums

__all__ = ["CoinTerms", "TokenTerms", "absent_scores", "coin_scores", "in_class", "scores_at"]

NARROW = 256  # coins that came up 0 are listed one by one in blocks up to this many columns


def scores_at(form: LogLinear, tokens: NDArray[np.intp]) -> NDArray[np.float64]:
    """log θ of some tokens, (token, class): −inf where impossible, 0 for what is unknown."""
    score = form.score.at(tokens)
    if form.forbidden is not None:
        score = np.where(form.forbidden.at(tokens) > 0.5, -np.inf, score)
    return np.where(np.isnan(form.score.base[tokens])[:, None], 0.0, score)


def coin_scores(form: LogLinear, coins: NDArray[np.intp], up: bool) -> NDArray[np.float64]:
    """log θ (up) or log(1 − θ) of some coins, (coin, class); 0 for a coin never seen."""
    assert form.absent is not None
    score = -form.absent.score.at(coins)
    never = np.zeros_like(score)
    if form.absent.forbidden is not None:
        never -= form.absent.forbidden.at(coins)
    if up:
        score = score + form.score.at(coins)
        if form.forbidden is not None:
            never += form.forbidden.at(coins)
    score = np.where(never > 0.5, -np.inf, score)
    return np.where(np.isnan(form.score.base[coins])[:, None], 0.0, score)


def absent_scores(form: LogLinear, other: NDArray[np.intp]) -> NDArray[np.float64]:
    """Σ log(1 − θ) over all coins but the `other` ones, per class."""
    assert form.absent is not None
    known = other[~np.isnan(form.score.base[other])]
    score = form.score.offset + form.absent.score.at(known).sum(axis=0)
    if form.forbidden is None or form.absent.forbidden is None:
        return np.asarray(score)
    never = form.forbidden.offset + form.absent.forbidden.at(known).sum(axis=0)
    return np.where(never > 0.5, -np.inf, score)


def in_class(cells: Cells, c: int, tokens: NDArray[np.intp], values: NDArray[Any]) -> NDArray[np.float64]:
    """One number per cell of a class for some tokens, 0 where there is no cell."""
    start, stop = int(cells.indptr[c]), int(cells.indptr[c + 1])
    if start == stop:
        return np.zeros(len(tokens))
    at = start + np.minimum(np.searchsorted(cells.index[start:stop], tokens), stop - start - 1)
    return np.where(cells.index[at] == tokens, values[at], 0.0)


def row_of(x: Numbers, row: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The columns of a row that are not zero (or missing), and their numbers."""
    places, numbers = [], []
    for place, piece in x.placed():
        if is_sparse(piece):
            line = piece[[row]].tocoo()
            found = (np.asarray(line.coords[1]), np.asarray(line.data))
        else:
            found = (np.flatnonzero(piece[row] != 0), piece[row][piece[row] != 0])
        places.append(found[0] + place.start)
        numbers.append(found[1].astype(np.float64))
    order = np.concatenate(places).astype(np.intp) if places else np.zeros(0, np.intp)
    return order, np.concatenate(numbers) if numbers else np.zeros(0)


@dataclass(frozen=True, eq=False)
class TokenTerms(BlockTerms):
    """Multinomial and Complement: a term for each token in the row."""

    block: Block
    counts: TokenCounts
    fitted: TokenParameters
    x: Numbers
    classes: tuple[Any, ...]

    @cached_property
    def every(self) -> NDArray[np.float64]:
        """All occurrences of all tokens, per class."""
        return class_sums(self.counts.cells, 0)

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""
        tokens, numbers = row_of(self.x, row)
        known = ~np.isnan(self.fitted.form.score.base[tokens])
        scores = scores_at(self.fitted.form, tokens)[:, [of, against]]
        cells = self.counts.cells
        counted = [in_class(cells, c, tokens, cells.sums[0]) for c in (of, against)]
        every = self.every
        low, high = self._spread(tokens, counted, every, of, against)
        terms = []
        for i, (token, x) in enumerate(zip(tokens.tolist(), numbers.tolist(), strict=True)):
            name = self.block.names[token]
            if x != x:
                terms.append(Term(name, None, "missing", note="missing"))
                continue
            value, shown = shown_value(x, "number")
            if not known[i]:
                terms.append(Term(name, value, shown, count=x, note="never seen in training"))
                continue
            behind = counts_of([n[i] for n in counted], every[[of, against]])
            spread = x * float(low[i]), x * float(high[i])
            terms.append(Term(name, value, shown, two(x * scores[i]), x, behind, spread))
        return terms

    def _spread(
        self,
        tokens: NDArray[np.intp],
        counted: list[NDArray[np.float64]],
        every: NDArray[np.float64],
        of: int,
        against: int,
    ) -> Spread:
        """Of a Dirichlet; complement evidence is no likelihood, and has none."""
        family = self.block.family
        if isinstance(family, Complement):
            return np.full(len(tokens), np.nan), np.full(len(tokens), np.nan)
        assert isinstance(family, Multinomial)
        named = isinstance(family.alpha, Dirichlet)
        alpha = pseudo_counts(family.alpha, self.counts.tokens if named else range(self.counts.n_tokens), self.classes)
        alpha = np.broadcast_to(alpha if alpha.ndim else alpha[None], (self.counts.n_tokens, *alpha.shape[1:]))
        ends = []
        for n, c in zip(counted, (of, against), strict=True):
            own = alpha[:, c] if alpha.ndim == 2 else alpha
            if every[c] == 0:  # a class without a token has taken the counts of all
                cells = self.counts.cells
                n = np.bincount(cells.index, cells.sums[0], self.counts.n_tokens)[tokens].astype(np.float64)
            ends += [n + own[tokens], np.full(len(tokens), (every[c] or every.sum()) + own.sum())]
        return beta_spread(*ends)


@dataclass(frozen=True, eq=False)
class CoinTerms(BlockTerms):
    """Bernoulli: a term for each column, or one for all that are 0 in a wide block."""

    block: Block
    counts: TokenCounts
    fitted: TokenParameters
    x: Numbers
    weight: NDArray[np.float64] | None  # of each column, for the line of all that are 0

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes; the line of all that are 0 has its weight in it."""
        coins, numbers = row_of(self.x, row)
        gaps = coins[np.isnan(numbers)]
        ones = coins[~np.isnan(numbers)]
        found = [Term(self.block.names[k], None, "missing", note="missing") for k in gaps.tolist()]
        found += self._coins(ones, True, of, against)
        n = self.counts.n_tokens
        if n <= NARROW:
            zeros = np.setdiff1d(np.arange(n), coins)
            return found + self._coins(zeros, False, of, against)
        rest = self._absent(coins)[[of, against]]
        gone = "without a value" if isinstance(self.block.family, Presence) else "that are 0"
        name = f"{n - len(coins)} columns {gone}"
        return [*found, Term(name, 0, "0", two(rest), count=0.0, note="together")]

    def _absent(self, coins: NDArray[np.intp]) -> NDArray[np.float64]:
        """The weighted evidence of all coins but these."""
        if self.weight is None:
            return absent_scores(self.fitted.form, coins)
        if len(set(self.weight.tolist())) == 1:
            return times(self.weight[0], absent_scores(self.fitted.form, coins))
        zeros = np.setdiff1d(np.arange(self.counts.n_tokens), coins)
        return np.asarray(times(self.weight[zeros, None], coin_scores(self.fitted.form, zeros, False)).sum(axis=0))

    def _coins(self, coins: NDArray[np.intp], up: bool, of: int, against: int) -> list[Term]:
        form = self.fitted.form
        scores = coin_scores(form, coins, up)[:, [of, against]]
        known = ~np.isnan(form.score.base[coins])
        counted = [self._counts(coins, c) for c in (of, against)]
        low, high = self._spread(coins, up, counted)
        terms = []
        for i, coin in enumerate(coins.tolist()):
            value, shown = shown_value(float(up), self.block.kind(coin))
            if isinstance(self.block.family, Presence):
                value, shown = up, "has a value" if up else "missing, as evidence"
            if not known[i]:
                terms.append(Term(self.block.names[coin], value, shown, note="never seen in training"))
                continue
            behind = counts_of([(n if up else all_ - n)[i] for n, all_ in counted], [all_[i] for _, all_ in counted])
            spread = float(low[i]), float(high[i])
            terms.append(Term(self.block.names[coin], value, shown, two(scores[i]), 1.0, behind, spread))
        return terms

    def _counts(self, coins: NDArray[np.intp], c: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows of a class with a one, and with any value; those of all classes if it has none."""
        cells, missing, seen = self.counts.cells, self.counts.missing, self.counts.seen
        ones, gaps = in_class(cells, c, coins, cells.sums[-1]), in_class(missing, c, coins, missing.sums[0])
        there = seen.rows[c] - in_class(missing, c, coins, missing.rows) > 0
        n = self.counts.n_tokens
        every_one = np.bincount(cells.index, cells.sums[-1], n)[coins]
        every = seen.weight.sum() - np.bincount(missing.index, missing.sums[0], n)[coins]
        return np.where(there, ones, every_one), np.where(there, seen.weight[c] - gaps, every)

    def _spread(
        self, coins: NDArray[np.intp], up: bool, counted: list[tuple[NDArray[np.float64], NDArray[np.float64]]]
    ) -> Spread:
        family = self.block.family
        assert isinstance(family, Bernoulli)
        a, b = (np.broadcast_to(np.asarray(prior), self.counts.n_tokens)[coins] for prior in (family.a, family.b))
        ends = []
        for ones, every in counted:
            ends += [ones + a if up else every - ones + b, every + a + b]
        return beta_spread(*ends)
