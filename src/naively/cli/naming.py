"""Errors about data on the command line name the file: where no line of it is at fault, it is said of all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from naively.errors import InputError

__all__ = ["naming"]


@contextmanager
def naming(data: Sequence[str], *others: str) -> Iterator[None]:
    """Whatever is found wrong with the data inside names it, unless it names a file of it already, or one of `others`.

    >>> with naming(["-"]):
    ...     raise InputError("no rows to count.")
    Traceback (most recent call last):
    ...
    naively.errors.InputError: standard input: no rows to count.
    """
    try:
        yield
    except InputError as error:
        given = _given(data)
        if any(name in str(error) for name in (*given, *others)):
            raise
        more = f" and {len(given) - 1} more" if len(given) > 1 else ""
        raise type(error)(f"{given[0]}{more}: {error}") from None


def _given(data: Sequence[str]) -> list[str]:
    from naively.data.files.paths import data_files

    return ["standard input"] if list(data) == ["-"] else [file.given for file in data_files(list(data))]
