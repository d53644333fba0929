"""Word counts: how often each word of a column of texts occurs in each class, in how many texts, and how long they are.

    N_kc = Σ w · (occurrences of word k in the text)                        (1)
    D_kc = Σ w · [word k is in the text]                                    (2)
    texts of class c with ℓ words, for each ℓ                               (3)

Words have numbers in a vocabulary that only grows and is shared by the statistics that are made from each other. The
counts are in cells. A large base and a small delta are separate, so that adding one text does not copy a million
words; `cells` adds them. Cells of a forgotten text may cancel only in that sum, so the delta is added to the base
before a class is dropped and before the counts are written to a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Self

import numpy as np
from numpy.typing import NDArray

from naively._kernels.cells import Cells, merge_cells, renumber_cells, seen_tokens
from naively._kernels.text import UNICODE_VERSION, Strings, Vocabulary, count_text, hash_texts
from naively._kernels.types import Array, Bools, Codes32, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.views import Texts
from naively.errors import InputError
from naively.statistics.arrays import NegativeCountError, added_in_pairs, require, rounding_slack
from naively.statistics.base import PLAN, CountPlan, Description, Statistic
from naively.statistics.cells import (
    are_integral,
    check_arrays,
    check_cells,
    class_of_cells,
    find_cells,
    not_negative,
    numbers_in_groups,
    refuse_impossible_cells,
    split_cells,
    total_cells,
    without_dropped_class,
)
from naively.statistics.class_weights import ClassWeights

BASE_TO_DELTA = 16  # a delta larger than this fraction of the base is added to it
MAX_WORDS_PER_CELL = 8  # of the vocabularies of parts that are added at once; they grow when parts are added in pairs
MAX_WORDS_DESCRIBED = 20
MAX_HASH = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts(Statistic):
    """The vocabulary (None if words are hashed), base and delta of the cells, lengths, and the rows with a text.

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
        cls, x: Texts | list[str], label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count texts; equations (1) to (3). New words are appended to the vocabulary of `plan.like`."""
        codes = np.ascontiguousarray(label, dtype=np.int32)
        tokeniser = plan.tokeniser
        vocabulary = plan.like.vocabulary if isinstance(plan.like, WordCounts) else None
        if vocabulary is None and tokeniser.options.hash_bits is None:
            vocabulary = Vocabulary()
        parts = []
        for texts in Texts.of(x).columns:
            prepared = tokeniser.prepare(texts)
            cells, lengths = count_text(prepared, codes, weight, n_classes, vocabulary, tokeniser.options)
            seen = _rows_with_text(prepared.missing(), codes, weight, n_classes)
            parts.append(cls(vocabulary, cells, Cells.empty(n_classes, 2), lengths, seen))
        if not parts:
            nothing = cls.empty(ClassWeights.count(None, codes[:0], None, n_classes))
            return replace(nothing, vocabulary=vocabulary)
        return reduce(add, parts)  # a single column is not copied

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the counts of no texts."""
        n = classes.n_classes
        no_rows = ClassWeights(np.zeros(n), np.zeros(n, np.int64))
        return cls(None, Cells.empty(n, 2), Cells.empty(n, 2), Cells.empty(n, 1), no_rows)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.seen.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns; those of a block of texts are read together."""
        return 1

    @property
    def cells(self) -> Cells:
        """Base and delta together: occurrences and texts of each word, per class."""
        return not_negative(merge_cells(self.base, self.delta, 1)) if len(self.delta.index) else self.base

    def folded(self) -> Self:
        """Return the same counts with all cells in the base."""
        return replace(self, base=self.cells, delta=Cells.empty(self.n_classes, 2)) if len(self.delta.index) else self

    def words(self) -> list[str]:
        """Return the words of the vocabulary by number, including those that no text has any more."""
        return [] if self.vocabulary is None else self.vocabulary.words()

    @property
    def n_tokens(self) -> int:
        """One more than the largest number of a word."""
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return max(int(self.base.index.max(initial=-1)), int(self.delta.index.max(initial=-1))) + 1

    def distinct_tokens(self) -> Codes32:
        """Return the numbers or hashes of the words that some text has, ascending."""
        index = np.sort(self.cells.index, kind="stable")  # merges the classes, which are sorted; np.unique hashes
        return np.asarray(index[np.diff(index, prepend=-1) != 0])

    def numbered(self, hash_bits: int) -> Self:
        """Return the counts of hashed words with numbers from 0 on, in the order of the hashes, to be read.

        Hashes are spread over 2^hash_bits numbers, which arrays cannot have an entry for.
        """
        if self.vocabulary is not None:
            return self
        counts = self.folded()
        vocabulary = Vocabulary.of_hashes(counts.distinct_tokens(), hash_bits)
        base = counts.base._replace(index=vocabulary.find_hashes(counts.base.index))
        return replace(counts, vocabulary=vocabulary, base=base)

    def names_of(self, numbers: Index | Codes32) -> list[str]:
        """Return the words of these numbers, or their hashes."""
        if self.vocabulary is None:
            return [f"#{number}" for number in numbers.tolist()]
        return self.vocabulary.words(numbers.astype(np.int32))

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """Return the sum of one or more; many small ones with vocabularies of their own are added at once."""
        vocabularies = [part.vocabulary for part in parts if part.vocabulary is not None]
        n_cells, n_words = sum(len(part.base.index) for part in parts), sum(map(len, vocabularies))
        is_cheap = n_words <= MAX_WORDS_PER_CELL * n_cells  # unlike the union of a large vocabulary that all share
        if (
            len(parts) < 3
            or len(vocabularies) < len(parts)
            or not is_cheap
            or len({part.unicode for part in parts}) > 1
        ):
            return added_in_pairs(parts)
        vocabulary, n = Vocabulary(), parts[0].n_classes
        numbers = [vocabulary.union(other) for other in vocabularies]
        cells = total_cells([part.cells for part in parts], numbers)
        lengths = total_cells([part.lengths for part in parts])
        seen = ClassWeights.sum_of([part.seen for part in parts])
        return cls(vocabulary, cells, Cells.empty(n, 2), lengths, seen, parts[0].unicode)

    def __add__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        return a._with(b.cells, 1, b.lengths, a.seen + b.seen)

    def __sub__(self, other: Self) -> Self:
        a, b = self.aligned(other)
        subtracted = b.cells
        seen = a.seen - b.seen
        a._refuse_negative(subtracted)
        rest = a._with(subtracted, -1, b.lengths, seen)
        rest._refuse_excess(np.flatnonzero(b.seen.rows))
        lengths = refuse_impossible_cells(a.lengths, b.lengths, rest.lengths, lambda n: (None, f"texts of {n} words"))
        return replace(rest, lengths=lengths)

    def _with(self, cells: Cells, sign: int, lengths: Cells, seen: ClassWeights) -> Self:
        """Add or subtract cells, in the delta while it is small."""
        lengths = merge_cells(self.lengths, lengths, sign)
        size = len(self.base.index)
        is_large = len(cells.index) * BASE_TO_DELTA > size or len(self.delta.index) * BASE_TO_DELTA > size
        if is_large or _loses_weight(self.delta, cells, sign):
            base = not_negative(merge_cells(self.cells, cells, sign))
            return replace(self, base=base, delta=Cells.empty(self.n_classes, 2), lengths=lengths, seen=seen)
        return replace(self, delta=merge_cells(self.delta, cells, sign), lengths=lengths, seen=seen)

    def _refuse_negative(self, subtracted: Cells) -> None:
        """Refuse to subtract a word more often than it was counted; looks only at the subtracted words."""
        rows, sums = -subtracted.rows, -subtracted.sums
        for part in (self.base, self.delta):
            position = find_cells(part, subtracted)
            exists = position >= 0
            rows[exists] += part.rows[position[exists]]
            sums[:, exists] += part.sums[:, position[exists]]
        slack = rounding_slack(sums, subtracted.sums)
        impossible = (rows < 0) | (sums < -slack).any(axis=0) | (sums[0] < sums[1] - slack)
        impossible |= (rows == 0) & (sums > slack).any(axis=0)
        if impossible.any():
            first = int(np.argmax(impossible))
            (word,) = self.names_of(subtracted.index[[first]])
            left = f"word {word!r}: {rows[first]} texts with {sums[0, first]:g} occurrences"
            raise NegativeCountError(int(class_of_cells(subtracted)[first]), None, left)

    def refuse_excess(self, classes: ClassWeights) -> None:
        """Accept all: a row may have several texts, and their words were compared with them when subtracted."""

    def _refuse_excess(self, classes: Index) -> None:
        """Refuse a word that is in more texts of one of these classes than there are: some texts were never counted."""
        for c in classes.tolist():
            n_texts = int(self.seen.rows[c])
            if sum(_most_rows(cells, c) for cells in (self.base, self.delta)) <= n_texts:
                continue  # as a rule
            cells = self.cells
            if _most_rows(cells, c) > n_texts:
                span = slice(int(cells.indptr[c]), int(cells.indptr[c + 1]))
                most = int(np.argmax(cells.rows[span]))
                (word,) = self.names_of(cells.index[span][[most]])
                left = f"word {word!r} in {cells.rows[span][most]} of {n_texts} texts"
                raise NegativeCountError(c, None, left)

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return (np.diff(self.cells.indptr) > 0) | (np.diff(self.lengths.indptr) > 0)

    def place_classes(self, places: Codes32, n_classes: int) -> Self:
        """Return the same counts in another layout of the classes."""
        return Statistic.place_classes(self if (places >= 0).all() else self.folded(), places, n_classes)

    def take_columns(self, order: Index) -> Self:
        """Return the same counts: the columns of a block of texts are read together."""
        return self

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a text, (class, 1)."""
        return self.seen.weight[:, None], self.seen.rows[:, None]

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless rows and cells are sound."""
        n = MAX_HASH if self.vocabulary is None else len(self.vocabulary)
        require(isinstance(self.seen, ClassWeights), "rows with a text")
        self.seen.check(n_classes)
        check_cells(self.base, n_classes, 2, n)
        check_cells(self.delta, n_classes, 2, n, signed=True)
        check_cells(self.lengths, n_classes, 1, MAX_HASH)
        require(isinstance(self.unicode, str), "version of Unicode")

    def describe(self, column: int) -> list[Description]:
        """Return the texts, the number of different words and the most frequent words of each class."""
        cells = self.cells
        described: list[Description] = []
        for c, texts in enumerate(self.seen.weight.tolist()):
            span = slice(int(cells.indptr[c]), int(cells.indptr[c + 1]))
            order = np.argsort(-cells.sums[0, span], kind="stable")[:MAX_WORDS_DESCRIBED]
            counts, names = cells.sums[0, span][order].tolist(), self.names_of(cells.index[span][order])
            words = [[name, n] for name, n in zip(names, counts, strict=True)]
            described.append({"texts": texts, "words": span.stop - span.start, "most_frequent": words})
        return described

    def is_integral(self) -> bool:
        """Return whether all counts are whole numbers."""
        return self.seen.is_integral() and are_integral(self.base, self.delta, self.lengths)

    def repaired(self) -> Self:
        """Return the counts without cells of a class that an early version dropped; they cancel."""
        for cells in (self.base, self.delta):
            check_arrays(cells, self.n_classes, 2)
        base, delta = without_dropped_class(self.base, self.delta)
        return self if base is self.base else replace(self, base=base, delta=delta)

    def token_weight(self) -> float:
        """Return the weight of all pairs of a text and one of its different words."""
        return float(self.cells.sums[1].sum())

    @property
    def n_keys(self) -> int:
        """The number of words."""
        return self.n_tokens

    def split_by_key(self, n_shards: int) -> list[Self]:
        """Return statistics that add up to this one, words divided by their hash; the first has lengths and rows."""
        counts = self.folded()
        nothing = replace(self.empty(counts.seen), unicode=self.unicode)
        base = counts.base
        vocabularies: Sequence[Vocabulary | None] = [None] * n_shards
        if counts.vocabulary is None:
            shard_of_cell = (base.index % n_shards).astype(np.uint16)
        else:
            shard_of_word, vocabularies = _split_vocabulary(counts.vocabulary, n_shards)
            shard_of_cell = shard_of_word[base.index]
            base = base._replace(index=numbers_in_groups(shard_of_word)[base.index])
        shards = zip(vocabularies, split_cells(base, shard_of_cell, n_shards), strict=True)
        return [
            replace(nothing if i else counts, vocabulary=vocabulary, base=cells)
            for i, (vocabulary, cells) in enumerate(shards)
        ]

    def without_unused(self) -> Self:
        """Return the same counts with a vocabulary of the words that some text has: the others are forgotten."""
        counts = self.folded()
        if self.vocabulary is None or int(counts.base.indptr[1]) == len(self.vocabulary):
            return counts  # the first class alone has all words, as the only class of a text has
        in_use = seen_tokens(counts.base.index, len(self.vocabulary))
        if in_use.all():
            return counts
        numbers = np.flatnonzero(in_use).astype(np.int32)
        vocabulary = Vocabulary()
        vocabulary.add(self.vocabulary.words(numbers))
        index = np.searchsorted(numbers, counts.base.index).astype(np.int32)  # ascending: the order stays
        return replace(counts, vocabulary=vocabulary, base=counts.base._replace(index=index))

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both with word numbers of the vocabulary of self, to which the new words of the other are appended."""
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
        cells = renumber_cells(other.cells, classes, numbers, self.n_classes)
        empty = Cells.empty(self.n_classes, 2)
        return self, replace(other, vocabulary=self.vocabulary, base=cells, delta=empty)


