"""Text: a column of strings, as the words (or other tokens) in it. Estimated and scored like counts of tokens.

    multinomial   θ_kc = (N_kc + α) / (N_c + αK)         log p = Σ_k x_k log θ_kc                        (1)
    binary        the same of D_kc, with each word once per text                                         (2)
    bernoulli     θ_kc = (D_kc + α) / (D_c + 2α)         absence counts: see `bernoulli.py`              (3)
    complement    see `complement.py`                                                                    (4)

N_kc and D_kc are `WordCounts`: occurrences, and texts with the word. The K words are the active ones: seen in some
text, and not cut off by `min_count` (occurrences), `max_share` (of the texts), `max_tokens` (the most frequent by
texts, then by name) or `vocabulary`. Cut-offs are applied here and not when counting, so that counts stay additive.
Other words are no evidence; a text without known words leaves the class prior. What a word is: docs/words.md.

N-grams of several lengths are counted in one block for each length (`text_blocks.py`). A file of an earlier version may
hold a `Text` of several lengths: it has one vocabulary for all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NoReturn

import numpy as np

from naively._kernels.cells import Cells, seen_tokens
from naively._kernels.leave_one_out import leave_texts_out
from naively._kernels.text import (
    Options,
    Prepared,
    Strings,
    Tokeniser,
    prepare_tokens,
    score_text,
    token_rows,
    tokens_of,
)
from naively._kernels.types import Array, Bools, Codes32, Floats, Index
from naively.data.kinds import Kind
from naively.data.names import Names
from naively.data.views import Texts
from naively.errors import InputError
from naively.families import evidence
from naively.families.base import (
    Estimate,
    EventModel,
    Family,
    Labels,
    Leaving,
    Lengths,
    LinearPart,
    refit_without_each_row,
)
from naively.families.bernoulli import bernoulli_form
from naively.families.complement import complement_form
from naively.families.evidence import Alternative, Pair, Pieces, RowView, Term, WordShares, WordTable
from naively.families.learnt import Learnt
from naively.families.leave_one_out.tokens import TokenRows, WordScorer, check_counted, token_cells
from naively.families.linear_form import LinearForm, LogLinear
from naively.families.multinomial import multinomial_form
from naively.families.tokens import TokenParameters, WordFamily, linear_part
from naively.priors import alpha_of
from naively.statistics.arrays import require
from naively.statistics.base import PLAN, CountPlan
from naively.statistics.cells import cells_of_slots, sum_by_class
from naively.statistics.word_counts import WordCounts

WORD = re.compile(r"\w+(?:['’]\w+)*")  # what is shown as one word; docs/words.md defines what is counted
MAX_WORDS = 1000  # of a text that a counterfactual may leave out
ActiveWords = Bools | Codes32  # by number, whether it is active; or the hashes of those that are


@dataclass(frozen=True, slots=True, eq=False)
class TextParameters(TokenParameters):
    """The log-linear form over the word numbers, the mean length of a text per class, the words, and their counts.

    `cells` are those of the active words, or at least of the words of the row to be explained. `totals` is what the
    words of each class are counted of, `n_words` how many are active, and `total_alpha` the sum of their pseudo-counts.
    """

    counts: WordCounts
    cells: Cells
    totals: Floats
    n_words: int
    total_alpha: Floats


@dataclass(frozen=True)
class Text(WordFamily[WordCounts, TextParameters]):
    """Words of a text, or other tokens; `docs/words.md` defines what a word is.

    Parameters
    ----------
    model
        The event model: "multinomial", "bernoulli" or "complement".
    binary
        Whether a word counts once per text.
    ngrams
        The smallest and the largest number of neighbouring tokens that are counted together. Each number is a block of
        its own, with its own vocabulary.
    window
        Count pairs of words of which one is at most `window` − 1 words after the other, besides the words. Stop words
        are not counted.
    tokens
        "words", "chars", "chars_in_words", or a function that splits a string into a list of tokens.
    lowercase, strip_accents
        How words are folded before they are counted.
    stop_words
        Words to leave out: a list, or the name of a language if the package stop-words is installed.
    min_count, max_share, max_tokens, vocabulary
        Which words are active: the least number of occurrences, the largest share of the texts, the number of words
        that are in most texts, or the words themselves.
    alpha
        The pseudo-count of each word: one number, or a mapping from word (or class) to number.
    hash_bits
        Count hashes of this many bits instead of words. Few bits bound the memory, and words share hashes. With 31, two
        words hardly ever do. The model does not keep the words; an explanation names those of the text.

    >>> from naively import fit
    >>> model = fit(["cheap pills", "lunch at noon", "cheap lunch"], ["spam", "ham", "ham"])
    >>> model.predict(["cheap cheap pills"]).tolist()
    ['spam']
    """

    model: Literal["multinomial", "bernoulli", "complement"] = "multinomial"
    binary: bool = False
    ngrams: tuple[int, int] = (1, 1)
    tokens: Literal["words", "chars", "chars_in_words"] | Callable[[str], list[str]] = "words"
    lowercase: bool = True
    strip_accents: bool = False
    stop_words: tuple[str, ...] | str = ()
    min_count: float = 0
    max_share: float = 1.0
    max_tokens: int | None = None
    vocabulary: tuple[str, ...] | None = None
    alpha: Any = 1.0
    hash_bits: int | None = None
    window: int | None = None

    statistic = WordCounts
    kinds = ("string",)
    own_block = True
    has_length = True

    def __post_init__(self) -> None:
        if self.model not in ("multinomial", "bernoulli", "complement"):
            raise InputError(f'model={self.model!r}: Text knows "multinomial", "bernoulli" and "complement".')
        object.__setattr__(self, "alpha", alpha_of("alpha", self.alpha))
        object.__setattr__(self, "ngrams", tuple(self.ngrams))
        if self.window is not None and self.ngrams == (1, 1):
            object.__setattr__(self, "ngrams", (1, 2))
        if not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(self.stop_words))
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        if self.model != "multinomial" and not isinstance(self.alpha, float):
            raise InputError(f"Text(model={self.model!r}) takes one alpha for all words.")
        if not 0 < self.max_share <= 1:
            raise InputError(f"max_share={self.max_share}: a share of the texts, above 0 and up to 1.")
        _ = self.tokeniser

    @cached_property
    def tokeniser(self) -> Tokeniser:
        """How texts are split into tokens."""
        kind = "words" if callable(self.tokens) else self.tokens
        stop = _stop_words(self.stop_words) if isinstance(self.stop_words, str) else self.stop_words
        try:
            folding = self.lowercase, self.strip_accents
            options = Options(kind, *folding, self.ngrams, stop, self.hash_bits, self.window)
        except ValueError as error:
            raise InputError(f"Text: {error}") from None
        return Tokeniser(options, self.tokens if callable(self.tokens) else None)

    def count(
        self, x: Texts, label: Array, weight: Floats | None, n_classes: int, plan: CountPlan = PLAN
    ) -> WordCounts:
        """Count texts, split by the tokeniser of this family."""
        return WordCounts.count(x, label, weight, n_classes, replace(plan, tokeniser=self.tokeniser))

    def counted_as(self) -> Family:
        """Return a block for each number of words, if there are several; n-grams of characters are one block."""
        from naively.families.text_blocks import TextBlocks  # which has this family as its blocks

        shortest, longest = self.ngrams
        if shortest == longest or self.tokens in ("chars", "chars_in_words"):
            return self
        plain = replace(self, missing="skip", window=None)
        lengths = range(shortest, longest + 1)
        blocks = [replace(plain, ngrams=(n, n), window=self.window if n == 2 else None) for n in lengths]
        return TextBlocks(tuple(blocks), missing=self.missing)

    def check(self, stats: WordCounts, n_classes: int, names: Names) -> None:
        """Raise ValueError unless the statistic is sound, and its words are hashed if the family hashes them."""
        super().check(stats, n_classes, names)
        require((stats.vocabulary is None) == (self.hash_bits is not None), "words, hashed or not")

    def estimate(self, stats: WordCounts, classes: Labels, structure: ActiveWords | None = None) -> TextParameters:
        """Estimate equations (1) to (4) over the active words."""
        stats = self._numbered(stats)
        cells, known = self.active_words(stats, structure)
        occurrences = sum_by_class(cells, cells.sums[0])
        if self.model == "bernoulli":
            form = bernoulli_form(cells, Cells.empty(stats.n_classes, 1), stats.seen, known, self.alpha, self.alpha)
            totals, total_alpha = stats.seen.weight, 2 * self.alpha
        else:
            counted = cells._replace(sums=cells.sums[1:]) if self.binary else cells
            alpha = self.pseudo_counts(stats, classes)
            if self.model == "complement":
                form = complement_form(counted, alpha, known, known)
            else:
                form = multinomial_form(counted, alpha, known, known)
            totals = sum_by_class(counted, counted.sums[0]) if self.binary else occurrences
            total_alpha = alpha[known].sum(axis=0)
        mean_length, n_words = occurrences / np.maximum(stats.seen.weight, 1e-300), int(np.count_nonzero(known))
        return TextParameters(form, mean_length, stats, cells, totals, n_words, np.atleast_1d(total_alpha))

    def estimate_without(
        self, x: Texts, counted: Estimate, c: int, classes: Labels, structure: ActiveWords | None
    ) -> Estimate:
        """Estimate without one counted text of class c, from the cells of its words."""
        (texts,) = x.columns
        if Texts.missing(texts)[0]:
            return counted
        rest = None if self.word_alpha is None else self._without_words(texts, counted.parameters, c)
        if rest is None:
            return super().estimate_without(x, counted, c, classes, structure)
        return Estimate(counted.statistic, rest)

    def _without_words(
        self, texts: Sequence[str | None] | Strings, parameters: TextParameters, c: int
    ) -> TextParameters | None:
        """Return equation (1) or (2), with one pseudo-count for all words, without a text of class c and weight 1.

        None if other texts have other weights, if a class has no words, or if the text was not counted.
        """
        stats, form, alpha = parameters.counts, parameters.form.score, float(self.alpha)
        if not ((stats.seen.weight == stats.seen.rows).all() and stats.seen.rows[c]):
            return None
        rows = self._token_rows(texts, stats)
        order = np.argsort(rows.token)
        numbers, occurrences = rows.token[order].astype(np.intp), rows.counts[order]
        is_known = numbers < len(form.base)
        is_known[is_known] = ~parameters.form.is_unknown(numbers[is_known])
        numbers, occurrences = numbers[is_known], occurrences[is_known]
        words = cells_of_slots(parameters.cells, numbers)
        own = slice(int(words.indptr[c]), int(words.indptr[c + 1]))
        if own.stop - own.start < len(numbers):
            return None
        words.rows[own] -= 1
        words.sums[:, own] -= np.stack([occurrences, np.ones(len(numbers))])
        is_gone = words.rows[own] == 0
        if (words.rows[own] < 0).any() or (words.sums[:, own] < 0).any() or words.sums[:, own][:, is_gone].any():
            return None
        totals, channel = parameters.totals.copy(), 1 if self.counts_presence else 0
        totals[c] -= len(numbers) if self.counts_presence else occurrences.sum()
        if not (totals > 0).all():
            return None
        n_rows = np.bincount(np.searchsorted(numbers, words.index), words.rows, len(numbers))
        values, unknown = np.log1p(words.sums[channel, own] / alpha), numbers[n_rows == 0]
        n_words = parameters.n_words - len(unknown)
        total_alpha = np.array([alpha * n_words])
        score = replace(form.changed(numbers, c, values, unknown), constant=-np.log(totals + total_alpha))
        return TextParameters(LogLinear(score), parameters.mean_length, stats, words, totals, n_words, total_alpha)

    def structure(self, stats: WordCounts) -> ActiveWords | None:
        """Return which words are active; None without cut-offs."""
        if not self.has_structure(stats):
            return None
        active = self._within_cut_offs(self._numbered(stats))
        return active if self.hash_bits is None else stats.distinct_tokens()[active]

    def has_structure(self, stats: WordCounts) -> bool:
        """Return whether there are cut-offs."""
        return self.min_count > 0 or self.max_share < 1 or self.max_tokens is not None or self.vocabulary is not None

    def _numbered(self, stats: WordCounts) -> WordCounts:
        """Return the counts with words numbered from 0 on."""
        return stats if self.hash_bits is None else stats.numbered(self.hash_bits)

    def _within_cut_offs(self, stats: WordCounts) -> Bools:
        cells, n = stats.cells, stats.n_tokens
        active = seen_tokens(cells.index, n)
        if self.min_count > 0:
            active &= np.bincount(cells.index, weights=cells.sums[0], minlength=n) >= self.min_count
        texts = np.bincount(cells.index, weights=cells.sums[1], minlength=n).astype(np.float64)
        if self.max_share < 1:
            active &= texts <= self.max_share * stats.seen.weight.sum()
        if self.vocabulary is not None and stats.vocabulary is not None:
            numbers = stats.vocabulary.find(list(self.vocabulary))
            active &= np.isin(np.arange(n), numbers)
        if self.max_tokens is not None and active.sum() > self.max_tokens:
            active = _most_frequent(active, texts, stats, self.max_tokens)
        return active

    def active_words(self, stats: WordCounts, structure: ActiveWords | None = None) -> tuple[Cells, Bools]:
        """Return the cells of the active words, and which these are: by the cut-offs, or by a given structure.

        Words that were numbered after the structure was chosen are not active. Hashed words are numbered already.
        """
        cells, n = stats.cells, stats.n_tokens
        active = seen_tokens(cells.index, n)
        if structure is None:
            if not self.has_structure(stats):
                return cells, active
            structure = self._within_cut_offs(stats)
        elif self.hash_bits is not None and stats.vocabulary is not None:
            numbers = stats.vocabulary.find_hashes(structure.astype(np.int32))
            structure = seen_tokens(numbers[numbers >= 0], n)
        structure = structure.astype(np.bool_, copy=False)
        active[len(structure) :] = False
        active[: len(structure)] &= structure[:n]
        keep = active[cells.index]
        if keep.all():
            return cells, active
        ends, sums = np.concatenate([[0], np.cumsum(keep)])[cells.indptr], np.ascontiguousarray(cells.sums[:, keep])
        return Cells(ends, cells.index[keep], sums, cells.rows[keep]), active

    def log_likelihood(self, x: Texts, parameters: TextParameters, out: Floats, length: Lengths = None) -> None:
        """Add equations (1) to (4); a missing text adds nothing."""
        for texts in x.columns:
            prepared, stats = self.tokeniser.prepare(texts), parameters.counts
            self._add(parameters.form.score, stats, prepared, self.counts_presence, out, length)
            if parameters.form.forbidden is not None:
                count = np.zeros_like(out)
                self._add(parameters.form.forbidden, stats, prepared, True, count)
                out[count > 0.5] = -np.inf

    @property
    def event_model(self) -> EventModel:
        """How words are scored."""
        return self.model

    @property
    def counts_presence(self) -> bool:
        """Whether a word counts once per text."""
        return self.binary or self.model == "bernoulli"

    @property
    def tunes_words(self) -> bool:
        """Whether event model, smoothing and vocabulary are the defaults."""
        free = ("missing", "tokens", "ngrams", "window", "lowercase", "strip_accents", "stop_words", "hash_bits")
        return self == replace(Text(), **{name: getattr(self, name) for name in free})

    @property
    def word_alpha(self) -> float | None:
        """The pseudo-count of each word, for a multinomial that has one above 0; else None."""
        return self.alpha if self.model == "multinomial" and isinstance(self.alpha, float) and self.alpha > 0 else None

    def with_word_settings(self, event_model: EventModel, binary: bool, alpha: float) -> Text:
        """Return the same words under another event model and smoothing."""
        return replace(self, model=event_model, binary=binary and event_model != "bernoulli", alpha=alpha)

    def word_scorer(
        self, x: Texts, stats: WordCounts, leaving: Leaving, structure: ActiveWords | None = None
    ) -> WordScorer:
        """Read the active words of the texts once, to score them under many settings."""
        (texts,), stats = x.columns, self._numbered(stats)
        rows, has_text = self._token_rows(texts, stats), ~Texts.missing(texts)
        cells, _ = self.active_words(stats, structure)
        return WordScorer.of_texts(rows, cells, stats.seen.weight, has_text, leaving)

    def _token_rows(self, texts: Sequence[str | None] | Strings, stats: WordCounts) -> TokenRows:
        """Return the known words of each text."""
        prepared, options = self.tokeniser.prepare(texts), self.tokeniser.options
        count, index, ends = token_rows(prepared, stats.vocabulary, options, ordered=False)
        return TokenRows(ends.astype(np.int64), index.astype(np.int32), count.astype(np.float64))

    def _add(
        self, form: LinearForm, stats: WordCounts, texts: Prepared, binary: bool, out: Floats, length: Lengths = None
    ) -> None:
        """Add a linear form of the words of texts."""
        if form.offset.any():
            out[~texts.missing()] += form.offset
        sparse = (form.base, form.token_start, form.token_class, form.token_value)
        weights = sparse if form.table is None else form.table
        score_text(texts, stats.vocabulary, self.tokeniser.options, weights, form.constant, binary, out, length=length)

    def column_scores(self, parameters: TextParameters, names: Sequence[str], n_classes: int) -> NoReturn:
        """Refuse: another program would have to split texts into exactly the same words."""
        raise InputError(
            f"column {names[0]!r} is Text, which cannot be exported: another program would have to split it into "
            "exactly the same words (docs/words.md). Use `naively predict`, or fit a model without this column."
        )

    def linear(self, parameters: TextParameters, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Return one weight per active word."""
        known = np.flatnonzero(~parameters.form.is_unknown())
        features = [(names[0], word) for word in parameters.counts.names_of(known)]
        return linear_part(parameters.form, features, known, (of, against))

    def leave_one_out(
        self, x: Texts, stats: WordCounts, classes: Labels, structure: ActiveWords | None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equations (1) to (4) without the words of the row."""
        if self.model == "bernoulli":
            self._leave_bernoulli_out(x, stats, classes, structure, leaving, out)
        else:
            self.leave_words_out(x, stats, classes, structure, leaving, out)

    def leave_words_out(
        self, x: Texts, stats: WordCounts, classes: Labels, structure: ActiveWords | None, leaving: Leaving,
        out: Floats, length: Lengths = None,
    ) -> None:  # fmt: skip
        """Add equation (1) or (2) without the words of the row, and the number of its words that others have too."""
        assert self.model != "bernoulli"  # leave_one_out
        stats = self._numbered(stats)
        cells, known = self.active_words(stats, structure)
        counted = cells._replace(sums=cells.sums[1:]) if self.counts_presence else cells
        alpha = self.pseudo_counts(stats, classes)
        tokens = token_cells(counted, alpha, known, np.ones_like(known), alpha_vanishes=True)
        model = self.tokeniser.options, self.counts_presence, leaving, tokens, self.model
        for texts in x.columns:
            uncounted = leave_texts_out(self.tokeniser.prepare(texts), stats.vocabulary, *model, out[:, 0], length)
            check_counted(uncounted, leaving)

    def _leave_bernoulli_out(
        self, x: Texts, stats: WordCounts, classes: Labels, structure: ActiveWords | None, leaving: Leaving, out: Floats
    ) -> None:
        """Add equation (3) without the words of the row; estimate again where a class loses its last text, or α = 0."""
        (texts,) = x.columns
        has_text = ~Texts.missing(texts)
        refit = np.ones(len(leaving.label), dtype=np.bool_)
        if self.alpha > 0 and (stats.seen.weight > 0).all():
            numbered = self._numbered(stats)
            cells, known = self.active_words(numbered, structure)
            rows = self._token_rows(texts, numbered)
            keep = known[rows.token]
            rows = TokenRows.of(rows.row[keep], rows.token[keep], rows.counts[keep], len(has_text))
            scorer = WordScorer.of_texts(rows, cells, stats.seen.weight, has_text, leaving)
            refit = has_text & (stats.seen.rows[leaving.label] - leaving.rows <= 0)
            out[~refit, 0] += scorer.evidence("bernoulli", True, self.alpha)[~refit]
        refit_without_each_row(self, x, stats, classes, structure, leaving, out, np.flatnonzero(refit).tolist())

    def terms(self, row: RowView, stats: WordCounts, parameters: TextParameters, pair: Pair) -> list[Term]:
        """Return one term per word of the text; one for all words that are not in it, if absence counts."""
        column, (text,), form = row.names[0], row.values, parameters.form
        if text is None:
            return [Term.missing(column)]
        stats, is_bernoulli = parameters.counts, self.model == "bernoulli"
        occurrences = Counter(self._tokenise(text))
        numbers = _find_words(list(occurrences), stats)
        is_known = (numbers >= 0) & (numbers < len(form.score.base))
        is_known[is_known] = ~form.is_unknown(numbers[is_known])
        numbers = numbers[is_known]
        alpha = row.cached("alpha", lambda: self.pseudo_counts(stats, row.classes))
        by_class, total_alpha = alpha if alpha.ndim == 2 else alpha[:, None], parameters.total_alpha
        if by_class.shape[1] > 1:
            by_class, total_alpha = by_class[:, list(pair)], total_alpha[list(pair)]
        labels = [(column, word, word) for word in occurrences]
        known = [label for label, k in zip(labels, is_known.tolist(), strict=True) if k]
        counts = np.array(list(occurrences.values()), dtype=np.float64)
        words = known, numbers, counts[is_known]
        counted = form, parameters.cells, parameters.totals
        terms = self.word_terms(*words, *counted, pair, by_class[numbers], total_alpha)
        terms += [Term.unseen(*labels[i], float(counts[i])) for i in np.flatnonzero(~is_known).tolist()]
        if is_bernoulli:
            shown = f"{parameters.n_words - len(known):,} words that are not in the text"
            scores = evidence.pair_of(form.log_absence_except(numbers)[list(pair)])
            terms.append(Term(column, None, shown, scores, count=0.0, note="together"))
        return terms

    def word_scores(self, text: str, parameters: TextParameters) -> tuple[list[str], Floats]:
        """Return the known words of a text, and the log-likelihood that they add under each class, (word, class)."""
        occurrences = Counter(self._tokenise(text))
        numbers, form = _find_words(list(occurrences), parameters.counts), parameters.form
        is_known = (numbers >= 0) & (numbers < len(form.score.base))
        is_known[is_known] = ~form.is_unknown(numbers[is_known])
        words = [word for word, known in zip(occurrences, is_known.tolist(), strict=True) if known]
        counts = np.ones(len(words)) if self.counts_presence else np.array([occurrences[word] for word in words])
        return words, form.log_weights(numbers[is_known]) * counts[:, None]

    def learnt(
        self,
        stats: WordCounts,
        parameters: TextParameters,
        column: int,
        classes: Labels,
        kind: Kind = "number",
        top: int | None = None,
    ) -> Learnt:
        """Return the most frequent words of a text, and how many texts each class has."""
        stats = parameters.counts
        cells, is_active = self.active_words(stats)
        is_bernoulli, channel = self.model == "bernoulli", 1 if self.counts_presence else 0
        occurrences = np.bincount(cells.index, cells.sums[channel], minlength=stats.n_tokens)
        words = np.flatnonzero(is_active)
        numbers = words[np.argsort(-occurrences[words], kind="stable")[:top]]
        totals = stats.seen.weight if is_bernoulli else sum_by_class(cells, cells.sums[channel])
        alpha = self.pseudo_counts(stats, classes)
        alpha = alpha if alpha.ndim == 2 else alpha[:, None]
        total_alpha = np.array([2 * self.alpha]) if is_bernoulli else alpha[is_active].sum(axis=0)
        shown, form = stats.names_of(numbers), parameters.form
        learnt = self.learnt_words(numbers, shown, form, cells, totals, alpha[numbers], total_alpha, len(words))
        return replace(learnt, parameters={"texts": stats.seen.weight})

    def frequent_words(
        self, stats: WordCounts, parameters: TextParameters, names: Sequence[str], min_count: float
    ) -> WordTable | None:
        """Return the words that occur at least `min_count` times; hashes are not words."""
        return super().frequent_words(parameters.counts, parameters, names, min_count)

    def word_shares(self, stats: WordCounts) -> WordShares | None:
        """Return the counts of all words."""
        return super().word_shares(self._numbered(stats))

    def _tokenise(self, text: str) -> list[str]:
        return tokens_of(self.tokeniser.prepare([text]), self.tokeniser.options)

    def pieces(self, row: RowView, terms: Sequence[Term], log_odds: Mapping[Any, float]) -> Pieces | None:
        """Return the text in pieces, each word with the log-odds of one occurrence, and its share of n-grams."""
        (text,) = row.values
        if text is None:
            return None
        counts = {term.value: 1.0 if self.counts_presence else max(term.count, 1.0) for term in terms}
        of_one = {word: log_odds.get(word, 0.0) / count for word, count in counts.items()}
        parts = re.split(f"({WORD.pattern})", text)  # every second one is a word
        odds = [0.0] * len(parts)
        for token, places in self._tokens_in(parts):
            for i in places:
                odds[i] += of_one.get(token, 0.0) / len(places)
        return tuple((part, x) for part, x in zip(parts, odds, strict=True) if part)

    def _tokens_in(self, parts: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
        """Yield the tokens of a text, and the positions of the parts that each is made of; every second is a word."""
        if self.tokens in ("chars", "chars_in_words"):
            yield from ((token, [i]) for i in range(1, len(parts), 2) for token in self._tokenise(parts[i]))
            return
        is_single = self.ngrams == (1, 1)
        single = self.tokeniser.options if is_single else replace(self.tokeniser.options, ngrams=(1, 1), window=None)
        words = [(w, i) for i in range(1, len(parts), 2) for w in tokens_of(self.tokeniser.prepare([parts[i]]), single)]
        if is_single:
            yield from ((word, [i]) for word, i in words)
            return
        joined = Options(ngrams=self.ngrams, window=self.window)
        tokens = tokens_of(prepare_tokens([[word for word, _ in words]]), joined)
        places = tokens_of(prepare_tokens([list(map(str, range(len(words))))]), joined)  # the same of their positions
        for token, place in zip(tokens, places, strict=True):
            yield token, [words[int(k)][1] for k in re.findall(r"\d+", place)]

    def alternatives(self, row: RowView, parameters: TextParameters, rival: int) -> Iterator[Alternative]:
        """Yield the text without each of its words."""
        text = row.values[0] or ""
        words = dict.fromkeys(word.group().casefold() for word in WORD.finditer(text))
        for word in list(words)[:MAX_WORDS]:
            yield Alternative(row.names[0], word, None, text, word)

    def sample(self, parameters: TextParameters, label: Index, generator: np.random.Generator) -> list[Array]:
        """Draw bags of words: a length about the mean of the class, then as many words; or each word or not.

        A word occurs once in a text if the words are binary.
        """
        if self.model == "complement":
            raise InputError("Text(model='complement') cannot sample: use model='multinomial'.")
        known = np.flatnonzero(~parameters.form.is_unknown())
        odds = np.exp(parameters.form.log_weights(known))
        rows = np.empty(len(label), dtype=object)
        for i, c in enumerate(label):
            if self.model == "bernoulli":
                drawn = known[generator.random(len(known)) * (1 + odds[:, c]) < odds[:, c]]
            else:
                size = generator.poisson(parameters.mean_length[c]) if odds[:, c].any() else 0
                size = min(size, np.count_nonzero(odds[:, c])) if self.binary else size
                share = odds[:, c] / odds[:, c].sum() if size else None
                drawn = generator.choice(known, size, not self.binary, share) if size else known[:0]
            rows[i] = " ".join(parameters.counts.names_of(drawn))
        return [rows]


def _stop_words(language: str) -> tuple[str, ...]:
    """Return the stop words of a language, from the package stop-words."""
    try:
        from stop_words import get_stop_words
    except ImportError:
        raise InputError(
            f'stop_words={language!r} needs the package stop-words: pip install "naively[text]", or give a list.'
        ) from None
    try:
        return tuple(sorted(get_stop_words(language)))
    except Exception:
        raise InputError(f"stop_words={language!r}: no list for that language; give your own.") from None


def _most_frequent(known: Bools, texts: Floats, stats: WordCounts, max_tokens: int) -> Bools:
    """Return the words in most texts; equal ones by the alphabet, so that the order of counting does not matter."""
    numbers = np.flatnonzero(known)
    words = stats.names_of(numbers)
    order = sorted(range(len(numbers)), key=lambda i: (-texts[numbers[i]], words[i]))[:max_tokens]
    most_frequent = np.zeros_like(known)
    most_frequent[numbers[order]] = True
    return most_frequent


def _find_words(words: Sequence[str], stats: WordCounts) -> Index:
    """Return the number of each word, −1 for one that is not in the vocabulary."""
    if stats.vocabulary is None or not words:  # nothing was counted
        return np.full(len(words), -1, dtype=np.intp)
    return stats.vocabulary.find(list(words)).astype(np.intp)


def without_words(text: str, words: Collection[str]) -> str:
    """Return a text without some words, which are casefolded.

    >>> without_words("Free cash, free!", {"free"})
    ' cash, !'
    """
    return WORD.sub(lambda word: "" if word.group().casefold() in words else word.group(), text)
