"""Hashes of the content of rows, one column at a time. The equation is in `naively.data.row_hash`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively import _core
from naively._kernels.types import Array

Hashes = NDArray[np.uint64]


def add_number_hashes(values: Array, salt: int, missing: int, total: Hashes) -> None:
    """Increase total (row,) by the mixed bits of each number and the salt; `missing` are the bits of NaN."""
    same_bits = values.dtype in (np.float64, np.int64)
    _core.add_number_hashes(values if same_bits else values.astype(np.float64), salt, missing, total)


def add_code_hashes(codes: Array, table: Hashes, total: Hashes) -> None:
    """Increase total (row,) by the entry of `table` for each code; its last entry is for the code −1."""
    _core.add_code_hashes(codes.astype(np.int32, copy=False), table, total)
