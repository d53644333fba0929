"""Read a mail: its bytes → one row of texts.

The row is a function of what sender and list wrote. It leaves out what is added or changed on the way (line ends,
`>From ` of mbox files), dates, ids, and the verdicts of other filters. So a mail that comes back from another folder is
the same row, and can be unlearnt exactly. One field, `delivery`, is read from the Received lines. It may differ when
the mail comes back, and the key of the mail does not depend on it.

The rules have a number, `EXTRACTOR`. Any change of a row by a change of this folder needs the next number.

No mail raises an exception. Time and memory are bounded: of a mail, the first 2 MB behind the headers and the first
128 KB of headers are read.
"""

from __future__ import annotations

import binascii
import codecs
import email.parser
import hashlib
import quopri
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property, lru_cache
from typing import NamedTuple

from naively._kernels.text import distinct_words, link_starts
from naively.mail.html import MAX_TAGS, read_html
from naively.mail.lines import HEAD_END
from naively.mail.words import FIELDS, bucket, clean, join, one_word, tag, tag_once

EXTRACTOR = 3
COLUMN_FIELDS = {
    "addresses": ("from", "to", "route"),
    "content": ("subject", "links"),
    "form": ("headers", "shape"),
    "body": ("body", "hidden"),
    "delivery": ("delivery",),
}
MAX_BODY_BYTES, MAX_HEADER_BYTES, MAX_RAW_HEADER_BYTES = 1 << 21, 1 << 17, 1 << 20
MAX_NAME_BYTES = 80  # of a header, with its colon
MAX_PARTS, MAX_DEPTH = 100, 20
MAX_LINKS, MAX_LINK_CHARACTERS = 200, 1000
MAX_RECEIVED_LINES, MAX_RECEIVED_BYTES = 50, 1000  # of each line
MAX_FIELD_CHARACTERS = {"body": 1 << 19, "hidden": 1 << 16}  # of one field of a row
MAX_OTHER_CHARACTERS = 1 << 14
# What is read of the headers: lines that the sender or a list wrote, and that stay as they are until delivery.
VALUE_HEADERS = frozenset({
    "content-language", "importance", "mime-version", "organization", "precedence", "priority", "user-agent",
    "x-mailer", "x-mimeole", "x-msmail-priority", "x-priority", "auto-submitted",
})  # fmt: skip
ROUTE_HEADERS = frozenset({"errors-to", "list-id", "mailing-list", "reply-to", "sender", "x-beenthere", "x-sender"})
NAMED_HEADERS = frozenset({
    "bcc", "cc", "comments", "content-class", "content-disposition", "content-id", "content-transfer-encoding",
    "content-type", "disposition-notification-to", "feedback-id", "followup-to", "from", "in-reply-to", "keywords",
    "list-archive", "list-help", "list-owner", "list-post", "list-subscribe", "list-unsubscribe",
    "list-unsubscribe-post", "message-id", "newsgroups", "references", "resent-from", "return-receipt-to", "subject",
    "thread-index", "thread-topic", "to", "x-accept-language", "x-encoding", "x-face", "x-loop", "x-mailman-version",
    "x-originating-ip", "x-unsent",
})  # fmt: skip
ADDRESS_HEADERS = {"from": "from", "to": "to", "cc": "to"}
READ_HEADERS = VALUE_HEADERS | ROUTE_HEADERS | NAMED_HEADERS | {"date"}

