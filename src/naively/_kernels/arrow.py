"""Arrow's columns as arrays: a gap, which Arrow marks by a bit that is 0, is NaN among numbers and −1 among codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naively import _core
from naively._kernels.threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Gapped(NamedTuple):
    """A column of an Arrow batch where it lies: values, of which those in gaps may be anything, and the bitmap.

    That of row i is bit `first` + i, 1 where there is a value; None if none is missing.
    """

    values: NDArray[Any]
    valid: NDArray[np.uint8] | None = None
    first: int = 0


def fill_numbers(values: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.float64]) -> None:
    """Write values to `out`, NaN where the bit of a row is 0; that of row i is bit `first` + i of the bitmap.

    >>> out = np.zeros(3)
    >>> fill_numbers(np.array([1, 2, 3]), np.array([0b1010], np.uint8), 1, out)
    >>> out.tolist()
    [1.0, nan, 3.0]
    """
    _core.fill_numbers(values, valid, first, out)


def fill_codes(codes: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.int32]) -> None:
    """The same with whole numbers below 2³¹, and −1 where there is a gap."""
    _core.fill_codes(codes, valid, first, out)


def relabel(codes: Gapped, place: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """What each code stands for, place[codes], and how often each code comes; none may be missing.

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


def count_gapped_codes(
    columns: Sequence[Gapped], sizes: Sequence[int], label: NDArray[np.int32], n_classes: int, n_jobs: int | None = None
) -> list[NDArray[np.int64]]:
    """How often each code 0 … size − 1 of each column comes with each class, (class, code); others are missing.

    >>> codes = Gapped(np.array([0, 1, 1, 7]), np.array([0b1011], np.uint8), 0)
    >>> count_gapped_codes([codes], [2], np.array([0, 1, 1, 0], np.int32), 2)[0].tolist()
    [[1, 0], [0, 1]]
    """
    ends = np.cumsum([0, *sizes]) * n_classes
    rows = np.empty(ends[-1], np.int64)
    _core.count_gapped_codes(columns, np.array(sizes, np.int64), label, n_classes, rows, thread_count(n_jobs))
    parts = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return [rows[start:stop].reshape(n_classes, -1) for start, stop in parts]
