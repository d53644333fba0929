"""The readable twin of `naively._kernels.row_hash`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tests.twins.text import hash_texts

if TYPE_CHECKING:
    from tests.twins.text import Documents

Hashes = NDArray[np.uint64]


def mix(x: Hashes) -> Hashes:
    """Return a one-to-one map of 64 bits in which every bit depends on every other."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def add_number_hashes(values: NDArray[Any], salt: Hashes, missing: int, total: Hashes) -> None:
    """Increase total by the mixed bits of each number."""
    numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    bits = np.where(np.isnan(numbers), np.uint64(missing), numbers.view(np.uint64))
    total += mix(bits + salt).sum(axis=1, dtype=np.uint64)


def add_text_hashes(documents: Documents, salt: int, missing: int, total: Hashes) -> None:
    """Increase total by the mixed hash of each text."""
    hashes = hash_texts(documents)
    total += mix(np.where(hashes == 0, np.uint64(missing), hashes) + np.uint64(salt))


def add_code_hashes(codes: NDArray[Any], table: Hashes, total: Hashes) -> None:
    """Increase total by what the table has for each code."""
    total += table[codes]
