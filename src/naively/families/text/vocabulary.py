"""Which words of a text model are in force: seen in some text, and not cut off.

Cut-offs are applied to the counts when estimating, never when counting, so that counts stay additive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively._kernels.token_logs import seen_tokens
from naively.statistics import WordCounts

__all__ = ["words_in_force", "words_let_through"]


def words_in_force(
    stats: WordCounts, min_count: float, max_share: float, max_tokens: int | None, vocabulary: tuple[str, ...] | None
) -> tuple[Cells, NDArray[np.bool_]]:
    """The cells of the words that the cut-offs leave, and which words those are by number."""
    cells, n = stats.cells, stats.n_numbers()
    known = seen_tokens(cells.index, n)
    if min_count <= 0 and max_share >= 1 and vocabulary is None and max_tokens is None:
        return cells, known
    if min_count > 0:
        known &= np.bincount(cells.index, weights=cells.sums[0], minlength=n) >= min_count
    if max_share < 1:
        known &= _texts(cells, n) <= max_share * stats.seen.weight.sum()
    if vocabulary is not None and stats.vocabulary is not None:
        listed = np.zeros(n, dtype=np.bool_)
        numbers = stats.vocabulary.find(list(vocabulary))
        listed[numbers[(numbers >= 0) & (numbers < n)]] = True
        known &= listed
    if max_tokens is not None and known.sum() > max_tokens:
        known = _most_frequent(known, _texts(cells, n), stats, max_tokens)
    return _only(cells, known), known


def words_let_through(stats: WordCounts, structure: NDArray[np.bool_]) -> tuple[Cells, NDArray[np.bool_]]:
    """The same with the words that were let through elsewhere; words that came later are not among them."""
    cells, n = stats.cells, stats.n_numbers()
    known = seen_tokens(cells.index, n)
    known[len(structure) :] = False
    known[: len(structure)] &= structure[:n]
    return _only(cells, known), known


def _texts(cells: Cells, n: int) -> NDArray[np.float64]:
    """How many texts have each word."""
    return np.bincount(cells.index, weights=cells.sums[1], minlength=n).astype(np.float64)


def _only(cells: Cells, known: NDArray[np.bool_]) -> Cells:
    """The cells of the words known; the same object if that is all of them."""
    kept = known[cells.index]
    if kept.all():
        return cells
    before = np.concatenate([[0], np.cumsum(kept)])
    return Cells(before[cells.indptr], cells.index[kept], np.ascontiguousarray(cells.sums[:, kept]), cells.rows[kept])


def _most_frequent(
    known: NDArray[np.bool_], texts: NDArray[np.float64], stats: WordCounts, most: int
) -> NDArray[np.bool_]:
    """The words in most texts; equal ones in alphabetical order, so that the order of counting does not matter."""
    numbers = np.flatnonzero(known)
    words = (
        [stats.name(int(k)) for k in numbers]
        if stats.vocabulary is None
        else stats.vocabulary.words(numbers.astype(np.int32))
    )
    order = sorted(range(len(numbers)), key=lambda i: (-texts[numbers[i]], words[i]))[:most]
    kept = np.zeros_like(known)
    kept[numbers[order]] = True
    return kept
