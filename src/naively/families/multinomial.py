"""Multinomial likelihood: the die of words. The columns of the block are the tokens, x_k counts token k in the row.

    x | c ~ Multinomial(L; θ_1c … θ_Kc),   L = Σ_k x_k                      (1)
    θ_kc = (N_kc + α_k) / (N_c + Σ α)                                       (2)
    log p(x | c) = Σ_k x_k log θ_kc   [+ log L! − Σ_k log x_k!]             (3)

N_kc are occurrences (`TokenCounts`), N_c = Σ_k N_kc. The coefficient in brackets is the same for all classes and
added only with `coefficient=True`. Scored without a dense table, by

    log θ_kc = log α_k − log(N_c + Σ α) + log(1 + N_kc/α_k)                 (4)

whose last term is zero unless N_kc is not. A token that no training row had is zero evidence
(`unseen="ignore"`), and not a vote for the class with the fewest words; `unseen="smooth"` lets (2) speak for it.
A class without a single token takes the counts of all classes together.
Source: documents 000, (18)–(23); 001; 002. McCallum & Nigam, A comparison of event models for naive Bayes text
classification, AAAI-98 workshop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively._kernels.token_logs import token_log_table, token_logs
from naively._kernels.types import Floats
from naively.data.kinds import Support
from naively.data.views import is_sparse
from naively.errors import InputError
from naively.families.base import EventModel, Family, Labels, Leaving, LinearPart
from naively.families.compare import compare_tokens
from naively.families.evidence import (
    Alternative,
    LikelihoodRatio,
    Pair,
    RowView,
    Spread,
    Term,
    WordShares,
    WordTable,
    beta_spread,
    counts_of_pair,
    format_value,
    missing_term,
    pair_of,
    unseen_term,
)
from naively.families.leave_one_out.tokens import CountedTokens, TokenRows, WordScorer, leave_rows_out
from naively.families.linear_form import LinearForm, LogLinear, dense_form, sparse_form, stays_sparse
from naively.priors import Dirichlet, alpha_of, pseudo_counts
from naively.statistics import Numbers, TokenCounts
from naively.statistics.cells import class_of_cells, class_sums, table_of_cells, values_in_class

__all__ = ["Multinomial", "TokenParameters", "difference", "lend_to_empty", "multinomial_form"]

MAX_WORD_COUNT = 3  # occurrences of a word that a nomogram marks


@dataclass(frozen=True, slots=True, eq=False)
class TokenParameters:
    """The log-linear form of the estimates, and what a sample needs: the mean length of a row per class."""

    form: LogLinear
    n_tokens: int
    mean_length: NDArray[np.float64]


@dataclass(frozen=True)
class Multinomial(Family[TokenCounts, TokenParameters]):
    """Counts of tokens per row, all columns of the block together.

    >>> counts, label = np.array([[2, 1, 0], [0, 1, 1]]), np.array([0, 1])
    >>> stats = TokenCounts.count(counts, label, None, n_classes=2)
    >>> fitted = Multinomial(alpha=1).estimate(stats, classes=(0, 1))
    >>> np.exp(fitted.form.weights(3)).T.round(3).tolist()       # (2+1)/(3+3) …, (0+1)/(2+3) …
    [[0.5, 0.333, 0.167], [0.2, 0.4, 0.4]]
    """

    alpha: Any = 1.0
    coefficient: bool = False
    unseen: Literal["ignore", "smooth"] = "ignore"
    fractional: bool = False

    statistic = TokenCounts
    joint = True
    has_length = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", alpha_of("alpha", self.alpha))

    @property
    def support(self) -> Support:
        """Whole counts, unless fractions were asked for."""
        return "non-negative" if self.fractional else "count"

    def estimate(self, stats: TokenCounts, classes: Labels, structure: Any = None) -> TokenParameters:
        """Equation (2) as a linear form, by (4) if alpha is one positive number."""
        alpha = self._alpha(stats, classes)
        every = np.ones(stats.n_tokens, dtype=np.bool_)
        form = multinomial_form(stats.cells, alpha, stats.known() if self.unseen == "ignore" else every, every)
        rows = np.maximum(stats.seen.weight, 1e-300)
        return TokenParameters(form, stats.n_tokens, class_sums(stats.cells, 0) / rows)

    def _alpha(self, stats: TokenCounts, classes: Labels) -> NDArray[np.float64]:
        """Pseudo-counts, (token,) or (token, class)."""
        named = isinstance(self.alpha, Dirichlet)
        alpha = pseudo_counts(self.alpha, stats.tokens if named else range(stats.n_tokens), classes)
        return np.broadcast_to(alpha, (stats.n_tokens,)) if alpha.ndim < 2 else alpha

    def log_likelihood(
        self, x: Numbers, parameters: TokenParameters, out: Floats, length: Floats | None = None
    ) -> None:
        """Equation (3)."""
        parameters.form.add_to(out, x, length)
        if self.coefficient:
            out += log_coefficient(x)[:, None]

    @property
    def tunes_words(self) -> bool:
        """Whether the smoothing is the default."""
        return self == Multinomial(fractional=self.fractional, missing=self.missing)

    def with_word_settings(self, event_model: EventModel, binary: bool, alpha: float) -> Family | None:
        """Return the same counts under another event model and smoothing."""
        if binary or event_model == "bernoulli":
            return None
        if event_model == "multinomial":
            return Multinomial(alpha=alpha, fractional=self.fractional)
        from naively.families.complement import Complement  # built on this module

        return Complement(alpha=alpha, fractional=self.fractional)

    def word_scorer(self, x: Numbers, stats: TokenCounts, leaving: Leaving) -> WordScorer:
        """Read the counts once, to score them under many settings."""
        return WordScorer.of_counts(TokenRows.of_numbers(x), stats.cells, stats.n_tokens, leaving)

    def leave_one_out(
        self, x: Numbers, stats: TokenCounts, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Equation (2) without the row's tokens; see `left_out_tokens`."""
        alpha = self._alpha(stats, classes)
        ignore = np.full(stats.n_tokens, self.unseen == "ignore")
        known = stats.known() | ~ignore
        tokens = CountedTokens(stats.cells, alpha, known, vanishes=ignore, alpha_vanishes_too=False)
        out[:, 0] += leave_rows_out(TokenRows.of_numbers(x), tokens, leaving)
        if self.coefficient:
            out[:, 0] += log_coefficient(x)[:, None]

    def linear(self, parameters: TokenParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Weights log θ_k,of − log θ_k,against; no bias."""
        return difference(parameters, names, of, against)

    def terms(self, row: RowView, stats: TokenCounts, parameters: TokenParameters, pair: Pair) -> list[Term]:
        """One term per token of the row, with its occurrences in each class."""
        return token_terms(row, stats, parameters, pair, self._alpha(stats, row.classes))

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """A row without each of its tokens."""
        return token_alternatives(row)

    def frequent_words(
        self, stats: TokenCounts, parameters: TokenParameters, names: Sequence[str], min_count: float
    ) -> WordTable:
        """The tokens that occur at least `min_count` times."""
        return frequent_tokens(stats, parameters, names, min_count)

    def word_shares(self, stats: TokenCounts) -> WordShares:
        """The counts of the tokens."""
        alpha = self.alpha if isinstance(self.alpha, float) else None
        return WordShares(stats.tokens.__getitem__, stats.n_tokens, stats.cells, stats.seen.weight, alpha)

    def compare(self, one: TokenCounts, two: TokenCounts, top: int = 20) -> list[LikelihoodRatio]:
        """Test all columns together: which tokens are in a row."""
        return [compare_token_counts(one, two, top)]

    def sample(
        self, parameters: TokenParameters, label: NDArray[np.intp], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Draw a length about the mean of the class (Poisson), then that many rolls of the die (1)."""
        probability = np.exp(parameters.form.weights(parameters.n_tokens)).T
        probability[:, np.isnan(parameters.form.score.base)] = 0.0
        probability /= np.maximum(probability.sum(axis=1, keepdims=True), 1e-300)
        length = generator.poisson(parameters.mean_length[label])
        rows = [generator.multinomial(n, probability[c]) for n, c in zip(length, label, strict=True)]
        return list(np.array(rows, dtype=np.int64).reshape(len(label), parameters.n_tokens).T)


def multinomial_form(
    cells: Cells, alpha: NDArray[np.float64], known: NDArray[np.bool_], members: NDArray[np.bool_]
) -> LogLinear:
    """Equation (2) as a linear form over the first channel of the cells.

    `members` are the tokens that share the probability (the K of Σα), `known` those that are evidence.
    """
    cells = lend_to_empty(cells, np.flatnonzero(np.diff(cells.indptr) == 0))
    if alpha.ndim == 2:
        return _by_class(cells, alpha, known, members)
    if len(cells.index) and alpha.strides == (0,) and alpha[0] > 0:
        return LogLinear(_by_one_alpha(cells, float(alpha[0]), known, members))
    return _by_token(cells, np.where(members, alpha, 0.0), known, members)


def lend_to_empty(cells: Cells, empty: NDArray[np.intp]) -> Cells:
    """Cells in which the empty classes have those of all classes together."""
    if not len(empty) or not len(cells.index):
        return cells
    tokens, place = np.unique(cells.index, return_inverse=True)
    sums = np.stack([np.bincount(place, weights=channel) for channel in cells.sums])
    rows = np.bincount(place, weights=cells.rows).astype(np.int64)
    owner = np.concatenate([class_of_cells(cells), np.repeat(empty, len(tokens))])
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(cells.indptr) - 1)
    return Cells(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([cells.index, np.tile(tokens, len(empty))])[order].astype(np.int32),
        np.ascontiguousarray(np.concatenate([cells.sums, np.tile(sums, len(empty))], axis=1)[:, order]),
        np.concatenate([cells.rows, np.tile(rows, len(empty))])[order],
    )


