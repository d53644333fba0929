"""Rank the words of a column by their log-odds for a class, with the counts behind them.

    log-odds of word k = log θ_k,of − log θ_k,against                       (1)
    θ_k = (n_k + α) / (n + αK)          multinomial: occurrences, binary: texts with the word
    θ_k = (d_k + α) / (d + 2α)          bernoulli: texts with the word, of all texts

`against` is another class, or all other classes together, their counts added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from naively._kernels.types import Bools
from naively.data.labelled import Label
from naively.data.names import listed
from naively.data.plain import as_plain
from naively.errors import InputError
from naively.families.evidence import WordShares
from naively.model.decide import position_of
from naively.model.model import Model


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its log-odds, and its counts: occurrences and texts, in the class and against it."""

    word: str
    log_odds: float
    count: float
    count_against: float
    texts: float
    texts_against: float


@dataclass(frozen=True, slots=True)
class TopWords:
    """The words with the largest log-odds for a class; prints as a table."""

    label: Label | None
    against: str
    words: tuple[Word, ...]

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    to_dict = as_plain

    def __str__(self) -> str:
        width = max([4, *(len(word.word) for word in self.words)])
        head = f"{'word':<{width}}  log-odds     count   against     texts   against"
        lines = [f"for {self.label!r} against {self.against}", head]
        for w in self.words:
            numbers = (w.count, w.count_against, w.texts, w.texts_against)
            lines.append(f"{w.word:<{width}}  {w.log_odds:+8.3f}  " + "  ".join(f"{x:8g}" for x in numbers))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class WordWeights:
    """The words of a column of text, or of a block of token counts; a text may have pairs of words too."""

    model: Model
    parts: tuple[WordShares, ...]

    @property
    def shares(self) -> WordShares:
        """The counts of the words."""
        return self.parts[0]

    def top(
        self,
        of: Label | None,
        n: int = 20,
        against: Label | None = None,
        min_count: float = 5,
        by: Literal["log-odds", "evidence"] = "log-odds",
    ) -> TopWords:
        """Return the words with the largest log-odds (1), or the most evidence.

        Parameters
        ----------
        of
            The class.
        n
            The number of words.
        against
            The class to compare with. Default: all other classes together.
        min_count
            The number of occurrences, in both, that a word must have.
        by
            "log-odds" of one occurrence, which ranks rare words first; or "evidence", the log-odds times the number of
            occurrences in the class.
        """
        if by not in ("log-odds", "evidence"):
            raise InputError(f'by={by!r}: words are ranked by "log-odds" or by "evidence".')
        position = np.arange(len(self.model.classes))
        is_class = position == position_of(of, self.model.classes)
        is_other = ~is_class if against is None else position == position_of(against, self.model.classes)
        if (is_class & is_other).any():
            raise InputError(f"of= and against= are the same class, {of!r}: name two.")
        words: list[Word] = []
        for shares in self.parts:
            words += _top_words(shares, is_class, is_other, n, min_count, by)
        if len(self.parts) > 1:
            words = sorted(words, key=lambda word: -_worth(word, by))[:n]
        return TopWords(of, "all other classes together" if against is None else repr(against), tuple(words))


def _top_words(
    shares: WordShares, is_class: Bools, is_other: Bools, n: int, min_count: float, by: str
) -> Iterator[Word]:
    """Return the words of one part of a column."""
    (count, texts), (count_against, texts_against) = map(shares.counts, (is_class, is_other))
    log_odds = shares.log_share(is_class) - shares.log_share(is_other)
    frequent = np.flatnonzero((count + count_against >= max(min_count, 1e-300)) & (count > 0))
    worth = log_odds[frequent] * (count[frequent] if by == "evidence" else 1.0)
    order = frequent[np.lexsort((frequent, -worth))][:n]
    columns = (column[order].tolist() for column in (log_odds, count, count_against, texts, texts_against))
    return map(Word, shares.names_of(order), *columns)


def _worth(word: Word, by: str) -> float:
    return word.log_odds * (word.count if by == "evidence" else 1.0)


def word_weights(model: Model, column: str) -> WordWeights:
    """Return the words of a column of text, or of the block of token counts that a column belongs to."""
    parts: list[WordShares] = []
    for block, statistic in zip(model.chosen.schema.blocks, model.chosen.statistics, strict=True):
        if column in block.names and block.role != "presence":
            shares = block.family.word_shares(statistic)
            if shares is None:
                raise InputError(f"column {column!r} is {block.family}, which has no words.")
            parts.append(shares)
    if parts:
        return WordWeights(model, tuple(parts))
    raise InputError(f"the model has no column {column!r}; it has {listed(model.schema.names)}.")


def first_column_of_words(model: Model) -> str:
    """Return the first column of text, or the first column of a block of token counts."""
    for block, statistic in zip(model.chosen.schema.blocks, model.chosen.statistics, strict=True):
        has_words = block.family.own_block or len(block.names) > 1
        if has_words and block.family.word_shares(statistic) is not None:
            return block.names[0]
    raise InputError("the model has no column of words: name another picture, such as distributions.")
