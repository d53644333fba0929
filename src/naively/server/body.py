"""Read the body of a request within the limits."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope

from naively.server.limits import Limits
from naively.server.problems import Problem


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return the body; Problem if it is too large, too slow or compressed."""
    return await receive_body(request.scope, request.receive, limits)


async def receive_body(scope: Scope, receive: Receive, limits: Limits) -> bytes:
    """Return the body of a request; see `read_body`. The server itself limits the time until the first part arrives."""
    check_headers(scope, limits)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > limits.body_bytes:
            raise too_large(limits)
        return body
    chunks: list[bytes] = []
    n_bytes = 0
    try:
        async with asyncio.timeout(limits.seconds):
            while True:
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                chunk = message.get("body", b"")
                n_bytes += len(chunk)
                if n_bytes > limits.body_bytes:
                    raise too_large(limits)
                chunks.append(chunk)
                if not message.get("more_body", False):
                    return b"".join(chunks)
                message = await receive()
    except TimeoutError:
        raise too_slow(limits) from None


def check_headers(scope: Scope, limits: Limits | None) -> None:
    """Refuse a body that is compressed, or is announced to be too large."""
    for name, value in scope["headers"]:
        if name == b"content-length" and limits is not None and int(value) > limits.body_bytes:
            raise too_large(limits)
        if name == b"content-encoding" and value.lower() != b"identity":
            raise Problem(415, "the body is compressed: send it as it is.")


def too_large(limits: Limits) -> Problem:
    """Return the response to a body that is too large."""
    return Problem(413, f"a request has at most {limits.body_bytes:,} bytes: send more rows as a file to …/predict.")


def too_slow(limits: Limits) -> Problem:
    """Return the response to a body that does not arrive in time."""
    return Problem(408, f"the body did not arrive within {limits.seconds:g} seconds.", {"Connection": "close"})
