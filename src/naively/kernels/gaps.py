"""Arrow's columns as arrays: a gap, which Arrow marks by a bit that is 0, is NaN among numbers and −1 among codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from naively import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def fill_numbers(values: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.float64]) -> None:
    """Write values to `out`, NaN where the bit of a row is 0; that of row i is bit `first` + i of the bitmap.

    >>> import numpy as np
    >>> out = np.zeros(3)
    >>> fill_numbers(np.array([1, 2, 3]), np.array([0b1010], np.uint8), 1, out)
    >>> out.tolist()
    [1.0, nan, 3.0]
    """
    _core.fill_numbers(values, valid, first, out)


def fill_codes(codes: NDArray[Any], valid: NDArray[np.uint8] | None, first: int, out: NDArray[np.int32]) -> None:
    """The same with whole numbers below 2³¹, and −1 where there is a gap."""
    _core.fill_codes(codes, valid, first, out)
