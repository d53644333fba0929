"""The headers of a mail as bytes: where they end, how lines are added and removed, and nothing else is changed.

Programs differ about a CR without an LF: for most it is a character of a line, for some it ends the line. So a mail can
have two readings. A forged header is removed from both, and ours stands behind an LF.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_LINE_CHARACTERS = 76
_LINE_END = rb"(?>\r\n|\n|\r)"
HEAD_END = re.compile(_LINE_END + rb"{2}")  # the line end of the last header, and that of the empty line
_POSTMARK = re.compile(rb">?From [^\n]*\n")  # the line before a mail in an mbox
_FIRST_HEADER = re.compile(rb"(?:[ \t][^\n]*\n)*(?![ \t])")


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
    end = start + head_length(data[start:])
    line_end = b"\r\n" if re.match(rb"[^\r\n]*\r\n", data[start : start + 100_000]) else b"\n"
    head, rest = _without_forged(data[start:end], names), memoryview(data)[end:]  # a copy of it may be large
    first = _FIRST_HEADER.match(head)
    if first is None or (first.end() == len(head) and head):
        return b"".join((data[:start], head, rest))
    new = b"".join(_fold(name, value, line_end) for name, value in headers)
    return b"".join((data[:start], head[: first.end()], new, head[first.end() :], rest))


def head_length(data: bytes) -> int:
    """Return the length of the headers, with the line end of the last one, for programs to which LF ends a line."""
    if data.startswith((b"\n", b"\r\n")):
        return 0
    end = data.find(b"\n\n") + 1 or len(data)
    return data.find(b"\n\r\n", 0, end) + 1 or end


def _without_forged(head: bytes, names: Sequence[str]) -> bytes:
    """Return headers without those of given names: lines after an LF, and after a CR those before an empty line."""
    forged = (
        rb"(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")[ \t]*:"
        rb"[^\r\n]*(?:" + _LINE_END + rb"[ \t][^\r\n]*)*"
    )
    lines = rb"(?i)(?:\A|(?<=\n))(?:" + forged + rb"(?:" + _LINE_END + rb"|\Z))+|\r" + forged
    empty_line = HEAD_END.search(head)
    end = -1 if head.startswith(b"\r") else len(head) if empty_line is None else empty_line.start()
    return re.sub(lines, lambda match: match[0] if match[0][:1] == b"\r" and match.start() > end else b"", head)


def _fold(name: str, value: str, line_end: bytes) -> bytes:
    """Return the lines of a header."""
    lines, line = [], f"{name}:"
    for word in "".join(c if " " <= c <= "~" else " " for c in value).split():
        if len(line) + 1 + len(word) > MAX_LINE_CHARACTERS and line.strip():
            lines.append(line)
            line = ""
        line += f" {word}"
    return b"".join(part.encode("ascii") + line_end for part in [*lines, line])
