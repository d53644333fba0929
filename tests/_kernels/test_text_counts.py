"""Counting and scoring of text: compiled against twin, threads, batches, forms of input, refusals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.twins import text as twin
from tests.twins import words as words_of

from naively._kernels import text as compiled
from naively._kernels.text import Options, Strings, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels.cells import Cells

SOAK = os.environ.get("NAIVELY_SOAK") == "1"
few_examples = settings(max_examples=3_000 if SOAK else 100, deadline=None)

words = st.text(alphabet="abcé' ", max_size=30)
documents = st.lists(st.one_of(st.none(), words, words.map(str.encode)), max_size=12)
options = st.sampled_from(
    [
        Options(),
        Options(ngrams=(1, 2), stop_words=("a",)),
        Options(tokens="chars", ngrams=(1, 3)),
        Options(tokens="chars_in_words", ngrams=(2, 3)),
        Options(hash_bits=3),
        Options(hash_bits=20, ngrams=(1, 4)),
        Options(ngrams=(2, 2), window=5),
        Options(hash_bits=31, ngrams=(1, 2), window=3),
    ]
)


def same(a: Cells, b: Cells) -> bool:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y, strict=True)
    return True


def vocabularies(options: Options) -> tuple[Vocabulary | None, twin.Vocabulary | None]:
    return (None, None) if options.hash_bits else (Vocabulary(), twin.Vocabulary())


def corpus(n: int, size: int, seed: int = 0) -> list[str]:
    draw = np.random.default_rng(seed)
    return [" ".join(f"w{k}" for k in draw.zipf(1.3, draw.integers(0, size)) % 50_000) for _ in range(n)]


def strings(documents: list[str | None], kind: pa.DataType, skip: int = 0) -> Strings:
    """An Arrow column's buffers, from row `skip` on."""
    buffers: list[Any] = pa.array(documents, kind).buffers()
    valid, offsets, data = buffers
    dtype: Any = np.int64 if kind == pa.large_string() else np.int32
    return Strings(
        np.frombuffer(offsets, dtype)[skip : len(documents) + 1],
        np.frombuffer(data or b"", np.uint8),
        None if valid is None else np.frombuffer(valid, np.uint8),
        skip,
    )


@few_examples
@given(documents=documents, options=options, data=st.data())
def test_count_text(documents: list[Any], options: Options, data: st.DataObject) -> None:
    n = len(documents)
    label = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
    dyadic = st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.5]), min_size=n, max_size=n)
    weight = data.draw(st.one_of(st.none(), dyadic.map(np.array).map(lambda a: a.astype(float))))
    vocabulary, twin_vocabulary = vocabularies(options)
    actual = compiled.count_text(documents, label, weight, 3, vocabulary, options, 2)
    expected = twin.count_text(documents, label, weight, 3, twin_vocabulary, options)
    assert same(actual[0], expected[0])
    assert same(actual[1], expected[1])
    if vocabulary is not None and twin_vocabulary is not None:
        assert vocabulary.words() == twin_vocabulary.words()


@few_examples
@given(
    documents=st.lists(st.one_of(st.none(), st.lists(st.text(alphabet="ab ", max_size=3), max_size=6)), max_size=8),
    options=options.filter(lambda o: o.tokens == "words"),
)
def test_count_tokens(documents: list[Any], options: Options) -> None:
    label = np.arange(len(documents), dtype=np.int32) % 2
    vocabulary, twin_vocabulary = vocabularies(options)
    actual = compiled.count_text(compiled.prepare_tokens(documents), label, None, 2, vocabulary, options)
    expected = twin.count_text(documents, label, None, 2, twin_vocabulary, options)
    assert same(actual[0], expected[0])
    assert same(actual[1], expected[1])


