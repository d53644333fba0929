"""Which words of a text model are active: in some text, and within the cut-offs.

Cut-offs are applied to the counts when estimating, never when counting, so that counts stay additive.
"""

from __future__ import annotations

import numpy as np

from naively._kernels.cells import Cells, seen_tokens
from naively._kernels.types import Bools, Floats
from naively.statistics.word_counts import WordCounts


def choose_words(
    stats: WordCounts, min_count: float, max_share: float, max_tokens: int | None, vocabulary: tuple[str, ...] | None
) -> tuple[Cells, Bools]:
    """Return the cells of the words within the cut-offs, and for each number whether it is such a word."""
    cells, n = stats.cells, stats.n_numbers()
    known = seen_tokens(cells.index, n)
    if min_count <= 0 and max_share >= 1 and vocabulary is None and max_tokens is None:
        return cells, known
    if min_count > 0:
        known &= np.bincount(cells.index, weights=cells.sums[0], minlength=n) >= min_count
    texts = np.bincount(cells.index, weights=cells.sums[1], minlength=n).astype(np.float64)
    if max_share < 1:
        known &= texts <= max_share * stats.seen.weight.sum()
    if vocabulary is not None and stats.vocabulary is not None:
        listed = np.zeros(n, dtype=np.bool_)
        numbers = stats.vocabulary.find(list(vocabulary))
        listed[numbers[(numbers >= 0) & (numbers < n)]] = True
        known &= listed
    if max_tokens is not None and known.sum() > max_tokens:
        known = _most_frequent(known, texts, stats, max_tokens)
    return _cells_of(cells, known), known


def restrict_to(stats: WordCounts, structure: Bools) -> tuple[Cells, Bools]:
    """Return the same for the words of a given structure; words that were numbered later are not among them."""
    cells, n = stats.cells, stats.n_numbers()
    known = seen_tokens(cells.index, n)
    known[len(structure) :] = False
    known[: len(structure)] &= structure[:n]
    return _cells_of(cells, known), known


def _cells_of(cells: Cells, known: Bools) -> Cells:
    """Return the cells of known words; the same object if that is all of them."""
    keep = known[cells.index]
    if keep.all():
        return cells
    before = np.concatenate([[0], np.cumsum(keep)])
    return Cells(before[cells.indptr], cells.index[keep], np.ascontiguousarray(cells.sums[:, keep]), cells.rows[keep])


def _most_frequent(known: Bools, texts: Floats, stats: WordCounts, max_tokens: int) -> Bools:
    """Return the words in most texts; equal ones by the alphabet, so that the order of counting does not matter."""
    numbers = np.flatnonzero(known)
    words = (
        [stats.name(int(k)) for k in numbers]
        if stats.vocabulary is None
        else stats.vocabulary.words(numbers.astype(np.int32))
    )
    order = sorted(range(len(numbers)), key=lambda i: (-texts[numbers[i]], words[i]))[:max_tokens]
    most_frequent = np.zeros_like(known)
    most_frequent[numbers[order]] = True
    return most_frequent
