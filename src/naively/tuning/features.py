"""Features: the evidence of each column, or of each block of words, ready to be weighted.

Up to `MAX_WEIGHTED_COLUMNS` columns have a weight each. Of more columns, only the sum over each block is a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Floats
from naively.families.base import EventModel
from naively.families.leave_one_out.tokens import WordScorer
from naively.model.calibrate import EvidenceKey
from naively.schema.schema import Block
from naively.tuning.loo_scores import FoldWordScorer, LooScorer
from naively.tuning.solver import stacked

MAX_WEIGHTED_COLUMNS = 256
MAX_WORD_CLASS_PAIRS = 2**24  # of a sample, up to which the settings of words are searched


@dataclass(frozen=True, eq=False)
class WordFeature:
    """A block of words: its evidence without regard to length, and the length of each row."""

    block: Block
    evidence: Floats
    length: Floats
    scorer: WordScorer | FoldWordScorer | None  # to try other settings; None where they are not to be changed
    length_exponent: float = 0.0  # β

    @property
    def key(self) -> EvidenceKey:
        """The key of the block in a Tuning."""
        return EvidenceKey((self.block.names[0],), self.block.role)

    @property
    def typical_length(self) -> float:
        """The geometric mean of the lengths."""
        return float(np.exp(np.log(np.maximum(self.length, 1.0)).mean())) if len(self.length) else 1.0

    def length_scaled(self) -> Floats:
        """Return (L / typical L)^(−β) e: a weight of 1 is then the textbook for a text of typical length."""
        relative_length = np.maximum(self.length, 1.0)[:, None] / self.typical_length
        return np.asarray(relative_length**-self.length_exponent * self.evidence)

    def with_settings(self, event_model: EventModel, binary: bool, alpha: float) -> WordFeature | None:
        """Return the same words under other settings; None if the family has no such settings."""
        family = self.block.family.with_word_settings(event_model, binary, alpha)
        if family is None or self.scorer is None:
            return None
        evidence, length = self.scorer.evidence(event_model, binary, alpha), self.scorer.length(binary)
        return replace(self, block=replace(self.block, family=family), evidence=evidence, length=length)


@dataclass(frozen=True, eq=False)
class Features:
    """Blocks of columns with the evidence of each column (or of all columns together), and blocks of words."""

    blocks: tuple[Block, ...]
    evidence: tuple[Floats, ...]  # of each block: (column, row, class), or (1, row, class)
    words: tuple[WordFeature, ...]
    has_weight_per_column: bool

    def keys(self) -> list[EvidenceKey]:
        """Return the keys of the columns in a Tuning, in the order of `pieces`."""
        keys: list[EvidenceKey] = []
        for block in self.blocks:
            single = self.has_weight_per_column and not block.family.joint
            keys += [EvidenceKey((name,), block.role) for name in (block.names if single else block.names[:1])]
        return keys

    def pieces(self) -> list[Floats]:
        """Return the evidence of columns, then of words, each (feature, row, class)."""
        return [*self.evidence, *(word.length_scaled()[None] for word in self.words)]

    def summed_pieces(self) -> list[Floats]:
        """Return the same with all columns together as one feature, if there are any."""
        columns = [stacked(self.evidence).sum(axis=0, keepdims=True)] if self.evidence else []
        return [*columns, *(word.length_scaled()[None] for word in self.words)]

    def with_block(self, i: int, block: Block, evidence: Floats) -> Features:
        """Return the features with another family for block i."""
        blocks, per_block = list(self.blocks), list(self.evidence)
        blocks[i], per_block[i] = block, evidence
        return replace(self, blocks=tuple(blocks), evidence=tuple(per_block))

    def and_block(self, block: Block, evidence: Floats) -> Features:
        """Return the features with one more block."""
        return replace(self, blocks=(*self.blocks, block), evidence=(*self.evidence, evidence))

    def where(self, keep: NDArray[np.bool_], scorer: LooScorer) -> Features:
        """Return the features of some of the rows; `scorer` scores words whose settings can be changed."""
        words = tuple(
            _word_feature(scorer, word.block)
            if word.block.family.tunes_words
            else replace(word, evidence=word.evidence[keep], length=word.length[keep])
            for word in self.words
        )
        ends = np.cumsum([len(e) for e in self.evidence])[:-1]
        evidence = np.split(stacked(self.evidence).compress(keep, axis=1), ends) if self.evidence else ()
        return replace(self, evidence=tuple(evidence), words=words)

    def with_word(self, i: int, word: WordFeature) -> Features:
        """Return the features with other settings for block i of words."""
        return replace(self, words=(*self.words[:i], word, *self.words[i + 1 :]))


def features_of(scorer: LooScorer) -> Features:
    """Score the sample under the families that the rules have chosen; few columns are a block each."""
    every = scorer.model.chosen.schema.blocks
    plain = [block for block in every if not block.family.has_length and len(block.names)]
    has_weight_per_column = sum(len(block.names) for block in plain) <= MAX_WEIGHTED_COLUMNS
    blocks: list[Block] = []
    per_block: list[Floats] = []
    for block in plain:
        if has_weight_per_column and not block.family.joint:
            evidence = scorer.evidence(replace(block, names=tuple(block.names)))  # the names that `Search` uses
            for j, name in enumerate(block.names):
                blocks.append(Block((name,), block.kind(j), block.family))
                per_block.append(evidence[j : j + 1])
        else:
            blocks.append(block)
            per_block.append(scorer.summed_evidence(block))
    return Features(tuple(blocks), tuple(per_block), word_features_of(scorer), has_weight_per_column)


def word_features_of(scorer: LooScorer) -> tuple[WordFeature, ...]:
    """Score the words of the sample under the families that the rules have chosen."""
    return tuple(_word_feature(scorer, block) for block in scorer.model.chosen.schema.blocks if block.family.has_length)


def _word_feature(scorer: LooScorer, block: Block) -> WordFeature:
    family = block.family
    binary, alpha = family.counts_presence, family.word_alpha
    if alpha is not None and not family.tunes_words:
        length = np.zeros(len(scorer.sample))
        return WordFeature(block, scorer.evidence(block, length)[0], length, None)
    words = scorer.word_scorer(block)
    if family.tunes_words and words.n_cells <= MAX_WORD_CLASS_PAIRS:
        return WordFeature(block, words.evidence("multinomial", False, 1.0), words.length(False), words)
    if alpha is not None:
        return WordFeature(block, words.evidence("multinomial", binary, alpha), words.length(binary), None)
    return WordFeature(block, scorer.evidence(block)[0], words.length(binary), None)