_CODED = frozenset({"quoted-printable", "base64", "x-uuencode", "uuencode", "uue", "x-uue"})  # by Message
_PARSER = email.parser.Parser()  # policy compat32, the default; email.policy takes long to import
_HEADER_START = re.compile(r"\n(?![ \t])")
_BLANKS = " ", "\t"
_MBOX_QUOTE = re.compile(rb"^>+(?=From )", re.MULTILINE)
_ENCODED_WORD = re.compile(
    r"=\?([^?\s*]{1,40})(?:\*[^?\s]*)?\?([bq])\?([^?]*)\?=(\s+(?==\?[^?\s]+\?[bq]\?))?", re.IGNORECASE
)
_ADDRESS = re.compile(r"([^\s<>@,;:\"'()\[\]]{1,100})@([^\s<>@,;:\"'()\[\]]{1,200})")
# Without IGNORECASE, and with a set of first letters, a search skips most of a text. ſ, ı and İ are letters of these
# words as IGNORECASE reads them.
_URL = re.compile(
    r"([hHfFwWmM](?:(?:(?<=[hH])[tT][tT][pP][sSſ]?|(?<=[fF])[tT][pP])://[^\s<>\"']{1,2000}|"
    r"(?<=[wW])[wW][wW]\.[^\s<>\"']{1,2000}|(?<=[mM])[aA][iIıİ][lL][tT][oO]:[^\s<>\"']{1,500}))"
)
_HOST = re.compile(
    r"(?:(\w{1,10}):)?(?:/{0,3})(?:[^/?#@\s]{0,200}@)?([^/?#:\s]{1,200})(?::(\d{1,5}))?([^\s]{0,500})", re.DOTALL
)
_HOST_LABEL = re.compile(r"[\w-]+")
_PATH_WORD = re.compile(r"[^\W\d_]{3,20}")
_VALUE_WORD = re.compile(r"\w+")
# Of a Received line: the first numbers of an IP address, and what is not read, its id and addresses of mail. Patterns
# that start with a letter or a set of letters skip most of a text.
_NETWORK = re.compile(r"[\[(](\d{1,3})\.(\d{1,3})\.(\d{1,3})\.\d")
_RECEIVED_ID = re.compile(r"id(?<!\wid)\s+\S+")
_MAIL_ADDRESS = re.compile(r"<[^<>]*>")
_REPLY = re.compile(r"\s*(?:re|aw|fwd?|sv|antw)\s*(?:\[\d+\])?:", re.IGNORECASE)
_CODE_AT_END = re.compile(r"\s{5,}\S{3,}$")
_HTML_START = re.compile(r"\s*<(?:!doctype|html|head|body|table|div)\b", re.IGNORECASE)
_PARAMETERS = {
    name: re.compile(rf"[;\s]{name}\*?(?:0\*?)?\s*=\s*(?:\"([^\"]*)\"?|([^\s;]+))", re.IGNORECASE)
    for name in ("charset", "filename", "name")
}
_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_PLAIN_NUMBER = re.compile(r"[\d.]+|0x[0-9a-f.x]+|\d+", re.IGNORECASE)
_TEXT_CODEC_EXCEPTIONS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"})
_SURROGATE_CODECS = frozenset({"utf-7"})  # they decode to lone surrogates, which are no text
_LIKE_ASCII = frozenset({"", "us-ascii", "utf-8", "iso-8859-1", "iso-8859-15", "windows-1252"})  # for ASCII bytes
_TOP_DOMAINS = frozenset({"ac", "co", "com", "edu", "gov", "net", "or", "org"})  # before a country: example.co.uk


@dataclass(frozen=True)
class Mail:
    """A mail as a row: one text for each of ten fields, and a key.

    Parameters
    ----------
    fields
        The texts by name: from, to, subject, body, hidden, links, route, headers, shape, delivery.
    key
        16 bytes that identify the mail, however it was delivered or stored.
    """

    fields: dict[str, str]
    key: bytes = field(repr=False)

    def __getitem__(self, name: str) -> str:
        return self.fields[name]

    @cached_property
    def columns(self) -> dict[str, str]:
        """The five texts that are counted, by name (`COLUMN_FIELDS`).

        A word has the prefix of its field, except in the visible body. Words of the other columns stand there once.
        """
        return {
            column: join(
                tag(name, self.fields[name]) if column == "body" else tag_once(name, self.fields[name])
                for name in names
            )
            for column, names in COLUMN_FIELDS.items()
        }


class Section(NamedTuple):
    """One part of a mail that is not multipart: its type, name, charset and bytes."""

    kind: str
    name: str
    charset: str
    encoding: str
    data: bytes
    is_attachment: bool
    is_complete: bool