def _by_one_alpha(cells: Cells, alpha: float, known: NDArray[np.bool_], members: NDArray[np.bool_]) -> LinearForm:
    """Equation (4) with one α > 0 for all tokens, made in place; dense inside while that is small."""
    constant = -np.log(class_sums(cells, 0) + alpha * np.count_nonzero(members))
    base = np.where(known, np.log(alpha), np.nan)
    offset = np.zeros(len(constant))
    if stays_sparse(len(base), len(constant), len(cells.index)):
        return LinearForm(offset, constant, None, base, *token_logs(cells, len(base), alpha))
    return LinearForm(offset, constant, token_log_table(cells, base, alpha), base)


def _by_token(
    cells: Cells, alpha: NDArray[np.float64], known: NDArray[np.bool_], members: NDArray[np.bool_]
) -> LogLinear:
    """Equation (4); where α_k = 0, log N_kc − log(N_c + Σα), and forbidden where N_kc = 0."""
    positive = alpha > 0
    denominator = class_sums(cells, 0) + alpha.sum()
    constant = -np.log(np.where(denominator > 0, denominator, 1.0))
    own = alpha[cells.index]
    smooth = own > 0
    value = np.empty(len(own))
    value[smooth] = np.log1p(cells.sums[0][smooth] / own[smooth])
    value[~smooth] = np.log(cells.sums[0][~smooth])
    base = np.where(known, np.log(np.where(positive, alpha, 1.0)), np.nan)
    score = sparse_form(cells, value, base, constant)
    if positive[members].all():
        return LogLinear(score)
    zero = np.where(known, np.where(positive, 0.0, 1.0), np.nan)
    return LogLinear(score, sparse_form(cells, -zero[cells.index], zero, np.zeros(len(constant))))


