"""Complement evidence: how badly the tokens of a row fit all the other classes.

    θ̃_kc = (N_k − N_kc + α_k) / (N − N_c + Σ α)                             (1)
    evidence_c(x) = −Σ_k x_k log θ̃_kc                                       (2)
    with norm:  each class's weights log θ̃_kc divided by their sum of sizes (3)

This is evidence, not a likelihood: it cannot sample and has no marginal. A token that no training row has is no
evidence.
Source: Rennie, Shih, Teevan & Karger, Tackling the poor assumptions of naive Bayes text classifiers, ICML 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from naively._kernels.cells import Cells
from naively._kernels.types import Array, Bools, Floats, Index
from naively.data.views import Numbers
from naively.errors import InputError
from naively.families.base import Labels, Leaving
from naively.families.linear_form import LogLinear, dense_form, sparse_form
from naively.families.multinomial import CountFamily
from naively.families.tokens import TokenParameters
from naively.priors import Dirichlet
from naively.statistics.cells import sum_by_class, table_of_cells
from naively.statistics.token_counts import TokenCounts


@dataclass(frozen=True)
class Complement(CountFamily):
    """Counts of tokens per row, compared with the other classes; good for classes of unequal size.

    Parameters
    ----------
    alpha
        The pseudo-count of each token: one number, one per token, or a mapping from token to number.
    norm
        Whether the weights of each class are divided by the sum of their sizes.
    unseen
        Whether a token that no training row has is ignored, or smoothed like all others.
    fractional
        Whether counts may be fractions.

    >>> counts, label = np.array([[2, 1, 0], [0, 1, 1]]), np.array([0, 1])
    >>> stats = TokenCounts.count(counts, label, None, n_classes=2)
    >>> fitted = Complement(alpha=1).estimate(stats, classes=(0, 1))
    >>> np.exp(-fitted.form.log_weights()).T.round(3).tolist()       # class 0 is judged by the counts of class 1
    [[0.2, 0.4, 0.4], [0.5, 0.333, 0.167]]
    """

    alpha: Any = 1.0
    norm: bool = False
    unseen: Literal["ignore", "smooth"] = "ignore"
    fractional: bool = False

    event_model = "complement"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.alpha, Dirichlet) and self.alpha.per_class:
            raise InputError("Complement takes one alpha, or one per token; not one per class.")

    def estimate(self, stats: TokenCounts, classes: Labels, structure: None = None) -> TokenParameters:
        """Estimate equation (1) as a linear form; dense if normalised by (3)."""
        every = np.ones(stats.n_tokens, dtype=np.bool_)
        make = _normed if self.norm else complement_form
        form = make(stats.cells, self.pseudo_counts(stats, classes), self.known(stats), every)
        return TokenParameters(form, np.zeros(stats.n_classes))

    def leave_one_out(
        self, x: Numbers, stats: TokenCounts, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (2) without the tokens of the row, which leave the counts of all *other* classes."""
        alpha = self.pseudo_counts(stats, classes)
        if self.norm and not (alpha > 0).all():
            raise InputError("Complement(norm=True) needs alpha > 0: a row that leaves may take the last of a token.")
        self.leave_tokens_out(x, stats, alpha, "normed complement" if self.norm else "complement", leaving, out)

    def sample(self, parameters: TokenParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Refuse: there is no distribution to draw from."""
        raise InputError("Complement is evidence, not a likelihood: it cannot sample. Use Multinomial to sample.")


def complement_form(cells: Cells, alpha: Floats, known: Bools, members: Bools) -> LogLinear:
    """Return −log θ̃_kc = −log(N_k + α_k) + log(N − N_c + Σα) − log((N_k − N_kc + α_k)/(N_k + α_k)), over channel 0."""
    index = cells.index
    token = np.bincount(index, weights=cells.sums[0], minlength=len(alpha))
    smoothed = token + alpha
    base = np.where(known & (smoothed > 0), -np.log(np.where(smoothed > 0, smoothed, 1.0)), np.nan)
    rest = token.sum() - sum_by_class(cells, cells.sums[0]) + alpha[members].sum()
    constant = np.log(np.where(rest > 0, rest, 1.0))
    alone = np.bincount(index, minlength=len(alpha))[index] == 1  # no other class has the token
    others = np.where(alone & (alpha[index] == 0), 0.0, token[index] - cells.sums[0] + alpha[index])
    value = -np.log(np.where(others > 0, others, 1.0)) + np.log(smoothed[index])
    score = sparse_form(cells, value, base, constant)
    if (others > 0).all():
        return LogLinear(score)
    # A token that only class c has (α = 0) cannot come from the others: every other class is forbidden.
    only = (others <= 0).astype(np.float64)
    count = np.bincount(index, weights=only, minlength=len(alpha))
    return LogLinear(score, sparse_form(cells, -only, np.where(known, count, np.nan), np.zeros(len(constant))))


def _normed(cells: Cells, alpha: Floats, known: Bools, members: Bools) -> LogLinear:
    """Return the weights of equation (3); 0 if there is one token only, whose logarithm is 0."""
    table = table_of_cells(cells, len(alpha), cells.sums[0])
    others = (table.sum(axis=0) - table + alpha).T
    with np.errstate(divide="ignore"):
        logs = np.log(others) - np.log(others.sum(axis=0))
    if not np.isfinite(logs[known]).all():
        raise InputError("Complement(norm=True) needs alpha > 0: some token is in no other class.")
    logs = np.where(np.isfinite(logs) & members[:, None], logs, 0.0)
    total = logs.sum(axis=0)
    return LogLinear(dense_form(logs / np.where(total < 0, total, 1.0), known))
