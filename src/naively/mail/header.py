"""Add our header to a mail, byte-exact: nothing else is changed, except that forged headers of these names are removed.

The new lines stand before the first header, behind the postmark line of an mbox, and end as the lines of the mail do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from naively.mail.model import Answer, Reason
from naively.mail.read import HEAD_END

NAME = "X-Naively"
SPAMASSASSIN_NAMES = ("X-Spam-Flag", "X-Spam-Status", "X-Spam-Score", "X-Spam-Level", "X-Spam-Checker-Version")
MAX_LINE_CHARACTERS = 76
MAX_WORD_CHARACTERS = 60
_LINE_END = rb"(?>\r\n|\n|\r)"


def header_of(answer: Answer, reasons: Sequence[Reason]) -> str:
    """Return the value of X-Naively: the class, the probability of spam, the reasons, and the entry of the model file.

    >>> answer = Answer("spam", "spam", 0.9987, 0.97, {"spam": 0.9987, "ham": 0.0013}, 341)
    >>> header_of(answer, [Reason("subject: cheap", 2.13), Reason("from: example_com", -0.8)])
    'spam, p=0.9987; +2.1 subject: cheap, -0.8 from: example_com; entry 341'
    """
    parts = [f"{_safe(answer.name)}, p={answer.probability:.4f}"]
    if reasons:
        parts.append(", ".join(f"{reason.log_odds:+.1f} {_safe(reason.words)}" for reason in reasons))
    return "; ".join([*parts, f"entry {answer.entry}"])


def spamassassin_headers(answer: Answer) -> list[tuple[str, str]]:
    """Return the headers that SpamAssassin would add, for programs that read them."""
    is_spam = answer.label == "spam"
    status = f"{'Yes' if is_spam else 'No'}, score={answer.score:.1f} required=5.0 tests=NAIVELY"
    flag = [("X-Spam-Flag", "YES")] if is_spam else []
    return [*flag, ("X-Spam-Status", status), ("X-Spam-Score", f"{answer.score:.1f}")]


def with_headers(data: bytes, headers: Sequence[tuple[str, str]], names: Sequence[str]) -> bytes:
    """Return a mail with headers before its first one, and without those that it has of given names.

    Parameters
    ----------
    data
        The mail.
    headers
        Names and values to add. A value is folded into lines of 76 characters; control characters are removed from it.
    names
        Names of headers to remove, if the mail has them: they are not ours.

    Returns
    -------
    bytes
        The mail.
    """
    start = _start(data)
    end = _head_end(data, start)
    line_end = b"\r\n" if re.match(rb"[^\r\n]*\r\n", data[start : start + 100_000]) else b"\n"
    new = b"".join(_fold(name, value, line_end) for name, value in headers)
    forged = re.compile(
        rb"(?i)(?:^|(?<=[\r\n]))(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")[ \t]*:"
        rb"[^\r\n]*(?:" + _LINE_END + rb"[ \t][^\r\n]*)*(?:" + _LINE_END + rb"|$)"
    )
    return b"".join((data[:start], new, forged.sub(b"", data[start:end]), data[end:]))


def _start(data: bytes) -> int:
    """Return where the headers start: behind the postmark line of an mbox."""
    match = re.match(rb">?From [^\r\n]*(?>\r\n|\n|\r)", data[:100_000])
    return match.end() if match else 0


def _head_end(data: bytes, start: int) -> int:
    """Return where the headers end: behind the line end of the last one."""
    if data[start : start + 1] in (b"\r", b"\n"):
        return start
    match = HEAD_END.search(data, start)
    if match is None:
        return len(data)
    first = re.match(_LINE_END, match.group())
    assert first is not None  # the match starts with a line end
    return match.start() + first.end()


def _fold(name: str, value: str, line_end: bytes) -> bytes:
    """Return the lines of a header."""
    lines, line = [], f"{name}:"
    for word in "".join(c if " " <= c <= "~" else " " for c in value).split():
        if len(line) + 1 + len(word) > MAX_LINE_CHARACTERS and line.strip():
            lines.append(line)
            line = ""
        line += f" {word}"
    return b"".join(part.encode("ascii") + line_end for part in [*lines, line])


def _safe(text: str) -> str:
    """Return text for a header: control characters are removed, words beyond ASCII are encoded (RFC 2047).

    >>> _safe("subject: caf\\u00e9\\r\\nX-Evil: 1")
    'subject: =?utf-8?q?caf=C3=A9?= X-Evil: 1'
    """
    words = "".join(c if c.isprintable() else " " for c in text[:MAX_WORD_CHARACTERS]).split()
    return " ".join(word if word.isascii() and not word.startswith("=?") else _encode(word) for word in words)


def _encode(word: str) -> str:
    coded = "".join(
        chr(b) if 48 <= b <= 57 or 65 <= b <= 90 or 97 <= b <= 122 else f"={b:02X}"
        for b in word.encode("utf-8", "replace")
    )
    return f"=?utf-8?q?{coded}?="
