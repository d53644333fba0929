"""Addresses of database servers: `postgresql://USER@HOST:PORT/DATABASE::TABLE or QUERY`, as libpq reads them.

A password is only ever passed to the server. Messages, the log and the model file get the address without it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from naively.errors import InputError

SECRET_PARAMETERS = ("password", "sslpassword")
MIN_SECRET_LENGTH = 4
UNREADABLE = "postgresql://…"  # how an address is shown in which a password cannot be recognised

_CHARACTER = r"(?:(?!::)(?:%(?!00)[0-9A-Fa-f]{2}|[^@/?#%\[\]\s]))"  # of a user name, a password or a host
_HOST = rf"(?:\[[^\[\]]*\]|(?:(?![,:]){_CHARACTER})*)(?::\d+)?"
_PARAMETER = r"(?:(?!::)[^=&#\s])+=(?:(?!::)[^=&#\s])*"
_SCHEME = re.compile(r"postgres(?:ql)?://")
_ADDRESS = re.compile(
    rf"(?P<scheme>{_SCHEME.pattern})"
    rf"(?:(?P<user>(?:(?!:){_CHARACTER})*)(?::(?P<password>{_CHARACTER}*))?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<database>/(?:(?!::)[^@/?#\s])*)?"
    rf"(?:\?(?P<parameters>(?:{_PARAMETER}(?:&{_PARAMETER})*)?))?"
    r"(?:::(?P<query>.*))?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Address:
    """The address of a server as it was given.

    Attributes
    ----------
    uri
        What libpq connects to; it may have a password.
    shown
        The same without a password.
    query
        The table or query to read, if one is given.
    secrets
        The passwords in the address.
    """

    uri: str = field(repr=False)
    shown: str
    query: str | None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def without_secrets(self, message: str) -> str:
        """Return a message of the server without the passwords of the address.

        Passwords of fewer than four characters stay: they would also be removed from the words of the message.
        """
        for secret in self.secrets:
            if len(secret) >= MIN_SECRET_LENGTH:
                message = message.replace(secret, "***")
        return message


def is_address(text: str) -> bool:
    """Return whether a text begins as the address of a server does."""
    return _SCHEME.match(text) is not None


def parse_address(given: str) -> Address:
    """Split the address of a server into what is connected to, shown and read.

    >>> parse_address("postgresql://ann:secret@db.example:5432/shop?sslmode=require::orders")
    Address(shown='postgresql://ann@db.example:5432/shop?sslmode=require', query='orders')

    Raises
    ------
    InputError
        If it cannot be read. The message does not repeat it: the reason may be a character of a password.
    """
    parts = _ADDRESS.fullmatch(given)
    if parts is None:
        raise InputError(
            f"{UNREADABLE}: the address cannot be read. It is postgresql://USER@HOST:PORT/DATABASE::TABLE, with each "
            "of @ : / ? # % in a name or a password as %40 %3A %2F %3F %23 %25. "
            "A password is safer in ~/.pgpass or PGPASSWORD."
        )
    uri = given if parts["query"] is None else given[: parts.start("query") - 2]
    parameters = (parts["parameters"] or "").split("&")
    public = [p for p in parameters if unquote(p.partition("=")[0]) not in SECRET_PARAMETERS]
    user = f"{parts['user']}@" if parts["user"] else ""
    shown = parts["scheme"] + user + parts["hosts"] + (parts["database"] or "")
    shown += f"?{'&'.join(public)}" if any(public) else ""
    given_secrets = [parts["password"], *(p.partition("=")[2] for p in parameters if p not in public)]
    secrets = {form for secret in given_secrets if secret for form in (secret, unquote(secret))}
    return Address(uri, shown, parts["query"] or None, tuple(sorted(secrets, key=len, reverse=True)))


def shown_name(given: str) -> str:
    """Return the name of a source without a password: an address with its query, or a path as it is.

    >>> shown_name("postgres://ann:secret@localhost/shop::SELECT 1"), shown_name("shop.db::orders")
    ('postgres://ann@localhost/shop::SELECT 1', 'shop.db::orders')
    >>> shown_name("postgresql://ann:s@cret@localhost/shop::orders")
    'postgresql://…'
    """
    if not is_address(given):
        return given
    try:
        address = parse_address(given)
    except InputError:
        return UNREADABLE
    return address.shown if address.query is None else f"{address.shown}::{address.query}"
