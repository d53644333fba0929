"""Columns of Arrow as arrays: a missing value, which Arrow marks by a bit that is 0, is NaN or the code −1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Gapped(NamedTuple):
    """A column of an Arrow batch: its values, of which those that are missing may be anything, and their bitmap.

    Bit `first` + i is 1 if row i has a value; the bitmap is None if no value is missing.
    """

    values: NDArray[Any]
    valid: NDArray[np.uint8] | None = None
    first: int = 0


def fill_numbers(values: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.float64]) -> None:
    """Write the values to `out`, and NaN where one is missing.

    >>> out = np.zeros(3)
    >>> fill_numbers(np.array([1, 2, 3]), np.array([0b1010], np.uint8), 1, out)
    >>> out.tolist()
    [1.0, nan, 3.0]
    """
    _fill(values, valid, first, out, np.nan)


def fill_codes(codes: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.int32]) -> None:
    """Write integers below 2³¹ to `out`, and −1 where one is missing."""
    if codes.dtype.kind not in "iub":
        raise ValueError(f"codes are integers, not {codes.dtype}; convert them")
    _fill(codes, valid, first, out, -1)


def _fill(values: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[Any], missing: float) -> None:
    n = len(out)
    if len(values) != n:
        raise ValueError(f"{len(values)} values cannot fill {n} rows")
    out[:] = values
    if valid is not None:
        if not 0 <= first <= 8 * len(valid) - n:
            raise ValueError(f"the bitmap has {8 * len(valid)} bits, too few for {n} rows from bit {first} on")
        bits = np.unpackbits(valid[first // 8 : (first + n + 7) // 8], bitorder="little")
        out[bits[first % 8 : first % 8 + n] == 0] = missing


def relabel(codes: Gapped, place: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return what each code stands for, place[codes], and how often each code occurs; none may be missing.

    >>> label, rows = relabel(Gapped(np.array([2, 0, 2])), np.array([1, 2, 0], np.int32))
    >>> label.tolist(), rows.tolist()
    ([0, 1, 0], [1, 0, 2])
    """
    code = np.empty(len(codes.values), np.int32)
    fill_codes(*codes, code)
    if code.size and (code.min() < 0 or code.max() >= len(place)):
        wrong = int(np.argmax((code < 0) | (code >= len(place))))
        raise ValueError(f"row {wrong} has no code, or one outside [0, {len(place)})")
    return place[code], np.bincount(code, minlength=len(place)).astype(np.int64)
