"""TextBlocks: a column of texts in several blocks, such as words and pairs of words, each a `Text` of its own.

    log p(text | c) = Σ_b log p_b(tokens of block b | c)                                                      (1)

Each block has its own vocabulary, so that pairs, most of which are rare, do not take the probability of words. `fit`
counts `Text(ngrams=(1, 2))` so: one block for each length. When a model is tuned, each block gets its own event model,
smoothing, weight and length exponent. Without tuning every block has weight 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from naively._kernels.types import Array, Floats, Index
from naively.data.names import Names
from naively.data.views import Texts
from naively.errors import InputError
from naively.families.base import Family, Labels, Leaving, Lengths
from naively.families.evidence import LikelihoodRatio
from naively.families.text import ActiveWords, Text, TextParameters
from naively.statistics.arrays import require
from naively.statistics.base import PLAN, CountPlan
from naively.statistics.word_blocks import WordBlocks
from naively.statistics.word_counts import WordCounts

Structures = tuple[ActiveWords | None, ...]


@dataclass(frozen=True)
class TextBlocks(Family[WordBlocks, tuple[TextParameters, ...]]):
    """A column of texts in several blocks of tokens; `fit` makes it of a `Text` with n-grams of several lengths.

    Parameters
    ----------
    blocks
        What each block counts; the words first.

    >>> print(Text(window=5).counted_as())
    Text and Text(ngrams=(2, 2), window=5)
    """

    blocks: tuple[Text, ...]

    statistic = WordBlocks
    kinds = ("string",)
    own_block = True
    has_length = True
    has_parts = True

    def __post_init__(self) -> None:
        if not self.blocks or not all(isinstance(block, Text) for block in self.blocks):
            raise InputError(f"TextBlocks(blocks={self.blocks!r}): give one or more Text families.")

    def __str__(self) -> str:
        return " and ".join(map(str, self.blocks))

    @property
    def is_likelihood(self) -> bool:
        """Whether the scores are probabilities; complement evidence is not."""
        return all(block.is_likelihood for block in self.blocks)

    def count(
        self, x: Texts, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> WordBlocks:
        """Count the tokens of each block."""
        like = plan.like.blocks if isinstance(plan.like, WordBlocks) else ()
        plans = [replace(plan, like=like[i] if i < len(like) else None) for i in range(len(self.blocks))]
        first, *others = (
            block.count(x, label, weight, n_classes, part) for block, part in zip(self.blocks, plans, strict=True)
        )
        return WordBlocks(first, tuple(others))

    def estimate(
        self, stats: WordBlocks, classes: Labels, structure: Structures | None = None
    ) -> tuple[TextParameters, ...]:
        """Estimate each block."""
        parts = zip(self.blocks, self._counts(stats), structure or [None] * len(self.blocks), strict=True)
        return tuple(block.estimate(counts, classes, chosen) for block, counts, chosen in parts)

    def log_likelihood(
        self, x: Texts, parameters: tuple[TextParameters, ...], out: Floats, length: Lengths = None
    ) -> None:
        """Add equation (1)."""
        for block, of_block in zip(self.blocks, parameters, strict=True):
            block.log_likelihood(x, of_block, out, length)

    def structure(self, stats: WordBlocks) -> Structures | None:
        """Return which words of each block are active; None without cut-offs."""
        chosen = tuple(block.structure(counts) for block, counts in zip(self.blocks, self._counts(stats), strict=True))
        return None if all(words is None for words in chosen) else chosen

    def leave_one_out(
        self,
        x: Texts,
        stats: WordBlocks,
        classes: Labels,
        structure: Structures | None,
        leaving: Leaving,
        out: Floats,
    ) -> None:
        """Add equation (1) without the tokens of the row."""
        parts = zip(self.blocks, self._counts(stats), structure or [None] * len(self.blocks), strict=True)
        for block, counts, chosen in parts:
            block.leave_one_out(x, counts, classes, chosen, leaving, out)

    def parts(self, stats: WordBlocks) -> Sequence[tuple[str, Family, WordCounts]]:
        """Return the blocks: the first has the role "value", another is named by the length of its n-grams."""
        roles = ["value", *(_role(block) for block in self.blocks[1:])]
        return list(zip(roles, self.blocks, self._counts(stats), strict=True))

    def check(self, stats: WordBlocks, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the blocks are sound, and those that this family has."""
        super().check(stats, n_classes, names)
        for block, counts in zip(self.blocks, self._counts(stats), strict=True):
            block.check(counts, n_classes, names)

    def compare(self, one: WordBlocks, two: WordBlocks, top: int = 20) -> list[LikelihoodRatio]:
        """Test the tokens of the first block, as the others are made of them."""
        return self.blocks[0].compare(one.first, two.first, top)

    def sample(
        self, parameters: tuple[TextParameters, ...], label: Index, generator: np.random.Generator
    ) -> list[Array]:
        """Draw the tokens of the first block."""
        return self.blocks[0].sample(parameters[0], label, generator)

    def _counts(self, stats: WordBlocks) -> tuple[WordCounts, ...]:
        """Return the counts of each block; empty ones where no text was counted yet."""
        require(len(stats.others) in (0, len(self.blocks) - 1), "number of blocks of words")
        if len(stats.blocks) == len(self.blocks):
            return stats.blocks
        rows = np.zeros(stats.n_classes, np.int64)
        nothing = self.count(Texts.of([]), rows[:0], None, stats.n_classes)
        return stats.first, *nothing.others


def _role(block: Text) -> str:
    """Return the name of a block in a tuning."""
    n = block.ngrams[1]
    return "pairs" if n == 2 else f"{n}-grams"
