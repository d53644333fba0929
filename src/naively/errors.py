"""Exceptions and warnings. Every message says what is wrong and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_collected: ContextVar[list[str] | None] = ContextVar("naively_warnings", default=None)


class InputError(ValueError):
    """Data or a setting that cannot be used; nothing was changed."""


class SchemaError(InputError):
    """Two models, or a model and a table, whose columns do not agree."""


class ConflictError(InputError):
    """A change that the current state of the file does not allow; nothing was changed."""


class DiskFullError(InputError):
    """There is no space left on the disk; nothing was changed."""


class ImpossibleRowsWarning(UserWarning):
    """Rows to which every class gives probability zero; they got the class prior."""


class TuningWarning(UserWarning):
    """Rows that tuning takes for copies, or a sum of models that are tuned differently, which is not tuned."""


class LostDigitsWarning(UserWarning):
    """A subtraction left numbers that have lost their digits, or different integers became the same number."""


class RepeatedRowsWarning(UserWarning):
    """Rows that were counted before and count twice now."""


class LeftOutWarning(UserWarning):
    """Rows or cells that were left out, or a column that was taken as missing or read as another type."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the user's line: the one that called into this package first.

    Frames of other packages may stand between those of this one, and those of scikit-learn around them (a pipeline).
    """
    messages = _collected.get()
    if messages is not None:
        messages.append(message)
        return
    packages, frame = [], sys._getframe()
    while True:
        packages.append(frame.f_globals.get("__name__", "").partition(".")[0])
        if frame.f_back is None:
            break
        frame = frame.f_back
    level = len(packages) - packages[::-1].index(__name__.partition(".")[0])  # the caller of the outermost own frame
    while level < len(packages) - 1 and packages[level] in _CALLERS:
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the warnings of this thread instead of issuing them; those of Python are the same for all threads."""
    messages: list[str] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)


_CALLERS = ("sklearn", "joblib", "contextlib", "functools")  # packages that call this one for the user
