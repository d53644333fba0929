"""What words are, as a program.

`tokens` is the definition that docs/words.md describes: decode, lower case, strip accents, cut, n-grams, in
this order. It reads the properties of code points from `tests.twins.unicode_table` and never asks the running
Python, whose Unicode may be another. The compiled core gives the same tokens for every string.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from tests.twins import unicode_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from naively._kernels.text import Options

APOSTROPHES = "'\u2019"
REPLACEMENT = "\ufffd"
_MASK = (1 << 64) - 1
_SEEDS = (0x243F6A8885A308D3, 0x13198A2E03707344)  # the fraction of π


def _ranges(text: str) -> list[tuple[int, int]]:
    pairs = [item.split("=")[0].split("/")[0].split("-") for item in text.split()]
    return [(int(pair[0], 16), int(pair[-1], 16)) for pair in pairs]


class _Ranges:
    """Return a set of code points."""

    def __init__(self, text: str) -> None:
        self.first, self.last = zip(*_ranges(text), strict=True)

    def __contains__(self, point: int) -> bool:
        i = bisect_right(self.first, point) - 1
        return i >= 0 and point <= self.last[i]


def _lower() -> dict[int, int]:
    made = {}
    for item, (first, last) in zip(unicode_table.LOWER.split(), _ranges(unicode_table.LOWER), strict=True):
        where, distance = item.split("=")
        step = int(where.split("/")[1]) if "/" in where else 1
        made.update({point: point + int(distance, 16) for point in range(first, last + 1, step)})
    return made


def _stripped() -> dict[int, str]:
    made = {}
    for run in unicode_table.STRIPPED.split():
        first, items = run.split("=")
        for point, item in enumerate(items.split(","), int(first, 16)):
            made[point] = "" if item == "-" else "".join(chr(int(part, 16)) for part in item.split("+"))
    return made


_WORD, _MOVING, _FIXED = (_Ranges(t) for t in (unicode_table.WORD, unicode_table.MOVING, unicode_table.FIXED))
_ORDER = {int(p, 16): int(c, 16) for p, c in (item.split("=") for item in unicode_table.REORDERED.split())}
_LOWER, _STRIPPED = _lower(), _stripped()


def decode(document: str | bytes) -> str:
    """Return the text of any bytes; bytes that are not UTF-8, and a surrogate without its partner, become U+FFFD."""
    if isinstance(document, bytes):
        return document.decode("utf-8", errors="replace")
    return re.sub("[\ud800-\udfff]", REPLACEMENT, document)


def lower(text: str) -> str:
    """Return Unicode's simple lower case, one code point for one."""
    return "".join(chr(_LOWER.get(ord(c), ord(c))) for c in text)


def strip_accents(text: str) -> str:
    """Return the NFD without nonspacing marks (Mn).

    Marks with a combining class move, in NFD, into the order of their classes, up to the next character that
    has none. Sorting is stable, so it does not matter that those which are dropped are dropped before.
    """
    out: list[str] = []
    moving: list[str] = []
    for c in "".join(map(_decomposed, text)):
        point = ord(c)
        if point in _ORDER:
            moving.append(c)
        elif point not in _MOVING:
            out += sorted(moving, key=lambda m: _ORDER[ord(m)])
            moving = []
            out += [] if point in _FIXED else [c]
    return "".join(out + sorted(moving, key=lambda m: _ORDER[ord(m)]))


def _decomposed(c: str) -> str:
    syllable = ord(c) - 0xAC00
    if not 0 <= syllable < 11172:
        return _STRIPPED.get(ord(c), c)
    lead, vowel, tail = syllable // 588, syllable % 588 // 28, syllable % 28
    return chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + tail) if tail else "")


def words(text: str) -> list[str]:
    """Return maximal runs of letters, marks, numbers and underscore; an apostrophe between two of these joins them.

    >>> words("Don't say 'l\u2019été'... it's $4.50, rock'n'roll_2!")
    ["Don't", 'say', 'l’été', "it's", '4', '50', "rock'n'roll_2"]
    """
    kinds = "".join("w" if ord(c) in _WORD else "'" if c in APOSTROPHES else " " for c in text)
    return [text[match.start() : match.end()] for match in re.finditer("w+(?:'w+)*", kinds)]


def fold(document: str | bytes, options: Options) -> str:
    """Return the text before it is cut."""
    text = decode(document)
    text = lower(text) if options.lowercase else text
    return strip_accents(text) if options.strip_accents else text


def ngrams(parts: Sequence[str], options: Options, between: str) -> list[str]:
    """Return runs of neighbours, in the order of their last part, the shortest first."""
    low, high = options.ngrams
    if options.window is not None:
        return list(pairs_in_window(parts, options.window, low == 1))
    return [
        between.join(parts[end - n : end]) for end in range(1, len(parts) + 1) for n in range(low, min(high, end) + 1)
    ]


def pairs_in_window(parts: Sequence[str], window: int, has_words: bool) -> Iterator[str]:
    """Yield each word, and its pairs with the words before it in the window, the nearest first."""
    for end, word in enumerate(parts):
        if has_words:
            yield word
        for before in range(end - 1, max(end - window, -1), -1):
            yield f"{parts[before]} … {word}"


def chars_of_word(word: str, options: Options) -> Iterator[str]:
    """n-grams of a word with a space on either side; a word too short for a length comes once, whole."""
    padded = f" {word} "
    for n in range(options.ngrams[0], options.ngrams[1] + 1):
        yield from (padded[i : i + n] for i in range(max(1, len(padded) - n + 1)))
        if n >= len(padded):
            return


def tokens_of_words(words: Iterable[str], options: Options) -> list[str]:
    """Return the n-grams of the words that are not stop words."""
    stop = {fold(word, options) for word in options.stop_words}
    used_words = [word for word in words if word not in stop]
    if options.tokens == "words":
        return ngrams(used_words, options, " ")
    return [gram for word in used_words for gram in chars_of_word(word, options)]


def tokens(document: str | bytes, options: Options) -> list[str]:
    """Return the tokens of a document, in order."""
    text = fold(document, options)
    return ngrams(text, options, "") if options.tokens == "chars" else tokens_of_words(words(text), options)


def folded_product(a: int, b: int) -> int:
    """Return the two halves of a 128-bit product, by exclusive or."""
    return (a * b & _MASK) ^ (a * b >> 64)


@lru_cache(maxsize=65536)
def feature_hash(token: str, bits: int) -> int:
    """Return a number in [0, 2**bits): products of the token's 8-byte pieces, two at a time, folded to 64 bits."""
    text = token.encode()
    last = len(text) - 16
    starts = [0] if last <= 0 else [*range(0, last, 16), last]
    value = 0 if last <= 0 else folded_product(len(text) ^ _SEEDS[0], _SEEDS[1])
    for i in starts:
        low, high = (int.from_bytes(text[j : j + 8], "little") for j in (i, i + 8))
        value = folded_product(low ^ _SEEDS[0], high ^ _SEEDS[1] ^ value)
    return value >> (64 - bits)
