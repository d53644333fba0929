"""Rows scored as if they had not been counted. The equations are in core/leave_one_out/tokens.hpp and values.hpp."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from naively import _core
from naively._kernels.text import Documents, Options, Vocabulary, prepare
from naively._kernels.threads import thread_count
from naively._kernels.types import Bools, Codes32, Floats, Wholes

UncountedRow: TypeAlias = tuple[int, int, int, float]  # row, token or column, and the rows and sum that would remain
Leaving: TypeAlias = tuple[Codes32, Floats, Wholes]  # class, weight and number of rows with which each row was counted
Entries: TypeAlias = tuple[Wholes, Codes32, Floats, Wholes | None]  # indptr, tokens, counts, rows of a cell (None: 1)
Model: TypeAlias = Literal["multinomial", "complement", "normed complement"]


class TokenCells(NamedTuple):
    """The counts of each token: its cells are [start[k], start[k + 1]), their classes (`owner`) ascending.

    `alpha` is (token,) or, except for complement, (token, class). Of the `known` tokens those that `vanish` are not
    evidence after their last row is left out; with `alpha_vanishes` their alpha then leaves the sum of all.
    """

    start: Wholes
    owner: Codes32
    sums: Floats
    rows: Wholes
    alpha: Floats
    known: Bools
    vanishes: Bools
    alpha_vanishes: bool


def leave_tokens_out(
    entries: Entries, leaving: Leaving, cells: TokenCells, model: Model, out: Floats, n_jobs: int | None = None
) -> UncountedRow | None:
    """Increase out (row, class) by the score of each row without the row itself.

    A normed complement divides each score by the sum of the weights of the class; `alpha` must then be above 0. Return
    None, or the first entry that was never counted; `out` is then of no use. The result is the same, bit for bit, for
    any number of threads.
    """
    return _core.leave_tokens_out(entries, leaving, cells, model, out, thread_count(n_jobs))


def leave_texts_out(
    documents: Documents,
    vocabulary: Vocabulary | None,
    options: Options,
    once: bool,
    leaving: Leaving,
    cells: TokenCells,
    model: Model,
    out: Floats,
    length: Floats | None = None,
    n_jobs: int | None = None,
) -> UncountedRow | None:
    """Do `leave_tokens_out` for the known tokens of each document, each of them once if `once`.

    `length` (document,), if given, is increased by the number of tokens that are evidence.
    """
    read, n_threads = prepare(documents), thread_count(n_jobs)
    return _core.leave_texts_out(
        read, vocabulary, options.compiled, once, leaving, cells, model, out, length, n_threads
    )


class ValueArrays(NamedTuple):
    """The counts of the values of columns, of which each row has one: see core/leave_one_out/values.hpp.

    The values of a column are those from its `start` on; weight, rows and alpha are (value, class).
    """

    weight: Floats
    rows: Wholes
    alpha: Floats
    total_alpha: Floats  # (column, class)
    start: Wholes
    rows_until_unknown: Wholes  # (value,): as many rows must leave until the value is not evidence


def leave_values_out(
    cells: ValueArrays, value: Wholes, leaving: Leaving, out: Floats, n_jobs: int | None = None
) -> UncountedRow | None:
    """Increase out (row, column, class) by the log θ of the values of each row without the row itself.

    `value` is (row, column), −1 if missing. Return None, or the first value that was never counted; `out` is then as it
    was. The classes of a row and column must be neighbours in `out`.
    """
    return _core.leave_values_out(cells, value, leaving, out, thread_count(n_jobs))


class MomentArrays(NamedTuple):
    """Weight, rows, mean and Σ w (x − mean)²: (class, column), or (column,) of all classes together."""

    weight: Floats
    rows: Wholes
    mean: Floats
    squares: Floats


class GaussianSettings(NamedTuple):
    """How a variance is estimated: see families/gaussian.py."""

    ddof: float
    floor: float
    pooled_rows: float
    pool_zero_variance: bool


def leave_gaussian_out(
    values: Floats,
    leaving: Leaving,
    classes: MomentArrays,
    pooled: MomentArrays,
    settings: GaussianSettings,
    out: Floats,
    n_jobs: int | None = None,
) -> Wholes:
    """Increase out (row, column, class) by the Gaussian score of each number (row, column) without the row itself.

    Return the positions in `values.ravel()` of numbers that need exact arithmetic; nothing is added for them. The
    equations are in core/leave_one_out/gaussian.hpp.
    """
    return _core.leave_gaussian_out(values, leaving, classes, pooled, settings, out, thread_count(n_jobs))


class LeftOutRows:
    """Rows of tokens that are read once, and scored with pseudo-counts that are `scale` times those of the cells.

    `uncounted` is the first entry that was never counted, or None.
    """

    def __init__(self, entries: Entries, leaving: Leaving, cells: TokenCells, n_classes: int) -> None:
        """Look up the cell of each entry."""
        self.shape = len(leaving[0]), n_classes
        self._rows, self.uncounted = _core.read_rows(entries, leaving, cells, n_classes)

    def score(self, scale: float, model: Model, n_jobs: int | None = None) -> Floats:
        """Return the multinomial or complement score (row, class) of each row without the row itself."""
        out = np.zeros(self.shape)
        self._rows.score(scale, model, out, thread_count(n_jobs))
        return out

    def score_bernoulli(self, scale: float, n_rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the Bernoulli score of the tokens of each row, `n_rows` rows in each class: equation (3)."""
        out = np.zeros(self.shape)
        self._rows.score_bernoulli(scale, n_rows, out, thread_count(n_jobs))
        return out
