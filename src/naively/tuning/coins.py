"""What the words that a text lacks say, as coins: the other half of equation (3) of `words.py`.

    s_c = Σ_k log(D_c − D_kc + α) − K log(D_c + 2α) + Σ_{k in the row} log(D_kc + α) − log(D_c − D_kc + α)        (1)

The last sum, over the words of a row, is the core's (`core/left_out.hpp`). The first, over all words, is the same for
all rows of a class and weight: without the row, D_y is less by w, and so is every D_y − D_ky of a word that it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from naively.statistics import Texts, WordCounts
from naively.statistics.cells import class_of_cells

__all__ = ["Coins"]

Floats = NDArray[np.float64]
FEW = 2**22  # logarithms to take for one alpha


@dataclass(frozen=True, slots=True, eq=False)
class Coins:
    """How many texts of each class there are, and how many words are in so many of them."""

    tossed: Floats  # D_c
    owner: NDArray[np.intp]
    heads: Floats  # D_kc of some words of the class `owner`
    n_words: Floats  # how many words they are
    n_known: int  # K
    there: NDArray[np.bool_]  # which rows have a text

    @classmethod
    def of(cls, view: Texts, statistic: WordCounts, n_known: int) -> Coins | None:
        """Words of a class that are in as many texts are looked at together; None if some class has no text."""
        cells, tossed = statistic.cells, statistic.seen.weight
        if not (tossed > 0).all():
            return None
        heads, n_words = cells.sums[1], np.ones(len(cells.index))
        most, whole = int(tossed.max()) + 2, heads.astype(np.intp)
        if most * len(tossed) <= max(FEW, 4 * len(heads)) and (whole == heads).all():
            table = np.stack([np.bincount(whole[a:b], minlength=most) for a, b in pairwise(cells.indptr.tolist())])
            owner, place = np.nonzero(table)
            heads, n_words = place.astype(np.float64), table[owner, place].astype(np.float64)
        else:
            owner = class_of_cells(cells).astype(np.intp)
        return cls(tossed, owner, heads, n_words, n_known, ~Texts.missing(view.columns[0]))

    def few(self, leaving: Floats) -> bool:
        """Whether the logarithms are few enough to be taken for every weight that leaves."""
        return len(self.heads) * (1 + len(np.unique(leaving))) <= FEW

    def _absent(self, alpha: float, without: float) -> Floats:
        """The first two sums of (1), of each class, with D_c less by some weight."""
        tossed, n_classes = self.tossed - without, len(self.tossed)
        some = self.n_words * _log_tails(tossed[self.owner] - self.heads, alpha)
        never = self.n_known - np.bincount(self.owner, self.n_words, n_classes)
        absent = np.bincount(self.owner, some, n_classes) + never * _log_tails(tossed, alpha)
        return np.asarray(absent - self.n_known * np.log(np.maximum(tossed, 0.0) + 2 * alpha))

    def with_absent(
        self, there: Floats, alpha: float, label: NDArray[np.int32], leaving: Floats, lost: Floats
    ) -> Floats:
        """Equation (1), from what the words that are there say; `lost` words leave the K with each row."""
        rows, own = np.arange(len(label)), self.tossed[label]
        score = there + self._absent(alpha, 0.0)
        score -= lost[:, None] * (np.log(self.tossed + alpha) - np.log(self.tossed + 2 * alpha))
        weights, place = np.unique(leaving, return_inverse=True)
        absent = np.stack([self._absent(alpha, w) for w in weights])[place, label]
        gone = _log_tails(own - 2 * leaving, alpha) - np.log(np.maximum(own - leaving, 0.0) + 2 * alpha)
        score[rows, label] = there[rows, label] + absent - lost * gone
        return np.where(self.there[:, None], score, 0.0)


def _log_tails(tails: Floats, alpha: float) -> Floats:
    """log(tails + α), and 0 for a word that is in too many texts for the row to lack it, as in the core."""
    smoothed = tails + alpha
    return np.asarray(np.log(np.where(smoothed > alpha / 2, smoothed, 1.0)))
