"""The text of HTML mail as a reader sees it, what is hidden from the reader, and the links.

selectolax (lexbor) parses HTML as browsers do. Inline tags and comments join their text (`via<b>g</b>ra` is one word);
tags of blocks separate it. Text is hidden if its style says so, or if its colour is that of the background.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from naively._kernels.text import single_spaces

MAX_HTML_CHARACTERS = 1 << 18
MAX_TAGS = 10_000
MAX_LINKS = 500
MAX_ANCESTORS = 30  # that are searched for a background

_ALSO_LETTERS = {"i": "ıİ", "k": "\u212a", "s": "ſ"}  # other cases of a letter for IGNORECASE


def _any_case(words: Sequence[str]) -> str:
    """Return a pattern of words in any case, as a tree of their letters: faster than IGNORECASE with alternatives.

    >>> _any_case(["p", "pre", "td"])
    '(?:[pP](?:|[rR][eE])|[tT][dD])'
    """
    branches = [
        f"[{letter}{letter.upper()}{_ALSO_LETTERS.get(letter, '')}]" + _any_case([word[1:] for word in group])
        for letter, group in groupby(sorted(filter(None, words)), key=itemgetter(0))
    ]
    if "" in words and branches:
        branches.insert(0, "")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})" if branches else ""


_BLOCKS = re.findall(
    r"\w+",
    "address article blockquote body br button caption center dd div dl dt fieldset footer form frame h1 h2 h3 h4 h5 "
    "h6 head header hr iframe img input li main marquee nav ol option p pre section select table tbody td textarea "
    "tfoot th thead title tr ul",
)
_START_OF_BLOCK = re.compile(rf"<(?=/?{_any_case(_BLOCKS)}\b)")
_TAG = re.compile(r"<[^<>]{0,4096}>")
_HIDING_STYLE = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|font-size:[01](?:\.\d+)?(?:px|pt|em|%)?(?:;|$|!)|"
    r"opacity:0(?:\.0\d*)?(?:;|$|!)|max-height:0|mso-hide:all|(?:^|;)(?:width|height):0(?:px)?(?:;|$)"
)
_STYLE_COLOUR = re.compile(r"(?:^|;)color:([^;!]+)")
_STYLE_BACKGROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;!]+)")
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)", "ffffff", "#fefefe", "#fffffe", "#fdfdfd"})
_LINKS = (
    ("a[href],area[href],link[href],base[href]", "href"),
    ("img[src],iframe[src],input[src]", "src"),
    ("form[action]", "action"),
    ("body[background],table[background],td[background]", "background"),
)
_HIDING = (("[style]", "style"), ("[hidden]", "hidden"), ("font[color]", "color"))


class HtmlText(NamedTuple):
    """Visible text, hidden text, and the targets of links with the text that is shown for them."""

    visible: str = ""
    hidden: str = ""
    links: tuple[tuple[str, str], ...] = ()
    n_images: int = 0
    n_forms: int = 0


def read_html(html: str, max_tags: int = MAX_TAGS) -> HtmlText:
    """Return the visible text, the hidden text and the links of HTML; any string is accepted.

    Parameters
    ----------
    html
        The source. What follows the first quarter of a million characters is left out.
    max_tags
        With more tags than these, they are removed and nothing else is read: a parser can take very long then.

    Returns
    -------
    HtmlText
        The texts and the links.

    Examples
    --------
    >>> read_html('<p>wor<b>ld</b><p>peace <i style="display: none">secret</i> <a href="http://x.org">here</a>').visible
    'world peace here'
    """
    html = html[:MAX_HTML_CHARACTERS].replace("\0", "")
    if html.count("<") > max_tags:
        return HtmlText(" ".join(_TAG.sub(" ", html).split()))
    root = LexborHTMLParser(_START_OF_BLOCK.sub(" <", html)).root
    if root is None:
        return HtmlText()
    source = html.lower()  # a search of a string is faster than that of a tree, and most often finds nothing
    if "<script" in source or "<style" in source or "<noframes" in source:
        _take_out(root, "script,style,noframes")
    links = tuple(
        (target, node.text() if attribute == "href" else "")
        for selector, attribute in _LINKS
        if attribute in source
        for node in root.css(selector)[:MAX_LINKS]
        if (target := node.attrs.get(attribute))
    )
    n_images = len(root.css("img")) if "<im" in source else 0  # <image> is an image too
    n_forms = len(root.css("form")) if "<form" in source else 0
    hidden = " ".join([_take_out(root, selector, _is_hidden) for selector, name in _HIDING if name in source])
    visible, _ = single_spaces(root.text(), MAX_HTML_CHARACTERS)
    return HtmlText(visible, " ".join(hidden.split()), links, n_images, n_forms)


def _take_out(root: LexborNode, selector: str, condition: Callable[[LexborNode], bool] | None = None) -> str:
    """Remove the elements that meet a condition, and return their text.

    An element is removed after those inside it: the parser frees them together.
    """
    texts = []
    for node in reversed(root.css(selector)):
        if condition is None or condition(node):
            texts.append(node.text())
            node.decompose()
    return " ".join(reversed(texts))


def _is_hidden(node: LexborNode) -> bool:
    """Return whether the text of an element is hidden by its style or its colour."""
    attributes = node.attributes
    if node.tag in ("body", "html"):
        return False
    style = "".join((attributes.get("style") or "").lower().split())
    if "hidden" in attributes or _HIDING_STYLE.search(style):
        return True
    colours = _STYLE_COLOUR.search(style)
    colour = colours.group(1) if colours else (attributes.get("color") or "").lower().strip()
    if colour == "transparent":
        return True
    return colour in _WHITE and _background(node) in _WHITE


def _background(node: LexborNode | None) -> str:
    """Return the colour behind an element: that of the nearest element around it that has one, else white."""
    for _ in range(MAX_ANCESTORS):
        if node is None:
            break
        attributes = node.attributes
        match = _STYLE_BACKGROUND.search("".join((attributes.get("style") or "").lower().split()))
        colour = match.group(1) if match else (attributes.get("bgcolor") or "").lower().strip()
        if colour:
            return colour
        if attributes.get("background"):
            return "picture"
        node = node.parent
    return "white"
