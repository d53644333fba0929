"""A mail is a row: what is read, what is left out, and that no mail breaks it."""

import codecs
import os
import subprocess
import sys
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.mails import RICH_MAIL, make_mail, mutated_mails

from naively.mail import read
from naively.mail.html import read_html
from naively.mail.reader import _URL, _split_at_links
from naively.mail.words import FIELDS, clean

N_MUTATED = 20_000 if os.environ.get("NAIVELY_SOAK") else 2_000


def test_the_fields_of_a_mail() -> None:
    mail = read(RICH_MAIL)
    assert tuple(mail.fields) == FIELDS
    assert mail["from"].startswith("Jörg")
    assert "joerg example_org" in mail["from"]
    assert mail["subject"] == "Café offer"
    assert mail["body"] == "world x"
    assert mail["hidden"] == "secret"
    assert mail["links"] == "http shop_example_com example_com"
    assert "attachment_application_pdf_2" in mail["shape"]
    assert "file_bill" in mail["shape"]


def test_words_have_the_prefix_of_their_field_except_in_the_visible_body() -> None:
    columns = read(RICH_MAIL).columns
    assert "subject_offer" in columns["content"]
    assert "link_shop_example_com" in columns["content"]
    assert columns["body"] == "world x hidden_secret"


@pytest.mark.parametrize(
    "line",
    [
        b"Date: Tue, 2 Jan 2024 00:00:00 +0000",
        b"X-Spam-Status: Yes, score=99",
        b"X-Bogosity: Spam, tests=bogofilter",
        b"X-Naively: spam, p=1",
        b"X-Rspamd-Score: 12",
        b"Authentication-Results: mx; spf=fail",
        b"Delivered-To: me@example.org",
        b"Status: RO",
    ],
)
def test_dates_delivery_and_verdicts_are_not_in_the_row(line: bytes) -> None:
    mail = make_mail("ham", 1)
    assert read(line + b"\n" + mail).fields == read(mail).fields


def arrivals(mail: bytes) -> list[bytes]:
    """Return a mail as it comes back from other programs."""
    lf = mail.replace(b"\r\n", b"\n")
    return [
        lf,
        lf.replace(b"\n", b"\r\n"),
        b"Received: by another.example.org\n" + lf,
        b"\n".join(line for line in lf.split(b"\n") if not line.startswith(b"Received:")),
        b"Return-Path: <a@b>\nX-Spam-Flag: YES\n" + lf + b"\n\n",
        b"From a@b Mon Jan 1 00:00:00 2024\n" + lf.replace(b"\nFrom ", b"\n>From "),
        lf.rstrip(b"\n"),
    ]


@pytest.mark.parametrize("mail", [RICH_MAIL, make_mail("spam", 3), make_mail("ham", 3) + b"\nFrom here on: more\n"])
def test_a_mail_that_comes_back_another_way_is_the_same(mail: bytes) -> None:
    copies = [read(copy) for copy in arrivals(mail)]
    assert {copy.key for copy in copies} == {read(mail).key}
    assert len({tuple(text for name, text in copy.fields.items() if name != "delivery") for copy in copies}) == 1


def test_received_lines_are_the_delivery() -> None:
    lines = (
        b"Received: from mail.example.org (HELO home) ([192.0.2.71])\n\tby mx.example.net (8.11.6/8.11.6) with ESMTP\n"
        b"\tid g4I64 for <me@example.net>; Mon, 1 Jan 2024 00:00:00 +0000\n"
    )
    mail = make_mail("ham", 1).partition(b"\n")[2]
    assert read(mail)["delivery"] == ""
    words = read(lines + mail).columns["delivery"].replace("delivery_", "").split()
    assert " ".join(words) == "from mail example org helo home by mx net with esmtp for 192_0 192_0_2"


def test_received_lines_without_end_are_cut() -> None:
    mail = make_mail("ham", 1)
    flood = b"Received: from " + b"a.example " * 1000 + b"\n"
    assert len(read(flood * 1000 + mail)["delivery"]) < 50 * 1000
    assert read(flood * 10_000 + mail).key != b""


def test_two_mails_with_the_same_text_have_different_keys() -> None:
    mail = make_mail("ham", 1)
    other = mail.replace(b"<ham.1@", b"<ham.other@")
    assert read(mail).fields == read(other).fields
    assert read(mail).key != read(other).key


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("utf-8", "Grüße".encode(), "Grüße"),
        ("iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("nonsense", "Grüße".encode(), "Grüße"),
        ("us-ascii", "“Grüße”".encode("cp1252"), "“Grüße”"),
        ("hex", b"abc", "abc"),
        ("utf-16", b"abc", "abc"),
    ],
)
def test_charsets(charset: str, data: bytes, text: str) -> None:
    mail = f"Content-Type: text/plain; charset={charset}\n\n".encode() + data
    assert read(mail)["body"] == text or charset == "utf-16"


def test_scripts_without_spaces_are_pairs_of_characters() -> None:
    assert clean("特別優惠 サイト ok") == "特別 別優 優惠 サイ イト ok"
    assert clean("ขาย") == "ขา าย"


