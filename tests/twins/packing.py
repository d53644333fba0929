"""Packed arrays in plain NumPy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EXACT = 2**53  # whole numbers up to this are exact as float64
NAMES = {np.dtype(name): name for name in ("f8", "i8", "i4", "u1")} | {np.dtype(np.bool_): "b1"}
WIDTHS: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}


def pack_arrays(arrays: Sequence[NDArray[Any]], max_inline: int, min_separate: int) -> tuple[bytes, bytes, bytes]:
    """Return the JSON, the bytes in the body, and the bytes that are separate."""
    packed = [_packed(array, max_inline, min_separate) for array in arrays]
    body, separate = (
        b"".join(chunk for listed, chunk in packed if (listed[2] == "apart") == far) for far in (False, True)
    )
    return json.dumps([listed for listed, _ in packed], separators=(",", ":")).encode(), body, separate


def _packed(array: NDArray[Any], max_inline: int, min_separate: int) -> tuple[list[Any], bytes]:
    name, shape = NAMES[array.dtype], array.shape
    if array.size <= max_inline:
        return [name, shape, (array if array.ndim == 1 else array.ravel()).tolist()], b""
    flat = np.ascontiguousarray(array).ravel()
    if name in ("u1", "b1"):
        return [name, shape, "apart" if array.size >= min_separate else "bits", 1], flat.tobytes()
    integers = _integers(flat)
    if integers is None:
        return [name, shape, "bits", 8], _by_weight(flat.view("<u8"))
    steps = np.empty_like(integers)
    steps[0] = integers[0]
    np.subtract(integers[1:].view(np.uint64), integers[:-1].view(np.uint64), out=steps[1:].view(np.uint64))
    plain, stepped = _signs_last(integers), _signs_last(steps)
    least_saved = 2 if name != "f8" else np.inf  # sums are taken as they are, unless their steps are narrower
    is_narrower = (_width(stepped), least_saved * _bits(stepped)) < (_width(plain), _bits(plain))
    coding, numbers = ("steps", stepped) if is_narrower else ("whole", plain)
    width = _width(numbers)
    return [name, shape, coding, width], _by_weight(numbers.astype(WIDTHS[width]))


def _integers(flat: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the numbers as int64, or None if that would change any."""
    if flat.dtype.kind != "f":
        return flat.astype(np.int64)
    if not (np.abs(flat) <= EXACT).all():  # NaN is not
        return None
    integers = flat.astype(np.int64)
    same = integers == flat
    return integers if same.all() and not np.signbit(flat[integers == 0]).any() else None


def _signs_last(x: NDArray[np.int64]) -> NDArray[np.uint64]:
    """0, −1, 1, −2, … as 0, 1, 2, 3, …: small numbers of either sign are narrow."""
    return ((x << 1) ^ (x >> 63)).view(np.uint64)


def _width(x: NDArray[np.uint64]) -> int:
    bits = int(x.max()).bit_length()
    return next(width for width in WIDTHS if bits <= 8 * width)


def _bits(x: NDArray[np.uint64]) -> int:
    return sum(int(number).bit_length() for number in x)


def _by_weight(x: NDArray[Any]) -> bytes:
    return x.view(np.uint8).reshape(len(x), x.itemsize).T.tobytes()
