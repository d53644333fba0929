"""The first thing that a request passes: host, origin, token, number of requests, time, headers, metrics, log."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naively.errors import InputError
from naively.server.inference import infer
from naively.server.limits import Limits
from naively.server.problems import Problem, server_error
from naively.server.security import HEADERS, HEADERS_OF_DATA, Policy, cookie_name, without_token

if TYPE_CHECKING:
    from naively.server.metrics import Metrics

log = logging.getLogger("naively.server")

MAX_UNTIMED_BYTES = 65_536  # a smaller part of a response is sent without a time limit
JSON = (b"content-type", b"application/json")

ErrorPage = Callable[[Scope, Problem], Response]
DirectAnswer = Callable[[Scope, Receive], Awaitable[bytes]]


class Gate:
    """What wraps the application: it lets requests through which the policy and the limits allow."""

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        limits: Limits,
        metrics: Metrics,
        error_page: ErrorPage,
        direct: Mapping[str, DirectAnswer],
    ) -> None:
        """Wrap an application; the functions of `direct` answer a POST to their path with JSON, without a route."""
        self.app = app
        self.policy = policy
        self.limits = limits
        self.metrics = metrics
        self.error_page = error_page
        self.direct = direct
        self.n_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status: int | None = None
        self.n_requests += 1

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            elif len(message.get("body", b"")) > MAX_UNTIMED_BYTES:
                async with asyncio.timeout(self.limits.seconds):  # a client that does not read
                    await send(message)
                return
            await send(message)

        try:
            answer = await self._answer(scope, receive, send_with_headers)
            if answer is not None:
                status = 200
                headers = [JSON, (b"content-length", b"%d" % len(answer)), *HEADERS_OF_DATA]
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": answer})
        except ClientDisconnect:
            status = 499
        except Exception as error:
            log_error(scope, error)
            if status is None:
                await server_error().response()(scope, receive, send_with_headers)
        finally:
            self.n_requests -= 1
            seconds = time.perf_counter() - start
            self.metrics.observe(scope, status or 500, seconds)
            if log.isEnabledFor(logging.INFO):  # the query and the body may hold rows
                path = quote(scope["path"], safe="/")[:200]
                log.info("%s %s %d %.1f ms", scope["method"], path, status or 500, 1000 * seconds)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> bytes | None:
        """Answer a request, by the problem that it has if it has one; return a direct answer, which is not sent yet."""
        try:
            response = self._check(scope)
            if response is not None:
                await response(scope, receive, send)
            elif (handler := self.direct.get(scope["path"])) is not None and scope["method"] == "POST":
                scope["endpoint"] = infer
                return await handler(scope, receive)
            else:
                await self.app(scope, receive, send)
        except Problem as problem:
            await self.error_page(scope, problem)(scope, receive, send)
        except InputError as error:
            await self.error_page(scope, Problem.of_input(error))(scope, receive, send)
        return None

    def _check(self, scope: Scope) -> Response | None:
        """Return a response if the request needs no other; Problem if it is refused; else set `access`."""
        host = site = origin = bearer = cookies = None
        for name, value in scope["headers"]:
            if name == b"host":
                host = value.decode("latin-1")
            elif name == b"sec-fetch-site":
                site = value.decode("latin-1")
            elif name == b"origin":
                origin = value.decode("latin-1")
            elif name == b"authorization":
                scheme, _, rest = value.decode("latin-1").partition(" ")
                bearer = rest.strip() if scheme.lower() == "bearer" else None
            elif name == b"cookie":
                cookies = value.decode("latin-1")
        policy = self.policy
        if host is None:
            raise Problem(400, "the request has no Host header.")
        policy.check_host(host)
        if self.n_requests > self.limits.connections:
            raise Problem(503, "the server is busy.", {"Retry-After": "1"})
        policy.check_origin(scope["method"], host, site, origin)
        if b"token=" in scope["query_string"] and scope["method"] == "GET":
            token, address = without_token(scope)
            if token is not None:
                return self._set_cookie(host, token, address)
        cookie = _cookie(cookies, cookie_name(host)) if cookies is not None else None
        access = policy.access(scope["path"], bearer, cookie)
        if not access.may_read:
            raise Problem(
                401,
                "this server needs a token: open the link that `naively serve` has printed, or send the header "
                "Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": "Bearer"},
            )
        scope.setdefault("state", {})["access"] = access
        return None

    def _set_cookie(self, host: str, token: str, address: str) -> Response:
        """Return a redirect to the same address without the token, which is a cookie from then on."""
        if self.policy.find(token) is None:
            raise Problem(401, "the token in this link is not valid: the server may have been started again.")
        response = RedirectResponse(address, 303)
        response.set_cookie(cookie_name(host), token, httponly=True, samesite="strict", path="/")
        response.headers["Cache-Control"] = "no-store"
        return response


def log_error(scope: Scope, error: Exception) -> None:
    """Log the type and the place of an error, without its message, which may hold values of a row."""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    log.error("%s %s: %s at %s", scope["method"], quote(scope["path"])[:200], type(error).__name__, places)


def _cookie(header: str, name: str) -> str | None:
    """Return the value of a cookie."""
    for part in header.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return None
