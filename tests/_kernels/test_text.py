"""Compiled text kernels against their readable twins, and cases worked by hand."""

from __future__ import annotations

import os
import pickle
import random
import threading
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.twins import text as twin
from tests.twins import unicode_table
from tests.twins import words as oracle

from naively._kernels import text as compiled
from naively._kernels.text import Options, Vocabulary

SOAK = os.environ.get("NAIVELY_SOAK") == "1"
many = settings(max_examples=20_000 if SOAK else 300, deadline=None)
few_examples = settings(max_examples=2_000 if SOAK else 30, deadline=None)

# Characters around every rule: case, marks that stay, go or move, apostrophes, what shrinks or grows.
NASTY = (
    "aZé'\u2019_ 9\t.\x00\u0301\u0130ΣςßẞǅȺ\u212a\u2126½Ⅷ\u0344\u0f73\u0f76\u0344\u0327\u0316\u034f\u302e"
    "\u302f\U0001d160\U0001d16d\U0001d165\u0ccb\u0cc0각가\u1161漢豈\ufffd\u20dd😀\U0001d7d8\u0345\u1fbc\ud800\udfff\u00a0"
)
texts = st.one_of(st.text(), st.text(alphabet=NASTY, max_size=80), st.text(alphabet="aB'c .é", max_size=200))
NASTY_BYTES = bytes([0, 32, 39, 65, 97, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xA9, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5])
binaries = st.one_of(st.binary(), st.lists(st.sampled_from(NASTY_BYTES), max_size=80).map(bytes))
documents = st.one_of(texts, binaries)
all_options = st.builds(
    Options,
    tokens=st.sampled_from(["words", "chars", "chars_in_words"]),
    lowercase=st.booleans(),
    strip_accents=st.booleans(),
    ngrams=st.tuples(st.integers(1, 5), st.integers(0, 4)).map(lambda p: (p[0], min(5, p[0] + p[1]))),
    stop_words=st.sampled_from([(), ("a",), ("É", "a'b", "9")]),
)
window_options = st.builds(
    Options,
    ngrams=st.sampled_from([(1, 2), (2, 2)]),
    stop_words=st.sampled_from([(), ("a",)]),
    window=st.integers(2, 9),
)


# All code points but surrogates; outside a soak one in 61 of the large ranges where nothing changes.
POINTS = [
    chr(p)
    for p in range(0x110000)
    if not 0xD800 <= p < 0xE000 and (SOAK or p < 0x3400 or 0xA000 <= p < 0xAC00 or 0xF900 <= p < 0x20000 or p % 61 == 0)
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't say 'hello'", ["don't", "say", "hello"]),
        ("L'ÉTÉ l\u2019été", ["l'été", "l\u2019été"]),
        ("a''b 'a' rock'n'roll a'", ["a", "b", "a", "rock'n'roll", "a"]),
        ("snake_case x2 3.14 ½ Ⅷ", ["snake_case", "x2", "3", "14", "½", "ⅷ"]),
        ("\u0130STANBUL ΟΔΟΣ STRASSE ẞ", ["istanbul", "οδοσ", "strasse", "ß"]),
        ("e\u0301te\u0301 नमस्ते 漢字かな", ["e\u0301te\u0301", "नमस्ते", "漢字かな"]),
        (b"ab\xffcd \xe4\xb8x \xed\xa0\x80y", ["ab", "cd", "x", "y"]),
        ("a\ud800b", ["a", "b"]),
        ("", []),
    ],
)
def test_words_by_hand(text: str | bytes, expected: list[str]) -> None:
    assert compiled.tokens(text, Options()) == expected
    assert oracle.tokens(text, Options()) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(ngrams=(1, 2)), ["to", "be", "to be", "ou", "be ou", "été", "ou été"]),
        (Options(ngrams=(2, 3), stop_words=("BE",), strip_accents=True), ["to ou", "ou ete", "to ou ete"]),
        (
            Options(ngrams=(2, 2), window=3),
            ["to … be", "be … ou", "to … ou", "ou … été", "be … été"],
        ),
        (Options(ngrams=(1, 2), window=2, stop_words=("ou",)), ["to", "be", "to … be", "été", "be … été"]),
        (
            Options(tokens="chars", ngrams=(15, 15), lowercase=False),
            ["To be, ou  \u0045te\u0301", "o be, ou  Ete\u0301!"],
        ),
        (Options(tokens="chars_in_words", ngrams=(4, 5)), [" to ", " be ", " ou ", " été", "été ", " été "]),
    ],
)
def test_options_by_hand(options: Options, expected: list[str]) -> None:
    text = "To be, ou  Ete\u0301!" if options.tokens == "chars" else "To be, ou  Été!"
    assert compiled.tokens(text, options) == expected
    assert oracle.tokens(text, options) == expected


