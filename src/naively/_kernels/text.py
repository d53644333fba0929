"""Text: documents to tokens, counts and scores.

`Options` say what a token is (docs/words.md), a `Vocabulary` gives tokens their numbers, and documents come
as a sequence of strings or as the buffers of an Arrow column (`Strings`), without copies. Everything is the
same, bit for bit, for any `n_jobs`. Ctrl-C stops a long run; a vocabulary may then have words that were not
counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import naively._core as _core
from naively._core import Vocabulary
from naively._kernels.cells import Cells
from naively._kernels.threads import thread_count

__all__ = [
    "UNICODE_VERSION",
    "Documents",
    "Options",
    "Strings",
    "TokenLists",
    "Vocabulary",
    "count_text",
    "count_tokens",
    "hash_texts",
    "prepare",
    "prepare_tokens",
    "score_text",
    "score_text_table",
    "token_rows",
    "tokens",
    "tokens_of",
]

UNICODE_VERSION: str = _core.UNICODE_VERSION


class Strings(NamedTuple):
    """Documents in Arrow's layout: document i is data[offsets[i]:offsets[i + 1]], bytes that should be UTF-8.

    `offsets` is int32 or int64 and need not start with 0. Bit `bit_offset + i` of `valid` says whether
    document i is there; None says that all are. A memory-mapped file is `data` as well as any.
    """

    offsets: NDArray[np.int32] | NDArray[np.int64]
    data: NDArray[np.uint8]
    valid: NDArray[np.uint8] | None = None
    bit_offset: int = 0


Documents: TypeAlias = Sequence[str | bytes | None] | Strings | _core.Documents
Prepared: TypeAlias = _core.Documents
TokenLists: TypeAlias = Sequence[Sequence[str] | None] | _core.Documents


@dataclass(frozen=True, slots=True)
class Options:
    """What a token is.

    `stop_words` are folded like the text and dropped before n-grams are made ("chars" has none). With
    `hash_bits` a token's number is a hash of so many bits, and there is no vocabulary.

    >>> tokens("To be, or not to be", Options(ngrams=(1, 2), stop_words=("or", "not")))
    ['to', 'be', 'to be', 'to', 'be to', 'be', 'to be']
    """

    tokens: Literal["words", "chars", "chars_in_words"] = "words"
    lowercase: bool = True
    strip_accents: bool = False
    ngrams: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] = ()
    hash_bits: int | None = None
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
        )
        object.__setattr__(self, "compiled", compiled)

    def __reduce__(self) -> tuple[type[Options], tuple[object, ...]]:
        return Options, tuple(getattr(self, f.name) for f in fields(self) if f.init)


def prepare(documents: Documents) -> _core.Documents:
    """The documents as the core reads them; worth keeping when they are read more than once.

    Items are str, bytes (UTF-8, or repaired as `errors="replace"` does) or None, which is missing.
    """
    if isinstance(documents, _core.Documents):
        return documents
    if isinstance(documents, Strings):
        return _core.Documents.of_buffers(*documents)
    return _core.Documents.of_sequence(documents)


def tokens(document: str | bytes, options: Options) -> list[str]:
    """The tokens of one document, in order.

    >>> tokens("Don't panic, it's l'été!", Options(strip_accents=True))
    ["don't", 'panic', "it's", "l'ete"]
    >>> tokens("nao", Options(tokens="chars_in_words", ngrams=(3, 4)))
    [' na', 'nao', 'ao ', ' nao', 'nao ']
    """
    (found,) = _core.tokens(_core.Documents.of_sequence([document]), options.compiled)
    return found


def tokens_of(document: _core.Documents, options: Options) -> list[str]:
    """The tokens of one document that was prepared, a text or a list of tokens."""
    (found,) = _core.tokens(document, options.compiled)
    return found


def count_text(
    documents: Documents,
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    vocabulary: Vocabulary | None,
    options: Options,
    n_jobs: int | None = None,
) -> tuple[Cells, Cells]:
    """Cells of the tokens, and cells of the documents' lengths in tokens.

    The first has two sums, occurrences Σ w·x and documents Σ w; the second one, Σ w, with a document's length
    as its index. New words are appended to the vocabulary in the order of the documents. A document that is
    None, or whose weight is 0, is not there; an empty one is, with length 0. Sums of weights are compensated.

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


def count_tokens(
    documents: TokenLists,
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    vocabulary: Vocabulary | None,
    options: Options,
    n_jobs: int | None = None,
) -> tuple[Cells, Cells]:
    """The same for documents that are lists of tokens; stop words and n-grams apply, folding does not."""
    return count_text(prepare_tokens(documents), label, weight, n_classes, vocabulary, options, n_jobs)


def prepare_tokens(documents: TokenLists) -> _core.Documents:
    """Lists of tokens as documents, for any kernel here."""
    return documents if isinstance(documents, _core.Documents) else _core.Documents.of_tokens(documents)


def score_text(
    documents: Documents,
    vocabulary: Vocabulary | None,
    options: Options,
    base: NDArray[np.float64],
    token_indptr: NDArray[np.int64],
    token_class: NDArray[np.int32],
    token_value: NDArray[np.float64],
    class_constant: NDArray[np.float64],
    binary: bool,
    out: NDArray[np.float64],
    n_jobs: int | None = None,
    length: NDArray[np.float64] | None = None,
) -> None:
    """Increase out[i, c] by Σ_k x_ik · (base[k] + value_kc) + L_i · class_constant[c].

    Values are sparse and token-major: token k's classes are token_class[token_indptr[k]:token_indptr[k + 1]].
    NaN in base[k], or a k past its end, says that the token is unknown: it is no evidence and not part of
    L_i = Σ_k x_ik, by which `length` (document,) is increased if it is given. With `binary` each distinct token counts
    once. A missing document's row stays as it is.
    """
    _core.score_text(
        prepare(documents),
        vocabulary,
        options.compiled,
        base,
        token_indptr,
        token_class,
        token_value,
        class_constant,
        binary,
        out,
        thread_count(n_jobs),
        length,
    )


def score_text_table(
    documents: Documents,
    vocabulary: Vocabulary | None,
    options: Options,
    table: NDArray[np.float64],
    class_constant: NDArray[np.float64],
    binary: bool,
    out: NDArray[np.float64],
    n_jobs: int | None = None,
    length: NDArray[np.float64] | None = None,
) -> None:
    """The same from a dense table (token, class): fast with few classes. NaN in table[k, 0]: unknown."""
    read = prepare(documents)
    _core.score_text_table(
        read, vocabulary, options.compiled, table, class_constant, binary, out, thread_count(n_jobs), length
    )


def hash_texts(documents: Documents, n_jobs: int | None = None) -> NDArray[np.uint64]:
    """A hash of each document's bytes, whatever container they come in; 0 for a missing one.

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
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """CSR of the known tokens: counts, numbers, indptr; ascending in a row, or as they first come in the document.

    >>> vocabulary = Vocabulary()
    >>> _ = vocabulary.add(["a", "b"])
    >>> count, index, indptr = token_rows(["b a b", None, "x"], vocabulary, Options())
    >>> count.tolist(), index.tolist(), indptr.tolist()
    ([1, 2], [0, 1], [0, 2, 2, 2])
    """
    return _core.token_rows(prepare(documents), vocabulary, options.compiled, ordered, thread_count(n_jobs))
