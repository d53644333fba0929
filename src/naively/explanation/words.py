"""Terms of a column of text: each word of the row, how often it is there, and how often each class had it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively._kernels.text import Options, prepare_tokens, token_rows, tokens_of
from naively.explanation.tokens import absent_scores, coin_scores, in_class, scores_at
from naively.families import Text
from naively.families.evidence import BlockTerms, Spread, Term, beta_spread, counts_of, two
from naively.families.text.text import TextParameters
from naively.priors import Dirichlet, pseudo_counts
from naively.schema.schema import Block
from naively.statistics import Texts, WordCounts
from naively.statistics.cells import class_sums

__all__ = ["WORD", "WordTerms"]

WORD = re.compile(r"\w+(?:['’]\w+)*")  # what is shown as one word; what is counted is said by docs/words.md


@dataclass(frozen=True, eq=False)
class WordTerms(BlockTerms):
    """A term for each word of the text, and one for all words that are not in it, if absence counts."""

    block: Block
    counts: WordCounts
    fitted: TextParameters
    x: Texts
    classes: tuple[Any, ...]

    @property
    def family(self) -> Text:
        """How the text is read and scored."""
        assert isinstance(self.block.family, Text)
        return self.block.family

    @cached_property
    def texts(self) -> Sequence[str | None]:
        """The column as strings."""
        return Texts.as_strings(self.x.columns[0])

    @cached_property
    def in_force(self) -> tuple[Cells, NDArray[np.bool_]]:
        """The cells of the words in force, and which those are."""
        return self.family.in_force(self.counts)

    @cached_property
    def every(self) -> NDArray[np.float64]:
        """What a word's count is a part of, per class: the texts, or all words in force."""
        if self.family.model == "bernoulli":
            return self.counts.seen.weight
        return class_sums(self.in_force[0], 1 if self.family.counts_presence else 0)

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""
        name, text = self.block.names[0], self.texts[row]
        if text is None:
            return [Term(name, None, "missing", note="missing")]
        occurrences = Counter(tokens_of(self.family.tokeniser.prepare([text]), self.family.tokeniser.options))
        words = list(occurrences)
        numbers = self._numbers(words)
        in_force = (numbers >= 0) & (numbers < len(self.fitted.form.score.base))
        in_force[in_force] = ~np.isnan(self.fitted.form.score.base[numbers[in_force]])
        found = self._known(
            [w for w, k in zip(words, in_force, strict=True) if k], numbers[in_force], occurrences, of, against
        )
        for word, known in zip(words, in_force.tolist(), strict=True):
            if not known:
                found.append(Term(name, word, word, count=float(occurrences[word]), note="never seen in training"))
        if self.family.model == "bernoulli":
            rest = absent_scores(self.fitted.form, numbers[in_force])[[of, against]]
            n = int(self.in_force[1].sum() - in_force.sum())
            found.append(Term(name, None, f"{n} words that are not there", two(rest), count=0.0, note="together"))
        return found

    def _numbers(self, words: list[str]) -> NDArray[np.intp]:
        """The number of each word; −1 for one that the vocabulary does not have."""
        if self.counts.vocabulary is not None:
            return self.counts.vocabulary.find(words).astype(np.intp) if words else np.zeros(0, np.intp)
        hashed = Options(hash_bits=self.family.hash_bits)
        _, index, _ = token_rows(prepare_tokens([[word] for word in words]), None, hashed)
        return index.astype(np.intp)

    def _known(
        self, words: list[str], numbers: NDArray[np.intp], occurrences: Counter[str], of: int, against: int
    ) -> list[Term]:
        """The terms of words in force."""
        form, coins = self.fitted.form, self.family.model == "bernoulli"
        scores = (coin_scores(form, numbers, True) if coins else scores_at(form, numbers))[:, [of, against]]
        cells = self.in_force[0]
        channel = 1 if self.family.counts_presence else 0
        counted = [in_class(cells, c, numbers, cells.sums[channel]) for c in (of, against)]
        every = self.every
        low, high = self._spread(numbers, counted, every, of, against)
        name, found = self.block.names[0], []
        for i, word in enumerate(words):
            times = 1.0 if self.family.counts_presence else float(occurrences[word])
            behind = counts_of([n[i] for n in counted], every[[of, against]])
            spread = times * float(low[i]), times * float(high[i])
            found.append(Term(name, word, word, two(times * scores[i]), float(occurrences[word]), behind, spread))
        return found

    def _spread(
        self,
        numbers: NDArray[np.intp],
        counted: list[NDArray[np.float64]],
        every: NDArray[np.float64],
        of: int,
        against: int,
    ) -> Spread:
        """Of a Beta or Dirichlet; complement evidence is no likelihood, and has none."""
        if self.family.model == "complement":
            return np.full(len(numbers), np.nan), np.full(len(numbers), np.nan)
        ends, (cells, known) = [], self.in_force
        channel = 1 if self.family.counts_presence else 0
        for n, c in zip(counted, (of, against), strict=True):
            if every[c] == 0:  # a class without a word has taken the counts of all
                n = np.bincount(cells.index, cells.sums[channel], len(known))[numbers].astype(np.float64)
            if self.family.model == "bernoulli":
                own, prior = np.asarray(self.family.alpha), 2 * float(self.family.alpha)
            else:
                alpha = self._alpha(known, c)
                own, prior = alpha[numbers], float(alpha[known].sum())
            ends += [n + own, np.full(len(numbers), (every[c] or every.sum()) + prior)]
        return beta_spread(*ends)

    def _alpha(self, known: NDArray[np.bool_], c: int) -> NDArray[np.float64]:
        """The pseudo-counts of all words in a class."""
        named = isinstance(self.family.alpha, Dirichlet)
        alpha = pseudo_counts(self.family.alpha, self.counts.words() if named else range(len(known)), self.classes)
        own = alpha[:, c] if alpha.ndim == 2 else alpha
        return np.broadcast_to(own, known.shape)

    def pieces(self, row: int, terms: Sequence[Term]) -> dict[str, tuple[tuple[str, float], ...]]:
        """The text in pieces that together are the text; each word with the log-odds of one occurrence."""
        text = self.texts[row]
        if text is None:
            return {}
        share = 1.0 if self.family.counts_presence else None
        says = {t.value: t.log_odds / (share or max(t.count, 1.0)) for t in terms if t.value is not None}
        found: list[tuple[str, float]] = []
        end = 0
        for word in WORD.finditer(text):
            if word.start() > end:
                found.append((text[end : word.start()], 0.0))
            read = tokens_of(self.family.tokeniser.prepare([word.group()]), self.family.tokeniser.options)
            found.append((word.group(), float(sum(says.get(token, 0.0) for token in read))))
            end = word.end()
        if end < len(text):
            found.append((text[end:], 0.0))
        return {self.block.names[0]: tuple(found)}
