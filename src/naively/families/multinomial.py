"""Multinomial likelihood: counts of tokens. The columns of the block are the tokens, x_k counts token k in the row.

    x | c ~ Multinomial(L; θ_1c … θ_Kc),   L = Σ_k x_k                      (1)
    θ_kc = (N_kc + α_k) / (N_c + Σ α)                                       (2)
    log p(x | c) = Σ_k x_k log θ_kc   [+ log L! − Σ_k log x_k!]             (3)

N_kc are occurrences (`TokenCounts`), N_c = Σ_k N_kc. The coefficient in brackets is the same for all classes; it is
added only with `coefficient=True`. (3) is computed without a dense table, by

    log θ_kc = log α_k − log(N_c + Σ α) + log(1 + N_kc/α_k)                 (4)

whose last term is zero where N_kc is. A token that no training row has is no evidence (`unseen="ignore"`); otherwise it
would favour the class with the fewest tokens. With `unseen="smooth"` (2) applies to it. A class without tokens takes
the counts of all classes together.
Source: McCallum & Nigam, A comparison of event models for naive Bayes text classification, AAAI-98 workshop; Manning,
Raghavan & Schütze, Introduction to Information Retrieval (2008), §13.2; documents 000, (18)–(23); 001; 002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from naively._kernels.cells import Cells, seen_tokens, token_log_table, token_logs
from naively._kernels.leave_one_out import Model
from naively._kernels.types import Array, Bools, Floats, Index
from naively.data.kinds import Kind, Support
from naively.data.views import Numbers
from naively.families import evidence
from naively.families.base import EventModel, Family, Labels, Leaving, Lengths
from naively.families.evidence import Pair, RowView, Term
from naively.families.learnt import Learnt
from naively.families.leave_one_out.tokens import TokenRows, WordScorer, leave_rows_out, token_cells
from naively.families.linear_form import LinearForm, LogLinear, dense_form, sparse_form, stays_sparse
from naively.families.scores import LinearScores
from naively.families.tokens import TokenFamily, TokenParameters, share_with_empty
from naively.priors import alpha_of
from naively.statistics.cells import sum_by_class, table_of_cells
from naively.statistics.token_counts import TokenCounts


class CountFamily(TokenFamily):
    """What Multinomial and Complement share: one distribution over the tokens, with pseudo-counts `alpha`."""

    joint = True
    has_length = True

    unseen: Literal["ignore", "smooth"]
    fractional: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", alpha_of("alpha", self.alpha))

    @property
    def support(self) -> Support:  # type: ignore[override]
        """Whole counts, unless fractions are allowed."""
        return "non-negative" if self.fractional else "count"

    def known(self, stats: TokenCounts) -> Bools:
        """Return which tokens are evidence: those that some row has, or all."""
        return seen_tokens(stats.cells.index, stats.n_tokens) | (self.unseen == "smooth")

    def leave_tokens_out(
        self, x: Numbers, stats: TokenCounts, alpha: Floats, model: Model, leaving: Leaving, out: Floats
    ) -> None:
        """Add the scores of rows without their tokens to `out`, (row, column, class)."""
        vanishes = np.full(stats.n_tokens, self.unseen == "ignore")
        tokens = token_cells(stats.cells, alpha, self.known(stats), vanishes, alpha_vanishes=False)
        leave_rows_out(TokenRows.of_numbers(x), tokens, leaving, model, out[:, 0])

    def word_scorer(self, x: Numbers, stats: TokenCounts, leaving: Leaving, structure: None = None) -> WordScorer:
        """Read the counts once, to score them under many settings."""
        return WordScorer.of_counts(TokenRows.of_numbers(x), stats.cells, stats.n_tokens, leaving)

    def with_word_settings(self, event_model: EventModel, binary: bool, alpha: float) -> Family | None:
        """Return the same counts under another event model and smoothing."""
        if binary or event_model == "bernoulli":
            return None
        if event_model == "multinomial":
            return Multinomial(alpha=alpha, fractional=self.fractional)
        from naively.families.complement import Complement  # built on this module

        return Complement(alpha=alpha, fractional=self.fractional)

    def column_scores(self, parameters: TokenParameters, names: Sequence[str], n_classes: int) -> list[LinearScores]:
        """Return log θ of each token as its slope; the coefficient is the same in all classes."""
        log_weights, is_known = parameters.form.log_weights(), ~parameters.form.is_unknown()
        is_impossible = np.isneginf(log_weights)
        slope, zeros = np.where(is_impossible, 0.0, log_weights), np.zeros(n_classes)
        return [
            LinearScores(zeros, slope[k], is_impossible[k], not self.fractional, bool(is_known[k]))
            for k in range(len(names))
        ]

    def learnt(
        self,
        stats: TokenCounts,
        parameters: TokenParameters,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return one token: its occurrences among all of the block, pseudo-count and log θ, in each class."""
        alpha = self.pseudo_counts(stats, classes)
        alpha = alpha if alpha.ndim == 2 else alpha[:, None]
        totals, numbers = sum_by_class(stats.cells, stats.cells.sums[0]), np.array([column])
        total_alpha = alpha[self.known(stats)].sum(axis=0)
        form, shown = parameters.form, ("each occurrence",)
        return self.learnt_words(numbers, shown, form, stats.cells, totals, alpha[numbers], total_alpha, 1)

    def terms(self, row: RowView, stats: TokenCounts, parameters: TokenParameters, pair: Pair) -> list[Term]:
        """Return one term per token of the row, with its occurrences in each class."""
        tokens, numbers = row.nonzero()
        known = np.flatnonzero(~(np.isnan(numbers) | parameters.form.is_unknown(tokens)))
        shown = [evidence.format_value(x, "number") for x in np.nan_to_num(numbers).tolist()]
        labels = [(row.names[k], *value) for k, value in zip(tokens.tolist(), shown, strict=True)]
        totals = row.cached("totals", lambda: sum_by_class(stats.cells, stats.cells.sums[0]))
        alpha = self.pseudo_counts(stats, row.classes)
        alpha = alpha[:, list(pair)] if alpha.ndim == 2 else alpha[:, None]
        words = [labels[i] for i in known.tolist()], tokens[known], numbers[known]
        prior = alpha[tokens[known]], alpha.sum(axis=0)
        known_terms = self.word_terms(*words, parameters.form, stats.cells, totals, pair, *prior)
        terms = [
            Term.missing(label[0]) if x != x else Term.unseen(*label, x)
            for label, x in zip(labels, numbers.tolist(), strict=True)
        ]
        for i, term in zip(known.tolist(), known_terms, strict=True):
            terms[i] = term
        return terms


