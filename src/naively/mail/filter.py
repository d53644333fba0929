"""Filter one mail from standard input to standard output, and never lose it.

The answer comes from the server of the model if one runs, which takes a quarter of the CPU time, else from a child
process. This process needs little memory, and none of the libraries of a model. It waits for the answer, adds the
headers, and writes the mail. Whatever happens to server and child, the mail comes out unchanged: the model is missing,
damaged, locked or from the future, there is no memory, the answer takes too long, or the child crashes. If the mail
cannot be written, the exit code is 75 (EX_TEMPFAIL): a mail server tries again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, NoReturn

from naively.mail.lines import with_headers

TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h
SPAM_CODE, OTHER_CODE, UNSURE_CODE, ERROR_CODE = 0, 1, 2, 3
TIMEOUT_SECONDS = 20.0
STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = 0, 1, 2
CHUNK_BYTES = 1 << 20
MAX_ANSWER_BYTES = 1 << 20
COMMAND = "FILTER"  # of the server: a request of our own, see spamd.py


class Filtered(NamedTuple):
    """The exit code for a mail, the headers to add, and the names of headers to remove first."""

    code: int
    headers: list[tuple[str, str]]
    names: list[str]


class NoAnswerError(Exception):
    """There is no answer for a mail."""


def code_of(name: str) -> int:
    """Return the exit code of an answer: 0 spam, 1 another class, 2 unsure."""
    return {"spam": SPAM_CODE, "unsure": UNSURE_CODE}.get(name, OTHER_CODE)


def run_filter(
    work: Callable[[bytes], Filtered],
    *,
    always_zero: bool,
    program: str,
    timeout: float = TIMEOUT_SECONDS,
    ask: Callable[[bytes, float], Filtered] | None = None,
) -> NoReturn:
    """Read a mail, write it with the headers that `ask` or `work` returns for it, and end the process.

    Parameters
    ----------
    work
        Returns the exit code and the headers of a mail; it may raise, crash or hang.
    always_zero
        Whether the exit code is 0 for every class, and for a mail that passes through unchanged (option -e).
    program
        The name for messages.
    timeout
        After this many seconds, the mail is written unchanged.
    ask
        Asks a server within so many seconds, half of the timeout. If that fails, `work` is called.
    """
    try:
        data = _read_all(STANDARD_INPUT)
    except (OSError, MemoryError) as error:
        _end(program, TEMPORARY_FAILURE, f"the mail cannot be read ({error}).")
    output, message = data, ""
    try:
        code, headers, names = _answer(work, ask, data, timeout)
        output = with_headers(data, headers, names)
    except BaseException as error:
        code, message = ERROR_CODE, f"{str(error) or type(error).__name__} The mail is unchanged."
    _write(program, output, 0 if always_zero else code, message)


def _answer(
    work: Callable[[bytes], Filtered], ask: Callable[[bytes, float], Filtered] | None, data: bytes, timeout: float
) -> Filtered:
    deadline = time.monotonic() + timeout
    if ask is not None:
        with suppress(Exception):
            return ask(data, timeout / 2)
    return answer_of_child(work, data, deadline - time.monotonic()) if hasattr(os, "fork") else work(data)


def answer_of_server(path: str, options: Mapping[str, object], data: bytes, timeout: float) -> Filtered:
    """Return what a server on a Unix socket says of a mail; an error if there is none, or no answer in time.

    Parameters
    ----------
    path
        The socket.
    options
        How to filter: the model, and the options of the command.
    data
        The mail.
    timeout
        Seconds to wait.
    """
    if not os.path.exists(path):
        raise NoAnswerError("there is no server.")
    import socket

    deadline = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        request = f"{COMMAND} SPAMC/1.5\r\nContent-length: {len(data)}\r\nOptions: {json.dumps(options)}\r\n\r\n"
        connection.sendall(request.encode())
        connection.sendall(data)
        response = _read_until(connection.fileno(), deadline, MAX_ANSWER_BYTES)
    head, end, content = (b"" if response is None else response).partition(b"\r\n\r\n")
    if not end or not head.startswith(b"SPAMD/1.5 0 "):
        raise NoAnswerError("the server has no answer.")
    return _filtered(content)


def answer_of_child(work: Callable[[bytes], Filtered], data: bytes, timeout: float) -> Filtered:
    """Return what `work` returns for a mail in a child process; NoAnswerError if it does not in time.

    The child writes to a pipe: a line of JSON, with the result or with what went wrong.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _run_child(work, data, writer)
    os.close(writer)
    try:
        answer = _read_until(reader, time.monotonic() + timeout)
    finally:
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)  # it has answered, or it is too late
        _, status = os.waitpid(child, 0)
        os.close(reader)
    if answer is None:
        raise NoAnswerError(f"there is no answer within {timeout:.3g} seconds.")
    try:
        return _filtered(answer)
    except (ValueError, KeyError, TypeError):
        raise NoAnswerError(f"the process that answers has ended (status {status}).") from None


def _filtered(answer: bytes) -> Filtered:
    """Return the result that a child or a server has written as JSON."""
    result = json.loads(answer)
    if "error" in result:
        raise NoAnswerError(str(result["error"]))
    return Filtered(
        int(result["code"]), [(str(name), str(value)) for name, value in result["headers"]], result["names"]
    )


def _run_child(work: Callable[[bytes], Filtered], data: bytes, writer: int) -> NoReturn:
    """Answer in a child process, and end it."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, STANDARD_INPUT)
        os.dup2(null, STANDARD_OUTPUT)  # only the parent writes the mail
        try:
            result: dict[str, object] = work(data)._asdict()
        except BaseException as error:
            result = {"error": str(error) or type(error).__name__}
        answer = json.dumps(result).encode()
        while answer:
            answer = answer[os.write(writer, answer) :]
    finally:
        os._exit(0)


def _read_until(descriptor: int, deadline: float, max_bytes: int | None = None) -> bytes | None:
    """Return all bytes of a pipe; None if they are not complete in time, or too many."""
    parts: list[bytes] = []
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(descriptor, CHUNK_BYTES)
        if not part:
            return b"".join(parts)
        parts.append(part)
        if max_bytes is not None and sum(map(len, parts)) > max_bytes:
            break
    return None


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, CHUNK_BYTES):
        parts.append(part)
    return b"".join(parts)


def _write(program: str, data: bytes, code: int, message: str) -> NoReturn:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(STANDARD_OUTPUT, view[:CHUNK_BYTES]) :]
        os.close(STANDARD_OUTPUT)  # a full disk may be reported here
    except OSError as error:
        code, message = TEMPORARY_FAILURE, f"the mail cannot be written ({error.strerror})."
    _end(program, code, message)


def _end(program: str, code: int, message: str) -> NoReturn:
    """End the process at once: nothing that runs at exit may change the code."""
    if message:
        with suppress(OSError):
            os.write(STANDARD_ERROR, f"{program}: {message}\n".encode("utf-8", "replace"))
    os._exit(code)
