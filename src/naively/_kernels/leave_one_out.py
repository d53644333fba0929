"""Rows of tokens scored as if they had not been counted. The equations are in `core/left_out.hpp`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _core
from naively._kernels.text import Documents, Options, Vocabulary, prepare
from naively._kernels.threads import thread_count

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Truths = NDArray[np.bool_]
Labels = NDArray[np.int32]

__all__ = ["LeftTokens", "TokenCells", "ValueSlots", "leave_text_out", "leave_tokens_out", "leave_values_out"]

Told = tuple[int, int, int, float]  # row, token, and the rows and sum that would be left


class TokenCells(NamedTuple):
    """What was counted of each token: its cells are [start[k], start[k + 1]), their classes (`owner`) ascending.

    `alpha` is (token,) or, but for complement, (token, class). Of the `known` tokens those that `fade` are no evidence
    once their last row has left, and if the distribution `shrinks` their alpha leaves the sum of all.
    """

    start: Wholes
    owner: Labels
    sums: Floats
    rows: Wholes
    alpha: Floats
    known: Truths
    fades: Truths
    shrinks: bool


def leave_tokens_out(
    rows: tuple[Wholes, NDArray[np.int32], Floats, Wholes | None],
    leaving: tuple[Labels, Floats, Wholes],
    cells: TokenCells,
    complement: bool,
    out: Floats,
    n_jobs: int | None = None,
    normed: bool = False,
) -> Told | None:
    """Increase out (row, class) by each row's multinomial or complement score without the row itself.

    `rows` are indptr, tokens, counts, and how many rows of a cell each entry was (None: one); they leave the classes
    `leaving[0]` with the weights and as the numbers of rows that follow. `normed` divides each score of a complement by
    the sum of the class's weights; `alpha` must then be above 0.

    Returns None, or row, token, and the rows and sum that would be left of the first entry that was never counted;
    `out` is then of no use. The same, bit for bit, for any `n_jobs`.
    """
    (indptr, index, count, times), (label, weight, numbers) = rows, leaving
    leaves = indptr, index, count, times, label, weight, numbers
    return _core.leave_tokens_out(*leaves, *cells, complement, normed, out, thread_count(n_jobs))


def leave_text_out(
    documents: Documents,
    vocabulary: Vocabulary | None,
    options: Options,
    once: bool,
    leaving: tuple[Labels, Floats, Wholes],
    cells: TokenCells,
    complement: bool,
    out: Floats,
    n_jobs: int | None = None,
) -> Told | None:
    """`leave_tokens_out` of the known tokens of each document, every one of them once if `once`."""
    label, weight, numbers = leaving
    read = prepare(documents)
    return _core.leave_text_out(
        read, vocabulary, options.compiled, once, label, weight, numbers, *cells, complement, out, thread_count(n_jobs)
    )


class ValueSlots(NamedTuple):
    """What was counted of the values of some columns, of which each row has one: see `core/left_out_values.hpp`.

    The slots of a column are the values from its `start` on; weight, rows and alpha are (slot, class).
    """

    weight: Floats
    rows: Wholes
    alpha: Floats
    whole_alpha: Floats  # (column, class)
    start: Wholes
    lasting: Wholes  # (slot,): so many rows must leave until it is no evidence


def leave_values_out(
    slots: ValueSlots,
    slot: Wholes,
    leaving: tuple[Labels, Floats, Wholes],
    out: Floats,
    n_jobs: int | None = None,
) -> Told | None:
    """Increase out (row, column, class) by the log θ of each row's values without the row itself.

    `slot` is (row, column), and −1 where a value is missing. Returns None, or row, column, and the rows and weight that
    would be left of the first value that was never counted; `out` is then as it was.
    """
    if out.flags.c_contiguous:
        return _core.leave_values_out(*slots, slot, *leaving, out, thread_count(n_jobs))
    found = np.zeros(out.shape)
    bad = _core.leave_values_out(*slots, slot, *leaving, found, thread_count(n_jobs))
    out += found
    return bad


class LeftTokens:
    """Rows of tokens that leave, read once, to be scored with all pseudo-counts `scale` times as large as given.

    The arguments are those of `leave_tokens_out`. `bad` tells of the first entry that was never counted.
    """

    def __init__(
        self,
        rows: tuple[Wholes, NDArray[np.int32], Floats],
        leaving: tuple[Labels, Floats, Wholes],
        cells: TokenCells,
        n_classes: int,
    ) -> None:
        """Look up each entry's cell."""
        self.shape = len(leaving[0]), n_classes
        indptr, index, count = rows
        label, weight, numbers = leaving
        self._cells = cells
        found = _core.read_left_rows(indptr, index, count, label, weight, numbers, *self._cells, n_classes)
        self._read: _core.LeftRows = found[0]
        self.bad: Told | None = found[1]

    def score(self, scale: float, complement: bool, n_jobs: int | None = None) -> Floats:
        """The multinomial or complement score (row, class) of each row without the row itself."""
        out = np.zeros(self.shape)
        _core.score_left_rows(self._read, *self._cells, scale, complement, None, out, thread_count(n_jobs))
        return out

    def score_coins(self, scale: float, tossed: Floats, n_jobs: int | None = None) -> Floats:
        """What the tokens that each row has say as coins, `tossed` so often in each class: equation (3)."""
        out = np.zeros(self.shape)
        _core.score_left_rows(self._read, *self._cells, scale, False, tossed, out, thread_count(n_jobs))
        return out
