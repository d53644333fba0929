"""Word counts: how often each word of a column of texts occurs in each class, in how many texts, and how long they are.

    N_kc = Σ w · (occurrences of word k in the text)                        (1)
    D_kc = Σ w · [word k is in the text]                                    (2)
    texts of class c with ℓ words, for each ℓ                               (3)

The words have numbers in a vocabulary that only grows and is shared by the values made from each other; what was
counted stands in the cells. A large base and a small delta are kept apart, so that one text more does not copy a
million words; they are put together when the whole is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells
from naively._kernels.text import UNICODE_VERSION, Options, Vocabulary, count_text, prepare, prepare_tokens
from naively.data.views import Texts
from naively.errors import InputError
from naively.statistics.base import NegativeCountError, Statistic, added_in_pairs
from naively.statistics.cells import class_of_cells, find_cells, placed, refuse_negative_cells, total_cells
from naively.statistics.class_weights import ClassWeights

__all__ = ["Tokeniser", "WordCounts"]

WORDS = Options()
SMALL = 16  # a delta is folded into its base when it is larger than this fraction of it


@dataclass(frozen=True)
class Tokeniser:
    """How texts are read: what a token is, or a function that finds them."""

    options: Options = WORDS
    split: Callable[[str], list[str]] | None = None

    def prepare(self, texts: Any) -> Any:
        """Texts as the core reads them."""
        if self.split is None:
            return prepare(texts)
        find = self.split
        plain = Texts.as_strings(texts)
        return prepare_tokens([None if text is None else list(find(text)) for text in plain])


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts(Statistic):
    """The vocabulary (None if words are hashed), base and delta of the cells, lengths, and the texts seen.

    >>> counts = WordCounts.count(["to be or not to be"], np.array([0]), None, n_classes=1)
    >>> dict(zip(counts.words(), counts.cells.sums[0].tolist(), strict=True))
    {'to': 2.0, 'be': 2.0, 'or': 1.0, 'not': 1.0}
    """

    vocabulary: Vocabulary | None
    base: Cells
    delta: Cells
    lengths: Cells
    seen: ClassWeights
    unicode: str = UNICODE_VERSION

    view = Texts

    @classmethod
    def count(
        cls,
        x: Texts | list[str],
        label: NDArray[np.integer],
        weight: NDArray[np.float64] | None,
        n_classes: int,
        tokeniser: Tokeniser | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> Self:
        """Count texts; equations (1) to (3). New words are appended to the vocabulary, if one is given."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        tokeniser = tokeniser or Tokeniser()
        if vocabulary is None and tokeniser.options.hash_bits is None:
            vocabulary = Vocabulary()
        parts = []
        for texts in Texts.of(x).columns:
            prepared = tokeniser.prepare(texts)
            cells, lengths = count_text(prepared, codes, weight, n_classes, vocabulary, tokeniser.options)
            seen = _seen(prepared.missing(), codes, weight, n_classes)
            parts.append(cls(vocabulary, cells, Cells.empty(n_classes, 2), lengths, seen))
        if not parts:
            return cls.empty(ClassWeights.count(None, codes[:0], None, n_classes), vocabulary)
        return reduce(add, parts)  # one column, as most have, is not copied

    @classmethod
    def of_texts(cls, texts: list[str], label: NDArray[np.int32], seen: ClassWeights, tokeniser: Tokeniser) -> Self:
        """Count a column of texts of which none is missing; `seen` are all of them."""
        vocabulary = Vocabulary() if tokeniser.options.hash_bits is None else None
        prepared = tokeniser.prepare(texts)
        cells, lengths = count_text(prepared, label, None, seen.n_classes, vocabulary, tokeniser.options)
        return cls(vocabulary, cells, Cells.empty(seen.n_classes, 2), lengths, seen)

    @classmethod
    def empty(cls, seen: ClassWeights, vocabulary: Vocabulary | None = None) -> Self:
        """Of rows in which no text was looked at."""
        n = seen.n_classes
        nobody = ClassWeights(np.zeros(n), np.zeros(n, np.int64))
        return cls(vocabulary, Cells.empty(n, 2), Cells.empty(n, 2), Cells.empty(n, 1), nobody)

    @property
    def n_classes(self) -> int:
        """How many classes it distinguishes."""
        return self.seen.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return 1

    @property
    def cells(self) -> Cells:
        """Base and delta together: occurrences and texts of each word, per class."""
        return kernels.merge_cells(self.base, self.delta, 1) if len(self.delta.index) else self.base

    def words(self) -> list[str]:
        """The words of the vocabulary, by number; those of no text any more are among them."""
        return [] if self.vocabulary is None else self.vocabulary.words()

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """The sum of one or more; many small ones with words of their own at once."""
        words = [part.vocabulary for part in parts if part.vocabulary is not None]
        own = sum(map(len, words)) <= sum(len(part.base.index) for part in parts)  # not one large one shared by all
        if len(parts) < 3 or len(words) < len(parts) or not own or len({part.unicode for part in parts}) > 1:
            return added_in_pairs(parts)
        vocabulary, n = Vocabulary(), parts[0].n_classes
        numbers = [vocabulary.union(other) for other in words]
        cells = total_cells([part.cells for part in parts], numbers)
        lengths = total_cells([part.lengths for part in parts])
        seen = ClassWeights.sum_of([part.seen for part in parts])
        return cls(vocabulary, cells, Cells.empty(n, 2), lengths, seen, parts[0].unicode)

    def __add__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        return mine._with(theirs.cells, 1, mine.lengths, theirs.lengths, mine.seen + theirs.seen)

    def __sub__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        taken = theirs.cells
        seen = mine.seen - theirs.seen
        _refuse_more_than_there_is(mine, taken)
        left = mine._with(taken, -1, mine.lengths, theirs.lengths, seen)
        refuse_negative_cells(left.lengths, theirs.lengths, lambda n: (None, f"texts of {n} words"))
        return left

    def _with(self, cells: Cells, sign: int, mine: Cells, theirs: Cells, seen: ClassWeights) -> Self:
        """Plus or minus some cells, into the delta while it is small."""
        lengths = kernels.merge_cells(mine, theirs, sign)
        large = len(cells.index) * SMALL > len(self.base.index) or len(self.delta.index) * SMALL > len(self.base.index)
        if large or _vanishes_by_mistake(self.delta, cells, sign):
            base = kernels.merge_cells(self.cells, cells, sign)
            return replace(self, base=base, delta=Cells.empty(self.n_classes, 2), lengths=lengths, seen=seen)
        return replace(self, delta=kernels.merge_cells(self.delta, cells, sign), lengths=lengths, seen=seen)

    def has_rows(self) -> NDArray[np.bool_]:
        """Whether anything was counted of a class, (class,)."""
        return (np.diff(self.cells.indptr) > 0) | (np.diff(self.lengths.indptr) > 0)

    def place_classes(self, places: NDArray[np.int32], n_classes: int) -> Self:
        """The same counts with the classes laid out anew."""
        return replace(
            self,
            base=placed(self.base, places, n_classes),
            delta=placed(self.delta, places, n_classes),
            lengths=placed(self.lengths, places, n_classes),
            seen=self.seen.place_classes(places, n_classes),
        )

    def take_columns(self, order: NDArray[np.intp]) -> Self:
        """The columns of a block of texts are read together: their order does not matter."""
        return self

    def n_numbers(self) -> int:
        """One more than the largest word number in use or given out."""
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return max(int(self.base.index.max(initial=-1)), int(self.delta.index.max(initial=-1))) + 1

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        """Both with word numbers of one vocabulary: mine, to which the other's new words are appended."""
        if self.unicode != other.unicode:
            raise InputError(
                f"one model was made with Unicode {self.unicode}, the other with {other.unicode}: words may differ. "
                "Count the texts of one of them again."
            )
        if self.vocabulary is other.vocabulary or not len(other.cells.index):
            return self, replace(other, vocabulary=self.vocabulary)
        if self.vocabulary is None or other.vocabulary is None:
            raise InputError("one model has hashed its words, the other has not: count both the same way.")
        numbers = self.vocabulary.union(other.vocabulary)
        classes = np.arange(self.n_classes, dtype=np.int32)
        cells = kernels.renumber_cells(other.cells, classes, numbers, self.n_classes)
        empty = Cells.empty(self.n_classes, 2)
        return self, replace(other, vocabulary=self.vocabulary, base=cells, delta=empty)

    def name(self, number: int) -> str:
        """A word for people: itself, or its hash."""
        if self.vocabulary is None:
            return f"#{number}"
        return self.vocabulary.words(np.array([number], dtype=np.int32))[0]


