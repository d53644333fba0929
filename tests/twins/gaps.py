"""Gaps in plain NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels import Gapped


def fill_numbers(values: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.float64]) -> None:
    """Values where the bit is 1, NaN elsewhere."""
    out[:] = np.where(_has_value(valid, first, len(out)), values.astype(np.float64), np.nan)


def fill_codes(codes: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.int32]) -> None:
    """Codes where the bit is 1, −1 elsewhere."""
    out[:] = np.where(_has_value(valid, first, len(out)), codes.astype(np.int32), -1)


def relabel(codes: Gapped, place: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """By indexing."""
    filled = np.empty(len(codes.values), np.int32)
    fill_codes(*codes, filled)
    if ((filled < 0) | (filled >= len(place))).any():
        raise ValueError("a row has no code, or one outside")
    return place[filled], np.bincount(filled, minlength=len(place)).astype(np.int64)


def _has_value(valid: NDArray[np.uint8] | None, first: int, n: int) -> NDArray[np.bool_]:
    if valid is None:
        return np.ones(n, dtype=np.bool_)
    return np.unpackbits(valid, bitorder="little")[first : first + n].astype(np.bool_)
