"""The headers of a mail as bytes: where they end, how lines are added and removed, and nothing else is changed."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_LINE_CHARACTERS = 76
_LINE_END = rb"(?>\r\n|\n|\r)"
HEAD_END = re.compile(_LINE_END + rb"{2}")  # the line end of the last header, and that of the empty line
_POSTMARK = re.compile(rb">?From [^\r\n]*" + _LINE_END)  # the line before a mail in an mbox
_FIRST_HEADER = re.compile(rb"(?:[ \t][^\r\n]*" + _LINE_END + rb")*(?![ \t])")


def with_headers(data: bytes, headers: Sequence[tuple[str, str]], names: Sequence[str]) -> bytes:
    """Return a mail with headers before its first one, and without those that it has of given names.

    The new lines stand behind the postmark line of an mbox, and end as the lines of the mail do. A mail that starts
    with a blank, and has no line that does not, cannot be given a header: it would become part of it.

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
    postmark = _POSTMARK.match(data)
    start = postmark.end() if postmark else 0
    end = _head_end(data, start)
    line_end = b"\r\n" if re.match(rb"[^\r\n]*\r\n", data[start : start + 100_000]) else b"\n"
    forged = re.compile(
        rb"(?i)(?:^|(?<=[\r\n]))(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")[ \t]*:"
        rb"[^\r\n]*(?:" + _LINE_END + rb"[ \t][^\r\n]*)*(?:" + _LINE_END + rb"|$)"
    )
    head = forged.sub(b"", data[start:end])
    first = _FIRST_HEADER.match(head)
    if first is None or (first.end() == len(head) and head):
        return b"".join((data[:start], head, data[end:]))
    new = b"".join(_fold(name, value, line_end) for name, value in headers)
    return b"".join((data[:start], head[: first.end()], new, head[first.end() :], data[end:]))


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
