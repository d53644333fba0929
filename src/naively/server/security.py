"""Who may do what: host names, origins, tokens and the headers that protect a browser.

- A request names a host that the server has, else it is refused before anything else is looked at: a page of another
  site whose name was made to point here (DNS rebinding) sends its own name.
- An unsafe method comes from a page of this server, or from a program.
- A token is in the header `Authorization: Bearer …` or in a cookie, which is set by the link that is printed.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import HTTPConnection
from starlette.types import Scope

from naively.errors import InputError
from naively.server.problems import Problem

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
OPEN_PATHS = ("/v2/health/live", "/v2/health/ready")  # need no token
MIN_TOKEN_CHARACTERS = 16
PERMISSIONS = ("read", "learn")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS_OF_DATA = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
HEADERS = (  # of pages too: these concern windows and links
    *HEADERS_OF_DATA,
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Access:
    """Who sent a request, and what it may do. `name` is that of the token, the source of entries of the log."""

    name: str = ""
    may_read: bool = True
    may_learn: bool = False


READER = Access()
NOBODY = Access(may_read=False)


@dataclass(frozen=True)
class Token:
    """A secret that lets its holder read, or read and learn.

    Parameters
    ----------
    name
        Whose it is: the source of the entries that are written with it.
    secret
        At least 16 characters.
    may_learn
        Whether its holder may change models.
    """

    name: str
    secret: str = field(repr=False)
    may_learn: bool = False

    def __post_init__(self) -> None:
        """Refuse a secret that can be guessed."""
        if len(self.secret) < MIN_TOKEN_CHARACTERS or not self.secret.isascii():
            raise InputError(f"the token of {self.name!r} needs at least {MIN_TOKEN_CHARACTERS} ASCII characters.")

    @classmethod
    def new(cls, name: str, may_learn: bool) -> Token:
        """Return a token with a random secret."""
        return cls(name, secrets.token_urlsafe(24), may_learn)


def read_tokens(path: str | Path) -> list[Token]:
    """Read tokens from a file: lines of a name, `read` or `learn`, and a secret, with spaces between them."""
    tokens = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        parts = line.split()
        if not parts or parts[0].startswith("#"):
            continue
        if len(parts) != 3 or parts[1] not in PERMISSIONS:
            raise InputError(f"{path}, line {number}: write a name, 'read' or 'learn', and a secret.")
        tokens.append(Token(parts[0], parts[2], parts[1] == "learn"))
    if not tokens:
        raise InputError(f"{path}: holds no tokens. A line has a name, 'read' or 'learn', and a secret.")
    return tokens


@dataclass(frozen=True)
class Policy:
    """The rules of a server.

    Parameters
    ----------
    tokens
        The tokens.
    read_needs_token
        Whether a token is needed to read.
    hosts
        The names of this server, besides those of the loopback address.
    any_address
        Whether a host may also be any IP address, because the server listens on all of its addresses.
    origins
        Other origins whose pages may send requests (CORS).
    """

    tokens: Sequence[Token] = ()
    read_needs_token: bool = False
    hosts: Sequence[str] = ()
    any_address: bool = False
    origins: Sequence[str] = ()

    def check_host(self, host: str) -> None:
        """Refuse a request that names another host."""
        name = host.rpartition(":")[0] if _has_port(host) else host
        name = name.lower()
        if name in LOOPBACK_NAMES or name in self.hosts or (self.any_address and _is_address(name)):
            return
        raise Problem(421, f"this server is not {host!r}: to serve under this name, start it with --allow-host.")

    def check_origin(self, method: str, host: str, site: str | None, origin: str | None) -> None:
        """Refuse an unsafe method that a page of another origin has sent."""
        if method in SAFE_METHODS or (origin is not None and origin in self.origins):
            return
        if site is not None:
            is_own = site in ("same-origin", "none")
        else:
            is_own = origin is None or urlsplit(origin).netloc == host  # a program sends neither
        if not is_own:
            raise Problem(403, "a page of another site may not send this: open the page of this server.")

    def access(self, path: str, bearer: str | None, cookie: str | None) -> Access:
        """Return what the holder of a token may do."""
        secret = bearer if bearer is not None else cookie
        anybody = NOBODY if self.read_needs_token and path not in OPEN_PATHS else READER
        if secret is None:
            return anybody
        token = self.find(secret)
        if token is not None:
            return Access(token.name, True, token.may_learn)
        if bearer is not None:
            raise Problem(401, "this token is not valid.", {"WWW-Authenticate": "Bearer"})
        return anybody  # a cookie of an earlier start

    def find(self, secret: str) -> Token | None:
        """Return the token with this secret. All are compared, in a time that does not depend on the secret."""
        match = None
        for token in self.tokens:
            if hmac.compare_digest(token.secret.encode(), secret.encode("utf-8", "replace")):
                match = token
        return match


def require_learn(request: HTTPConnection) -> Access:
    """Return who sent the request; Problem if it may not change models."""
    access: Access = request.state.access
    if not access.may_learn:
        if access.name:
            raise Problem(403, "this token may only read.")
        raise Problem(
            401,
            "to change the model, open the link that `naively serve` has printed, or send its token: "
            "Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )
    return access


def cookie_name(host: str) -> str:
    """Return the name of the cookie, which has the port: cookies of one host are shared by all of its ports.

    >>> cookie_name("127.0.0.1:8000"), cookie_name("[::1]")
    ('naively_8000', 'naively_80')
    """
    return f"naively_{host.rpartition(':')[2] if _has_port(host) else 80}"


def without_token(scope: Scope) -> tuple[str | None, str]:
    """Return the token in the query of an address, and the address without it."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    token = next((value for name, value in pairs if name == "token"), None)
    query = urlencode([pair for pair in pairs if pair[0] != "token"])
    path = scope.get("root_path", "") + scope["path"].removeprefix(scope.get("root_path", ""))
    return token, path + (f"?{query}" if query else "")


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_names(host: str, others: Iterable[str]) -> tuple[list[str], bool]:
    """Return the names of a server that listens on a host, and whether it listens on all addresses."""
    names = [name.lower() for name in others]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return [*names, host.lower()], False
    return [*names, f"[{address}]" if address.version == 6 else str(address)], address.is_unspecified


def _has_port(host: str) -> bool:
    return ":" in host and not host.endswith("]")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