@few_examples
@given(documents=documents, options=options, binary=st.booleans(), data=st.data())
def test_score(documents: list[Any], options: Options, binary: bool, data: st.DataObject) -> None:
    seed, n_classes = data.draw(st.integers(0, 99)), data.draw(st.integers(1, 6))
    draw = np.random.default_rng(seed)
    vocabulary, twin_vocabulary = vocabularies(options)
    if vocabulary is not None and twin_vocabulary is not None:
        known = words_of.tokens("a b c abc é a'b", options)
        vocabulary.add(known)
        twin_vocabulary.add(known)
    n_tokens = int((len(vocabulary) if vocabulary is not None else 2**3) - draw.integers(3))
    base = draw.normal(size=n_tokens)
    base[draw.random(n_tokens) < 0.2] = np.nan
    dense = np.where(draw.random((n_tokens, n_classes)) < 0.5, draw.normal(size=(n_tokens, n_classes)), 0.0)
    constant = draw.normal(size=n_classes)
    indptr = np.r_[0, np.cumsum((dense != 0).sum(1))].astype(np.int64)
    sparse = (base, indptr, np.nonzero(dense)[1].astype(np.int32), dense[dense != 0])
    start = draw.normal(size=(len(documents), n_classes))
    expected, actual, by_table = start.copy(), start.copy(), start.copy()
    twin.score_text(documents, twin_vocabulary, options, sparse, constant, binary, expected)
    n_known, n_known_by_table = np.ones((2, len(documents)))
    compiled.score_text(documents, vocabulary, options, sparse, constant, binary, actual, 2, n_known)
    table = dense + base[:, None]
    compiled.score_text(documents, vocabulary, options, table, constant, binary, by_table, 2, n_known_by_table)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_table, expected, rtol=1e-12, atol=1e-12)
    length = np.ones((len(documents), 1))
    twin.score_text(documents, twin_vocabulary, options, 0 * base[:, None], np.ones(1), binary, length)
    assert n_known.tolist() == n_known_by_table.tolist() == length[:, 0].tolist()


@few_examples
@given(documents=documents, options=options)
def test_token_rows(documents: list[Any], options: Options) -> None:
    vocabulary, twin_vocabulary = vocabularies(options)
    if vocabulary is not None and twin_vocabulary is not None:
        vocabulary.add(["a", "b", " a", "abc", "a b"])
        twin_vocabulary.add(["a", "b", " a", "abc", "a b"])
    ordered = len(documents) % 2 == 0
    actual = compiled.token_rows(documents, vocabulary, options, 2, ordered=ordered)
    for x, y in zip(actual, twin.token_rows(documents, twin_vocabulary, options, ordered=ordered), strict=True):
        np.testing.assert_array_equal(x, y, strict=True)


