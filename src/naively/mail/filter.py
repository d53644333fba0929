"""Filter one mail from standard input to standard output, and never lose it.

Whatever goes wrong, the mail comes out unchanged: the model is missing, damaged, locked or from the future, there is no
memory, an answer takes too long, or this program has an error. If the output cannot be written, the exit code is 75
(EX_TEMPFAIL), and the mail server tries again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h
SPAM_CODE, OTHER_CODE, UNSURE_CODE, ERROR_CODE = 0, 1, 2, 3
TIMEOUT_SECONDS = 20.0
STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = 0, 1, 2


class Filtered(NamedTuple):
    """The bytes to write, and the exit code."""

    data: bytes
    code: int


def code_of(name: str) -> int:
    """Return the exit code of an answer: 0 spam, 1 another class, 2 unsure."""
    return {"spam": SPAM_CODE, "unsure": UNSURE_CODE}.get(name, OTHER_CODE)


def run_filter(
    work: Callable[[bytes], Filtered], *, always_zero: bool, program: str, timeout: float = TIMEOUT_SECONDS
) -> NoReturn:
    """Read a mail, write what `work` returns for it, and end the process.

    Parameters
    ----------
    work
        Returns the mail to write, and the exit code.
    always_zero
        Whether the exit code is 0 for every class, and for a mail that passes through unchanged (option -e).
    program
        The name for messages.
    timeout
        After this many seconds, the mail is written unchanged.
    """
    try:
        data = _read_all()
    except (OSError, MemoryError) as error:
        _end(program, TEMPORARY_FAILURE, f"the mail cannot be read ({error}).")
    claim = threading.Lock()
    unchanged_code = 0 if always_zero else ERROR_CODE

    def pass_through() -> None:
        if claim.acquire(blocking=False):
            _write_and_end(
                program, data, unchanged_code, f"no answer within {timeout:g} seconds: the mail is unchanged."
            )

    try:
        watchdog = threading.Timer(timeout, pass_through)
        watchdog.daemon = True
        watchdog.start()
    except (RuntimeError, MemoryError):
        pass  # no memory for a thread: the answer is not limited in time
    message = ""
    try:
        output, code = work(data)
        code = 0 if always_zero else code
    except BaseException as error:
        output, code, message = data, unchanged_code, f"{error or type(error).__name__} The mail is unchanged."
    if claim.acquire(blocking=False):
        _write_and_end(program, output, code, message)
    threading.Event().wait()  # the other thread writes the mail and ends the process
    raise AssertionError


def _read_all() -> bytes:
    parts = []
    while part := os.read(STANDARD_INPUT, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _write_and_end(program: str, data: bytes, code: int, message: str) -> NoReturn:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(STANDARD_OUTPUT, view[: 1 << 20]) :]
        os.close(STANDARD_OUTPUT)  # a full disk may be reported here
    except OSError as error:
        code, message = TEMPORARY_FAILURE, f"the mail cannot be written ({error.strerror})."
    _end(program, code, message)


def _end(program: str, code: int, message: str) -> NoReturn:
    """End the process at once: nothing that runs at exit may change the code."""
    if message:
        with suppress(OSError, ValueError):
            os.write(STANDARD_ERROR, f"{program}: {message}\n".encode("utf-8", "replace"))
    os._exit(code)
