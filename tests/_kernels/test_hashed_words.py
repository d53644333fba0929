"""Feature hashes of many bits: counted as they are, numbered to be read; against dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins.words import feature_hash, tokens

from naively._kernels import text as compiled
from naively._kernels.text import Options, Vocabulary

OPTIONS = Options(hash_bits=31, ngrams=(1, 2), window=4)
texts = st.lists(st.text(alphabet="abcde ", max_size=40), min_size=1, max_size=8)


@given(documents=texts, others=texts)
def test_numbers_are_positions_among_the_hashes_that_were_counted(documents: list[str], others: list[str]) -> None:
    cells, _ = compiled.count_text(documents, np.zeros(len(documents), np.int32), None, 1, None, OPTIONS)
    by_hash = Counter(feature_hash(token, 31) for text in documents for token in tokens(text, OPTIONS))
    assert dict(zip(cells.index.tolist(), cells.sums[0].tolist(), strict=True)) == by_hash
    vocabulary, hashes = Vocabulary.of_hashes(cells.index, 31), sorted(by_hash)
    assert len(vocabulary) == len(hashes)
    assert vocabulary.find_hashes(np.array([*hashes, 5], np.int32)).tolist() == [*range(len(hashes)), -1]
    assert vocabulary.words() == [f"#{h}" for h in hashes]
    count, index, indptr = compiled.token_rows(others, vocabulary, OPTIONS)
    for i, text in enumerate(others):
        numbers = slice(indptr[i], indptr[i + 1])
        row = Counter(hashes.index(h) for t in tokens(text, OPTIONS) if (h := feature_hash(t, 31)) in by_hash)
        assert dict(zip(index[numbers].tolist(), count[numbers].tolist(), strict=True)) == row
    words = tokens(others[0], OPTIONS)
    expected = [hashes.index(h) if (h := feature_hash(word, 31)) in by_hash else -1 for word in words]
    assert vocabulary.find(words).tolist() == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_many_hashes_are_counted_alike_by_any_number_of_threads(weighted: bool) -> None:
    draw = np.random.default_rng(1)
    documents = [" ".join(f"w{k}" for k in draw.zipf(1.3, 300) % 50_000) for _ in range(2_000)]
    label = draw.integers(0, 3, len(documents)).astype(np.int32)
    weight = draw.random(len(documents)) if weighted else None
    one, *others = [compiled.count_text(documents, label, weight, 3, None, OPTIONS, n)[0] for n in (1, 2, 5)]
    for other in others:
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    named = Options(ngrams=(1, 2), window=4)
    words, _ = compiled.count_text(documents, label, weight, 3, Vocabulary(), named, 1)
    assert len(words.index) - len(one.index) <= 40  # nearly a million: pairs of equal hashes are few
    np.testing.assert_allclose(one.sums[0].sum(), words.sums[0].sum())


def test_what_cannot_be_a_vocabulary_of_hashes_is_refused() -> None:
    for hashes, bits, message in (([3, 3], 4, "ascend"), ([5, 2], 4, "ascend"), ([16], 4, "4 bits"), ([1], 32, "bits")):
        with pytest.raises(ValueError, match=message):
            Vocabulary.of_hashes(np.array(hashes, np.int32), bits)
    hashed = Vocabulary.of_hashes(np.array([1], np.int32), 31)
    for change in (lambda: hashed.add(["a"]), lambda: hashed.union(Vocabulary()), hashed.export):
        with pytest.raises(ValueError, match="no words"):
            change()
    with pytest.raises(ValueError, match="no hashes"):
        Vocabulary().find_hashes(np.array([1], np.int32))
    with pytest.raises(ValueError, match="either a vocabulary"):
        compiled.token_rows(["a"], hashed, Options(hash_bits=30))