@pytest.mark.parametrize("options", [Options(), Options(ngrams=(2, 2)), Options(hash_bits=12)])
@pytest.mark.parametrize(("n_classes", "weighted"), [(1, False), (3, True), (200, False), (200, True)])
def test_threads_change_nothing(options: Options, n_classes: int, weighted: bool) -> None:
    texts = corpus(1_500, 300)
    draw = np.random.default_rng(1)
    label = draw.integers(0, n_classes, len(texts)).astype(np.int32)
    weight = draw.random(len(texts)) if weighted else None
    results = []
    for n_jobs in (1, 2, 7):
        vocabulary = None if options.hash_bits else Vocabulary()
        results.append((*compiled.count_text(texts, label, weight, n_classes, vocabulary, options, n_jobs), vocabulary))
    for cells, lengths, vocabulary in results[1:]:
        assert same(cells, results[0][0])
        assert same(lengths, results[0][1])
        assert vocabulary is None or vocabulary.words() == results[0][2].words()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "known_words"),
    [
        (Options(), ["nowhere", "w7", "very_long_and_alone77"]),
        (Options(ngrams=(1, 2)), ["nowhere", "w7", "very_long_and_alone77"]),
        (Options(ngrams=(1, 2)), ["with space", "w7 w7"]),
        (Options(hash_bits=12), []),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_where_threads_meet_changes_nothing(options: Options, known_words: list[str], weighted: bool) -> None:
    """One thread comes from the front, through 2 MB of spaces, the others from the back, through as much of words.

    Some words are known before, some are long, and many new ones are only in what one of the threads reads.
    """
    texts = [" " * 600_000] * 4 + corpus(4_000, 300)
    texts[1_000:] = [f"{text} alone{i} very_long_and_alone{i}" for i, text in enumerate(texts[1_000:])]
    label = np.arange(len(texts), dtype=np.int32) % 3
    weight = np.random.default_rng(3).random(len(texts)) if weighted else None
    results = []
    for n_jobs in (1, 2, 3, 4):
        vocabulary = None if options.hash_bits else Vocabulary()
        if vocabulary is not None:
            vocabulary.add(known_words)
        results.append((*compiled.count_text(texts, label, weight, 3, vocabulary, options, n_jobs), vocabulary))
    for cells, lengths, vocabulary in results[1:]:
        assert same(cells, results[0][0])
        assert same(lengths, results[0][1])
        if vocabulary is not None:
            known = vocabulary.words()
            assert known == results[0][2].words()  # type: ignore[union-attr]
            np.testing.assert_array_equal(vocabulary.find(known), np.arange(len(known)))


def test_batches_change_nothing() -> None:
    texts = corpus(800, 60)
    label = np.arange(len(texts), dtype=np.int32) % 3
    vocabulary = Vocabulary()
    cells, lengths = compiled.count_text(texts, label, None, 3, vocabulary, Options(), 2)
    for size in (1, 37, 500):
        parts = Vocabulary()
        sums = np.zeros((2, 3, len(vocabulary)))
        for i in range(0, len(texts), size):
            part, _ = compiled.count_text(texts[i : i + size], label[i : i + size], None, 3, parts, Options())
            classes = np.repeat(np.arange(3), np.diff(part.indptr))
            for channel, values in zip(sums, part.sums, strict=True):
                channel[classes, part.index] += values
        assert parts.words() == vocabulary.words()
        np.testing.assert_array_equal(sums[:, sums[1] > 0], cells.sums)
    assert int(lengths.rows.sum()) == len(texts)


def test_sums_of_weights_do_not_depend_on_threads() -> None:
    """Some 7 MB are several strands of documents, whose sums are rounded in one order whoever takes them."""
    texts = corpus(12_000, 300)
    draw = np.random.default_rng(2)
    label, weight = draw.integers(0, 3, len(texts)).astype(np.int32), draw.random(len(texts))
    vocabulary = Vocabulary()
    one, _ = compiled.count_text(texts, label, weight, 3, vocabulary, Options(), 1)
    for n_jobs in (2, 3, 5):
        again = Vocabulary()
        cells, _ = compiled.count_text(texts, label, weight, 3, again, Options(), n_jobs)
        assert same(cells, one)
        assert again.words() == vocabulary.words()
    expected = np.zeros((3, len(vocabulary)))
    for text, c, w in zip(texts, label, weight, strict=True):
        np.add.at(expected[c], vocabulary.find(text.split()), w)
    classes = np.repeat(np.arange(3), np.diff(one.indptr))
    np.testing.assert_allclose(one.sums[0], expected[classes, one.index], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [1, 500_000])
def test_counts_past_16_bits(n_classes: int) -> None:
    """A word 200,000 times in a document, and in 100,000 documents: cells of 16 bits must go on in others.

    With many classes there is no dense table, and all counts are such cells.
    """
    texts = ["a " * 200_000 + "b", *["a b"] * 100_000]
    cells, _ = compiled.count_text(texts, np.zeros(len(texts), np.int32), None, n_classes, Vocabulary(), Options(), 2)
    assert cells.sums.tolist() == [[300_000.0, 100_001.0], [100_001.0, 100_001.0]]
    assert cells.rows.tolist() == [100_001, 100_001]


def test_sums_of_weights_are_compensated() -> None:
    n = 100_000
    cells, lengths = compiled.count_text(["a"] * n, np.zeros(n, np.int32), np.full(n, 0.1), 1, Vocabulary(), Options())
    assert cells.sums.tolist() == [[n * 0.1], [n * 0.1]]
    assert lengths.sums.tolist() == [[n * 0.1]]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_arrow_is_a_list(kind: pa.DataType) -> None:
    texts: list[str | None] = [*corpus(50, 20), None, "", "É l'été", None, *corpus(30, 5, seed=2)]
    label = np.arange(len(texts), dtype=np.int32) % 2
    for skip in (0, 1, 13, len(texts)):
        a, b = Vocabulary(), Vocabulary()
        actual = compiled.count_text(strings(texts, kind, skip), label[skip:], None, 2, a, Options(), 2)
        expected = compiled.count_text(texts[skip:], label[skip:], None, 2, b, Options())
        assert same(actual[0], expected[0])
        assert same(actual[1], expected[1])
        assert a.words() == b.words()
        by_twin = twin.count_text(strings(texts, kind, skip), label[skip:], None, 2, twin.Vocabulary(), Options())
        assert same(actual[0], by_twin[0])


def refuse(message: str, documents: Any, label: Any = (0,), weight: NDArray[np.float64] | None = None) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        compiled.count_text(documents, np.array(label, np.int32), weight, 2, Vocabulary(), Options(), 2)


def test_refusals() -> None:
    refuse("label 2: labels must be", ["a", "b"], [0, 2])
    refuse("label -1", ["a"], [-1])
    refuse("label has 1 entries, but 2", ["a", "b"])
    refuse("weight nan", ["a"], weight=np.array([np.nan]))
    refuse("weight -1", ["a"], weight=np.array([-1.0]))
    refuse("weight has 2 entries, but 1", ["a"], weight=np.ones(2))
    refuse("item 1 is of type float", ["a", 3.5], [0, 0])
    refuse("a single string", "abc", [0, 0, 0])
    data = np.frombuffer(b"abc", np.uint8)
    refuse("offsets 2 to 1", Strings(np.array([0, 2, 1, 3], np.int32), data), [0, 0, 0])
    refuse("offsets 0 to 9", Strings(np.array([0, 9], np.int64), data))
    refuse("offsets -1 to 3", Strings(np.array([-1, 3], np.int64), data))
    refuse("offsets is empty", Strings(np.array([], np.int64), data), [])
    refuse("valid has 1 bytes", Strings(np.zeros(11, np.int32), data, np.zeros(1, np.uint8)), [0] * 10)
    with pytest.raises(ValueError, match="either a vocabulary"):
        compiled.count_text(["a"], np.zeros(1, np.int32), None, 1, None, Options())
    with pytest.raises(ValueError, match="ngrams is"):
        Options(ngrams=(2, 1))
    with pytest.raises(ValueError, match="hash_bits is 32"):
        Options(hash_bits=32)
    wrong: list[dict[str, Any]] = [{"window": 1}, {"window": 65}, {"ngrams": (1, 3)}, {"tokens": "chars"}]
    for settings_of_text in wrong:
        with pytest.raises(ValueError, match="window is"):
            Options(**{"ngrams": (1, 2), "window": 5, **settings_of_text})
    with pytest.raises(IndexError, match="word 3 of a vocabulary of 0"):
        Vocabulary().words(np.array([3], np.int32))


def test_broken_evidence_is_refused() -> None:
    vocabulary, out = Vocabulary(), np.zeros((1, 2))
    vocabulary.add(["a"])
    for indptr, of_class, message in [
        ([0, 2], [0], "token_indptr"),
        ([0, 1], [2], "class 2"),
        ([0, 1], [-1], "class -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            compiled.score_text(
                ["a"],
                vocabulary,
                Options(),
                (np.zeros(1), np.array(indptr), np.array(of_class, np.int32), np.ones(1)),
                np.zeros(2),
                False,
                out,
            )


def test_long_documents_keep_their_digits() -> None:
    """A million terms of 0.1: plain summation would lose five digits."""
    vocabulary, out = Vocabulary(), np.zeros((1, 2))
    vocabulary.add(["a"])
    compiled.score_text(["a " * 1_000_000], vocabulary, Options(), np.full((1, 2), 0.1), np.zeros(2), False, out)
    np.testing.assert_allclose(out, 100_000.0, rtol=1e-13)


VALID = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
NEAR = VALID | st.sampled_from(["", "NA", "NAN", "nan", "N", "\0", "é", *("a" * n for n in (63, 64, 99))])


@given(
    st.lists(st.none() | NEAR, max_size=9),
    st.lists(NEAR, max_size=5),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_texts_among_values(rows: list[str | None], values: list[str], kind: pa.DataType) -> None:
    wanted = twin.are_among(rows, values)
    np.testing.assert_array_equal(compiled.are_among(rows, values), wanted)
    skip = len(rows) // 2
    np.testing.assert_array_equal(compiled.are_among(strings(rows, kind, skip), values), wanted[skip:])


CELLS = st.from_regex(twin.NUMBER, fullmatch=True) | st.from_regex(twin.INTEGER, fullmatch=True) | NEAR
NEAR_NUMBERS = st.sampled_from(
    [
        "",
        "-",
        "0",
        "-0",
        "00",
        "007",
        "+1",
        "1.",
        ".5",
        "-.5",
        "1e5",
        "1E+05",
        "1e-289",
        "1e290",
        "1e",
        "0.0",
        "0.00",
        "-0.0",
    ]
    + ["1" * n for n in (15, 16, 18, 19)]
    + ["0." + "0" * n + "1" * m for n in (0, 1, 9) for m in (0, 16, 17, 18)]
    + ["1." + "0" * n + "1" for n in (15, 16, 17)]
    + ["12 ", " 12", "1_000", "١", "1,5", "NaN", "inf", "0x1", "1e1.5", "1.5.2", "--1", "1e+-2", "0.1e100", "0.1e1000"]
)


@given(st.lists(st.none() | CELLS | NEAR_NUMBERS, max_size=4), st.sampled_from([[""], ["", "NA", "0"], []]))
def test_numbers_among_cells(cells: list[str | None], missing: list[str]) -> None:
    wanted = twin.number_kinds(cells, missing)
    assert compiled.number_kinds(cells, missing) == wanted
    assert compiled.number_kinds(strings(cells, pa.string(), 0), missing) == wanted


@given(CELLS | NEAR_NUMBERS)
def test_one_number(cell: str) -> None:
    assert compiled.number_kinds([cell], []) == twin.number_kinds([cell], [])
