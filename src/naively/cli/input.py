"""A line that tells rows, rate and time left while files are read: on a terminal only, and gone when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from naively.data import Meter, read_files

__all__ = ["counted", "read_told"]


def read_told(where: Any, types: Any = None, raw: bool = False) -> Iterator[Any]:
    """The batches of files, told about."""
    meter = Meter()
    return counted(read_files(where, types, raw, meter), meter)


def counted(batches: Iterable[Any], meter: Meter | None = None) -> Iterator[Any]:
    """The same batches, told about on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield from batches
        return
    began = told = time.monotonic()
    rows = 0
    try:
        for batch in batches:
            yield batch
            rows += batch.num_rows
            now = time.monotonic()
            if now - told > 0.2:
                told = now
                sys.stderr.write(f"\r{told_of(rows, now - began, None if meter is None else meter.share())}\x1b[K")
                sys.stderr.flush()
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def told_of(rows: int, seconds: float, share: float | None) -> str:
    """The line: rows, rate, and if the share that is done is known, that and the time left.

    >>> told_of(1_200_000, 4.0, 0.25)
    '1,200,000 rows, 300,000 a second, 25 %, 12 s left'
    >>> told_of(50, 0.5, None)
    '50 rows, 100 a second'
    """
    line = f"{rows:,} rows, {rows / max(seconds, 1e-9):,.0f} a second"
    if not share:
        return line
    left = round(seconds * (1 - share) / share)
    clock = f"{left} s" if left < 100 else f"{left // 60} min" if left < 7200 else f"{left // 3600} h"
    return f"{line}, {share:.0%}".replace("%", " %") + f", {clock} left"
