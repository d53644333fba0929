"""Leave-one-out for models of tokens: multinomial and complement, over words, columns of counts or shared values.

    multinomial   score_c = Σ_k x_k log(N_kc + α_kc) − L log(N_c + A_c)                                 (1)
    complement    score_c = −Σ_k x_k log(N_k − N_kc + α_k) + L log(N − N_c + A)                         (2)

where the row, w times x_k, is taken out of N_ky of its own class y, and with it out of N_k, N_y and N. In (1) only the
own class changes; in (2) all others do. A token whose last row leaves is no evidence for any class (L counts the rest);
where the tokens known make up the distribution (`shrinks`), A loses its pseudo-count too. What the counts of all rows
say of the other classes is scored by the same linear form as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells
from naively.data.views import is_sparse
from naively.families.base import Leaving, NotCountedError
from naively.families.leave_one_out.base import FOREVER, log_of
from naively.families.leave_one_out.core import Tokens, rows_left_out
from naively.families.linear_form import LogLinear
from naively.statistics import Numbers
from naively.statistics.cells import class_of_cells, class_sums

__all__ = [
    "Entries",
    "Left",
    "Tokens",
    "complement_left_out",
    "multinomial_left_out",
    "normed_left_out",
    "rows_left_out",
]

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What the rows have: row, token and count of each entry that is not zero."""

    row: NDArray[np.intp]
    token: NDArray[np.intp]
    count: Floats
    n_rows: int
    times: Wholes | int = 1  # how many rows of the statistic an entry was, for each row that leaves

    @classmethod
    def of_numbers(cls, x: Numbers) -> Entries:
        """The entries of a block of counts that are neither zero nor missing."""
        rows, tokens, counts, n_rows = [], [], [], 0
        for place, piece in x.placed():
            n_rows = piece.shape[0]
            if is_sparse(piece):
                found = piece.tocoo()
                row, token, count = found.row, found.col, found.data.astype(np.float64)
                there = (count != 0) & (count == count)
                row, token, count = row[there], token[there], count[there]
            else:
                row, token = np.nonzero((piece != 0) & (piece == piece))
                count = piece[row, token].astype(np.float64)
            rows.append(row.astype(np.intp))
            tokens.append(token.astype(np.intp) + place.start)
            counts.append(count)
        return cls(np.concatenate(rows), np.concatenate(tokens), np.concatenate(counts), n_rows)

    def where(self, keep: NDArray[np.bool_]) -> Entries:
        """Some of the entries."""
        times = self.times if isinstance(self.times, int) else self.times[keep]
        return Entries(self.row[keep], self.token[keep], self.count[keep], self.n_rows, times)

    def sum_by_row(self, values: Floats) -> Floats:
        """The sum over the entries of each row; values are one per entry, or (entry, class)."""
        if values.ndim == 1:
            return np.bincount(self.row, weights=values, minlength=self.n_rows).astype(np.float64)
        return np.stack([self.sum_by_row(column) for column in values.T], axis=1)

    def matrix(self, n_tokens: int) -> Numbers:
        """As a sparse block."""
        from scipy.sparse import csr_array

        return Numbers((csr_array((self.count, (self.row, self.token)), shape=(self.n_rows, n_tokens)),))


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """The entries of known tokens, and what remains of their counts without the row."""

    entries: Entries
    own: Floats  # N_ky as counted
    left: Floats  # N_ky without the row
    pooled: Floats  # N_k without the row
    emptied: NDArray[np.bool_]  # whether the cell (k, y) is gone
    keep: NDArray[np.bool_]  # whether the token is still evidence

    @classmethod
    def of(cls, entries: Entries, tokens: Tokens, leaving: Leaving) -> Left:
        """Look up each entry's cell in the class of its row."""
        entries = entries.where(entries.token < len(tokens.known))
        entries = entries.where(tokens.known[entries.token])
        cells, label = tokens.cells, leaving.label[entries.row]
        place = _places(cells, label, entries.token, len(tokens.known))
        there = place >= 0
        own = np.where(there, cells.sums[0][place], 0.0) if len(cells.index) else np.zeros(len(place))
        own_rows = np.where(there, cells.rows[place], 0) if len(cells.index) else np.zeros(len(place), np.int64)
        taken = leaving.weight[entries.row] * entries.count
        rows = own_rows - leaving.rows[entries.row] * entries.times
        bad = (rows < 0) | (own - taken < -1e-9 * (1.0 + taken))
        if bad.any():
            k = int(np.argmax(bad))
            found = f"{rows[k]} rows that have it {own[k] - taken[k]:g} times"
            raise NotCountedError(int(entries.row[k]), int(label[k]), int(entries.token[k]), found)
        left = np.where(rows > 0, np.maximum(own - taken, 0.0), 0.0)
        n = len(tokens.known)
        whole = np.bincount(cells.index, weights=cells.sums[0], minlength=n)[entries.token]
        whole_rows = np.bincount(cells.index, weights=cells.rows, minlength=n).astype(np.int64)
        lasting = np.where(tokens.fades, whole_rows, FOREVER)[entries.token]
        last = whole_rows[entries.token] == own_rows  # no other class has the token: nothing of it may be left
        pooled = np.where(last, left, whole - own + left)
        return cls(entries, own, left, pooled, there & (rows <= 0), lasting - (own_rows - rows) > 0)

    def lost_alpha(self, tokens: Tokens) -> Floats:
        """The pseudo-counts of the tokens that vanish, (row, 1) or (row, class)."""
        gone = self.entries.where(~self.keep)
        if not tokens.shrinks or not len(gone.token):
            return np.zeros((gone.n_rows, 1))
        lost = gone.sum_by_row(tokens.alpha[gone.token])
        return lost[:, None] if lost.ndim == 1 else lost


