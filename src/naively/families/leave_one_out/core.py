"""Rows of tokens left out by the core, from their entries or straight from texts: see `core/left_out.hpp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells, TokenCells
from naively._kernels.text import Vocabulary
from naively.families.base import Leaving, NotCountedError
from naively.statistics.tokeniser import Tokeniser

__all__ = ["Tokens", "rows_left_out", "texts_left_out"]

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The counts of a model of tokens: cells (the first channel is scored), pseudo-counts, and what vanishes.

    `known` tokens are evidence. `fades` says which of them stop being so when their last row leaves, and `shrinks`
    whether their pseudo-counts then leave the sum.
    """

    cells: Cells
    alpha: Floats  # (token,) or (token, class)
    whole_alpha: Floats  # (class,): A_c
    known: NDArray[np.bool_]
    fades: NDArray[np.bool_]
    shrinks: bool

    @property
    def smoothed(self) -> bool:
        """Whether each known token has one pseudo-count, above 0, as the core wants."""
        return self.alpha.ndim == 1 and bool((self.alpha[self.known] > 0).all())

    @property
    def by_token(self) -> TokenCells:
        """As the core wants them."""
        start, owner, place = kernels.by_token(self.cells, len(self.known))
        sums, rows = self.cells.sums[0][place], self.cells.rows[place]
        alpha = np.ascontiguousarray(self.alpha)
        return TokenCells(start, owner, sums, rows, alpha, self.known, self.fades, self.shrinks)


def rows_left_out(
    rows: tuple[Wholes, NDArray[np.int32], Floats, Wholes | None], tokens: Tokens, leaving: Leaving, complement: bool
) -> Floats:
    """Either equation by the core, for `smoothed` tokens: offsets of the rows, tokens, counts, times (None: 1)."""
    out = np.zeros((len(rows[0]) - 1, len(tokens.whole_alpha)))
    bad = kernels.leave_tokens_out(rows, leaving.arrays, tokens.by_token, complement, out)
    _check(bad, leaving)
    return out


def texts_left_out(
    texts: Any,
    tokeniser: Tokeniser,
    vocabulary: Vocabulary | None,
    once: bool,
    tokens: Tokens,
    leaving: Leaving,
    complement: bool,
    out: Floats,
) -> None:
    """Increase out (row, class) by either equation, by the core, for `smoothed` tokens, straight from the texts."""
    prepared, taken = tokeniser.prepare(texts), leaving.arrays
    bad = kernels.leave_text_out(prepared, vocabulary, tokeniser.options, once, taken, tokens.by_token, complement, out)
    _check(bad, leaving)


def _check(bad: tuple[int, int, int, float] | None, leaving: Leaving) -> None:
    if bad is not None:
        row, token, left, times = bad
        raise NotCountedError(row, int(leaving.label[row]), token, f"{left} rows that have it {times:g} times")