def _by_class(
    cells: Cells, alpha: NDArray[np.float64], known: NDArray[np.bool_], members: NDArray[np.bool_]
) -> LogLinear:
    """Equation (2) as it stands, for pseudo-counts that differ between the classes."""
    smoothed = table_of_cells(cells, len(known), cells.sums[0]).T + np.where(members[:, None], alpha, 0.0)
    theta = smoothed / np.maximum(smoothed.sum(axis=0), 1e-300)
    score = dense_form(np.log(np.where(theta > 0, theta, 1.0)), known=known)
    if (theta[members] > 0).all():
        return LogLinear(score)
    return LogLinear(score, dense_form((theta == 0).astype(np.float64), known=known))


def log_coefficient(x: Numbers) -> NDArray[np.float64]:
    """log L! − Σ_k log x_k!, per row."""
    from scipy.special import gammaln

    length: Any = 0.0
    parts: Any = 0.0
    for piece in x.pieces:
        if is_sparse(piece):
            logs = piece.tocsr().astype(np.float64)
            length = length + np.asarray(logs.sum(axis=1)).ravel()
            logs.data = gammaln(logs.data + 1.0)
            parts = parts + np.asarray(logs.sum(axis=1)).ravel()
        else:
            counts = np.nan_to_num(piece.astype(np.float64))
            length = length + counts.sum(axis=1)
            parts = parts + gammaln(counts + 1.0).sum(axis=1)
    return np.asarray(gammaln(length + 1.0) - parts)