def _places(cells: Cells, label: NDArray[np.intp], token: NDArray[np.intp], n_tokens: int) -> NDArray[np.intp]:
    """Where the cell of each (class, token) stands, −1 if there is none."""
    keys = class_of_cells(cells) * np.int64(n_tokens) + cells.index
    wanted = label * np.int64(n_tokens) + token
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.intp)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _by_the_core(entries: Entries, tokens: Tokens, leaving: Leaving, complement: bool) -> Floats | None:
    """Either equation by the core; None if it cannot."""
    if not tokens.smoothed:
        return None
    order = slice(None) if (np.diff(entries.row) >= 0).all() else np.argsort(entries.row, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(entries.row, minlength=entries.n_rows))]).astype(np.int64)
    times = None if isinstance(entries.times, int) else entries.times[order]
    rows = ends, entries.token[order].astype(np.int32), entries.count[order], times
    return rows_left_out(rows, tokens, leaving, complement)


def multinomial_left_out(entries: Entries, tokens: Tokens, form: Callable[[], LogLinear], leaving: Leaving) -> Floats:
    """Equation (1), (row, class); `form` makes that of all counts, if it is needed."""
    by_the_core = _by_the_core(entries, tokens, leaving, False)
    if by_the_core is not None:
        return by_the_core
    found = Left.of(entries, tokens, leaving)
    kept = found.entries.where(found.keep)
    n_classes, rows = len(tokens.whole_alpha), np.arange(entries.n_rows)
    length = kept.sum_by_row(kept.count)
    score = np.zeros((entries.n_rows, n_classes))
    form().add_to(score, kept.matrix(len(tokens.known)))
    lost, totals = found.lost_alpha(tokens), class_sums(tokens.cells, 0)
    if lost.any():
        score += length[:, None] * (
            _log_whole(totals + tokens.whole_alpha) - _log_whole(totals + tokens.whole_alpha - lost)
        )
    taken = found.entries.sum_by_row(found.own - found.left)
    n_cells = np.diff(tokens.cells.indptr)
    emptied = found.entries.sum_by_row(found.emptied.astype(np.float64))
    empty = n_cells[leaving.label] - emptied <= 0

    def scored(counts: Floats, total: Floats, label: NDArray[np.intp]) -> Floats:
        alpha = tokens.alpha[kept.token] if tokens.alpha.ndim == 1 else tokens.alpha[kept.token, label[kept.row]]
        whole = total + tokens.whole_alpha[label] - (lost[:, 0] if lost.shape[1] == 1 else lost[rows, label])
        return kept.sum_by_row(kept.count * log_of(counts[found.keep] + alpha)) - length * _log_whole(whole)

    pooled_total = totals.sum() - taken
    for c in np.flatnonzero(n_cells == 0):
        score[:, c] = scored(found.pooled, pooled_total, np.full(entries.n_rows, c))
    mine = np.where(empty[found.entries.row], found.pooled, found.left)
    total = np.where(empty, pooled_total, totals[leaving.label] - taken)
    score[rows, leaving.label] = scored(mine, total, leaving.label)
    return score


