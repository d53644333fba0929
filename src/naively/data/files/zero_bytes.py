"""Zero bytes further on in a file of cells: text has none, so something is broken; Arrow takes them for letters."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["refuse_zero_bytes"]


def refuse_zero_bytes(
    given: str, batch: pa.RecordBatch, encoding: str, opened: Callable[[], Any], before: int = 0
) -> None:
    """Refuse a batch that holds one, by file and line; `opened` gives the bytes again from the line after `before`.

    Only strings can hold one: a number with one in it is no number. Codes are asked once per value.
    """
    if not any(_holds_zero(column) for column in batch.columns):
        return
    with opened() as stream:
        lines = enumerate(io.TextIOWrapper(stream, encoding=encoding, errors="replace"), start=before + 1)
        line = next((number for number, text in lines if "\0" in text), "?")
    raise InputError(
        f"{given}, line {line}: holds a zero byte, which no text has: the file is damaged, or not CSV from there on; "
        "mend the line."
    )


def _holds_zero(column: Any) -> bool:
    import pyarrow as pa

    strings = column.dictionary if pa.types.is_dictionary(column.type) else column
    if not pa.types.is_string(strings.type) or not len(strings):
        return False
    _, offsets, data = strings.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)
    held = slice(ends[strings.offset], ends[strings.offset + len(strings)])
    letters = np.frombuffer(data, dtype=np.uint8)[held] if data is not None else np.zeros(0, np.uint8)
    return len(letters) > 0 and bool(letters.min() == 0)
