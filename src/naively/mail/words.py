"""Words of a mail: where they stand is part of the word, so that one column of text holds several fields.

`subject_cheap` is the word "cheap" in the subject; a word of the visible text has no prefix. Scripts without spaces
between words (Han, Kana, Thai, Lao, Khmer, Burmese) are counted as pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, pairwise

from naively._kernels.text import distinct_words, single_spaces

MAX_WORD_CHARACTERS = 40  # what is longer is not a word, but data
PREFIXES = {
    "from": "from_", "to": "to_", "subject": "subject_", "body": "", "hidden": "hidden_", "links": "link_",
    "route": "route_", "headers": "header_", "shape": "shape_", "delivery": "delivery_",
}  # fmt: skip
FIELDS = tuple(PREFIXES)
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_DATA = re.compile(rf"[^\s<>]{{{MAX_WORD_CHARACTERS + 1},}}")
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)

_FAR = re.compile("[^\0-\u0dff\u2000-\u2fff]")  # what has none of these has none of those above, and is searched faster


def tag(field: str, text: str) -> str:
    """Return a text with the prefix of its field before each word.

    >>> tag("subject", "Cheap pills, don't wait!")
    "subject_Cheap subject_pills subject_don't subject_wait"
    """
    prefix = PREFIXES[field]
    return text if not prefix else " ".join([prefix + word for word in _WORD.findall(text)])


def tag_once(field: str, text: str) -> str:
    """Return the different words of a text in lower case, with the prefix of their field.

    >>> tag_once("subject", "Cheap, cheap!")
    'subject_cheap'
    """
    prefix = PREFIXES[field]
    if text.isascii():
        return distinct_words(text, prefix)  # the same words, faster
    words = _WORD.findall(text.lower())
    return prefix + f" {prefix}".join(dict.fromkeys(words)) if words else ""


def untag(word: str) -> str:
    """Return a word as it is shown to people.

    >>> untag("subject_cheap"), untag("cheap")
    ('subject: cheap', 'cheap')
    """
    head, sign, tail = word.partition("_")
    field = next((name for name, prefix in PREFIXES.items() if sign and prefix == f"{head}_" and tail), None)
    return word if field is None else f"{head}: {tail}"


def clean(text: str) -> str:
    """Return a text with single spaces, without strings that are too long to be words, and split as described above.

    >>> clean("free\\n\\n" + "A" * 100 + " 発票代開")
    'free 発票 票代 代開'
    """
    text, data = single_spaces(text, MAX_WORD_CHARACTERS)
    if data:
        ends = [0, *chain.from_iterable(data), len(text)]
        parts = (text[start:end].strip() for start, end in pairwise(ends))
        text = join(_without_data(part) if i % 2 else part for i, part in enumerate(parts))
    if text.isascii() or not _FAR.search(text) or not _UNSPACED.search(text):
        return text
    return " ".join(_UNSPACED.sub(_pair, text).split())


@lru_cache(maxsize=4096)
def one_word(text: str) -> str:
    """Return a name such as that of a host as one word.

    >>> one_word("mail.example-shop.com")
    'mail_example_shop_com'
    """
    return "_".join(_WORD.findall(text))[:MAX_WORD_CHARACTERS]


def bucket(number: int) -> int:
    """Return a size on a coarse scale: the number of binary digits."""
    return number.bit_length()


def join(parts: Iterable[str]) -> str:
    """Return the parts that are not empty, with a space between them."""
    return " ".join(filter(None, parts))


def _without_data(word: str) -> str:
    return " ".join(_DATA.sub(_shorten, word).split())


def _shorten(match: re.Match[str]) -> str:
    """Keep text in a script without spaces, and long strings of several words; drop other long strings."""
    text = match.group()
    if not text.isascii() and _UNSPACED.search(text):
        return text
    words = _WORD.findall(text)
    return " ".join(word for word in words if len(word) <= MAX_WORD_CHARACTERS) if len(words) > 1 else " "


def _pair(match: re.Match[str]) -> str:
    text = match.group()
    if len(text) == 1:
        return f" {text} "
    return " " + " ".join([text[i : i + 2] for i in range(len(text) - 1)]) + " "