def read(data: bytes) -> Mail:
    """Return a mail as a row. Any bytes are accepted.

    Parameters
    ----------
    data
        The mail as it was delivered, or as it is stored in a Maildir or an mbox.

    Returns
    -------
    Mail
        The row and the key of the mail.

    Examples
    --------
    >>> mail = read(b"From: Ann <ann@example.org>\\nSubject: Cheap\\n\\nSee http://shop.example.com/now\\n")
    >>> mail["subject"], mail["body"], mail["links"]
    ('Cheap', 'See', 'http shop_example_com example_com now')
    >>> mail.key == read(b"Received: by mx\\r\\nFrom: Ann <ann@example.org>\\r\\nSubject: Cheap\\r\\n\\r\\nSee http://shop.example.com/now").key
    True
    """
    head, body, is_complete = _split(data)
    row = _Row()
    row.add("delivery", _delivery_words(head.received))
    if head.is_regular and not _is_nested(head.headers):
        ids = row.read_headers(head.headers)
        row.read_sections(iter([_only_section(head.headers, body, is_complete)]))
        return row.mail(ids)
    message = _parse(head.text, body)
    headers = head.headers if head.is_regular else [(name.lower(), str(value)) for name, value in message.raw_items()]
    ids = row.read_headers(headers)
    try:
        row.read_sections(_sections(message, is_complete))
    except RecursionError:
        row.read_text(_decode(body, ""))
        row.shape("nested")
    return row.mail(ids)


def _key(fields: dict[str, str], ids: list[str]) -> bytes:
    """Return a hash of a row and of the lines that identify a mail: those of two mails with the same text differ."""
    lines = [*(text for name, text in fields.items() if name != "delivery"), *ids]  # without line ends
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, person=b"naively mail").digest()


class _Head(NamedTuple):
    """The headers that are read, and the Received lines: bytes beyond ASCII are surrogates, line ends are LF.

    It is regular if it has a header, and none of them has a blank before the colon.
    """

    lines: list[str]  # with continuation lines
    headers: list[tuple[str, str]]  # names in lower case, and values
    received: list[str]
    is_regular: bool

    @property
    def text(self) -> str:
        """The headers that are read, as one text."""
        return "\n".join(self.lines)


def _split(data: bytes) -> tuple[_Head, bytes, bool]:
    """Return the headers, the body, and whether it is complete; line ends are LF."""
    start = 0
    while data[start : start + 1] in (b"\n", b"\r"):
        start += 1
    limit = start + MAX_RAW_HEADER_BYTES
    end = _head_end(data, start, limit)
    head = _read_head(_line_ends(data[start:end]).decode("ascii", "surrogateescape"))
    raw = data[end : end + 3 * MAX_BODY_BYTES]
    body = _line_ends(raw)
    if b">From " in body:
        body = _MBOX_QUOTE.sub(b"", body)
    body = body.strip(b"\n")
    is_complete = len(body) <= MAX_BODY_BYTES and end + len(raw) == len(data)
    return head, body[:MAX_BODY_BYTES], is_complete


def _head_end(data: bytes, start: int, limit: int) -> int:
    """Return where the headers end: before the line end of the last one."""
    end = data.find(b"\n\n", start, limit)
    if end >= 0 and data.find(b"\r", start, end) < 0:
        return end
    empty_line = HEAD_END.search(data, start, limit)
    return min(len(data), limit) if empty_line is None else empty_line.start()


