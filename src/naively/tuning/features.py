"""Features: the evidence of each column, or of each block of words, ready to be weighted.

Up to `NARROW` columns have a weight each; of more, only the sum over each block of columns is kept, under one weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.families import Family
from naively.model.calibrate import column_key
from naively.schema.schema import Block
from naively.statistics import TokenCounts, WordCounts
from naively.tuning.loo_scores import Bench, has_words, strips
from naively.tuning.text_scores import Words

__all__ = ["NARROW", "Features", "WordFeature", "features_of"]

Floats = NDArray[np.float64]
NARROW = 256
EACH = 32  # up to so many columns are tried one by one, more of them all together
TABLE = 2**24  # (word, class) pairs of a sample up to which settings are searched
BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class WordFeature:
    """A block of words: its evidence without regard to length, and the length of each row."""

    block: Block
    evidence: Floats
    length: Floats
    words: Words | None  # to look at other settings; None where they are not to be changed
    beta: float = 0.0

    @property
    def key(self) -> str:
        """What it goes by in a Tuning."""
        return self.block.names[0]

    def weighed(self) -> Floats:
        """(L / typical L)^(−β) e, so that a weight of 1 is the textbook for a text of typical length."""
        return np.asarray((np.maximum(self.length, 1.0)[:, None] / self.typical) ** -self.beta * self.evidence)

    @property
    def typical(self) -> float:
        """The geometric mean of the lengths."""
        return float(np.exp(np.log(np.maximum(self.length, 1.0)).mean())) if len(self.length) else 1.0

    def under(self, model: str, binary: bool, alpha: float) -> WordFeature:
        """The same words under other settings."""
        assert self.words is not None
        evidence, length = self.words.evidence(model, binary, alpha), self.words.length(binary)
        return replace(self, evidence=evidence, length=length)


@dataclass(frozen=True, eq=False)
class Features:
    """Blocks of columns with the evidence of each column (or their sum, if there are too many), and words."""

    blocks: tuple[Block, ...]
    evidence: tuple[Floats, ...]  # of each block: (column, row, class), or (1, row, class)
    words: tuple[WordFeature, ...]
    narrow: bool

    def keys(self) -> list[str]:
        """What the columns go by in a Tuning, in the order of `stacked`."""
        found: list[str] = []
        for block in self.blocks:
            names: Sequence[Any] = block.names if self.narrow and not block.family.joint else block.names[:1]
            found += [column_key(block.family, name) for name in names]
        return found

    def stacked(self) -> Floats:
        """Columns first, words after them: (feature, row, class)."""
        return np.concatenate([*self.evidence, *(word.weighed()[None] for word in self.words)])

    def sum_of_columns(self) -> Floats | None:
        """The evidence of all columns together, (row, class)."""
        return sum((e.sum(axis=0) for e in self.evidence[1:]), self.evidence[0].sum(axis=0)) if self.evidence else None

    def with_block(self, i: int, block: Block, evidence: Floats) -> Features:
        """With another family for a block."""
        blocks, found = list(self.blocks), list(self.evidence)
        blocks[i], found[i] = block, evidence
        return replace(self, blocks=tuple(blocks), evidence=tuple(found))

    def and_block(self, block: Block, evidence: Floats) -> Features:
        """With one more block."""
        return replace(self, blocks=(*self.blocks, block), evidence=(*self.evidence, evidence))

    def with_word(self, i: int, word: WordFeature) -> Features:
        """With other settings for a block of words."""
        words = list(self.words)
        words[i] = word
        return replace(self, words=tuple(words))


def features_of(bench: Bench) -> Features:
    """The evidence under the families that the rules have chosen; a column each is a block, if there are few."""
    every = bench.model.chosen.schema.blocks
    plain = [block for block in every if not has_words(block) and len(block.names)]
    narrow = sum(len(block.names) for block in plain) <= NARROW
    blocks: list[Block] = []
    evidence: list[Floats] = []
    for block in plain:
        if narrow and not block.family.joint:
            found = bench.evidence(block)
            for j, name in enumerate(block.names):
                blocks.append(Block((name,), block.kind(j), block.family))
                evidence.append(found[j : j + 1])
        else:
            blocks.append(block)
            evidence.append(summed(bench, block))
    words = tuple(_words(bench, block) for block in every if has_words(block))
    return Features(tuple(blocks), tuple(evidence), words, narrow)


def summed(bench: Bench, block: Block) -> Floats:
    """The evidence of a block's columns together, (1, row, class), some columns at a time."""
    total: Any = 0.0
    for part in strips(block, len(bench.sample) * len(bench.model.classes)):
        total = total + bench.evidence(part).sum(axis=0, keepdims=True)
    return np.asarray(total)


def _words(bench: Bench, block: Block) -> WordFeature:
    family, statistic, sample = block.family, bench.statistic(block), bench.sample
    assert isinstance(statistic, (WordCounts, TokenCounts))
    view: Any = bench.view(block)
    leaving = sample.label, bench.leaving_weight, bench.leaving_rows
    words = Words.of(family, view, statistic, *leaving)
    binary = bool(getattr(family, "once", False))
    settled = not plain_words(family) or words.size > TABLE
    if settled:
        return WordFeature(block, bench.evidence(block)[0], words.length(binary), None)
    model = getattr(family, "model", "multinomial")
    return WordFeature(block, words.evidence(model, binary, 1.0), words.length(binary), words)


def plain_words(family: Family) -> bool:
    """Whether the smoothing and the event model are as they come, and so may be chosen; no cut-offs, no own prior."""
    settings = {"missing", "tokens", "ngrams", "lowercase", "strip_accents", "stop_words", "hash_bits", "fractional"}
    plain = replace(type(family)(), **{k: v for k, v in vars(family).items() if k in settings})
    return family == plain and type(family).__name__ in ("Text", "Multinomial")