def _log_whole(whole: Floats) -> Floats:
    return np.log(np.where(whole > 0, whole, 1.0))


def complement_left_out(entries: Entries, tokens: Tokens, leaving: Leaving) -> Floats:
    """Equation (2), (row, class)."""
    by_the_core = _by_the_core(entries, tokens, leaving, True)
    if by_the_core is not None:
        return by_the_core
    found = Left.of(entries, tokens, leaving)
    alpha = tokens.alpha[found.entries.token]
    evident = found.keep & (found.pooled + alpha > 0)
    kept = found.entries.where(evident)
    n_rows, n_classes = entries.n_rows, len(tokens.whole_alpha)
    rest = _rest(found, tokens, leaving)
    length = kept.sum_by_row(kept.count)
    whole = (found.pooled + alpha)[evident]
    score = length[:, None] * _log_whole(rest) - kept.sum_by_row(kept.count * np.log(whole))[:, None]
    entry, label, count, alone = _cells_of(found, tokens, leaving, evident)
    others = np.where(alone & (alpha[evident][entry] == 0), 0.0, whole[entry] - count)
    value = kept.count[entry] * (np.log(whole)[entry] - np.log(np.where(others > 0, others, 1.0)))
    place = kept.row[entry] * n_classes + label
    score += np.bincount(place, weights=value, minlength=n_rows * n_classes).reshape(n_rows, n_classes)
    only = others <= 0  # α = 0 and no other class has the token: it cannot come from them
    if only.any():
        forbidden = np.bincount(kept.row[entry][only], minlength=n_rows)[:, None] - np.bincount(
            place[only], minlength=n_rows * n_classes
        ).reshape(n_rows, n_classes)
        score[forbidden > 0] = -np.inf
    return score


def _rest(found: Left, tokens: Tokens, leaving: Leaving) -> Floats:
    """N − N_c + A without the row, (row, class): the own class's is as it was."""
    totals = class_sums(tokens.cells, 0)
    taken = found.entries.sum_by_row(found.own - found.left)
    rest = totals.sum() - totals + tokens.whole_alpha - found.lost_alpha(tokens) - taken[:, None]
    rest[np.arange(len(rest)), leaving.label] += taken
    return np.asarray(rest)


def _cells_of(
    found: Left, tokens: Tokens, leaving: Leaving, chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, NDArray[np.bool_]]:
    """For each chosen entry, every class that still has its token: entry, class, N_kc, and whether it is alone."""
    start, owner, order = kernels.by_token(tokens.cells, len(tokens.known))
    kept = found.entries.where(chosen)
    number = start[kept.token + 1] - start[kept.token]
    entry = np.repeat(np.arange(len(number)), number)
    cell = np.arange(len(entry)) + np.repeat(start[kept.token] - np.cumsum(number) + number, number)
    label = owner[cell].astype(np.intp)
    mine = label == leaving.label[kept.row][entry]
    count = np.where(mine, found.left[chosen][entry], tokens.cells.sums[0][order[cell]])
    there = ~(mine & found.emptied[chosen][entry])
    alone = np.bincount(entry[there], minlength=len(number))[entry] == 1
    return entry[there], label[there], count[there], alone[there]


def normed_left_out(entries: Entries, tokens: Tokens, leaving: Leaving, others: Floats) -> Floats:
    """Complement's weights divided by their sum; `others` are N_k − N_kc + α_k of all rows, (token, class), above 0."""
    found = Left.of(entries, tokens, leaving)
    every, label = found.entries, leaving.label[found.entries.row]
    without = others[every.token] - (found.own - found.left)[:, None]
    without[np.arange(len(label)), label] = others[every.token, label]
    log_rest = np.log(_rest(found, tokens, leaving))
    change = every.sum_by_row(np.log(without) - np.log(others[every.token]))
    whole = np.log(others).sum(axis=0) + change - len(others) * log_rest
    kept = every.where(found.keep)
    logs = kept.sum_by_row(kept.count[:, None] * (np.log(without[found.keep]) - log_rest[kept.row]))
    return np.asarray(logs / whole)