def _seen(
    missing: NDArray[np.bool_], codes: NDArray[np.int32], weight: NDArray[np.float64] | None, n_classes: int
) -> ClassWeights:
    """The texts that are there."""
    if missing.any():
        there = ~missing
        codes, weight = codes[there], None if weight is None else weight[there]
    return ClassWeights.count(None, codes, weight, n_classes)


def _vanishes_by_mistake(delta: Cells, cells: Cells, sign: int) -> bool:
    """Whether a cell of the delta would come to no rows and yet some weight: a row forgotten, and taught less of."""
    place = find_cells(delta, cells)
    met = np.flatnonzero(place >= 0)
    none = met[delta.rows[place[met]] + sign * cells.rows[met] == 0]
    return bool((delta.sums[:, place[none]] + sign * cells.sums[:, none]).any())


def _refuse_more_than_there_is(counts: WordCounts, taken: Cells) -> None:
    """Refuse to take a word away more often than it was counted; looks only at the words taken."""
    rows, sums = -taken.rows, -taken.sums
    for part in (counts.base, counts.delta):
        place = find_cells(part, taken)
        there = place >= 0
        rows[there] += part.rows[place[there]]
        sums[:, there] += part.sums[:, place[there]]
    bad = (rows < 0) | (sums < -1e-9 * (1.0 + taken.sums)).any(axis=0)
    if bad.any():
        first = int(np.argmax(bad))
        word = counts.name(int(taken.index[first]))
        what = f"word {word!r}: {rows[first]} texts with {sums[0, first]:g} occurrences"
        raise NegativeCountError(int(class_of_cells(taken)[first]), None, what)
