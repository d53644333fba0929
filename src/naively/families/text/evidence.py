"""Words of a text for explanations: what is shown as a word, and the text in pieces or without some of its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from naively._kernels.text import Options, Vocabulary, prepare_tokens, token_rows
from naively.families.evidence import Alternative, Pieces

WORD = re.compile(r"\w+(?:['’]\w+)*")  # what is shown as one word; docs/words.md defines what is counted
MAX_WORDS = 1000  # of a text that a counterfactual may leave out


def find_words(words: Sequence[str], vocabulary: Vocabulary | None, hash_bits: int | None) -> NDArray[np.intp]:
    """Return the number of each word, −1 for one that is not in the vocabulary; hashed if there is none."""
    if vocabulary is not None:
        return vocabulary.find(list(words)).astype(np.intp) if words else np.zeros(0, np.intp)
    _, numbers, _ = token_rows(prepare_tokens([[word] for word in words]), None, Options(hash_bits=hash_bits))
    return numbers.astype(np.intp)


def split_text(text: str, log_odds: Mapping[str, float], tokenise: Callable[[str], list[str]]) -> Pieces:
    """Return the text in pieces that together are the text; each word has the log-odds of its tokens."""
    pieces: list[tuple[str, float]] = []
    end = 0
    for word in WORD.finditer(text):
        if word.start() > end:
            pieces.append((text[end : word.start()], 0.0))
        pieces.append((word.group(), float(sum(log_odds.get(token, 0.0) for token in tokenise(word.group())))))
        end = word.end()
    if end < len(text):
        pieces.append((text[end:], 0.0))
    return tuple(pieces)


def word_alternatives(column: str, text: str) -> Iterator[Alternative]:
    """Yield the text without each of its words."""
    words = dict.fromkeys(word.group().casefold() for word in WORD.finditer(text))
    for word in list(words)[:MAX_WORDS]:
        yield Alternative(column, word, None, text, word)


def without_words(text: str, words: Collection[str]) -> str:
    """Return a text without some words, which are casefolded.

    >>> without_words("Free cash, free!", {"free"})
    ' cash, !'
    """
    return WORD.sub(lambda word: "" if word.group().casefold() in words else word.group(), text)