@many
@given(document=documents, options=all_options | window_options)
def test_tokens(document: str | bytes, options: Options) -> None:
    assert compiled.tokens(document, options) == oracle.tokens(document, options)


@few_examples
@given(
    document=documents,
    junk=st.text(alphabet="ab'é \u2019", min_size=1, max_size=7),
    at=st.integers(8100, 8300),
)
def test_tokens_across_segments(document: str | bytes, junk: str, at: int) -> None:
    data = document if isinstance(document, bytes) else document.encode("utf-8", "replace")
    data = (junk * (at // len(junk.encode()) + 1)).encode()[:at] + data + b"a'b"
    windows = Options(ngrams=(1, 2), window=5), Options(ngrams=(2, 2), window=2)
    for options in (Options(), Options(strip_accents=True), Options(tokens="chars", ngrams=(1, 3)), *windows):
        assert compiled.tokens(data, options) == oracle.tokens(data, options)


@pytest.mark.skipif(not SOAK, reason="only with NAIVELY_SOAK=1")
def test_a_million_byte_strings() -> None:
    draw = random.Random(4)
    choices = [Options(), Options(strip_accents=True), Options(lowercase=False, ngrams=(1, 2))]
    alphabets = [
        bytes(range(256)),
        NASTY_BYTES,
        NASTY.encode("utf-8", "surrogatepass"),
        b"aB' .\xc3\xa9\xe2\x80\x99",
    ]
    for i in range(1_000_000):
        data = bytes(draw.choices(draw.choice(alphabets), k=draw.randrange(40)))
        assert compiled.tokens(data, choices[i % 3]) == oracle.tokens(data, choices[i % 3]), data


@pytest.mark.skipif(unicodedata.unidata_version != unicode_table.UNICODE_VERSION, reason="another Unicode")
def test_table_is_that_of_python() -> None:
    word = {c for c in POINTS if unicodedata.category(c)[0] in "LMN" or c == "_"}
    assert set(oracle.words(" ".join(POINTS))) == word
    for c in POINTS:
        assert oracle.lower(c) == ("i" if c == "\u0130" else c.lower())
        plain = "".join(d for d in unicodedata.normalize("NFD", c) if unicodedata.category(d) != "Mn")
        assert oracle.strip_accents(c) == plain, hex(ord(c))


@pytest.mark.skipif(unicodedata.unidata_version != unicode_table.UNICODE_VERSION, reason="another Unicode")
@many
@given(text=texts.map(oracle.decode))
def test_stripping_is_nfd_without_marks(text: str) -> None:
    plain = "".join(d for d in unicodedata.normalize("NFD", text) if unicodedata.category(d) != "Mn")
    assert oracle.strip_accents(text) == plain


def test_core_knows_every_code_point_as_the_table_does() -> None:
    text = " ".join(POINTS)
    for options in (Options(), Options(strip_accents=True)):
        assert compiled.tokens(text, options) == oracle.tokens(text, options)
    header = Path(__file__).parents[2].joinpath("core/text/unicode_table.hpp").read_text()
    joined = header.replace('"\n    "', "")
    for name in ("WORD", "MOVING", "FIXED", "REORDERED", "LOWER", "STRIPPED", "UNICODE_VERSION"):
        assert f'"{getattr(unicode_table, name)}"' in joined
    assert compiled.UNICODE_VERSION == unicode_table.UNICODE_VERSION


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (b"x" * 30_000_000, 1),
        (b"a " * 3_000_000, 3_000_000),
        ("e" + "\u0301" * 5_000_000, 1),
        ("\U0001d16d\U0001d165" * 500_000, 1),
        (b"\xf0" * 5_000_000, 0),
        ("x'" * 3_000_000, 1),
    ],
)
def test_monstrous_documents(text: str | bytes, n: int) -> None:
    for options in (Options(), Options(strip_accents=True, ngrams=(1, 2))):
        _, lengths = compiled.count_text([text], np.zeros(1, np.int32), None, 1, Vocabulary(), options)
        grams = n if options.ngrams == (1, 1) else max(0, 2 * n - 1)
        assert lengths.index.tolist() == [grams]