def _line_ends(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _read_head(text: str) -> _Head:
    """Return the headers that are read, no more than MAX_HEADER_BYTES, and the Received lines."""
    head = _Head([], [], [], True)
    for line in _HEADER_START.split(text):
        end = line.find(":", 0, MAX_NAME_BYTES) + 1
        name = _name_of(line[:end])
        if name == "received":
            head.received.append(line)
        elif name:
            head.lines.append(line)
            head.headers.append((name, line[end:].lstrip(" \t")))
    if len(text) >= MAX_HEADER_BYTES and sum(map(len, head.lines)) + len(head.lines) > MAX_HEADER_BYTES:
        shorter = head.text[: max(0, head.text.rfind("\n", 0, MAX_HEADER_BYTES))]
        return _read_head(shorter)._replace(received=head.received)
    return head._replace(is_regular=bool(head.headers) and not any(name.endswith(_BLANKS) for name, _ in head.headers))


@lru_cache(maxsize=1024)
def _name_of(start: str) -> str:
    """Return the name of a header in lower case, from the start of its line with the colon; "" if it is not read."""
    name = start[:-1].lower()
    return name if name == "received" or name.rstrip(" \t") in READ_HEADERS else ""


def _parse(head: str, body: bytes) -> Message:
    """Return the parts of a mail; a mail that is nested too deeply as one part of plain text."""
    text = f"{head}\n\n{body.decode('ascii', 'surrogateescape')}"
    try:
        return _PARSER.parsestr(text)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError):
        message = Message()
        message.set_payload(text)
        return message


def _first(headers: Sequence[tuple[str, str]], name: str) -> str:
    """Return the first header of a name; bytes beyond ASCII are replaced, as the parser does."""
    for other, value in headers:
        if other == name:
            return value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("ascii", "replace")
    return ""


def _is_nested(headers: Sequence[tuple[str, str]]) -> bool:
    """Return whether a mail has parts, or is a mail in a mail."""
    kind = _first(headers, "content-type").partition(";")[0].strip().lower()
    return kind.count("/") == 1 and kind.partition("/")[0] in ("multipart", "message")


def _only_section(headers: Sequence[tuple[str, str]], body: bytes, is_complete: bool) -> Section:
    """Return the only part of a mail. Its body is not looked at line by line."""
    encoding = _first(headers, "content-transfer-encoding")
    data = body
    if encoding.lower() in _CODED:
        message = Message()
        message["content-transfer-encoding"] = encoding
        message.set_payload(body.decode("ascii", "surrogateescape"))
        data = _payload(message)
    described = _first(headers, "content-type"), encoding, _first(headers, "content-disposition")
    return _section(*described, data, is_complete)


def _sections(message: Message, is_complete: bool, depth: int = 0) -> Iterator[Section]:
    """Yield the parts of a mail that are not multipart, in order."""
    payload = message.get_payload() if message.is_multipart() else None
    if isinstance(payload, list):
        for i, part in enumerate(payload[:MAX_PARTS] if depth < MAX_DEPTH else ()):
            if isinstance(part, Message):
                yield from _sections(part, is_complete or i < len(payload) - 1, depth + 1)
        return
    content_type, encoding, disposition = (
        str(message.get(name, "")) for name in ("content-type", "content-transfer-encoding", "content-disposition")
    )
    yield _section(content_type, encoding, disposition, _payload(message), is_complete)


def _section(content_type: str, encoding: str, disposition: str, data: bytes, is_complete: bool) -> Section:
    """Return a part of a mail, from its headers and its decoded bytes."""
    content_type, encoding, disposition = _plain(content_type), _plain(encoding), _plain(disposition)
    kind = content_type.partition(";")[0].strip().lower() or "text/plain"
    name = _parameter(disposition, "filename") or _parameter(content_type, "name")
    is_attachment = disposition.strip().lower().startswith("attachment") or not kind.startswith("text/")
    charset = _parameter(content_type, "charset")
    return Section(kind, name, charset, encoding.strip().lower(), data, is_attachment, is_complete)


def _payload(message: Message) -> bytes:
    """Return the bytes of a part; base64, quoted-printable and uuencode are decoded."""
    try:
        data = message.get_payload(decode=True)
    except (ValueError, LookupError, TypeError, AttributeError):
        return b""
    return data if isinstance(data, bytes) else b""


def _parameter(value: str, name: str) -> str:
    """Return a parameter of a header such as Content-Type; charset="x", charset=x and charset*=utf-8''x are read."""
    match = _PARAMETERS[name].search(f";{value}") if "=" in value else None
    return "" if match is None else (match.group(1) or match.group(2) or "")[:200]


