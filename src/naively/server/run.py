"""Run the application: sockets, limits of connections, signals."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from naively.errors import InputError
from naively.server.limits import Limits
from naively.server.service import Service

MAX_HEAD_BYTES = 65_536  # of the request line and all headers
MAX_HELD_BYTES = 65_536  # of a response, until its end
BACKLOG = 1024
Protocol: Any = AutoHTTPProtocol


def refusal(status: str, message: str, *headers: str) -> bytes:
    """Return a complete response that closes the connection."""
    body = f'{{"error":"{message}"}}'
    lines = (f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(body)}")
    return "\r\n".join((*lines, "connection: close", *headers, "", body)).encode()


BUSY = refusal("503 Service Unavailable", "too many connections: try again.", "retry-after: 1")
SLOW = refusal("408 Request Timeout", "the request did not arrive in time.")
LARGE_HEAD = refusal("431 Request Header Fields Too Large", "the headers are too large.")


class JoinedWrites:
    """A transport that sends the parts of a response together.

    The head and the body of a response are one packet and one call of the system instead of two. More than
    `MAX_HELD_BYTES` are sent immediately, so that a stream sees that its client does not read. So is what does not
    belong to a response, such as the status 100.
    """

    def __init__(self, transport: asyncio.Transport, is_responding: Callable[[], bool]) -> None:
        """Write to this transport; while it is responding, more will be written, or it will be flushed."""
        self._transport = transport
        self._is_responding = is_responding
        self._parts: list[bytes] = []
        self._n_bytes = 0

    def write(self, data: bytes) -> None:
        """Send bytes with those that follow."""
        self._parts.append(data)
        self._n_bytes += len(data)
        if self._n_bytes > MAX_HELD_BYTES or not self._is_responding():
            self.flush()

    def flush(self) -> None:
        """Send what was written."""
        parts, self._parts, self._n_bytes = self._parts, [], 0
        if parts:
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        """Send what was written, and close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Guarded(Protocol):  # type: ignore[misc]
    """uvicorn's protocol with limits of connections, and of the time and the size of the head of a request."""

    limits = Limits()
    timer: asyncio.TimerHandle | None = None
    head_bytes = 0
    is_refused = False
    is_surplus = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin a connection, or refuse it."""
        super().connection_made(JoinedWrites(transport, self.is_responding))
        self.is_surplus = len(self.connections) > self.limits.connections
        self.start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self.stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read bytes: the timer runs unless a complete request is being answered."""
        if self.is_refused:
            return
        if self.is_surplus:  # the answer would be lost if the connection was closed before the request is read
            self.refuse(BUSY)
            return
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.stop_timer()
            self.head_bytes = 0
            if self.cycle.more_body:
                self.start_timer()
            return
        self.head_bytes += len(data)
        if self.head_bytes > MAX_HEAD_BYTES:
            self.refuse(LARGE_HEAD)
        elif self.timer is None:
            self.start_timer()

    def is_responding(self) -> bool:
        """Return whether the response to the last request has begun, but not ended."""
        return self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete

    def on_response_complete(self) -> None:
        """Send what is left of a response."""
        self.transport.flush()
        super().on_response_complete()

    def start_timer(self) -> None:
        """Refuse the connection if the head of a request does not arrive in time."""
        self.timer = asyncio.get_running_loop().call_later(self.limits.seconds, self.refuse, SLOW)

    def stop_timer(self) -> None:
        """Wait without an end: a request is under way."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def refuse(self, response: bytes) -> None:
        """Answer, close, and read no more."""
        self.stop_timer()
        self.is_refused = True
        if not self.transport.is_closing():
            self.transport.write(response)
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server; SIGTERM and SIGINT finish what is under way, and the process goes on after that."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        """Call `on_ready` when requests are answered."""
        super().__init__(config)
        self.on_ready = on_ready
        self.is_interrupted = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and report it."""
        await super().startup(sockets)
        self.on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs, and do not raise them again afterwards."""
        handlers = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Remember Ctrl-C, and stop."""
        self.is_interrupted = self.is_interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)


def run(application: Starlette, listener: socket.socket, limits: Limits, on_ready: Callable[[], None]) -> None:
    """Answer requests until SIGTERM; KeyboardInterrupt after Ctrl-C.

    Parameters
    ----------
    application
        The application.
    listener
        A socket that listens.
    limits
        The limits.
    on_ready
        Is called when requests are answered.
    """
    config = uvicorn.Config(
        application,
        http=type("Guarded", (Guarded,), {"limits": limits}),
        ws="none",
        lifespan="on",
        log_config=None,
        proxy_headers=False,  # nothing depends on the address of a client
        access_log=False,  # it would log queries, which hold rows
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(limits.seconds) + 1,
    )
    server = Server(config, on_ready)
    service: Service = application.state.service
    for served in service:
        served.scorer.is_alone = lambda: len(server.server_state.tasks) < 2
    gc.collect()
    gc.freeze()  # models stay: looking through them for garbage would take longer than a request
    server.run([listener])
    if server.is_interrupted:
        raise KeyboardInterrupt


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; port 0 is any free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # asyncio sets this only for sockets whose protocol is named; without it the body of an answer waits for 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (OSError, OverflowError) as error:
        raise InputError(
            f"cannot listen on {host} port {port} ({getattr(error, 'strerror', None) or error})."
        ) from None


def listen_unix(path: str) -> socket.socket:
    """Return a socket of Unix that only this user can connect to."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if Path(path).is_socket():
            _remove_unused(path)
        before = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise InputError(f"cannot listen on {path} ({error.strerror or error}).") from None
    return listener


def _remove_unused(path: str) -> None:
    """Remove a socket that nobody listens on; OSError if somebody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
    raise OSError(0, "another server listens on it")
