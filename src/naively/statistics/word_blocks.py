"""WordBlocks: the word counts of one column of texts in several blocks: its words, its pairs of words, and so on.

Each block is a `WordCounts` with a vocabulary of its own, so that it can have its own smoothing and weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, sub
from typing import Self

from naively._kernels.types import Array, Bools, Floats, Index, Wholes
from naively.data.names import Names
from naively.data.views import Texts
from naively.statistics.arrays import require
from naively.statistics.base import PLAN, CountPlan, Description, Statistic
from naively.statistics.class_weights import ClassWeights
from naively.statistics.word_counts import WordCounts


@dataclass(frozen=True, slots=True, eq=False)
class WordBlocks(Statistic):
    """The counts of the first block, and of the others; no others where nothing was counted yet."""

    first: WordCounts
    others: tuple[WordCounts, ...]

    view = Texts

    @classmethod
    def count(
        cls, x: Texts | list[str], label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> Self:
        """Count texts as a single block; `TextBlocks.count` counts several."""
        return cls(WordCounts.count(x, label, weight, n_classes, plan), ())

    @classmethod
    def empty(cls, classes: ClassWeights) -> Self:
        """Return the counts of no texts."""
        return cls(WordCounts.empty(classes), ())

    @property
    def blocks(self) -> tuple[WordCounts, ...]:
        """All blocks."""
        return self.first, *self.others

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.first.n_classes

    @property
    def n_columns(self) -> int:
        """The number of columns; those of a block of texts are read together."""
        return 1

    @classmethod
    def sum_of(cls, parts: Sequence[Self]) -> Self:
        """Return the sum of one or more."""
        counted = [part for part in parts if part.others]
        others = zip(*(part.others for part in counted), strict=True)
        return cls(WordCounts.sum_of([part.first for part in parts]), tuple(map(WordCounts.sum_of, others)))

    def __add__(self, other: Self) -> Self:
        others = map(add, self.others, other.others) if self.others and other.others else self.others or other.others
        return type(self)(self.first + other.first, tuple(others))

    def __sub__(self, other: Self) -> Self:
        others = map(sub, self.others, other.others) if other.others else self.others
        return type(self)(self.first - other.first, tuple(others))

    def has_rows(self) -> Bools:
        """Return for each class whether anything was counted."""
        return self.first.has_rows()  # an empty text has a length, and pairs need words

    def take_columns(self, order: Index) -> Self:
        """Return the same counts: the columns of a block of texts are read together."""
        return self

    def rows_present(self, classes: ClassWeights) -> tuple[Floats, Wholes]:
        """Return weight and number of the rows that have a text, (class, 1)."""
        return self.first.rows_present(classes)

    def refuse_excess(self, classes: ClassWeights) -> None:
        """Accept all, as `WordCounts` does."""

    def check(self, n_classes: int, names: Names) -> None:
        """Raise ValueError unless all blocks are sound."""
        require(isinstance(self.others, tuple), "blocks of words")
        for block in self.blocks:
            require(isinstance(block, WordCounts), "a block of words")
            block.check(n_classes, names)

    def describe(self, column: int) -> list[Description]:
        """Return what the first block counted."""
        return self.first.describe(column)

    def is_integral(self) -> bool:
        """Return whether all counts are whole numbers."""
        return all(block.is_integral() for block in self.blocks)

    def token_weight(self) -> float:
        """Return the weight of all pairs of a text and one of its different words, in all blocks."""
        return sum(block.token_weight() for block in self.blocks)
