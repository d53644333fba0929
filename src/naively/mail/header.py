"""The headers that say what the filter answers, and why."""

from __future__ import annotations

from collections.abc import Sequence

from naively.mail.model import Answer, Reason

NAME = "X-Naively"
SPAMASSASSIN_NAMES = ("X-Spam-Flag", "X-Spam-Status", "X-Spam-Score", "X-Spam-Level", "X-Spam-Checker-Version")
MAX_WORD_CHARACTERS = 60


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


def _safe(text: str) -> str:
    """Return text for a header: control characters are removed, words beyond ASCII are encoded (RFC 2047).

    >>> _safe("subject: \\u00e9t\\u00e9\\r\\nX-Evil: 1")
    'subject: =?utf-8?q?=C3=A9t=C3=A9?= X-Evil: 1'
    """
    words = "".join(c if c.isprintable() else " " for c in text[:MAX_WORD_CHARACTERS]).split()
    return " ".join(word if word.isascii() and not word.startswith("=?") else _encode(word) for word in words)


def _encode(word: str) -> str:
    coded = "".join(
        chr(b) if 48 <= b <= 57 or 65 <= b <= 90 or 97 <= b <= 122 else f"={b:02X}"
        for b in word.encode("utf-8", "replace")
    )
    return f"=?utf-8?q?{coded}?="
