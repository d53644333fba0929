"""Mails for tests: spam and ham of random words, and mails that are broken on purpose."""

from __future__ import annotations

import random
from collections.abc import Iterator

SPAM_WORDS = "cheap pills offer winner money free click loan casino bonus credit prize limited order now".split()  # noqa: SIM905  (one line)
HAM_WORDS = "meeting lunch project report thanks agenda review patch server library weekend family notes tests".split()  # noqa: SIM905  (one line)
SHARED_WORDS = "the a and to of you we is for on with this that from please mail time day new one".split()  # noqa: SIM905  (one line)


def make_mail(label: str, number: int) -> bytes:
    """Return a mail of a class; the same number gives the same mail."""
    generator = random.Random(f"{label} {number}")
    words = SPAM_WORDS if label == "spam" else HAM_WORDS
    text = [generator.choice(words if generator.random() < 0.4 else SHARED_WORDS) for _ in range(60)]
    subject = " ".join(generator.sample(words, 3))
    host = "shop.example.com" if label == "spam" else "example.org"
    lines = [" ".join(text[i : i + 10]) for i in range(0, 60, 10)]
    return (
        f"Received: from a{number}.example.net by mx.example.org; Mon, 1 Jan 2024 00:00:{number % 60:02d} +0000\n"
        f"From: {label} {number} <{label}{number}@{host}>\nTo: me@example.org\nSubject: {subject}\n"
        f"Date: Mon, 1 Jan 2024 00:00:00 +0000\nMessage-ID: <{label}.{number}@{host}>\n\n" + "\n".join(lines) + "\n"
    ).encode()


def make_mails(label: str, n: int, start: int = 0) -> list[bytes]:
    """Return several mails of a class."""
    return [make_mail(label, number) for number in range(start, start + n)]


RICH_MAIL = (
    b"From: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>\r\nTo: you@example.com, them@example.com\r\n"
    b"Subject: =?iso-8859-1?b?Q2Fm6Q==?= offer\r\nMIME-Version: 1.0\r\nMessage-ID: <1@example.org>\r\n"
    b'Content-Type: multipart/mixed; boundary="b"\r\n\r\npreamble\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\n'
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>wor<b>ld</b> <a href=3D'http://shop.example.com/x'>x</a>"
    b"<span style=3D'display:none'>secret</span></p>\r\n--b\r\nContent-Type: application/pdf; name=bill.pdf\r\n"
    b"Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=bill.pdf\r\n\r\nAAAA\r\n--b--\r\n"
)


def mutated_mails(n: int, seed: int = 0) -> Iterator[bytes]:
    """Yield mails with bytes changed, deleted, repeated and moved at random."""
    generator = random.Random(seed)
    originals = [RICH_MAIL, make_mail("spam", 1), make_mail("ham", 2)]
    pieces = [
        b"\r\n",
        b"--b",
        b"=?utf-8?b?",
        b"?=",
        b"\0",
        b"boundary=",
        b"Content-Type: ",
        b"<!--",
        b"<table>",
        b"\xff\xfe",
    ]
    pieces += [
        b"charset=utf-16\r\n",
        b"charset=punycode\r\n",
        b"multipart/",
        b";" * 50,
        b"\r",
        b">From ",
        b"base64",
        b"=" * 20,
    ]
    for _ in range(n):
        mail = bytearray(generator.choice(originals))
        for _ in range(generator.randint(1, 8)):
            i, j = sorted(generator.randrange(len(mail) + 1) for _ in range(2))
            match generator.randrange(5):
                case 0:
                    del mail[i : min(j, i + 60)]
                case 1:
                    mail[i:i] = generator.choice(pieces)
                case 2:
                    mail[i:i] = mail[i : min(j, i + 200)]
                case 3:
                    mail[i : i + 1] = bytes([generator.randrange(256)])
                case _:
                    mail[i:i] = generator.randbytes(generator.randint(1, 20))
            if not mail:
                break
        yield bytes(mail)
