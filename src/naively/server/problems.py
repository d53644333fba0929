"""Errors as responses: what is wrong, with at most 200 characters of the request."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from starlette.responses import Response

from naively.errors import InputError

MAX_QUOTED = 90  # characters of a quoted value in a message; two of them are echoed at most
MAX_MESSAGE = 500  # characters
_QUOTED = re.compile(rf"""'[^']{{{MAX_QUOTED + 1},}}'|"[^"]{{{MAX_QUOTED + 1},}}\"""")
_encode = msgspec.json.Encoder().encode


class Problem(Exception):  # noqa: N818  (RFC 9457 calls it a problem)
    """A response that is not a success.

    Parameters
    ----------
    status
        The status code of HTTP.
    message
        What is wrong, and what to do.
    headers
        Further headers of the response.
    """

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        """Keep the status, the message and the headers."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}

    @classmethod
    def of_input(cls, error: InputError) -> Problem:
        """Return the response to input that the library refuses: 400."""
        return cls(400, str(error))

    def response(self) -> Response:
        """Return the response as JSON."""
        body = _encode({"error": shorten(self.message)})
        return Response(body, self.status, self.headers, "application/json")


def server_error() -> Problem:
    """Return the response to an error of the server: its message may hold values of a row."""
    return Problem(500, "an error of the server: its log has the place.")


def shorten(message: str) -> str:
    """Return a message with long quoted values, and the message itself, cut.

    >>> len(shorten(f"column {'x' * 10_000!r} is unknown"))
    111
    """
    message = _QUOTED.sub(lambda match: f"{match[0][: MAX_QUOTED + 1]}…{match[0][0]}", message)
    return message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}…"


def finite(data: Any) -> Any:
    """Return plain data that JSON can hold: null for NaN, and the strings "inf" and "-inf" for infinite numbers."""
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None if data != data else str(data)
    if isinstance(data, dict):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    return data


def json_response(data: object, headers: dict[str, str] | None = None) -> Response:
    """Return plain data as a response of JSON; a number is written so that it reads back bit for bit."""
    return Response(_encode(finite(data)), 200, headers, "application/json")