def _plain(value: str) -> str:
    """Return a header value, in which bytes beyond ASCII are surrogates, as text on one line."""
    value = value[:MAX_OTHER_CHARACTERS]
    if not value.isascii():
        value = _decode(value.encode("utf-8", "surrogateescape"), "")
    return value


def _unfolded(value: str) -> str:
    """Return a header value as text: encoded words (RFC 2047) are decoded, lines are joined."""
    value = _plain(value)
    if "=?" in value:
        value = _ENCODED_WORD.sub(_decode_word, value)
    return value


def _decode_word(match: re.Match[str]) -> str:
    charset, encoding, text, _ = match.groups()
    raw = text.encode("utf-8", "replace")
    data = _base64(raw) if encoding in "bB" else quopri.decodestring(raw, header=True)
    return _decode(data, charset)


def _base64(data: bytes) -> bytes:
    """Return decoded base64; what is not base64 is skipped, and an incomplete end is left out."""
    letters = re.sub(rb"[^A-Za-z0-9+/]", b"", data.partition(b"=")[0] if data.count(b"=") <= 2 else data)
    letters = letters[: len(letters) - (1 if len(letters) % 4 == 1 else 0)]
    try:
        return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
    except binascii.Error:
        return b""


def _decode(data: bytes, charset: str) -> str:
    """Return text: in the declared charset, else UTF-8, else Windows-1252 with replacement characters."""
    if data.isascii() and charset.lower() in _LIKE_ASCII:
        return data.decode("ascii")
    for name in (charset, "utf-8"):
        try:
            info = codecs.lookup(name.strip().strip("\"'")) if name else None
            if info is None or info.name in _TEXT_CODEC_EXCEPTIONS or not info._is_text_encoding:
                continue
            text = info.incrementaldecoder("strict").decode(data)  # an incomplete last character is left out
            return _without_surrogates(text) if info.name in _SURROGATE_CODECS else text
        except (LookupError, ValueError, TypeError, AttributeError):
            continue
    return data.decode("cp1252", "replace")


