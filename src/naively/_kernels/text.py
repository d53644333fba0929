"""Tokens, counts and scores of documents.

`Options` define a token (docs/words.md) and a `Vocabulary` numbers tokens. Documents are a sequence of strings or the
buffers of an Arrow column (`Strings`), which are not copied. Every result is the same, bit for bit, for any number of
threads. Ctrl-C stops a long run; the vocabulary may then have words that were not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively import _core
from naively._kernels.cells import Cells, SparseWeights
from naively._kernels.threads import thread_count
from naively._kernels.types import Bools, Codes32, Floats, Wholes

UNICODE_VERSION: str = _core.UNICODE_VERSION
Vocabulary: TypeAlias = _core.Vocabulary


class Strings(NamedTuple):
    """Documents in Arrow's layout: document i is data[offsets[i]:offsets[i + 1]], bytes that should be UTF-8.

    `offsets` is int32 or int64 and need not start with 0. Bit `bit_offset + i` of `valid` is 1 if document i is
    present; None: all are. `data` may be a memory-mapped file.
    """

    offsets: Codes32 | Wholes
    data: NDArray[np.uint8]
    valid: NDArray[np.uint8] | None = None
    bit_offset: int = 0

    def missing(self) -> NDArray[np.bool_]:
        """Return which documents are missing."""
        n = len(self.offsets) - 1
        if self.valid is None:
            return np.zeros(n, dtype=np.bool_)
        bits = np.unpackbits(self.valid, bitorder="little", count=self.bit_offset + n)
        return np.asarray(bits[self.bit_offset :] == 0)

    def to_list(self) -> list[str | None]:
        """Return the documents as Python strings."""
        data, ends = self.data.tobytes(), self.offsets.tolist()
        spans = zip(ends[:-1], ends[1:], self.missing().tolist(), strict=True)
        return [None if is_missing else data[a:b].decode("utf-8", "replace") for a, b, is_missing in spans]


Documents: TypeAlias = Sequence[str | bytes | None] | Strings | _core.Documents
Prepared: TypeAlias = _core.Documents
TokenLists: TypeAlias = Sequence[Sequence[str] | None] | _core.Documents


@dataclass(frozen=True, slots=True)
class Options:
    """The definition of a token.

    `stop_words` are folded like the text and dropped before n-grams are made ("chars" has none). With `window`, a pair
    is two words that are at most `window` − 1 words apart. With `hash_bits` the number of a token is a hash of this
    many bits, and there is no vocabulary.

    >>> tokens("To be, or not to be", Options(ngrams=(1, 2), stop_words=("or", "not")))
    ['to', 'be', 'to be', 'to', 'be to', 'be', 'to be']
    >>> tokens("buy cheap blue pills", Options(ngrams=(2, 2), window=3))
    ['buy … cheap', 'cheap … blue', 'buy … blue', 'blue … pills', 'cheap … pills']
    """

    tokens: Literal["words", "chars", "chars_in_words"] = "words"
    lowercase: bool = True
    strip_accents: bool = False
    ngrams: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] = ()
    hash_bits: int | None = None
    window: int | None = None
    compiled: _core.TextOptions = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.hash_bits is not None and not 1 <= self.hash_bits <= 31:
            raise ValueError(f"hash_bits is {self.hash_bits}: it must be from 1 to 31, or None")
        compiled = _core.TextOptions(
            self.tokens,
            self.lowercase,
            self.strip_accents,
            *self.ngrams,
            self.stop_words,
            self.hash_bits or 0,
            self.window or 0,
        )
        object.__setattr__(self, "compiled", compiled)

    def __reduce__(self) -> tuple[type[Options], tuple[object, ...]]:
        return Options, tuple(getattr(self, f.name) for f in fields(self) if f.init)


DEFAULT_OPTIONS = Options()


@dataclass(frozen=True)
class Tokeniser:
    """What a token is: options of the compiled tokeniser, or a function that splits a string into tokens."""

    options: Options = DEFAULT_OPTIONS
    split: Callable[[str], list[str]] | None = None

    def prepare(self, texts: Sequence[str | None] | Strings) -> Prepared:
        """Return texts as the core reads them."""
        if self.split is None:
            return prepare(texts)
        strings = texts.to_list() if isinstance(texts, Strings) else texts
        return prepare_tokens([None if text is None else list(self.split(text)) for text in strings])


WORDS = Tokeniser()


def prepare(documents: Documents) -> _core.Documents:
    """Return the documents as the core reads them; keep the result if they are read more than once.

    Items are str, bytes (UTF-8, or repaired as `errors="replace"` does) or None, which is missing.
    """
    if isinstance(documents, _core.Documents):
        return documents
    if isinstance(documents, Strings):
        return _core.Documents.of_buffers(*documents)
    return _core.Documents.of_sequence(documents)


def tokens(document: str | bytes, options: Options) -> list[str]:
    """Return the tokens of one document, in order.

    >>> tokens("Don't panic, it's l'été!", Options(strip_accents=True))
    ["don't", 'panic', "it's", "l'ete"]
    >>> tokens("nao", Options(tokens="chars_in_words", ngrams=(3, 4)))
    [' na', 'nao', 'ao ', ' nao', 'nao ']
    """
    return tokens_of(_core.Documents.of_sequence([document]), options)


def tokens_of(document: _core.Documents, options: Options) -> list[str]:
    """Return the tokens of one prepared document, a text or a list of tokens."""
    return _core.tokens(document, options.compiled)[0]


def count_text(
    documents: Documents,
    label: Codes32,
    weight: Floats | None,
    n_classes: int,
    vocabulary: Vocabulary | None,
    options: Options,
    n_jobs: int | None = None,
) -> tuple[Cells, Cells]:
    """Return cells of the tokens, and cells of the lengths of documents in tokens.

    The first have two sums, occurrences Σ w·x and documents Σ w; the second have one, Σ w, and the length of a document
    as index. New words are appended to the vocabulary in the order of the documents. A document that is None, or whose
    weight is 0, is not counted; an empty one is, with length 0. Sums of weights are compensated.

    >>> vocabulary = Vocabulary()
    >>> cells, lengths = count_text(["a b a", "b c"], np.int32([0, 1]), None, 2, vocabulary, Options())
    >>> vocabulary.words(), cells.indptr.tolist(), cells.index.tolist(), cells.sums.tolist()
    (['a', 'b', 'c'], [0, 2, 4], [0, 1, 1, 2], [[2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    >>> lengths.index.tolist()
    [3, 2]
    """
    cells, lengths = _core.count_text(
        prepare(documents), label, weight, n_classes, vocabulary, options.compiled, thread_count(n_jobs)
    )
    return Cells(*cells), Cells(*lengths)


def prepare_tokens(documents: TokenLists) -> _core.Documents:
    """Return lists of tokens as documents, for any function here; stop words and n-grams apply, folding does not."""
    return documents if isinstance(documents, _core.Documents) else _core.Documents.of_tokens(documents)


def score_text(
    documents: Documents,
    vocabulary: Vocabulary | None,
    options: Options,
    weights: Floats | SparseWeights,
    class_constant: Floats,
    binary: bool,
    out: Floats,
    n_jobs: int | None = None,
    length: Floats | None = None,
) -> None:
    """Increase out[i] by Σ_k x_ik · table[k] + L_i · class_constant.

    `weights` is the table (token, class), which is fast with few classes, or its sparse form. A token is unknown if
    table[k, 0] is NaN or k exceeds it: it is not evidence and not part of L_i = Σ_k x_ik. `length` (document,), if
    given, is increased by L_i. With `binary` each distinct token counts once. The row of a missing document does not
    change.
    """
    read, compiled, n_threads = prepare(documents), options.compiled, thread_count(n_jobs)
    _core.score_text(read, vocabulary, compiled, weights, class_constant, binary, out, length, n_threads)


def single_spaces(text: str, max_characters: int) -> tuple[str, list[tuple[int, int]]]:
    """Return the words of a text, as `text.split()` has them, with single spaces between them.

    The second result is where words of more than `max_characters` start and end in the first.

    >>> single_spaces(" a\\tlong\\n\\nword ", 3)
    ('a long word', [(2, 6), (7, 11)])
    """
    return _core.single_spaces(text, max_characters)


def distinct_words(text: str, prefix: str) -> str:
    """Return the different words of an ASCII text in lower case, with a prefix before each, and single spaces.

    A word is a run of letters, digits, underscores, and apostrophes between these.

    >>> distinct_words("Don't pay, PAY!", "subject_")
    "subject_don't subject_pay"
    """
    return _core.distinct_words(text, prefix)


def link_starts(text: str) -> list[int]:
    """Return where an ASCII text has http://, https://, ftp://, www. or mailto:, in any case.

    >>> link_starts("See HTTP://example.org or www.example.org")
    [4, 26]
    """
    return _core.link_starts(text)


def hash_texts(documents: Documents, n_jobs: int | None = None) -> NDArray[np.uint64]:
    """Return a hash of the bytes of each document, for any container; 0 for a missing one.

    >>> hash_texts(["tea", None, "tea"]).tolist()
    [17874539638718677528, 0, 17874539638718677528]
    """
    return _core.hash_texts(prepare(documents), thread_count(n_jobs))


def token_rows(
    documents: Documents,
    vocabulary: Vocabulary | None,
    options: Options,
    n_jobs: int | None = None,
    *,
    ordered: bool = True,
) -> tuple[Codes32, Codes32, Wholes]:
    """Return a CSR matrix of the known tokens: counts, numbers, indptr; ascending, or in order of first appearance.

    >>> vocabulary = Vocabulary()
    >>> _ = vocabulary.add(["a", "b"])
    >>> count, index, indptr = token_rows(["b a b", None, "x"], vocabulary, Options())
    >>> count.tolist(), index.tolist(), indptr.tolist()
    ([1, 2], [0, 1], [0, 2, 2, 2])
    """
    return _core.token_rows(prepare(documents), vocabulary, options.compiled, ordered, thread_count(n_jobs))


def are_among(documents: Documents, values: Sequence[str]) -> Bools:
    """Return which documents are one of some values, to the letter; a missing document is not.

    >>> are_among(["tea", None, "", "teas"], ["", "tea"]).tolist()
    [True, False, True, False]
    """
    return _core.are_among(prepare(documents), list(values))


class NumberKinds(NamedTuple):
    """Whether cells have values, and whether all of these are integers of 64 bits, or numbers that a double keeps."""

    has_values: bool = False
    are_integers: bool = True
    are_numbers: bool = True

    def combined_with(self, more: NumberKinds) -> NumberKinds:
        """Return what these cells and others are together."""
        return NumberKinds(
            self.has_values or more.has_values,
            self.are_integers and more.are_integers,
            self.are_numbers and more.are_numbers,
        )


def number_kinds(cells: Documents, missing: Sequence[str]) -> NumberKinds:
    """Return what the cells of a column of CSV are that are not among the missing values.

    Codes such as 007 and +1, and numbers with more digits than a double keeps, are not numbers
    (core/text/csv_cells.hpp).

    >>> number_kinds(["1", "", "-0.5"], [""])
    NumberKinds(has_values=True, are_integers=False, are_numbers=True)
    """
    return NumberKinds(*_core.number_kinds(prepare(cells), list(missing)))
