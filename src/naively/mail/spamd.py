"""A server that speaks the protocol of spamd, so that `spamc`, exim and others use naively as they use SpamAssassin.

    request:   COMMAND SPAMC/1.5, headers, an empty line, the mail         response: SPAMD/1.5 0 EX_OK, headers, content

PING, CHECK, SYMBOLS, REPORT, REPORT_IFSPAM, PROCESS, HEADERS and TELL are known. FILTER is our own: `naively mail
filter` sends it, with its options as JSON, and gets its exit code and headers as JSON. The server listens on a Unix
socket that only its owner can open. `User:` selects a model by name from a folder; a name cannot be a path. If anything
goes wrong, the response is an error that ends within its headers. spamc reads no status: it takes the content of any
complete response for the mail, and passes the mail on unchanged only if the response is incomplete.
Reference: spamd/PROTOCOL in the sources of Apache SpamAssassin.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from naively.errors import InputError
from naively.mail.filter import COMMAND as FILTER
from naively.mail.lines import head_length, with_headers
from naively.mail.model import Answer, MailModel, Reason
from naively.mail.reader import read
from naively.mail.service import N_REASONS, filter_mail, headers_for, learn_if_sure
from naively.store.keyed import Taught

MAX_MAIL_BYTES = 1 << 28
MAX_HEADER_LINES = 64
REQUEST_SECONDS = 300.0
TUNE_DELAY_SECONDS = 1.0
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")
_COMMANDS = ("CHECK", FILTER, "HEADERS", "PING", "PROCESS", "REPORT", "REPORT_IFSPAM", "SKIP", "SYMBOLS", "TELL")
OK, USAGE, NO_USER, SOFTWARE = (0, "EX_OK"), (64, "EX_USAGE"), (67, "EX_NOUSER"), (70, "EX_SOFTWARE")


class ProtocolError(Exception):
    """A request that is not valid."""


@dataclass
class Request:
    """One request: the command, its headers in lower case, and the mail."""

    command: str
    headers: dict[str, str] = field(default_factory=dict)
    mail: bytes = b""


@dataclass
class Models:
    """The models of a server: one for all, or one for each user in a folder."""

    path: Path
    folder: Path | None = None
    _open: dict[Path, MailModel] = field(default_factory=dict)

    def of_user(self, user: str) -> MailModel:
        """Return the model of a user; InputError if the name is not one."""
        path = self.path
        if self.folder is not None and user:
            if _USER.fullmatch(user) is None or ".." in user:
                raise InputError(f"{user!r} is not the name of a user.")
            path = self.folder / f"{user}.naively"
        if path not in self._open:
            self._open[path] = MailModel(path)
        return self._open[path]

    def close(self) -> None:
        """Close all files."""
        for model in self._open.values():
            with suppress(InputError):
                model.close()


@dataclass
class Server:
    """Answers requests. Models are used by one thread at a time."""

    models: Models
    spamassassin: bool = True
    learn: bool = False
    _work: asyncio.Lock = field(default_factory=asyncio.Lock)
    _to_tune: set[MailModel] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                try:
                    request = await read_request(reader)
                    response = await self._answer(request)
                except ProtocolError as error:
                    response = _error(USAGE, str(error))
                writer.write(response)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            pass  # the client has gone
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, request: Request) -> bytes:
        if request.command == "PING":
            return b"SPAMD/1.5 0 PONG\r\n"
        if request.command == "SKIP":
            return b""
        async with self._work:
            try:
                return await asyncio.to_thread(self._respond, request)
            except InputError as error:
                return _error(NO_USER if "name of a user" in str(error) else SOFTWARE, str(error))
            except Exception as error:
                return _error(SOFTWARE, f"{type(error).__name__}: {error}")
            finally:
                self._plan_tuning()

    def _respond(self, request: Request) -> bytes:
        model = self.models.of_user(request.headers.get("user", ""))
        if request.command == "TELL":
            return self._tell(model, request)
        if request.command == FILTER:
            return self._filter(model, request)
        mail = read(request.mail)
        n_reasons = 0 if request.command == "CHECK" else N_REASONS
        answer, reasons = model.answer_with_reasons(mail, n_reasons)
        is_spam = answer.label == "spam"
        headers = [("Spam", f"{is_spam} ; {answer.score:.1f} / 5.0")]
        content = b"" if request.command == "CHECK" else self._content(request, answer, reasons)
        if self.learn and learn_if_sure(model, mail, answer, tune=False):
            self._to_tune.add(model)
        return _response(OK, headers, content)

    def _filter(self, model: MailModel, request: Request) -> bytes:
        """Answer as a process of `naively mail filter` would, if the model is its model."""
        options = json.loads(request.headers.get("options", "{}"))
        if os.path.realpath(options["model"]) != os.path.realpath(model.path):
            raise InputError(f"this server has another model: {model.path}.")
        learn = bool(options["learn"])
        filtered = filter_mail(model, request.mail, spamassassin=options["spamassassin"], learn=learn, tune=False)
        if learn:
            self._to_tune.add(model)
        return _response(OK, [], json.dumps(filtered._asdict()).encode())

    def _content(self, request: Request, answer: Answer, reasons: list[Reason]) -> bytes:
        if request.command == "SYMBOLS":
            return (f"NAIVELY_{answer.name.upper()}" + "\r\n").encode()
        if request.command in ("REPORT", "REPORT_IFSPAM"):
            if request.command == "REPORT_IFSPAM" and answer.label != "spam":
                return b""
            lines = [f"{answer.name}, probability of spam {answer.probability:.4f}", *map(str, reasons)]
            return ("\r\n".join(lines) + "\r\n").encode("utf-8", "replace")
        data = with_headers(request.mail, *headers_for(answer, reasons, self.spamassassin))
        if request.command == "HEADERS":
            if b"\0" in data:
                raise InputError("a mail with a NUL has no HEADERS: spamc would overwrite what follows it.")
            data = data[: data.find(b"\n", head_length(data)) + 1 or len(data)]
        return data

    def _tell(self, model: MailModel, request: Request) -> bytes:
        """Learn or forget a mail, as `Message-class`, `Set: local` and `Remove: local` say."""
        mail, label = read(request.mail), request.headers.get("message-class", "").strip().lower()
        done = []
        if "local" in request.headers.get("set", "").lower():
            if not re.fullmatch(r"[\w.-]{1,64}", label):
                raise InputError("TELL with Set: local needs Message-class: spam or ham.")
            taught: Taught = model.learn([mail], label, source="spamd", tune=False)
            if taught.entries:
                done.append(("DidSet", "local"))
                self._to_tune.add(model)
        elif "local" in request.headers.get("remove", "").lower() and model.forget([mail]).n_forgotten:
            done.append(("DidRemove", "local"))
        return _response(OK, done, b"")

    def _plan_tuning(self) -> None:
        """Tune models that have learnt in the background: a client does not wait for that."""
        if self._to_tune and not self._tasks:
            task = asyncio.get_running_loop().create_task(self._tune())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tune(self) -> None:
        await asyncio.sleep(TUNE_DELAY_SECONDS)
        while self._to_tune:
            model = self._to_tune.pop()
            with suppress(InputError):
                async with self._work:
                    is_due = await asyncio.to_thread(lambda model: model.is_tuning_due, model)
                if is_due:
                    await asyncio.to_thread(_tune_file, model.path)


def _tune_file(path: Path) -> None:
    with MailModel(path) as model:  # its own connection: the server goes on answering
        model.tune_if_due()


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Read one request; ProtocolError if it is not valid."""
    try:
        request = await _read_head(reader)
    except (asyncio.LimitOverrunError, ValueError):
        raise ProtocolError("a header line is too long") from None
    if request.command in ("PING", "SKIP"):
        return request
    if "compress" in request.headers:
        raise ProtocolError("compressed mails are not read (spamc -z)")
    length = request.headers.get("content-length")
    if length is None:
        parts, n_bytes = [], 0
        while n_bytes <= MAX_MAIL_BYTES and (part := await reader.read(1 << 20)):
            parts.append(part)
            n_bytes += len(part)
        request.mail = b"".join(parts)
    elif re.fullmatch(r"\d{1,12}", length) is None:
        raise ProtocolError(f"bad Content-length: {length[:60]!r}")
    else:
        n_bytes = int(length)
        request.mail = await reader.readexactly(n_bytes) if n_bytes <= MAX_MAIL_BYTES else b""
    if n_bytes > MAX_MAIL_BYTES:
        raise ProtocolError("the mail is larger than 256 MB")
    return request


