"""A line that tells rows and rate while they are read: on a terminal only, and gone when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["counted"]


def counted(batches: Iterable[Any]) -> Iterator[Any]:
    """The same batches, told about on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield from batches
        return
    began = told = time.monotonic()
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        now = time.monotonic()
        if now - told > 0.2:
            told = now
            sys.stderr.write(f"\r{rows:,} rows, {rows / (now - began):,.0f} a second\x1b[K")
            sys.stderr.flush()
    sys.stderr.write("\r\x1b[K")
