"""Hashes of the content of rows, column by column. The equation is in `naively.data.row_hash`."""

from __future__ import annotations

import numpy as np

from naively import _core
from naively._kernels.text import Documents, prepare
from naively._kernels.threads import thread_count
from naively._kernels.types import Array, Hashes


def mix(x: Hashes) -> Hashes:
    """Return a one-to-one map of 64 bits in which every bit depends on every other.

    >>> mix(np.array([0, 1, 2], np.uint64)).tolist()
    [0, 6238072747940578789, 15839785061582574730]
    """
    return _core.mix(x)


def add_number_hashes(values: Array, salt: Hashes, missing: int, total: Hashes) -> None:
    """Increase total (row,) by the mixed bits of each number and its column's salt.

    Parameters
    ----------
    values
        Numbers of any type and strides, (row, column).
    salt
        One number for each column.
    missing
        The bits of NaN.
    total
        The sums, (row,).
    """
    _core.add_number_hashes(values, salt, missing, total)


def add_text_hashes(documents: Documents, salt: int, missing: int, total: Hashes, n_jobs: int | None = None) -> None:
    """Increase total (row,) by the mixed hash of each text and the salt.

    Parameters
    ----------
    documents
        The texts.
    salt
        The number of their column.
    missing
        The hash of a missing text.
    total
        The sums, (row,).
    n_jobs
        The number of threads, if not that of `use_threads`.
    """
    _core.add_text_hashes(prepare(documents), salt, missing, total, thread_count(n_jobs))


def add_code_hashes(codes: Array, table: Hashes, total: Hashes) -> None:
    """Increase total (row,) by the entry of `table` for each code; its last entry is for the code −1."""
    _core.add_code_hashes(codes.astype(np.int32, copy=False), table, total)
