"""The readable twins of the kernels for text; what a token is stands in `tests.twins.words`."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.twins.cells import dense_table
from tests.twins.words import decode, feature_hash, folded_product, tokens, tokens_of_words

from naively._kernels.cells import Cells, SparseWeights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from naively._kernels.text import Options, Strings

    Documents = Sequence[str | bytes | None] | Strings


class Vocabulary:
    """Words and their numbers, in order of first appearance."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._ids: dict[str, int] = {}
        self.add(list(known))

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, words: Sequence[str | bytes]) -> NDArray[np.int32]:
        """Return the numbers of the words; −1 for a word that is not in the vocabulary."""
        return np.array([self._ids.get(decode(w), -1) for w in words], np.int32)

    def add(self, words: Sequence[str | bytes]) -> NDArray[np.int32]:
        """Return the numbers of the words; new ones are appended."""
        return np.array([self._ids.setdefault(decode(w), len(self._ids)) for w in words], np.int32)

    def words(self, ids: NDArray[np.int32] | None = None) -> list[str]:
        """Return the words of these numbers, or all in order."""
        known = list(self._ids)
        return known if ids is None else [known[i] for i in ids]

    def export(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return all words as UTF-8, and their n + 1 offsets."""
        encoded = [word.encode() for word in self._ids]
        return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)], dtype=np.int64)

    @classmethod
    def from_arrays(cls, bytes: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Vocabulary:  # noqa: A002
        """Return the vocabulary that `export` wrote."""
        text = bytes.tobytes()
        return cls(text[a:b].decode() for a, b in pairwise(offsets))

    def union(self, other: Vocabulary) -> NDArray[np.int32]:
        """Append the other's new words; return the numbers of its words in this vocabulary."""
        return self.add(other.words())


def _numbers(token_list: list[str], vocabulary: Any, options: Options, *, add: bool) -> list[int]:
    if options.hash_bits is not None:
        return [feature_hash(token, options.hash_bits) for token in token_list]
    ids = (vocabulary.add if add else vocabulary.find)(token_list)
    return [int(i) for i in ids if i >= 0]


def _each(documents: Any) -> Iterator[Any]:
    from naively._kernels.text import Strings

    if not isinstance(documents, Strings):
        yield from documents
        return
    offsets, data, valid, bit_offset = documents
    for i in range(len(offsets) - 1):
        bit = bit_offset + i
        is_present = valid is None or valid[bit // 8] >> bit % 8 & 1
        yield data[offsets[i] : offsets[i + 1]].tobytes() if is_present else None


def _cells(sums_by_class: list[dict[int, list[float]]], n_sums: int) -> Cells:
    items = [sorted(of_class.items()) for of_class in sums_by_class]
    flat = [(key, *sums) for of_class in items for key, sums in of_class]
    columns = np.array(flat, float).reshape(-1, n_sums + 2).T
    return Cells(
        np.cumsum([0, *map(len, items)], dtype=np.int64),
        columns[0].astype(np.int32),
        columns[1:-1].copy(),
        columns[-1].astype(np.int64),
    )


def _tokens(document: str | bytes | list[str], options: Options) -> list[str]:
    """Return the tokens of a text, or of a list of tokens, to which only stop words and n-grams apply."""
    if isinstance(document, list):
        return tokens_of_words(map(decode, document), options)
    return tokens(document, options)


def count_text(
    documents: Documents | Sequence[list[str] | None],
    label: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    vocabulary: Any,
    options: Options,
    n_jobs: int = 1,
) -> tuple[Cells, Cells]:
    """Return cells of the tokens, and cells of the lengths of the documents."""
    counts: list[dict[int, list[float]]] = [{} for _ in range(n_classes)]
    lengths: list[dict[int, list[float]]] = [{} for _ in range(n_classes)]
    for i, document in enumerate(_each(documents)):
        w = 1.0 if weight is None else float(weight[i])
        if document is None or w == 0:
            continue
        ids = _numbers(_tokens(document, options), vocabulary, options, add=True)
        cell = lengths[label[i]].setdefault(len(ids), [0.0, 0])
        cell[:] = cell[0] + w, cell[1] + 1
        for k, x in Counter(ids).items():
            cell = counts[label[i]].setdefault(k, [0.0, 0.0, 0])
            cell[:] = cell[0] + w * x, cell[1] + w, cell[2] + 1
    return _cells(counts, 2), _cells(lengths, 1)


def score_text(
    documents: Documents,
    vocabulary: Any,
    options: Options,
    weights: NDArray[Any] | SparseWeights,
    class_constant: NDArray[np.float64],
    binary: bool,
    out: NDArray[np.float64],
    n_jobs: int = 1,
) -> None:
    """Increase out[i, c] by Σ_k x_k · table[k, c] + L · class_constant[c]; NaN in table[k, 0]: unknown."""
    table = weights if isinstance(weights, np.ndarray) else dense_table(*weights, n_classes=len(class_constant))
    for row, document in zip(out, _each(documents), strict=True):
        if document is None:
            continue
        for k, n in Counter(_numbers(tokens(document, options), vocabulary, options, add=False)).items():
            if k < len(table) and not np.isnan(table[k, 0]):
                row += (1 if binary else n) * (table[k] + class_constant)


def token_rows(
    documents: Documents, vocabulary: Any, options: Options, n_jobs: int = 1, *, ordered: bool = True
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return a CSR matrix of the known tokens: counts, numbers, indptr; ascending, or in order of first appearance."""
    rows = [
        list(Counter(_numbers([] if d is None else tokens(d, options), vocabulary, options, add=False)).items())
        for d in _each(documents)
    ]
    rows = [sorted(row) for row in rows] if ordered else rows
    flat = np.array([item for row in rows for item in row], np.int32).reshape(-1, 2)
    return flat[:, 1].copy(), flat[:, 0].copy(), np.cumsum([0, *map(len, rows)], dtype=np.int64)


def single_spaces(text: str, max_characters: int) -> tuple[str, list[tuple[int, int]]]:
    """Join words by single spaces; list where words start and end that are longer than this."""
    words = text.split()
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    long_words = [
        (int(end) - len(word), int(end)) for word, end in zip(words, ends, strict=True) if len(word) > max_characters
    ]
    return " ".join(words), long_words


def distinct_words(text: str, prefix: str) -> str:
    """Return the different words of an ASCII text in lower case, each with the prefix."""
    words = re.findall(r"[a-z0-9_]+(?:'[a-z0-9_]+)*", text.lower())
    return " ".join(prefix + word for word in dict.fromkeys(words))


def link_starts(text: str) -> list[int]:
    """Return where an ASCII text has the start of a link."""
    return [match.start() for match in re.finditer(r"(?=https?://|ftp://|www\.|mailto:)", text, re.IGNORECASE)]


def hash_texts(documents: Documents) -> NDArray[np.uint64]:
    """Return a hash of each document's bytes: of the pieces, then of that and the length; 0 for a missing one."""
    hashes = []
    for document in _each(documents):
        if document is None:
            hashes.append(0)
            continue
        text = decode(document)
        hashes.append(folded_product(feature_hash(text, 64) ^ len(text.encode()), 0x9E3779B97F4A7C15) or 1)
    return np.array(hashes, np.uint64)


def are_among(documents: Documents, values: Sequence[str]) -> NDArray[np.bool_]:
    """Return which documents are one of some values."""
    return np.array([doc is not None and decode(doc) in values for doc in _each(documents)], np.bool_)


INTEGER = re.compile(r"(0|-?[1-9][0-9]{0,17})", re.ASCII)
NUMBER = re.compile(
    r"-?((0|[1-9][0-9]{0,14})([.][0-9]{1,17})?|0[.]0+[0-9]{1,17})([eE][+-]?(1?[0-9]{1,2}|2[0-8][0-9]))?", re.ASCII
)


def number_kinds(cells: Documents, missing: Sequence[str]) -> tuple[bool, bool, bool]:
    """Return whether cells have values, and whether all are integers, and numbers."""
    values = [decode(cell) for cell in _each(cells) if cell is not None]
    values = [value for value in values if value not in missing]
    are_integers, are_numbers = (all(map(pattern.fullmatch, values)) for pattern in (INTEGER, NUMBER))
    return bool(values), are_integers, are_numbers
