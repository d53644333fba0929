"""Complement evidence: a class is judged by how badly the tokens fit all the other classes.

    θ̃_kc = (N_k − N_kc + α_k) / (N − N_c + Σ α)                             (1)
    evidence_c(x) = −Σ_k x_k log θ̃_kc                                       (2)
    with norm:  each class's weights log θ̃_kc divided by their sum of sizes (3)

Evidence, not a likelihood: it does not sample and has no marginal. A token that no training row had is zero evidence.
Source: Rennie, Shih, Teevan & Karger, Tackling the poor assumptions of naive Bayes text classifiers, ICML 2003.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively._kernels.types import Floats
from naively.data.kinds import Support
from naively.errors import InputError
from naively.families.base import EventModel, Family, Labels, Leaving, LinearPart
from naively.families.evidence import Alternative, LikelihoodRatio, Pair, RowView, Term, WordShares, WordTable
from naively.families.leave_one_out.tokens import CountedTokens, TokenRows, WordScorer, leave_rows_out
from naively.families.linear_form import LogLinear, dense_form, sparse_form
from naively.families.multinomial import (
    Multinomial,
    TokenParameters,
    compare_token_counts,
    difference,
    frequent_tokens,
    token_alternatives,
    token_terms,
)
from naively.priors import Dirichlet, alpha_of, pseudo_counts
from naively.statistics import Numbers, TokenCounts
from naively.statistics.cells import class_sums, table_of_cells

__all__ = ["Complement", "complement_form"]


@dataclass(frozen=True)
class Complement(Family[TokenCounts, TokenParameters]):
    """Counts of tokens per row, judged against the other classes; good for unequal classes.

    >>> counts, label = np.array([[2, 1, 0], [0, 1, 1]]), np.array([0, 1])
    >>> stats = TokenCounts.count(counts, label, None, n_classes=2)
    >>> fitted = Complement(alpha=1).estimate(stats, classes=(0, 1))
    >>> np.exp(-fitted.form.weights(3)).T.round(3).tolist()       # class 0 is judged by the counts of class 1
    [[0.2, 0.4, 0.4], [0.5, 0.333, 0.167]]
    """

    alpha: Any = 1.0
    norm: bool = False
    unseen: Literal["ignore", "smooth"] = "ignore"
    fractional: bool = False

    statistic = TokenCounts
    joint = True
    has_length = True
    is_likelihood = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", alpha_of("alpha", self.alpha))
        if isinstance(self.alpha, Dirichlet) and self.alpha.per_class:
            raise InputError("Complement takes one alpha, or one per token; not one per class.")

    @property
    def support(self) -> Support:
        """Whole counts, unless fractions were asked for."""
        return "non-negative" if self.fractional else "count"

    def estimate(self, stats: TokenCounts, classes: Labels, structure: Any = None) -> TokenParameters:
        """Equation (1) as a linear form; dense if normalised by (3)."""
        alpha = self._alpha(stats, classes)
        every = np.ones(stats.n_tokens, dtype=np.bool_)
        make = _normed if self.norm else complement_form
        form = make(stats.cells, alpha, stats.known() if self.unseen == "ignore" else every, every)
        return TokenParameters(form, stats.n_tokens, np.zeros(stats.n_classes))

    def _alpha(self, stats: TokenCounts, classes: Labels) -> NDArray[np.float64]:
        """Pseudo-counts, (token,)."""
        named = isinstance(self.alpha, Dirichlet)
        alpha = pseudo_counts(self.alpha, stats.tokens if named else range(stats.n_tokens), classes)
        return np.broadcast_to(alpha, (stats.n_tokens,))

    def log_likelihood(
        self, x: Numbers, parameters: TokenParameters, out: Floats, length: Floats | None = None
    ) -> None:
        """Equation (2); in place of a log-likelihood."""
        parameters.form.add_to(out, x, length)

    def with_word_settings(self, event_model: EventModel, binary: bool, alpha: float) -> Family | None:
        """Return the same counts under another event model and smoothing."""
        return Multinomial(fractional=self.fractional).with_word_settings(event_model, binary, alpha)

    def word_scorer(self, x: Numbers, stats: TokenCounts, leaving: Leaving) -> WordScorer:
        """Read the counts once, to score them under many settings."""
        return WordScorer.of_counts(TokenRows.of_numbers(x), stats.cells, stats.n_tokens, leaving)

    def leave_one_out(
        self, x: Numbers, stats: TokenCounts, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Equation (1) without the row's tokens, which leave the counts of all *other* classes."""
        alpha = self._alpha(stats, classes)
        ignore = np.full(stats.n_tokens, self.unseen == "ignore")
        if self.norm and not (alpha > 0).all():
            raise InputError("Complement(norm=True) needs alpha > 0: a row that leaves may take the last of a token.")
        known = stats.known() | ~ignore
        tokens = CountedTokens(stats.cells, alpha, known, vanishes=ignore, alpha_vanishes_too=False)
        out[:, 0] += leave_rows_out(TokenRows.of_numbers(x), tokens, leaving, complement=True, normed=self.norm)

    def linear(self, parameters: TokenParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Weights −log θ̃_k,of + log θ̃_k,against; no bias."""
        return difference(parameters, names, of, against)

    def terms(self, row: RowView, stats: TokenCounts, parameters: TokenParameters, pair: Pair) -> list[Term]:
        """One term per token of the row, with its occurrences in each class."""
        return token_terms(row, stats, parameters, pair, alpha=None)

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
        """Refuse: there is no distribution to draw from."""
        raise InputError("Complement is evidence, not a likelihood: it cannot sample. Use Multinomial to sample.")


def complement_form(
    cells: Cells, alpha: NDArray[np.float64], known: NDArray[np.bool_], members: NDArray[np.bool_]
) -> LogLinear:
    """−log θ̃_kc = −log(N_k + α_k) + log(N − N_c + Σα) − log((N_k − N_kc + α_k)/(N_k + α_k)), over channel 0."""
    index = cells.index
    token = np.bincount(index, weights=cells.sums[0], minlength=len(alpha))
    whole = token + alpha
    base = np.where(known & (whole > 0), -np.log(np.where(whole > 0, whole, 1.0)), np.nan)
    rest = token.sum() - class_sums(cells, 0) + alpha[members].sum()
    constant = np.log(np.where(rest > 0, rest, 1.0))
    alone = np.bincount(index, minlength=len(alpha))[index] == 1  # no other class has the token
    others = np.where(alone & (alpha[index] == 0), 0.0, token[index] - cells.sums[0] + alpha[index])
    value = -np.log(np.where(others > 0, others, 1.0)) + np.log(whole[index])
    score = sparse_form(cells, value, base, constant)
    if (others > 0).all():
        return LogLinear(score)
    # A token that only class c has (α = 0) cannot come from the others: every other class is forbidden.
    only = (others <= 0).astype(np.float64)
    count = np.bincount(index, weights=only, minlength=len(alpha))
    return LogLinear(score, sparse_form(cells, -only, np.where(known, count, np.nan), np.zeros(len(constant))))


def _normed(
    cells: Cells, alpha: NDArray[np.float64], known: NDArray[np.bool_], members: NDArray[np.bool_]
) -> LogLinear:
    """Equation (3)."""
    table = table_of_cells(cells, len(alpha), cells.sums[0])
    others = (table.sum(axis=0) - table + alpha).T
    with np.errstate(divide="ignore"):
        logs = np.log(others) - np.log(others.sum(axis=0))
    if not np.isfinite(logs[known]).all():
        raise InputError("Complement(norm=True) needs alpha > 0: some token is in one class only.")
    logs = np.where(np.isfinite(logs) & members[:, None], logs, 0.0)
    return LogLinear(dense_form(logs / logs.sum(axis=0), known=known))