@pytest.mark.parametrize(
    ("html", "visible", "hidden"),
    [
        ("via<!-- x -->gra", "viagra", ""),
        ("a<br>b<td>c", "a b c", ""),
        ("<p style='FONT-SIZE: 0px'>ghost</p>seen", "seen", "ghost"),
        ("<font color='#FFFFFF'>ghost</font>seen", "seen", "ghost"),
        ("<table bgcolor=black><tr><td><font color=white>seen</font></table>", "seen", ""),
        ("<div hidden>a<i style='display:none'>b</i></div>c", "c", "b a"),
        ("<script>evil()</script><style>p{}</style>text", "text", ""),
    ],
)
def test_html(html: str, visible: str, hidden: str) -> None:
    page = read_html(html)
    assert (page.visible, page.hidden) == (visible, hidden)


def test_a_link_that_shows_another_address_is_part_of_the_shape() -> None:
    html = b'Content-Type: text/html\n\n<a href="http://evil.example.net/x">http://bank.example.com/</a>'
    assert "link_shows_another" in read(html)["shape"]


def test_mutated_mails_raise_nothing_and_are_read_alike_twice() -> None:
    for mail in mutated_mails(N_MUTATED):
        assert read(mail) == read(mail.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def text_charsets() -> list[str]:
    """Return the names of all charsets that Python decodes to text on this system."""
    names = set(aliases.values()) - {"mbcs", "oem"}  # of Windows
    return sorted(name for name in names if codecs.lookup(name)._is_text_encoding)


@pytest.mark.parametrize("kind", ["plain", "html"])
@pytest.mark.parametrize("charset", text_charsets())
def test_a_mail_in_any_charset_is_text_that_can_be_counted(charset: str, kind: str) -> None:
    """Some charsets decode to lone surrogates, which cannot be encoded again: UTF-7 has +2AA-."""
    for text in (
        b"a +2AA- b +3AA- +2D3eAA-",
        b"\xed\xa0\x80 \\ud800",
        b"\x00\xd8\x00\xdc\xd8\x00\x00\x00",
        bytes(range(256)),
    ):
        word = b"=?%s?q?%s?=" % (charset.encode(), b"".join(b"=%02X" % byte for byte in text))
        head = b"From: %s <a@example.org>\nSubject: %s\nContent-Type: text/%s; charset=%s; name=%s\n\n"
        mail = read(head % (word, word, kind.encode(), charset.encode(), word) + text)
        for column in mail.columns.values():
            assert column.encode().decode() == column


LINK_PIECES = [
    *(
        "http://",
        "HTTPS://",
        "http",
        "http\u017f://",
        "://",
        "www.",
        "WWW",
        "mailto:",
        "MA\u0130lto:",
        "ftp://",
        "h",
        "w",
    ),
    *("example.org", "/a", " ", "\n", "<", '"', "é", "\u2028"),
]


@given(st.lists(st.sampled_from(LINK_PIECES), max_size=30).map("".join))
def test_a_text_is_split_at_links_as_by_the_pattern(text: str) -> None:
    assert _split_at_links(text) == _URL.split(text)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_mail(data: bytes) -> None:
    assert set(read(data).fields) == set(FIELDS)


NESTED = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (i, i) for i in range(1000))
LARGE_MAILS = {
    "nested parts": "NESTED + b'text'",
    "many parts": "b'Content-Type: multipart/mixed; boundary=b\\n\\n' + b'--b\\n\\nx\\n' * 100_000",
    "long line": "b'Subject: x\\n\\n' + b'word ' * 20_000_000",
    "long word": "b'Subject: x\\n\\n' + b'\\xff' * 100_000_000",
    "large headers": "b''.join(b'X-%d: y\\n' % i for i in range(800_000)) + b'\\nbody'",
    "long header": "b'Subject: ' + b'=?utf-8?q?a?= ' * 700_000 + b'\\n\\nbody'",
    "long addresses": "b'To: ' + b'a@b, ' * 2_000_000 + b'\\n\\nbody'",
    "options": "b'Content-Type: text/html\\n\\n<select>' + b'<option>' * 200_000",
    "attributes": "b'Content-Type: text/html\\n\\n<p ' + b''.join(b'a%d=1 ' % i for i in range(200_000)) + b'>'",
    "many html parts": "b'Content-Type: multipart/mixed; boundary=b\\n\\n' + "
    "(b'--b\\nContent-Type: text/html\\n\\n<select>'"
    " + b'<option>' * 9000 + b'\\n') * 100",
    "base64": "b'Content-Transfer-Encoding: base64\\n\\n' + b'QUJD' * 20_000_000",
    "links": "b'Subject: x\\n\\n' + b'http://a.example.com/x ' * 500_000",
    "spaces": "b'Content-Type: text/plain;' + b' ' * 100_000 + b'\\n\\nx' + b' ' * 3_000_000",
    "quotes": "b'Subject: x\\n\\n' + b'>' * 5_000_000 + b'From '",
}
PROGRAM = """
import re, sys, time
from pathlib import Path
from naively.mail import read
from tests.mail.test_read import NESTED
mail = eval(sys.argv[1])
before = time.process_time()
read(mail)
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())  # ru_maxrss includes the parent's
print(time.process_time() - before, int(peak[1]) / 1024)
"""


@pytest.mark.parametrize("name", LARGE_MAILS)
def test_large_mails_take_bounded_memory(name: str) -> None:
    """At most 300 MB, the mail included. Seconds are printed, and checked generously: the machine may be busy."""
    arguments = [sys.executable, "-c", PROGRAM, LARGE_MAILS[name]]
    output = subprocess.run(
        arguments, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": "."}
    )
    seconds, megabytes = map(float, output.stdout.split())
    print(f"{name}: {seconds:.2f} s, {megabytes:.0f} MB")
    assert megabytes <= 300
    assert seconds <= 20
