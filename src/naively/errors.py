"""Exceptions and warnings. Every message says what is wrong and what to do."""

from __future__ import annotations

import sys
import warnings


class InputError(ValueError):
    """Data or a setting that cannot be used; nothing was changed."""


class SchemaError(InputError):
    """Two models, or a model and a table, whose columns do not agree."""


class ImpossibleRowsWarning(UserWarning):
    """Rows to which every class gives probability zero; they got the class prior."""


class TuningWarning(UserWarning):
    """Models that are tuned differently were added, and their sum is not tuned."""


class LostDigitsWarning(UserWarning):
    """A subtraction left numbers that have lost their digits, or different integers became the same number."""


class LeftOutWarning(UserWarning):
    """Rows or cells that were left out, or a column that was taken as missing or read as another type."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the first line outside this package: the user's call."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _SKIPPED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_SKIPPED = (__name__.partition(".")[0], "contextlib", "functools")  # the last two stand between frames of the package
