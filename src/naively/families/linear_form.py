"""The linear form that all models of counts share, evaluated without a dense class × token table.

    score_c(x) = offset_c + Σ_k x_k (base_k + value_kc + constant_c)        (1)

value_kc is zero where nothing was counted. Zero probabilities cannot be summed as −∞, because 0 · −∞ is undefined. So a
second form of the same shape counts what is impossible, in integers:

    log p(x | c) = −∞  if  forbidden_c(x) > 0,  else score_c(x)             (2)

A token whose base is NaN is unknown: it adds nothing to any class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.cells import Cells, SparseWeights, by_token, score_csr, score_dense
from naively._kernels.posterior import add_to_rows
from naively._kernels.types import Array, Bools, Floats, Index, Wholes
from naively.data.views import RefusedEntryError, is_sparse
from naively.statistics import Numbers

MAX_DENSE_CELLS = 2**22  # of a token × class table, 32 MB; larger ones stay sparse
EVERY = slice(None)  # all tokens


@dataclass(frozen=True, slots=True, eq=False)
class LinearForm:
    """Equation (1), as a dense table (token, class), or as base and cells in the order of tokens."""

    offset: Floats
    constant: Floats
    table: Floats | None
    base: Floats
    token_start: Wholes = field(default_factory=lambda: np.zeros(1, np.int64))
    token_class: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    token_value: Floats = field(default_factory=lambda: np.zeros(0))

    def add_to(self, out: Floats, x: Numbers, length: Floats | None = None) -> None:
        """Add the scores of the rows of x to `out`, and the sum of their known x_k to `length`."""
        add_to_rows(out, self.offset)
        for place, piece in x.placed():
            finite = self._add_piece(out, piece, place, x.binarize_above, length)
            if x.strict and not finite:
                raise RefusedEntryError

    def _add_piece(self, out: Floats, piece: Any, place: slice, above: float | None, length: Floats | None) -> bool:
        """Add the scores of one piece of the columns; return whether all its entries are finite."""
        if not is_sparse(piece):
            return score_dense(piece, self.weights(place), self.constant, out, length=length)
        rows = piece.tocsr()
        csr = (rows.data, rows.indices, rows.indptr)
        weights: Floats | SparseWeights
        if self.table is not None:
            weights = self.table[place]
        else:
            start = self.token_start[place.start : place.stop + 1]
            cells = slice(int(start[0]), int(start[-1]))
            first = np.ascontiguousarray(start - start[0])
            weights = self.base[place], first, self.token_class[cells], self.token_value[cells]
        return score_csr(csr, weights, self.constant, out, above=above, length=length)

    def weights(self, tokens: Index | slice) -> Floats:
        """Return base_k + value_kc of tokens, (token, class); NaN for unknown ones."""
        if self.table is not None:
            return self.table[tokens]
        start = self.token_start[:-1][tokens]
        n_cells = self.token_start[1:][tokens] - start
        owner = np.repeat(np.arange(len(start)), n_cells)
        cell = np.arange(len(owner)) + np.repeat(start - (np.cumsum(n_cells) - n_cells), n_cells)
        table = np.repeat(self.base[tokens][:, None], len(self.constant), axis=1)
        table[owner, self.token_class[cell]] += self.token_value[cell]
        return table

    def at(self, tokens: Index | slice) -> Floats:
        """Return base_k + value_kc + constant_c of tokens, (token, class); NaN for unknown ones."""
        return np.asarray(self.weights(tokens) + self.constant)

    def changed(self, tokens: Index, c: int, values: Floats, unknown: Index) -> LinearForm:
        """Return the form with other values of tokens in class c, which has cells of them; some become unknown."""
        base = self.base
        if len(unknown):
            base = base.copy()
            base[unknown] = np.nan
        if self.table is not None:
            table = self.table.copy()
            table[tokens, c], table[unknown] = base[tokens] + values, np.nan
            return replace(self, base=base, table=table)
        token_value, ends = self.token_value.copy(), self.token_start[tokens[:, None] + (0, 1)].tolist()
        cells = [start + int(np.searchsorted(self.token_class[start:stop], c)) for start, stop in ends]
        token_value[cells] = values
        return replace(self, base=base, token_value=token_value)


def dense_form(table: Floats, known: Bools, offset: Floats | None = None) -> LinearForm:
    """Return the form of a (token, class) table."""
    zeros, table = np.zeros(table.shape[1]), np.where(known[:, None], table, np.nan)
    return LinearForm(zeros if offset is None else offset, zeros, np.ascontiguousarray(table), table[:, 0])


def stays_sparse(n_tokens: int, n_classes: int, n_values: int) -> bool:
    """Return whether a (token, class) table would be large and mostly empty."""
    return n_tokens * n_classes > max(MAX_DENSE_CELLS, 4 * n_values)


def sparse_form(
    cells: Cells, values: Floats, base: Floats, constant: Floats, offset: Floats | None = None
) -> LinearForm:
    """Return the form of cells with one value each; as a dense table while that is small."""
    n_tokens, n_classes = len(base), len(constant)
    offset = np.zeros(n_classes) if offset is None else offset
    if stays_sparse(n_tokens, n_classes, len(values)):
        first, owner, order = by_token(cells, n_tokens)
        return LinearForm(offset, constant, None, base, first, owner, values[order])
    table = np.empty((n_tokens, n_classes))
    table[:] = base[:, None]
    for c, (start, stop) in enumerate(pairwise(cells.indptr.tolist())):  # class by class: needs no index of all cells
        table[cells.index[start:stop], c] += values[start:stop]
    return LinearForm(offset, constant, table, base)


@dataclass(frozen=True, slots=True, eq=False)
class LogLinear:
    """Equation (2); if absence counts, `absent` is subtracted where an entry is missing."""

    score: LinearForm
    forbidden: LinearForm | None = None
    absent: LogLinear | None = None

    def add_to(self, out: Floats, x: Numbers, length: Floats | None = None) -> None:
        """Add log p(x | c) to `out`, and the sum of each row's known x_k to `length`."""
        missing = _missing(x) if self.absent is not None else None
        self.score.add_to(out, x, length)
        if missing is not None and self.absent is not None:
            self.absent.score.add_to(out, missing)
        if self.forbidden is None:
            return
        count = np.zeros_like(out)
        self.forbidden.add_to(count, _each(x, partial(_presence, above=x.binarize_above)))
        if missing is not None and self.absent is not None and self.absent.forbidden is not None:
            self.absent.forbidden.add_to(count, missing)
        out[count > 0.5] = -np.inf

    def log_weights(self, tokens: Index | slice = EVERY) -> Floats:
        """Return log θ of tokens, (token, class): −∞ where a token is impossible, 0 for unknown tokens."""
        score = self.score.at(tokens)
        if self.forbidden is not None:
            score = np.where(self.forbidden.at(tokens) > 0.5, -np.inf, score)
        return np.where(self.is_unknown(tokens)[:, None], 0.0, score)

    def log_presence(self, tokens: Index | slice, is_present: bool) -> Floats:
        """Return log θ of tokens that are present, or log(1 − θ) of absent ones, (token, class), if absence counts."""
        assert self.absent is not None
        score = -self.absent.score.at(tokens)
        n_zeros = np.zeros_like(score)
        if self.absent.forbidden is not None:
            n_zeros -= self.absent.forbidden.at(tokens)
        if is_present:
            score = score + self.score.at(tokens)
            if self.forbidden is not None:
                n_zeros += self.forbidden.at(tokens)
        score = np.where(n_zeros > 0.5, -np.inf, score)
        return np.where(self.is_unknown(tokens)[:, None], 0.0, score)

    def log_absence_except(self, tokens: Index) -> Floats:
        """Return Σ log(1 − θ) over all tokens but these, per class, if absence counts."""
        assert self.absent is not None
        known = tokens[~self.is_unknown(tokens)]
        score = self.score.offset + self.absent.score.at(known).sum(axis=0)
        if self.forbidden is None or self.absent.forbidden is None:
            return np.asarray(score)
        n_zeros = self.forbidden.offset + self.absent.forbidden.at(known).sum(axis=0)
        return np.where(n_zeros > 0.5, -np.inf, score)

    def is_unknown(self, tokens: Index | slice = EVERY) -> Bools:
        """Return whether each token is unknown, so that it adds nothing."""
        return np.isnan(self.score.base[tokens])


def _each(x: Numbers, change: Callable[[Array], Array]) -> Numbers:
    """Return x with the stored numbers of each piece changed; implicit zeros stay."""
    pieces = []
    for piece in x.pieces:
        if is_sparse(piece):
            copy = piece.copy()
            copy.data = change(piece.data)
            pieces.append(copy)
        else:
            pieces.append(change(piece))
    return Numbers(tuple(pieces))


def _presence(x: Array, above: float | None) -> Array:
    """Return 1 where there is a count, 0 where there is none or it is missing."""
    if above is not None:
        return np.asarray(x > above, dtype=np.float64)
    return np.asarray((x != 0) & (x == x), dtype=np.float64)


def _missing(x: Numbers) -> Numbers | None:
    """Return 1 where an entry is missing; None if no entry is."""
    if x.binarize_above is not None:
        return None  # missing entries are refused
    floats = [piece for piece in x.pieces if np.issubdtype(piece.dtype, np.floating)]
    if not any(np.isnan(np.asarray(p.data if is_sparse(p) else p)).any() for p in floats):
        return None
    return _each(x, lambda numbers: np.isnan(numbers).astype(np.float64))
