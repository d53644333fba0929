"""A quote that is opened and never closed: Arrow takes all that follows for one cell, and says nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["refuse_open_quote"]

CHUNK = 1 << 20


def refuse_open_quote(given: str, last: pa.RecordBatch, opened: Callable[[], Any], before: int = 0) -> None:
    """Refuse a file whose last cell goes on over lines and ends without a quote.

    `last` is the last row; `opened` gives the bytes again from the line after `before`.
    An open quote in another column leaves too few cells in its row, which is refused as such.
    """
    cell = last.column(last.num_columns - 1)[-1].as_py() if last.num_rows else None
    if not isinstance(cell, str) or "\n" not in cell:
        return
    lines, end = before, b""
    with opened() as stream:
        while some := stream.read(CHUNK):
            lines += some.count(b"\n")
            end = (end + some)[-64:].rstrip(b"\r\n\0 ") or end
    if not end.endswith(b'"'):
        raise InputError(
            f"{given}, line {lines - cell.count(chr(10)) + 1}: a quote is opened and not closed before the file ends: "
            'close it, or write a quote within a cell twice, "".'
        )