@dataclass(frozen=True)
class Multinomial(CountFamily):
    """Counts of tokens per row, all columns of the block together.

    Parameters
    ----------
    alpha
        The pseudo-count of each token: one number, one per token, or a mapping from token (or class) to number.
    coefficient
        Whether to add the multinomial coefficient, which is the same for all classes.
    unseen
        Whether a token that no training row has is ignored, or smoothed like all others.
    fractional
        Whether counts may be fractions.

    >>> counts, label = np.array([[2, 1, 0], [0, 1, 1]]), np.array([0, 1])
    >>> stats = TokenCounts.count(counts, label, None, n_classes=2)
    >>> fitted = Multinomial(alpha=1).estimate(stats, classes=(0, 1))
    >>> np.exp(fitted.form.log_weights()).T.round(3).tolist()       # (2+1)/(3+3) …, (0+1)/(2+3) …
    [[0.5, 0.333, 0.167], [0.2, 0.4, 0.4]]
    """

    alpha: Any = 1.0
    coefficient: bool = False
    unseen: Literal["ignore", "smooth"] = "ignore"
    fractional: bool = False

    def estimate(self, stats: TokenCounts, classes: Labels, structure: None = None) -> TokenParameters:
        """Estimate equation (2) as a linear form, by (4) if alpha is one positive number."""
        every = np.ones(stats.n_tokens, dtype=np.bool_)
        form = multinomial_form(stats.cells, self.pseudo_counts(stats, classes), self.known(stats), every)
        rows = np.maximum(stats.seen.weight, 1e-300)
        return TokenParameters(form, sum_by_class(stats.cells, stats.cells.sums[0]) / rows)

    def log_likelihood(self, x: Numbers, parameters: TokenParameters, out: Floats, length: Lengths = None) -> None:
        """Add equation (3)."""
        super().log_likelihood(x, parameters, out, length)
        if self.coefficient:
            out += log_coefficient(x)[:, None]

    def score_columns(self, x: Numbers, parameters: TokenParameters, out: Floats) -> None:
        """Add the count of each column times its weight; the coefficient is in the first column."""
        super().score_columns(x, parameters, out)
        if self.coefficient:
            out[0] += log_coefficient(x)[:, None]

    def leave_one_out(
        self, x: Numbers, stats: TokenCounts, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (3) without the tokens of the row."""
        self.leave_tokens_out(x, stats, self.pseudo_counts(stats, classes), "multinomial", leaving, out)
        if self.coefficient:
            out[:, 0] += log_coefficient(x)[:, None]

    @property
    def tunes_words(self) -> bool:
        """Whether the smoothing is the default."""
        return self == Multinomial(fractional=self.fractional, missing=self.missing)

    def sample(self, parameters: TokenParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw a length about the mean of the class (Poisson), then as many tokens by (1)."""
        probability = np.exp(parameters.form.log_weights()).T
        probability[:, parameters.form.is_unknown()] = 0.0
        probability /= np.maximum(probability.sum(axis=1, keepdims=True), 1e-300)
        length = generator.poisson(parameters.mean_length[label])
        rows = [generator.multinomial(n, probability[c]) for n, c in zip(length, label, strict=True)]
        return list(np.array(rows, dtype=np.int64).reshape(len(label), probability.shape[1]).T)


def multinomial_form(cells: Cells, alpha: Floats, known: Bools, members: Bools) -> LogLinear:
    """Return equation (2) as a linear form over the first channel of the cells.

    `members` are the tokens that share the probability (the K of Σα), `known` those that are evidence.
    """
    cells = share_with_empty(cells, np.flatnonzero(np.diff(cells.indptr) == 0))
    if alpha.ndim == 2:
        return _by_class(cells, alpha, known, members)
    if len(cells.index) and alpha.strides == (0,) and alpha[0] > 0:
        return LogLinear(_by_one_alpha(cells, float(alpha[0]), known, members))
    return _by_token(cells, np.where(members, alpha, 0.0), known, members)


def _by_one_alpha(cells: Cells, alpha: float, known: Bools, members: Bools) -> LinearForm:
    """Return equation (4) with one α > 0 for all tokens; as a dense table while that is small."""
    constant = -np.log(sum_by_class(cells, cells.sums[0]) + alpha * np.count_nonzero(members))
    base = np.where(known, np.log(alpha), np.nan)
    offset = np.zeros(len(constant))
    if stays_sparse(len(base), len(constant), len(cells.index)):
        return LinearForm(offset, constant, None, base, *token_logs(cells, len(base), alpha))
    return LinearForm(offset, constant, token_log_table(cells, base, alpha), base)


def _by_token(cells: Cells, alpha: Floats, known: Bools, members: Bools) -> LogLinear:
    """Return equation (4); where α_k = 0, log N_kc − log(N_c + Σα), and forbidden where N_kc = 0."""
    positive = alpha > 0
    denominator = sum_by_class(cells, cells.sums[0]) + alpha.sum()
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


def _by_class(cells: Cells, alpha: Floats, known: Bools, members: Bools) -> LogLinear:
    """Return equation (2) directly, for pseudo-counts that differ between the classes."""
    smoothed = table_of_cells(cells, len(known), cells.sums[0]).T + np.where(members[:, None], alpha, 0.0)
    theta = smoothed / np.maximum(smoothed.sum(axis=0), 1e-300)
    score = dense_form(np.log(np.where(theta > 0, theta, 1.0)), known)
    if (theta[members] > 0).all():
        return LogLinear(score)
    return LogLinear(score, dense_form((theta == 0).astype(np.float64), known))


def log_coefficient(x: Numbers) -> Floats:
    """Return log L! − Σ_k log x_k! of each row."""
    from scipy.special import gammaln

    row, _, count = evidence.nonzero_entries(x)
    count, n_rows = np.nan_to_num(count), x.pieces[0].shape[0]
    length, parts = (np.bincount(row, weights, n_rows) for weights in (count, gammaln(count + 1.0)))
    return np.asarray(gammaln(length + 1.0) - parts)
