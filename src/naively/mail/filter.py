"""Filter one mail from standard input to standard output, and never lose it.

The answer is computed in a child process. This process needs little memory, and none of the libraries of a model. It
waits for the answer, adds the headers, and writes the mail. Whatever happens to the child, the mail comes out
unchanged: the model is missing, damaged, locked or from the future, there is no memory, the answer takes too long, or
the child crashes. If the mail cannot be written, the exit code is 75 (EX_TEMPFAIL): a mail server tries again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from naively.mail.lines import with_headers

TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h
SPAM_CODE, OTHER_CODE, UNSURE_CODE, ERROR_CODE = 0, 1, 2, 3
TIMEOUT_SECONDS = 20.0
STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = 0, 1, 2
CHUNK_BYTES = 1 << 20


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
    work: Callable[[bytes], Filtered], *, always_zero: bool, program: str, timeout: float = TIMEOUT_SECONDS
) -> NoReturn:
    """Read a mail, write it with the headers that `work` returns for it, and end the process.

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
    """
    try:
        data = _read_all(STANDARD_INPUT)
    except (OSError, MemoryError) as error:
        _end(program, TEMPORARY_FAILURE, f"the mail cannot be read ({error}).")
    output, message = data, ""
    try:
        code, headers, names = answer_of_child(work, data, timeout) if hasattr(os, "fork") else work(data)
        output = with_headers(data, headers, names)
    except BaseException as error:
        code, message = ERROR_CODE, f"{str(error) or type(error).__name__} The mail is unchanged."
    _write(program, output, 0 if always_zero else code, message)


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
        raise NoAnswerError(f"there is no answer within {timeout:g} seconds.")
    try:
        result = json.loads(answer)
        if "error" in result:
            raise NoAnswerError(str(result["error"]))
        return Filtered(int(result["code"]), [(name, value) for name, value in result["headers"]], result["names"])
    except (ValueError, KeyError, TypeError):
        raise NoAnswerError(f"the process that answers has ended (status {status}).") from None


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


def _read_until(descriptor: int, deadline: float) -> bytes | None:
    """Return all bytes of a pipe; None if they are not complete in time."""
    parts: list[bytes] = []
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(descriptor, CHUNK_BYTES)
        if not part:
            return b"".join(parts)
        parts.append(part)
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