def _rows_with_text(missing: Bools, codes: Codes32, weight: Floats | None, n_classes: int) -> ClassWeights:
    if missing.any():
        present = ~missing
        codes, weight = codes[present], None if weight is None else weight[present]
    return ClassWeights.count(None, codes, weight, n_classes)


def _most_rows(cells: Cells, c: int) -> int:
    return int(cells.rows[cells.indptr[c] : cells.indptr[c + 1]].max(initial=0))


def _loses_weight(delta: Cells, cells: Cells, sign: int) -> bool:
    """Return whether a cell of the delta would have no rows but some weight, which `merge_cells` would drop."""
    position = find_cells(delta, cells)
    common = np.flatnonzero(position >= 0)
    empty = common[delta.rows[position[common]] + sign * cells.rows[common] == 0]
    return bool((delta.sums[:, position[empty]] + sign * cells.sums[:, empty]).any())


def _split_vocabulary(vocabulary: Vocabulary, n_shards: int) -> tuple[NDArray[np.uint16], list[Vocabulary]]:
    """Return the shard of each word, by its hash, and the words of each shard in their order."""
    letters, offsets = vocabulary.export()
    shard, sizes = (hash_texts(Strings(offsets, letters)) % np.uint64(n_shards)).astype(np.uint16), np.diff(offsets)
    shard_of_letter = np.repeat(shard, sizes)
    vocabularies = []
    for i in range(n_shards):
        ends = np.concatenate([[0], np.cumsum(sizes[shard == i])])
        vocabularies.append(Vocabulary.from_arrays(letters[shard_of_letter == i], ends))
    return shard, vocabularies