keys = st.lists(st.one_of(texts, st.text(alphabet="ab\0", max_size=40), binaries), max_size=30)


ASCII = st.text(st.characters(max_codepoint=127), max_size=60) | st.text(" a\n\x1c\x1f", max_size=60)
SPACED = st.text(st.sampled_from([*map(chr, range(0x3100)), "\ufeff", "😀"]), max_size=60) | st.text(
    "aé \x85\xa0\u1680\u180e\u1fff\u2000\u2005\u200a\u200b\u2027\u2028\u2029\u202a\u202f\u205f\u2060\u3000\u3001",
    max_size=60,
)
WORDY = st.text("aZ_9'-. \x00", max_size=60)
LINKED = st.lists(
    st.sampled_from(["http", "HTTPS", "s", "://", "ftp", "w", "WWW.", "www", ".", "mailto", ":", " "])
).map("".join)


@given(text=ASCII | SPACED, max_characters=st.integers(0, 20))
def test_single_spaces(text: str, max_characters: int) -> None:
    assert compiled.single_spaces(text, max_characters) == twin.single_spaces(text, max_characters)


@many
@given(text=ASCII | WORDY, prefix=st.sampled_from(["", "subject_"]))
def test_distinct_words(text: str, prefix: str) -> None:
    assert compiled.distinct_words(text, prefix) == twin.distinct_words(text, prefix)


@many
@given(text=ASCII | LINKED)
def test_link_starts(text: str) -> None:
    assert compiled.link_starts(text) == twin.link_starts(text)


@many
@given(first=keys, second=keys)
def test_vocabulary(first: list[Any], second: list[Any]) -> None:
    a, b = Vocabulary(), twin.Vocabulary()
    assert a.add(first).tolist() == b.add(first).tolist()
    assert a.find(second).tolist() == b.find(second).tolist()
    assert a.find(second).dtype == np.int32
    c, d = Vocabulary(), twin.Vocabulary()
    c.add(second)
    d.add(second)
    assert a.union(c).tolist() == b.union(d).tolist()
    assert a.words() == b.words()
    assert len(a) == len(b)
    assert a.words(np.arange(len(a), dtype=np.int32)[::-1]) == b.words()[::-1]
    for x, y in zip(a.export(), b.export(), strict=True):
        np.testing.assert_array_equal(x, y, strict=True)
    assert Vocabulary.from_arrays(*a.export()).words() == a.words()
    assert pickle.loads(pickle.dumps(a)).words() == a.words()
    assert a.union(a).tolist() == list(range(len(a)))


@pytest.mark.parametrize("options", [Options(), Options(tokens="chars", stop_words=("a",), hash_bits=5)])
def test_options_can_be_pickled(options: Options) -> None:
    assert pickle.loads(pickle.dumps(options)) == options
    assert hash(pickle.loads(pickle.dumps(options))) == hash(options)


def test_large_vocabulary() -> None:
    words = [f"{i:x}" * (1 + i % 7) for i in range(200_000)]
    vocabulary = Vocabulary()
    ids = vocabulary.add(words)
    assert vocabulary.words(ids) == words
    assert vocabulary.find([*words[::1000], "no"]).tolist() == [*ids[::1000], -1]
    assert len(vocabulary) == len(set(words))


@pytest.mark.parametrize(
    ("data", "offsets", "message"),
    [
        (b"ab", [0, 1], "rise from 0 to 2"),
        (b"ab", [1, 2], "rise from 0 to 2"),
        (b"ab", [], "offsets is empty"),
        (b"abc", [0, 2, 1, 3], "rise from 0 to 3"),
        (b"abc", [0, 9, 3], "rise from 0 to 3"),
        (b"a\xff", [0, 2], "not UTF-8"),
        (b"aa", [0, 1, 2], "twice"),
    ],
)
def test_broken_arrays_are_refused(data: bytes, offsets: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_arrays(np.frombuffer(data, np.uint8), np.array(offsets, np.int64))


def test_vocabulary_of_threads() -> None:
    vocabulary = Vocabulary()
    words = [[f"{(i * k) % 999}" for i in range(3000)] for k in range(1, 5)]
    threads = [
        threading.Thread(target=lambda w=w: [vocabulary.add(w[i : i + 9]) for i in range(0, 3000, 9)]) for w in words
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(vocabulary.words()) == sorted({w for of_thread in words for w in of_thread})