def token_terms(
    row: RowView, stats: TokenCounts, parameters: TokenParameters, pair: Pair, alpha: Floats | None
) -> list[Term]:
    """Return one term per token of a row; without `alpha` the evidence is not a likelihood and has no intervals."""
    tokens, numbers = row.nonzero()
    totals = row.cached("occurrences", lambda: class_sums(stats.cells, 0))

    def pseudo_counts_in(c: int) -> tuple[Floats, float]:
        column = np.zeros(0) if alpha is None else alpha[:, c] if alpha.ndim == 2 else alpha
        return column[tokens], float(column.sum())

    counts = [values_in_class(stats.cells, c, tokens, stats.cells.sums[0]) for c in pair]
    low = high = np.full(len(tokens), np.nan)
    if alpha is not None:
        low, high = token_spread(stats.cells, 0, tokens, counts, totals, pair, pseudo_counts_in)
    scores, is_unknown = parameters.form.log_weights(tokens)[:, list(pair)], parameters.form.is_unknown(tokens)
    terms = []
    for i, (token, x) in enumerate(zip(tokens.tolist(), numbers.tolist(), strict=True)):
        name = row.names[token]
        if x != x:
            terms.append(missing_term(name))
            continue
        value, shown = format_value(x, "number")
        if is_unknown[i]:
            terms.append(unseen_term(name, value, shown, x))
            continue
        counts_of_token = counts_of_pair([n[i] for n in counts], totals[list(pair)])
        interval = x * float(low[i]), x * float(high[i])
        terms.append(Term(name, value, shown, pair_of(x * scores[i]), x, counts_of_token, interval))
    return terms


def token_spread(
    cells: Cells,
    channel: int,
    tokens: NDArray[np.intp],
    counts: Sequence[Floats],
    totals: Floats,
    pair: Pair,
    pseudo_counts_in: Callable[[int], tuple[Floats, float]],
) -> Spread:
    """Return intervals of log θ_1 − log θ_2 of tokens, of which `counts` are in each of two classes.

    `pseudo_counts_in(c)` returns the pseudo-counts of the tokens and of all tokens in class c. A class without tokens
    has the counts of all classes.
    """
    ends = []
    for n, c in zip(counts, pair, strict=True):
        alpha, alpha_total = pseudo_counts_in(c)
        total = float(totals[c])
        if total == 0:
            pooled = np.bincount(cells.index, cells.sums[channel], minlength=int(tokens.max(initial=-1)) + 1)
            n, total = pooled[tokens].astype(np.float64), float(totals.sum())
        ends += [n + alpha, np.full(len(tokens), total + alpha_total)]
    return beta_spread(*ends)


def frequent_tokens(
    stats: TokenCounts, parameters: TokenParameters, names: Sequence[str], min_count: float
) -> WordTable:
    """Return the tokens that occur at least `min_count` times, with log θ."""
    form = parameters.form
    tokens = frequent_slots(stats.cells, form, min_count)
    words = tuple(names[k] for k in tokens.tolist())
    return WordTable(words, form.log_weights(tokens), form.score.offset, MAX_WORD_COUNT)


def frequent_slots(cells: Cells, form: LogLinear, min_count: float) -> NDArray[np.intp]:
    """Return the known tokens that occur at least `min_count` times in all classes together."""
    occurrences = np.bincount(cells.index, cells.sums[0], minlength=len(form.score.base))
    return np.flatnonzero((occurrences >= min_count) & ~np.isnan(form.score.base))


def compare_token_counts(one: TokenCounts, two: TokenCounts, top: int) -> LikelihoodRatio:
    """Test whether the same tokens are in the rows of two models."""
    one, two = one.aligned(two)
    used = np.union1d(one.cells.index, two.cells.index)
    names = [str(one.tokens[k]) for k in used.tolist()]
    return compare_tokens((one.cells, two.cells), (one.seen, two.seen), used, names, top)


def token_alternatives(row: RowView) -> Iterator[Alternative]:
    """Yield the row without each of its tokens."""
    for token, number in zip(*(array.tolist() for array in row.nonzero()), strict=True):
        if number == number:
            before, after = (format_value(n, row.kind(token))[0] for n in (number, 0.0))
            yield Alternative(row.names[token], before, after, after)


def difference(parameters: TokenParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
    """The linear part of the log-odds between two classes of any log-linear model of tokens."""
    weights = parameters.form.weights(parameters.n_tokens)
    offset = parameters.form.score.offset
    forbidden = parameters.form.forbidden
    if not np.isfinite(weights[:, [of, against]]).all() or (
        forbidden is not None and forbidden.offset[[of, against]].any()
    ):
        raise InputError(
            "linear() has no finite weights here: some probabilities are exactly zero (maximum likelihood). "
            "Smooth them (alpha > 0), or use log_odds(), which handles zeros."
        )
    return LinearPart(tuple(names), weights[:, of] - weights[:, against], float(offset[of] - offset[against]))
