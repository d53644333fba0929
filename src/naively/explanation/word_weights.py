"""What a column of words has learnt: the words that speak most for a class, with the counts behind them.

    log-odds of word k = log θ_k,label − log θ_k,against                    (1)
    θ_k = (n_k + α) / (n + αK)          multinomial: occurrences, binary: texts with the word
    θ_k = (d_k + α) / (d + 2α)          bernoulli: texts with the word, of all texts

`against` is another class, or all other classes together, their counts added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.names import listed
from naively.errors import InputError
from naively.families import Bernoulli, Multinomial, Text
from naively.model.decide import position_of
from naively.statistics import TokenCounts, WordCounts
from naively.statistics.cells import class_of_cells

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["Evidence", "Top", "Word", "evidence_of"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word, what it says, and the counts behind it: occurrences and texts, in the class and against it."""

    word: str
    log_odds: float
    count: float
    count_against: float
    texts: float
    texts_against: float


@dataclass(frozen=True, slots=True)
class Top:
    """The words that speak most for a class; prints as a table."""

    label: Any
    against: str
    words: tuple[Word, ...]

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"label": self.label, "against": self.against, "words": [asdict(word) for word in self.words]}

    def __str__(self) -> str:
        width = max([4, *(len(word.word) for word in self.words)])
        head = f"{'word':<{width}}  log-odds     count   against     texts   against"
        lines = [f"for {self.label!r} against {self.against}", head]
        for w in self.words:
            numbers = (w.count, w.count_against, w.texts, w.texts_against)
            lines.append(f"{w.word:<{width}}  {w.log_odds:+8.3f}  " + "  ".join(f"{x:8g}" for x in numbers))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A column of text (or a block of token counts) of a model."""

    model: Model
    family: Any
    counts: WordCounts | TokenCounts

    def top(self, label: Any, n: int = 20, against: Any = None, min_count: float = 5) -> Top:
        """The n words with the largest log-odds (1), among those that occur at least min_count times in both."""
        of = position_of(label, self.model.classes)
        other = np.arange(len(self.model.classes)) != of
        if against is not None:
            other = np.arange(len(self.model.classes)) == position_of(against, self.model.classes)
            if other[of]:
                raise InputError(f"{label!r} against itself says nothing: name another class.")
        mine, theirs = self._counts(np.arange(len(other)) == of), self._counts(other)
        odds = self._log_share(mine) - self._log_share(theirs)
        eligible = np.flatnonzero((mine.count + theirs.count >= max(min_count, 1e-300)) & (mine.count > 0))
        order = eligible[np.lexsort((eligible, -odds[eligible]))][:n]
        name = "all other classes together" if against is None else repr(against)
        words = tuple(
            Word(
                self._name(k),
                float(odds[k]),
                *(float(a[k]) for a in (mine.count, theirs.count, mine.texts, theirs.texts)),
            )
            for k in order.tolist()
        )
        return Top(label, name, words)

    def _name(self, k: int) -> str:
        return self.counts.name(k) if isinstance(self.counts, WordCounts) else self.counts.tokens[k]

    def _counts(self, classes: NDArray[np.bool_]) -> _Counts:
        """Counts per word over some classes together."""
        cells = self.counts.cells
        n = self.counts.n_numbers() if isinstance(self.counts, WordCounts) else self.counts.n_tokens
        chosen = classes[class_of_cells(cells)]
        index = cells.index[chosen]
        sums = [np.bincount(index, weights=s[chosen], minlength=n).astype(np.float64) for s in cells.sums]
        return _Counts(sums[0], sums[1], float(self.counts.seen.weight[classes].sum()))

    def _log_share(self, counts: _Counts) -> NDArray[np.float64]:
        """log θ_k; −inf where maximum likelihood says zero."""
        alpha = self.family.a if isinstance(self.family, Bernoulli) else self.family.alpha
        if not isinstance(alpha, float):
            raise InputError("top() needs one alpha for all words; this model has several.")
        absence = isinstance(self.family, Bernoulli) or getattr(self.family, "model", "") == "bernoulli"
        shares = counts.texts if absence or getattr(self.family, "binary", False) else counts.count
        k = np.count_nonzero(np.bincount(self.counts.cells.index))
        total = counts.seen + 2 * alpha if absence else shares.sum() + alpha * k
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares + alpha) - np.log(max(total, 1e-300)))


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    count: NDArray[np.float64]
    texts: NDArray[np.float64]
    seen: float


def evidence_of(model: Model, column: str) -> Evidence:
    """The evidence of a column of text, or of the block of token counts that a column belongs to."""
    for block, statistic in zip(model.chosen.schema.blocks, model.chosen.statistics, strict=True):
        if column in block.names:
            if isinstance(block.family, (Text, Multinomial, Bernoulli)) and isinstance(
                statistic, (WordCounts, TokenCounts)
            ):
                return Evidence(model, block.family, statistic)
            raise InputError(f"column {column!r} is {block.family}, which has no words.")
    raise InputError(f"the model has no column {column!r}; it has {listed(model.schema.names)}.")