def _without_surrogates(text: str) -> str:
    """Return a text with replacement characters for surrogates that have no partner."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Row:
    """The texts of a row while a mail is read."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {name: [] for name in FIELDS}
        self._n_tags = MAX_TAGS
        self._n_links = 0

    def add(self, name: str, text: str) -> None:
        if text:
            self._texts[name].append(text)

    def shape(self, word: str) -> None:
        """Add a word to the shape of the mail."""
        self._texts["shape"].append(word)

    def fields(self) -> dict[str, str]:
        """Return the texts, each cut at its limit."""
        return {
            name: clean(" ".join(texts)[: MAX_FIELD_CHARACTERS.get(name, MAX_OTHER_CHARACTERS)]) if texts else ""
            for name, texts in self._texts.items()
        }

    def mail(self, ids: list[str]) -> Mail:
        """Return the row and its key."""
        fields = self.fields()
        return Mail(fields, _key(fields, ids))

    def read_headers(self, headers: Sequence[tuple[str, str]]) -> list[str]:
        """Add the headers, and return those that identify the mail."""
        ids: list[str] = []
        names = dict(headers)
        n_recipients = 0
        for name, value in headers:
            if name in ("date", "message-id"):
                ids.append(f"{name}:{''.join(value.split())}")
            if name == "date":
                continue
            self.add("headers", one_word(name))
            if name in ADDRESS_HEADERS or name in ROUTE_HEADERS:
                words, n_addresses = _address_words(value[:MAX_OTHER_CHARACTERS])
                self.add(ADDRESS_HEADERS.get(name, "route"), words)
                n_recipients += n_addresses if name in ADDRESS_HEADERS else 0
            elif name == "subject":
                self._read_subject(_unfolded(value))
            elif name == "message-id":
                self.add("route", _domain(value.rpartition("@")[2]))
            elif name in VALUE_HEADERS:
                self.add("headers", _value_words(one_word(name), value[:MAX_OTHER_CHARACTERS]))
        self.shape(f"recipients_{bucket(n_recipients)}")
        for name in ("from", "to", "subject", "message-id"):
            if name not in names:
                self.shape(f"no_{one_word(name)}")
        return ids

    def _read_subject(self, subject: str) -> None:
        self.add("subject", subject)
        if _REPLY.match(subject):
            self.shape("subject_reply")
        if _n_capitals(subject) > 4:  # of 6 letters or more
            n_letters = sum(map(str.isalpha, subject))
            if n_letters > 5 and sum(map(str.isupper, filter(str.isalpha, subject))) > 0.7 * n_letters:
                self.shape("subject_capitals")
        for sign, name in (("!", "exclamation"), ("?", "question"), ("$", "dollar"), ("%", "percent")):
            if sign in subject:
                self.shape(f"subject_{name}")
        if _CODE_AT_END.search(subject):
            self.shape("subject_code")

    def read_sections(self, sections: Iterator[Section]) -> None:
        """Add the bodies and attachments of a mail."""
        n_texts = n_html = n_words = 0
        for _, section in zip(range(MAX_PARTS), sections, strict=False):
            self.shape(f"part_{one_word(section.kind)}")
            if section.encoding in ("base64", "quoted-printable"):
                self.shape(f"coded_{one_word(section.kind)}_{one_word(section.encoding)}")
            if section.charset:
                self.shape(f"charset_{one_word(section.charset.lower())}")
            if section.name:
                self.shape(f"file_{one_word(section.name.rpartition('.')[2].lower())[:10]}")
                self.add("shape", join(f"file_{word}" for word in _VALUE_WORD.findall(_unfolded(section.name))[:8]))
            data = section.data
            if section.is_attachment:
                size = bucket(len(data)) if section.is_complete else "cut"
                self.shape(f"attachment_{one_word(section.kind)}_{size}")
                continue
            text = _decode(data, section.charset)
            if section.kind == "text/html" or (section.kind != "text/plain" and _looks_like_html(text)):
                n_html += 1
                n_words += self._read_html(text)
            else:
                n_texts += 1
                n_words += self.read_text(text)
        self.shape(f"texts_{min(n_texts, 3)}_html_{min(n_html, 3)}")
        self.shape(f"words_{bucket(n_words)}")
        self.shape(f"links_{bucket(self._n_links)}")

    def read_text(self, text: str) -> int:
        """Add plain text and the links in it; return the number of words, roughly."""
        text = text[: MAX_FIELD_CHARACTERS["body"]]
        parts = _split_at_links(text)
        text = " ".join(parts[::2])
        for url in parts[1::2]:
            self._read_link(url)
        self.add("body", text)
        n_words = text.count(" ") + text.count("\n")
        letters = text[:4000]
        if _n_capitals(letters) > 0.4 * len(letters) > 20:
            self.shape("capitals")
        for sign, name in (("!", "exclamations"), ("$", "dollars")):
            if sign in text:
                self.shape(f"{name}_{bucket(text.count(sign))}")
        return n_words

    def _read_html(self, html: str) -> int:
        page = read_html(html, self._n_tags)
        self._n_tags = max(0, self._n_tags - html.count("<"))
        for target, shown in page.links:
            self._read_link(target)
            if "://" in shown and target.startswith("http") and _domain_of_url(shown.strip()) != _domain_of_url(target):
                self.shape("link_shows_another")
        if page.hidden:
            self.add("hidden", page.hidden)
            self.shape(f"hidden_{bucket(len(page.hidden))}")
        if page.n_images:
            self.shape(f"images_{bucket(page.n_images)}")
        if page.n_forms:
            self.shape("form")
        return self.read_text(page.visible)

    def _read_link(self, url: str) -> None:
        self._n_links += 1
        if self._n_links <= MAX_LINKS:
            self.add("links", _link_words(url[:MAX_LINK_CHARACTERS]))


