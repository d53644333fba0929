"""Leave-one-out for a Bernoulli model of words, in which every absent word counts.

    score_c = Σ_k log(1 − θ_kc) + Σ_{k in the row} log θ_kc − log(1 − θ_kc)                             (1)
    θ_kc = (D_kc + α) / (D_c + 2α)                                                                      (2)

Without the row, D_y of its own class is smaller by w, and with it the first sum over all words; but that sum is the
same for all rows of a class and weight, so it is taken once for each of these. The words of the row are corrected
one by one, and a word that only the row had leaves both sums of every class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.families.base import Leaving
from naively.families.leave_one_out.tokens import Entries, Left, Tokens
from naively.families.linear_form import LogLinear
from naively.statistics import ClassWeights

__all__ = ["coins_left_out"]

Floats = NDArray[np.float64]


def coins_left_out(
    entries: Entries, tokens: Tokens, seen: ClassWeights, form: LogLinear, leaving: Leaving, there: NDArray[np.bool_]
) -> Floats:
    """Equation (1), (row, class); zeros for a text that is not `there`. `form` is that of all counts."""
    found = Left.of(entries, tokens, leaving)
    kept, gone = found.entries.where(found.keep), found.entries.where(~found.keep)
    score = np.zeros((entries.n_rows, seen.n_classes))
    form.add_to(score, kept.matrix(len(tokens.known)))
    alpha = float(tokens.alpha[0]) if len(tokens.alpha) else 0.0
    blank, _ = _log_share(seen.weight + alpha, seen.weight + 2 * alpha)
    score -= np.bincount(gone.row, minlength=entries.n_rows)[:, None] * blank
    coins = _Coins.of(tokens, seen, alpha)
    everyone = np.full(entries.n_rows, seen.n_classes)  # the class after the last is all of them together
    for c in np.flatnonzero(seen.rows == 0):
        score[:, c] = coins.scores(found, everyone, leaving)
    own = np.where(seen.rows[leaving.label] - leaving.rows > 0, leaving.label, everyone)
    score[np.arange(entries.n_rows), leaving.label] = coins.scores(found, own, leaving)
    return np.where(there[:, None], score, 0.0)


def _log_share(part: Floats, whole: Floats) -> tuple[Floats, Floats]:
    """log(part / whole), and 1 where the part is none and the logarithm is given as 0."""
    possible = part > 0
    logs = np.log(np.where(possible, part, 1.0)) - np.log(np.where(possible, whole, 1.0))
    return logs, (~possible).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Coins:
    """Texts with each word in each class, and in all classes together as one class more."""

    indptr: NDArray[np.int64]
    index: NDArray[np.intp]
    ones: Floats
    rows: NDArray[np.int64]
    weight: Floats  # (class + 1,): all texts
    texts: NDArray[np.int64]
    known: NDArray[np.bool_]
    alpha: float

    @classmethod
    def of(cls, tokens: Tokens, seen: ClassWeights, alpha: float) -> _Coins:
        """Add the class of all classes together."""
        cells, n = tokens.cells, len(tokens.known)
        pooled = np.bincount(cells.index, weights=cells.sums[0], minlength=n)
        pooled_rows = np.bincount(cells.index, weights=cells.rows, minlength=n).astype(np.int64)
        used = np.flatnonzero(pooled_rows)
        return cls(
            np.append(cells.indptr, cells.indptr[-1] + len(used)),
            np.concatenate([cells.index.astype(np.intp), used]),
            np.concatenate([cells.sums[0], pooled[used]]),
            np.concatenate([cells.rows, pooled_rows[used]]),
            np.append(seen.weight, seen.weight.sum()),
            np.append(seen.rows, seen.rows.sum()),
            tokens.known,
            alpha,
        )

    def scores(self, found: Left, which: NDArray[np.intp], leaving: Leaving) -> Floats:
        """Equation (1) of each row under one class each, without the row."""
        keys = np.stack([which.astype(np.float64), leaving.weight, leaving.rows.astype(np.float64)])
        groups, place = np.unique(keys, axis=1, return_inverse=True)
        place = place.ravel()
        score, impossible = np.zeros(len(which)), np.zeros(len(which))
        ones = np.where(which[found.entries.row] == len(self.weight) - 1, found.pooled, found.left)
        for g, (c, weight, rows) in enumerate(groups.T):
            mine, part = place == g, place[found.entries.row] == g
            chosen, kept = found.entries.where(part), found.keep[part]
            absent, barred = self._absent(int(c), float(weight), int(rows))
            present, no_one = self._present(int(c), chosen.token, ones[part])
            change = np.where(kept, present, 0.0) - absent[chosen.token]
            score[mine] = absent.sum() + chosen.sum_by_row(change)[mine]
            impossible[mine] = barred.sum() + chosen.sum_by_row(kept * no_one - barred[chosen.token])[mine]
        return np.where(impossible > 0.5, -np.inf, score)

    def _cells(self, c: int) -> tuple[NDArray[np.intp], Floats, NDArray[np.int64]]:
        own = slice(int(self.indptr[c]), int(self.indptr[c + 1]))
        return self.index[own], self.ones[own], self.rows[own]

    def _absent(self, c: int, weight: float, rows: int) -> tuple[Floats, Floats]:
        """log(1 − θ_kc) of every known word, and whether its absence is impossible, in a class less one text."""
        index, ones, with_word = self._cells(c)
        texts = self.texts[c] - rows
        whole = self.weight[c] - weight if texts > 0 else 0.0
        zeros, total = np.full(len(self.known), whole), np.full(len(self.known), whole)
        zeros[index] = np.where(texts - with_word > 0, whole - ones, 0.0)
        total[index] = ones + zeros[index]
        logs, barred = _log_share(zeros + self.alpha, total + 2 * self.alpha)
        return np.where(self.known, logs, 0.0), np.where(self.known, barred, 0.0)

    def _present(self, c: int, token: NDArray[np.intp], ones: Floats) -> tuple[Floats, Floats]:
        """log θ_kc of words of the row, and whether they are impossible; texts without the word stay as they were."""
        index, counted, with_word = self._cells(c)
        zeros = np.full(len(self.known), self.weight[c])
        zeros[index] = np.where(self.texts[c] - with_word > 0, self.weight[c] - counted, 0.0)
        return _log_share(ones + self.alpha, ones + zeros[token] + 2 * self.alpha)