async def _read_head(reader: asyncio.StreamReader) -> Request:
    line = (await reader.readline()).decode("latin-1").strip()
    match = re.fullmatch(r"([A-Z_]+) SPAMC/(\d+)\.(\d+)", line)
    if match is None or match.group(1) not in _COMMANDS:
        raise ProtocolError(f"bad request line: {line[:60]!r}")
    request = Request(match.group(1))
    for _ in range(MAX_HEADER_LINES):
        line = (await reader.readline()).decode("latin-1").strip()
        if not line:
            return request
        name, colon, value = line.partition(":")
        if not colon:
            raise ProtocolError(f"bad header: {line[:60]!r}")
        request.headers[name.strip().lower()] = value.strip()
    raise ProtocolError("too many headers")


def _response(status: tuple[int, str], headers: list[tuple[str, str]], content: bytes) -> bytes:
    lines = [f"SPAMD/1.5 {status[0]} {status[1]}", f"Content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + content


def _error(status: tuple[int, str], message: str) -> bytes:
    """Return a response without the empty line that ends its headers, so that no client takes it for a mail."""
    return f"SPAMD/1.5 {status[0]} {status[1]}\r\nError: {' '.join(message.split())}\r\n".encode("utf-8", "replace")


def listen(path: Path) -> socket.socket:
    """Return a Unix socket that only its owner can open; replace one that a server left, refuse one that is in use."""
    if path.exists():
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise InputError(f"{path}: exists and is not a socket: give another --socket.")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                path.unlink()
            else:
                raise InputError(f"{path}: another server listens on it.")
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise InputError(f"{path}: cannot listen ({error.strerror or error}).") from None
    finally:
        os.umask(mask)
    return listener


async def run(server: Server, path: Path, ready: Callable[[], None]) -> None:
    """Serve until the process is told to end (SIGINT, SIGTERM); requests in progress are finished."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    listener = listen(path)
    connections: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # asyncio runs the handler in a task
        connections.add(task)
        try:
            await server.serve_connection(reader, writer)
        finally:
            connections.discard(task)

    try:
        service = await asyncio.start_unix_server(handle, sock=listener, limit=1 << 16)
        async with service:
            ready()
            await stop.wait()
            service.close()
            if connections:
                await asyncio.wait(connections, timeout=10.0)
    finally:
        with suppress(OSError):
            path.unlink()
        server.models.close()