@lru_cache(maxsize=1024)
def _address_words(value: str) -> tuple[str, int]:
    """Return the names and addresses of a header as words, and the number of addresses."""
    texts = _ADDRESS.split(_unfolded(value))  # a text, and then local part, domain and text, over and over
    names = " ".join(texts[::3])[:2000]
    pairs = zip(texts[1:150:3], texts[2:150:3], strict=True)
    return join([names, *(f"{one_word(local)} {_domain(domain)}" for local, domain in pairs)]), len(texts) // 3


def _delivery_words(lines: Sequence[str]) -> str:
    """Return the words of Received lines: of hosts, protocols and programs, and the first numbers of IP addresses.

    >>> _delivery_words(["Received: from a.example.org (b [192.0.2.7]) by mx with ESMTP id 1x2; Mon, 1 Jan 2024"])
    'from a example org b by mx with esmtp 192_0 192_0_2'
    """
    values = [line[9:MAX_RECEIVED_BYTES] for line in lines[:MAX_RECEIVED_LINES]]
    text = "\n".join([value.rpartition(";")[0] or value for value in values])
    if not text.isascii():
        text = text.encode("ascii", "ignore").decode()
    text = _MAIL_ADDRESS.sub(" ", _RECEIVED_ID.sub(" ", text))
    words = [word for word in distinct_words(text, "").split() if not word.isdigit()]
    return " ".join(words + [f"{a}_{b} {a}_{b}_{c}" for a, b, c in dict.fromkeys(_NETWORK.findall(text))])


@lru_cache(maxsize=1024)
def _value_words(name: str, value: str) -> str:
    """Return the words of the value of a header, each with the name of the header."""
    return join(f"{name}_{word}" for word in _VALUE_WORD.findall(_unfolded(value))[:12])


@lru_cache(maxsize=4096)
def _link_words(url: str) -> str:
    """Return the words of a link: scheme, host, domain and words of the path."""
    if url[:7].lower() == "mailto:":
        local, _, domain = url[7:200].partition("@")
        return f"mailto {one_word(local)} {_domain(domain.partition('?')[0])}"
    match = _HOST.match(url if "://" in url[:12] else url.replace("www.", "http://www.", 1))
    if match is None:
        return ""
    scheme, host, port, path = match.groups()
    if scheme is None:
        return "relative"
    words = [scheme, _domain(host)]
    if port:
        words.append(f"port_{port}")
    if _PLAIN_NUMBER.fullmatch(host):
        words.append("number_as_host")
    if "%" in path:
        words.append("coded_path")
    words += _PATH_WORD.findall(path)[:8]
    return " ".join(words)


def _split_at_links(text: str) -> list[str]:
    """Return `_URL.split(text)`: every second part is a link."""
    if not text.isascii():
        return _URL.split(text)
    parts, end = [], 0
    for start in link_starts(text):
        link = _URL.match(text, start) if start >= end else None  # a link may contain another
        if link is not None:
            parts += [text[end:start], link[1]]
            end = link.end()
    return [*parts, text[end:]]


def _looks_like_html(text: str) -> bool:
    return _HTML_START.match(text[:500]) is not None


def _n_capitals(text: str) -> int:
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _CAPITALS))
    return sum(map(str.isupper, text))


def _domain(host: str) -> str:
    """Return a host as one word, and the domain that was registered as another if they differ.

    >>> _domain("mail.example.co.uk")
    'mail_example_co_uk example_co_uk'
    """
    return _host_words(host.lower()[:100])


@lru_cache(maxsize=4096)
def _host_words(host: str) -> str:
    labels = _HOST_LABEL.findall(host)
    n_labels = 3 if len(labels) > 2 and labels[-2] in _TOP_DOMAINS and len(labels[-1]) == 2 else 2
    complete, registered = one_word(" ".join(labels)), one_word(" ".join(labels[-n_labels:]))
    return complete if complete == registered else f"{complete} {registered}"


def _domain_of_url(url: str) -> str:
    match = _HOST.match(url)
    return "" if match is None else _domain(match.group(2)).rpartition(" ")[2]
