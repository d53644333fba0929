"""N-grams of words, stored as pairs of numbers: the same tokens with the same numbers as their strings have."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.twins import text as twin

from naively._kernels import text as compiled
from naively._kernels.text import Options, Vocabulary

SOAK = os.environ.get("NAIVELY_SOAK") == "1"
few_examples = settings(max_examples=2_000 if SOAK else 40, deadline=None)

# Few words, so that n-grams repeat; some are longer than the bytes of an entry.
WORDS = ["a", "b", "c", "d'e", "été", "a_rather_long_word", "another_rather_long_word"]
sentences = st.lists(st.sampled_from(WORDS), max_size=150).map(" ".join)
read = st.sampled_from(
    [
        Options(ngrams=(1, 2)),
        Options(ngrams=(1, 3), stop_words=("b",)),
        Options(ngrams=(1, 5)),
        Options(ngrams=(2, 3)),
        Options(ngrams=(1, 9)),
        Options(),
        Options(tokens="chars", ngrams=(1, 3)),
    ]
)
tokens = st.lists(st.sampled_from(["a", "b", "a b", "b a", " ", "a ", "a  b", "", "c a b"]), max_size=8)
acts = st.lists(
    st.one_of(
        st.tuples(st.just("count"), st.lists(sentences, max_size=3), read),
        st.tuples(st.just("unite"), st.lists(sentences, max_size=3), read),
        st.tuples(st.just("count tokens"), st.lists(tokens, max_size=3), read),
        st.tuples(st.just("add"), tokens, read),
        st.tuples(st.just("store"), st.none(), read),
    ),
    max_size=5,
)


def count(vocabulary: Any, module: Any, documents: list[Any], options: Options) -> Any:
    label = np.zeros(len(documents), np.int32)
    are_tokens = bool(documents) and isinstance(documents[0], list)
    given = compiled.prepare_tokens(documents) if are_tokens and module is compiled else documents
    return module.count_text(given, label, None, 1, vocabulary, options)


@few_examples
@given(acts=acts, texts=st.lists(sentences, max_size=2), options=read)
def test_a_token_has_one_number_in_any_order_of_calls(acts: list[Any], texts: list[str], options: Options) -> None:
    numbered, expected_words = Vocabulary(), twin.Vocabulary()
    for act, what, how in acts:
        if act == "store":
            numbered = (
                pickle.loads(pickle.dumps(numbered))
                if how.ngrams == (1, 2)
                else Vocabulary.from_arrays(*numbered.export())
            )
        elif act == "add":
            assert numbered.add(what).tolist() == expected_words.add(what).tolist()
        elif act == "unite":
            other, twins = Vocabulary(), twin.Vocabulary()
            count(other, compiled, what, how), count(twins, twin, what, how)
            assert numbered.union(other).tolist() == expected_words.add(twins.words()).tolist()
        else:
            actual, expected = count(numbered, compiled, what, how), count(expected_words, twin, what, how)
            for part, wanted in zip(actual, expected, strict=True):
                for x, y in zip(part, wanted, strict=True):
                    np.testing.assert_array_equal(x, y, strict=True)
    everything = expected_words.words()
    assert numbered.words() == everything
    assert (
        numbered.find([*everything, "a b a b", "b  a"]).tolist()
        == expected_words.find([*everything, "a b a b", "b  a"]).tolist()
    )
    for x, y in zip(
        compiled.token_rows(texts, numbered, options, ordered=False),
        twin.token_rows(texts, expected_words, options, ordered=False),
        strict=True,
    ):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("longest", [2, 3])
def test_threads_and_unions_give_the_numbers_of_one_thread(longest: int) -> None:
    draw = np.random.default_rng(3)
    texts = [" ".join(f"w{k}" for k in draw.zipf(1.4, 600) % 5_000) for _ in range(900)]
    label, options = (np.arange(900) % 3).astype(np.int32), Options(ngrams=(1, longest))
    one, three, halves, second = Vocabulary(), Vocabulary(), Vocabulary(), Vocabulary()
    alone = compiled.count_text(texts, label, None, 3, one, options)
    together = compiled.count_text(texts, label, None, 3, three, options, 3)
    for part, wanted in zip(together, alone, strict=True):
        for x, y in zip(part, wanted, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)
    assert three.words() == one.words()
    compiled.count_text(texts[:500], label[:500], None, 3, halves, options)
    compiled.count_text(texts[500:], label[500:], None, 3, second, options)
    numbers = halves.union(second)
    assert halves.words() == one.words()
    words = one.words()
    assert [words[k] for k in numbers[:999]] == second.words()[:999]
    table = draw.normal(size=(len(words), 2))
    expected, actual = np.zeros((50, 2)), np.zeros((50, 2))
    stored = Vocabulary.from_arrays(*one.export())
    for vocabulary, out in ((one, expected), (stored, actual)):
        compiled.score_text(texts[:50], vocabulary, options, table, np.zeros(2), False, out)
    np.testing.assert_array_equal(actual, expected)


def test_a_word_of_very_many_words_is_looked_up_in_bounded_depth() -> None:
    vocabulary = Vocabulary()
    compiled.count_text(["a a a"], np.zeros(1, np.int32), None, 1, vocabulary, Options(ngrams=(1, 2)))
    long = "a " * 1_000_000 + "a"
    assert vocabulary.words() == ["a", "a a"]
    assert vocabulary.find([long]).tolist() == [-1]
    assert vocabulary.add([long]).tolist() == [2]
    assert vocabulary.find([long, "a a", "a a a"]).tolist() == [2, 1, -1]
