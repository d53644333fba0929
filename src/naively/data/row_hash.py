"""Hash the content of rows: rows are sampled and put into folds by their hash, so that their order does not matter.

    h(row) = mix(key + Σ_columns mix(value + mix(name)))            modulo 2⁶⁴        (1)

A value has the same hash in Python, NumPy, pandas or Arrow, as a string or as a code of a dictionary, in a dense or a
sparse matrix. Numbers are hashed as their float64 (−0.0 as 0.0, True as 1.0), texts by their bytes, a missing value by
a constant. `Table.row_hashes` computes (1). Source of `mix`: Steele, Lea & Flood, Fast splittable pseudorandom number
generators, OOPSLA 2014 (its finaliser).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.row_hash import mix
from naively._kernels.text import hash_texts
from naively._kernels.types import Hashes
from naively.data.views import Value

KEY = np.uint64(0x6E61697665_6C79)  # any constant will do
MISSING = np.uint64(0xA0761D6478BD642F)


def hash_numbers(x: NDArray[Any]) -> Hashes:
    """Return the bits of each number as float64."""
    values = np.ascontiguousarray(x, dtype=np.float64) + 0.0  # −0.0 + 0.0 is 0.0
    return np.where(np.isnan(values), MISSING, values.view(np.uint64))


def hash_values(values: Sequence[Value]) -> Hashes:
    """Return the hash of each value: of strings by their bytes, of numbers and booleans as numbers."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return hash_texts(texts)
    out = np.empty(len(values), np.uint64)
    is_text = np.array([isinstance(value, str) for value in values], dtype=np.bool_)
    out[is_text] = hash_texts(texts)
    out[~is_text] = hash_numbers(np.array([float(value) for value in values if not isinstance(value, str)]))
    return out


@lru_cache(maxsize=64)
def mixed_hashes(values: Sequence[Value]) -> Hashes:
    """Return mix(hash) of each name of a column or class; they are the same for every batch of rows."""
    hashes = mix(hash_values(values))
    hashes.flags.writeable = False
    return hashes
